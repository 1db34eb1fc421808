"""Decisions in words, and what of a kernel is tested where it stands."""

from __future__ import annotations

import pytest

from codegen.scheduled import after
from loopwright.codegen.cpu_lowering import lowered
from loopwright.codegen.decisions import INSIDE, UNPROVEN, CodegenInput, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.codegen.unrolling import unroll_on_device
from loopwright.ir.nodes import Load
from loopwright.ir.walk import expressions
from steps.kernels import COUNT, ROWS

UNEVEN = """
kernel k(p: int64[1] C, a: float64[1] C, b: float64[1] C):
    var s: float64
    for i in 0 .. size(b, 0):
        s = 0.0
        for j in p[i] .. p[i + 1]:
            s = s + a[j]
        b[i] = s
"""


def given(text: str, steps: str = "parallelize i", check_all: bool = False) -> CodegenInput:
    kernel, facts = after(text, steps, strict=False)
    return Writer(kernel, facts, check_all, False).given


def notes(text: str, loop: str = "i", steps: str = "parallelize i") -> list[str]:
    return list(lowered(given(text, steps)).notes_of(loop))


def test_what_is_decided_is_said() -> None:
    assert list(LoopLowering().notes_of("i")) == []
    assert notes(ROWS) == []
    assert notes(ROWS, "j") == [
        "asks: whether to stop, between strips of iterations, if there are many, which the loop around counts"
    ]
    assert [note.partition(":")[0] for note in notes(COUNT)] == ["updates"] * 3 + ["asks"]
    assert notes(UNEVEN) == ["shares: pieces of equal work, as p tells, for the next free thread"]
    assert notes(UNEVEN, "j")[0] == "tests: indices of a at once, before the first iteration"


def test_lanes_are_told() -> None:
    steps = "parallelize i; vectorize j"
    assert notes(ROWS, "j", steps)[0] == "lanes: do iterations in any order"
    assert notes(UNEVEN, "j", steps)[1] == "lanes: each has a partial result of s"


@pytest.mark.parametrize(
    ("lower", "upper", "step", "trip"),
    [
        ("n", "n + 7", 1, 7),
        ("n", "n + 7", 2, 4),
        ("2 * n", "2 * n - 3", 1, 0),
        ("0", "7", 1, None),  # the compiler sees that by itself
        ("n", "size(a, 0)", 1, None),
        ("p[0]", "p[0] + 7", 1, None),  # the end may wrap: the guard knows nothing of data
    ],
)
def test_trips_that_are_constant(lower: str, upper: str, step: int, trip: int | None) -> None:
    bounds = f"{lower} .. {upper}" + (f" step {step}" if step != 1 else "")
    text = f"kernel k(n: int64, p: int64[1] C, a: float64[1] C):\n    for i in {bounds}:\n        a[0] = 1.0\n"
    found = given(text, "")
    assert found.constant_trip(found.loops["i"]) == trip
    everywhere = given(text, "", check_all=True)
    assert everywhere.constant_trip(everywhere.loops["i"]) is None


def test_loops_of_a_thread_are_written_out() -> None:
    text = """
kernel k(n: int64, a: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in n .. n + 4:
            a[i, 0] = 1.0
    for i.1 in n .. n + 20:
        for j.1 in n .. n + 16:
            a[0, 0] = 1.0
    for i.2 in 0 .. n:
        while a[i.2, 0] > 1.0 named w:
            a[i.2, 0] = 1.0
"""
    assert unroll_on_device(given(text, "")).unrolled == {"j": 4, "i.1": 8, "j.1": 16}


@pytest.mark.parametrize("check_all", [False, True])
def test_a_check_is_made_where_nothing_is_proven_and_nothing_was_tested_before(check_all: bool) -> None:
    found = given(UNEVEN, "", check_all)
    [load] = [load for load in expressions(found.kernel.body, Load) if load.array == "a"]
    assert found.is_checked(load) and found.may_fail(found.kernel.body)
    freed = frozenset({(id(load), 0)})
    assert found.bounds_of(load, freed) == ((UNPROVEN,) if check_all else (INSIDE,))
    assert found.is_checked(load, freed) == check_all
