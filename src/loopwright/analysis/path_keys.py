"""One number for a path vector, by which iterations are sorted: those with equal branches stand together, and among
these those whose inner loops run about as long, the longest first, so that what is left at the end is short (longest
processing time first; Zhang's thesis, sections 2.2 and 3.4, on trip counts, path vectors and several loops). There are
256 numbers, so that one pass of a counting sort is enough: 256 classes of a single trip count tell apart what differs
by 9 %.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.analysis.path_vectors import PathEntry
from loopwright.ir.linear import least, minus, number, plus, times
from loopwright.ir.nodes import Binary, Call, Cast, Const, Expr, Var
from loopwright.ir.types import FLOAT64, INT64

BITS = 8
CLASSES = 1 << BITS
"""Keys are from 0 to 255."""
MOST_BRANCHES = 3
"""Branches beside trip counts: each halves the classes that are left for these."""
OCTAVES = 5
"""Bits for the order of magnitude of a trip count, up to 2^32."""


def key_of(entries: Sequence[PathEntry]) -> Expr | None:
    """The key of an iteration, over the scalars of the entries; None where there are none. The first branches of the
    text count most; further ones are left out."""
    trips = [entry for entry in entries if entry.kind == "trips"]
    branches = [entry for entry in entries if entry.kind == "branch"][: MOST_BRANCHES if trips else BITS]
    if not entries:
        return None
    width = BITS - len(branches) if trips else 0
    key = _long_first(trips, width) if trips else number(0)
    for place, entry in enumerate(branches):
        key = plus(key, times(Var(entry.scalar, INT64), 1 << (width + len(branches) - 1 - place)))
    return key


def _long_first(trips: Sequence[PathEntry], width: int) -> Expr:
    """The class of all trip counts together, of 2^width, counted down: so many for each factor of two."""
    total: Expr = Var(trips[0].scalar, INT64)
    for entry in trips[1:]:
        total = Binary("add", total, Var(entry.scalar, INT64))
    magnitude = Call("log2", (Cast(plus(total, 1), FLOAT64),), FLOAT64)
    scaled = Binary("mul", magnitude, Const(2.0 ** (width - OCTAVES), FLOAT64))
    last = number((1 << width) - 1)
    return minus(last, least(Cast(Call("floor", (scaled,), FLOAT64), INT64), last))
