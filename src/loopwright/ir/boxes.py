"""`Reach`: what a call does with an array, as boxes of indices whose ends are texts of sizes and scalar arguments.
analysis/reach.py finds it; whoever moves arrays to another memory asks it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import CodeType

_NAMES = {"__builtins__": {}, "min": min, "max": max}


class Box:
    """A box of indices. `where`: when it is not empty, '' for always; `ends`: the least and the greatest index along
    each axis where it is not: texts in Python's syntax of `s{argument}_{axis}` for sizes and `v{argument}` for
    scalars."""

    def __init__(self, where: str, ends: Sequence[tuple[str, str]]) -> None:
        self.where, self.ends = where, tuple(ends)
        self._code: CodeType | None = None

    def __repr__(self) -> str:
        return f"Box({self.where!r}, {self.ends!r})"

    def at(self, values: Mapping[str, int], shape: Sequence[int]) -> tuple[range, ...] | None:
        """The indices along each axis of an array of this shape, for values of sizes and scalars; None for none."""
        if self._code is None:
            ends = "".join(f"({low}, {high}), " for low, high in self.ends)
            self._code = compile(f"({ends}) if {self.where or True} else None", "<box>", "eval")
        ends_now = eval(self._code, _NAMES, dict(values))
        if ends_now is None:
            return None
        found = tuple(range(max(0, a), min(size, b + 1)) for (a, b), size in zip(ends_now, shape, strict=True))
        return found if all(found) else None


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call does with one array: boxes, None where nothing. Each may be wider than it has to be, so that
    `needed` and `written` may reach beyond `touched`."""

    touched: Box | None
    needed: Box | None
    written: Box | None
