"""Decisions in words, and what of a kernel is tested where it stands."""

from __future__ import annotations

import pytest

from codegen.scheduled import after
from loopwright.codegen.cpu_lowering import lowered
from loopwright.codegen.decisions import INSIDE, UNPROVEN, CodegenInput, CpuLowering
from loopwright.codegen.function import Writer
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
    assert list(CpuLowering().notes_of("i")) == []
    assert notes(ROWS) == []
    assert notes(ROWS, "j") == [
        "asks: whether to stop, between strips of iterations, if there are many, which the loop around counts"
    ]
    assert [note.partition(":")[0] for note in notes(COUNT)] == ["updates"] * 3 + ["asks"]
    assert notes(UNEVEN) == ["shares: pieces of equal work, as p tells, for whoever is free"]
    assert notes(UNEVEN, "j")[0] == "tests: indices of a at once, before the first iteration"


def test_lanes_are_told() -> None:
    steps = "parallelize i; vectorize j"
    assert notes(ROWS, "j", steps)[0] == "lanes: do iterations in any order"
    assert notes(UNEVEN, "j", steps)[1] == "lanes: each has a partial result of s"


@pytest.mark.parametrize("check_all", [False, True])
def test_a_check_is_made_where_nothing_is_proven_and_nothing_was_tested_before(check_all: bool) -> None:
    found = given(UNEVEN, "", check_all)
    [load] = [load for load in expressions(found.kernel.body, Load) if load.array == "a"]
    assert found.is_checked(load) and found.may_fail(found.kernel.body)
    freed = frozenset({(id(load), 0)})
    assert found.bounds_of(load, freed) == ((UNPROVEN,) if check_all else (INSIDE,))
    assert found.is_checked(load, freed) == check_all
