// Past moments: the slider, the steps and the player show a past moment; the page still receives live frames.
// A moment is the number of a trace event. The server renders each one completely, as parts that are swapped by id.
import { animate, remember } from "./flip.js";
import { setServerClock, tick } from "./clock.js";
import { axisScale } from "./axis.js";
import { addClick, addElementKeys, addShortcut } from "./registry.js";
import { addressOf, momentAddress, placeAt, showAddress } from "./address.js";
import { showError } from "./announce.js";
import { askForPanel, expectPanel, movePanel, showPanel, shownCycle, stopAsking } from "./panels.js";
import { requestPart } from "./request.js";

const TICK_MS = 100; // interval of the player; events within it are shown together
const IDLE_MS = 2000; // maximum real time that the player waits for the next event
const PLACES = 10_000; // the values of the slider: its places on the axis. Without scripts they are events.

const main = document.getElementById("main");
const { base } = main.dataset;
const form = document.getElementById("travel");
const axis = document.getElementById("axis");
const slider = document.getElementById("moment");
const play = document.getElementById("replay");
const speed = document.getElementById("replay-speed");

let at = isPast() ? shownMoment().seq : 0; // the moment that is shown or requested; 0: live
let pinned = shownCycle() ? at : 0; // the moment of the pinned cycle; 0: no cycle is pinned
let before = 0; // the moment from which it was pinned; 0: live
let pinning = null; // the cycle that is asked for: what pinCycle takes
let busy = false;
let player = 0;
let first = Number(slider.min); // the oldest and the newest known moment
let newest = Number(slider.max);
let scale = null; // of the axis
let dragging = false; // the scale stays while the slider is dragged

export function isPast() {
  return document.body.classList.contains("past");
}

// A past moment cannot be changed.
export function isLive() {
  return !isPast();
}

function shownMoment() {
  const { seq, first, last, ahead, said } = document.getElementById("past").dataset;
  return { seq: Number(seq), first: Number(first), last: Number(last), ahead: JSON.parse(ahead), said };
}

// The moments at which the attempts on the timeline ended.
function cycleEnds() {
  return [...document.querySelectorAll("#timeline .mark")].map((mark) => Number(mark.dataset.seq));
}

// The newest event that the live page has received.
function newestMoment() {
  const line = Number(document.querySelector("#log [data-seq]")?.dataset.seq ?? 0);
  return Math.max(newest, line, ...cycleEnds());
}

function updateScale() {
  if (dragging) return;
  scale = axisScale(first, newest, cycleEnds());
  axis.style.setProperty("--before", scale.before);
  axis.style.setProperty("--after", scale.after);
}

// Sets the slider, which is the cursor of the axis. seq: Infinity for live.
function showCursor(seq, text) {
  const place = scale.placeOf(seq);
  axis.style.setProperty("--cursor", place);
  if (!dragging) slider.value = Math.round(place * PLACES);
  slider.setAttribute("aria-valuetext", text);
}

// Sets the axis and the buttons to the moment that is shown.
function updateControls() {
  for (const button of form.querySelectorAll("[data-travel^=later]"))
    button.setAttribute("aria-disabled", String(!isPast()));
  if (isPast()) {
    const shown = shownMoment();
    ({ first, last: newest } = shown);
    updateScale();
    showCursor(at || shown.seq, shown.said);
  } else {
    newest = newestMoment();
    updateScale();
    showCursor(Infinity, form.dataset.live);
  }
}

// Goes to a moment, with a panel as expectPanel() takes it. If more are requested while one is loading, only the latest is loaded
// next.
async function goTo(seq, { push = true, panel } = {}) {
  if (!newestMoment()) return updateControls(); // there are no events yet
  stopPinning();
  const entered = !isPast();
  at = Math.max(first, Math.min(seq, newestMoment()));
  const expected = expectPanel(panel);
  showCursor(at, form.dataset.event.replace("{n}", at));
  document.body.classList.add("past");
  if (push) showAddress({ seq: at, panel: expected }, entered);
  if (busy) return;
  busy = true;
  try {
    for (let wanted = 0; at && wanted !== at;) {
      wanted = at;
      await loadMoment(wanted);
    }
  } finally {
    busy = false;
  }
}

// To be called after a request that failed. The error is shown.
function stayHere() {
  stopPlayer();
  if (document.getElementById("past").hidden) goLive(); // no past moment is shown
}

async function loadMoment(seq) {
  const answer = await requestPart(addressOf({ seq, panel: "" }));
  if (!answer) return stayHere();
  const html = await answer.text();
  const isPassed = pinned && pinned === at && seq !== at;
  if (!at || isPassed) return; // the user went back to live, or to a cycle, meanwhile
  swapMoment(html, seq);
  if (seq === pinned) return;
  pinned = 0;
  movePanel();
}

function swapMoment(html, seq) {
  showError("");
  remember();
  const target = document.getElementById("frame"); // htmx needs a target, but the parts are swapped by id
  htmx.swap(target, html, { swapStyle: "none" }, { eventInfo: { target } });
  animate();
  main.dataset.here = momentAddress(seq);
  if (at === seq) updateControls();
  setServerClock();
  tick();
  document.body.dispatchEvent(new CustomEvent("frame"));
}

// Shows a cycle with the whole page at the moment at which it ended. A cycle to whose moment the history does not reach is
// shown beside the page as it is; its panel says so. panel: the path of the cycle's panel. Where the visitor goes meanwhile comes
// first.
async function pinCycle(cycle) {
  stopPlayer();
  const { panel, push = true } = cycle;
  const address = addressOf({ seq: 0, panel });
  address.searchParams.set("moment", "1");
  pinning = cycle;
  const asked = await askForPanel(address);
  if (pinning === cycle) pinning = null;
  if (!asked) return;
  const { answer, html } = asked;
  if (!answer) return stayHere();
  const seq = Number(answer.headers.get("X-Moment") ?? 0);
  if (!seq) {
    htmx.swap("#detail", html, { swapStyle: "innerHTML" });
    if (!isPast()) showAddress({ seq: 0, panel }, push);
    return showPanel(panel);
  }
  if (!pinned) before = at;
  at = pinned = seq;
  document.body.classList.add("past");
  if (push) showAddress({ seq, panel });
  swapMoment(html, seq);
  showPanel(panel);
}

function stopPinning() {
  if (pinning) stopAsking();
}

function unpin() {
  if (!pinned) return;
  pinned = 0;
  if (before) goTo(before, { panel: "" });
  else goLive({ panel: "" });
}

// Shows the present again, with a panel.
export function goLive({ push = true, panel } = {}) {
  stopPlayer();
  if (!isPast()) return;
  leavePast();
  const expected = expectPanel(panel);
  if (push) showAddress({ seq: 0, panel: expected });
  movePanel();
}

function leavePast() {
  stopPinning();
  at = pinned = before = 0;
  document.body.classList.remove("past");
  document.getElementById("past").hidden = true;
  showError("");
  main.dataset.here = base;
  updateControls();
  document.body.dispatchEvent(new CustomEvent("live"));
}

// Handles the buttons of time travel. After the last moment the page is live.
function takeStep(what) {
  const here = isPast() ? at : newestMoment();
  if (what === "play") return player ? stopPlayer() : startPlayer();
  stopPlayer();
  const [earlier, later] = [cycleEnds().filter((seq) => seq < here), cycleEnds().filter((seq) => seq > here)];
  const seq = {
    earlier: here - 1,
    later: here + 1,
    "earlier-cycle": Math.max(...earlier, first),
    "later-cycle": Math.min(...later, Infinity),
  }[what];
  if (seq > newestMoment()) goLive();
  else goTo(seq);
}

// The player: replays events at the chosen speed of simulated time; long waits are shortened to IDLE_MS.
function startPlayer() {
  if (!isPast()) return;
  play.setAttribute("aria-pressed", "true");
  let due = null; // performance.now() of the next event
  player = setInterval(() => {
    if (busy) return;
    const { seq, last, ahead } = shownMoment();
    if (seq >= last) return goLive();
    const coming = ahead.filter(([each]) => each > at);
    if (!coming.length) return goTo(at + 1);
    due ??= performance.now() + Math.min(IDLE_MS, waitBefore(ahead, coming[0]));
    if (performance.now() < due) return;
    // All events within one interval of the player are shown together.
    const reach = coming[0][1] + TICK_MS * Number(speed.value);
    due = null;
    goTo(coming.filter(([, ms]) => ms <= reach).at(-1)[0]);
  }, TICK_MS);
}

function waitBefore(ahead, [, ms]) {
  const before = ahead.filter(([each]) => each <= at).at(-1)?.[1] ?? 0;
  return (ms - before) / Number(speed.value);
}

function stopPlayer() {
  clearInterval(player);
  player = 0;
  play.setAttribute("aria-pressed", "false");
}

// Goes to the moment at the place of the slider.
function followSlider() {
  stopPlayer();
  const seq = scale.momentAt(slider.value / PLACES);
  if (seq === Infinity) goLive();
  else goTo(seq);
}

addElementKeys("#moment", ["ArrowLeft", "ArrowDown"], () => takeStep("earlier"));
addElementKeys("#moment", ["ArrowRight", "ArrowUp"], () => takeStep("later"));
addElementKeys("#moment", ["Home"], () => {
  stopPlayer();
  goTo(first);
});
addElementKeys("#moment", ["PageUp"], () => takeStep("later-cycle"));
addElementKeys("#moment", ["PageDown"], () => takeStep("earlier-cycle"));
addElementKeys("#moment", ["End"], () => goLive());
addShortcut("[", { control: "[data-travel=earlier]" });
addShortcut("]", { control: "[data-travel=later]" });
addShortcut("{", { control: "[data-travel=earlier-cycle]" });
addShortcut("}", { control: "[data-travel=later-cycle]" });
addShortcut("Space", { control: "#replay", when: isPast });
addShortcut(["l", "End"], { control: "#past-live", when: isPast });
addClick("[data-travel]", (button) => takeStep(button.dataset.travel));
addClick("#past-live", () => goLive());

slider.addEventListener("pointerdown", () => (dragging = true));
slider.addEventListener("input", followSlider);
for (const ended of ["pointerup", "pointercancel"])
  addEventListener(ended, () => {
    if (!dragging) return;
    dragging = false;
    updateControls();
  });
form.addEventListener("submit", (event) => {
  event.preventDefault();
  followSlider();
});
document.getElementById("look").addEventListener("look", () => {
  if (pinning) pinCycle({ ...pinning });
  else if (isPast()) goTo(at);
});
// Back and Forward.
addEventListener("popstate", () => {
  const { seq, panel } = placeAt(location.href);
  if (seq && panel.startsWith("cycles/")) pinCycle({ panel, push: false });
  else if (seq) {
    pinned = 0;
    goTo(seq, { push: false, panel });
  } else if (isPast()) goLive({ push: false, panel });
  else {
    expectPanel(panel);
    movePanel();
  }
});
document.body.addEventListener("pin", ({ detail }) => pinCycle(detail));
document.body.addEventListener("unpin", unpin);
// A panel that has only a present state was opened.
document.body.addEventListener("leave", () => {
  stopPlayer();
  leavePast();
});
document.body.addEventListener("frame", () => {
  if (isLive()) updateControls();
});
Object.assign(slider, { min: 0, max: PLACES });
updateControls();
