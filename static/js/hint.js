// The hint of what to do next. After it is closed, no hints are shown.
import { addClick } from "./registry.js";

const STORED = "schedviz:hints";

function hide() {
  document.body.classList.add("no-hints");
}

if (localStorage.getItem(STORED) === "off") hide();
addClick("#hint-close", () => {
  localStorage.setItem(STORED, "off");
  hide();
});
