// Prediction mode: while its panel shows a question, a click on a pod or a node chooses it and does not open it.
import { addClick } from "./registry.js";

const questionPanel = () => document.querySelector("#predict[data-kind]");
const PICKED = "picked";

function valueOf(target, kind) {
  if (kind === "nodes" || kind === "winner") return target.closest("[data-node]")?.dataset.node;
  const link = target.closest(kind === "next" ? ".chip" : ".node .pod");
  const href = (link?.matches("a") ? link : link?.querySelector("a[data-panel]"))?.getAttribute("href");
  return href && decodeURIComponent(/\/pods\/([^/]+\/[^/]+)\/$/.exec(href)?.[1] ?? "");
}

function choiceOf(value) {
  return (
    value &&
    [...(questionPanel()?.querySelectorAll("input[name=pick]") ?? [])].find((each) => each.value === value)
  );
}

function choiceAt(target) {
  return questionPanel() && choiceOf(valueOf(target, questionPanel().dataset.kind));
}

addClick("[data-node], .chip", (element, { target }) => choiceAt(target).click(), {
  when: (element, { target }) => !target.closest("#predict") && choiceAt(target),
  capture: true, // before the click that opens the panel of the object
});

// Marks the chosen pods and nodes on the page.
function markChosen() {
  for (const each of document.querySelectorAll(`.${PICKED}`)) each.classList.remove(PICKED);
  const question = questionPanel();
  if (!question) return;
  const kind = question.dataset.kind;
  const chosen = new Set(
    [...question.querySelectorAll("input[name=pick]:checked")].map((each) => each.value),
  );
  for (const each of document.querySelectorAll(CHOICES[kind] ?? "[data-node]"))
    each.classList.toggle(PICKED, chosen.has(valueOf(each, kind)));
}

const CHOICES = { next: ".chip", victims: ".node .pod" };

// Marks the answer on the page: what is right, and where the guess was not.
function markAnswer() {
  for (const each of document.querySelectorAll("[data-grade]")) {
    delete each.dataset.grade;
    delete each.dataset.gradeAs;
  }
  const list = document.getElementById("predict-marks");
  if (!list) return;
  const kind = list.dataset.kind;
  const marks = new Map([...list.children].map((each) => [each.dataset.value, each]));
  for (const each of document.querySelectorAll(CHOICES[kind] ?? ".node[data-node]")) {
    const mark = marks.get(valueOf(each, kind));
    if (!mark) continue;
    each.dataset.grade = mark.textContent;
    each.dataset.gradeAs = mark.dataset.mark;
  }
}

// The order of activeQ shows which pod is next, so it is sorted by name while that is the question. Frames say where a new pod
// goes among the others, so the server's order is restored before each frame.
let order = null; // the chips in the server's order, while they are sorted by name

function placeChips(list, chips) {
  const focused = document.activeElement;
  list.append(...chips);
  if (list.contains(focused)) focused.focus({ preventScroll: true });
}

export function restoreOrder() {
  const list = document.getElementById("pods-activeQ");
  if (order)
    placeChips(
      list,
      order.filter((chip) => chip.parentElement === list),
    );
  order = null;
}

function hideOrder() {
  restoreOrder();
  if (questionPanel()?.dataset.kind !== "next") return;
  const list = document.getElementById("pods-activeQ");
  const name = (chip) => chip.querySelector("a")?.getAttribute("href") ?? "\uffff";
  order = [...list.children];
  placeChips(
    list,
    [...order].sort((a, b) => name(a).localeCompare(name(b))),
  );
}

function updateQuestion() {
  hideOrder();
  markChosen();
  markAnswer();
}

document.addEventListener("change", (event) => {
  if (event.target.closest("#predict")) markChosen();
});
document.body.addEventListener("frame", updateQuestion);
document.addEventListener("htmx:afterSwap", updateQuestion);
updateQuestion();
