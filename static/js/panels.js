// Opens panels in the inspector and forms in the dialog. Without scripts the same links lead to whole pages.
const dialog = document.getElementById("dialog");
const detail = document.getElementById("detail");
let opener = null;
let open = ""; // the address of the open panel

function plain(event) {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".about[open], .menu[open]")) if (!open.contains(event.target)) open.open = false;
  const link = event.target.closest("a[data-panel], a[data-dialog]");
  if (link && plain(event)) {
    event.preventDefault();
    if (link.hasAttribute("data-panel") && dialog.contains(link)) dialog.close();
    link.hasAttribute("data-dialog") ? openDialog(link.getAttribute("href"), link) : openPanel(address(link));
  } else if (event.target.closest("[data-close-panel]")) {
    event.preventDefault();
    closePanel();
  } else if (event.target.closest("[data-close-dialog]")) {
    event.preventDefault();
    dialog.close();
  } else if (event.target === dialog) {
    dialog.close(); // the backdrop
  }
});

// The scores of the cycle on show stay as they are where the next cycle has equal ones: their links say "the last" one.
function address(link) {
  const shown = document.getElementById("cycle-title")?.dataset.cycle;
  return link.getAttribute("href").replace("/cycles/last/", `/cycles/${shown}/`);
}

export function openPanel(href) {
  document.activeElement?.closest(".menu")?.removeAttribute("open");
  opener = document.activeElement?.getAttribute("href");
  open = href;
  htmx.ajax("GET", href, { target: "#detail", swap: "innerHTML" }).then(() => {
    const scroll = detail.closest(".scroll");
    scroll.scrollTop = 0;
    detail.querySelector("[data-show]")?.scrollIntoView({ block: "center" });
    detail.querySelector("[data-panel-title]")?.focus({ preventScroll: true });
    scroll.closest("section").scrollIntoView({ block: "nearest" });
    mark();
  });
}

// Loads the open panel for another moment. base: the address of the moment's page.
export function reopenPanel(base) {
  const href = open || (/\/(pods|nodes|cycles)\//.test(location.pathname) ? location.pathname : "");
  const path = /^\/s\/[^/]+\/(?:at\/\d+\/)?(.+)/.exec(href)?.[1];
  if (!detail.childElementCount || !path) return;
  open = base + path;
  htmx.ajax("GET", open, { target: "#detail", swap: "innerHTML" }).then(mark);
}

export function closePanel() {
  if (!detail.childElementCount) return false;
  detail.replaceChildren();
  mark();
  const back = opener && document.querySelector(`main [href="${CSS.escape(opener)}"]`);
  (back || document.getElementById("main")).focus({ preventScroll: true });
  return true;
}

// The response to a request of an element that a frame has removed meanwhile: htmx would search for the targets of the parts
// in the removed element, so they are swapped here. A response for a panel that was closed or replaced is dropped.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, shouldSwap, target, serverResponse, swapOverride, xhr } = event.detail;
  if (!shouldSwap || requestConfig.elt.isConnected) return;
  event.detail.shouldSwap = false;
  if (target === detail && requestConfig.verb === "get") return;
  htmx.swap(target, serverResponse, { swapStyle: swapOverride ?? "innerHTML" }, { eventInfo: event.detail });
  const after = xhr.getResponseHeader("HX-Trigger-After-Swap");
  if (after) document.body.dispatchEvent(new CustomEvent(after));
});

// Marks the cycle of the open panel in the timeline, which each frame replaces.
function mark() {
  const cycle = detail.querySelector("[data-cycle]")?.dataset.cycle;
  for (const each of document.querySelectorAll(".mark[aria-current]")) each.removeAttribute("aria-current");
  if (cycle) document.getElementById(`m${cycle}`)?.setAttribute("aria-current", "true");
}
document.body.addEventListener("frame", mark);

export function openDialog(href, from) {
  from?.closest(".menu")?.removeAttribute("open");
  const wasOpen = dialog.open;
  htmx.ajax("GET", href, { target: "#dialog-body", swap: "innerHTML" }).then(() => {
    if (wasOpen && !dialog.open) return document.getElementById("dialog-body").replaceChildren(); // closed meanwhile
    if (!dialog.open) dialog.showModal();
    focusForm();
    dialog.dataset.from = from?.getAttribute("href") ?? "";
  });
}

function focusForm() {
  dialog.querySelector(".wrong :is(input, select, textarea), [autofocus]")?.focus();
}

// Focuses the first error of a form that came back with errors. An update of fields or YAML does not change the focus.
document.getElementById("dialog-body")?.addEventListener("htmx:afterSettle", () => {
  if (!dialog.querySelector(":is(input, select, textarea, button, summary):focus")) focusForm();
});

// The response to a step is ignored if its form was submitted or closed meanwhile, as another form may be open.
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.matches("[data-step]")) target.addEventListener("htmx:beforeOnLoad", ignoreIfRemoved, { once: true });
});

function ignoreIfRemoved(event) {
  if (!event.target.isConnected) event.preventDefault();
}

dialog?.addEventListener("close", () => {
  document.getElementById("dialog-body").replaceChildren();
  const from = document.querySelector(`[href="${CSS.escape(dialog.dataset.from)}"]`);
  (from?.closest("details:not([open])")?.querySelector("summary") ?? from)?.focus();
});

// Events in the server's responses: the form's action is done, or the object of the panel is deleted.
document.body.addEventListener("schedviz:done", () => dialog?.close());
document.body.addEventListener("schedviz:gone", () => closePanel());
document.body.addEventListener("schedviz:go", (event) => {
  if (event.detail.dialog) return openDialog(event.detail.dialog);
  dialog.close();
  openPanel(event.detail.panel);
});
document.body.addEventListener("schedviz:clock", () => document.getElementById("t-until").removeAttribute("open"));

document.body.addEventListener("htmx:responseError", (event) => report(event.detail.xhr));
document.body.addEventListener("htmx:sendError", (event) => report(event.detail.xhr));

function report(xhr) {
  const trouble = document.getElementById("trouble");
  const message = xhr.getResponseHeader?.("X-Trouble");
  trouble.textContent = message ? decodeURIComponent(message) : document.getElementById("words").dataset.failed;
}
