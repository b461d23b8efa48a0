// Marks the tile of the node on which a step of a preemption is shown, with a badge beside it.
import { shownStage } from "./play.js";

export class StageTile {
  index = -1; // of the tile; -1: no step is shown
  #element;
  #layout;

  constructor(element, layout) {
    this.#element = element;
    this.#layout = layout;
  }

  // width: of the pane.
  place(cells, width) {
    const stage = shownStage();
    this.index = stage ? cells.findIndex(({ name }) => name === stage.node) : -1;
    this.#element.hidden = this.index < 0;
    if (this.index < 0) return;
    this.#layout.placeOver(this.#element, this.index);
    const { x, y } = this.#layout.cornerOf(this.index);
    this.#element.classList.toggle("to-left", x > width / 2);
    this.#element.classList.toggle("to-top", y > this.#layout.height / 2);
    const badge = this.#element.firstElementChild;
    badge.textContent = [stage.badge, stage.tally].filter(Boolean).join(" · ");
    badge.classList.toggle("fits", Boolean(stage.fits));
  }

  // The cell as it is in the step: with the requests of the pods that are there.
  withStep(cell, index) {
    const { full, cpu, memory } = index === this.index ? shownStage() : {};
    return full === undefined ? cell : { ...cell, full: Number(full), cpu, memory };
  }
}
