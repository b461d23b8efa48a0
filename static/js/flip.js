// Animates pods that a swap moved: from lane to lane, and onto a node. The technique is FLIP: first, last, invert, play.
const DURATION_MS = 320; // short enough not to delay the user
const MAX_PODS = 250; // with more, nothing is animated, as so many cannot be followed
const MIN_PX = 4;

const still = matchMedia("(prefers-reduced-motion: reduce)");
const slides = new WeakMap(); // an element's last animation within its part
let before = null; // the places before the swap: uid -> { rect, part }; null: nothing is animated

// The element that contains the copies of pods that move between parts. It is hidden from assistive technology.
function copiesLayer() {
  let layer = document.getElementById("flight");
  if (!layer) {
    layer = document.createElement("div");
    layer.id = "flight";
    layer.inert = true;
    layer.ariaHidden = "true";
    document.body.append(layer);
  }
  return layer;
}

function pods() {
  const found = document.querySelectorAll("[data-uid]");
  return found.length > MAX_PODS ? [] : found;
}

// The rectangle of an element, or null if it is scrolled out of view.
function visibleRect(element) {
  const rect = element.getBoundingClientRect();
  const box = element.closest(".scroll")?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return rect.width > 0 && rect.bottom > box.top && rect.top < box.bottom ? rect : null;
}

// The part of the page that contains a pod. If the part itself moves, its pods are not animated for that.
function partOf(element) {
  const part = element.parentElement.closest("[id]");
  return { id: part.id, rect: part.getBoundingClientRect() };
}

// Stores the places of all pods. To be called before a swap. All is measured before anything changes: a measurement after a change
// makes the browser calculate styles and layout again.
export function remember() {
  before = null;
  if (still.matches || document.hidden) return;
  before = new Map();
  // A copy that is still moving continues from its current place.
  const layer = copiesLayer();
  for (const copy of layer.children)
    before.set(copy.dataset.copyOf, { rect: copy.getBoundingClientRect(), part: { id: "flight" } });
  for (const element of pods()) {
    const rect = visibleRect(element);
    // A nominated pod is in a lane and also on its node, as a block. The lane comes first on the page and counts.
    if (rect && !before.has(element.dataset.uid))
      before.set(element.dataset.uid, { rect, part: partOf(element) });
  }
  for (const animation of layer.getAnimations({ subtree: true })) animation.cancel();
  layer.replaceChildren();
}

// Animates each pod from its old place to its new one. To be called after the swap.
export function animate() {
  if (!before) return;
  const [moves, created] = [[], []];
  const done = new Set();
  // An element that the frame did not replace may still be moving: it continues from its current place.
  for (const element of pods()) slides.get(element)?.cancel();
  for (const element of pods()) {
    const uid = element.dataset.uid;
    if (element.classList.contains("nominated") || done.has(uid)) continue;
    done.add(uid);
    const rect = visibleRect(element);
    if (!rect) continue;
    const old = before.get(uid);
    if (!old) {
      if (before.size) created.push(element);
      continue;
    }
    const part = partOf(element);
    const samePart = old.part.id === part.id;
    const dx = old.rect.left - rect.left - (samePart ? old.part.rect.left - part.rect.left : 0);
    const dy = old.rect.top - rect.top - (samePart ? old.part.rect.top - part.rect.top : 0);
    if (Math.hypot(dx, dy) > MIN_PX) moves.push({ element, rect, old, samePart, dx, dy });
  }
  before = null;
  for (const element of created)
    element.animate([{ opacity: 0, scale: 0.9 }, {}], { duration: DURATION_MS / 2, easing: "ease-out" });
  for (const move of moves) (move.samePart ? slide : moveCopy)(move);
}

function slide({ element, dx, dy }) {
  const by = `translate(${dx}px, ${dy}px)`;
  slides.set(
    element,
    element.animate([{ transform: by }, { transform: "none" }], {
      duration: DURATION_MS,
      easing: "ease-in-out",
    }),
  );
}

// Between two parts a copy moves above the page, because each part hides what is outside it.
function moveCopy({ element, rect, old, dx, dy }) {
  const copy = element.cloneNode(true);
  copy.dataset.copyOf = element.dataset.uid;
  copy.removeAttribute("data-uid");
  for (const each of [copy, ...copy.querySelectorAll("[id]")]) each.removeAttribute("id");
  Object.assign(copy.style, {
    left: `${rect.left}px`,
    top: `${rect.top}px`,
    width: `${rect.width}px`,
    height: `${rect.height}px`,
  });
  copiesLayer().append(copy);
  const from = `translate(${dx}px, ${dy}px) scale(${Math.min(1.4, Math.max(0.6, old.rect.width / rect.width))})`;
  const animation = copy.animate(
    [
      { transform: from, transformOrigin: "0 0" },
      { transform: "none", transformOrigin: "0 0" },
    ],
    { duration: DURATION_MS, easing: "cubic-bezier(.3, .1, .2, 1)" },
  );
  const hidden = element.animate([{ opacity: 0 }, { opacity: 0 }], { duration: DURATION_MS });
  animation.finished
    .catch(() => {})
    .then(() => {
      copy.remove();
      hidden.cancel();
    });
}
