// The dense grid: draws many nodes on one canvas, from the compact data in <pre class="cells"> of the frames. Only the visible
// cells are painted. One link is placed over the cell under the pointer or the keyboard's cursor and handles hover, focus and
// clicks. The table of nodes is the accessible alternative.
import { paint, palette, read, unrolled } from "./cells.js";

const SMALLEST = 6;
const LARGEST = 170;
const COMFORT = 28; // initial size of cells, if all of them fit
const HEADING = 26;
const PAD = 12;
const STEP = 1.25;
const FLAT = 40; // minimum size at which cells are wider than high, with pods as blocks
const FLATNESS = 0.62;

const box = document.getElementById("grid");
const pane = box.querySelector(".pane");
const space = box.querySelector(".space");
const canvas = box.querySelector("canvas");
const heads = box.querySelector(".heads");
const cursor = document.getElementById("grid-cursor");
const tip = document.getElementById("grid-tip");
const context = canvas.getContext("2d");
const main = document.getElementById("main");

const parsed = new Map(); // a chunk's id -> { element, cells }
let panel = null; // the element #nodes that is shown
let groups = []; // { first, count, top, height }
let cells = []; // of all groups, in the order of the page
let codes = "";
let words = {};
let bright = "";
let sources = { judged: null, found: null };
let chosenSize = 0; // 0: the size at which all cells fit
let size = COMFORT;
let columns = 1;
let colours = null;
let at = -1;
let requested = 0; // the requested animation frame; 0: none

function row() { return size < FLAT ? size : size * FLATNESS; }
function gap() { return size < 12 ? 1 : size < FLAT ? 2 : 6; }

// Reads the latest frame. Chunks that are the same elements as before are not parsed again.
function readFrame() {
  const shown = document.getElementById("nodes");
  const dense = shown.classList.contains("dense");
  const appeared = dense && box.hidden;
  box.hidden = !dense;
  if (!dense) return;
  let changed = appeared;
  for (const chunk of shown.querySelectorAll("pre.cells")) {
    if (parsed.get(chunk.id)?.element === chunk) continue;
    parsed.set(chunk.id, { element: chunk, cells: read(chunk.textContent) });
    changed = true;
  }
  if (changed || shown !== panel) collectGroups(shown);
  const redraw = readVerdicts() || changed;
  if (shown !== panel || appeared) { panel = shown; arrange(); } else if (redraw) draw();
  headings(shown);
  if (at >= 0) describe();
}

// The groups keep their positions until arrange() computes new ones.
function collectGroups(shown) {
  const held = new Set();
  cells = [];
  groups = [...shown.querySelectorAll(".zone")].map((zone, index) => {
    const { top, height } = groups[index] ?? { top: 0, height: 0 };
    const first = cells.length;
    for (const chunk of zone.querySelectorAll("pre.cells")) {
      held.add(chunk.id);
      cells.push(...parsed.get(chunk.id).cells);
    }
    return { first, count: cells.length - first, top, height };
  });
  for (const id of parsed.keys()) if (!held.has(id)) parsed.delete(id);
}

// Reads the verdicts of the shown cycle and the matches of the filter; returns whether they are new.
function readVerdicts() {
  const judged = document.getElementById("judged");
  const found = document.getElementById("found");
  if (judged === sources.judged && found === sources.found) return false;
  sources = { judged, found };
  const verdicts = JSON.parse(judged?.textContent || "{}");
  codes = unrolled(verdicts.codes ?? "");
  words = verdicts.words ?? {};
  bright = unrolled(JSON.parse(found?.dataset.bright || "{}").cells ?? "");
  return true;
}

function headings(shown) {
  const wanted = [...shown.querySelectorAll(".zone > h3")];
  for (const [place, heading] of wanted.entries()) {
    const copy = heads.children[place] ?? heads.appendChild(document.createElement("div"));
    if (copy.innerHTML !== heading.innerHTML) copy.innerHTML = heading.innerHTML;
    copy.style.transform = `translateY(${groups[place].top}px)`;
  }
  while (heads.children.length > wanted.length) heads.lastChild.remove();
}

function heightAt(candidate) {
  const across = Math.max(1, Math.floor((pane.clientWidth - 2 * PAD) / candidate));
  const rowHeight = candidate < FLAT ? candidate : candidate * FLATNESS;
  return groups.reduce((sum, group) => sum + HEADING + Math.ceil(group.count / across) * rowHeight + PAD, 0);
}

function fitting() {
  let fit = COMFORT;
  while (fit > SMALLEST && heightAt(fit) > pane.clientHeight) fit -= 0.5;
  return fit;
}

function arrange() {
  size = chosenSize || fitting();
  columns = Math.max(1, Math.floor((pane.clientWidth - 2 * PAD) / size));
  let top = 0;
  for (const group of groups) {
    group.top = top;
    group.height = HEADING + Math.ceil(group.count / columns) * row() + PAD;
    top += group.height;
  }
  space.style.height = `${top}px`;
  for (const [place, copy] of [...heads.children].entries()) copy.style.transform = `translateY(${groups[place]?.top ?? 0}px)`;
  draw();
}

// Paints at the next animation frame; several calls before it paint once.
function draw() {
  requested ||= requestAnimationFrame(() => { requested = 0; render(); });
}

function render() {
  const width = pane.clientWidth;
  const height = pane.clientHeight;
  const scale = devicePixelRatio;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  colours ??= palette(context);
  const from = pane.scrollTop;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const group of groups) {
    if (group.top + group.height < from || group.top > from + height) continue;
    const firstRow = Math.max(0, Math.floor((from - group.top - HEADING) / row()));
    const lastRow = Math.ceil((from + height - group.top - HEADING) / row());
    const end = Math.min(group.count, (lastRow + 1) * columns);
    for (let index = firstRow * columns; index < end; index += 1) {
      const place = group.first + index;
      const { x, y } = spot(group, index);
      // On whole pixels, because a blurred edge looks like another state.
      const left = Math.round(x);
      const top = Math.round(y - from);
      const area = { x: left, y: top, width: Math.round(x + size) - left - gap(), height: Math.round(y - from + row()) - top - gap() };
      paint(context, cells[place], area, colours, codes[place] ?? ".", bright === "" || bright[place] === "+");
    }
  }
  if (at >= 0) place();
}

function spot(group, index) {
  return { x: PAD + (index % columns) * size, y: group.top + HEADING + Math.floor(index / columns) * row() };
}

function groupOf(index) {
  return groups.find((group) => index < group.first + group.count);
}

function hit(event) {
  const inside = space.getBoundingClientRect();
  const x = event.clientX - inside.left - PAD;
  const y = event.clientY - inside.top;
  const column = Math.floor(x / size);
  const group = groups.find((each) => y >= each.top && y < each.top + each.height);
  if (!group || column < 0 || column >= columns) return -1;
  const index = Math.floor((y - group.top - HEADING) / row()) * columns + column;
  return index >= 0 && index < group.count && y >= group.top + HEADING ? group.first + index : -1;
}

function point(index) {
  if (index < 0 || index >= cells.length || index === at) return;
  at = index;
  cursor.setAttribute("href", `${main.dataset.here}nodes/${cells[at].name}/`);
  place();
  describe();
}

function place() {
  const group = groupOf(at);
  if (!group) return;
  const { x, y } = spot(group, at - group.first);
  Object.assign(cursor.style, { transform: `translate(${x}px, ${y}px)`, width: `${size - gap()}px`, height: `${row() - gap()}px` });
}

// Sets the tooltip and the label of the link to the text for the current cell.
function describe() {
  const cell = cells[at];
  if (!cell) { at = -1; return; }
  const { figures, ghost, going, cordoned, pods } = box.dataset;
  const facts = [
    figures.replace("{cpu}", cell.cpu).replace("{memory}", cell.memory),
    cell.fullest && `${cell.fullest} ${cell.full} %`,
    pods.replace("{n}", cell.pods),
    cell.marks.includes("g") && ghost,
    cell.marks.includes("x") && going,
    cell.marks.includes("c") && cordoned,
    cell.words,
    words[codes[at]],
  ].filter(Boolean);
  const text = `${cell.name}: ${facts.join("; ")}`;
  if (tip.textContent !== text) tip.textContent = text;
  cursor.setAttribute("aria-label", text);
}

function zoom(factor, y) {
  const fit = fitting();
  const before = size;
  const anchor = at >= 0 ? at : Math.floor((cells.length * pane.scrollTop) / (space.clientHeight || 1));
  const offset = y ?? pane.clientHeight / 2;
  chosenSize = Math.max(Math.min(fit, SMALLEST), Math.min(LARGEST, before * factor));
  if (Math.abs(chosenSize - fit) < 0.5 || (factor < 1 && chosenSize < fit)) chosenSize = 0;
  arrange();
  const group = groupOf(anchor);
  if (group) pane.scrollTop = spot(group, anchor - group.first).y - offset;
}

function fitAll() { chosenSize = 0; arrange(); }

const MOVES = {
  ArrowRight: () => at + 1,
  ArrowLeft: () => at - 1,
  ArrowDown: () => below(1),
  ArrowUp: () => below(-1),
  Home: () => 0,
  End: () => cells.length - 1,
};

// The cell in the next or previous row, which may be in another group.
function below(direction) {
  const group = groupOf(at);
  const next = at + direction * columns;
  if (next >= group.first && next < group.first + group.count) return next;
  const place = groups.indexOf(group) + direction;
  if (place < 0 || place >= groups.length) return at;
  const column = (at - group.first) % columns;
  const { first, count } = groups[place];
  const row = direction > 0 ? 0 : Math.ceil(count / columns) - 1;
  return first + Math.min(count - 1, row * columns + column);
}

cursor.addEventListener("focus", () => { if (at < 0) point(0); });
cursor.addEventListener("keydown", (event) => {
  const move = MOVES[event.key];
  if (!move || event.metaKey || event.ctrlKey || event.altKey) return;
  event.preventDefault();
  point(Math.max(0, Math.min(cells.length - 1, move())));
  const group = groupOf(at);
  const { y } = spot(group, at - group.first);
  if (y < pane.scrollTop || y + row() > pane.scrollTop + pane.clientHeight) pane.scrollTop = y - pane.clientHeight / 2;
});

document.addEventListener("keydown", (event) => {
  if (box.hidden || event.metaKey || event.ctrlKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "+" || event.key === "=") zoom(STEP);
  else if (event.key === "-") zoom(1 / STEP);
  else if (event.key === "0") fitAll();
});

box.addEventListener("click", (event) => {
  const by = event.target.closest("[data-zoom]")?.dataset.zoom;
  if (by === "in") zoom(STEP);
  else if (by === "out") zoom(1 / STEP);
  else if (by === "fit") fitAll();
});

pane.addEventListener("wheel", (event) => {
  if (!event.ctrlKey) return; // browsers also send a pinch on a trackpad as a wheel event with ctrl
  event.preventDefault();
  point(hit(event));
  zoom(Math.exp(-event.deltaY / 300), event.clientY - pane.getBoundingClientRect().top);
}, { passive: false });

const fingers = new Map();
let spread = 0;

pane.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  spread = 0;
  if (fingers.size === 1) point(hit(event));
});
pane.addEventListener("pointermove", (event) => {
  if (fingers.has(event.pointerId)) fingers.set(event.pointerId, event);
  if (fingers.size === 2) {
    const [one, other] = [...fingers.values()];
    const now = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    if (spread) zoom(now / spread);
    spread = now;
  } else if (event.pointerType === "mouse") {
    point(hit(event));
  }
});
for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
  pane.addEventListener(end, (event) => { fingers.delete(event.pointerId); spread = 0; });
}

pane.addEventListener("scroll", draw, { passive: true });
new ResizeObserver(() => { if (!box.hidden) arrange(); }).observe(pane);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { colours = null; if (!box.hidden) draw(); });
document.body.addEventListener("frame", readFrame);
readFrame();
