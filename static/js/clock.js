// Simulated time goes on in the browser between frames: the clock, backoff rings, countdowns.
// [data-clock] holds the line that time runs along: at data-wall (seconds) it was data-sim (microseconds).
const SECOND = 1e6;
const EVERY_MS = 100;
const words = document.getElementById("words").dataset;

let skew = 0; // server's wall clock minus ours, seconds

// The server says its wall time with the page and each frame: a browser's own clock may be minutes off.
export function setServerClock() {
  const told = Number(document.getElementById("frame")?.dataset.wall);
  if (told) skew = told - Date.now() / 1000;
}

function now(clock) {
  const { sim, wall, speed, paused } = clock.dataset;
  if (paused) return Number(sim);
  return Number(sim) + Math.max(0, (Date.now() / 1000 + skew - Number(wall)) * Number(speed) * SECOND);
}

function written(micros) {
  return new Date(micros / 1000).toISOString().slice(11, 21);
}

export function tick() {
  const clock = document.querySelector("[data-clock]");
  if (!clock) return;
  const t = now(clock);
  clock.textContent = written(t);
  for (const element of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Number(element.dataset.until) - t);
    if (element.dataset.from) {
      const whole = Number(element.dataset.until) - Number(element.dataset.from);
      element.style.setProperty("--v", `${whole > 0 ? Math.min(100, (left / whole) * 100) : 0}%`);
    } else {
      element.textContent = words.seconds.replace("#", (left / SECOND).toFixed(left < 10 * SECOND ? 1 : 0));
    }
  }
}

setServerClock();
tick();
setInterval(tick, EVERY_MS);
