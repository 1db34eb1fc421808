"""Whole numbers that each iteration of a loop in lanes has for itself, in as few bits as they need, but no fewer than
what the loop reads, writes and computes in floats: a Python int of pixels would fill eight times as many registers.
Reads make them as wide again, and the C compiler knows which of their bits nothing depends on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loopwright.analysis.number_ranges import number_ranges
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.function import Writer
from loopwright.ir.code import Lanes
from loopwright.ir.nodes import Assign, For, Load, Store
from loopwright.ir.types import INT8, INT16, INT32, UINT8, UINT16, UINT32, Scalar
from loopwright.ir.walk import expressions, statements

NARROW = (UINT8, INT8, UINT16, INT16, INT32, UINT32)


@contextmanager
def narrow_scalars(loop: For, lanes: Lanes | None, w: Writer) -> Iterator[None]:
    """Within, what is written is the body of a loop that lanes do, or not."""
    renamed, widened = w.function.renamed, w.function.widened
    told = () if lanes is None else lanes.private  # OpenMP has one of these for each lane
    for name, kind in _narrow(loop, w).items() if lanes is not None and not w.function.on_device else ():
        if w.names.of(name) in told:
            continue
        text = w.fresh(f"lw_narrow_{w.names.of(name)}", VALUE_TYPE[kind.name])
        w.line(f"{VALUE_TYPE[kind.name]} {text};")
        w.function.renamed = w.function.renamed | {name: text}
        w.function.widened = w.function.widened | {name: VALUE_TYPE[w.scalars[name].name]}
    yield
    w.function.renamed, w.function.widened = renamed, widened


def _narrow(loop: For, w: Writer) -> dict[str, Scalar]:
    """The scalars that have fewer bits in a loop, with their types there."""
    facts = w.facts.loops.get(loop.name)
    if facts is None:
        return {}
    own = [
        name for name in dict.fromkeys(stmt.name for stmt in statements(loop.body, Assign))
        if name in facts.private and name not in facts.last and name not in w.function.renamed
        and w.scalars[name].is_integer and w.scalars[name].bits > 8
    ]  # fmt: skip
    parts = (part for part in expressions(loop.body) if isinstance(part, Load) or part.type.is_float)
    kinds = [*(part.type for part in parts), *(stmt.value.type for stmt in statements(loop.body, Store))]
    fewest = max((8 * kind.size_bytes for kind in kinds), default=64)
    found: dict[str, Scalar] = {}
    for name in own if fewest < 64 else ():
        given = number_ranges(w.kernel).scalars.get(name)
        fitting = (kind for kind in NARROW if fewest <= kind.bits < w.scalars[name].bits)
        if given is not None:
            kind = next((one for one in fitting if one.minimum <= given.low and given.high <= one.maximum), None)
            found |= {} if kind is None else {name: kind}
    return found
