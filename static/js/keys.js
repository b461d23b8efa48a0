// The keyboard: space pauses, . , take a step, u runs until; f filters, t shows the nodes as a table; p c n b y open the forms, / the command bar, arrows walk the timeline, Escape goes back.
import { closePanel } from "./panels.js";

const BUTTONS = { ".": "t-next", ",": "t-cycle" };
const FORMS = { p: "pod", c: "priorityclass", n: "node", b: "poddisruptionbudget", y: "yaml" };

function typing(target) {
  return target.closest("input, textarea, select, dialog, [contenteditable]");
}

document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey || typing(event.target)) return;
  if (event.key === "Escape") {
    closePanel();
  } else if (event.key === " " && !event.target.closest("a, button")) {
    event.preventDefault();
    document.getElementById("t-run")?.click();
  } else if (BUTTONS[event.key]) {
    document.getElementById(BUTTONS[event.key])?.click();
  } else if (event.key === "f") {
    event.preventDefault();
    document.getElementById("q").select();
  } else if (event.key === "t") {
    document.querySelector('#look [aria-keyshortcuts="t"]')?.click();
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
