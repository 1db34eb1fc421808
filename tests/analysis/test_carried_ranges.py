"""Ranges of whole numbers that loops carry: what they are, and what must not be taken for one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.analysis.carried_ranges import Range, carried_ranges
from loopwright.analysis.values import initial_state, value_of
from loopwright.ir.nodes import Assign, For, While
from loopwright.ir.text import parse_kernel

HEAD = """
kernel carried(n: int64, m: int64, a: float64[1] C, c: int64[1] C):
    var v: int64
    var u: int64
    var k: int64
"""


def ranges_of(before: str, loop: str) -> dict[str, tuple[int, int]]:
    """The least and greatest value of each scalar that has a range, whatever the arguments."""
    return {name: found.intervals[0] for name, found in found_of(before, loop).items()}


def found_of(before: str, loop: str) -> dict[str, Range]:
    lines = [*before.splitlines(), *loop.splitlines()]
    kernel = parse_kernel(HEAD + "".join(f"    {line}\n" for line in lines))
    state = initial_state(kernel)
    for stmt in kernel.body:
        if isinstance(stmt, Assign):
            state.types[stmt.name] = stmt.value.type
            state.scalars[stmt.name] = value_of(state, stmt.value)
        elif isinstance(stmt, For | While):
            return carried_ranges(stmt, state)
    raise AssertionError("no loop")


MOST = 2**63 - 1


@pytest.mark.parametrize(
    ("before", "loop", "least"),
    [
        ("v = 0", "while n > 0 named w:\n    v = v + 1", {"v": 0}),
        ("v = 7", "for i in 0 .. n:\n    v = v // 2", {"v": 0}),
        ("v = 3\nu = 5", "for i in 0 .. n:\n    v = u + 1\n    u = v + 2", {"v": 3, "u": 5}),
        ("v = 2", "while v <= size(a, 0) named w:\n    v = v * 2", {"v": 2}),
        ("v = -4", "for i in 0 .. n:\n    v = min(v + 1, 9)", {"v": -4}),
        ("v = 9", "while v > 0 named w:\n    v = v - 1", {"v": 0}),
        ("v = 9", "while n > 0 and 3 <= v named w:\n    v = v - 3", {"v": 0}),
        ("v = 5", "while v >= 0 named w:\n    v = v - 1", {"v": -1}),
        ("v = 9", "while v >= size(a, 0) and n > 0 named w:\n    v = v - size(a, 0)", {"v": 0}),
        (
            "v = 0",
            "for i in 0 .. n:\n    if c[i] > 0 and v > 0:\n        v = v - 1\n    else:\n        v = v + 1",
            {"v": 0},
        ),
        ("v = 0\nu = size(a, 0)", "while v < u named w:\n    u = (v + u) // 2", {"u": 0}),
        ("v = 0", "for i in 0 .. n:\n    while v > 0 named w:\n        v = v - 1\n    v = v + 2", {"v": 0}),
    ],
)
def test_they_never_fall_below(before: str, loop: str, least: dict[str, int]) -> None:
    assert {name: ends[0] for name, ends in ranges_of(before, loop).items()} == least


SEARCH = """while v < u named w:
    k = (v + u) // 2
    if a[k] < 0.5:
        v = k + 1
    else:
        u = k"""


def test_what_is_set_first_in_each_iteration_has_a_range_too() -> None:
    """k is never read before it is set; the halves of sums that fit are no larger than what they are halves of."""
    found = ranges_of("v = 0\nu = size(a, 0)", SEARCH)
    assert {name: ends[0] for name, ends in found.items()} == {"v": 0, "u": 0, "k": 0}
    assert all(2 * ends[1] < 2**63 for ends in found.values())


def test_sums_that_may_not_fit_have_no_halves() -> None:
    assert "u" not in ranges_of(f"v = 3\nu = {2**62}", "while v < u named w:\n    u = (v + u) // 2")
    assert "u" not in ranges_of("v = 3\nu = 8", "while v < u named w:\n    u = v + u")


def test_a_limit_is_one_for_exactly_what_is_multiplied() -> None:
    assert ranges_of("v = 1", "while v <= 100 named w:\n    v = v * 2") == {"v": (1, 200)}
    assert ranges_of("v = 1", "while v < 100 and n > 0 named w:\n    v = v << 3") == {"v": (1, 800)}


@pytest.mark.parametrize(
    ("before", "loop"),
    [
        ("v = 1", "while v <= 100 named w:\n    v = v * 2 + 1"),
        ("v = 1", "while v <= 100 named w:\n    v = v * 2 * 3"),
        ("v = 1", "while v <= 100 named w:\n    v = (v << 1) * 5"),
        ("v = 1", "while v <= n named w:\n    v = v * 2\n    v = v * 2"),
        ("v = 1", "while v <= 100 named w:\n    for i in 0 .. n:\n        v = v * 2"),
        ("v = 1", "for i in 0 .. n:\n    v = v * 2"),
        ("v = 1\nu = 100", "while v <= u named w:\n    v = v * 2\n    u = u + 900"),
        ("v = 1", "while v <= c[0] named w:\n    v = v * 2"),
        (f"v = {MOST - 5}", "for i in 0 .. n:\n    v = v + 1"),
        ("v = 0", f"for i in 0 .. n:\n    if n > 3:\n        v = {MOST}\n    else:\n        v = v + 1"),
        ("v = 0", "for i in 0 .. n:\n    v = v + 100000"),
        ("v = 0", "for i in 0 .. n:\n    v = v - 1"),
        ("v = 0", "for i in 0 .. n:\n    v = v + i"),
        ("v = 9", "while n > 0 named w:\n    v = v - 1"),
        ("v = 9", "while v > 0 or n > 0 named w:\n    v = v - 1"),
        ("v = 9", "while v > 0 named w:\n    v = v - 1\n    v = v - 1"),
        ("v = 9", "while v > 0 named w:\n    for i in 0 .. n:\n        v = v - 1"),
        ("v = 9", "while v > 0 named w:\n    v = v - m"),
        ("v = 9", "while v >= m named w:\n    v = v - m"),  # m may be negative
        ("v = 9", "while v >= size(a, 0) named w:\n    v = v - size(a, 0)\n    v = v - size(a, 0)"),
        ("v = 9", "while v >= size(a, 0) or n > 0 named w:\n    v = v - size(a, 0)"),
        ("v = 9", "while v > 0 named w:\n    v = v - 3"),
        ("v = 9", "while v < 20 named w:\n    v = v - 1"),
        ("v = 9", "for i in 0 .. n:\n    if v > 0:\n        v = v + 1\n    else:\n        v = v - 1"),
        ("v = 9\nu = 9", "while v > 0 named w:\n    u = v - 3\n    v = u - 1"),
        ("v = 9\nu = -5", "while v > 0 named w:\n    v = u\n    u = v - 1"),
        ("u = 9\nv = -5", "while u > 0 named w:\n    v = u - 1\n    u = v"),  # which stays if nothing runs
        ("u = 9", "while u > 0 named w:\n    u = u - 2\n    v = u - 1"),
        ("v = 0", "for i in 0 .. n:\n    v = c[i]"),
        ("v = 0", "for i in 0 .. n:\n    v = m"),
    ],
)
def test_what_could_be_past_64_bits_or_further_has_no_range(before: str, loop: str) -> None:
    assert "v" not in ranges_of(before, loop)


def test_a_size_that_changes_in_the_loop_is_no_limit() -> None:
    loop = "while v <= size(t, 0) named w:\n    v = v * 2\n    allocate t: float64[n + v]"
    assert "v" not in ranges_of("v = 1\nallocate t: float64[n]", loop)
    loop = "for i in 0 .. n:\n    v = size(t, 0)\n    allocate t: float64[i]"
    assert ranges_of("v = 9\nallocate t: float64[9]", loop) in ({}, {"v": (0, MOST)})


@pytest.mark.parametrize(
    ("before", "loop", "ends"),
    [
        ("v = size(a, 0) - 1", "while v >= 0 named w:\n    v = v - 1", ["<="]),
        ("v = size(a, 0)", "while v > n named w:\n    v = v // 2", ["<="]),
        ("v = size(a, 0)", "for i in 0 .. n:\n    v = min(v, c[i])", []),  # which may be anything less
        ("v = size(a, 0)", "while v < n named w:\n    v = v + 1", [">="]),
        ("v = size(a, 0)\nu = n", "while v > 0 named w:\n    u = v - 1\n    v = u", ["<="]),
        ("v = size(a, 0)\nu = n", "while v > 0 named w:\n    k = u\n    u = v - 1\n    v = max(k, u) // 2", []),
        ("v = size(a, 0)", "for i in 0 .. n:\n    if v > 0:\n        v = v - 1\n    else:\n        v = v + 1", []),
        ("v = size(a, 0)", "for i in 0 .. n:\n    v = v // 2 + 1", []),
        ("v = -size(a, 0)", "for i in 0 .. n:\n    v = v // 2", []),  # towards -1, which is more
        ("v = 0", "for i in 0 .. n:\n    v = v + 1", []),  # its range says it
    ],
)
def test_what_only_falls_or_rises_has_an_end(before: str, loop: str, ends: list[str]) -> None:
    found = found_of(before, loop).get("v")
    assert [sign for sign, _ in found.ends] == ends if found else not ends


def test_what_falls_from_a_number_is_no_more() -> None:
    assert ranges_of("v = 9", "while v > 0 named w:\n    v = v - 1") == {"v": (0, 9)}


def inserted(a: Any) -> None:
    for i in range(1, a.shape[0]):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
        a[j + 1] = x


def sifted_up(heap: Any) -> None:
    for last in range(heap.shape[0]):
        k = last
        while k > 0 and heap[k] < heap[(k - 1) // 2]:
            t = heap[k]
            heap[k] = heap[(k - 1) // 2]
            heap[(k - 1) // 2] = t
            k = (k - 1) // 2


def raised(heap: Any) -> None:
    for last in range(heap.shape[0]):
        k = last
        while k > 0:
            parent = (k - 1) // 2
            if heap[parent] <= heap[k]:
                break
            t = heap[k]
            heap[k] = heap[parent]
            heap[parent] = t
            k = parent


def in_gaps(a: Any) -> None:
    gap = a.shape[0] // 2
    while gap > 0:
        for i in range(gap, a.shape[0]):
            x = a[i]
            j = i
            while j >= gap and a[j - gap] > x:
                a[j] = a[j - gap]
                j -= gap
            a[j] = x
        gap //= 2


def from_both_ends(a: Any, target: float) -> int:
    lo, hi, found = 0, a.shape[0] - 1, 0
    while lo < hi:
        if a[lo] + a[hi] < target:
            lo += 1
        else:
            found += 1
            hi -= 1
    return found


def backwards(a: Any, step: int) -> float:
    k, t = a.shape[0], 0.0
    while k > 0:
        k -= step
        t += a[k]
    return t


@pytest.mark.parametrize(
    ("function", "checked"),
    [(inserted, 0), (sifted_up, 0), (raised, 0), (in_gaps, 0), (from_both_ends, 0), (backwards, 1)],
)
def test_what_falls_stays_inside(function: Any, checked: int) -> None:
    """And results are Python's, for sizes at which nothing falls as well."""
    more = {from_both_ends: (3.0,), backwards: (1,)}.get(function, ())
    kernel = lw.kernel(function)
    for n in (0, 1, 2, 9):
        mine, pythons = (np.array([3.0, 1.0, 2.0, 5.0, 0.0, 4.0, 1.5, 2.5, 9.0])[:n].copy() for _ in range(2))
        assert kernel(mine, *more) == function(pythons, *more)
        assert mine.tolist() == pythons.tolist()
    (told,) = kernel.explanations()
    assert sum(access.bounds == "checked" for array in told.arrays for access in array.accesses) == checked


def grown(a: Any) -> float:
    v = 1
    while v <= 100:
        v = v * 2 + 1
    return a[v]


def counted_past_the_end(a: Any, h: int) -> float:
    k = h
    t = 0.0
    for _ in range(0, 4, h):
        k += 1
        if k < 5:
            t += a[k]
    return t


def test_no_element_outside_is_read() -> None:
    for n, fine in ((128, True), (127, False), (126, False)):
        a = np.arange(float(n))
        if fine:
            assert lw.kernel(grown)(a) == grown(a) == 127.0
        else:
            with pytest.raises(IndexError):
                lw.kernel(grown)(a)
    assert lw.kernel(counted_past_the_end)(np.ones(8), 1) == counted_past_the_end(np.ones(8), 1)
    with pytest.raises(lw.BoundsError):  # the count wraps
        lw.kernel(counted_past_the_end)(np.ones(8), MOST)
