// Sorting by a heading: numbers as numbers, other texts by language, cells without a value last.
const NUMBER = /^-?[\d,]+(\.\d+)?$/;

function value(row, column) {
  const text = row.cells[column].textContent;
  return NUMBER.test(text) ? Number(text.replaceAll(",", "")) : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, undefined, { numeric: true });
}

function sort(table, cell, column) {
  const sign = cell.ariaSort === "ascending" ? -1 : 1;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row) => ({ row, key: value(row, column) }));
  const [known, missing] = [rows.filter(({ key }) => key !== "-"), rows.filter(({ key }) => key === "-")];
  known.sort((a, b) => sign * compare(a.key, b.key));
  body.replaceChildren(...[...known, ...missing].map(({ row }) => row));
  for (const other of table.tHead.rows[0].cells) other.ariaSort = "none";
  cell.ariaSort = sign === 1 ? "ascending" : "descending";
}

for (const table of document.querySelectorAll(".records table")) {
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    const button = document.createElement("button");
    button.textContent = cell.textContent;
    button.title = `Sort by ${cell.textContent}`;
    button.addEventListener("click", () => sort(table, cell, column));
    cell.replaceChildren(button);
  });
}
Promise.all(drawn).then(() => {
  document.documentElement.dataset.ready = "yes";
});
