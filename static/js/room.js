// The teacher's view and the projector.
import "./numbers.js";
import "./page.js";
import "./submitter.js";
import { followFrames } from "./frames.js";
import { addClick } from "./registry.js";

const main = document.getElementById("main");
const tag = document.getElementById("connection"); // only in the teacher's view
const ahead = Number(main.dataset.wall) - Date.now() / 1000; // the server's clock before this one

function showLive(live) {
  if (!tag) return;
  tag.className = `tag status ${live ? "ok" : "lost"}`;
  tag.lastElementChild.textContent = live ? tag.dataset.live : tag.dataset.lost;
}

document.addEventListener("htmx:wsOpen", () => showLive(true));
document.addEventListener("htmx:wsClose", () => showLive(false));

// What is chosen in a part stays when the part is swapped, unless the room has gone to another choice meanwhile.
let chosen = [];

const offered = (select) => [...select.options].find((each) => each.defaultSelected)?.value;

followFrames({
  before() {
    chosen = [...main.querySelectorAll("select[id]")].map((each) => [each.id, each.value, offered(each)]);
  },
  after() {
    for (const [id, value, before] of chosen) {
      const select = document.getElementById(id);
      if (!select || offered(select) !== before) continue;
      if ([...select.options].some((each) => each.value === value)) select.value = value;
    }
    tick();
    showHands();
    enlarge();
  },
});

// The number of raised hands is in the title of the tab. A sound is heard only if the teacher has switched it on.
const bell = document.getElementById("bell"); // only in the teacher's view
const title = document.title;
let hands = 0;
let audio = null;

function showHands() {
  const now = Number(document.getElementById("counts")?.dataset.hands ?? 0);
  document.title = now ? `(${now}) ${title}` : title;
  if (now > hands && bell?.checked) ring();
  hands = now;
}

function ring() {
  const [tone, volume, now] = [audio.createOscillator(), audio.createGain(), audio.currentTime];
  tone.frequency.value = 880; // Hz
  volume.gain.setValueAtTime(0.2, now);
  volume.gain.exponentialRampToValueAtTime(0.001, now + 0.6);
  tone.connect(volume).connect(audio.destination);
  tone.start();
  tone.stop(now + 0.6);
}

// Browsers let a page sound only after a click.
bell?.addEventListener("change", () => {
  audio ??= new AudioContext();
  if (bell.checked) ring();
});

// The time since a learner reached the step.
function tick() {
  const now = Date.now() / 1000 + ahead;
  for (const each of document.querySelectorAll("time[data-since]")) {
    const seconds = Math.max(0, Math.floor(now - Number(each.dataset.since)));
    each.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}

setInterval(tick, 1000);
tick();
showHands();

// The projector draws a shown sandbox with this width, in px, and enlarges it to that of the window: what matters in it is 28 px
// high and more in a window of 1920 px.
const SHOWN_WIDTH = 720;

function enlarge() {
  const shown = document.getElementById("shown");
  shown?.style.setProperty("--scale", shown.clientWidth / SHOWN_WIDTH);
}

addEventListener("resize", enlarge);
enlarge();

// A learner's button leads to the form of the hint.
addClick("[data-hint]", (button) => {
  document.getElementById("to").value = button.dataset.hint;
  document.getElementById("hint-text").focus();
});

// A text that was sent is done with, unless the next one is written already.
document.addEventListener("htmx:afterRequest", ({ detail: { requestConfig, successful }, target }) => {
  const text = document.getElementById("hint-text");
  if (successful && target.id === "hint" && text.value === requestConfig.formData.get("text"))
    text.value = "";
});
