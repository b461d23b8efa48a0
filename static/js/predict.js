// Predict: while its panel asks, a click on a pod or a node chooses it there instead of opening it.
const panel = () => document.querySelector("#predict[data-kind]");
const PICKED = "picked";

function valueOf(target, kind) {
  if (kind === "nodes" || kind === "winner") return target.closest("[data-node]")?.dataset.node;
  const link = target.closest(kind === "next" ? ".chip" : ".node .pod");
  const href = (link?.matches("a") ? link : link?.querySelector("a[data-panel]"))?.getAttribute("href");
  return href && decodeURIComponent(/\/pods\/([^/]+\/[^/]+)\/$/.exec(href)?.[1] ?? "");
}

function choiceOf(value) {
  return value && [...panel().querySelectorAll("input[name=pick]")].find((each) => each.value === value);
}

// Before panels.js, which would open the object's details.
document.addEventListener("click", (event) => {
  if (!panel() || event.target.closest("#predict") || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const choice = choiceOf(valueOf(event.target, panel().dataset.kind));
  if (!choice) return;
  event.preventDefault();
  event.stopPropagation();
  choice.click();
}, { capture: true });

// What is chosen is marked on the page, too.
function mark() {
  for (const each of document.querySelectorAll(`.${PICKED}`)) each.classList.remove(PICKED);
  const asks = panel();
  if (!asks) return;
  const kind = asks.dataset.kind;
  const chosen = new Set([...asks.querySelectorAll("input[name=pick]:checked")].map((each) => each.value));
  const things = { next: ".chip", victims: ".node .pod" }[kind] ?? "[data-node]";
  for (const each of document.querySelectorAll(things)) each.classList.toggle(PICKED, chosen.has(valueOf(each, kind)));
}

// The order of activeQ is the answer to who is next: while that is asked, it stands by name.
function hideOrder() {
  if (panel()?.dataset.kind !== "next") return;
  const chips = document.querySelector("#lane-activeQ .chips");
  if (!chips) return;
  const name = (chip) => chip.querySelector("a")?.getAttribute("href") ?? "\uffff";
  const kept = document.activeElement;
  chips.append(...[...chips.children].sort((a, b) => name(a).localeCompare(name(b))));
  if (chips.contains(kept)) kept.focus({ preventScroll: true });
}

function both() {
  hideOrder();
  mark();
}

document.addEventListener("change", (event) => { if (event.target.closest("#predict")) mark(); });
document.body.addEventListener("frame", both);
document.addEventListener("htmx:afterSwap", (event) => {
  both();
  // The button that had the focus is gone with what was asked.
  const title = document.getElementById("predict-title");
  if (event.detail.target.id === "detail" && title && document.activeElement === document.body) title.focus({ preventScroll: true });
});
both();
