"""What is known of what index arrays count before it gets other numbers on a GPU (`renumber`), from some rows of the
table in a call: whether neighbours have numbers near one another, and what finding better ones costs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from loopwright.analysis.path_vectors import trips_of
from loopwright.compiler import Analysed
from loopwright.devices.gpu import Gpu
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Const, Expr, For, Kernel, Load, Return, ReturnedScalar
from loopwright.ir.queries import has, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import loops
from loopwright.memory.offload import copies_on_host
from loopwright.predict.remapped import BYTES_PER_S, RemapMeasures
from loopwright.steps.renumber import Renumber, space_of

LONGER_NS = 4_000_000_000
"""How much longer than usual it takes to make the code: it has many kernels, and the loop twice."""
THING_S, ORDER_S = 2.7e-9, 1e-3
"""What finding the order, and all copies, take for each thing, and in any case (on an H100 12 ms for 2^22)."""
SPARED = 0.4
"""Of the time of a sweep whose neighbours are far apart, what is left once they are not: at best 0.2, at worst 0.8."""
NEAR = 64
"""Numbers that differ by more are far apart: their elements are in other lines, which other blocks use."""
ROWS = 4096
ROOM = 3
"""So many times the bytes of all arrays have to be free."""


def numbers_inspected(
    found: Analysed, step: Renumber, arguments: tuple[object, ...], gpu: Gpu | None
) -> RemapMeasures | None:
    """Of a call; None where it cannot be told how often the loop runs, or where little memory is left."""
    kernel, loop = found.written, loops(found.written)[step.loop]
    space = space_of(kernel, loop, step.array, found.facts, strict=True)
    position = next((one.argument for one in kernel.arrays if one.name == step.array), None)
    if position is None or not isinstance(loop, For) or not isinstance(loop.step, Const):
        return None
    given = copies_on_host(arguments, {position})
    count, trips = (_number(kernel, expr, given) for expr in (space.count, trips_of(loop)))
    sizes = [value.nbytes for value in given if isinstance(value, np.ndarray)]
    if count is None or trips is None or gpu is None or gpu.free_bytes() < ROOM * sum(sizes):
        return None
    table = cast(Any, given[position])
    is_far = _far(np.asarray(table), space.axes.get(step.array, 0)) > 0.5
    after = SPARED if is_far and trips > 1 else 1.0
    extra = (ORDER_S + THING_S * count) * BYTES_PER_S
    return RemapMeasures(0, 1.0, after, 0.0, extra, 0.0, float("inf"))


def _far(table: np.ndarray[Any, Any], axis: int) -> float:
    """The part of some elements that differ much from those of the row before."""
    rows = np.moveaxis(table, axis, 0)
    if len(rows) < 2 or not table.size:
        return 0.0
    chosen = np.unique(np.linspace(1, len(rows) - 1, min(ROWS, len(rows) - 1)).astype(np.int64))
    difference = rows[chosen].astype(np.float64) - rows[chosen - 1].astype(np.float64)
    return float((np.abs(difference) > NEAR).mean())


def _number(kernel: Kernel, expr: Expr, arguments: tuple[object, ...]) -> int | None:
    """The value of an expression that sizes and scalar arguments tell."""
    if has(expr, Load) or not names_in(expr) <= {one.name for one in kernel.params}:
        return None
    asked = replace(kernel, body=(Return((expr,)),), results=(), returned=(ReturnedScalar(INT64, True),), packing=())
    return int(cast(Any, interpret(asked, list(arguments))))
