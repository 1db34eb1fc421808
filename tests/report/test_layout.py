"""The words and columns of a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from loopwright.report.explain import CountTexts, explain
from loopwright.report.explanation import UNKNOWN, ConflictReport, Explanation, LoopReport, ReductionReport, ServedBy
from loopwright.report.words import duration
from report.made import GENERATED, RAN, SERVED_BY, made

LOOP = LoopReport("i", "i", "", 3, 0, "parallel", "", (), (), None, None, None, False, "parallel")


def bare(**changes: object) -> Explanation:
    empty = Explanation("f", "", 0, "f()", (), (), "", "")
    return replace(empty, **changes)  # type: ignore[arg-type]


def line_with(explanation: Explanation, text: str) -> str:
    [line] = [line for line in str(explanation).splitlines() if text in line]
    return line.strip()


def test_a_whole_report(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    counted = CountTexts({"k": "col.shape[0]"}, {"a": "n + 1"})
    golden("report/spread.txt", str(explain(*made(tmp_path), "parallelize k", GENERATED, RAN, counted)))


def test_a_report_of_nothing(golden: Callable[[str, str], None]) -> None:
    golden("report/nothing.txt", str(bare(notes=("something unusual",))))


@pytest.mark.parametrize(
    ("kind", "distance", "text"),
    [
        ("RAW", "1", "a[i] (line 5) reads what a[i + 1] (line 4) wrote in the iteration before"),
        ("WAR", "2", "a[i] (line 5) overwrites what a[i + 1] (line 4) read 2 iterations earlier"),
        ("WAW", "any", "a[i] (line 5) overwrites what a[i + 1] (line 4) wrote in some earlier iteration"),
    ],
)
def test_conflicts_in_words(kind: str, distance: str, text: str) -> None:
    conflict = ConflictReport("a", kind, "a[i + 1]", 4, "a[i]", 5, distance)
    loop = replace(LOOP, verdict="sequential", run="sequential", conflict=conflict)
    assert line_with(bare(loops=(loop,)), "order:") == f"order: {text}"


@pytest.mark.parametrize(
    ("loop", "by", "text"),
    [
        (LOOP, None, "runs: on all threads"),
        (LOOP, replace(SERVED_BY, threads=1), "runs: on 1 thread"),
        (LOOP, SERVED_BY, "runs: on up to 2 threads"),
        (LOOP, ServedBy("interpreter"), "runs: in order, in the interpreter"),
        (
            replace(LOOP, ways=("threads", "lanes")),
            SERVED_BY,
            "runs: on up to 2 threads, several iterations at once in each (SIMD)",
        ),
        (replace(LOOP, ways=("lanes",)), SERVED_BY, "runs: several iterations at once (SIMD)"),
        (replace(LOOP, ways=()), SERVED_BY, "runs: in order"),
        (replace(LOOP, ways=("inside",)), SERVED_BY, "runs: in order in each thread"),
        (replace(LOOP, ways=("inside", "lanes")), SERVED_BY, "runs: several iterations at once in each thread (SIMD)"),
        (replace(LOOP, ways=()), ServedBy("cpu", 1, True), "runs: in order, as every access is checked"),
        (replace(LOOP, ways=(), verdict="sequential"), ServedBy("cpu", 1, True), "runs: in order"),
        (replace(LOOP, run="vector"), None, "runs: several iterations at once in each thread (SIMD)"),
        (replace(LOOP, run="sequential", trip_count="n - 1"), None, "runs: in order, n - 1 iterations"),
        (
            replace(LOOP, run="sequential", depth=1, trip_count="m - i", iterations="n * m"),
            None,
            "runs: in order, m - i iterations each time, n * m in all",
        ),
    ],
)
def test_how_a_loop_runs_in_words(loop: LoopReport, by: ServedBy | None, text: str) -> None:
    assert line_with(bare(loops=(loop,), served_by=by or UNKNOWN), "runs:") == text


def test_a_loop_that_the_schedule_made_others_of_says_so() -> None:
    several = replace(LOOP, ways=("threads", "lanes"), restructured=True)
    assert line_with(bare(loops=(several,), served_by=SERVED_BY), "runs:") == (
        "runs: restructured, as the schedule says: on up to 2 threads, several iterations at once in each (SIMD)"
    )


def test_prange_is_named_where_it_decided() -> None:
    undecided = replace(LOOP, verdict="undecided", asserted=True)
    assert line_with(bare(loops=(undecided,)), "line ") == "line    3  for i  undecided, asserted by prange"
    assert line_with(bare(loops=(replace(LOOP, asserted=True),)), "line ") == "line    3  for i  parallel"


def test_long_source_lines_are_cut() -> None:
    found = line_with(bare(loops=(replace(LOOP, source="for i in range(" + "n + " * 40 + "n):"),)), "line ")
    assert len(found) < 100 and found.endswith("...  parallel")


def test_nested_loops_are_indented() -> None:
    text = str(bare(loops=(LOOP, replace(LOOP, source_name="j", depth=1))))
    assert "line    3  for i    parallel\n" in text and "line    3    for j  parallel\n" in text


def test_what_was_generated_and_ran() -> None:
    one = replace(RAN, calls=1, parts=(replace(RAN.parts[0], calls=1),))
    cached = bare(generated=replace(GENERATED, from_cache=True, compiler=""), ran=one)
    assert line_with(cached, "generated") == "generated     120 lines of C, taken from the cache"
    assert line_with(cached, "ran ") == (
        "ran           1 call on the cpu, up to 2 threads: last 1.5 ms, fastest 1.25 ms, in all 4 ms"
    )


@pytest.mark.parametrize(
    ("time_ns", "text"),
    [(0, "0 ns"), (999, "999 ns"), (1500, "1.5 us"), (2_345_678, "2.35 ms"), (61e9, "61 s"), (4e12, "4000 s")],
)
def test_durations_read_well(time_ns: float, text: str) -> None:
    assert duration(time_ns) == text


def test_what_goes_along_with_an_extreme_is_named_as_such() -> None:
    pair = (
        ReductionReport("best", "max", "scalar", True, "best"),
        ReductionReport("at", "max", "scalar", True, "best"),
    )
    explanation = bare(loops=(replace(LOOP, reductions=pair),))
    assert line_with(explanation, "into best") == "combines: a maximum into best"
    assert line_with(explanation, "into at") == "combines: what goes along with best into at"
