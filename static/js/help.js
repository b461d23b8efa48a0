// The help mode: the explanations of what is on the page. Each link to the page of an idea is then below the element that shows the idea, with
// the idea in a sentence. The mode is remembered.
import { addClick, addShortcut } from "./registry.js";

const STORED = "schedviz:help";
const button = document.getElementById("help");
const { content, dataset } = document.getElementById("explanations");
const lanes = document.querySelector(".queue > .scroll");
const detail = document.getElementById("detail");

function isOn() {
  return button.getAttribute("aria-pressed") === "true";
}

// Parts of the page that a frame has replaced have their links again.
function explain() {
  if (!isOn()) return;
  for (const link of document.querySelectorAll("a.idea:not(.explained)")) {
    const found = content.querySelector(`[data-idea="${CSS.escape(link.getAttribute("href"))}"]`);
    if (!found) continue;
    const copy = found.cloneNode(true);
    copy.append(Object.assign(document.createElement("u"), { textContent: dataset.more }));
    // The key below the nodes has no room for sentences: there the link is the title of the idea.
    link.replaceChildren(...(link.closest(".key") ? [copy.firstElementChild] : copy.childNodes));
    link.removeAttribute("aria-label");
    link.classList.add("explained");
  }
}

function setHelp(on) {
  button.setAttribute("aria-pressed", String(on));
  document.body.classList.toggle("helping", on);
  localStorage.setItem(STORED, on ? "on" : "off");
  // An explanation may leave so little room for empty lanes that they are scrolled, and nothing in them can have the focus.
  if (on) lanes.tabIndex = 0;
  else lanes.removeAttribute("tabindex");
  explain();
}

addClick("#help", () => setHelp(!isOn()));
addShortcut("h", { control: "#help" });
addShortcut("Escape", { when: () => isOn() && !detail.childElementCount, run: () => setHelp(false) });
document.body.addEventListener("frame", explain);
document.addEventListener("htmx:afterSwap", explain);
if (localStorage.getItem(STORED) === "on") setHelp(true);
