// The list of single-key shortcuts, and the switch that turns them off: speech input may trigger them by mistake.
const STORED = "schedviz:keys";
const menu = document.getElementById("keys");
const on = document.getElementById("keys-on");

on.checked = localStorage.getItem(STORED) !== "off";
on.addEventListener("change", () => localStorage.setItem(STORED, on.checked ? "on" : "off"));

// In the capture phase, so that no other listener gets the key. The browser's default action is kept.
window.addEventListener("keydown", (event) => {
  const single = event.key.length === 1 && !event.metaKey && !event.ctrlKey && !event.altKey;
  if (single && !on.checked) event.stopImmediatePropagation();
}, { capture: true });

function nameOf(element) {
  const words = [...element.childNodes].filter((each) => each.ariaHidden !== "true").map((each) => each.textContent);
  return element.ariaLabel || words.join("").trim() || element.placeholder;
}

// The list contains all elements with aria-keyshortcuts that are visible or in a visible menu.
menu.addEventListener("toggle", () => {
  const seen = (each) => (each.closest(".menu") ?? each).checkVisibility();
  const there = [...document.querySelectorAll("[aria-keyshortcuts]")].filter(seen);
  const lines = there.flatMap((each) => {
    const [key, name] = [document.createElement("dt"), document.createElement("dd")];
    key.append(Object.assign(document.createElement("kbd"), { textContent: each.getAttribute("aria-keyshortcuts") }));
    name.textContent = nameOf(each);
    return [key, name];
  });
  menu.querySelector("dl").replaceChildren(...lines);
});
