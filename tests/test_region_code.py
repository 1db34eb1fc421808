"""How elements of one array are updated by those of another: as the interpreter puts two partial results together. And
what several devices of a kind share."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import loopwright as lw
from loopwright import compiler, region_code
from loopwright.analysis import reach as reaching
from loopwright.analysis.facts import ReductionOp
from loopwright.analysis.reductions import combined, identity
from loopwright.ir.interp import evaluation
from loopwright.ir.nodes import Var
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT8, INT64, UINT16, Scalar
from loopwright.region_code import _update

SPECIAL = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -2.25]


def some(scalar: Scalar) -> Any:
    if scalar.is_float:
        return np.array(SPECIAL, scalar.dtype)
    if scalar == BOOL:
        return np.array([False, True])
    return np.array([scalar.minimum, scalar.maximum, 0, 1, 7], scalar.dtype)


def bits(array: Any, op: str = "") -> bytes:
    """Every NaN is the same; which zero fmin and fmax take is left open."""
    if array.dtype.kind == "f":
        array = np.where(array != array, np.nan, array + 0.0 if op in ("fmin", "fmax") else array).astype(array.dtype)
    return bytes(array.tobytes())


@pytest.mark.parametrize("op", get_args(ReductionOp))
@pytest.mark.parametrize("scalar", [BOOL, INT8, UINT16, INT64, FLOAT32, FLOAT64], ids=lambda one: one.name)
def test_elements_are_updated_as_the_interpreter_would(op: ReductionOp, scalar: Scalar) -> None:
    if (scalar.is_float and op in ("and", "or", "xor")) or (scalar == BOOL and op in ("add", "mul")):
        return
    left, right = (one.ravel().copy() for one in np.meshgrid(some(scalar), some(scalar)))
    together = evaluation(combined(op, Var("a", scalar), Var("b", scalar)))
    with np.errstate(all="ignore"):
        expected = np.array([together({"a": a, "b": b}) for a, b in zip(left, right, strict=True)], scalar.dtype)
        nothing = np.full_like(left, identity(op, scalar).value)
        _update(op, nothing, left)
        _update(op, left, right)
    assert bits(left, op) == bits(expected, op)
    if op in ("add", "mul", "and", "or", "xor"):
        assert bits(nothing) == bits(np.meshgrid(some(scalar), some(scalar))[0].ravel())


def test_what_gpus_run_is_generated_for_the_first_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    generated: list[str] = []
    reached: list[object] = []
    real, reach = compiler.program_of, reaching.reach

    def noting(found: Any, wanted: Any, waits: bool = True) -> Any:
        generated.append("gpu" if wanted.on_gpu else "cpu")
        return real(found, wanted, waits)

    monkeypatch.setattr(region_code.compiler, "program_of", noting)
    monkeypatch.setattr(reaching, "reach", lambda *given: (reached.append(given[2]), reach(*given))[1])

    @lw.kernel
    def doubled(a, b):
        for i in range(a.shape[0]):
            b[i] = 2.0 * a[i]

    a, b = np.arange(900.0), np.zeros(900)
    with lw.options(devices="cpu, emulated, emulated:1, emulated:2", plan="split"):
        for _ in range(3):
            doubled(a, b)
    assert np.array_equal(b, 2 * a)
    assert generated.count("gpu") == 1 and len(reached) == len({id(one) for one in reached})
