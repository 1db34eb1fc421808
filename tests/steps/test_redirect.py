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
from loopwright.ir.nodes import For, Kernel, Load, Store
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.types import INT64
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, statements
from loopwright.steps.redirect import Redirect, sorted_keys
from loopwright.steps.schedule import apply_schedule, parse_schedule
from steps.before_after import after, check_same
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE, known
from steps.pictures import check_picture
from steps.same import refusal

WORK = """
kernel work(t: int64[1] C, x: float64[1] C, a: float64[1] C):
    var s: float64
    for i in 0 .. size(a, 0):
        s = 1.0
        for k in 0 .. t[i]:
            s = s * 2.0 + x[i]
        a[i] = s
"""
SIZES = (0, 1, 2, 3, 4, 5, 9, 40)


def calls() -> list[tuple[object, ...]]:
    """Calls of `work`, with trip counts that are negative too."""
    draw = np.random.default_rng(4)
    return [(draw.integers(-3, 9, n), draw.integers(-5, 5, n).astype(float), np.zeros(n)) for n in SIZES]


def test_the_picture() -> None:
    check_picture(Redirect)


@pytest.mark.parametrize("schedule", ["redirect i", "redirect i; parallelize i.a; parallelize i.t"])
def test_the_same_is_computed(schedule: str, tmp_path: Path) -> None:
    changed = check_same(WORK, schedule, calls(), tmp_path)
    assert parse_kernel(print_kernel(changed)) == changed


@pytest.mark.parametrize(
    ("bounds", "first"),
    [("size(a, 0) - 1 .. -1 step -1", 0), ("1 .. size(a, 0)", 1), ("0 .. size(a, 0) step 3", 0), ("5 .. 1", 0)],
)
def test_any_bounds_and_steps(bounds: str, first: int, tmp_path: Path) -> None:
    check_same(WORK.replace("0 .. size(a, 0)", bounds), "redirect i; parallelize i.t", calls(), tmp_path)


def test_inside_a_loop_over_time_it_is_done_anew_each_time(tmp_path: Path) -> None:
    text = """
kernel work(t: int64[1] C, x: float64[1] C, a: float64[1] C):
    for step in 0 .. 3:
        for i in 0 .. size(a, 0):
            for k in 0 .. t[i]:
                a[i] = a[i] * 2.0 + x[i]
            t[i] = 5 - t[i]
"""
    check_same(text, "redirect i; parallelize i.t", calls(), tmp_path)


def test_random_programs_compute_the_same(tmp_path: Path) -> None:
    done = 0
    for seed in range(150):
        one = small(irregular_program(seed))
        facts = analyse(one)
        if Redirect("i").illegal(one, facts, True) is not None:
            continue
        changed, _ = apply_schedule(one, facts, parse_schedule("redirect i"), True)
        verify(changed)
        for n in (0, 1, 9):
            wanted, got = arguments_of(seed, n), arguments_of(seed, n)
            interpret(one, wanted)
            interpret(changed, got)
            for mine, right in zip(got, wanted, strict=True):
                np.testing.assert_array_equal(mine, right)
        done += 1
    assert done > 30


# ---- the order --------------------------------------------------------------------------------------------------

SHOWN = WORK.replace("a: float64[1] C", "a: float64[1] C, o: int64[1] C")


def shows_order(text: str) -> Kernel:
    """The kernel of a text after `redirect i`, with a last loop that only copies the order into `o`."""
    changed = after(text, "redirect i", strict=True)
    last = changed.body[-1]
    assert isinstance(last, For)
    place = (variable(last.name),)
    copied = replace(last, body=(Store("o", place, Load("i.d", place, INT64)),), asserted=False)
    shown = replace(changed, body=(*changed.body[:-1], copied))
    verify(shown)
    return shown


def test_iterations_stand_in_the_order_of_their_keys() -> None:
    shown = shows_order(SHOWN)
    for trips in ([3, 0, 9, 3, 1, 0, 9, -2], [0] * 7, list(range(60)), []):
        order = np.full(len(trips), -1)
        interpret(shown, [np.array(trips, np.int64), np.ones(len(trips)), np.zeros(len(trips)), order])
        keys = [255 - min(int(8 * np.log2(max(t, 0) + 1)), 255) for t in trips]
        assert order.tolist() == np.argsort(keys, kind="stable").tolist()


def test_branches_stand_together() -> None:
    text = SHOWN.replace("for k in 0 .. t[i]:", "if x[i] > 0.0:").replace("        s = s * 2.0", "        s = s * 2.0")
    order = np.full(6, -1)
    interpret(shows_order(text), [np.zeros(6, np.int64), np.array([1.0, -1, np.nan, 2, 0, 5]), np.zeros(6), order])
    assert order.tolist() == [1, 2, 4, 0, 3, 5]


def test_what_the_sorted_loop_is_about() -> None:
    (loop,) = (one for one in after(WORK, "redirect i").body if isinstance(one, For) and one.run == "sorted")
    found = sorted_keys(loop)
    assert (found.keys, found.begins, found.order, found.length) == ("i.k", "i.b", "i.d", variable("i.n"))


# ---- legality ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "loop", "reason"),
    [
        (ROWS, "i", "neither a branch nor a trip count in 'i' depends on data"),
        (PREFIX, "i", "iteration i writes a[i], which iteration i+1 reads as a[i - 1]"),
        (WHILE, "w", "'w' is a while loop"),
        (TOTAL, "i", "its iterations all add to 's'"),
        (COUNT, "i", "its iterations all add to 'h'"),
        (WORK, "j", "there is no loop 'j'"),
        (
            WORK.replace("a[i] = s", "a[i] = s\n        t[0] = 3"),
            "i",
            "different iterations of 'i' touch the same element",
        ),
        (
            WORK.replace("a[i] = s", "a[i] = s\n        if s > 3.0:\n            break i"),
            "i",
            "'i' can be left in the middle",
        ),
        (
            WORK.replace("for k in 0 .. t[i]:", "while s < x[i] named w:"),
            "i",
            "what 's < x[i]' is in an iteration of 'i' is not known before: only running 's < x[i]' tells",
        ),
        (WORK + "    a[0] = s\n", "i", "the value of 's' after its last iteration is needed"),
        (WORK.replace("in 0 .. size(a, 0):", "in 0 .. size(a, 0) parallel:"), "i", "marked to run parallel already"),
    ],
)
def test_refusals_say_why(text: str, loop: str, reason: str) -> None:
    assert reason in refusal(text, f"redirect {loop}", strict=False)


def test_overlapping_arguments_keep_their_order() -> None:
    kernel, facts = known(WORK)
    rejection = Redirect("i").illegal(replace(kernel, overlap=True), facts, strict=False)
    assert rejection is not None and "arguments overlap in memory" in rejection.reason


def test_under_strict_each_iteration_keeps_the_order_of_its_sums() -> None:
    kernel, facts = known(WORK)
    assert Redirect("i").illegal(kernel, facts, strict=True) is None


def test_the_iterations_are_independent_for_whoever_asks() -> None:
    changed, facts = apply_schedule(*known(WORK), parse_schedule("redirect i"), True)
    assert facts.loops["i.t"].verdict == "parallel" and facts.loops["i.a"].verdict == "parallel"
    assert "for i.t in 0 .. i.n independent:" in print_kernel(changed)
    _, facts = apply_schedule(changed, facts, parse_schedule("split i.t 8"), True)
    assert facts.loops["i.t.o"].verdict == "parallel" and facts.loops["i.t"].verdict == "parallel"


def test_bounds_that_were_proven_still_are() -> None:
    kernel, before = known(WORK)
    changed, facts = apply_schedule(kernel, before, parse_schedule("redirect i"), True)
    kinds = {one.kind for node in (*expressions(changed.body, Load), *statements(changed.body, Store))
             for one in facts.bounds_of(node)}  # fmt: skip
    assert kinds == {"proven"} and facts.guard.text == before.guard.text


@pytest.mark.parametrize("step", ["split i.s.p 4", "cut i.s.c n", "parallelize i.s", "unroll i.s.a 4", "reverse i.s.p",
                                  "bind i.s block.x", "redirect i.s", "vectorize i.s.c"])  # fmt: skip
def test_what_sorts_stays_as_it_is(step: str) -> None:
    text = WORK.replace("a: float64[1] C", "a: float64[1] C, n: int64")
    changed, facts = apply_schedule(*known(text), parse_schedule("redirect i"), False)
    rejection = parse_schedule(step)[0].illegal(changed, facts, strict=False)
    assert rejection is not None and "sorted already" in rejection.reason, rejection


def test_candidates_are_the_loops() -> None:
    kernel, facts = known(WORK)
    assert [str(step) for step in Redirect.candidates(kernel)] == ["redirect i", "redirect k"]
    assert [str(step) for step in Redirect.instances(kernel, facts, True)] == ["redirect i"]
