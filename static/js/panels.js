// The open panel in the inspector: it is opened, shows every change of the sandbox while the page is live, and has an address.
// Without scripts the same links and forms lead to whole pages.
import { momentAddress, placeAt, showAddress, shownSeq } from "./address.js";
import { tick } from "./clock.js";
import { closeMenuOf } from "./menus.js";
import { paced } from "./pace.js";
import { isPressed } from "./press.js";
import { addClick, addShortcut } from "./registry.js";
import { requestPart } from "./request.js";
import { keepPage } from "./restore.js";
import { showTabOf, shownSection } from "./tabs.js";
import "./morph.js";

const REFRESH_MS = 1000; // at least, between two refreshes; a panel may have a shorter time, in data-refresh
const POLL_MS = 1000; // interval of panels with data-poll: what they show is not only of the sandbox
const TYPED_MS = 250; // without a key press

const detail = document.getElementById("detail");
const main = document.getElementById("main");
let opener = null; // the address of the element that had the focus before the panel
let open = isOpen() ? placeAt(location.href).panel : ""; // the path of the open panel, with its fields
let drawn = open; // that of the panel in the page
let from = null; // the section that was shown before the panel, on a narrow page
let asking = null; // the request for a panel that is under way
let opening = null; // what was clicked and is being loaded: its address and how it is opened
let hadFocus = false; // whether the focus was in the panel before a swap
let named = []; // the folds whose content was asked for last
let outdated = false; // whether the open panel is to be refreshed as soon as that is possible

// A score that is equal in the next cycle stays in the page as it is, so its link says "last". Here it gets the number of
// the cycle that is shown.
export function panelAddress(link) {
  const shown = document.getElementById("cycle-title")?.dataset.cycle;
  return link.getAttribute("href").replace("/cycles/last/", `/cycles/${shown}/`);
}

// Opens a panel at the moment that the page shows. A panel that has only a present state goes back to live. A cycle is shown at
// the moment at which it ended: travel.js pins it. push: as a new entry of the browser's history. keep: it is the open panel with
// other fields, so focus and scrolling stay.
export async function openPanel(href, options = {}) {
  const { push = true, keep = false } = options;
  clearTimeout(typing);
  closeMenuOf(document.activeElement);
  if (!keep) opener = document.activeElement?.getAttribute("href");
  if (!isOpen()) from = shownSection();
  const { panel } = placeAt(href);
  const cycle = cycleOf(panel);
  if (cycle && cycle !== shownCycle())
    return document.body.dispatchEvent(new CustomEvent("pin", { detail: { panel, push } }));
  const asked = shownSeq();
  const clicked = (opening = { href, options });
  const loaded = await load(panel);
  if (opening === clicked) opening = null;
  if (!loaded) return;
  if (asked !== shownSeq()) return openPanel(href, options); // the page goes to another moment meanwhile
  if (shownSeq() && !loaded.seq) document.body.dispatchEvent(new CustomEvent("leave"));
  showAddress({ seq: loaded.seq, panel }, push);
  swap(loaded.html, panel, { keep });
  if (!keep) showPanel(panel);
}

// To be called when a panel was swapped in.
export function showPanel(panel) {
  open = drawn = panel;
  showTabOf(detail);
  const scroll = detail.closest(".scroll");
  scroll.scrollTop = 0;
  detail.querySelector("[data-show]")?.scrollIntoView({ block: "center" });
  detail.querySelector("[data-panel-title]")?.focus({ preventScroll: true });
  scroll.closest("section").scrollIntoView({ block: "nearest" });
  markCycle();
}

// Says which panel the page shows at the moment to which it goes; "": none. Without one: what was clicked and is being loaded,
// or the open panel, if other moments may have it, too. A cycle belongs to its own moment.
export function expectPanel(panel) {
  if (panel !== undefined) stopAsking();
  open = panel ?? (shownCycle() ? "" : open);
  return open;
}

// Shows the expected panel at the moment to which the page went. One that has only a present state is closed there.
export async function movePanel() {
  if (opening) return openPanel(opening.href, opening.options);
  const seq = shownSeq();
  const panel = open;
  if (!panel) return emptyPanel();
  if (cycleOf(panel))
    return document.body.dispatchEvent(new CustomEvent("pin", { detail: { panel, push: false } }));
  const loaded = await load(panel);
  if (!loaded || shownSeq() !== seq || open !== panel) return;
  if (loaded.seq === seq) return swap(loaded.html, panel, { keep: isSamePath(panel, drawn) });
  emptyPanel();
  showAddress({ seq, panel: "" }, false);
}

// The HTML of a panel, and the moment of which it is. What is folded is left out.
async function load(panel, { quiet = false } = {}) {
  const address = new URL(momentAddress(shownSeq()) + panel, location.href);
  if (isSamePath(panel, drawn)) for (const each of nameFolds()) address.searchParams.append("unfolded", each);
  const { answer, html } = (await askForPanel(address, { quiet })) ?? {};
  return answer?.status === 200 && html != null ? { html, seq: placeAt(answer.url).seq } : null;
}

// The response to a request for a panel, with its text. null: the visitor has opened another one, or closed it, meanwhile. A newer
// request takes the place of an older one.
export async function askForPanel(address, { quiet = false } = {}) {
  asking?.abort();
  const { signal } = (asking = Object.assign(new AbortController(), { quiet }));
  const answer = await requestPart(address, { signal, quiet });
  const html = await answer?.text().catch(() => null);
  if (signal.aborted) {
    outdated ||= quiet; // what it asked for is still to be shown, if the panel stays
    return null;
  }
  asking = null;
  setTimeout(refreshIfOutdated);
  return { answer, html };
}

// keep: what is equal in the panel before stays in place.
function swap(html, panel, { keep = true } = {}) {
  open = drawn = panel;
  keepPage();
  hadFocus = detail.contains(document.activeElement);
  const swapStyle = keep ? "morph" : "innerHTML";
  htmx.swap(detail, html, { swapStyle }, { contextElement: detail, eventInfo: { target: detail } });
  markCycle();
}

// The ids of the open folds, for a request, whose answer then has their content.
function nameFolds() {
  named = [...detail.querySelectorAll("details[data-fold][open]")].map((each) => each.id);
  return named;
}

const loadFolds = () => openPanel(momentAddress(shownSeq()) + drawn, { push: false, keep: true });

// A fold that is opened is loaded. The whole page has the content of all folds, but the answer to a request that is under way
// has not the content of this one.
detail.addEventListener(
  "toggle",
  ({ target }) => {
    if (opening) return; // another panel, or this one: see loadUnnamed
    if (target.matches("[data-fold][open]") && (asking || target.childElementCount < 2)) loadFolds();
  },
  true, // the event does not bubble
);

// To be called after a swap. A fold that was opened after the request for what was swapped in is empty.
function loadUnnamed() {
  const empty = [...detail.querySelectorAll("details[data-fold][open] > summary:only-child")];
  if (!opening && empty.some(({ parentElement }) => !named.includes(parentElement.id))) loadFolds();
}

function isSamePath(one, other) {
  return one.split("?")[0] === other.split("?")[0];
}

// After restore.js has looked for what had the focus: it may be gone.
function keepFocus() {
  if (hadFocus && document.activeElement === document.body)
    detail.querySelector("[data-panel-title]")?.focus({ preventScroll: true });
  hadFocus = false;
}

// Loads the open panel again, unless the page shows a past moment. A cycle does not change any more. What the visitor does in the
// panel goes first: a press of the pointer, a request, and text that is selected.
async function refresh() {
  if (!open || open !== drawn || shownSeq() || shownCycle()) return;
  outdated = Boolean(asking) || isBusy();
  if (outdated) return;
  const panel = open;
  const { seen } = detail.firstElementChild.dataset;
  const asked = seen ? `${panel}?${new URLSearchParams({ seen })}` : panel;
  const loaded = await load(asked, { quiet: true });
  if (loaded && panel === open && !shownSeq()) {
    if (isBusy()) outdated = true;
    else swap(loaded.html, panel);
  }
}

function isBusy() {
  const selection = getSelection();
  return (
    isPressed() ||
    detail.querySelector(".htmx-request") !== null ||
    (!selection.isCollapsed && detail.contains(selection.anchorNode))
  );
}

function refreshIfOutdated() {
  if (outdated && !asking && !isBusy()) refresh();
}

const refreshSoon = paced(refresh, () => Number(detail.firstElementChild?.dataset.refresh ?? REFRESH_MS));

// The number of the cycle in an address, or undefined.
function cycleOf(href) {
  return /(?:^|\/)cycles\/(\d+)\//.exec(href)?.[1];
}

// The number of the cycle that is pinned, or undefined.
export function shownCycle() {
  return detail.querySelector("[data-cycle]")?.dataset.cycle;
}

function isOpen() {
  return detail.childElementCount > 0;
}

// While a request is under way, the panel is not refreshed: one that was given up is none.
export function stopAsking() {
  asking?.abort();
  asking = opening = null;
}

function emptyPanel() {
  stopAsking();
  clearTimeout(typing);
  open = drawn = "";
  detail.replaceChildren();
  markCycle();
}

function closePanel() {
  if (!isOpen()) return;
  const pinned = shownCycle();
  emptyPanel();
  showTabOf(from);
  if (pinned) document.body.dispatchEvent(new CustomEvent("unpin"));
  else showAddress({ seq: shownSeq(), panel: "" });
  const back = opener && document.querySelector(`main [href="${CSS.escape(opener)}"]`);
  (back || main).focus({ preventScroll: true });
}

// Marks the cycle of the open panel in the timeline, whose marks change with the frames.
function markCycle() {
  const cycle = shownCycle();
  for (const each of document.querySelectorAll(".mark[aria-current]")) each.removeAttribute("aria-current");
  if (cycle) document.getElementById(`m${cycle}`)?.setAttribute("aria-current", "true");
}

// A form of a panel that only asks (its method is get) gives the panel other fields, also while the visitor types.
let typing = 0;

function askWithFields(form) {
  clearTimeout(typing);
  const fields = [...new FormData(form)].filter(([, value]) => value);
  openPanel(`${form.getAttribute("action")}?${new URLSearchParams(fields)}`, { push: false, keep: true });
}

const isAsSent = (form, sent) =>
  [...new FormData(form)].every(([name, value]) => sent.getAll(name).includes(value));

const isAsking = (form) => form?.matches("#detail form[method=get]");

document.addEventListener("input", ({ target }) => {
  if (!isAsking(target.form)) return;
  clearTimeout(typing);
  typing = setTimeout(() => target.form && askWithFields(target.form), TYPED_MS);
});
document.addEventListener("submit", (event) => {
  if (!isAsking(event.target)) return;
  event.preventDefault();
  askWithFields(event.target);
});

// The response to a request of an element that a frame has removed meanwhile: htmx would search for the targets of the parts
// in the removed element, so they are swapped here. A response for a panel or a form that was closed or replaced is dropped.
function swapForRemoved(event) {
  const { requestConfig, shouldSwap, target, serverResponse, swapOverride, xhr } = event.detail;
  if (!shouldSwap || !requestConfig || requestConfig.elt.isConnected) return;
  event.detail.shouldSwap = false;
  if (target === detail && requestConfig.verb === "get") return;
  const own = requestConfig.elt.closest("[hx-swap]")?.getAttribute("hx-swap");
  const swapStyle =
    target === detail || target.closest("dialog") ? "none" : (swapOverride ?? own ?? "innerHTML");
  htmx.swap(target, serverResponse, { swapStyle }, { eventInfo: event.detail });
  const after = xhr.getResponseHeader("HX-Trigger-After-Swap");
  if (after) document.body.dispatchEvent(new CustomEvent(after));
}

addClick("a[data-panel]", (link) => openPanel(panelAddress(link), { keep: link.dataset.panel === "keep" }), {
  when: (link) => !link.closest("dialog"),
});
addClick("[data-close-panel]", closePanel);
addShortcut("Escape", { when: isOpen, run: closePanel });
document.body.addEventListener("frame", () => {
  markCycle();
  refreshSoon();
});
document.body.addEventListener("schedviz:done", refreshSoon);
document.body.addEventListener("htmx:beforeSwap", swapForRemoved);
// The object of the panel is deleted. Another panel that was opened meanwhile stays.
document.body.addEventListener("schedviz:gone", ({ target }) => {
  if (detail.contains(target) && (!asking || asking.quiet)) closePanel();
});
document.addEventListener("selectionchange", refreshIfOutdated);
document.body.addEventListener("released", refreshIfOutdated);
setInterval(() => {
  if (!document.hidden && detail.querySelector(":scope > [data-poll]")) refreshSoon();
}, POLL_MS);

// An act in the panel: what it answers is newer than what was asked for before. What was typed for it is done with, unless it
// was refused (refused.js), or something else was typed meanwhile.
detail.addEventListener("htmx:beforeRequest", ({ detail: { requestConfig } }) => {
  if (requestConfig.verb !== "get") stopAsking();
});
detail.addEventListener("htmx:configRequest", ({ detail: { parameters, verb } }) => {
  if (verb !== "get") parameters.unfolded = nameFolds();
});
detail.addEventListener("htmx:beforeSwap", ({ detail: { requestConfig, target } }) => {
  hadFocus = detail.contains(document.activeElement);
  const form = requestConfig.elt.closest("form");
  if (target === detail && form && isAsSent(form, requestConfig.formData)) form.reset();
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (!detail.contains(target)) return;
  tick();
  keepFocus();
  loadUnnamed();
});
detail.addEventListener("htmx:afterRequest", refreshIfOutdated);
