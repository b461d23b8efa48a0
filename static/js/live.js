// The frames of the live page: what is done before and after each one. htmx swaps the parts.
// <div id="frame" data-after data-seq> numbers a frame. Of a list that changed, a frame has the elements that came or changed,
// in templates, because rows of tables are parsed only there, and the ids of those that went.
import { animate, remember } from "./flip.js";
import { keepPage, restorePage } from "./restore.js";
import { frameDelay, setServerClock, tick } from "./clock.js";
import { paced } from "./pace.js";
import { showConnected, showGone, showLost, showNotBehind } from "./connection.js";
import { restoreOrder } from "./predict.js";
import { isPast } from "./travel.js";

let last = 0; // the number of the shown frame; 0 before the first
let socket = null; // the open socket, or the last one

htmx.config.wsReconnectDelay = (attempt) => Math.min(4000, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);

function numbersOf(message) {
  const head = /^<div id="frame"[^>]* data-after="(\d+)" data-seq="(\d+)"/.exec(message);
  return head ? { after: Number(head[1]), seq: Number(head[2]) } : null;
}

// The response to a new connection is the whole page.
function reconnect() {
  last = 0;
  socket?.reconnect();
}

function sendHidden() {
  socket?.send(JSON.stringify({ hidden: document.hidden }));
}

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  const frame = numbersOf(event.detail.message);
  if (!frame) return;
  socket = event.detail.socketWrapper;
  if (isPast()) {
    event.preventDefault();
    showConnected();
    return;
  }
  if (frame.after !== 0 && frame.after !== last) {
    event.preventDefault(); // a frame is missing
    reconnect();
    return;
  }
  last = frame.seq;
  keepPage();
  restoreOrder();
  remember();
});

document.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment } }) => {
  const template = fragment instanceof HTMLTemplateElement ? fragment : fragment.firstElementChild;
  if (!(template instanceof HTMLTemplateElement)) return;
  if (template === fragment) template.append(template.content);
  else template.replaceWith(template.content);
});

// While frames come faster than the browser can show them, the page shows an older state than the server has.
const DELAY_SECONDS = 1; // from which on the page says so
const QUIET_MS = 1500; // without a frame, after which the last one is the newest
let quiet = 0;

function showDelay() {
  clearTimeout(quiet);
  const behind = frameDelay() > DELAY_SECONDS;
  showConnected(behind);
  if (behind) quiet = setTimeout(showNotBehind, QUIET_MS);
}

document.addEventListener("htmx:wsAfterMessage", () => {
  showDelay();
  setServerClock();
  restorePage();
  animate();
  tick();
  document.body.dispatchEvent(new CustomEvent("frame"));
  announceNews();
});

// "news": what is asked for again by itself.
const NEWS_MS = 1000; // at least, between two of them
const announceNews = paced(() => document.body.dispatchEvent(new CustomEvent("news")), NEWS_MS);

document.addEventListener("htmx:wsOpen", (event) => {
  last = 0;
  socket = event.detail.socketWrapper;
  if (document.hidden) sendHidden();
});

document.addEventListener("htmx:wsClose", (event) => {
  if (event.detail.event.code === 4404) showGone();
  // The link by which the page was open was withdrawn: the server says so.
  else if (event.detail.event.code === 4403) location.reload();
  else showLost();
});

// A hidden tab gets no frames; when it is visible again it gets the whole page.
document.addEventListener("visibilitychange", sendHidden);

// travel.js dispatches this event when the page goes from a past moment back to live.
document.body.addEventListener("live", reconnect);
