"use strict";
// A click on a column's head sorts its table, and so do Enter and the space bar on it; a cell's data-sort stands for its
// text. Rows that explain the row above them stay below it, and cells without a number below those with one.
const numberOf = (text) => {
  const found = text.replace(/,/g, "").replace("\u2212", "-").match(/^[+-]?\d+(\.\d+)?/);
  return found ? parseFloat(found[0]) : NaN;
};
const compare = (a, b, sign) => {
  const x = numberOf(a), y = numberOf(b);
  if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return sign * a.localeCompare(b);
};
for (const table of document.querySelectorAll("table")) {
  const heads = [...table.querySelectorAll("thead th")];
  heads.forEach((head, column) => {
    head.tabIndex = 0;
    head.title = "sort";
    const sort = () => {
      const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
      for (const body of table.tBodies) {
        const groups = [];
        for (const row of body.rows) {
          if (row.classList.contains("why")) groups[groups.length - 1].push(row);
          else groups.push([row]);
        }
        const key = ([{cells}]) => cells[column]?.dataset.sort ?? cells[column]?.textContent.trim() ?? "";
        groups.sort((a, b) => compare(key(a), key(b), sign));
        groups.flat().forEach((row) => body.append(row));
      }
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort();
    });
  });
}
