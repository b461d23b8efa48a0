// Advances simulated time in the browser between frames: the clock, backoff rings and countdowns.
// [data-clock] defines the time: at the wall time data-wall (seconds) it was data-sim (microseconds), at data-speed.
const SECOND = 1e6;
const EVERY_MS = 100;
const words = document.getElementById("words").dataset;

let skew = 0; // the server's wall time minus the browser's, in seconds
let stopped = 0; // the browser's time (milliseconds) at which the clock stands still while no message of the server arrives; 0: it runs

// Stops the clock at a time of the browser, in milliseconds. A clock that stands keeps its time.
export function stopClock(at) {
  stopped ||= at;
  tick();
}

export function startClock() {
  stopped = 0;
}

// The page and each frame contain the server's wall time, because the browser's clock may be minutes off.
export function setServerClock() {
  const wall = Number(document.getElementById("frame")?.dataset.wall);
  if (wall) skew = wall - Date.now() / 1000;
}

// Whether the loop of the sandbox has not yet done what was due at this time.
export function isClockLate() {
  return document.querySelector("[data-clock][data-late]") !== null;
}

function now(clock) {
  const { sim, wall, speed, paused } = clock.dataset;
  if (paused) return Number(sim);
  return (
    Number(sim) + Math.max(0, ((stopped || Date.now()) / 1000 + skew - Number(wall)) * Number(speed) * SECOND)
  );
}

function timeOfDay(micros) {
  return new Date(micros / 1000).toISOString().slice(11, 21);
}

// A browser draws the page again for a text that is set, also if it is the same. textContent would replace the text node, and
// with it the element is empty for a moment: for that the styles of the whole page are calculated again (:has, :empty).
function write(element, text) {
  if (element.textContent === text) return;
  if (element.firstChild) element.firstChild.data = text;
  else element.textContent = text;
}

// A duration in microseconds, in the unit of its size.
function inWords(micros) {
  const minute = 60 * SECOND;
  if (micros < 2 * minute) {
    return words.seconds.replace("#", (micros / SECOND).toFixed(micros < 10 * SECOND ? 1 : 0));
  }
  if (micros < 120 * minute) return words.minutes.replace("#", Math.floor(micros / minute));
  return words.hours.replace("#", Math.floor(micros / minute / 60));
}

// A duration in minutes and seconds, for a time that is said exactly. It is never shorter than the duration.
function exactly(micros) {
  const seconds = Math.ceil(micros / SECOND);
  if (seconds < 60 || seconds >= 7200) return inWords(micros);
  const minutes = words.minutes.replace("#", Math.floor(seconds / 60));
  return seconds % 60 ? `${minutes} ${words.seconds.replace("#", seconds % 60)}` : minutes;
}

export function tick() {
  const clock = document.querySelector("[data-clock]");
  if (!clock) return;
  const t = now(clock);
  write(clock, timeOfDay(t));
  for (const element of document.querySelectorAll("[data-since]")) {
    const passed = Math.max(0, t - Number(element.dataset.since));
    write(element, inWords(passed));
  }
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Number(element.dataset.until) - t);
    if (element.dataset.from) {
      const whole = Number(element.dataset.until) - Number(element.dataset.from);
      element.style.setProperty("--v", `${whole > 0 ? Math.min(100, (left / whole) * 100) : 0}%`);
    } else {
      write(element, "exact" in element.dataset ? exactly(left) : inWords(left));
    }
  }
}

setServerClock();
tick();
setInterval(tick, EVERY_MS);
