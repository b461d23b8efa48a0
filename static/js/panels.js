// Opens panels in the inspector. Without scripts the same links lead to whole pages.
import { addClick, addShortcut } from "./registry.js";
import { closeMenuOf } from "./menus.js";
import { showTabOf, shownSection } from "./tabs.js";

const detail = document.getElementById("detail");
const main = document.getElementById("main");
let opener = null; // the address of the element that had the focus before the panel
let open = ""; // the address of the open panel
let from = null; // the section that was shown before the panel, on a narrow page

// A score that is equal in the next cycle stays in the page as it is, so its link says "last". Here it gets the number of
// the cycle that is shown.
export function panelAddress(link) {
  const shown = document.getElementById("cycle-title")?.dataset.cycle;
  return link.getAttribute("href").replace("/cycles/last/", `/cycles/${shown}/`);
}

// A cycle is shown at the moment at which it ended: travel.js pins it.
export function openPanel(href) {
  closeMenuOf(document.activeElement);
  opener = document.activeElement?.getAttribute("href");
  open = href;
  if (!isOpen()) from = shownSection();
  const cycle = cycleOf(href);
  if (cycle && cycle !== shownCycle())
    return document.body.dispatchEvent(new CustomEvent("pin", { detail: href }));
  htmx.ajax("GET", href, { target: "#detail", swap: "innerHTML" }).then(showPanel);
}

// To be called when a panel was swapped in.
export function showPanel() {
  showTabOf(detail);
  const scroll = detail.closest(".scroll");
  scroll.scrollTop = 0;
  detail.querySelector("[data-show]")?.scrollIntoView({ block: "center" });
  detail.querySelector("[data-panel-title]")?.focus({ preventScroll: true });
  scroll.closest("section").scrollIntoView({ block: "nearest" });
  markCycle();
}

// The number of the cycle in an address, or undefined.
function cycleOf(href) {
  return /\/cycles\/(\d+)\//.exec(href)?.[1];
}

// The number of the cycle that is pinned, or undefined.
export function shownCycle() {
  return detail.querySelector("[data-cycle]")?.dataset.cycle;
}

// Loads the open panel for another moment. base: the address of the page at that moment. The panel of a cycle is closed, as it
// belongs to its own moment.
export function reopenPanel(base) {
  const href = open || (/\/(pods|nodes)\//.test(location.pathname) ? location.pathname : "");
  const path = /^\/s\/[^/]+\/(?:at\/\d+\/)?(.+)/.exec(href)?.[1];
  if (shownCycle()) return emptyPanel();
  if (!isOpen() || !path) return;
  open = base + path;
  htmx.ajax("GET", open, { target: "#detail", swap: "innerHTML" }).then(markCycle);
}

function isOpen() {
  return detail.childElementCount > 0;
}

function emptyPanel() {
  open = "";
  detail.replaceChildren();
  markCycle();
}

function closePanel() {
  if (!isOpen()) return;
  const pinned = shownCycle();
  emptyPanel();
  showTabOf(from);
  if (pinned) document.body.dispatchEvent(new CustomEvent("unpin"));
  const back = opener && document.querySelector(`main [href="${CSS.escape(opener)}"]`);
  (back || main).focus({ preventScroll: true });
}

// Marks the cycle of the open panel in the timeline, whose marks change with the frames.
function markCycle() {
  const cycle = shownCycle();
  for (const each of document.querySelectorAll(".mark[aria-current]")) each.removeAttribute("aria-current");
  if (cycle) document.getElementById(`m${cycle}`)?.setAttribute("aria-current", "true");
}

// The response to a request of an element that a frame has removed meanwhile: htmx would search for the targets of the parts
// in the removed element, so they are swapped here. A response for a panel that was closed or replaced is dropped.
function swapForRemoved(event) {
  const { requestConfig, shouldSwap, target, serverResponse, swapOverride, xhr } = event.detail;
  if (!shouldSwap || requestConfig.elt.isConnected) return;
  event.detail.shouldSwap = false;
  if (target === detail && requestConfig.verb === "get") return;
  htmx.swap(target, serverResponse, { swapStyle: swapOverride ?? "innerHTML" }, { eventInfo: event.detail });
  const after = xhr.getResponseHeader("HX-Trigger-After-Swap");
  if (after) document.body.dispatchEvent(new CustomEvent(after));
}

addClick("a[data-panel]", (link) => openPanel(panelAddress(link)), {
  when: (link) => !link.closest("dialog"),
});
addClick("[data-close-panel]", closePanel);
addShortcut("Escape", { when: isOpen, run: closePanel });
document.body.addEventListener("frame", markCycle);
document.body.addEventListener("htmx:beforeSwap", swapForRemoved);
document.body.addEventListener("schedviz:gone", closePanel); // the object of the panel is deleted
