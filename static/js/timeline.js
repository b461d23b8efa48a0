// The keyboard in the timeline: Tab reaches one mark, the newest; the arrow keys go from mark to mark.
import { addElementKeys } from "./registry.js";

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
