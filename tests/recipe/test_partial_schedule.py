from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import For, Kernel, Location, Stmt
from loopwright.ir.text import parse_kernel
from loopwright.ir.walk import loops, rewrite_body
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, chains
from loopwright.steps.expand import Expand
from loopwright.steps.fission import Fission
from loopwright.steps.reorder import Reorder
from loopwright.steps.split import Split
from recipe.planning import COLUMN, COLUMN_SHAPES, GEMM, check_same, plan_of, reasons, steps
from steps.kernels import MATMUL, PREFIX, ROWS, WHILE


def names(partial: PartialSchedule) -> list[tuple[str, ...]]:
    return [tuple(loop.name for loop in chain) for chain in partial.chains()]


def the_loop(partial: PartialSchedule, name: str) -> For:
    loop = loops(partial.kernel)[name]
    assert isinstance(loop, For)
    return loop


# ---- steps ---------------------------------------------------------------------------------------------------------


def test_a_step_is_taken_with_its_reason() -> None:
    partial = plan_of(COLUMN)
    partial.take(Reorder(("i", "j")), "rows")
    assert (steps(partial), reasons(partial)) == ("reorder i j", ["rows"])
    assert names(partial) == [("i", "j")]
    check_same(partial.written, partial.kernel, COLUMN_SHAPES)


def test_a_step_that_is_not_legal_changes_nothing() -> None:
    partial = plan_of(PREFIX)
    with pytest.raises(NotTaken, match=r"^reorder i j$"):
        partial.take(Reorder(("i", "j")), "there is no 'j'")
    assert partial.kernel is partial.written and partial.decisions == []


def test_together_a_step_that_is_not_legal_takes_all_back() -> None:
    partial = plan_of(COLUMN)
    partial.take(Reorder(("i", "j")), "stays")
    kept = partial.kernel
    with partial.together():
        partial.take(Split("j", 8), "legal")
        partial.take(Fission("j", 2), "not legal")
    assert partial.kernel is kept
    assert steps(partial) == "reorder i j"


def test_together_inside_together_takes_back_its_own_part_alone() -> None:
    partial = plan_of(COLUMN)
    with partial.together():
        partial.take(Reorder(("i", "j")), "stays")
        with partial.together():
            partial.take(Split("j", 8), "legal")
            partial.take(Fission("j", 2), "not legal")
        partial.take(Split("i", 4), "after it")
    assert steps(partial) == "reorder i j; split i 4"
    check_same(partial.written, partial.kernel, COLUMN_SHAPES)


def test_together_other_errors_are_not_swallowed() -> None:
    partial = plan_of(COLUMN)
    with pytest.raises(ZeroDivisionError), partial.together():
        raise ZeroDivisionError


TWO_NESTS = """
kernel two(a: float64[2] C, b: float64[1] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            a[i, j] = 2.0 * a[i, j]
    for k in 1 .. size(b, 0):
        b[k] = b[k] + b[k - 1]
"""
TIED = """
kernel tied(a: float64[1] C, b: float64[1] C):
    var s: float64
    for i in 0 .. 8:
        s = a[i]
        b[i] = s + 1.0
    s = 0.0
    for k in 0 .. size(b, 0):
        s = s + b[k]
        b[k] = s
"""


def test_a_step_is_judged_without_the_nests_that_it_has_nothing_to_do_with(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[set[str]] = []
    illegal = Reorder.illegal
    monkeypatch.setattr(Reorder, "illegal", lambda s, k, *rest: judged.append(set(loops(k))) or illegal(s, k, *rest))
    partial = plan_of(TWO_NESTS)
    partial.take(Reorder(("j", "i")), "")
    with pytest.raises(NotTaken):
        partial.take(Reorder(("k", "k")), "")
    assert judged == [{"i", "j"}, {"k"}]
    assert list(loops(partial.kernel)) == ["j", "i", "k"]


def test_nests_that_share_a_scalar_are_judged_together() -> None:
    partial = plan_of(TIED)
    alone = replace(partial.kernel, body=partial.kernel.body[:1])
    step = Expand("s", ("i",))
    assert step.illegal(alone, partial.facts, False) is None
    with pytest.raises(NotTaken):
        partial.take(step, "")


SHIFTED = """
kernel shifted(a: int32[1] C, b: int32[1] C, c: float64[2] C):
    var before: int64
    var shift: int64
    before = int64(a[0])
    for k in 0 .. size(b, 0):
        a[k] = b[k]
    shift = int64(a[0]) - before
    for j in 1 .. size(c, 1):
        for i in 0 .. size(c, 0) - 5:
            c[i, j] = c[i + shift, j - 1]
"""


def test_a_nest_that_writes_between_two_reads_of_an_element_is_not_left_out() -> None:
    partial = plan_of(SHIFTED)
    step = Reorder(("i", "j"))
    body = partial.kernel.body
    alone = replace(partial.kernel, body=(body[0], *body[2:]))
    assert step.illegal(alone, partial.facts, False) is None  # the shift is zero there
    with pytest.raises(NotTaken):
        partial.take(step, "")


# ---- what is known -------------------------------------------------------------------------------------------------


def test_facts_are_those_of_the_kernel_as_it_is_and_asked_for_once() -> None:
    partial = plan_of(GEMM)
    assert partial.present_facts() is partial.facts
    partial.take(Fission("i", 2), "")
    assert set(partial.present_facts().loops) == {"i", "j", "i.1", "k", "j.2"}
    assert partial.present_facts() is partial.present_facts()
    partial.take(Split("j", 4), "")
    assert set(partial.present_facts().loops) == {"i", "j.o", "j", "i.1", "k", "j.2"}


def test_walks_are_those_of_the_kernel_as_it_is_and_asked_for_once() -> None:
    partial = plan_of(COLUMN)
    before = partial.walks()
    assert partial.walks() is before
    partial.take(Reorder(("i", "j")), "")
    assert partial.walks() is not before
    assert [walk.array for walk in partial.walks()] == ["a", "b"]


def test_the_verdict_of_a_loop_is_found_by_its_name_and_of_a_part_of_it_by_its_place() -> None:
    partial = plan_of(MATMUL)
    assert [partial.verdict(the_loop(partial, name)) for name in "kij"] == ["reduction", "parallel", "parallel"]
    kernel = placed(parse_kernel(MATMUL))
    located = PartialSchedule(kernel, with_places(partial), False, kernel)
    located.take(Split("j", 4), "")
    assert located.verdict(replace(the_loop(located, "k"), name="part")) == "reduction"
    assert located.verdict(the_loop(located, "j")) == "parallel"


def test_of_a_loop_from_no_known_place_nothing_is_known() -> None:
    partial = plan_of(GEMM)
    partial.take(Fission("i", 2), "")
    assert the_loop(partial, "i.1").at is None  # so are all loops of a kernel that was read from text
    assert partial.verdict(the_loop(partial, "i.1")) == "undecided"


def placed(kernel: Kernel) -> Kernel:
    """The kernel with a place in a source file for each loop."""

    def place(stmt: Stmt) -> tuple[Stmt, ...]:
        return (replace(stmt, at=place_of(stmt.name)),) if isinstance(stmt, For) else (stmt,)

    return replace(kernel, body=rewrite_body(kernel.body, stmt=place))


def place_of(name: str) -> Location:
    return Location("k.py", ord(name), 0, 1)


def with_places(partial: PartialSchedule) -> Facts:
    """The facts of a plan, as of loops with these places."""
    return replace(partial.facts, loops={n: replace(fact, at=place_of(n)) for n, fact in partial.facts.loops.items()})


# ---- chains --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ROWS, [("i", "j")]),
        (PREFIX, [("i",)]),
        (WHILE, []),
        (MATMUL, [("k", "i", "j")]),
        (GEMM, [("i", "j"), ("i", "k", "j.2")]),
    ],
)
def test_chains(text: str, expected: list[tuple[str, ...]]) -> None:
    assert names(plan_of(text)) == expected


def test_a_chain_begins_inside_what_is_no_loop_with_a_known_step() -> None:
    text = """
kernel k(a: float64[2] C, b: float64[2] C, m: int64):
    for i in 0 .. size(a, 0) step m:
        for j in 0 .. size(a, 1):
            a[i, j] = 0.0
    for i.2 in 0 .. size(a, 0):
        if m > 0:
            for j.2 in 0 .. size(a, 1):
                a[i.2, j.2] = 1.0
    for j.3 in 0 .. size(a, 0) step m:
        a[j.3, 0] = 2.0
"""
    assert [tuple(loop.name for loop in chain) for chain in chains(parse_kernel(text))] == [("j",), ("j.2",)]


def test_the_loops_around_a_loop() -> None:
    partial = plan_of(GEMM)
    assert [loop.name for loop in partial.around("k")] == ["i", "k"]
    assert [loop.name for loop in partial.around("i")] == ["i"]
