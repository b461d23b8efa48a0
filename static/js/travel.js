// Time travel: the slider, the steps and the player bring a past moment onto the page; live goes on in the background.
// A moment is the number of a trace event. The server draws each one whole, as parts that are swapped by their ids.
import { animate, remember } from "./flip.js";
import { setServerClock, tick } from "./clock.js";
import { reopenPanel } from "./panels.js";

const TICK_MS = 100; // of the player: what happens within is shown at once
const IDLE_MS = 2000; // of real time that the player waits at most: nobody watches nothing

const main = document.getElementById("main");
const { base } = main.dataset;
const form = document.getElementById("travel");
const slider = document.getElementById("moment");
const play = document.getElementById("replay");
const speed = document.getElementById("replay-speed");

let at = isPast() ? shown().seq : 0; // the moment on show, or on its way; 0: live
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

// Live, the newest event that the page knows of.
function newest() {
  const line = Number(document.querySelector("#log [data-seq]")?.dataset.seq ?? 0);
  return Math.max(Number(slider.max), line, ...marks());
}

function say(text) { slider.setAttribute("aria-valuetext", text); }

function settle() {
  for (const button of form.querySelectorAll("[data-travel^=later]")) button.setAttribute("aria-disabled", String(!isPast()));
  if (isPast()) {
    const { seq, first, last, said } = shown();
    Object.assign(slider, { min: first, max: last, value: at || seq });
    say(said);
  } else {
    slider.max = newest();
    slider.value = slider.max;
    say(form.dataset.live);
  }
}

// To a moment; the newest of those asked for meanwhile comes next.
async function go(seq, { push = true } = {}) {
  const entered = !isPast();
  at = Math.max(Number(slider.min), Math.min(seq, newest()));
  slider.value = at;
  say(form.dataset.event.replace("{n}", at));
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
    if (document.getElementById("past").hidden) live(); // there is no moment to stay at
    trouble.textContent = answer?.status === 410 ? form.dataset.old : document.getElementById("words").dataset.failed;
    return;
  }
  const html = await answer.text();
  if (!at) return; // live again meanwhile
  trouble.textContent = "";
  remember();
  const target = document.getElementById("frame"); // nothing is put there: parts go where their ids are
  htmx.swap(target, html, { swapStyle: "none" }, { eventInfo: { target } });
  animate();
  main.dataset.here = address(seq);
  if (at === seq) settle();
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
  settle();
  reopenPanel(base);
  document.body.dispatchEvent(new CustomEvent("live"));
}

// What follows a moment; the last one is followed by live.
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

// The player: simulated time runs at the chosen speed; long waits are cut short.
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
    // All that comes within one turn of the player is one picture.
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
document.body.addEventListener("frame", () => { if (!isPast()) settle(); });
settle();
