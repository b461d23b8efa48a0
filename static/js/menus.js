// Menus close at a click outside them, and when what was chosen in them is done.
import { addEveryClick } from "./registry.js";

// Closes the menu that an element is in, because its link or button was used.
export function closeMenuOf(element) {
  element?.closest(".menu")?.removeAttribute("open");
}

addEveryClick(({ target }) => {
  for (const menu of document.querySelectorAll(".about[open], .menu[open]"))
    if (!menu.contains(target)) menu.open = false;
});
document.body.addEventListener("schedviz:clock", () =>
  document.getElementById("t-until").removeAttribute("open"),
);
