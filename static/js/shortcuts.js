// The list of keys, and the switch that turns single keys off: speech input may trigger them by mistake.
import { reachableOf } from "./menus.js";
import { addShortcut, listShortcuts, setSingleKeys } from "./registry.js";

const STORED = "schedviz:keys";
const menu = document.getElementById("keys");
const on = document.getElementById("keys-on");

function nameOf(element) {
  const words = [...element.childNodes]
    .filter((each) => each.ariaHidden !== "true")
    .map((each) => each.textContent);
  const label = element.labels?.[0]?.textContent.trim();
  return element.ariaLabel || words.join("").trim() || label;
}

// The keys that act now, in the order of their controls on the page.
function fillList() {
  const shown = listShortcuts().filter(({ control, acts }) => acts && reachableOf(control).checkVisibility());
  shown.sort((one, other) =>
    one.control.compareDocumentPosition(other.control) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1,
  );
  const lines = shown.flatMap(({ key, control }) => {
    const [term, name] = [document.createElement("dt"), document.createElement("dd")];
    term.append(Object.assign(document.createElement("kbd"), { textContent: key }));
    name.textContent = nameOf(control);
    return [term, name];
  });
  menu.querySelector("dl").replaceChildren(...lines);
}

on.checked = localStorage.getItem(STORED) !== "off";
setSingleKeys(on.checked);
on.addEventListener("change", () => {
  localStorage.setItem(STORED, on.checked ? "on" : "off");
  setSingleKeys(on.checked);
});
addShortcut("?", { control: "[popovertarget=keys]" });
menu.addEventListener("beforetoggle", fillList);
if (menu.matches(":popover-open")) fillList();
