"""Generated code under gcc's address and undefined-behaviour sanitizers, and under valgrind: a sample of the random
programs (`make fuzz` takes all of them), and planted faults, which have to be found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.codegen.openmp import HEADER

from . import drivers
from .arguments import Cells
from .drivers import Made, calls_of, found_by_sanitizers, found_by_valgrind, has_sanitizers, has_valgrind, watched

SAMPLE = range(40_000, 40_024)
SANITIZERS = pytest.param(found_by_sanitizers, marks=pytest.mark.skipif(not has_sanitizers(), reason="no libasan here"))
VALGRIND = pytest.param(found_by_valgrind, marks=pytest.mark.skipif(not has_valgrind(), reason="no valgrind here"))

SUM = """
import numpy as np

def kernel(a):
    x = 0.0
    for i in range(len(a)):
        x += a[i]
    return x
"""
CODE = """
int32_t lw_entry(const lw_call *call) {
  double *a = (double *)call->data[0];
  double x;
  for (int64_t i = 0; i < call->shape[0][0]; ++i) x = a[i];
  call->returned[0].d = x;
  return 0;
}
"""


@pytest.mark.parametrize("checker", [SANITIZERS, VALGRIND])
def test_nothing_is_found_in_random_programs(checker: Callable[..., str], tmp_path: Path) -> None:
    assert checker(SAMPLE, tmp_path) == ""


def test_most_programs_have_calls_that_can_be_watched() -> None:
    calls = [call for seed in SAMPLE for call in calls_of(seed, 1)]
    assert len({call.seed for call in calls}) > 0.7 * len(SAMPLE)
    assert len(calls) > len(SAMPLE)


def _planted(monkeypatch: pytest.MonkeyPatch, code: str, size: int) -> list[Made]:
    """A call with an array of so many float64 that gives one number back, of this code instead of the kernel's."""
    one = replace(drivers.program(0), source=SUM, calls=((Cells("a", "float64", (size,)),),))
    monkeypatch.setattr(drivers, "program", lambda seed: one)
    [call] = calls_of(1, 1)
    return [replace(call, code=replace(call.code, text=HEADER + code), body=call.body.replace("GUARD(&call)", "1"))]


@pytest.mark.skipif(not has_valgrind(), reason="no valgrind here")
def test_a_number_that_nothing_gave_a_value_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    valgrind = (drivers.WATCHED, drivers.VALGRIND, tmp_path, {})
    assert "uninitialised" in watched(_planted(monkeypatch, CODE, 0), *valgrind)
    assert watched(_planted(monkeypatch, CODE, 3), *valgrind) == ""


@pytest.mark.skipif(not has_sanitizers(), reason="no libasan here")
def test_an_access_beyond_an_array_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    beyond = CODE.replace("double x;", "double x = 0;").replace("x = a[i]", "x = a[i + 1]")
    text = watched(_planted(monkeypatch, beyond, 3), drivers.SANITIZED, (), tmp_path, {})
    assert "heap-buffer-overflow" in text and "program_1_call_0" in text


@pytest.mark.skipif(not has_sanitizers(), reason="no libasan here")
def test_behaviour_that_c_leaves_undefined_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shifted = CODE.replace("double x;", "double x = 0;").replace("x = a[i]", "x += 1 << (32 + (int)i)")
    assert "shift exponent" in watched(_planted(monkeypatch, shifted, 3), drivers.SANITIZED, (), tmp_path, {})
