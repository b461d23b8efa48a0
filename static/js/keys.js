// Keyboard shortcuts: [ and ] step through the past by event, { and } by cycle, l goes back to live; space pauses, . and ,
// take a step, u runs until a condition; f filters, t shows the nodes as a table; w asks what would let a pod run; g opens
// the prediction mode; p c n b y open the forms, / the command bar; arrows move in the timeline, Escape closes the panel.
import { closePanel } from "./panels.js";
import { isPast } from "./travel.js";

const BUTTONS = { ".": "t-next", ",": "t-cycle", g: "t-predict" };
const TRAVELS = { "[": "earlier", "]": "later", "{": "earlier-cycle", "}": "later-cycle" };
const FORMS = { p: "pod", c: "priorityclass", n: "node", b: "poddisruptionbudget", y: "yaml" };

function typing(target) {
  return target.closest("input:not([type=range]), textarea, select, dialog, [contenteditable]");
}

// Of the marks on the timeline one is reached by Tab, the newest; the arrows walk on from it.
function rove() {
  const marks = document.querySelectorAll("#marks > .mark");
  for (const [place, mark] of marks.entries()) {
    const index = place === marks.length - 1 ? 0 : -1;
    if (mark.tabIndex !== index) mark.tabIndex = index;
  }
}
document.body.addEventListener("frame", rove);
rove();

document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target)) return;
  if (event.key === "Escape") {
    closePanel();
  } else if (TRAVELS[event.key]) {
    document.querySelector(`[data-travel="${TRAVELS[event.key]}"]`).click();
  } else if (event.key === " " && !event.target.closest("a, button")) {
    event.preventDefault();
    document.getElementById(isPast() ? "replay" : "t-run")?.click();
  } else if (event.key === "l" || event.key === "End") {
    document.getElementById("past-live").click();
  } else if (isPast() && event.key !== "f" && !event.target.matches(".mark")) {
    return; // a past moment cannot be changed
  } else if (BUTTONS[event.key]) {
    document.getElementById(BUTTONS[event.key])?.click();
  } else if (event.key === "f") {
    event.preventDefault();
    document.getElementById("q").select();
  } else if (event.key === "t") {
    document.querySelector('#look [aria-keyshortcuts="t"]')?.click();
  } else if (event.key === "w") {
    document.getElementById("suppose-ask")?.click();
  } else if (event.key === "u") {
    document.querySelector("#t-until > summary")?.click();
  } else if (event.key === "/") {
    event.preventDefault();
    document.getElementById("command-open").click();
  } else if (FORMS[event.key]) {
    event.preventDefault();
    document.querySelector(`.create a[href$="/${FORMS[event.key]}/"]`)?.click();
  } else if (event.target.matches(".mark") && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
    event.preventDefault();
    const next = event.key === "ArrowLeft" ? event.target.previousElementSibling : event.target.nextElementSibling;
    next?.focus();
  }
});
