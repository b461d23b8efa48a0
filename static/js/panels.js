// Details open in the inspector, forms in the dialog. Without this file the same links lead to whole pages.
const dialog = document.getElementById("dialog");
const detail = document.getElementById("detail");
let opener = null;
let open = ""; // the address of the panel on show

function plain(event) {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}

document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".about[open], .menu[open]")) if (!open.contains(event.target)) open.open = false;
  const link = event.target.closest("a[data-panel], a[data-dialog]");
  if (link && plain(event)) {
    event.preventDefault();
    if (link.hasAttribute("data-panel") && dialog.contains(link)) dialog.close();
    link.hasAttribute("data-dialog") ? openDialog(link.getAttribute("href"), link) : openPanel(link.getAttribute("href"));
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

// The same panel of another moment, whose page has this address.
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

// A panel that asked for its own news and was closed meanwhile, or gave way to another, gets none any more.
document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { verb, elt } = event.detail.requestConfig;
  if (event.detail.target === detail && verb === "get" && !elt.isConnected) event.detail.shouldSwap = false;
});

// The mark of the cycle on hold, in the timeline that is drawn anew with each frame.
function mark() {
  const cycle = detail.querySelector("[data-cycle]")?.dataset.cycle;
  for (const each of document.querySelectorAll(".mark[aria-current]")) each.removeAttribute("aria-current");
  if (cycle) document.getElementById(`m${cycle}`)?.setAttribute("aria-current", "true");
}
document.body.addEventListener("frame", mark);

export function openDialog(href, from) {
  from?.closest(".menu")?.removeAttribute("open");
  htmx.ajax("GET", href, { target: "#dialog-body", swap: "innerHTML" }).then(() => {
    if (!dialog.open) dialog.showModal();
    focusForm();
    dialog.dataset.from = from?.getAttribute("href") ?? "";
  });
}

function focusForm() {
  dialog.querySelector(".wrong :is(input, select, textarea), [autofocus]")?.focus();
}

// A form that came back with errors. What only its YAML or its fields were brought up to date by leaves the focus alone.
document.getElementById("dialog-body")?.addEventListener("htmx:afterSettle", () => {
  if (!dialog.querySelector(":is(input, select, textarea, button, summary):focus")) focusForm();
});

// A step that is answered when its form is gone, sent off or given up, says nothing to the form that is there now.
document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.matches("[data-step]")) target.addEventListener("htmx:beforeOnLoad", stepOnlyItsOwn, { once: true });
});

function stepOnlyItsOwn(event) {
  if (!event.target.isConnected) event.preventDefault();
}

dialog?.addEventListener("close", () => {
  document.getElementById("dialog-body").replaceChildren();
  const from = document.querySelector(`[href="${CSS.escape(dialog.dataset.from)}"]`);
  (from?.closest("details:not([open])")?.querySelector("summary") ?? from)?.focus();
});

// The server's word that a form's work is done, or that the object on show is gone.
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
  const told = xhr.getResponseHeader?.("X-Trouble");
  trouble.textContent = told ? decodeURIComponent(told) : document.getElementById("words").dataset.failed;
}
