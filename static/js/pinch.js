// Two fingers that move apart or together on an element. zoom is called with the factor of each move.
export class Pinch {
  #positions = new Map(); // a pointer's id -> its last event
  #distance = 0; // between two fingers; 0: not measured yet
  #zoom;

  constructor(element, zoom) {
    this.#zoom = zoom;
    element.addEventListener("pointerdown", (event) => this.#begin(event));
    element.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
      element.addEventListener(end, (event) => this.#end(event));
    }
  }

  get fingers() {
    return this.#positions.size;
  }

  #begin(event) {
    this.#positions.set(event.pointerId, event);
    this.#distance = 0;
  }

  #move(event) {
    if (this.#positions.has(event.pointerId)) this.#positions.set(event.pointerId, event);
    if (this.fingers !== 2) return;
    const [one, other] = [...this.#positions.values()];
    const distance = Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    if (this.#distance) this.#zoom(distance / this.#distance);
    this.#distance = distance;
  }

  #end(event) {
    this.#positions.delete(event.pointerId);
    this.#distance = 0;
  }
}
