// Opens forms in the dialog. Without scripts the same links lead to whole pages.
import { addClick } from "./registry.js";
import { closeMenuOf, reachableOf } from "./menus.js";
import { openPanel, panelAddress } from "./panels.js";
import { requestPart } from "./request.js";
import { keepPage } from "./restore.js";

const dialog = document.getElementById("dialog");
const body = document.getElementById("dialog-body");

let asking = null; // the request for a form that is under way, and its address

// A second click on the same link changes nothing: what was typed into the form meanwhile stays.
async function openDialog(href, link) {
  closeMenuOf(link);
  if (asking?.href === href) return;
  asking?.abort();
  const wasOpen = dialog.open;
  const mine = (asking = Object.assign(new AbortController(), { href }));
  const answer = await requestPart(href, mine);
  const html = await answer?.text().catch(() => null);
  if (mine.signal.aborted) return;
  asking = null;
  if (!html || (wasOpen && !dialog.open)) return; // closed meanwhile
  keepPage(body);
  dialog.dataset.from = link?.getAttribute("href") ?? "";
  if (!dialog.open) dialog.showModal();
  htmx.swap(body, html, { swapStyle: "innerHTML" }, { eventInfo: { target: body } });
  focusForm();
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
  typed.length = 0;
  body.replaceChildren();
  returnFocus();
});

// A form that is refused comes back as it was sent: what was typed since then is put into it. After a conflict the YAML is another one.
const typed = []; // each field in which something was typed while its form was being sent, with that form

body.addEventListener("input", ({ target: field }) => {
  const { form } = field;
  if (form?.matches(".htmx-request") && !typed.some((each) => each.field === field))
    typed.push({ form, field });
});

function putBack() {
  if (typed[0]?.form.isConnected) return; // the form has not come back: a step has
  for (const { form, field: old } of typed.splice(0)) {
    const field = document.getElementById(old.id);
    if (field?.form.action !== form.action || body.querySelector(".changes")) continue;
    field.value = old.value;
    field.checked = old.checked;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
}

// Focuses the first error of a form that came back with errors. An update of fields or YAML does not change the focus.
body.addEventListener("htmx:afterSettle", () => {
  putBack();
  body.querySelectorAll(".field").forEach(markField);
  if (!dialog.querySelector(":is(input, select, textarea, button, summary):focus")) focusForm();
});

// A step brings only what is said about a field, not the field.
function markField(field) {
  const isWrong = field.querySelector(".remarks > .error") !== null;
  field.querySelector("input, select, textarea")?.setAttribute("aria-invalid", String(isWrong));
}

// The response to a step is ignored if its form was submitted or closed meanwhile, as another form may be open, and if something was
// typed: the next step has that, too.
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (!target.matches("[data-step]")) return;
  delete target.dataset.typed;
  target.addEventListener("htmx:beforeOnLoad", ignoreIfOld, { once: true });
});
body.addEventListener("input", ({ target }) => {
  const step = target.closest("[data-step]");
  if (step) step.dataset.typed = "";
});

function ignoreIfOld(event) {
  if (!event.target.isConnected || "typed" in event.target.dataset) event.preventDefault();
}

// Events in the server's responses. An act outside of the dialog, or of a form that was closed, leaves the form that is open now.
document.body.addEventListener("schedviz:done", ({ target }) => {
  if (dialog.contains(target)) closeDialog();
});
document.body.addEventListener("schedviz:go", ({ detail }) => {
  if (detail.dialog) return openDialog(detail.dialog);
  closeDialog();
  openPanel(detail.panel);
});
