"""Tables that a click on a head sorts: the page's only script. It is in the page itself, and the page lets no other one
run (a Content-Security-Policy with its digest). Without it, as on paper, tables are as they are written.
"""

from __future__ import annotations

import base64
import hashlib
from xml.etree.ElementTree import Element

from loopwright.report.element import Child, element

SCRIPT = """
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const key = (row, column) => {
    const cell = row.cells[column], marked = cell.querySelector("[data-key]");
    return marked ? Number(marked.dataset.key) : cell.textContent.trim();
  };
  const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
    : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b, "en", {numeric: true});
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach(other => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", way > 0 ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].map((row, place) => ({row, place, key: key(row, column)}));
      rows.sort((a, b) => a.key === "" || b.key === "" ? (a.key === "") - (b.key === "") || a.place - b.place
        : way * compare(a.key, b.key) || a.place - b.place);
      table.tBodies[0].append(...rows.map(one => one.row));
    });
  });
}
"""


def policy() -> str:
    """What the page allows: its own style, this script, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'"


def keyed(child: Child, key: float) -> Element:
    """What a cell shows, and the number by which it is sorted."""
    return element("span", child, data_key=repr(key))
