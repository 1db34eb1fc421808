"""Shifts by amounts that loops of constant bounds vary: `(x >> (7 - bit)) & 1` for bit in 0..8. C leaves open what a
shift by the width or more gives, which costs a test and a choice wherever the amount may be anything.
"""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.analysis.integers import Interval, KnownIntegers, interval_of
from loopwright.ir.nodes import Binary, For
from loopwright.ir.queries import names_in


def stays_inside(shift: Binary, loops: Mapping[str, For], spare: int = 0) -> bool:
    """Whether the amount is at least 0 and less than the width, or than all but `spare` bits of it. loops: by their
    names, those around it among them."""
    if shift.type.bits < 32:  # the amount has the same type, and might have wrapped on the way
        return False
    found = interval_of(shift.right, KnownIntegers(), dict(_ranges(shift, loops)))
    return found is not None and found[0] >= 0 and found[1] < shift.type.bits - spare


def _ranges(shift: Binary, loops: Mapping[str, For]) -> list[tuple[str, Interval]]:
    turns = {name: KnownIntegers().turns(loops[name]) for name in names_in(shift.right) if name in loops}
    return [
        (name, (min(values[0], values[-1]), max(values[0], values[-1]))) for name, values in turns.items() if values
    ]
