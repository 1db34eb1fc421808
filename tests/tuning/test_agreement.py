"""What counts as the same result."""

from __future__ import annotations

import numpy as np
import pytest

from loopwright.tuning.agreement import disagreement

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ([1.0, NAN, INF, -INF], [1.0 + 1e-12, NAN, INF, -INF]),
        ([1e6, 1.0], [1e6, 1.0001]),  # a cancelled sum beside a large one
        ([], []),
    ],
)
def test_rounding_is_no_disagreement(expected: list[float], found: list[float]) -> None:
    assert disagreement((np.array(expected),), (np.array(found),), False) == ""


@pytest.mark.parametrize(
    ("expected", "found"),
    [([1.0, 2.0], [1.0, 2.001]), ([NAN], [0.0]), ([0.0], [NAN]), ([INF], [-INF]), ([INF], [1.0]), ([0.0], [1e-3])],
)
def test_more_than_rounding_is(expected: list[float], found: list[float]) -> None:
    assert "1 of " in disagreement((np.array(expected),), (np.array(found),), False)


def test_whole_numbers_and_strict_floats_are_compared_to_the_last_bit() -> None:
    assert disagreement((np.array([2**53]),), (np.array([2**53 + 1]),), False)
    one, other = np.array([1.0, NAN]), np.array([np.nextafter(1.0, 2), NAN])
    assert disagreement((one,), (other,), True) and not disagreement((one,), (one.copy(),), True)


def test_complex_numbers_are_compared_as_pairs() -> None:
    one = np.array([1.0, 1e-17j, complex(NAN, 2.0)])
    assert disagreement((one, 2j), (one + 1e-16, 2j + 1e-14), False) == ""
    assert "1 of 6" in disagreement((one,), (one + np.array([0, 0, 1j]),), False)
    assert disagreement((2j,), (2j + 1e-15,), True) and disagreement((2j,), (2.0,), False)


def test_kinds_and_shapes() -> None:
    assert disagreement((1,), (1.0,), False) == "value 0: float instead of int"
    assert disagreement((None, (1, 2.0)), (None, (1, 2.0)), False) == ""
    assert "float32[2] instead of float64[2]" in disagreement((np.zeros(2),), (np.zeros(2, np.float32),), False)
    records = np.zeros(2, [("x", "f8"), ("k", "i4")])
    other = records.copy()
    assert disagreement((records,), (other,), False) == ""
    other["k"][1] = 1
    assert "1 instead of 0 at [1]" in disagreement((records,), (other,), False)
