// Where the cells of the grid are: groups below each other, each with a heading and rows of cells. All numbers are pixels from
// the top left corner of the whole drawing, which is scrolled in its pane.
const SMALLEST = 6;
const LARGEST = 170;
const DEFAULT = 28; // the size of cells if all of them fit
const HEADING = 26;
const PAD = 12;
const FLAT = 40; // minimum size at which cells are wider than high, with pods as blocks
const FLATNESS = 0.62;

function rowHeightOf(size) {
  return size < FLAT ? size : size * FLATNESS;
}

export class GridLayout {
  groups = []; // { first, count, top, height }; first: the index of the group's first cell among all
  size = DEFAULT; // the width of a cell with the gap beside it
  height = 0;
  #chosenSize = 0; // 0: the size at which all cells fit
  #columns = 1;
  #width = 0;
  #paneHeight = 0;

  get rowHeight() {
    return rowHeightOf(this.size);
  }

  get gap() {
    if (this.size < 12) return 1;
    return this.size < FLAT ? 2 : 6;
  }

  // Sets how many cells each group has. The groups keep their places until arrange() computes new ones.
  setGroups(counts) {
    let first = 0;
    this.groups = counts.map((count, index) => {
      const { top, height } = this.groups[index] ?? { top: 0, height: 0 };
      const group = { first, count, top, height };
      first += count;
      return group;
    });
  }

  // Computes the places of all groups for a pane of this size.
  arrange(paneWidth, paneHeight) {
    this.#width = paneWidth - 2 * PAD;
    this.#paneHeight = paneHeight;
    this.size = this.#chosenSize || this.#fittingSize();
    this.#columns = this.#columnsFor(this.size);
    this.height = 0;
    for (const group of this.groups) {
      group.top = this.height;
      group.height = HEADING + Math.ceil(group.count / this.#columns) * this.rowHeight + PAD;
      this.height += group.height;
    }
  }

  // Chooses a size for the next arrange().
  scale(factor) {
    const fitting = this.#fittingSize();
    const chosen = Math.max(Math.min(fitting, SMALLEST), Math.min(LARGEST, this.size * factor));
    const fits = Math.abs(chosen - fitting) < 0.5 || (factor < 1 && chosen < fitting);
    this.#chosenSize = fits ? 0 : chosen;
  }

  // Chooses the size at which all cells fit, for the next arrange().
  fitAll() {
    this.#chosenSize = 0;
  }

  // The left top corner of a cell.
  cornerOf(index) {
    const group = this.groupOf(index);
    const place = index - group.first;
    const row = Math.floor(place / this.#columns);
    return { x: PAD + (place % this.#columns) * this.size, y: group.top + HEADING + row * this.rowHeight };
  }

  // Places an element of the drawing over a cell.
  placeOver(element, index) {
    const { x, y } = this.cornerOf(index);
    Object.assign(element.style, {
      transform: `translate(${x}px, ${y}px)`,
      width: `${this.size - this.gap}px`,
      height: `${this.rowHeight - this.gap}px`,
    });
  }

  groupOf(index) {
    return this.groups.find((group) => index < group.first + group.count);
  }

  // The index of the cell at a point, or -1.
  indexAt(x, y) {
    const column = Math.floor((x - PAD) / this.size);
    const group = this.groups.find((each) => y >= each.top && y < each.top + each.height);
    if (!group || column < 0 || column >= this.#columns || y < group.top + HEADING) return -1;
    const place = Math.floor((y - group.top - HEADING) / this.rowHeight) * this.#columns + column;
    return place < group.count ? group.first + place : -1;
  }

  // The indices of the cells of a group in the rows that are visible between two heights.
  *indicesBetween(group, from, to) {
    if (group.top + group.height < from || group.top > to) return;
    const firstRow = Math.max(0, Math.floor((from - group.top - HEADING) / this.rowHeight));
    const lastRow = Math.ceil((to - group.top - HEADING) / this.rowHeight);
    const end = Math.min(group.count, (lastRow + 1) * this.#columns);
    for (let place = firstRow * this.#columns; place < end; place += 1) yield group.first + place;
  }

  // The cell in the next row (direction 1) or the previous one (-1), which may be in another group.
  nextRow(index, direction) {
    const group = this.groupOf(index);
    if (!group) return index;
    const next = index + direction * this.#columns;
    if (next >= group.first && next < group.first + group.count) return next;
    const neighbour = this.groups[this.groups.indexOf(group) + direction];
    if (!neighbour) return index;
    const column = (index - group.first) % this.#columns;
    const row = direction > 0 ? 0 : Math.ceil(neighbour.count / this.#columns) - 1;
    return neighbour.first + Math.min(neighbour.count - 1, row * this.#columns + column);
  }

  #columnsFor(size) {
    return Math.max(1, Math.floor(this.#width / size));
  }

  #heightFor(size) {
    const columns = this.#columnsFor(size);
    return this.groups.reduce(
      (sum, { count }) => sum + HEADING + Math.ceil(count / columns) * rowHeightOf(size) + PAD,
      0,
    );
  }

  #fittingSize() {
    let size = DEFAULT;
    while (size > SMALLEST && this.#heightFor(size) > this.#paneHeight) size -= 0.5;
    return size;
  }
}
