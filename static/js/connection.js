// Whether what the page shows is live. Without a message of the server for some seconds, or while Redis or all workers are away,
// the page's clock stops, and a notice says what does not respond. After the sandbox was deleted, the page links to the home page.
import { isClockLate, startClock, stopClock } from "./clock.js";
import { BEAT } from "./frames.js";
import { leaveForRoom } from "./room_home.js";

const CHECK_MS = 1000;
const SILENT_CHECKS = 5; // the server sends something at least every two seconds (schedviz/live/consumers.py)
const ASK_AGAIN_MS = 3000;

const tag = document.getElementById("connection");
const notice = document.getElementById("away");
const gone = document.getElementById("gone");

let lastMessage = Date.now(); // the time of the last message of the server
let silent = 0; // the checks since then
let state = "";

function setState(next) {
  if (next === "live") startClock();
  else stopClock(state === "live" && next === "lost" ? lastMessage : Date.now());
  if (state === next) return;
  state = next;
  tag.className = `tag status ${state === "live" ? "ok" : "lost"}`;
  tag.lastElementChild.textContent = tag.dataset[state === "live" || state === "gone" ? state : "lost"];
  if (state === "lost") sayWhatIsAway();
  else notice.textContent = "";
}

// The server itself says when Redis or all workers are away, by the notice #trouble.
function setReached() {
  setState(document.getElementById("trouble").dataset.away ? "halted" : "live");
}

async function sayWhatIsAway() {
  const found = await findWhatIsAway();
  if (state !== "lost") return;
  const said = notice.parentElement.dataset[found];
  if (notice.textContent !== said) notice.textContent = said;
  setTimeout(() => state === "lost" && sayWhatIsAway(), ASK_AGAIN_MS);
}

async function findWhatIsAway() {
  try {
    const response = await fetch("/readyz", { cache: "no-store", signal: AbortSignal.timeout(ASK_AGAIN_MS) });
    const failed = [...(await response.text()).matchAll(/^\[([+!-])\]([\w-]+) /gm)].filter(
      ([, mark]) => mark === "-",
    );
    if (response.status !== 200 && !failed.length) return "server"; // what answers is not the server itself
    if (failed.some(([, , check]) => check.startsWith("redis"))) return "redis";
    return failed.some(([, , check]) => check === "worker") ? "worker" : "stream";
  } catch {
    return "server";
  }
}

// To be called for a message of the server that the page may use, when it has used it. late: the page shows an older state
// than the server has.
export function showConnected(late = false) {
  if (state === "gone") return;
  setReached();
  if (state === "live") showBehind(late);
}

function showBehind(late) {
  const behind = late || isClockLate();
  tag.classList.toggle("behind", behind);
  tag.lastElementChild.textContent = tag.dataset[behind ? "behind" : "live"];
}

export function showNotBehind() {
  if (state === "live") showBehind(false);
}

export function showLost() {
  if (state !== "gone") setState("lost");
}

export function showGone() {
  setState("gone");
  if (leaveForRoom()) return; // it says why
  for (const open of document.querySelectorAll("dialog[open]")) open.close();
  gone.showModal(); // nothing else on the page can be used
}

gone.addEventListener("close", () => gone.showModal());

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  lastMessage = Date.now();
  silent = 0;
  if (event.detail.message === BEAT && state === "lost") setReached();
});

// Checks are counted, not seconds: a page that was busy for long, or asleep, takes the messages of that time after a check.
setInterval(() => {
  silent += 1;
  if ((state === "live" || state === "halted") && silent > SILENT_CHECKS) setState("lost");
}, CHECK_MS);
