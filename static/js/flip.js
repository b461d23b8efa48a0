// Pods move: from lane to lane, and onto a node. First, Last, Invert, Play, over the swaps that htmx makes.
const DURATION_MS = 320; // under 400: seen, and never waited for
const AT_MOST = 250; // movers watched; beyond that, motion says nothing any more
const FAR_PX = 4;

const still = matchMedia("(prefers-reduced-motion: reduce)");
const slides = new WeakMap(); // an element's last slide
let before = null;

function layer() {
  let flight = document.getElementById("flight");
  if (!flight) {
    flight = document.createElement("div");
    flight.id = "flight";
    flight.inert = true; // twins are pictures: not read, and out of the keyboard's way
    flight.ariaHidden = "true";
    document.body.append(flight);
  }
  return flight;
}

function pods() {
  const found = document.querySelectorAll("[data-uid]");
  return found.length > AT_MOST ? [] : found;
}

function seen(rect, box) {
  return rect.width > 0 && rect.bottom > box.top && rect.top < box.bottom;
}

function place(element) {
  const rect = element.getBoundingClientRect();
  const box = element.closest(".scroll")?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return seen(rect, box) ? rect : null;
}

// The part that holds a pod: within it pods slide, and what it does itself is none of their doing.
function home(element) {
  const part = element.parentElement.closest("[id]");
  return { id: part.id, rect: part.getBoundingClientRect() };
}

// Where every pod is now, to be called before a swap.
export function remember() {
  before = null;
  if (still.matches || document.hidden) return;
  before = new Map();
  // What is still in flight goes on from where it is.
  for (const twin of document.querySelectorAll("#flight > *")) {
    before.set(twin.dataset.flies, { rect: twin.getBoundingClientRect(), home: { id: "flight" } });
    for (const flight of twin.getAnimations()) flight.cancel();
    twin.remove();
  }
  for (const element of pods()) {
    const rect = place(element);
    // A nominated pod is in a lane and a ghost on its node: it flies from the lane.
    if (rect && !before.has(element.dataset.uid)) {
      before.set(element.dataset.uid, { rect, home: home(element) });
    }
  }
}

// Let what moved fly from its old place to its new one, to be called after the swap.
export function animate() {
  if (!before) return;
  const moves = [];
  const settled = new Set();
  for (const element of pods()) {
    const uid = element.dataset.uid;
    if (element.classList.contains("ghost") || settled.has(uid)) continue;
    settled.add(uid);
    // An element that the frame left alone may be sliding still: from where it is seen it goes on to its new place.
    slides.get(element)?.cancel();
    const rect = place(element);
    if (!rect) continue;
    const old = before.get(uid);
    if (!old) {
      if (before.size) element.animate([{ opacity: 0, scale: 0.9 }, {}], { duration: DURATION_MS / 2, easing: "ease-out" });
      continue;
    }
    const now = home(element);
    const near = old.home.id === now.id;
    const dx = old.rect.left - rect.left - (near ? old.home.rect.left - now.rect.left : 0);
    const dy = old.rect.top - rect.top - (near ? old.home.rect.top - now.rect.top : 0);
    if (Math.hypot(dx, dy) > FAR_PX) moves.push({ element, rect, old, near, dx, dy });
  }
  before = null;
  for (const move of moves) (move.near ? slide : fly)(move);
}

function slide({ element, dx, dy }) {
  const by = `translate(${dx}px, ${dy}px)`;
  slides.set(element, element.animate([{ transform: by }, { transform: "none" }], { duration: DURATION_MS, easing: "ease-in-out" }));
}

// Between two scrolling boxes a twin flies above the page, as neither box would let it out.
function fly({ element, rect, old, dx, dy }) {
  const twin = element.cloneNode(true);
  twin.dataset.flies = element.dataset.uid;
  twin.removeAttribute("data-uid");
  for (const named of [twin, ...twin.querySelectorAll("[id]")]) named.removeAttribute("id");
  Object.assign(twin.style, { left: `${rect.left}px`, top: `${rect.top}px`, width: `${rect.width}px`, height: `${rect.height}px` });
  layer().append(twin);
  const from = `translate(${dx}px, ${dy}px) scale(${Math.min(1.4, Math.max(0.6, old.rect.width / rect.width))})`;
  const flight = twin.animate(
    [{ transform: from, transformOrigin: "0 0" }, { transform: "none", transformOrigin: "0 0" }],
    { duration: DURATION_MS, easing: "cubic-bezier(.3, .1, .2, 1)" },
  );
  const veil = element.animate([{ opacity: 0 }, { opacity: 0 }], { duration: DURATION_MS });
  flight.finished.catch(() => {}).then(() => { twin.remove(); veil.cancel(); });
}
