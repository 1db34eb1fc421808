"""Loops with an inspector: which ones, and that they do, fail and leave behind what the loop as it stands does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw

SIZES = (0, 1, 15, 16, 17, 255, 256, 257, 600, 9000)


def clipped(out: Any, x: Any, gain: Any, _: Any) -> None:
    for i in range(x.size):
        v = x[i] * gain
        if v > 3000.0:
            v = 3000.0
        elif v < -3000.0:
            v = -3000.0
        out[i] = np.int16(int(v))


def interpolated(out: Any, x: Any, ratio: Any, _: Any) -> None:
    for i in range(out.size):
        pos = (i + x[i]) * ratio
        k = int(pos)
        frac = pos - k
        if k + 1 < x.size:
            out[i] = x[k] * (1 - frac) + x[k + 1] * frac
        else:
            out[i] = x[-1]


def total(out: Any, x: Any, scale: Any, table: Any) -> None:
    s = 0
    for i in range(x.size):
        if x[i] > -50.0:
            s += table[int(abs(x[i]) * scale)]
    out[0] = s


def chosen(out: Any, x: Any, scale: Any, table: Any) -> None:
    for i in range(x.size):
        k = int(x[i] * scale) if x[i] > 0.0 else -int(x[i])
        out[i] = table[k] if k > 3 else np.sqrt(x[i] * x[i])


def back_again(out: Any, x: Any, scale: Any, table: Any) -> None:
    for i in range(x.size):
        out[i] = 1.0 / float(int(x[i] * 0.0078125 * scale)) + table[i % 2]


def in_rows(out: Any, x: Any, scale: Any, table: Any) -> None:
    for r in range(3):
        for i in range(x.size):
            out[i] = np.sqrt(abs(out[i])) + table[int(abs(x[i]) * scale)] * r


def under_conditions(out: Any, x: Any, scale: Any, table: Any) -> None:
    for i in range(x.size):
        v = x[i]
        if v > 1.0:
            k = int(v * scale)
            if k % 3 == 0:
                k = k + 1
                out[i] = table[k]
            elif v > 2.0:
                v = 5.0
        if v < 5.0:
            out[i] += int(v)


PROGRAMS = (clipped, interpolated, total, chosen, back_again, in_rows, under_conditions)
WRONG = (np.nan, np.inf, 1e300, -1e19, 2e5, -2e5)


def given(function: Callable[..., None], size: int, seed: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    x = np.floor(rng.uniform(-20, 20, size) * 16) / 16
    element = np.int16 if function is clipped else np.float64
    return [np.ones(max(size, 1) if function is total else size, element), x, 0.5, rng.integers(0, 9, 64)]


def outcome(run: Callable[..., object], arguments: list[Any]) -> tuple[str, list[Any]]:
    own = copy.deepcopy(arguments)
    try:
        with np.errstate(all="ignore"):
            run(*own)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}", own
    return "", own


def check(run: Any, judge: Any, arguments: list[Any]) -> None:
    (error, mine), (expected, his) = outcome(run, arguments), outcome(judge, arguments)
    assert error == expected
    for one, other in zip(mine, his, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_in_the_interpreter(function: Callable[..., None]) -> None:
    run, judge = lw.kernel(function, threads=1), lw.kernel(function, device="interpreter")
    for seed, size in enumerate(SIZES):
        arguments = given(function, size, seed)
        check(run, judge, arguments)
        rng = np.random.default_rng(seed)
        for wrong in WRONG if 0 < size < 9000 else ():
            spoilt = copy.deepcopy(arguments)
            spoilt[1][rng.integers(0, size)] = wrong
            check(run, judge, spoilt)
    assert "for a strip of iterations at once" in str(run.explain(*given(function, 600, 1)))


@pytest.mark.parametrize("function", PROGRAMS)
def test_several_threads_and_strides(function: Callable[..., None]) -> None:
    run, judge = lw.kernel(function, threads=3), lw.kernel(function, device="interpreter")
    for step in (1, 2, -1, -3):
        out, x, scale, table = given(function, 3000, 3)
        check(run, judge, [out, np.repeat(x, abs(step))[::step], scale, table])


def copied(out: Any, where: Any, x: Any) -> None:
    for i in range(where.size):
        if x[i] > 0.0:
            out[where[i]] = i % 7


def test_what_the_loop_writes_is_not_read_ahead() -> None:
    """The same memory, by two names and by views that overlap."""
    run = lw.kernel(copied)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        memory, x = rng.integers(0, 600, 700), rng.normal(size=700)
        for views in (lambda m: (m, m), lambda m: (m[3:], m[:-3]), lambda m: (m[:-3], m[3:])):
            mine, his = memory.copy(), memory.copy()
            run(*views(mine), x)
            copied(*views(his), x)
            np.testing.assert_array_equal(mine, his)


def moved(out: Any, x: Any, table: Any) -> None:
    for i in range(x.size):
        out[i] = table[x[i]] * 2.0


def carried(out: Any, x: Any, table: Any) -> None:
    k = 0.0
    for i in range(x.size):
        k = k * 0.5 + x[i]
        out[i] = table[int(k)]


def fused(out: Any, x: Any, table: Any) -> None:
    """The product may be rounded in one loop and not in the other."""
    for i in range(x.size):
        v = x[i] * 0.3
        out[i] = table[int(v + 0.1)] + v


@pytest.mark.parametrize(("function", "kind"), [(moved, np.int64), (carried, np.float64), (fused, np.float64)])
def test_none_where_nothing_is_won(function: Callable[..., None], kind: type) -> None:
    arguments = [
        np.zeros(40),
        np.arange(40).astype(kind) / kind(2) if kind is np.float64 else np.arange(40),
        np.ones(99),
    ]
    run = lw.kernel(function)
    run(*arguments)
    assert "for a strip of iterations at once" not in str(run.explain(*arguments))


def converted(x: Any, gain: Any) -> Any:
    out, twice = np.zeros(x.size, np.int16), np.zeros(x.size)
    for i in range(x.size):
        v = x[i] * gain
        if v > 30000.0:
            v = 30000.0
        k = int(v)
        out[i] = k
        twice[i] = 2.0 * k
    return out, twice.sum()


def seen(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = int(x[i])


def read_again(x: Any, gain: Any) -> Any:
    out = np.zeros(x.size + 1)
    for i in range(x.size):
        out[i + 1] = int(out[i] + x[i] * gain)
    return out


def at_times(x: Any, gain: Any) -> Any:
    out = np.zeros(x.size)
    for i in range(x.size):
        if x[i] > gain:
            out[i] = int(x[i])
    return out


@pytest.mark.parametrize(
    ("function", "at_once"), [(converted, True), (seen, False), (read_again, False), (at_times, False)]
)
def test_what_nobody_sees_is_stored_before_it_is_known_to_be_right(function: Any, at_once: bool) -> None:
    given = (np.ones(40), np.zeros(40) if function is seen else 1.5)
    told = str(lw.kernel(function).explain(*given))
    assert ("together with them" in told) is at_once


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_stored_at_once_is_right_or_the_error_is(size: int, threads: int) -> None:
    kernel = lw.kernel(threads=threads)(converted)
    x = np.random.default_rng(size).uniform(-300, 300, size)
    for place in (None, 0, size // 2, size - 1):
        for value in WRONG if size and place is not None else (0.0,):
            y = x.copy()
            if place is not None and size:
                y[place] = value
            with np.errstate(all="ignore"):
                try:
                    wanted: Any = converted(y, 100.0)
                except Exception as error:
                    with pytest.raises(type(error)):
                        kernel(y, 100.0)
                    continue
                found = kernel(y, 100.0)
            np.testing.assert_array_equal(found[0], wanted[0])
            np.testing.assert_allclose(found[1], wanted[1])
