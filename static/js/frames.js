// The frames of a page that a hub draws: of a sandbox (live.js), or of a room (room.js). htmx swaps the parts.
// <div id="frame" data-after data-seq> numbers a frame. Of a list that changed, a frame has the elements that came or changed,
// in templates, because rows of tables are parsed only there, and the ids of those that went.
import { isPressed } from "./press.js";
import { keepPage, restorePage } from "./restore.js";

// A page that is not painted, for example in an iframe out of sight, has shown a frame after this time.
const UNPAINTED_MS = 1000;

export const BEAT = "beat"; // what the server sends when it has nothing else to say (schedviz/live/consumers.py)

let held = document.getElementById("main").dataset.held; // digests of the parts of the page; none after the first connection
let last = 0; // the number of the shown frame; 0 before the first
let socket = null; // the open socket, or the last one
let newest = null; // the WebSocket that was created last
let waiting = null; // the frame that came while a pointer was pressed, with its WebSocket
let isLate = false; // whether the page has changed since it began to connect

// The first frame leaves out the parts that the page has. Of two sockets both would send frames, and the end of one that was
// replaced is not that of the connection.
htmx.createWebSocket = (url) => {
  if (newest?.readyState === WebSocket.CONNECTING) return newest;
  if (newest) newest.onclose = null;
  const full = `${url}&shown=1${held ? `&held=${held}` : ""}`;
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
  waiting = null;
  isLate = newest?.readyState === WebSocket.CONNECTING;
  if (!isLate) socket?.reconnect();
}

// Says that a frame is shown, once it is painted. The server sends the next one then (schedviz/live/slot.py), so frames that
// come faster than the page shows them wait there, merged into one.
async function sayShown(seq) {
  const from = newest;
  await null; // the frame is swapped in, or that has failed
  await new Promise((painted) => {
    requestAnimationFrame(() => setTimeout(painted));
    setTimeout(painted, UNPAINTED_MS);
  });
  if (from.readyState === WebSocket.OPEN) from.send(JSON.stringify({ shown: seq }));
}

function sendHidden() {
  socket?.send(JSON.stringify({ hidden: document.hidden }));
}

// before, after: called before and after each frame is swapped in. isHeld: whether the page takes no frames now. It is sent no
// further ones, and takes them again after reconnect().
export function followFrames({ before, after, isHeld = () => false }) {
  document.addEventListener("htmx:wsBeforeMessage", (event) => {
    if (event.detail.message === BEAT) return event.preventDefault();
    const frame = numbersOf(event.detail.message);
    if (!frame) return;
    socket = event.detail.socketWrapper;
    if (isHeld()) return event.preventDefault();
    if (isPressed()) {
      event.preventDefault();
      waiting = { from: newest, data: event.detail.message };
      return;
    }
    if (frame.after !== 0 && frame.after !== last) {
      event.preventDefault(); // a frame is missing
      return reconnect();
    }
    last = frame.seq;
    sayShown(frame.seq);
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

document.body.addEventListener("released", () => {
  const { from, data } = waiting ?? {};
  waiting = null;
  from?.dispatchEvent(new MessageEvent("message", { data }));
});

document.addEventListener("htmx:wsOpen", (event) => {
  last = 0;
  waiting = null;
  socket = event.detail.socketWrapper;
  if (isLate) reconnect();
  if (document.hidden) sendHidden();
});

// A hidden tab gets no frames; when it is visible again it gets the whole page.
document.addEventListener("visibilitychange", sendHidden);
