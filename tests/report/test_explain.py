"""Explanations from hand-made facts: each thing that was proven has its place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.analysis.facts import Bounds, Facts, SizeGuard
from loopwright.ir.nodes import ArrayParam, Const, For, If, Kernel, Load, Location, ScalarParam, Store
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT64
from loopwright.report.explain import CountTexts, explain, made_of_loops, signature_text
from loopwright.report.explanation import Explanation
from report.made import GENERATED, RAN, made

NO_GUARD = SizeGuard((), "", ())


@pytest.fixture
def explanation(tmp_path: Path) -> Explanation:
    return explain(*made(tmp_path), "parallelize k", GENERATED, RAN, CountTexts({"k": "col.shape[0]"}, {"a": "n + 1"}))


def test_it_says_which_kernel(explanation: Explanation, tmp_path: Path) -> None:
    assert (explanation.kernel, explanation.line) == ("spread", 1)
    assert explanation.file == str(tmp_path / "spread.py")
    assert explanation.signature == "spread(a: float64[:], col: int32[:], hist: int64[:], n: int64)"
    assert (explanation.schedule, explanation.guard) == ("parallelize k", "n + 1 <= a.shape[0]")
    assert (explanation.generated, explanation.ran, explanation.notes) == (GENERATED, RAN, ())


def test_loops_carry_source_verdict_and_how_they_run(explanation: Explanation) -> None:
    assert [(loop.name, loop.source_name, loop.line, loop.verdict, loop.run) for loop in explanation.loops] == [
        ("t", "t", 4, "sequential", "sequential"),
        ("k", "k", 6, "reduction", "parallel"),
        ("while.1", "while", 9, "undecided", "sequential"),
    ]
    assert explanation.loops[1].source == "for k in range(len(col)):"


def test_the_conflict_names_both_accesses(explanation: Explanation) -> None:
    conflict = explanation.loops[0].conflict
    assert conflict is not None
    assert (conflict.kind, conflict.target, conflict.distance) == ("RAW", "a", "1")
    assert (conflict.first, conflict.first_line) == ("a[t + 1]", 5)
    assert (conflict.second, conflict.second_line) == ("a[t]", 5)


def test_iterations_of_one_run_and_of_the_whole_call(explanation: Explanation) -> None:
    assert [loop.trip_count for loop in explanation.loops] == ["n", None, None]
    assert [loop.iterations for loop in explanation.loops] == [None, "col.shape[0]", None]


def test_every_array_is_there_with_its_role(explanation: Explanation) -> None:
    assert [(a.name, a.role, a.dtype, a.rank, a.layout) for a in explanation.arrays] == [
        ("a", "argument", "float64", 1, "C"),
        ("col", "argument", "int32", 1, "strided"),
        ("hist", "argument", "int64", 1, "C"),
        ("out", "result", "float64", 1, "C"),
        ("w", "local", "float64", 1, "C"),
    ]
    assert [a.footprint for a in explanation.arrays] == ["n + 1", None, None, None, None]


def test_bounds_of_arrays_and_accesses(explanation: Explanation) -> None:
    a, col, hist, *_ = explanation.arrays
    assert a.bounds == "proven where n + 1 <= a.shape[0], the rest checked"
    assert (col.bounds, hist.bounds) == ("proven", "checked")
    assert [(x.text, x.write, x.bounds, x.reason) for x in a.accesses] == [
        ("a[t + 1]", True, "proven", ""),
        ("a[t]", False, "proven", ""),
        ("a[k]", False, "checked", "the index col[k] is read from an array"),
    ]


def test_without_source_the_loop_variable_is_taken_from_the_name(tmp_path: Path) -> None:
    kernel, facts = made(tmp_path)
    loop = For("i.2", Const(0, INT64), Const(3, INT64), Const(1, INT64), ())
    moved = {"i.2": replace(facts.loops["t"], name="i.2", conflict=None)}
    found = explain(replace(kernel, body=(loop,)), replace(facts, loops=moved)).loops[0]
    assert (found.source_name, found.source, found.line) == ("i", "", 0)


def test_depth_counts_loops_and_not_branches(tmp_path: Path) -> None:
    kernel, facts = made(tmp_path)
    one = Const(1, INT64)
    inner = For("j", one, one, one, ())
    outer = For("i", one, one, one, (If(Const(True, BOOL), (inner,)),))
    known = {name: replace(facts.loops["t"], name=name) for name in "ij"}
    found = explain(replace(kernel, body=(outer,)), replace(facts, loops=known)).loops
    assert [(loop.name, loop.depth) for loop in found] == [("i", 0), ("j", 1)]


def test_shared_memory_is_noted(tmp_path: Path) -> None:
    kernel, facts = made(tmp_path)
    assert explain(replace(kernel, overlap=True), facts).notes == ("arguments share memory, so nothing is reordered",)


def test_two_accesses_at_one_place_are_checked_if_either_is() -> None:
    at = Location("", 3, 0, 4)
    inside = Load("x", (Const(0, INT64),), FLOAT64, at=at)
    store = Store("x", (Const(0, INT64),), inside, at=at)
    kernel = Kernel("f", (ArrayParam("x", FLOAT64, 0, 1),), (store,))
    bounds = {id(store): (Bounds("proven"),), id(inside): (Bounds("checked", "why"), Bounds("proven"))}
    found = explain(kernel, Facts({}, (), NO_GUARD, bounds))
    assert found.arrays[0].bounds == "proven, the rest checked"


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ((), "f()"),
        ((ScalarParam("flag", BOOL, 0),), "f(flag: bool)"),
        ((ArrayParam("x", FLOAT32, 0, 3),), "f(x: float32[:, :, :])"),
        ((ArrayParam("p.x", FLOAT64, 0, 1), ArrayParam("p.id", INT64, 0, 1)), "f(p: {x: float64, id: int64}[:])"),
        (
            (ArrayParam("p.v", FLOAT64, 0, 2, tail=((3, 8),)), ScalarParam("n", INT64, 1)),
            "f(p: {v: float64}[:], n: int64)",
        ),
    ],
)
def test_signature_text(params: tuple[ArrayParam | ScalarParam, ...], text: str) -> None:
    assert signature_text(Kernel("f", params, ())) == text


def test_loops_that_a_schedule_made_belong_to_the_one_whose_name_is_longest() -> None:
    ways = (("c", ()), ("c.o", ("threads",)), ("c.3.o", ("inside",)), ("c.3.i", ("lanes",)), ("strange", ()))
    assert made_of_loops(["c", "c.3", "d"], ways) == {  # type: ignore[arg-type]
        "c": {"c": (), "c.o": ("threads",)}, "c.3": {"c.3.o": ("inside",), "c.3.i": ("lanes",)}, "d": {},
    }  # fmt: skip
