// The box that leads the visitor through their own act. The server says what it shows and whose pod it is; here it is asked for
// again when something has happened, and the pod is marked on the page by its uid. It also says that a scenario has ended.
import { askAgain } from "./ask_again.js";
import { goLive } from "./travel.js";

const box = document.getElementById("guide");

const ask = askAgain(box); // the server answers 204 if nothing has changed

function markPod() {
  for (const element of document.querySelectorAll("main [data-own]")) delete element.dataset.own;
  const { uid, pod, own } = box.querySelector("[data-uid]")?.dataset ?? {};
  if (!uid) return;
  const places = `main [data-uid="${CSS.escape(uid)}"], #cycle .subject a[href$="/pods/${CSS.escape(pod)}/"]`;
  for (const element of document.querySelectorAll(places)) element.dataset.own = own;
}

document.body.addEventListener("news", () => {
  if (box.querySelector(".guide") || "ends" in box.dataset) ask();
});
document.body.addEventListener("schedviz:done", ask); // the act may have been created, or ended by another one
document.body.addEventListener("frame", markPod);
box.addEventListener("htmx:afterSwap", markPod);
// Its next step happens now, not at the past moment that is shown.
box.addEventListener("submit", ({ target }) => {
  if (target.matches("[action$='/clock/']")) goLive();
});
markPod();
