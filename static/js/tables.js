// Tables whose columns sort their rows: a click, Enter or space on a heading; once more turns the order round.
// Frames bring tables or rows of them anew: what the reader chose is done again.
const chosen = new Map(); // table's name -> { column, down }

function value(row, column) {
  const cell = row.cells[column];
  const text = (cell.querySelector("[data-value]") ?? cell).dataset.value ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sort(table, { column, down }) {
  const body = table.tBodies[0];
  const rows = [...body.rows].sort((one, other) => compare(value(one, column), value(other, column)) * (down ? -1 : 1));
  if (rows.some((row, place) => row !== body.rows[place])) {
    const kept = document.activeElement;
    body.append(...rows);
    if (body.contains(kept)) kept.focus({ preventScroll: true });
  }
  for (const [index, heading] of [...table.tHead.rows[0].cells].entries()) {
    heading.toggleAttribute("aria-sort", index === column);
    if (index === column) heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
}

function prepare() {
  for (const table of document.querySelectorAll("table[data-sortable]:not([data-ready])")) {
    table.dataset.ready = "";
    for (const heading of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...heading.childNodes);
      heading.append(button);
    }
  }
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    const choice = chosen.get(table.dataset.sortable);
    if (choice && choice.column < table.tHead.rows[0].cells.length) sort(table, choice);
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button.sort");
  if (!button) return;
  const table = button.closest("table");
  const column = button.closest("th").cellIndex;
  const before = chosen.get(table.dataset.sortable);
  // Numbers are of interest from the top, names from the start.
  const numbers = [...table.tBodies[0].rows].every((row) => typeof value(row, column) === "number");
  const choice = { column, down: before?.column === column ? !before.down : numbers };
  chosen.set(table.dataset.sortable, choice);
  sort(table, choice);
});

document.body.addEventListener("frame", prepare);
document.addEventListener("htmx:afterSwap", prepare);
prepare();
