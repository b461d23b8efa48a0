// The data of the grid: reads the nodes, the verdicts of the shown cycle and the matches of the filter from the frames.
import { expandRuns, markedCodes, readCells } from "./cells.js";

export class GridData {
  cells = []; // of all groups, in the order of the page
  #chunks = new Map(); // a chunk's id -> { element, cells }
  #codes = ""; // the verdict of the shown cycle on each cell
  #marked = ""; // the verdicts that small cells show
  #words = {}; // what each code means
  #bright = ""; // whether each cell matches the filter; "": there is no filter
  #sources = { judged: null, found: null };

  // Parses the chunks of the frame; returns whether there were new ones. Chunks that are the same elements as before are not
  // parsed again.
  parseChunks(shown) {
    let parsed = false;
    for (const element of shown.querySelectorAll("pre.cells")) {
      if (this.#chunks.get(element.id)?.element === element) continue;
      this.#chunks.set(element.id, { element, cells: readCells(element.textContent) });
      parsed = true;
    }
    return parsed;
  }

  // Collects the cells of all groups; returns how many each group has.
  collectCells(shown) {
    const current = new Set();
    this.cells = [];
    const counts = [...shown.querySelectorAll(".zone")].map((zone) => {
      const before = this.cells.length;
      for (const { id } of zone.querySelectorAll("pre.cells")) {
        current.add(id);
        this.cells.push(...this.#chunks.get(id).cells);
      }
      return this.cells.length - before;
    });
    for (const id of this.#chunks.keys()) if (!current.has(id)) this.#chunks.delete(id);
    return counts;
  }

  // Reads the verdicts of the shown cycle and the matches of the filter; returns whether they are new.
  readVerdicts() {
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

  // detailed: cells show every verdict.
  codeOf(index, detailed) {
    return (detailed ? this.#codes : this.#marked)[index] ?? ".";
  }

  wordsOf(index) {
    return this.#words[this.#codes[index]];
  }

  matches(index) {
    return this.#bright === "" || this.#bright[index] === "+";
  }
}
