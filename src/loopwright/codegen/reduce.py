"""Partial results of reductions in C: where they start, and how two of them become one."""

from __future__ import annotations

from typing import assert_never

from loopwright.analysis import reductions
from loopwright.analysis.facts import Reduction, ReductionOp
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.ir.types import Scalar


def identity(op: ReductionOp, scalar: Scalar) -> str:
    """C text of the value that changes nothing."""
    constant = reductions.identity(op, scalar)
    return literal(constant.value, scalar)


def combine(op: ReductionOp, scalar: Scalar, left: str, right: str) -> str:
    """C text of the two partial results in one; `left` is the one from earlier iterations."""
    name = VALUE_TYPE[scalar.name]
    match op:
        case "add" | "mul" | "and" | "or" | "xor":
            sign = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}[op]
            return f"(({name})({left} {sign} {right}))"
        case "min" | "max":
            return f"LW_{op.upper()}({name}, {left}, {right})"
        case "minimum" | "maximum" | "fmin" | "fmax":
            if scalar.is_float:
                return f"lw_{op}_{scalar.name}({left}, {right})"
            return f"LW_{'MIN' if 'min' in op else 'MAX'}({name}, {left}, {right})"
    assert_never(op)


def is_better(reduction: Reduction, value: str, best: str, place: str, at: str) -> str:
    """C text of whether a partial result of later iterations takes the place of one from earlier ones: its value, or
    where these are equal its place (C texts too, those of the other one are `best` and `at`)."""
    sign = ">" if reduction.op in ("max", "maximum") else "<"
    better, same = f"{value} {sign} {best}", f"{value} == {best}"
    if reduction.op in ("minimum", "maximum"):  # a NaN comes before all
        better = f"{better} || ({value} != {value} && {best} == {best})"
        same = f"({same} || ({value} != {value} && {best} != {best}))"
    match reduction.tie:
        case "first":
            return better
        case "last":
            return f"{better} || {same}" if reduction.op in ("minimum", "maximum") else f"{value} {sign}= {best}"
        case _:
            other = "<" if reduction.tie == "least" else ">"
            return f"{better} || ({same} && {place} {other} {at})"


def simd_operator(reduction: Reduction, scalar: Scalar) -> str | None:
    """The operator of OpenMP's reduction clause, or None where lanes would not keep the meaning."""
    if reduction.by:
        return None
    match reduction.op:
        case "add":
            return "+"
        case "mul":
            return "*"
        case "and" | "or" | "xor":
            return {"and": "&", "or": "|", "xor": "^"}[reduction.op]
        case "min" | "max":
            return reduction.op
        case "minimum" | "maximum" if scalar.is_float:
            return f"lw_{reduction.op}"  # loopwright.h declares it
        case "minimum" | "maximum" | "fmin" | "fmax":
            return None if scalar.is_float else ("min" if "min" in reduction.op else "max")
    assert_never(reduction.op)
