// The keyboard: [ ] step through the past by event, { } by cycle, l goes back to live; space pauses, . , take a step, u runs until; f filters, t shows the nodes as a table; w asks what would let a pod run; g guesses before each decision; p c n b y open the forms, / the command bar, arrows walk the timeline, Escape goes back.
import { closePanel } from "./panels.js";
import { isPast } from "./travel.js";

const BUTTONS = { ".": "t-next", ",": "t-cycle", g: "t-predict" };
const TRAVELS = { "[": "earlier", "]": "later", "{": "earlier-cycle", "}": "later-cycle" };
const FORMS = { p: "pod", c: "priorityclass", n: "node", b: "poddisruptionbudget", y: "yaml" };

function typing(target) {
  return target.closest("input:not([type=range]), textarea, select, dialog, [contenteditable]");
}

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
    return; // the past cannot be changed
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
