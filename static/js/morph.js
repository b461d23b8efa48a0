// Changes a panel into its newer version, and leaves in place what is equal: so what the visitor types, chooses, unfolds and
// selects stays, and the focus and how far something is scrolled. htmx does this for hx-swap="morph".
// Elements of a list have an id or data-key. An element with data-kept is the visitor's own: it stays as it is, unless the newer
// version says data-kept="new".

const keyOf = (node) => node.id || node.dataset?.key || "";

function keysOf(parent) {
  return new Map([...parent.children].filter(keyOf).map((each) => [keyOf(each), each]));
}

// htmx adds classes of its own while a request is under way.
const kindOf = (node) => `${node.nodeName} ${String(node.className ?? "").replace(/ ?\bhtmx-\w+/g, "")}`;

const isBlank = (node) => node.nodeType === Node.TEXT_NODE && !node.data.trim();

// The next of the old nodes that becomes the fresh one, or undefined. Without a key it is the first of the same kind.
function findSame(next, fresh) {
  if (isBlank(fresh)) return next && isBlank(next) ? next : undefined;
  for (let node = next; node; node = node.nextSibling)
    if (!keyOf(node) && !isBlank(node) && kindOf(node) === kindOf(fresh)) return node;
  return undefined;
}

function morphChildren(old, wanted) {
  const kept = keysOf(wanted);
  for (const [key, element] of keysOf(old))
    if (element.nodeName !== kept.get(key)?.nodeName) element.remove();
  const known = keysOf(old);
  let next = old.firstChild;
  for (const fresh of [...wanted.childNodes]) {
    const key = keyOf(fresh);
    const same = key ? known.get(key) : findSame(next, fresh);
    if (!same) {
      old.insertBefore(fresh, next);
      continue;
    }
    // What is left out before it is gone, or comes later by its key.
    while (next && next !== same && !keyOf(next)) next = removeAndGoOn(next);
    if (next === same) next = same.nextSibling;
    else old.insertBefore(same, next);
    morphNode(same, fresh);
  }
  while (next) next = removeAndGoOn(next);
}

function removeAndGoOn(node) {
  const next = node.nextSibling;
  node.remove();
  return next;
}

function morphNode(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
  } else if (!old.hasAttribute("data-kept") || fresh.dataset.kept === "new") {
    morphAttributes(old, fresh);
    morphChildren(old, fresh);
  }
}

// The attributes of a field are its values before the visitor changed them: a changed field keeps its value.
function morphAttributes(old, fresh) {
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !isOpen(old, name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes)
    if (old.getAttribute(name) !== value && !isOpen(old, name)) old.setAttribute(name, value);
}

function isOpen(element, name) {
  return name === "open" && element.matches("details");
}

htmx.defineExtension("morph", {
  isInlineSwap: (style) => style === "morph",
  handleSwap(style, target, fragment) {
    if (style !== "morph") return false;
    morphChildren(target, fragment);
    return [target];
  },
});
