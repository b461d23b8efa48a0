// The view for a projector: large type, and only the parts that a talk needs (static/css/nodes_board.css). It is remembered in the browser.
import { addClick, addShortcut } from "./registry.js";

const STORED = "schedviz:projector";
const button = document.getElementById("projector");

function show(on) {
  document.body.classList.toggle("projector", on);
  button.setAttribute("aria-pressed", String(on));
}

addClick("#projector", () => {
  const on = !document.body.classList.contains("projector");
  localStorage.setItem(STORED, on ? "on" : "off");
  show(on);
});
addShortcut("v", { control: "#projector" });
show(localStorage.getItem(STORED) === "on" && !document.body.matches(".embed, .lesson-page"));
