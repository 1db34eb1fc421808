"""What is known of one case, and how it is shown and kept."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

OURS = "loopwright"


@dataclass
class Row:
    """One case: what it moves (`unit` B) or computes (op) or calls (call), and the median seconds of each contender.

    limit_s: what Loopwright is held to, at the copy bandwidth of this run or at a library's speed; None for neither.
    agrees: whether the results are the same; None where nothing was there to compare with. fault: why there is no
    result, '' for none; note: what else to know, such as that a larger size would have taken too long."""

    part: str
    case: str
    size: str
    work: float
    unit: str
    limit_s: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    agrees: bool | None = None
    fault: str = ""
    note: str = ""

    @property
    def ours(self) -> float | None:
        """Seconds of Loopwright."""
        return self.seconds.get(OURS)

    def ratio(self, peer: str) -> float | None:
        """How many times as fast as a peer; None where one of the two has no time or the results differ."""
        theirs = self.seconds.get(peer)
        return theirs / self.ours if theirs and self.ours and self.agrees is not False and not self.fault else None

    def text(self) -> str:
        """The times and rates in one line."""
        if self.unit == "call":
            rates = ", ".join(f"{who} {seconds * 1e6:.1f} us" for who, seconds in self.seconds.items())
        else:
            rates = ", ".join(f"{who} {self._rate(seconds)}" for who, seconds in self.seconds.items())
        limit = f"; {self.limit_s / self.ours:.2f} of the limit" if self.limit_s and self.ours else ""
        limit += self._beside()
        wrong = "" if self.agrees is not False else "; RESULTS DIFFER"
        rest = "".join(f"; {text}" for text in (self.fault, self.note) if text)
        return rates + limit + wrong + rest

    def _beside(self) -> str:
        """How many times as fast as the fastest of the others."""
        best = min((who for who in self.seconds if who != OURS), key=lambda who: self.seconds[who], default="")
        ratio = self.ratio(best)
        return f"; {ratio:.2f} times as fast as {best}" if ratio else ""

    def _rate(self, seconds: float) -> str:
        return f"{self.work / seconds / 1e9:.4g} G{self.unit}/s" if seconds else "-"


def geometric_mean(values: Sequence[float]) -> float:
    """Of positive numbers; NaN of none."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def against(rows: Sequence[Row], part: str, peer: str) -> dict[str, Any]:
    """A part beside one peer: the geometric mean of the ratios, each of them, the smallest first, and what is not among
    them, because a time is missing or the results differ."""
    mine = [row for row in rows if row.part == part]
    each = {row.case: ratio for row in mine if (ratio := row.ratio(peer)) is not None}
    ascending = dict(sorted(each.items(), key=lambda one: one[1]))
    missing = [row.case for row in mine if row.case not in each]
    return {"mean": geometric_mean(list(each.values())), "ratios": ascending, "missing": missing}


def kept(path: Path, told: dict[str, Any]) -> list[Row]:
    """The rows of an earlier run that need not be measured again: those without a fault, of the same GPU, the same
    sizes and the same Loopwright."""
    if not path.exists():
        return []
    before = json.loads(path.read_text())
    if any(before.get(name) != told.get(name) for name in ("gpu", "asked", "revision")):
        return []
    return [row for row in (Row(**one) for one in before["rows"]) if not row.fault]


def write(path: Path, told: dict[str, Any], rows: Sequence[Row]) -> None:
    """Everything so far; a file that is read meanwhile, or left by a crash, is whole."""
    text = json.dumps(told | {"rows": [asdict(row) for row in rows]}, indent=1) + "\n"
    part = path.with_suffix(".part")
    part.write_text(text)
    part.replace(path)


def table_of(rows: Sequence[Row], title: str) -> Table:
    """All rows."""
    shown = Table(title=title)
    for heading in ("part", "case", "size", "rates", "agrees"):
        shown.add_column(heading)
    for row in rows:
        shown.add_row(row.part, row.case, row.size, row.text(), {True: "yes", False: "NO", None: "-"}[row.agrees])
    return shown
