// Buttons that copy the text of an element, and confirm it.
import { addClick } from "./registry.js";

const CONFIRM_MS = 1600;

addClick("[data-copy]", async (button) => {
  const from = document.getElementById(button.dataset.copy);
  const text = from.value ?? from.textContent;
  const done = await copyText(text, button);
  const label = button.textContent;
  if (!done || button.classList.contains("done")) return;
  button.textContent = button.dataset.copied;
  button.classList.add("done");
  document.getElementById("announce").textContent = button.dataset.copied;
  setTimeout(() => {
    button.textContent = label;
    button.classList.remove("done");
  }, CONFIRM_MS);
});

// Browsers offer navigator.clipboard only on localhost and over https; elsewhere execCommand is used. Its text area must be
// beside the button, because a modal dialog keeps the focus inside.
async function copyText(text, button) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      /* not allowed: use execCommand */
    }
  }
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "visually-hidden";
  button.after(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  button.focus();
  return done;
}
