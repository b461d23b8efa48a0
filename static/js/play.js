// Shows the scenes of a play one at a time, by buttons and by the arrow keys. Without scripts all scenes are shown.
function show(play, number) {
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

function go(play, where) {
  const at = Number(play.dataset.at);
  show(play, { first: 0, back: at - 1, on: at + 1, last: Infinity }[where]);
}

function prepare() {
  for (const play of document.querySelectorAll("[data-play]:not([data-at])")) show(play, 0);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-go]");
  if (button) go(button.closest("[data-play]"), button.dataset.go);
});

document.addEventListener("keydown", (event) => {
  const play = event.target.closest("[data-play]");
  const where = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
  if (!play || !where || event.metaKey || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  go(play, where);
});

document.addEventListener("htmx:afterSwap", prepare);
prepare();
