// The list of keys, and the switch that turns single keys off: speech input may trigger them by mistake.
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

// A control in a closed menu counts as visible if the menu is.
function isVisible(control) {
  return (control.closest(".menu") ?? control).checkVisibility();
}

// The keys that act now, in the order of their controls on the page.
function fillList() {
  const shown = listShortcuts().filter(({ control, acts }) => acts && isVisible(control));
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
addShortcut("?", { control: "#keys > summary" });
menu.addEventListener("toggle", fillList);
if (menu.open) fillList();
