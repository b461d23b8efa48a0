// The frames of the live page: what is done before and after each one.
import { animate, remember } from "./flip.js";
import { setServerClock, tick } from "./clock.js";
import { followFrames, isSlow, reconnect } from "./frames.js";
import { paced } from "./pace.js";
import { showConnected, showGone, showLost, showNotBehind } from "./connection.js";
import { restoreOrder } from "./predict.js";
import { isPast } from "./travel.js";

// While the sandbox changes faster than the page is sent its changes and shows them, the page shows an older state than the
// server has. Each frame says for how many seconds it has waited until the last one was shown.
const DELAY_SECONDS = 1; // from which on the page says so
const QUIET_MS = 1500; // without a frame, after which the last one is the newest
let quiet = 0;

function showDelay() {
  clearTimeout(quiet);
  const behind = Number(document.getElementById("frame").dataset.waited) > DELAY_SECONDS;
  showConnected(behind);
  if (behind) quiet = setTimeout(showNotBehind, QUIET_MS);
}

// "news": what is asked for again by itself.
const NEWS_MS = 1000; // at least, between two of them
const announceNews = paced(() => document.body.dispatchEvent(new CustomEvent("news")), NEWS_MS);

followFrames({
  isHeld: isPast,
  before() {
    restoreOrder();
    if (!isSlow()) remember();
  },
  after() {
    showDelay();
    setServerClock();
    animate();
    tick();
    document.body.dispatchEvent(new CustomEvent("frame"));
    announceNews();
  },
});

document.addEventListener("htmx:wsBeforeMessage", () => {
  if (isPast()) showConnected();
});

document.addEventListener("htmx:wsClose", (event) => {
  if (event.detail.event.code === 4404) showGone();
  // The link by which the page was open was withdrawn: the server says so.
  else if (event.detail.event.code === 4403) location.reload();
  else showLost();
});

// travel.js dispatches this event when the page goes from a past moment back to live.
document.body.addEventListener("live", reconnect);
