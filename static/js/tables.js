// Sorts the rows of tables by a click on the heading of a column; a second click reverses the order. Frames replace tables and
// rows, so the order that was chosen is applied again.
import { addClick } from "./registry.js";

const chosen = new Map(); // the table's name -> { column, down }

function sortValue(row, column) {
  const cell = row.cells[column];
  const text = (cell.querySelector("[data-value]") ?? cell).dataset.value ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && !Number.isNaN(number) ? number : text;
}

function compare(a, b) {
  return typeof a === "number" && typeof b === "number"
    ? a - b
    : String(a).localeCompare(String(b), undefined, { numeric: true });
}

function sortRows(table, { column, down }) {
  const body = table.tBodies[0];
  const rows = [...body.rows].sort(
    (one, other) => compare(sortValue(one, column), sortValue(other, column)) * (down ? -1 : 1),
  );
  if (rows.some((row, place) => row !== body.rows[place])) {
    const focused = document.activeElement;
    body.append(...rows);
    if (body.contains(focused)) focused.focus({ preventScroll: true });
  }
  for (const [index, heading] of [...table.tHead.rows[0].cells].entries()) {
    heading.toggleAttribute("aria-sort", index === column);
    if (index === column) heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  }
}

// Puts a button into each heading of a new table.
function prepareTables() {
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
    if (choice && choice.column < table.tHead.rows[0].cells.length) sortRows(table, choice);
  }
}

addClick("button.sort", (button) => {
  const table = button.closest("table");
  const column = button.closest("th").cellIndex;
  const before = chosen.get(table.dataset.sortable);
  // Numbers start with the largest one, names with the first one.
  const numbers = [...table.tBodies[0].rows].every((row) => typeof sortValue(row, column) === "number");
  const choice = { column, down: before?.column === column ? !before.down : numbers };
  chosen.set(table.dataset.sortable, choice);
  sortRows(table, choice);
});
document.body.addEventListener("frame", prepareTables);
document.addEventListener("htmx:afterSwap", prepareTables);
prepareTables();
