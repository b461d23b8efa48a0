// The dense grid: draws many nodes on one canvas, from the compact data in <pre class="cells"> of the frames. Only the visible
// cells are painted. One link is placed over the cell under the pointer or the keyboard's cursor and handles hover, focus and
// clicks. The table of nodes is the accessible alternative.
import { isDetailed, makePalette, paintCell } from "./cells.js";
import { addClick, addElementKeys, addShortcut } from "./registry.js";
import { GridData } from "./grid_data.js";
import { GridLayout } from "./grid_layout.js";
import { Pinch } from "./pinch.js";
import { StageTile } from "./stage_tile.js";

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
  #data = new GridData();
  #shown = null; // the element #nodes that is drawn
  #detailed = false; // whether cells show pods, and every verdict
  #palette = null;
  #at = -1; // the index of the cell with the cursor
  #stage;
  #requested = 0; // the requested animation frame; 0: none

  constructor(box) {
    this.#box = box;
    this.#pane = box.querySelector(".pane");
    this.#space = box.querySelector(".space");
    this.#canvas = box.querySelector("canvas");
    this.#heads = box.querySelector(".heads");
    this.#context = this.#canvas.getContext("2d");
    this.#stage = new StageTile(box.querySelector(".stage-tile"), this.#layout);
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
      End: () => this.#data.cells.length - 1,
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
      this.#moveCursor(Math.max(0, Math.min(this.#data.cells.length - 1, moves[key]())));
      this.#scrollTo(this.#at);
    });
    addClick("#grid [data-zoom]", (button) => zooms[button.dataset.zoom]());
    addShortcut(["+", "="], { control: "#grid [data-zoom=in]", when });
    addShortcut("-", { control: "#grid [data-zoom=out]", when });
    addShortcut("0", { control: "#grid [data-zoom=fit]", when });
  }

  // Reads the latest frame.
  #readFrame() {
    const shown = document.getElementById("nodes");
    const dense = shown.classList.contains("dense");
    const appeared = dense && this.#box.hidden;
    this.#box.hidden = !dense;
    if (!dense) return;
    const parsed = this.#data.parseChunks(shown);
    if (appeared || parsed || shown !== this.#shown) {
      const at = this.#data.cells[this.#at]?.name;
      this.#layout.setGroups(this.#data.collectCells(shown));
      this.#at = this.#data.cells.findIndex(({ name }) => name === at);
    }
    const judged = this.#data.readVerdicts();
    if (appeared || shown !== this.#shown) {
      this.#shown = shown;
      this.#arrange();
    } else if (parsed || judged) {
      this.#draw();
    }
    this.#updateHeadings(shown);
    if (this.#at >= 0) this.#describe();
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
    const before = this.#stage.index;
    this.#placeStage();
    if (this.#stage.index !== before) this.#scrollTo(this.#stage.index);
    this.#draw();
  }

  #placeStage() {
    this.#stage.place(this.#data.cells, this.#pane.clientWidth);
  }

  #isBright(index) {
    return this.#stage.index >= 0 ? index === this.#stage.index : this.#data.matches(index);
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
    for (const group of this.#layout.groups) {
      for (const index of this.#layout.indicesBetween(group, from, from + height)) {
        paintCell(
          context,
          this.#stage.withStep(this.#data.cells[index], index),
          this.#areaOf(index, from),
          this.#palette,
          this.#data.codeOf(index, this.#detailed),
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
    if (index < 0 || index >= this.#data.cells.length || index === this.#at) return;
    this.#at = index;
    this.#placeCursor();
    this.#describe();
  }

  #placeCursor() {
    if (this.#layout.groupOf(this.#at)) this.#layout.placeOver(this.#cursor, this.#at);
  }

  #scrollTo(index) {
    if (index < 0) return;
    const { scrollTop, clientHeight } = this.#pane;
    const { y } = this.#layout.cornerOf(index);
    if (y < scrollTop || y + this.#layout.rowHeight > scrollTop + clientHeight)
      this.#pane.scrollTop = y - clientHeight / 2;
  }

  // Sets the link to the node of the cell with the cursor, at the moment that is shown. Its tooltip and label say what the cell shows.
  #describe() {
    const cell = this.#data.cells[this.#at];
    if (!cell) {
      this.#at = -1;
      return;
    }
    this.#cursor.setAttribute("href", `${this.#main.dataset.here}nodes/${cell.name}/`);
    const { figures, nominated, going, cordoned, pods } = this.#box.dataset;
    const facts = [
      figures.replace("{cpu}", cell.cpu).replace("{memory}", cell.memory),
      cell.fullest && `${cell.fullest} ${cell.full} %`,
      pods.replace("{n}", cell.pods),
      cell.marks.includes("g") && nominated,
      cell.marks.includes("x") && going,
      cell.marks.includes("c") && cordoned,
      cell.words,
      this.#data.wordsOf(this.#at),
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
      (this.#data.cells.length * this.#pane.scrollTop) / (this.#space.clientHeight || 1),
    );
    const anchor = this.#at >= 0 ? this.#at : firstVisible;
    this.#layout.scale(factor);
    this.#arrange();
    if (this.#layout.groupOf(anchor)) this.#pane.scrollTop = this.#layout.cornerOf(anchor).y - offset;
  }
}
