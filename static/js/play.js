// Shows the scenes of a play one at a time, by buttons and by keys. Without scripts all scenes are shown.
import { addClick, addElementKeys } from "./registry.js";

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };

function showScene(play, number) {
  const scenes = play.querySelectorAll(".scene");
  const at = Math.max(0, Math.min(scenes.length - 1, number));
  play.dataset.at = at;
  for (const [index, scene] of scenes.entries()) scene.hidden = index !== at;
  play.querySelector("[data-step]").textContent = `${at + 1} / ${scenes.length}`;
  for (const button of play.querySelectorAll("[data-go]")) {
    const back = button.dataset.go === "first" || button.dataset.go === "back";
    button.setAttribute("aria-disabled", String(back ? at === 0 : at === scenes.length - 1));
  }
}

function goToScene(play, where) {
  const at = Number(play.dataset.at);
  showScene(play, { first: 0, back: at - 1, on: at + 1, last: Infinity }[where]);
}

function preparePlays() {
  for (const play of document.querySelectorAll("[data-play]:not([data-at])")) showScene(play, 0);
}

addClick("[data-go]", (button) => goToScene(button.closest("[data-play]"), button.dataset.go));
addElementKeys("[data-play]", Object.keys(KEYS), (play, { key }) => goToScene(play, KEYS[key]));
document.addEventListener("htmx:afterSwap", preparePlays);
preparePlays();
