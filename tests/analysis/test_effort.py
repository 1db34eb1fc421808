"""Budgets for questions to isl: of one question, of questions inside one another, and of all about one kernel."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import RLock
from types import FrameType

import islpy as isl
import pytest

from loopwright.analysis import effort
from loopwright.analysis.affine import Affine, SymbolTable, of_symbol, relate
from loopwright.analysis.analyse import analyse
from loopwright.analysis.effort import (
    LABORIOUS,
    TOTAL,
    Effort,
    TooHard,
    is_left,
    laborious,
    remember,
    remembered,
    together,
)
from loopwright.analysis.sets import BRIEF, build, has_divisions, minus, outside_of, simpler
from loopwright.analysis.values import State, value_of
from loopwright.ir.nodes import Binary, Const, Expr, Var
from loopwright.ir.text import parse_kernel
from loopwright.ir.types import INT64
from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget

HARD = "(n >= 3 and m <= n or k >= 2*l) and (p mod 3 = 1 or l <= m) and p != n and m != k"


def ask(times: int = 1) -> None:
    for _ in range(times):
        isl.Set(f"[n, m, k, l, p] -> {{ : {HARD} }}").complement().coalesce()


@pytest.fixture(autouse=True)
def nothing_is_counted_afterwards() -> Iterator[None]:
    yield
    assert isl.DEFAULT_CONTEXT.get_max_operations() == 0
    ask()  # isl works


def test_effort_is_bounded_and_isl_works_afterwards() -> None:
    one = Effort(limit=2000, least=1500)
    for _ in range(3):
        with pytest.raises(TooHard), one.bounded():
            ask()
    assert one.limit == 1500


def test_other_errors_of_isl_are_not_hidden() -> None:
    with pytest.raises(isl.Error), Effort().bounded():
        isl.Set("[n] -> { : n > }")


def test_all_questions_together_have_a_budget() -> None:
    answers = 0
    with pytest.raises(TooHard), together(300_000):
        for _ in range(1000):
            with Effort().bounded():
                ask()
            answers += 1
    assert 2 < answers < 100
    with Effort().bounded():  # others are not concerned
        ask()


def test_the_same_questions_are_answered_each_time() -> None:
    def answers() -> int:
        found = 0
        with together(300_000):
            try:
                while found < 1000:
                    with Effort().bounded():
                        ask()
                    found += 1
            except TooHard:
                pass
        return found

    assert answers() == answers() == answers()


def test_what_others_have_asked_before_makes_no_question_cheaper() -> None:
    remember("some key", 1)
    assert remembered("some key") == 1
    with together():
        assert remembered("some key") is None
        remember("some key", 2)
        with together(1):  # part of the one around it
            assert remembered("some key") == 2
    assert remembered("some key") == 1


def test_what_a_question_made_that_came_to_no_end_is_forgotten() -> None:
    with together(10_000_000):
        remember("before", 1)
        with pytest.raises(TooHard), Effort(limit=2000).bounded():
            remember("in it", 2)
            ask()
        assert remembered("before") == 1 and remembered("in it") is None
        with Effort().bounded():
            remember("later", 3)
        assert remembered("later") == 3


def test_a_question_inside_another_counts_for_both() -> None:
    with pytest.raises(TooHard), Effort(limit=100_000).bounded():
        for _ in range(100):
            with Effort(limit=50_000).bounded():
                ask()


def test_a_question_inside_another_may_fail_alone() -> None:
    with Effort(limit=200_000).bounded():
        with pytest.raises(TooHard), Effort(limit=1000, least=1000).bounded():
            ask()
        ask()
    with pytest.raises(TooHard), Effort(limit=10_000).bounded():  # its own limit still holds
        with pytest.raises(TooHard), Effort(limit=1000, least=1000).bounded():
            ask()
        ask(10)


def test_laborious_questions_have_less() -> None:
    assert Effort().limit > LABORIOUS
    with together(), pytest.raises(TooHard), Effort().bounded():
        laborious()
        ask(50)
    with together(), Effort(patient=True).bounded():
        laborious()
        ask(5)


# ---- sets ---------------------------------------------------------------------------------------------------------


def test_what_is_too_hard_to_simplify_stays_as_it_is() -> None:
    points = isl.Set("[v, s] -> { : exists (e, f: s <= e < v and 1017052*f >= -381521*v - 381521*e and "
                     "2034104*f <= -2 - 763041*v - 763042*e and 1013*f >= -1012 - 380*v - 380*e) }")  # fmt: skip
    given = isl.Set("[v, s] -> { : s >= 0 and v >= 2 }")
    assert has_divisions(points) and BRIEF < 10_000
    with Effort().bounded():
        found = simpler(points, given)
        assert found.intersect(given).plain_is_equal(points.intersect(given)) or has_divisions(found)
    plain = isl.Set("[v, s] -> { : s >= 0 and v >= 2 and v >= s }")
    assert simpler(plain, given).is_equal(isl.Set("[v, s] -> { : v >= s }"))


def test_differences_and_complements() -> None:
    small, large = isl.Set("[n] -> { : 0 <= n < 9 }"), isl.Set("[n] -> { : 0 <= n < 99 }")
    assert minus(large, small).is_equal(isl.Set("[n] -> { : 9 <= n < 99 }"))
    assert outside_of(small).is_equal(isl.Set("[n] -> { : n < 0 or n >= 9 }"))


def chain(op: str, length: int) -> Affine:
    """A value that is `length` operations inside one another."""
    state = State(SymbolTable(), {}, {}, {})
    state.scalars["x"] = of_symbol(state.table.argument("scalar", 0, 0, INT64))
    state.scalars["y"] = of_symbol(state.table.argument("scalar", 1, 0, INT64))
    value: Expr = Binary("mod", Var("x", INT64), Const(1000, INT64))
    for k in range(length):
        right = Const(50 + k, INT64) if op == "mod" else Binary("mod", Var("y", INT64), Const(7 + k, INT64))
        value = Binary(op, Binary("add", value, Const(k, INT64)), right)  # type: ignore[arg-type]
    return value_of(state, value)


@pytest.mark.parametrize(("op", "length"), [("mod", 5), ("min", 12), ("max", 100)])
def test_long_chains_are_not_asked_about(op: str, length: int) -> None:
    form = chain(op, length)
    with pytest.raises(TooHard):
        build((relate(form, "<", form),))


@pytest.mark.parametrize(("op", "length"), [("mod", 2), ("min", 3)])
def test_short_chains_are(op: str, length: int) -> None:
    form = chain(op, length)
    with Effort().bounded():
        assert build((relate(form, "<", form),)).is_empty()


def test_the_budget_of_a_gpu_is_larger() -> None:
    assert effort.TOTAL < effort.FOR_GPU


SOURCE = """
kernel waves(e: float64[2] C, x: float64[2] C, y: float64[2] C, steps: int64):
    for t in 0 .. steps:
        for i in 0 .. size(e, 0):
            for j in 0 .. size(e, 1) - 1:
                x[i, j] = x[i, j] - (e[i, j + 1] - e[i, j])
        for k in 0 .. size(e, 0) - 1:
            for l in 0 .. size(e, 1):
                y[k, l] = y[k, l] + (e[k + 1, l] - e[k, l])
        for p in 1 .. size(e, 0) - 1:
            for q in 1 .. size(e, 1) - 1:
                e[p, q] = e[p, q] + (y[p, q] - y[p - 1, q] - x[p, q] + x[p, q - 1])
        e[size(e, 0) // 2, size(e, 1) // 2] = float64(t)
"""


def test_an_order_with_quotients_has_less() -> None:
    kernel = parse_kernel(SOURCE)
    facts = analyse(kernel)
    with together(TOTAL):
        recipe(kernel, facts, False, CpuTarget())
        assert is_left(TOTAL - 600_000)


@pytest.mark.parametrize("limit", [1, 16, 17, 100, 3_000, 500_000])
def test_operations_are_counted_to_an_eighth(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """And with few questions, as each is one to isl."""
    asked, spent = [0], 0

    def is_fewer_than(count: int) -> bool:
        asked[0] += 1
        return spent < count

    monkeypatch.setattr(effort, "_is_fewer_than", is_fewer_than)
    for spent in {*range(min(limit, 64)), *(limit * part // 97 for part in range(97))}:
        asked[0] = 0
        found = effort._counted(limit)
        assert spent < found <= spent + 1 + max(1, found // 4) and asked[0] <= 8


def test_control_c_at_any_line_leaves_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raised at each line in turn, as Python's handler of signals would; but it would not do so where a `with` is left,
    before the lock is free: each round has a lock of its own, or this thread would keep it from all others."""

    def asks() -> None:
        with together(), Effort().bounded():
            isl.Set("[n] -> { [i] : 0 <= i < n }").complement()
            with Effort().bounded():
                isl.Set("[n] -> { [i] : 0 <= i < n }").complement()

    def raised_at(count: int) -> bool:
        lines = iter(range(count))

        def trace(frame: FrameType, event: str, argument: object) -> Callable[..., object] | None:
            if frame.f_code.co_filename != effort.__file__ or frame.f_code.co_name == "together":
                return None  # its own lines are too few to be hit
            if event == "line" and next(lines, None) is None:
                sys.settrace(None)
                raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        monkeypatch.setattr(effort, "LOCK", RLock())
        sys.settrace(trace)
        try:
            asks()
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(before)
        return False

    counts = 0
    while raised_at(counts):
        with together(5_000_000):
            ask()  # isl raises where a limit is left
            assert is_left(5_000_000), f"line {counts}"
        counts += 1
    assert counts > 100
    monkeypatch.undo()
    with ThreadPoolExecutor(1) as other:
        assert other.submit(effort.LOCK.acquire, blocking=False).result()
        other.submit(effort.LOCK.release).result()
