// Buttons that copy the text of an element, and confirm it.
const CONFIRM_MS = 1600;

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  const text = from.value ?? from.textContent;
  const done = await copy(text, button);
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
async function copy(text, button) {
  if (navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch { /* not allowed: use execCommand */ }
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

// A panel that reloads itself is not replaced while text in it is selected.
document.addEventListener("htmx:beforeRequest", (event) => {
  const chosen = getSelection();
  if (event.target.matches("#detail > .panel") && !chosen.isCollapsed && event.target.contains(chosen.anchorNode)) event.preventDefault();
});
