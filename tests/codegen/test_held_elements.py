"""Elements and sums that iterations in lanes keep in variables: which ones, and that they are Python's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.scheduled import host_text

HEAD = """
kernel f(a: float64[1] C, x: float64[1] C, k: int64[1] C, b: int64[1] C, m: int64):
    for i in 0 .. size(a, 0):
"""


@pytest.mark.parametrize(
    ("text", "held", "is_tested"),
    [
        ("if x[i] > 0.5:\n            a[i] = 0.5\n            b[i] = b[i] + 1", 2, True),
        ("a[i] = x[i]\n        if a[i] > 0.5:\n            a[i] = 0.5\n            x[i] = 0.0", 2, False),
        ("if m > 0:\n            a[i] = a[i] * 2.0", 0, False),  # the C compiler asks that before the loop
        ("if m > 0 and x[i] > 0.5:\n            b[i] = 1", 1, True),  # if m is 0, b may be empty
        ("if x[i] > 0.5:\n            a[i] = x[i]\n        else:\n            a[i] = x[i] + 1.0", 1, False),
        ("if x[i] > 0.5:\n            a[i] = 0.5\n            b[2 * i] = 1", 0, False),  # not one after the other
        ("if x[i] > 0.5:\n            b[i] = b[i] // k[i]", 0, False),  # nothing for lanes
        ("if a[i] > 0.5:\n            a[i] = 0.5", 0, False),  # kept_elements.py
    ],
)
def test_which(text: str, held: int, is_tested: bool) -> None:
    c = host_text(f"{HEAD}        {text}\n", "vectorize i")
    assert len({word.strip(";") for word in c.split() if word.startswith("lw_held")}) == held
    assert ("if (lw_climbs(" in c) == is_tested
    assert "lw_held" not in host_text(f"{HEAD}        {text}\n", "")  # it is for lanes


def spiking(v: Any, spikes: Any, w: Any, m: int) -> int:
    count = 0
    for _ in range(4):
        for i in range(len(v)):
            v[i] += w[i]
            if v[i] > 3:
                v[i] = 0
                spikes[i] += 1
                count += 1
    return count


def stocked(level: Any, orders: Any, demand: Any, m: int) -> int:
    lost = 0
    for i in range(len(level)):
        level[i] -= demand[i]
        if level[i] < 0:
            lost += 1
            level[i] = 0
        if level[i] <= m and m != 3:
            level[i] += 2
            orders[i] += 1
        elif demand[i] == 2:
            orders[i] = 0
    return lost


def stateful(state: Any, timer: Any, u: Any, m: int) -> int:
    for i in range(1, len(state)):
        if state[i] == 0:
            if u[i - 1] < 2:
                state[i] = 1
                timer[i] = 0
        elif timer[i] > m:
            state[i] = 0
        else:
            timer[i] += 1
    return 0


@pytest.mark.parametrize("function", [spiking, stocked, stateful])
@pytest.mark.parametrize("kind", ["float64", "int64", "float32", "int8"])
@pytest.mark.parametrize("length", [0, 1, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_as_python(function: Callable[..., int], kind: str, length: int, threads: int) -> None:
    random = np.random.default_rng(9)
    choices = [0, 1, 2, 3, 5] + ([-0.0, np.nan, np.inf] if kind.startswith("f") else [])
    arrays = random.choice(choices, (3, length)).astype(kind)
    for strict in (True, False):
        for m in (0, 1, 3):
            mine, pythons = arrays.copy(), arrays.copy()
            with np.errstate(all="ignore"):
                expected = function(*pythons, m)
            assert lw.kernel(function, strict=strict, narrowing="wrap", threads=threads)(*mine, m) == expected
            np.testing.assert_array_equal(mine.view(f"u{mine.itemsize}"), pythons.view(f"u{mine.itemsize}"))


def traced(v: Any, spikes: Any, w: Any) -> int:
    count = 0
    for t in range(1, v.shape[0]):
        for i in range(v.shape[1]):
            v[t, i] = v[t - 1, i] + w[i]
            if v[t, i] > v[t - 1, 0]:
                v[t, i] = 0
                spikes[i] += 1
                count += 1
    return count


@pytest.mark.parametrize("length", [0, 1, 1000])
def test_rows_before_are_read_where_they_are(length: int) -> None:
    v, spikes, w = np.random.default_rng(3).integers(-2, 4, (3, 5, length))
    mine, pythons = (v.copy(), spikes[0].copy()), (v.copy(), spikes[0].copy())
    kernel = lw.kernel(traced)
    assert kernel(*mine, w[0]) == traced(*pythons, w[0])
    for one, other in zip(mine, pythons, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "lw_held = v_[t_" in kernel.specialise(*mine, w[0]).c_text.replace("lw_held2", "lw_held")


def marked(x: Any, on: Any, m: int) -> None:
    for i in range(len(x)):
        if m > 0 and x[i] > 1:
            on[i] = 1


def never_marked(x: Any, on: Any, m: int) -> None:
    for i in range(len(x)):
        if x[i] < 0:  # of unsigned numbers: nothing is proven behind it
            on[i] = 1


def owned(x: Any, on: Any, m: int) -> None:
    for k in lw.prange(m):
        for i in range(len(x)):
            if x[i] == k:
                on[i] = 1


@pytest.mark.parametrize("function", [marked, never_marked])
def test_elements_that_are_not_there_are_tested(function: Callable[[Any, Any, int], None]) -> None:
    x, memory = np.arange(100, dtype=np.uint8), np.arange(200, dtype=np.int8)
    kernel = lw.kernel(function)
    kernel(x, memory[:50], 0)
    np.testing.assert_array_equal(memory, np.arange(200, dtype=np.int8))
    text = kernel.specialise(x, memory[:50], 0).c_text
    assert "if (lw_climbs(0L, (x_n0_ - 1L), on_n0_))" in text and "lw_held" in text


def test_elements_of_other_threads_are_left_alone() -> None:
    x, on = np.arange(100) % 5, np.zeros(100, np.int8)
    kernel = lw.kernel(owned)
    kernel(x, on, 3)
    assert on.sum() == 60 and "lw_held" not in kernel.specialise(x, on, 3).c_text


def four_sums(a: Any, b: Any, c: Any, m: int) -> Any:
    s, t, x, y = 0, 0, 0.0, 7
    for i in range(len(a)):
        if m > 0 and a[i] != m:
            s += a[i]
        if b[i] >= a[i] and i > 3:
            t -= 3
        if b[i] >= m:
            x += 0.5
        if c[i] != c[i] + c[i]:
            y ^= 3
    return s, t, x, y


def several_times(a: Any, b: Any, c: Any, m: int) -> Any:
    s, t, x, y = 0, 0, 0.0, 7
    for i in range(len(b)):
        if m <= b[i] or b[i] != -1:
            s += 1
            t += 3
        if 2 + b[i] != 0 - b[i]:
            if b[i] == b[i] or b[i] >= c[i]:  # noqa: SIM102 - the two conditions are two masks
                if b[i] != 3:
                    s += 1
                    t -= 3
            y &= 1
            if b[i] + b[i] != 2:
                t -= 1
                if b[i] >= b[i] + b[i]:
                    s += 1
                    x += 0.5
    return s, t, x, y


@pytest.mark.parametrize("function", [four_sums, several_times])
@pytest.mark.parametrize("length", [17, 70, 333])
def test_sums_behind_conditions_of_narrow_numbers(function: Callable[..., Any], length: int) -> None:
    """gcc 12 made wrong code of them, for AVX2 and for AVX-512."""
    random = np.random.default_rng(7)
    a, c = random.integers(-2, 4, (2, length)).astype(np.int8)
    b = random.integers(-2, 4, length).astype(np.int16)
    for m in (1, 2):
        with np.errstate(over="ignore"):
            expected = function(a, b, c, m)
        assert lw.kernel(function, narrowing="wrap")(a, b, c, m) == expected
