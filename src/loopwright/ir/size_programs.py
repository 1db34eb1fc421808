"""Sizes of results as the launcher computes them: whole numbers in postfix order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loopwright.ir.nodes import Binary, Const, Dim, Expr, Kernel, Var
from loopwright.ir.types import INT64

NUMBER, DIM, ARGUMENT = range(3)
OPERATORS = {"add": 3, "sub": 4, "mul": 5, "floordiv": 6, "min": 7, "max": 8}
"""(NUMBER, n), (DIM, position, axis), (ARGUMENT, position), and operators of the two numbers before. Keep in step with
devices/launcher_results.c."""

LONGEST = 64
Program = tuple[int, ...]
Results = tuple[tuple[Any, object, tuple[Program, ...]], ...]
"""For each array: dtype, what fills it (None: nothing; the integer 0: zeros of any type), a program for each axis."""


def results_of(kernel: Kernel) -> Results | None:
    """How the launcher makes a kernel's results; None where it has no words for one of them."""
    positions = {param.name: param.argument for param in kernel.params}
    found = []
    for result in kernel.results:
        programs = [size_program(size, positions) for size in result.shape]
        if None in programs:
            return None
        fill = None if result.fill is None else result.fill.value
        if repr(fill) in ("0", "0.0", "False"):  # not -0.0
            fill = 0
        found.append((result.element.dtype, fill, tuple(one for one in programs if one is not None)))
    return tuple(found)


def size_program(size: Expr, positions: Mapping[str, int]) -> Program | None:
    """The program of a size."""
    match size:
        case Const(value=int() as value):
            found: Program | None = (NUMBER, value)
        case Dim(array=array, axis=axis):
            found = (DIM, positions[array], axis)
        case Var(name=name, type=kind) if kind == INT64 and name in positions:
            found = (ARGUMENT, positions[name])
        case Binary(op=op, left=left, right=right, type=kind) if kind == INT64 and op in OPERATORS:
            one, other = size_program(left, positions), size_program(right, positions)
            found = None if one is None or other is None else (*one, *other, OPERATORS[op])
        case _:
            found = None
    return found if found is not None and len(found) <= LONGEST else None
