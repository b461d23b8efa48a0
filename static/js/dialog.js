// Opens forms in the dialog. Without scripts the same links lead to whole pages.
import { addClick } from "./registry.js";
import { closeMenuOf, reachableOf } from "./menus.js";
import { openPanel, panelAddress } from "./panels.js";

const dialog = document.getElementById("dialog");
const body = document.getElementById("dialog-body");

function openDialog(href, link) {
  closeMenuOf(link);
  const wasOpen = dialog.open;
  htmx.ajax("GET", href, { target: "#dialog-body", swap: "innerHTML" }).then(() => {
    if (wasOpen && !dialog.open) return body.replaceChildren(); // closed meanwhile
    if (!dialog.open) dialog.showModal();
    focusForm();
    dialog.dataset.from = link?.getAttribute("href") ?? "";
  });
}

function focusForm() {
  dialog.querySelector(".wrong :is(input, select, textarea), [autofocus]")?.focus();
}

function closeDialog() {
  dialog.close();
}

function returnFocus() {
  reachableOf(document.querySelector(`[href="${CSS.escape(dialog.dataset.from)}"]`))?.focus();
}

addClick("a[data-dialog]", (link) => openDialog(link.getAttribute("href"), link));
addClick("[data-close-dialog]", closeDialog);
addClick("dialog a[data-panel]", (link) => {
  closeDialog();
  openPanel(panelAddress(link));
});

dialog.addEventListener("close", () => {
  body.replaceChildren();
  returnFocus();
});

// Focuses the first error of a form that came back with errors. An update of fields or YAML does not change the focus.
body.addEventListener("htmx:afterSettle", () => {
  body.querySelectorAll(".field").forEach(markField);
  if (!dialog.querySelector(":is(input, select, textarea, button, summary):focus")) focusForm();
});

// A step brings only what is said about a field, not the field.
function markField(field) {
  const isWrong = field.querySelector(".remarks > .error") !== null;
  field.querySelector("input, select, textarea")?.setAttribute("aria-invalid", String(isWrong));
}

// The response to a step is ignored if its form was submitted or closed meanwhile, as another form may be open.
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.matches("[data-step]"))
    target.addEventListener("htmx:beforeOnLoad", ignoreIfRemoved, { once: true });
});

function ignoreIfRemoved(event) {
  if (!event.target.isConnected) event.preventDefault();
}

// Events in the server's responses.
document.body.addEventListener("schedviz:done", closeDialog);
document.body.addEventListener("schedviz:go", ({ detail }) => {
  if (detail.dialog) return openDialog(detail.dialog);
  closeDialog();
  openPanel(detail.panel);
});
