// The panel of a lesson: it is asked for again when something has happened, and the page shows the parts that its step needs and
// marks what the step points at. Without scripts its buttons load the page again.
import { askAgain } from "./ask_again.js";
import { paced } from "./pace.js";
import { isNarrow } from "./tabs.js";
import { goLive, isPast } from "./travel.js";

const section = document.getElementById("s-lesson");

const MARKED = {
  queue: "#s-queue",
  nodes: "#s-nodes",
  cycle: "#s-cycle",
  log: "#s-log",
  clock: ".transport",
  create: ".create",
};

const panel = () => document.getElementById("lesson-panel");

// The elements that a highlight names. Pods of the default namespace are named without it.
function findMarked({ highlight, name }) {
  if (highlight === "node") return document.querySelectorAll(`main .node[data-node="${CSS.escape(name)}"]`);
  if (highlight !== "pod") return document.querySelectorAll(MARKED[highlight] ?? "none");
  const key = CSS.escape(name.includes("/") ? name : `default/${name}`);
  return [...document.querySelectorAll(`main :is(.chip, .pod) :is(a), main a.pod`)]
    .filter((each) => each.matches(`[href$="/pods/${key}/"]`))
    .map((each) => each.closest(".chip") ?? each);
}

function mark(intoSight = false) {
  for (const element of document.querySelectorAll("[data-spot]")) delete element.dataset.spot;
  let first = null;
  for (const { dataset } of panel().querySelectorAll("[data-highlight]")) {
    for (const element of findMarked(dataset)) {
      element.dataset.spot = dataset.label;
      const label = element.nextElementSibling;
      if (label?.matches(".spot")) label.textContent = dataset.label;
      first ??= element;
    }
  }
  if (intoSight && !isNarrow()) first?.scrollIntoView({ block: "nearest" });
}

function showParts() {
  const shown = panel().dataset.parts.split(" ").filter(Boolean);
  for (const name of Object.keys(MARKED))
    document.body.classList.toggle(`show-${name}`, shown.includes(name));
  const badge = document.getElementById("tab-goals");
  badge.textContent = panel().dataset.goals;
  badge.classList.toggle("hinted", panel().querySelector("#lesson-hint") !== null);
}

const announceable = () =>
  ["#lesson-answer", "#lesson-end h3", "#lesson-hint"]
    .map((each) => panel().querySelector(each)?.textContent.replace(/\s+/g, " ").trim())
    .filter(Boolean)
    .concat(
      [...panel().querySelectorAll(".goal.done")].map((each) => each.textContent.replace(/\s+/g, " ").trim()),
    );

// What the learner has chosen and not sent, and how far the panel is scrolled, stay where the step is the same.
let kept = null;

function keep() {
  kept = {
    step: panel().dataset.step,
    picks: [...panel().querySelectorAll("[name=pick]:checked")].map((each) => each.id),
    scroll: document.getElementById("lesson-scroll").scrollTop,
    inside: section.contains(document.activeElement),
    said: announceable(),
    finished: panel().querySelector("#lesson-end") !== null,
  };
}

function restore() {
  const same = panel().dataset.step === kept?.step;
  if (same) {
    for (const id of kept.picks) {
      const pick = document.getElementById(id);
      if (pick) pick.checked = true;
    }
    document.getElementById("lesson-scroll").scrollTop = kept.scroll;
    const news = announceable().filter((each) => !kept.said.includes(each));
    if (news.length) document.getElementById("announce").textContent = news.join(" ");
    const said = panel().querySelector("#lesson-hint") ?? panel().querySelector("#lesson-answer");
    said?.scrollIntoView({ block: "nearest" });
    if (!kept.finished) panel().querySelector("#lesson-end")?.scrollIntoView({ block: "nearest" });
  } else {
    goLive(); // the step is about the present
    document.getElementById("lesson-heading").focus({ preventScroll: true });
    if (isNarrow()) scrollTo(0, 0);
  }
  showParts();
  mark(!same);
}

// Most goals are reached while time runs: the panel follows the frames sooner than other panels do.
const ASK_MS = 300; // at least, between two of them

if (section) {
  const ask = askAgain(section);
  const askAfterFrame = paced(ask, ASK_MS);
  document.body.addEventListener("schedviz:done", ask);
  document.body.addEventListener("schedviz:room", ask);
  document.body.addEventListener("frame", () => {
    mark();
    askAfterFrame();
  });
  // What is done in the panel is done now, and a page that is loaded again shall not show the past.
  section.addEventListener("submit", ({ submitter }) => {
    if (isPast() && submitter?.value !== "guess") goLive();
  });
  section.addEventListener("htmx:beforeSwap", keep);
  section.addEventListener("htmx:afterSwap", restore);
  showParts();
  mark(true);
}
