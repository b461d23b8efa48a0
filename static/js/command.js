// The command bar: arrows move in the completions, Tab accepts one, Enter runs the line, ArrowUp recalls previous lines. The
// server completes and runs the lines.
const KEPT = 50; // lines of history
const STORE = "schedviz:commands";

const AFTER_MS = 80; // without a key press

let waiting = 0;
let back = 0; // number of lines back in the history

const field = () => document.getElementById("command-text");
const options = () => [...document.querySelectorAll("#command-options [role=option]")];
const past = () => JSON.parse(localStorage.getItem(STORE) ?? "[]");

function active() {
  return document.getElementById(field().getAttribute("aria-activedescendant") ?? "");
}

function mark(option) {
  for (const each of options()) each.setAttribute("aria-selected", String(each === option));
  option ? field().setAttribute("aria-activedescendant", option.id) : field().removeAttribute("aria-activedescendant");
  option?.scrollIntoView({ block: "nearest" });
}

function put(line) {
  field().value = line;
  field().setSelectionRange(line.length, line.length);
  mark(null);
  propose();
}

async function propose() {
  const text = field().value;
  const answer = await fetch(`${field().dataset.options}?${new URLSearchParams({ text })}`).catch(() => null);
  const html = answer?.ok && (await answer.text());
  if (!html || field()?.value !== text) return; // the line has changed, or the bar was closed
  document.getElementById("command-options").outerHTML = html;
  updateExpanded();
}

// The list always exists; it counts as expanded if it has options.
function updateExpanded() {
  field()?.setAttribute("aria-expanded", String(options().length > 0));
}

function walk(key) {
  const all = options();
  const at = all.indexOf(active());
  if (key === "ArrowUp" && at < 0) return recall(back + 1);
  if (key === "ArrowDown" && at < 0 && back > 0) return recall(back - 1);
  const to = key === "ArrowDown" ? at + 1 : at - 1;
  if (to < all.length) mark(all[to] ?? null);
}

function recall(steps) {
  const lines = past();
  back = Math.max(0, Math.min(lines.length, steps));
  put(back ? lines[lines.length - back] : "");
}

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "command-text" || event.isComposing) return;
  if (event.key === "ArrowUp" || event.key === "ArrowDown") {
    event.preventDefault();
    walk(event.key);
  } else if ((event.key === "Enter" || event.key === "Tab") && active()) {
    event.preventDefault();
    put(active().dataset.line);
  } else if (event.key === "Escape" && active()) {
    event.preventDefault(); // the first Escape leaves the list, the second closes the dialog
    mark(null);
  }
});

document.addEventListener("input", (event) => {
  if (event.target.id !== "command-text") return;
  back = 0;
  mark(null);
  clearTimeout(waiting);
  waiting = setTimeout(propose, AFTER_MS);
});

document.addEventListener("mousedown", (event) => {
  const option = event.target.closest("#command-options [role=option]");
  if (!option) return;
  event.preventDefault(); // keep the focus in the field
  put(option.dataset.line);
});

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-command]")) return;
  clearTimeout(waiting);
  const ran = field().value.trim();
  const lines = past().filter((each) => each !== ran);
  if (ran) localStorage.setItem(STORE, JSON.stringify([...lines, ran].slice(-KEPT)));
  back = 0;
}, true);

document.addEventListener("htmx:afterSettle", updateExpanded);
