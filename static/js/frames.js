// The frames of a page that a hub draws: of a sandbox (live.js), or of a room (room.js). htmx swaps the parts.
// <div id="frame" data-after data-seq> numbers a frame. Of a list that changed, a frame has the elements that came or changed,
// in templates, because rows of tables are parsed only there, and the ids of those that went.
import { isPressed } from "./press.js";
import { keepPage, restorePage } from "./restore.js";

export const BEAT = "beat"; // what the server sends when it has nothing else to say (schedviz/live/consumers.py)

let held = document.getElementById("main").dataset.held; // digests of the parts of the page; none after the first connection
let last = 0; // the number of the shown frame; 0 before the first
let socket = null; // the open socket, or the last one
let newest = null; // the WebSocket that was created last
let waiting = []; // messages that came while a pointer was pressed, each with its WebSocket
let isLate = false; // whether the page has changed since it began to connect

// The first frame leaves out the parts that the page has. Of two sockets both would send frames, and the end of one that was
// replaced is not that of the connection.
htmx.createWebSocket = (url) => {
  if (newest?.readyState === WebSocket.CONNECTING) return newest;
  if (newest) newest.onclose = null;
  const full = held ? `${url}&held=${held}` : url;
  held = "";
  return (newest = new WebSocket(full));
};

htmx.config.wsReconnectDelay = (attempt) => Math.min(4000, 250 * 2 ** attempt) * (0.5 + Math.random() / 2);

function numbersOf(message) {
  const head = /^<div id="frame"[^>]* data-after="(\d+)" data-seq="(\d+)"/.exec(message);
  return head ? { after: Number(head[1]), seq: Number(head[2]) } : null;
}

// The response to a new connection is the whole page.
export function reconnect() {
  last = 0;
  waiting = [];
  isLate = newest?.readyState === WebSocket.CONNECTING;
  if (!isLate) socket?.reconnect();
}

function sendHidden() {
  socket?.send(JSON.stringify({ hidden: document.hidden }));
}

// before, after: called before and after each frame is swapped in. isHeld: whether the page takes no frames now.
export function followFrames({ before, after, isHeld = () => false }) {
  document.addEventListener("htmx:wsBeforeMessage", (event) => {
    if (event.detail.message === BEAT) return event.preventDefault();
    const frame = numbersOf(event.detail.message);
    if (!frame) return;
    socket = event.detail.socketWrapper;
    if (isHeld()) return event.preventDefault();
    if (isPressed()) {
      event.preventDefault();
      waiting.push({ from: newest, data: event.detail.message });
      return;
    }
    if (frame.after !== 0 && frame.after !== last) {
      event.preventDefault(); // a frame is missing
      return reconnect();
    }
    last = frame.seq;
    keepPage();
    before();
  });
  document.addEventListener("htmx:wsAfterMessage", () => {
    restorePage();
    after();
  });
}

document.addEventListener("htmx:oobBeforeSwap", ({ detail: { fragment } }) => {
  const template = fragment instanceof HTMLTemplateElement ? fragment : fragment.firstElementChild;
  if (!(template instanceof HTMLTemplateElement)) return;
  if (template === fragment) template.append(template.content);
  else template.replaceWith(template.content);
});

// A press ends after a second at most, so few wait.
document.body.addEventListener("released", () => {
  for (const { from, data } of waiting.splice(0)) from.dispatchEvent(new MessageEvent("message", { data }));
});

document.addEventListener("htmx:wsOpen", (event) => {
  last = 0;
  waiting = [];
  socket = event.detail.socketWrapper;
  if (isLate) reconnect();
  if (document.hidden) sendHidden();
});

// A hidden tab gets no frames; when it is visible again it gets the whole page.
document.addEventListener("visibilitychange", sendHidden);
