"""Elements that a condition changes, stored in any case in lanes: which ones, and that they are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: float64[1] C, x: float64[1] C, k: int64[1] C, on: bool[1] C, out: float64[1] C):
    for i in 0 .. size(a, 0):
"""


@pytest.mark.parametrize(
    ("condition", "store", "is_kept"),
    [
        ("a[i] > 0.5", "a[i] = 0.5", True),
        ("x[i] < a[i]", "a[i] = x[i]", True),
        ("a[i] > 0.5 and x[i] < a[i]", "a[i] = x[i]", True),
        ("x[i] < 0.5", "a[i] = a[i] * 2.0", False),  # only behind the condition: test_held_elements.py
        ("k[i] != 3 and x[i] < a[i]", "a[i] = x[i]", False),
        ("not on[i] and x[i] < a[i]", "a[i] = x[i]", False),
        ("x[i] < 0.5", "a[i] = x[i]", False),
        ("a[i] > 0.5", "out[i] = 0.5", False),
        ("a[i] > 0.5", "a[i] = x[k[i]]", False),  # what is read may not be there
        ("x[k[i]] < a[i]", "a[i] = 0.5", False),
        ("a[i] > 0.5", "a[i] = sin(a[i])", False),  # it takes long
    ],
)
def test_which(condition: str, store: str, is_kept: bool) -> None:
    text = f"{HEAD}        if {condition}:\n            {store}\n"
    assert (" : a_[i_]);" in host_text(text, "parallelize i")) == is_kept
    assert " : a_[i_]);" not in host_text(text, "")  # it is for lanes


def relaxed(x: Any, a: Any) -> None:
    for i in range(len(a)):
        if x[i] < a[i]:
            a[i] = x[i]


def decayed(x: Any, a: Any) -> None:
    for i in range(len(a)):
        if x[i] > 0 and a[i] != 2:
            a[i] = a[i] - x[i]


def with_flags(x: Any, a: Any) -> None:
    on = a > 1
    for i in range(len(a)):
        if not on[i] and x[i] >= a[i]:
            a[i] = 7


@pytest.mark.parametrize("function", [relaxed, decayed, with_flags])
@pytest.mark.parametrize("kind", ["float64", "float32", "int64", "int8", "uint16"])
@pytest.mark.parametrize("length", [0, 1, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_python(function: Callable[[Any, Any], None], kind: str, length: int, threads: int) -> None:
    random = np.random.default_rng(9)
    choices = [0, 1, 2, 3, 5, 9] + ([-0.0, np.nan, np.inf] if kind.startswith("f") else [])
    x, a = random.choice(choices, (2, length)).astype(kind)
    for strict in (True, False):
        mine, pythons = a.copy(), a.copy()
        with np.errstate(all="ignore"):
            function(x, pythons)
        lw.kernel(function, strict=strict, narrowing="wrap", threads=threads)(x, mine)
        np.testing.assert_array_equal(mine.view(f"u{mine.itemsize}"), pythons.view(f"u{mine.itemsize}"))


def test_arrays_that_share_memory() -> None:
    """Each way round: what is stored is read by the next iteration, or was read by the one before."""
    for first, second in ((slice(0, 200), slice(1, 201)), (slice(1, 201), slice(0, 200)), (slice(0, 200),) * 2):
        mine, pythons = np.random.default_rng(2).random((2, 300))
        pythons[:] = mine
        relaxed(pythons[first], pythons[second])
        lw.kernel(relaxed)(mine[first], mine[second])
        np.testing.assert_array_equal(mine, pythons)


BYTES = """
kernel f(a: {0}[2] C, o: {0}[2] C, k: int64[1] C):
    for i in 1 .. size(a, 0) - 1:
        for j in 0 .. size(a, 1):
            if {1}:
                o[{2}] = a[i, j]
"""
ALL = "a[i, j] != {0}(3) and (a[i - 1, j] != {0}(3) and (a[i + 1, j] > {0}(1) and a[i, j] < {0}(9)))"


@pytest.mark.parametrize(
    ("element", "condition", "at", "is_held"),
    [
        ("uint8", "a[i, j] != uint8(3)", "i, j", True),
        ("int16", ALL.format("int16"), "i, j", True),
        ("int32", "a[i, j] != int32(3)", "i, j", True),
        ("uint8", "a[i, j] != uint8(3)", "k[i], j", False),  # it may not be there
    ],
)
def test_narrow_elements(element: str, condition: str, at: str, is_held: bool) -> None:
    text = host_text(BYTES.format(element, condition, at), "vectorize j")
    assert (f"{element}_t lw_held = o_[i_ * o_n1_ + j_];" in text) == is_held


def worn(a: Any, o: Any) -> None:
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            if a[i, j] and a[i - 1, j] and a[i + 1, j] and a[i, j - 1] and a[i, j + 1]:
                o[i, j] = 1


@pytest.mark.parametrize("kind", ["uint8", "bool", "int16"])
def test_neighbours_of_narrow_elements(kind: str) -> None:
    a = (np.random.default_rng(2).random((7, 131)) > 0.2).astype(kind)
    mine = (3 * np.random.default_rng(1).integers(0, 2, a.shape)).astype(kind)
    pythons = mine.copy()
    lw.kernel(worn)(a, mine)
    worn(a, pythons)
    np.testing.assert_array_equal(mine, pythons)
