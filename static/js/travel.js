// Time travel: the slider, the steps and the player show a past moment; the page still receives live frames.
// A moment is the number of a trace event. The server renders each one completely, as parts that are swapped by id.
import { animate, remember } from "./flip.js";
import { setServerClock, tick } from "./clock.js";
import { reopenPanel } from "./panels.js";

const TICK_MS = 100; // interval of the player; events within it are shown together
const IDLE_MS = 2000; // maximum real time that the player waits for the next event

const main = document.getElementById("main");
const { base } = main.dataset;
const form = document.getElementById("travel");
const slider = document.getElementById("moment");
const play = document.getElementById("replay");
const speed = document.getElementById("replay-speed");

let at = isPast() ? shown().seq : 0; // the moment that is shown or requested; 0: live
let busy = false;
let player = 0;

export function isPast() { return document.body.classList.contains("past"); }

function shown() {
  const { seq, first, last, ahead, said } = document.getElementById("past").dataset;
  return { seq: Number(seq), first: Number(first), last: Number(last), ahead: JSON.parse(ahead), said };
}

function address(seq) { return seq ? `${base}at/${seq}/` : base; }

// The moments at which the attempts on the timeline ended.
function marks() {
  return [...document.querySelectorAll("#timeline .mark")].map((mark) => Number(mark.dataset.seq));
}

// The newest event that the live page has received.
function newest() {
  const line = Number(document.querySelector("#log [data-seq]")?.dataset.seq ?? 0);
  return Math.max(Number(slider.max), line, ...marks());
}

function setSliderText(text) { slider.setAttribute("aria-valuetext", text); }

// Sets the slider and the buttons to the moment that is shown.
function updateControls() {
  for (const button of form.querySelectorAll("[data-travel^=later]")) button.setAttribute("aria-disabled", String(!isPast()));
  if (isPast()) {
    const { seq, first, last, said } = shown();
    Object.assign(slider, { min: first, max: last, value: at || seq });
    setSliderText(said);
  } else {
    slider.max = newest();
    slider.value = slider.max;
    setSliderText(form.dataset.live);
  }
}

// Goes to a moment. If more are requested while one is loading, only the latest is loaded next.
async function go(seq, { push = true } = {}) {
  if (!newest()) return updateControls(); // there are no events yet
  const entered = !isPast();
  at = Math.max(Number(slider.min), Math.min(seq, newest()));
  slider.value = at;
  setSliderText(form.dataset.event.replace("{n}", at));
  document.body.classList.add("past");
  if (push) history[entered ? "pushState" : "replaceState"](null, "", address(at) + location.search);
  if (busy) return;
  busy = true;
  try {
    for (let wanted = 0; at && wanted !== at;) {
      wanted = at;
      await show(wanted);
    }
  } finally {
    busy = false;
  }
}

async function show(seq) {
  const answer = await fetch(address(seq) + location.search, { headers: { "HX-Request": "true" } }).catch(() => null);
  const trouble = document.getElementById("trouble");
  if (!answer?.ok) {
    stop();
    if (document.getElementById("past").hidden) live(); // no past moment is shown
    trouble.textContent = answer?.status === 410 ? form.dataset.old : document.getElementById("words").dataset.failed;
    return;
  }
  const html = await answer.text();
  if (!at) return; // the user went back to live meanwhile
  trouble.textContent = "";
  remember();
  const target = document.getElementById("frame"); // htmx needs a target, but the parts are swapped by id
  htmx.swap(target, html, { swapStyle: "none" }, { eventInfo: { target } });
  animate();
  main.dataset.here = address(seq);
  if (at === seq) updateControls();
  reopenPanel(address(seq));
  setServerClock();
  tick();
  document.body.dispatchEvent(new CustomEvent("frame"));
}

function live({ push = true } = {}) {
  stop();
  if (!isPast()) return;
  at = 0;
  document.body.classList.remove("past");
  document.getElementById("past").hidden = true;
  document.getElementById("trouble").textContent = "";
  if (push) history.pushState(null, "", base + location.search);
  main.dataset.here = base;
  updateControls();
  reopenPanel(base);
  document.body.dispatchEvent(new CustomEvent("live"));
}

// Handles the buttons of time travel. After the last moment comes live.
function step(what) {
  const here = isPast() ? at : newest();
  if (what === "play") return player ? stop() : start();
  stop();
  const [earlier, later] = [marks().filter((seq) => seq < here), marks().filter((seq) => seq > here)];
  const seq = {
    earlier: here - 1,
    later: here + 1,
    "earlier-cycle": Math.max(...earlier, Number(slider.min)),
    "later-cycle": Math.min(...later, Infinity),
  }[what];
  if (seq > newest()) live();
  else go(seq);
}

// The player: replays events at the chosen speed of simulated time; long waits are shortened to IDLE_MS.
function start() {
  if (!isPast()) return;
  play.setAttribute("aria-pressed", "true");
  let due = null; // performance.now() of the next event
  player = setInterval(() => {
    if (busy) return;
    const { seq, last, ahead } = shown();
    if (seq >= last) return live();
    const coming = ahead.filter(([each]) => each > at);
    if (!coming.length) return go(at + 1);
    due ??= performance.now() + Math.min(IDLE_MS, wait(ahead, coming[0]));
    if (performance.now() < due) return;
    // All events within one interval of the player are shown together.
    const reach = coming[0][1] + TICK_MS * Number(speed.value);
    due = null;
    go(coming.filter(([, ms]) => ms <= reach).at(-1)[0]);
  }, TICK_MS);
}

function wait(ahead, [, ms]) {
  const before = ahead.filter(([each]) => each <= at).at(-1)?.[1] ?? 0;
  return (ms - before) / Number(speed.value);
}

function stop() {
  clearInterval(player);
  player = 0;
  play.setAttribute("aria-pressed", "false");
}

slider.addEventListener("input", () => { stop(); go(Number(slider.value)); });
slider.addEventListener("keydown", (event) => {
  const cycle = { PageUp: "later-cycle", PageDown: "earlier-cycle" }[event.key];
  if (cycle) { event.preventDefault(); step(cycle); }
  if (event.key === "End") { event.preventDefault(); live(); }
});
form.addEventListener("submit", (event) => { event.preventDefault(); go(Number(slider.value)); });
document.addEventListener("click", (event) => {
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  const travels = event.target.closest("[data-travel], [data-moment], #past-live");
  if (!travels || !plain) return;
  event.preventDefault();
  if (travels.id === "past-live") live();
  else if (travels.dataset.travel) step(travels.dataset.travel);
  else go(Number(travels.dataset.seq));
});
document.getElementById("look").addEventListener("look", () => { if (isPast()) go(at); });
addEventListener("popstate", () => {
  const seq = Number(/\/at\/(\d+)\//.exec(location.pathname)?.[1] ?? 0);
  if (seq) go(seq, { push: false });
  else live({ push: false });
});
document.body.addEventListener("frame", () => { if (!isPast()) updateControls(); });
updateControls();
