// The live page: what happens around each frame that the socket brings, and the state of the connection.
// htmx does the swapping; a frame is numbered by <div id="frame" data-after data-seq>. Of a list that changed it brings
// the elements that came or changed, in templates, as rows of tables are parsed nowhere else, and the ids of those that went.
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
let socket = null; // that is open, or was the last

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

document.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment } }) => {
  const template = fragment instanceof HTMLTemplateElement ? fragment : fragment.firstElementChild;
  if (!(template instanceof HTMLTemplateElement)) return;
  if (template === fragment) template.append(template.content);
  else template.replaceWith(template.content);
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
  announceNews();
});

// "news": panels read themselves anew. At once after the first of several frames, and again after the last one: htmx's own
// throttle leaves out the last ones, and a quiet sandbox sends no other. A panel that is being read is read again after that.
const NEWS_MS = 1000; // between two of them
let newsTimer = 0;
let newsWaits = false;

function announceNews() {
  newsWaits = newsTimer !== 0 || document.querySelector("#detail .htmx-request") !== null;
  if (newsTimer) return;
  newsTimer = setTimeout(() => {
    newsTimer = 0;
    if (newsWaits) announceNews();
  }, NEWS_MS);
  if (!newsWaits) document.body.dispatchEvent(new CustomEvent("news"));
}

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

document.addEventListener("htmx:wsOpen", (event) => {
  last = 0;
  socket = event.detail.socketWrapper;
  if (document.hidden) sayHidden();
});

// A tab that nobody sees gets no frames; when it is seen again the page comes whole.
function sayHidden() { socket?.send(JSON.stringify({ hidden: document.hidden })); }
document.addEventListener("visibilitychange", sayHidden);

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
