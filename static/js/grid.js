// The dense grid: draws many nodes on one canvas, from the compact data in <pre class="cells"> of the frames. Only the visible
// cells are painted. One link is placed over the cell under the pointer or the keyboard's cursor and handles hover, focus and
// clicks. The table of nodes is the accessible alternative.
import { expandRuns, isDetailed, makePalette, markedCodes, paintCell, readCells } from "./cells.js";
import { addClick, addElementKeys, addShortcut } from "./registry.js";
import { GridLayout } from "./grid_layout.js";
import { Pinch } from "./pinch.js";
import { shownStage } from "./play.js";

const ZOOM_STEP = 1.25;
const WHEEL_SPEED = 1 / 300;

export class Grid {
  #box;
  #pane;
  #space;
  #canvas;
  #heads;
  #context;
  #cursor = document.getElementById("grid-cursor");
  #tip = document.getElementById("grid-tip");
  #main = document.getElementById("main");
  #layout = new GridLayout();
  #chunks = new Map(); // a chunk's id -> { element, cells }
  #shown = null; // the element #nodes that is drawn
  #cells = []; // of all groups, in the order of the page
  #codes = ""; // the verdict of the shown cycle on each cell
  #marked = ""; // the verdicts that small cells show
  #detailed = false; // whether cells show pods, and every verdict
  #words = {}; // what each code means
  #bright = ""; // whether each cell matches the filter; "": there is no filter
  #sources = { judged: null, found: null };
  #palette = null;
  #at = -1; // the index of the cell with the cursor
  #stageTile; // marks the tile on which a step of a preemption is shown
  #staged = -1; // the index of that tile
  #requested = 0; // the requested animation frame; 0: none

  constructor(box) {
    this.#box = box;
    this.#pane = box.querySelector(".pane");
    this.#space = box.querySelector(".space");
    this.#canvas = box.querySelector("canvas");
    this.#heads = box.querySelector(".heads");
    this.#context = this.#canvas.getContext("2d");
    this.#stageTile = box.querySelector(".stage-tile");
    this.#listen();
    this.#registerControls();
    this.#readFrame();
    this.#showStage();
  }

  #listen() {
    const pane = this.#pane;
    const pinch = new Pinch(pane, (factor) => this.#zoom(factor));
    pane.addEventListener("wheel", (event) => this.#zoomByWheel(event), { passive: false });
    pane.addEventListener("pointerdown", (event) => {
      if (pinch.fingers === 1) this.#moveCursor(this.#indexUnder(event));
    });
    pane.addEventListener("pointermove", (event) => {
      if (pinch.fingers < 2 && event.pointerType === "mouse") this.#moveCursor(this.#indexUnder(event));
    });
    pane.addEventListener("scroll", () => this.#draw(), { passive: true });
    this.#cursor.addEventListener("focus", () => {
      if (this.#at < 0) this.#moveCursor(0);
    });
    new ResizeObserver(() => {
      if (!this.#box.hidden) this.#arrange();
    }).observe(pane);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.#palette = null;
      if (!this.#box.hidden) this.#draw();
    });
    document.body.addEventListener("frame", () => this.#readFrame());
    document.body.addEventListener("stage", () => this.#showStage());
  }

  #registerControls() {
    const moves = {
      ArrowRight: () => this.#at + 1,
      ArrowLeft: () => this.#at - 1,
      ArrowDown: () => this.#layout.nextRow(this.#at, 1),
      ArrowUp: () => this.#layout.nextRow(this.#at, -1),
      Home: () => 0,
      End: () => this.#cells.length - 1,
    };
    const zooms = {
      in: () => this.#zoom(ZOOM_STEP),
      out: () => this.#zoom(1 / ZOOM_STEP),
      fit: () => {
        this.#layout.fitAll();
        this.#arrange();
      },
    };
    const when = () => !this.#box.hidden;
    addElementKeys("#grid-cursor", Object.keys(moves), (link, { key }) => {
      this.#moveCursor(Math.max(0, Math.min(this.#cells.length - 1, moves[key]())));
      this.#scrollTo(this.#at);
    });
    addClick("#grid [data-zoom]", (button) => zooms[button.dataset.zoom]());
    addShortcut(["+", "="], { control: "#grid [data-zoom=in]", when });
    addShortcut("-", { control: "#grid [data-zoom=out]", when });
    addShortcut("0", { control: "#grid [data-zoom=fit]", when });
  }

  // Reads the latest frame. Chunks that are the same elements as before are not parsed again.
  #readFrame() {
    const shown = document.getElementById("nodes");
    const dense = shown.classList.contains("dense");
    const appeared = dense && this.#box.hidden;
    this.#box.hidden = !dense;
    if (!dense) return;
    const parsed = this.#parseChunks(shown);
    if (appeared || parsed || shown !== this.#shown) this.#collectGroups(shown);
    const judged = this.#readVerdicts();
    if (appeared || shown !== this.#shown) {
      this.#shown = shown;
      this.#arrange();
    } else if (parsed || judged) {
      this.#draw();
    }
    this.#updateHeadings(shown);
    if (this.#at >= 0) this.#describe();
  }

  // Returns whether there were new chunks.
  #parseChunks(shown) {
    let parsed = false;
    for (const element of shown.querySelectorAll("pre.cells")) {
      if (this.#chunks.get(element.id)?.element === element) continue;
      this.#chunks.set(element.id, { element, cells: readCells(element.textContent) });
      parsed = true;
    }
    return parsed;
  }

  #collectGroups(shown) {
    const current = new Set();
    this.#cells = [];
    const counts = [...shown.querySelectorAll(".zone")].map((zone) => {
      const before = this.#cells.length;
      for (const { id } of zone.querySelectorAll("pre.cells")) {
        current.add(id);
        this.#cells.push(...this.#chunks.get(id).cells);
      }
      return this.#cells.length - before;
    });
    this.#layout.setGroups(counts);
    for (const id of this.#chunks.keys()) if (!current.has(id)) this.#chunks.delete(id);
  }

  // Reads the verdicts of the shown cycle and the matches of the filter; returns whether they are new.
  #readVerdicts() {
    const judged = document.getElementById("judged");
    const found = document.getElementById("found");
    if (judged === this.#sources.judged && found === this.#sources.found) return false;
    this.#sources = { judged, found };
    const verdicts = JSON.parse(judged?.textContent || "{}");
    this.#codes = expandRuns(verdicts.codes ?? "");
    this.#marked = markedCodes(this.#codes);
    this.#words = verdicts.words ?? {};
    this.#bright = expandRuns(JSON.parse(found?.dataset.bright || "{}").cells ?? "");
    return true;
  }

  #updateHeadings(shown) {
    const headings = [...shown.querySelectorAll(".zone > h3")];
    for (const [place, heading] of headings.entries()) {
      const copy = this.#heads.children[place] ?? this.#heads.appendChild(document.createElement("div"));
      if (copy.innerHTML !== heading.innerHTML) copy.innerHTML = heading.innerHTML;
    }
    while (this.#heads.children.length > headings.length) this.#heads.lastChild.remove();
    this.#placeHeadings();
  }

  #placeHeadings() {
    for (const [place, copy] of [...this.#heads.children].entries()) {
      copy.style.transform = `translateY(${this.#layout.groups[place]?.top ?? 0}px)`;
    }
  }

  #arrange() {
    this.#layout.arrange(this.#pane.clientWidth, this.#pane.clientHeight);
    this.#detailed = isDetailed(this.#layout.size - this.#layout.gap);
    this.#box.classList.toggle("detailed", this.#detailed); // the legend explains what is drawn
    this.#space.style.height = `${this.#layout.height}px`;
    this.#placeHeadings();
    this.#placeStage();
    this.#draw();
  }

  // Shows the step of a preemption on the tile of its node.
  #showStage() {
    if (this.#box.hidden) return;
    const before = this.#staged;
    this.#placeStage();
    if (this.#staged >= 0 && this.#staged !== before) this.#scrollTo(this.#staged);
    this.#draw();
  }

  #placeStage() {
    const stage = shownStage();
    this.#staged = stage ? this.#cells.findIndex(({ name }) => name === stage.node) : -1;
    this.#stageTile.hidden = this.#staged < 0;
    if (this.#staged < 0) return;
    this.#placeOver(this.#stageTile, this.#staged);
    const { x, y } = this.#layout.cornerOf(this.#staged);
    this.#stageTile.classList.toggle("to-left", x > this.#pane.clientWidth / 2);
    this.#stageTile.classList.toggle("to-top", y > this.#layout.height / 2);
    const badge = this.#stageTile.firstElementChild;
    badge.textContent = [stage.badge, stage.tally].filter(Boolean).join(" · ");
    badge.classList.toggle("fits", Boolean(stage.fits));
  }

  // The tile of the step has the requests of the pods that are there in the step.
  #cellAt(index) {
    const cell = this.#cells[index];
    const { full, cpu, memory } = index === this.#staged ? shownStage() : {};
    return full === undefined ? cell : { ...cell, full: Number(full), cpu, memory };
  }

  #isBright(index) {
    if (this.#staged >= 0) return index === this.#staged;
    return this.#bright === "" || this.#bright[index] === "+";
  }

  // Paints at the next animation frame; several calls before it paint once.
  #draw() {
    this.#requested ||= requestAnimationFrame(() => {
      this.#requested = 0;
      this.#paint();
    });
  }

  #paint() {
    const { clientWidth: width, clientHeight: height, scrollTop: from } = this.#pane;
    const context = this.#context;
    this.#resizeCanvas(width, height);
    this.#palette ??= makePalette(context);
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.clearRect(0, 0, width, height);
    const codes = this.#detailed ? this.#codes : this.#marked;
    for (const group of this.#layout.groups) {
      for (const index of this.#layout.indicesBetween(group, from, from + height)) {
        paintCell(
          context,
          this.#cellAt(index),
          this.#areaOf(index, from),
          this.#palette,
          codes[index] ?? ".",
          this.#isBright(index),
        );
      }
    }
    if (this.#at >= 0) this.#placeCursor();
  }

  #resizeCanvas(width, height) {
    const canvas = this.#canvas;
    const [across, down] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
    if (canvas.width === across && canvas.height === down) return;
    Object.assign(canvas, { width: across, height: down });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }

  // Where a cell is painted on the canvas: on whole pixels, because a blurred edge looks like another state.
  #areaOf(index, from) {
    const { size, rowHeight, gap } = this.#layout;
    const { x, y } = this.#layout.cornerOf(index);
    const left = Math.round(x);
    const top = Math.round(y - from);
    return {
      x: left,
      y: top,
      width: Math.round(x + size) - left - gap,
      height: Math.round(y - from + rowHeight) - top - gap,
    };
  }

  #indexUnder(event) {
    const { left, top } = this.#space.getBoundingClientRect();
    return this.#layout.indexAt(event.clientX - left, event.clientY - top);
  }

  #moveCursor(index) {
    if (index < 0 || index >= this.#cells.length || index === this.#at) return;
    this.#at = index;
    this.#cursor.setAttribute("href", `${this.#main.dataset.here}nodes/${this.#cells[index].name}/`);
    this.#placeCursor();
    this.#describe();
  }

  #placeCursor() {
    if (this.#layout.groupOf(this.#at)) this.#placeOver(this.#cursor, this.#at);
  }

  #placeOver(element, index) {
    const { size, rowHeight, gap } = this.#layout;
    const { x, y } = this.#layout.cornerOf(index);
    const transform = `translate(${x}px, ${y}px)`;
    Object.assign(element.style, {
      transform,
      width: `${size - gap}px`,
      height: `${rowHeight - gap}px`,
    });
  }

  #scrollTo(index) {
    if (index < 0) return;
    const { scrollTop, clientHeight } = this.#pane;
    const { y } = this.#layout.cornerOf(index);
    if (y < scrollTop || y + this.#layout.rowHeight > scrollTop + clientHeight)
      this.#pane.scrollTop = y - clientHeight / 2;
  }

  // Sets the tooltip and the label of the link to the text for the cell with the cursor.
  #describe() {
    const cell = this.#cells[this.#at];
    if (!cell) {
      this.#at = -1;
      return;
    }
    const { figures, nominated, going, cordoned, pods } = this.#box.dataset;
    const facts = [
      figures.replace("{cpu}", cell.cpu).replace("{memory}", cell.memory),
      cell.fullest && `${cell.fullest} ${cell.full} %`,
      pods.replace("{n}", cell.pods),
      cell.marks.includes("g") && nominated,
      cell.marks.includes("x") && going,
      cell.marks.includes("c") && cordoned,
      cell.words,
      this.#words[this.#codes[this.#at]],
    ];
    const text = `${cell.name}: ${facts.filter(Boolean).join("; ")}`;
    if (this.#tip.textContent !== text) this.#tip.textContent = text;
    this.#cursor.setAttribute("aria-label", text);
  }

  #zoomByWheel(event) {
    if (!event.ctrlKey) return; // browsers also send a pinch on a trackpad as a wheel event with ctrl
    event.preventDefault();
    this.#moveCursor(this.#indexUnder(event));
    this.#zoom(Math.exp(-event.deltaY * WHEEL_SPEED), event.clientY - this.#pane.getBoundingClientRect().top);
  }

  // Zooms so that the cell with the cursor, or the first visible one, is then at this height of the pane.
  #zoom(factor, offset = this.#pane.clientHeight / 2) {
    const firstVisible = Math.floor(
      (this.#cells.length * this.#pane.scrollTop) / (this.#space.clientHeight || 1),
    );
    const anchor = this.#at >= 0 ? this.#at : firstVisible;
    this.#layout.scale(factor);
    this.#arrange();
    if (this.#layout.groupOf(anchor)) this.#pane.scrollTop = this.#layout.cornerOf(anchor).y - offset;
  }
}
