// Prediction mode: while its panel shows a question, a click on a pod or a node chooses it and does not open it.
const panel = () => document.querySelector("#predict[data-kind]");
const PICKED = "picked";

function valueOf(target, kind) {
  if (kind === "nodes" || kind === "winner") return target.closest("[data-node]")?.dataset.node;
  const link = target.closest(kind === "next" ? ".chip" : ".node .pod");
  const href = (link?.matches("a") ? link : link?.querySelector("a[data-panel]"))?.getAttribute("href");
  return href && decodeURIComponent(/\/pods\/([^/]+\/[^/]+)\/$/.exec(href)?.[1] ?? "");
}

function choiceOf(value) {
  return value && [...(panel()?.querySelectorAll("input[name=pick]") ?? [])].find((each) => each.value === value);
}

// In the capture phase, before panels.js, which would open the panel of the object.
document.addEventListener("click", (event) => {
  if (!panel() || event.target.closest("#predict") || event.metaKey || event.ctrlKey || event.shiftKey) return;
  const choice = choiceOf(valueOf(event.target, panel().dataset.kind));
  if (!choice) return;
  event.preventDefault();
  event.stopPropagation();
  choice.click();
}, { capture: true });

// Marks the chosen pods and nodes on the page.
function mark() {
  for (const each of document.querySelectorAll(`.${PICKED}`)) each.classList.remove(PICKED);
  const question = panel();
  if (!question) return;
  const kind = question.dataset.kind;
  const chosen = new Set([...question.querySelectorAll("input[name=pick]:checked")].map((each) => each.value));
  const choices = { next: ".chip", victims: ".node .pod" }[kind] ?? "[data-node]";
  for (const each of document.querySelectorAll(choices)) each.classList.toggle(PICKED, chosen.has(valueOf(each, kind)));
}

// The order of activeQ shows which pod is next, so it is sorted by name while that is the question. Frames say where a new pod
// goes among the others, so the server's order is restored before each frame.
let order = null; // the chips in the server's order, while they are sorted by name

function arrange(list, chips) {
  const focused = document.activeElement;
  list.append(...chips);
  if (list.contains(focused)) focused.focus({ preventScroll: true });
}

function restoreOrder() {
  const list = document.getElementById("pods-activeQ");
  if (order) arrange(list, order.filter((chip) => chip.parentElement === list));
  order = null;
}

function hideOrder() {
  restoreOrder();
  if (panel()?.dataset.kind !== "next") return;
  const list = document.getElementById("pods-activeQ");
  const name = (chip) => chip.querySelector("a")?.getAttribute("href") ?? "\uffff";
  order = [...list.children];
  arrange(list, [...order].sort((a, b) => name(a).localeCompare(name(b))));
}

document.addEventListener("htmx:wsBeforeMessage", restoreOrder);

function update() {
  hideOrder();
  mark();
}

// A panel that is read anew while its question is open keeps what was chosen.
let choices = { question: "", picks: [] };

function question() {
  return panel()?.querySelector("[name=question]")?.value ?? "";
}

document.addEventListener("htmx:beforeSwap", () => {
  const picked = panel()?.querySelectorAll("input[name=pick]:checked") ?? [];
  choices = { question: question(), picks: [...picked].map((each) => each.value) };
});

function restoreChoices() {
  if (choices.question !== question()) return;
  for (const pick of choices.picks.map(choiceOf)) if (pick) pick.checked = true;
}

document.addEventListener("change", (event) => { if (event.target.closest("#predict")) mark(); });
document.body.addEventListener("frame", update);
document.addEventListener("htmx:afterSwap", (event) => {
  restoreChoices();
  update();
  // The button that had the focus was removed with the question.
  const title = document.getElementById("predict-title");
  if (event.detail.target.id === "detail" && title && document.activeElement === document.body) title.focus({ preventScroll: true });
});
update();
