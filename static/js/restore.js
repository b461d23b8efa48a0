// Keeps the focus and the open details of parts that are swapped. The new element with the same id or link gets the focus.
let focus = []; // selectors of the element that had the focus, the best one first
let opened = []; // ids of the open details

// To be called before a frame, or a part alone, is swapped in.
export function keepPage(part = document.getElementById("main")) {
  focus = selectorsOf(document.activeElement);
  opened = openIn(part);
}

// To be called after a swap.
export function restorePage() {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
  if (document.activeElement && document.activeElement !== document.body) return;
  focus
    .map((each) => document.querySelector(each))
    .find(Boolean)
    ?.focus({ preventScroll: true });
}

function openIn(element) {
  return [...element.querySelectorAll("details[id][open]")].map((each) => each.id);
}

function selectorsOf(element) {
  if (!element || element === document.body || element.closest("dialog")) return [];
  if (element.id) return [`#${CSS.escape(element.id)}`];
  const part = element.closest("[id]");
  const href = element.getAttribute("href");
  return part && href
    ? [`#${CSS.escape(part.id)}`, "main"].map((each) => `${each} [href="${CSS.escape(href)}"]`)
    : [];
}

document.addEventListener("htmx:beforeSwap", ({ detail: { target } }) => {
  opened = openIn(target);
  focus = target.contains(document.activeElement) ? selectorsOf(document.activeElement) : [];
});
document.addEventListener("htmx:afterSwap", restorePage);
