// Dispatches "news" after frames: panels then load themselves again. It comes at once after the first of several frames, and
// again after the last one: htmx's own throttle leaves out the last ones, and a quiet sandbox sends no other. A panel that is
// being loaded is loaded again after that.
const EVERY_MS = 1000;
let timer = 0;
let waits = false;

function announceNews() {
  waits = timer !== 0 || document.querySelector("#detail .htmx-request") !== null;
  if (timer) return;
  timer = setTimeout(() => {
    timer = 0;
    if (waits) announceNews();
  }, EVERY_MS);
  if (!waits) document.body.dispatchEvent(new CustomEvent("news"));
}

document.addEventListener("htmx:wsAfterMessage", announceNews);
