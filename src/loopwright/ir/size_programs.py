"""Sizes of results as the launcher computes them: programs in postfix order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from loopwright.ir.nodes import Binary, Call, Cast, Compare, Const, Dim, Expr, Kernel, Logical, Select, Unary, Var
from loopwright.ir.types import FLOAT64, INT64

OPERATIONS = (
    "number", "dim", "argument",
    "add int64", "sub int64", "mul int64", "floordiv int64", "min int64", "max int64", "mod int64", "pow int64",
    "shl int64", "shr int64",
    "add float64", "sub float64", "mul float64", "truediv float64", "min float64", "max float64",
    "floor", "ceil", "trunc", "rint", "sqrt", "to float64", "to int64",
    "eq int64", "ne int64", "lt int64", "le int64", "eq float64", "ne float64", "lt float64", "le float64",
    "select", "log", "log2", "log10", "exp", "pow float64", "abs int64", "abs float64",
)  # fmt: skip
"""By their numbers: number n (of a float its bits), dim position axis, argument position; the others take what is last
in the stack. The launcher leaves what does not fit int64, and what Python would not compute, to Python. Keep in step
with devices/launcher_results.c."""
CODES = {name: code for code, name in enumerate(OPERATIONS)}
TURNED = {"gt": "lt", "ge": "le"}

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
    found = _program(size, positions)
    return found if found is not None and len(found) <= LONGEST else None


def _program(size: Expr, positions: Mapping[str, int]) -> Program | None:
    name = ""
    parts: tuple[Expr, ...] = ()
    match size:
        case Const(value=int() as value, type=kind) if kind == INT64:
            return CODES["number"], value
        case Const(value=float() as value, type=kind) if kind == FLOAT64:
            return CODES["number"], int(np.float64(value).view(np.int64))
        case Dim(array=array, axis=axis):
            return CODES["dim"], positions[array], axis
        case Var(name=of, type=kind) if kind in (INT64, FLOAT64) and of in positions:
            return CODES["argument"], positions[of]
        case Binary(op=op, left=left, right=right, type=kind):
            name, parts = f"{op} {kind}", (left, right)
        case Compare(op=op, left=left, right=right):
            name, parts = f"{TURNED.get(op, op)} {left.type}", (right, left) if op in TURNED else (left, right)
        case Select(condition=condition, then=then, otherwise=otherwise, type=kind) if kind in (INT64, FLOAT64):
            name, parts = "select", (condition, then, otherwise)
        case Logical(op=op, left=left, right=right):
            chosen = (right, Const(0, INT64)) if op == "and" else (Const(1, INT64), right)
            name, parts = "select", (left, *chosen)
        case Unary(op="not", operand=operand):
            name, parts = "select", (operand, Const(0, INT64), Const(1, INT64))
        case Unary(op="neg", operand=operand, type=kind) if kind == INT64:
            name, parts = "sub int64", (Const(0, INT64), operand)
        case Unary(op="neg", operand=operand, type=kind) if kind == FLOAT64:
            name, parts = "mul float64", (Const(-1.0, FLOAT64), operand)
        case Unary(op="abs", operand=operand, type=kind):
            name, parts = f"abs {kind}", (operand,)
        case Call(function=function, arguments=arguments, type=kind) if kind == FLOAT64:
            name, parts = function, arguments
        case Cast(operand=operand, type=kind) if {operand.type, kind} == {INT64, FLOAT64}:
            name, parts = f"to {kind}", (operand,)
        case _:
            pass
    programs = [_program(part, positions) for part in parts]
    if name not in CODES or None in programs:
        return None
    return (*(code for one in programs for code in one or ()), CODES[name])
