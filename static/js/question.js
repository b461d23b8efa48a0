// The bar with the question of Predict on a narrow page, where the panel of the question and what is chosen are in different tabs.
// Its button submits the panel's form.
import { addClick } from "./registry.js";
import { isNarrow, showTabOf } from "./tabs.js";

const bar = document.getElementById("question");
const [text, button] = bar.children;

const form = () => document.querySelector("#predict[data-kind] form:has(legend)");
const submit = () => form()?.querySelector("button.primary");

function update() {
  const asked = isNarrow() && submit();
  bar.hidden = !asked;
  if (!asked) return;
  const question = form().querySelector("legend").textContent.trim();
  if (text.textContent !== question) text.textContent = question;
  button.textContent = submit().textContent.trim();
  button.disabled = !form().checkValidity();
}

addClick("#question button", () => {
  showTabOf(submit());
  submit().click();
});
addClick("#question p", () => showTabOf(form()));
document.body.addEventListener("frame", update);
document.body.addEventListener("schedviz:tab", update);
document.addEventListener("htmx:afterSwap", update);
document.addEventListener("change", update);
addEventListener("resize", update);
update();
