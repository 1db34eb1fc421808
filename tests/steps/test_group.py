"""Iterations by the path that they take, on a CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis.irregular_programs import arguments_of, irregular_program
from analysis.small import kernel as small
from loopwright.analysis.analyse import analyse
from loopwright.ir.interp import interpret
from loopwright.ir.linear import variable
from loopwright.ir.nodes import Cast, For, Load, Store
from loopwright.ir.text import print_kernel
from loopwright.ir.types import INT64, UINT16
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops, rewrite_body
from loopwright.steps.group import MOST_ROWS, Group
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import PREFIX, ROWS, known
from steps.pictures import check_picture
from steps.same import refusal
from steps.test_redirect import WORK, calls

PATHS = """
kernel paths(t: int64[1] C, x: float64[1] C, a: float64[1] C):
    for i in 0 .. size(a, 0):
        if t[i] < 2:
            if t[i] == 0:
                a[i] = x[i]
            else:
                a[i] = 2.0 * x[i]
        else:
            a[i] = a[i] + 1.0
        if x[i] > 0.0:
            a[i] = a[i] - 5.0
"""


def test_the_picture() -> None:
    check_picture(Group)


@pytest.mark.parametrize("text", [WORK, PATHS])
def test_the_same_is_computed(text: str, tmp_path: Path) -> None:
    changed = check_same(text, "group i 8; parallelize i.o", calls(), tmp_path)
    assert print_kernel(changed).count("step 8 independent parallel") == 1


@pytest.mark.parametrize("bounds", ["size(a, 0) - 1 .. -1 step -1", "1 .. size(a, 0)", "0 .. size(a, 0) step 3"])
def test_any_bounds_and_steps(bounds: str) -> None:
    for text in (WORK, PATHS):
        check_same(text.replace("0 .. size(a, 0)", bounds), "group i 4", calls())


def test_random_programs_compute_the_same() -> None:
    done = paths = 0
    for seed in range(40):
        one = small(irregular_program(seed))
        facts = analyse(one)
        if Group("i", 4).illegal(one, facts, True) is not None:
            continue
        changed, _ = apply_schedule(one, facts, parse_schedule("group i 4"), True)
        verify(changed)
        for n in (0, 9):
            wanted, got = arguments_of(seed, n), arguments_of(seed, n)
            interpret(one, wanted)
            interpret(changed, got)
            for mine, right in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(mine, right)
        done += 1
        paths += print_kernel(changed).count("for i.g")
    assert done > 6 and paths > done


def test_each_path_has_a_loop_without_its_branches() -> None:
    text = print_kernel(after(PATHS, "group i"))
    assert text.count("for i.g") == 6  # the branch inside is met on one side only
    assert "if t[" not in text.partition("for i.p")[2]


def test_iterations_of_a_path_stand_by_their_trip_counts() -> None:
    """The longest first; those of a class in their old order."""
    changed = after(WORK.replace("a: float64[1] C", "a: float64[1] C, o: int64[1] C"), "group i 64", strict=True)
    (path,) = (one for name, one in loops(changed).items() if name == "i.g" and isinstance(one, For))
    place = (variable(path.name),)
    shown = replace(path, body=(Store("o", place, Cast(Load("i.d", place, UINT16), INT64)),), asserted=False)
    changed = replace(changed, body=rewrite_body(changed.body, lambda one: (shown if one.name == "i.g" else one,)
                                                 if isinstance(one, For) else (one,)))  # fmt: skip
    for trips in ([3, 0, 9, 300, 3, 1, 0, 9, 1_000_000, 2000], [0] * 7, list(range(60)), list(range(250, 900, 50)), []):
        order = np.full(len(trips), -1)
        interpret(changed, [np.array(trips, np.int64), np.ones(len(trips)), np.zeros(len(trips)), order])
        long = [t if t < 256 else 224 + int(8 * max(t, 0) ** 0.25) for t in trips]
        assert order.tolist() == np.argsort([-one for one in long], kind="stable").tolist()


def test_a_condition_that_may_fail_is_still_computed() -> None:
    text = PATHS.replace("t[i] == 0", "t[t[i]] == 0")
    assert "[i.j]] == 0" in print_kernel(after(text, "group i"))
    arguments = [np.array([0, 1, 0]), np.ones(3), np.zeros(3)]
    check_same(text, "group i 4", [arguments, [np.array([0, -9, 0]), *arguments[1:]]])


@pytest.mark.parametrize(
    ("text", "step", "reason"),
    [
        (ROWS, "group i", "neither a branch nor a trip count in 'i' depends on data"),
        (PREFIX, "group i", "iteration i writes a[i], which iteration i+1 reads as a[i - 1]"),
        (WORK, "group j", "there is no loop 'j'"),
        (WORK, f"group i {MOST_ROWS + 1}", f"a stretch has at most {MOST_ROWS} iterations"),
    ],
)
def test_refusals_say_why(text: str, step: str, reason: str) -> None:
    assert reason in refusal(text, step, strict=False)


def test_candidates_are_the_loops() -> None:
    kernel, facts = known(WORK)
    assert [str(step) for step in Group.instances(kernel, facts, True)] == ["group i"]
