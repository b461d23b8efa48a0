// Says why an act in a panel was refused, beside the form that asked for it and above the page: nothing moves under the pointer, and
// what was typed stays.
import { addEveryClick } from "./registry.js";

const GAP = 4; // px

const bubble = document.getElementById("refused");
const scroll = bubble.closest(".scroll");
let form = null; // which asked for the act

function place() {
  if (!form?.isConnected) return hide();
  const box = form.getBoundingClientRect();
  const frame = scroll.getBoundingClientRect();
  const below = box.bottom + GAP + bubble.offsetHeight <= frame.bottom;
  const top = below ? box.bottom + GAP : box.top - GAP - bubble.offsetHeight;
  bubble.style.top = `${Math.round(top - frame.top + scroll.scrollTop)}px`;
}

function hide() {
  if (!form) return;
  form = null;
  bubble.replaceChildren();
}

bubble.addEventListener("htmx:afterSwap", ({ detail: { requestConfig } }) => {
  const { elt } = requestConfig;
  form = elt.form ?? elt.closest("form") ?? elt;
  place();
});
document.getElementById("detail").addEventListener("htmx:afterSwap", place);
addEveryClick(({ target }) => {
  if (!bubble.contains(target)) hide();
});
document.addEventListener("input", ({ target }) => {
  if (target.form && target.form === form) hide();
});
