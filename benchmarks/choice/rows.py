"""What is known of one case, and the file in which rows are kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Row:
    """One case of a part. values: what it comes to. table: what was measured for it, one dictionary for each variant or
    call. done: whether nothing is missing. fault: why there is no result, '' for none."""

    part: str
    case: str
    values: dict[str, Any] = field(default_factory=dict)
    table: list[dict[str, Any]] = field(default_factory=list)
    done: bool = False
    fault: str = ""


SAME = ("machine", "device", "size", "revision")
"""What must be equal for the rows of an earlier run to be kept."""


class Book:
    """The rows of one run, kept in a file that is whole at any time. path None: in memory alone."""

    def __init__(self, path: Path | None, told: dict[str, Any]) -> None:
        self._path, self.told = path, told
        self.rows: list[Row] = _kept(path, told)

    def row(self, part: str, case: str) -> Row:
        """The row of a case, whatever there is of it; a new one where there is nothing, or only a fault."""
        for row in self.rows:
            if (row.part, row.case) == (part, case):
                return row
        row = Row(part, case)
        self.rows.append(row)
        return row

    def of(self, part: str) -> Sequence[Row]:
        """The rows of a part that are done."""
        return [row for row in self.rows if row.part == part and row.done]

    def write(self) -> None:
        """Keep everything so far. Raises OSError."""
        if self._path is None:
            return
        body = {**self.told, "rows": [asdict(row) for row in self.rows]}
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(body, indent=None, separators=(",", ":")).replace('{"part"', '\n{"part"') + "\n")
        part.replace(self._path)


def told(path: Path) -> dict[str, Any]:
    """What the rows of a file rest on."""
    return {name: value for name, value in json.loads(path.read_text()).items() if name != "rows"}


def _kept(path: Path | None, told: dict[str, Any]) -> list[Row]:
    """Those without a fault, of the same machine, sizes and Loopwright. Raises ValueError where the file is none."""
    if path is None or not path.exists():
        return []
    before = json.loads(path.read_text())
    if any(before.get(name) != told.get(name) for name in SAME):
        return []
    return [row for row in (Row(**one) for one in before["rows"]) if not row.fault]
