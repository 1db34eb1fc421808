"""Blocks of iterations in which nothing happens are passed over: searches end at the same iteration, extremes have the
same places, and what a loop leaves behind is the same."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw


def found(a: Any, m: Any) -> Any:
    for k in range(len(a)):
        if a[k] == m:
            return k
    return -1


def broken(a: Any, m: Any) -> Any:
    place, high = -1, a[0]
    for k in range(1, len(a)):
        high = max(a[k], a[k - 1])
        if high >= m and k > 2:
            place = k
            break
    return place, high


def best(a: Any, m: Any) -> Any:
    high, place, low = a[0], 0, a[0]
    for k in range(len(a)):
        if a[k] > high:
            high, place = a[k], k
        if a[k] < low:
            low = a[k]
    return high, place, low


def in_rows(a: Any, m: Any) -> Any:
    out = np.zeros(3, np.int64)
    for r in range(3):
        for k in range(r, len(a)):
            if a[k] == m or a[k] != a[k]:
                out[r] = k
                break
    return out


def stored(a: Any, m: Any) -> Any:
    """What is found is changed, and the next row sees it."""
    b = a.copy()
    for _ in range(3):
        for k in range(len(b)):
            if b[k] == m:
                b[k] = m + 1
                break
    return b


def places(a: Any, m: Any) -> Any:
    return np.argmax(a), np.argmin(a), np.argmax(a == m), np.argmin(a == m)


SIZES = (1, 2, 63, 64, 65, 128, 129, 500, 5000)
EVERY = (found, broken, best, in_rows, stored, places)


@pytest.mark.parametrize("function", EVERY)
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.int32, np.int8, np.uint8])
@pytest.mark.parametrize("threads", [1, 3])
def test_results(function: Callable[..., Any], kind: type, threads: int) -> None:
    kernel = lw.kernel(function)
    with lw.options(threads=threads):
        for size in SIZES:
            a = np.random.default_rng(size).integers(0, 50, size).astype(kind)
            for place in {0, size // 2, size - 1, max(0, size - 64), min(size - 1, 64)}:
                given = a.copy()
                given[place] = 99
                for m in (kind(99), kind(100)):
                    np.testing.assert_equal(np.array(kernel(given, m)), np.array(function(given, m)))
    for ordered in (np.arange(100), np.arange(100)[::-1], np.zeros(100)):
        given = np.ascontiguousarray(ordered).astype(kind)
        np.testing.assert_equal(np.array(kernel(given, kind(7))), np.array(function(given, kind(7))))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_nan(kind: type) -> None:
    for function in (best, in_rows, places):
        kernel = lw.kernel(function)
        for place in (0, 1, 70, 299):
            a = np.random.default_rng(place).normal(size=300).astype(kind)
            a[place] = a[place // 2 + 100] = np.nan
            np.testing.assert_equal(np.array(kernel(a, kind(3))), np.array(function(a, kind(3))))


def blocks(function: Callable[..., Any], *arguments: object) -> int:
    return str(lw.kernel(function).explain(*arguments)).count("iterations are skipped at once")


def of_a_column(a: Any) -> Any:
    for k in range(a.shape[0]):
        if a[k, 1] > 3:
            return k
    return -1


def of_each_column(a: Any, out: Any) -> None:
    for _t in range(3):
        for j in range(out.shape[0]):
            top, where = a[0, j], 0
            for k in range(1, a.shape[0]):
                if a[k, j] + out[k] > top:
                    top, where = a[k, j] + out[k], k
            out[where] = top


def test_in_loops_inside_of_others_not_across_rows() -> None:
    a = np.zeros((200, 200))
    assert blocks(of_a_column, a) == 1 and blocks(of_each_column, a, a[0]) == 0
    assert blocks(of_each_column, np.asfortranarray(a), a[0]) == 1


def guarded(a: Any, m: Any) -> Any:
    for k in range(len(a) + 3):
        if k < len(a) and a[k] == m:
            return k
    return -1


def counted(a: Any, m: Any) -> Any:
    """True as often as not."""
    n, last = 0, a[0]
    for k in range(len(a)):
        if a[k] != last:
            last = a[k]
            n += k
    return n


def carried(a: Any, m: Any) -> Any:
    total = a[0]
    for k in range(len(a)):
        total = total + a[k]
        if total > m:
            return k
    return -1


def divided(a: Any, m: Any) -> Any:
    for k in range(len(a)):
        if 100 // a[k] == m:
            return k
    return -1


def passed_over(a: Any, m: Any) -> Any:
    low, place = a[0] * 9, -1
    for k in range(len(a)):
        if a[k] < 3:
            continue
        d = a[k] * 2 + m
        if d < low:
            low, place = d, k
    return place


def next_to(a: Any, m: Any) -> Any:
    high, place = a[0], -1
    for k in range(len(a) + 3):
        if k + 1 < len(a):
            d = a[k + 1] - a[k]
            if d > high:
                high, place = d, k
    return place


def left(a: Any, m: Any) -> Any:
    """The last number that was not passed over is used, too."""
    low, last = a[0], a[0]
    for k in range(len(a)):
        if a[k] < 3:
            continue
        last = a[k]
        if last < low:
            low = last
    return low * 100 + last


def test_where() -> None:
    a = np.ones(300, np.int64)
    assert [blocks(one, a, 5) for one in (found, broken, best, stored)] == [1, 1, 1, 1]
    assert [blocks(one, a, 5) for one in (passed_over, next_to)] == [1, 1]
    assert [blocks(one, a, 5) for one in (counted, carried, divided, left)] == [0, 0, 0, 0]
    with lw.options(checks="all"):
        assert blocks(found, a, 5) == 0


@pytest.mark.parametrize("function", [guarded, counted, carried, divided, passed_over, next_to, left])
def test_other_loops(function: Callable[..., Any]) -> None:
    kernel = lw.kernel(function)
    for size in (*SIZES, 321, 900):
        a = np.random.default_rng(size).integers(1, 50, size)
        for m in (0, 3, 50, 10_000):
            assert kernel(a, m) == function(a, m)


def ended(a: Any, n: Any, m: Any) -> Any:
    for k in range(n):
        if k >= len(a):
            break
        if a[k] == m:
            return k
    return -1


def ended_or_better(a: Any, n: Any, m: Any) -> Any:
    high, place = a[0], 0
    for k in range(n):
        if k >= len(a):
            break
        t = a[k]
        if t > high:
            high, place = t, k
    return place


@pytest.mark.parametrize("function", [ended, ended_or_better, guarded, next_to])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int8])
def test_nothing_is_read_behind_the_end(function: Callable[..., Any], kind: type) -> None:
    """The page behind the array is nobody's: to read there ends the process."""
    kernel, page, libc = lw.kernel(function), mmap.PAGESIZE, ctypes.CDLL(None)
    more = () if function in (guarded, next_to) else (10_000,)
    with mmap.mmap(-1, 2 * page) as memory:
        whole = np.frombuffer(memory, np.uint8)
        behind = ctypes.c_void_p(whole.ctypes.data + page)
        assert libc.mprotect(behind, page, 0) == 0
        for size in (3, 64, 65, 200, 500):
            a = whole[page - size * np.dtype(kind).itemsize : page].view(kind)
            a[:] = np.arange(size) % 100
            assert kernel(a, *more, kind(101)) == function(a, *more, kind(101))
        assert libc.mprotect(behind, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0
        del a, whole
    assert function in (guarded, next_to) or blocks(function, np.ones(9, kind), 99, kind(3)) == 1


def unvisited(a: Any, done: Any) -> Any:
    place = -1
    for k in range(len(a)):
        if not done[k] and (place < 0 or a[k] < a[place]):
            place = k
    return place


def test_before_anything_is_found_no_block_is_asked() -> None:
    a, done = np.random.default_rng(1).random(2000), np.zeros(2000, bool)
    done[:700] = True
    assert lw.kernel(unvisited)(a, done) == unvisited(a, done)
    text = lw.kernel(unvisited).specialise(a, done).c_text
    assert "!(place_ < 0L) && " in text  # and each lane asks for the rest
    assert "lw_any |= (int64_t)(((bool)((!(-(int64_t)done_[k_] < 0)) & (a_[k_] < place_v_))));" in text
    assert "reduction(|:lw_any)" not in text and "reduction(|:lw_any)" in lw.kernel(best).specialise(a, 1.0).c_text
