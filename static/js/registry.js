// The handlers of keys and clicks. Only this file listens for them on the document; the other files register handlers here.
// For one event at most one handler runs, and the browser's default action is prevented. Events with a modifier key, such as
// a click that opens a link in a new tab, are left to the browser.

const shortcuts = [];
const elementKeys = [];
const clicks = [];
const everyClick = [];
let singleKeys = true;

// Keys of the whole page have no effect in these elements, which take text or lie above the page.
const TYPING = "input:not([type=range]), textarea, select, dialog, [contenteditable]";

// Space presses these elements.
const PRESSED_BY_SPACE = "a, button, summary";

const always = () => true;

// Registers a key of the whole page. key: of several, the first is in the list of keys, the others do the same.
// control: a selector; the list describes the key by the name of this element, and the key acts only if it exists. A key
// without a control is not in the list. when: says whether the key acts now. run: what it does instead of a click on the control.
export function addShortcut(key, { control = "", when = always, run = (element) => element.click() }) {
  shortcuts.push({ keys: [key].flat(), control, when, run });
}

// Registers keys for when the focus is in an element (a selector). They come before the keys of the whole page.
export function addElementKeys(selector, keys, run, { when = always } = {}) {
  elementKeys.push({ selector, keys, when, run });
}

// Registers a click on an element (a selector) or in it. If several apply, the one for the innermost element runs; one with
// capture comes before all others.
export function addClick(selector, run, { when = always, capture = false } = {}) {
  clicks.push({ selector, run, when, capture });
}

// Registers a function that is called at every click, before its handler.
export function addEveryClick(run) {
  everyClick.push(run);
}

// Turns the keys that are single characters on or off.
export function setSingleKeys(on) {
  singleKeys = on;
}

// The keys of the whole page whose controls exist.
export function listShortcuts() {
  return shortcuts
    .map(({ keys, control, when }) => ({
      key: keys[0],
      control: control && document.querySelector(control),
      acts: when(),
    }))
    .filter(({ control }) => control);
}

function isModified(event) {
  return event.metaKey || event.ctrlKey || event.altKey;
}

function findInnermost(handlers, event) {
  let found = null;
  for (const handler of handlers) {
    const element = event.target.closest(handler.selector);
    if (!element || !handler.when(element, event)) continue;
    if (!found || (found.element !== element && found.element.contains(element)))
      found = { handler, element };
  }
  return found;
}

function findShortcut(key, target) {
  if (target.closest(TYPING) || document.querySelector("dialog[open]")) return null;
  if (key === "Escape" && document.querySelector(":popover-open")) return null; // the browser closes it
  if (key === "Space" && target.closest(PRESSED_BY_SPACE)) return null;
  for (const handler of shortcuts) {
    if (!handler.keys.includes(key) || !handler.when()) continue;
    const element = handler.control && document.querySelector(handler.control);
    if (element || !handler.control) return { handler, element };
  }
  return null;
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || isModified(event) || (event.key.length === 1 && !singleKeys)) return;
  const key = event.key === " " ? "Space" : event.key; // as in aria-keyshortcuts
  const inElement = elementKeys.filter(({ keys }) => keys.includes(key));
  const found = findInnermost(inElement, event) ?? findShortcut(key, event.target);
  if (!found) return;
  event.preventDefault();
  found.handler.run(found.element, event);
});

document.addEventListener("click", (event) => {
  for (const run of everyClick) run(event);
  if (event.button !== 0 || event.shiftKey || isModified(event)) return;
  const found =
    findInnermost(
      clicks.filter(({ capture }) => capture),
      event,
    ) ?? findInnermost(clicks, event);
  if (!found) return;
  event.preventDefault();
  found.handler.run(found.element, event);
});
