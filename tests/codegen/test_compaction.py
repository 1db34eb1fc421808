"""Stream compaction without a jump: which loops, and that nothing is overwritten that anybody can see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

MARK = "lw_often"


def positions(x: Any, limit: Any) -> Any:
    found = np.empty(x.size, dtype=np.int64)
    count = 0
    for i in range(1, x.size):
        if x[i - 1] < limit <= x[i]:
            found[count] = i
            count += 1
    return found[:count]


def appended(x: Any, limit: Any) -> Any:
    found = []
    for i in range(x.size - 1):
        if x[i] > limit and x[i] > x[i + 1]:
            found.append(x[i] * 2.0)
    return np.array(found)


def masked(x: Any, limit: Any) -> Any:
    return x[x > limit]


def divided(x: Any, limit: Any) -> Any:
    """Two streams, one of which begins further on."""
    low = np.empty(x.size + 3)
    high = np.empty(x.size)
    n, m = 3, 0
    for i in range(x.size):
        v = x[i] + 1.0
        if v > limit:
            high[m] = v
            m += 1
        if not v > limit:
            low[n] = v
            n += 1
    return low[3:n].sum(), high[:m], n, m


def in_rows(x: Any, limit: Any) -> Any:
    """A list for each row, which the next row begins anew."""
    total = 0.0
    for r in range(4):
        found = []
        for i in range(x.size):
            if x[i] * r > limit:
                found.append(i)
        for j in found:
            total += j * (r + 1)
    return total


def looked_back(x: Any, limit: Any) -> Any:
    """What was chosen last tells what is chosen next."""
    found = np.empty(x.size + 1)
    found[0] = 0.0
    count = 1
    for i in range(x.size):
        if x[i] > found[count - 1] - 0.5:
            found[count] = x[i]
            count += 1
    return found[:count]


def together(x: Any, limit: Any) -> Any:
    """Two arrays with one index, one of them with rows."""
    places = np.empty(x.size, dtype=np.int64)
    pairs = np.empty((x.size, 2))
    n = 0
    for i in range(x.size):
        if x[i] > limit:
            places[n] = i
            pairs[n, 1] = x[i]
            pairs[n, 0] = x[i] * x[i]
            n += 1
    return places[:n], pairs[:n]


def complex_ones(x: Any, limit: Any) -> Any:
    z = x + 2j * x
    return z[x > limit]


CHOOSING = (positions, appended, masked, divided, in_rows, together, complex_ones)


@pytest.mark.parametrize("function", (*CHOOSING, looked_back))
def test_as_in_python(function: Callable[..., Any]) -> None:
    kernel, rng = lw.kernel(function), np.random.default_rng(1)
    for size in (0, 1, 2, 127, 128, 129, 300, 5000):
        for limit in (-9.0, 0.0, 0.5, 2.5, 9.0):
            x = np.round(rng.normal(size=size), 2)
            x[rng.random(size) < 0.05] = np.nan
            for given in (x, np.repeat(x, 2)[::2], x[::-1]):
                mine, his = kernel(given, limit), function(given, limit)
                for one, other in zip(
                    mine if isinstance(mine, tuple) else (mine,), his if isinstance(his, tuple) else (his,), strict=True
                ):
                    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_no_room() -> None:
    def few(x: Any, room: Any) -> Any:
        found = np.empty(room)
        count = 0
        for i in range(x.size):
            if x[i] > 0.0:
                found[count] = x[i]
                count += 1
        return found[:count]

    kernel, x = lw.kernel(few), np.random.default_rng(2).normal(size=1000)
    chosen = int((x > 0.0).sum())
    np.testing.assert_array_equal(kernel(x, chosen), x[x > 0.0])
    with pytest.raises(lw.BoundsError, match=f"index {chosen - 1} is out of bounds"):
        kernel(x, chosen - 1)


def rows_of_the_chosen(x: Any, limit: Any) -> Any:
    """The arrays are as large as what is chosen, and have less than a strip."""
    total, count = 0.0, 0
    for r in range(x.shape[0]):
        found = x[r][x[r] > limit]
        total += found.sum()
        count += found.size
    return total, count


@pytest.mark.parametrize("columns", [0, 1, 50, 128, 200, 1000])
def test_rows_that_are_chosen_from(columns: int) -> None:
    x = np.round(np.random.default_rng(columns).normal(size=(7, columns)), 1)
    kernel = lw.kernel(rows_of_the_chosen)
    for limit in (-9.0, 0.0, 1.5, 9.0):
        np.testing.assert_allclose(kernel(x, limit), rows_of_the_chosen(x, limit))
    assert columns == 1 or "lw_chosen" in kernel.specialise(x, 0.0).c_text  # one element is no loop


def test_a_condition_that_may_fail_is_not_counted_ahead() -> None:
    def of_a_set(x: Any) -> Any:
        found = set()
        for i in range(x.size):
            found.add(int(x[i]) // 3)
        return sorted([2 * value for value in found]), len(found)

    for size in (1, 50, 400):
        assert lw.kernel(of_a_set)(np.arange(float(size))) == of_a_set(np.arange(float(size)))


HEAD = "kernel f(a: float64[1] C, out: float64[1] C) -> python int64:\n    var k: int64\n"
LOOP = "    for i in 0 .. size(a, 0):\n        if a[i] > 0.0:\n            b[k] = a[i]\n            k = k + 1\n"
MADE = "    allocate b: float64[size(a, 0)]\n"


def inside(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        (MADE + "    k = 0\n" + LOOP, True),
        (MADE + "    k = 7\n" + LOOP, True),
        ("    for r in 0 .. 3:\n" + inside(MADE + "    k = 0\n" + LOOP + "    out[r] = b[0]\n"), True),
        (MADE + "    for r in 0 .. 3:\n" + inside("    k = 0\n" + LOOP), False),  # the second time, over the first
        (MADE + "    k = -1\n" + LOOP, False),
        (MADE + "    k = size(a, 0) - 9\n" + LOOP, False),
        (MADE.replace("]\n", "] = 0.0\n") + "    k = 0\n" + LOOP, False),
        (MADE + "    b[5] = 2.0\n    k = 0\n" + LOOP, False),
        (MADE + "    k = 0\n" + LOOP + "        if a[i] > 9.0:\n            k = 0\n", False),
        ("    k = 0\n" + LOOP.replace("b[k]", "out[k]") + MADE, False),  # the caller's
        (MADE + "    k = 0\n" + LOOP.replace("= a[i]", "= a[k]"), False),  # which may not be there
        (MADE + "    k = 0\n" + LOOP.replace("a[i] > 0.0", "a[i] > 0.0 and a[k] < 2.0"), False),
    ],
)
def test_which_loops(body: str, taken: bool) -> None:
    assert (MARK in host_text(HEAD + "    k = 0\n" + body + "    return k\n", "")) == taken
