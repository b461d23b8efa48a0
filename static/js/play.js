// Plays a preemption: the panel has the sentences, and the card of the node shows which pods are taken away and put back; of many
// nodes, the tile shows how many. By buttons and by keys, or automatically. Where there is no card, and without scripts, the panel
// lists the pods.
import { addClick, addElementKeys } from "./registry.js";

const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
const STEP_MS = 2500; // time to read a step while it plays automatically

let player = 0;
let stage = null; // the data of the step that is shown, unless it is shown on a card

// For the grid, which marks the tile of the node. The event "stage" says that it changed.
export const shownStage = () => stage;

function setStage(next) {
  stage = next;
  document.body.dispatchEvent(new CustomEvent("stage"));
}

function showScene(play, number) {
  const scenes = play.querySelectorAll(".scene");
  const at = Math.max(0, Math.min(scenes.length - 1, number));
  play.dataset.at = at;
  for (const [index, scene] of scenes.entries()) scene.hidden = index !== at;
  play.querySelector("[data-step]").textContent = `${at + 1} / ${scenes.length}`;
  for (const button of play.querySelectorAll("[data-go]:not([data-go=run])")) {
    const back = button.dataset.go === "first" || button.dataset.go === "back";
    button.setAttribute("aria-disabled", String(back ? at === 0 : at === scenes.length - 1));
  }
  showOnBoard(play, scenes[at]);
  return at < scenes.length - 1;
}

// Marks the pods of a step on the card of its node.
function showOnBoard(play, scene) {
  clearBoard();
  const card = document.querySelector(`.node[data-node="${CSS.escape(scene.dataset.node)}"]`);
  play.classList.toggle("on-board", Boolean(card?.checkVisibility()));
  if (!card?.checkVisibility()) return setStage(scene.dataset);
  card.classList.add("stage");
  card.closest(".zones").classList.add("playing");
  const badge = Object.assign(document.createElement("span"), {
    className: "play-badge",
    textContent: scene.dataset.badge,
  });
  badge.classList.toggle("fits", Boolean(scene.dataset.fits));
  card.querySelector("header").append(badge);
  for (const actor of scene.querySelectorAll("[data-pod]")) {
    const pod = card.querySelector(`.pod[href$="/pods/${CSS.escape(actor.dataset.pod)}/"]`);
    if (!pod) continue;
    pod.dataset.place = [...actor.classList].find((each) => ["removed", "stays", "victim"].includes(each));
    pod.toggleAttribute("data-now", actor.classList.contains("now"));
  }
  card.scrollIntoView({ block: "nearest" });
}

function clearBoard() {
  if (stage) setStage(null);
  for (const each of document.querySelectorAll(".node .play-badge")) each.remove();
  for (const each of document.querySelectorAll(".stage, .playing")) each.classList.remove("stage", "playing");
  for (const pod of document.querySelectorAll(".pod[data-place]")) {
    pod.removeAttribute("data-place");
    pod.removeAttribute("data-now");
  }
}

function goToScene(play, where) {
  const at = Number(play.dataset.at);
  if (where === "run") return player ? stopPlaying() : startPlaying(play);
  stopPlaying();
  showScene(play, { first: 0, back: at - 1, on: at + 1, last: Infinity }[where]);
}

function startPlaying(play) {
  const at = Number(play.dataset.at);
  const next = play.querySelectorAll(".scene")[at + 1] ? at + 1 : 0;
  play.querySelector("[data-go=run]").setAttribute("aria-pressed", "true");
  showScene(play, next);
  player = setInterval(() => {
    if (!play.isConnected || !showScene(play, Number(play.dataset.at) + 1)) stopPlaying();
  }, STEP_MS);
}

function stopPlaying() {
  clearInterval(player);
  player = 0;
  document.querySelector("[data-go=run]")?.setAttribute("aria-pressed", "false");
}

// After a panel or a moment was swapped in. An open play is shown on the cards of the page as it is now.
function preparePlays() {
  const play = document.querySelector("[data-play]");
  if (play) return void showScene(play, Number(play.dataset.at ?? 0));
  stopPlaying();
  clearBoard();
}

addClick("[data-go]", (button) => goToScene(button.closest("[data-play]"), button.dataset.go));
addElementKeys("[data-play]", Object.keys(KEYS), (play, { key }) => goToScene(play, KEYS[key]));
document.addEventListener("htmx:afterSwap", preparePlays);
for (const event of ["frame", "unpin", "live"]) document.body.addEventListener(event, preparePlays);
preparePlays();
