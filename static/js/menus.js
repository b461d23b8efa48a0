// Menus: <details> whose content lies above the page. They close at a click outside them, with Escape, and when what was chosen
// in them is done. They fit into the window: a long one scrolls.
import { addEveryClick, addShortcut } from "./registry.js";

const MENUS = ".about, .menu";
const EDGE = 8; // px between a menu and the edge of the window

const openMenus = () => [...document.querySelectorAll(MENUS)].filter((menu) => menu.open);

// Closes the menu that an element is in, because its link or button was used.
export function closeMenuOf(element) {
  element?.closest(".menu")?.removeAttribute("open");
}

function closeMenus() {
  for (const menu of openMenus()) {
    menu.open = false;
    if (menu.contains(document.activeElement) || document.activeElement === document.body)
      menu.querySelector("summary").focus();
  }
}

// Moves the content of an open menu into the window, and makes it as high as there is room; it scrolls then.
function fit(menu) {
  const content = menu.querySelector(":scope > :not(summary)");
  if (!content || getComputedStyle(content).position !== "absolute") return;
  content.style.translate = "";
  content.style.maxHeight = "";
  const { left, right, top, bottom } = content.getBoundingClientRect();
  const across = Math.max(EDGE - left, Math.min(0, document.documentElement.clientWidth - EDGE - right));
  content.style.translate = `${Math.round(across)}px`;
  const room = top < EDGE ? bottom - EDGE : innerHeight - EDGE - top; // one that opens upwards is cut off at the top
  if (bottom - top > room) {
    content.style.maxHeight = `${Math.floor(room)}px`;
    content.style.overflowY = "auto";
  }
}

document.addEventListener(
  "toggle",
  ({ target }) => target.matches?.(MENUS) && target.open && fit(target),
  true,
);
addEventListener("resize", () => openMenus().forEach(fit));
addEveryClick(({ target }) => {
  for (const menu of openMenus()) if (!menu.contains(target)) menu.open = false;
});
addShortcut("Escape", { when: () => openMenus().length > 0, run: closeMenus });
document.body.addEventListener("schedviz:clock", () =>
  document.getElementById("t-until").removeAttribute("open"),
);
