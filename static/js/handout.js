// The button that prints a handout. The browser's own command does the same.
import { addClick } from "./registry.js";

document.querySelector("[data-print]").hidden = false;
addClick("[data-print]", () => print());
