// The command bar: arrows move in the completions, Tab accepts one, Enter runs the line, ArrowUp recalls previous lines. The
// server completes and runs the lines.
import { addElementKeys } from "./registry.js";

const KEPT = 50; // lines of history
const STORED = "schedviz:commands";
const AFTER_MS = 80; // without a key press

let waiting = 0;
let asked = 0; // the number of the last request for completions
let back = 0; // lines back in the history; 0: the line that is being written

const commandField = () => document.getElementById("command-text");
const listedOptions = () => [...document.querySelectorAll("#command-options [role=option]")];
const storedLines = () => JSON.parse(localStorage.getItem(STORED) ?? "[]");

function activeOption() {
  return document.getElementById(commandField().getAttribute("aria-activedescendant") ?? "");
}

function markOption(option) {
  for (const each of listedOptions()) each.setAttribute("aria-selected", String(each === option));
  if (option) commandField().setAttribute("aria-activedescendant", option.id);
  else commandField().removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function setLine(line) {
  commandField().value = line;
  commandField().setSelectionRange(line.length, line.length);
  markOption(null);
  loadOptions();
}

async function loadOptions() {
  const mine = ++asked;
  const field = commandField();
  if (!field) return; // the bar was closed
  const text = field.value;
  const answer = await fetch(`${field.dataset.options}?${new URLSearchParams({ text })}`).catch(() => null);
  const html = answer?.ok && (await answer.text());
  // The line has changed or was run, or the bar was closed.
  if (!html || mine !== asked || commandField()?.value !== text) return;
  document.getElementById("command-options").outerHTML = html;
  updateExpanded();
}

// The list always exists; it counts as expanded if it has options.
function updateExpanded() {
  commandField()?.setAttribute("aria-expanded", String(listedOptions().length > 0));
}

function moveInOptions({ key }) {
  const all = listedOptions();
  const at = all.indexOf(activeOption());
  if (key === "ArrowUp" && at < 0) return recallLine(back + 1);
  if (key === "ArrowDown" && at < 0 && back > 0) return recallLine(back - 1);
  const to = key === "ArrowDown" ? at + 1 : at - 1;
  if (to < all.length) markOption(all[to] ?? null);
}

function recallLine(steps) {
  const lines = storedLines();
  back = Math.max(0, Math.min(lines.length, steps));
  setLine(back ? lines[lines.length - back] : "");
}

addElementKeys("#command-text", ["ArrowUp", "ArrowDown"], (element, event) => moveInOptions(event));
addElementKeys("#command-text", ["Enter", "Tab"], () => setLine(activeOption().dataset.line), {
  when: activeOption,
});
// The first Escape leaves the list, the second closes the dialog.
addElementKeys("#command-text", ["Escape"], () => markOption(null), { when: activeOption });

document.addEventListener("input", (event) => {
  if (event.target.id !== "command-text") return;
  back = 0;
  markOption(null);
  clearTimeout(waiting);
  waiting = setTimeout(loadOptions, AFTER_MS);
});

document.addEventListener("mousedown", (event) => {
  const option = event.target.closest("#command-options [role=option]");
  if (!option) return;
  event.preventDefault(); // keep the focus in the field
  setLine(option.dataset.line);
});

document.addEventListener(
  "submit",
  (event) => {
    if (!event.target.matches("[data-command]")) return;
    clearTimeout(waiting);
    asked++;
    const ran = commandField().value.trim();
    const lines = storedLines().filter((each) => each !== ran);
    if (ran) localStorage.setItem(STORED, JSON.stringify([...lines, ran].slice(-KEPT)));
    back = 0;
  },
  true,
);

document.addEventListener("htmx:afterSettle", updateExpanded);

// The answer to a line comes with an empty field. The next line, which was typed meanwhile, stays.
let ahead = ""; // what was typed

document.addEventListener("htmx:beforeSwap", ({ detail: { requestConfig } }) => {
  const isRun = commandField() && requestConfig?.elt === commandField().form;
  const typed = isRun ? commandField().value : "";
  ahead = isRun && typed !== requestConfig.formData.get("text") ? typed : "";
});
document.addEventListener("htmx:afterSwap", () => {
  if (ahead && commandField()) setLine(ahead);
  ahead = "";
});
