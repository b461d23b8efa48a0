// The keys of links and buttons that need a click and nothing else, and those of the timeline. Other files register the keys of
// their own controls.
import { addElementKeys, addShortcut } from "./registry.js";
import { isLive } from "./travel.js";

const CONTROLS = {
  Space: "#t-run",
  ";": "#t-event",
  ".": "#t-next",
  ",": "#t-cycle",
  u: "[popovertarget=t-until]",
  g: "#t-predict",
  w: "#suppose-ask",
  "/": '#t-more a[href$="/command/"]',
  p: '.create a[href$="/pod/"]',
  c: '.create a[href$="/priorityclass/"]',
  n: '#t-more a[href$="/node/"]',
  b: '.create a[href$="/poddisruptionbudget/"]',
  y: '.create a[href$="/yaml/"]',
};

for (const [key, control] of Object.entries(CONTROLS)) addShortcut(key, { control, when: isLive });

// Tab reaches one mark of the timeline, the newest; the arrow keys go from mark to mark.
function updateTabStops() {
  const marks = document.querySelectorAll("#marks > .mark");
  for (const [place, mark] of marks.entries()) {
    const index = place === marks.length - 1 ? 0 : -1;
    if (mark.tabIndex !== index) mark.tabIndex = index;
  }
}

addElementKeys(".mark", ["ArrowLeft", "ArrowRight"], (mark, { key }) => {
  const next = key === "ArrowLeft" ? mark.previousElementSibling : mark.nextElementSibling;
  next?.focus();
});
document.body.addEventListener("frame", updateTabStops);
updateTabStops();
