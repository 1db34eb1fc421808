"""Values and intervals of integer expressions: an interval holds every value that the expression takes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.integers import KnownIntegers, interval_of, value_of
from loopwright.ir.nodes import Assign, Expr
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import statements

TEXTS = [
    "i + 2 * j - 3", "min(i, j) - max(i, 4)", "i // 3 + j % 5", "(i - j) * (i + 1)", "i // -2", "(i & 31) * 4", "i % 7",
    "-3 * i + j * j", "min(i + 8, n) - i",
]  # fmt: skip


def expression(text: str) -> Expr:
    kernel = parse_kernel(
        "kernel k(a: int64[2] C, n: int64, i: int64, j: int64):\n    var m: int64\n    m = " + text + "\n"
    )
    [stmt] = [stmt for stmt in statements(kernel.body) if isinstance(stmt, Assign)]
    return stmt.value


@pytest.mark.parametrize("text", TEXTS)
def test_an_interval_holds_all_values(text: str) -> None:
    expr = expression(text)
    between = {"i": (-2, 9), "j": (3, 6)}
    values = KnownIntegers({"n": 6})
    found = interval_of(expr, values, between)
    all_values = []
    for i, j in itertools.product(range(-2, 10), range(3, 7)):
        value = value_of(expr, KnownIntegers({"n": 6, "i": i, "j": j}))
        assert value == eval(text, {"min": min, "max": max}, {"n": 6, "i": i, "j": j})
        all_values.append(value)
    assert found is not None
    assert found[0] <= min(all_values)
    assert found[1] >= max(all_values)


def test_an_interval_is_no_wider_than_need_be_where_variables_stand_once() -> None:
    assert interval_of(expression("2 * i - j"), KnownIntegers(), {"i": (0, 9), "j": (0, 3)}) == (-3, 18)


@pytest.mark.parametrize("text", ["a[i, j]", "a[0, 0] + 1", "size(a, 0)", "n + 1", "i // (j - 4)"])
def test_what_is_not_known_has_no_value(text: str) -> None:
    assert interval_of(expression(text), KnownIntegers(), {"i": (0, 9), "j": (3, 6)}) is None


def test_one_side_may_decide() -> None:
    text = "1 if n > 3 and a[0, 0] > 2 else 0"
    assert value_of(expression(text), KnownIntegers({"n": 3})) == 0
    assert value_of(expression(text), KnownIntegers({"n": 4})) is None
    assert value_of(expression("1 if n > 3 or a[0, 0] > 2 else 0"), KnownIntegers({"n": 4})) == 1


def test_division_by_zero_is_zero_as_in_the_ir() -> None:
    assert value_of(expression("7 // (n - n) + 7 % (n - n)"), KnownIntegers({"n": 3})) == 0


def blended(a: Any, x: Any, y: Any, out: Any) -> None:
    for i in range(len(a)):
        w = int(a[i])
        out[i] = (w * int(x[i]) + (255 - w) * int(y[i]) + 127) // 255


def blended_by_shift(a: Any, x: Any, y: Any, out: Any) -> None:
    for i in range(len(a)):
        w = int(a[i])
        out[i] = (w * int(x[i]) + (256 - w) * int(y[i])) >> 8


def blended_too_far(a: Any, x: Any, y: Any, out: Any) -> None:
    for i in range(len(a)):
        w = int(a[i])
        out[i] = (w * int(x[i]) + (257 - w) * int(y[i]) + 127) // 255


@pytest.mark.parametrize(("function", "is_proven"), [(blended, 1), (blended_by_shift, 1), (blended_too_far, 0)])
def test_blends_of_bytes_are_bytes(function: Any, is_proven: bool) -> None:
    ends = np.array(np.meshgrid(*[[0, 1, 127, 254, 255]] * 3), np.uint8).reshape(3, -1)
    a, x, y = (np.ascontiguousarray(row) for row in ends)
    kernel, mine, expected = lw.kernel(function), np.zeros(a.size, np.uint8), np.zeros(a.size, np.uint8)
    note = str(kernel.explain(a, x, y, mine))
    assert ("checks:" not in note) == is_proven
    if is_proven:
        function(a, x, y, expected)
        kernel(a, x, y, mine)
        np.testing.assert_array_equal(mine, expected)
    else:
        for run in (function, kernel):
            with pytest.raises(OverflowError):
                run(a, x, y, mine)
