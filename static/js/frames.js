// The frames of a page that a hub draws: of a sandbox (live.js), or of a room (room.js). Other messages are swapped by htmx.
// <div id="frame" data-after data-seq> numbers a frame. Of a list that changed, a frame has the elements that came or changed,
// in templates, because rows of tables are parsed only there, and the ids of those that went.
import { isPressed } from "./press.js";
import { keepPage, restorePage } from "./restore.js";
import { swapParts } from "./swap.js";

// A page that is not painted, for example in an iframe out of sight, has shown a frame after this time.
const UNPAINTED_MS = 1000;
const SLOW_MS = 200; // from which on a frame is slow to show
const PAUSE_MS = 1500; // at most, after a frame

export const BEAT = "beat"; // what the server sends when it has nothing else to say (schedviz/live/consumers.py)

let held = document.getElementById("main").dataset.held; // digests of the parts of the page; none after the first connection
let last = 0; // the number of the shown frame; 0 before the first
let socket = null; // the open socket, or the last one
let newest = null; // the WebSocket that was created last
let waiting = null; // the frame that came while a pointer was pressed, with its WebSocket
let took = 0; // ms, until the last frame was painted
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

const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// Whether what is only nice to see is to be left out.
export const isSlow = () => took > SLOW_MS;

// Says that a frame is shown, after a pause as long as it took to paint it: half of the time is left for what the visitor does.
// The server sends the next one then (schedviz/live/slot.py), so frames that come faster wait there, merged into one.
async function sayShown(seq) {
  const from = newest;
  const began = performance.now();
  await Promise.race([new Promise(requestAnimationFrame).then(() => wait(0)), wait(UNPAINTED_MS)]);
  took = performance.now() - began;
  await wait(Math.min(took, PAUSE_MS));
  if (from.readyState === WebSocket.OPEN) from.send(JSON.stringify({ shown: seq }));
}

function sendHidden() {
  socket?.send(JSON.stringify({ hidden: document.hidden }));
}

// before, after: called before and after each frame is swapped in. isHeld: whether the page takes no frames now. It is sent no
// further ones, and takes them again after reconnect().
export function followFrames({ before, after, isHeld = () => false }) {
  document.addEventListener("htmx:wsBeforeMessage", (event) => {
    const { message, socketWrapper } = event.detail;
    const frame = numbersOf(message);
    if (frame || message === BEAT) event.preventDefault();
    if (!frame) return;
    socket = socketWrapper;
    if (isHeld()) return;
    if (isPressed()) {
      waiting = { from: newest, data: message };
      return;
    }
    if (frame.after !== 0 && frame.after !== last) return reconnect(); // a frame is missing
    last = frame.seq;
    sayShown(frame.seq);
    keepPage();
    before();
    swapParts(message);
    document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"));
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
