// The live page: what happens around each frame that the socket brings, and the state of the connection.
// htmx does the swapping; a frame is numbered by <div id="frame" data-after data-seq>.
import { remember, animate } from "./flip.js";
import { tick, setServerClock } from "./clock.js";
import "./shortcuts.js";
import "./speak.js";
import "./panels.js";
import "./keys.js";
import "./tables.js";
import "./play.js";
import "./copy.js";
import "./command.js";
import "./hint.js";
import "./grid.js";
import "./look.js";
import "./predict.js";
import "./picture.js";
import { isPast } from "./travel.js";

const connection = document.getElementById("connection");
let last = 0; // the number of the frame on show; 0 before the first
let focus = []; // where to look for what had it, the best place first
let opened = []; // what the reader unfolded, by id
let socket = null; // that the last frame came by

htmx.config.wsReconnectDelay = (attempt) => Math.min(4000, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);

function say(state) {
  connection.className = `tag status ${state === "live" ? "ok" : "lost"}`;
  connection.lastElementChild.textContent = connection.dataset[state];
}

function numbers(message) {
  const head = /^<div id="frame"[^>]* data-after="(\d+)" data-seq="(\d+)"/.exec(message);
  return head ? { after: Number(head[1]), seq: Number(head[2]) } : null;
}

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  const frame = numbers(event.detail.message);
  if (!frame) return;
  socket = event.detail.socketWrapper;
  if (isPast()) {
    event.preventDefault(); // what is live goes on without being seen
    say("live");
    return;
  }
  if (frame.after !== 0 && frame.after !== last) {
    // A gap: take the page whole, by a new connection. What this one still says is out of date.
    event.preventDefault();
    last = 0;
    event.detail.socketWrapper.reconnect();
    return;
  }
  last = frame.seq;
  focus = places(document.activeElement);
  opened = [...document.querySelectorAll("main details[id][open]")].map((each) => each.id);
  remember();
});

// From a past moment back: the page comes whole, by a new connection.
document.body.addEventListener("live", () => { last = 0; socket?.reconnect(); });

document.addEventListener("htmx:wsAfterMessage", () => {
  say("live");
  setServerClock();
  unfold();
  restoreFocus();
  animate();
  tick();
  document.body.dispatchEvent(new CustomEvent("frame"));
});

// A panel that is drawn anew, too, keeps what the reader unfolded.
document.addEventListener("htmx:beforeSwap", (event) => {
  opened = [...event.detail.target.querySelectorAll("details[id][open]")].map((each) => each.id);
  focus = event.detail.target.contains(document.activeElement) ? places(document.activeElement) : [];
});
document.addEventListener("htmx:afterSwap", () => {
  unfold();
  restoreFocus();
});

function unfold() {
  for (const id of opened) document.getElementById(id)?.setAttribute("open", "");
}

document.addEventListener("htmx:wsOpen", () => { last = 0; });
document.addEventListener("htmx:wsClose", (event) => {
  say(event.detail.event.code === 4404 ? "gone" : "lost");
});

// A swap takes the focus with it: give it to the new element that stands for the same thing.
function places(element) {
  if (!element || element === document.body || element.closest("dialog")) return [];
  if (element.id) return [`#${CSS.escape(element.id)}`];
  const part = element.closest("[id]");
  const href = element.getAttribute("href");
  return part && href ? [`#${CSS.escape(part.id)}`, "main"].map((each) => `${each} [href="${CSS.escape(href)}"]`) : [];
}

function restoreFocus() {
  if (document.activeElement && document.activeElement !== document.body) return;
  focus.map((each) => document.querySelector(each)).find(Boolean)?.focus({ preventScroll: true });
}
