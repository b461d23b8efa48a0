// Lights all members of a pod group, in the queue and on the nodes, while the pointer or the focus is on one of them.
let lit = "";

function light(group) {
  if (group === lit) return;
  lit = group;
  for (const each of document.querySelectorAll("[data-pod-group]"))
    each.classList.toggle("lit", each.dataset.podGroup === group);
}

const groupOf = (element) => element.closest?.("[data-pod-group]")?.dataset.podGroup ?? "";

for (const event of ["pointerover", "focusin"])
  document.addEventListener(event, ({ target }) => light(groupOf(target)));
for (const event of ["pointerout", "focusout"])
  document.addEventListener(event, ({ relatedTarget }) => light(relatedTarget ? groupOf(relatedTarget) : ""));
// A frame replaces elements, which are then not lit.
document.addEventListener("htmx:wsAfterMessage", () => {
  const group = lit;
  lit = "";
  light(group);
});
