"""What is measured when, and what is left out, on a machine whose times are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.choice import regret
from benchmarks.choice.calls import LEAST, MOST, Problem, drawn, machines, scales
from benchmarks.choice.parts import Bench
from benchmarks.choice.prediction import CLASSES, judged, measurements
from benchmarks.choice.rows import Book
from benchmarks.choice.survey import NO_TIME, VISITS, Entry, Point, add, bent, by_medians, left_out, surveyed

from loopwright.config import options
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Work

FAST, SLOW = Variant("cpu", threads=2), Variant("cpu", threads=1)


class Scripted:
    """A problem whose calls take `slower` times n squared ns of the part's time; `late` is added to every second visit
    of a pair."""

    def __init__(self, bench: Bench, slower: float = 2.0, late: float = 0.0, wrong_at: int = 0) -> None:
        self.bench, self.slower, self.late, self.wrong_at = bench, slower, late, wrong_at
        self.calls: list[tuple[str, int, str]] = []

    def arguments(self, scale: float) -> tuple[object, ...]:
        return (np.zeros(round(1000 * scale)),)

    def work(self, sizes: tuple[int, ...]) -> Work:
        return Work(float(sizes[0]) ** 2)

    def call(self, arguments: tuple[Any, ...]) -> tuple[Shape, Work]:
        return Shape(arguments[0].shape), self.work(arguments[0].shape)

    def checked(self, variant: Variant, arguments: tuple[Any, ...], expected: Any) -> tuple[Any, Any]:
        self.calls.append(("checked", arguments[0].size, str(variant)))
        bad = variant == SLOW and arguments[0].size == self.wrong_at
        return "expected", ("wrong", "another result") if bad else None

    def timed(self, variant: Variant, arguments: tuple[Any, ...], budget_s: float) -> Entry:
        self.calls.append(("timed", arguments[0].size, str(variant)))
        before = self.calls.count(self.calls[-1])
        time_ns = arguments[0].size ** 2 * (1.0 if variant == FAST else self.slower) + self.late * (before % 2)
        self.bench._end -= time_ns / 1e9
        return {"time_ns": time_ns, "spread": 0.01, "runs": 9}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    with options(threads=2, store="off", cache=tmp_path / "cache") as config:
        made = Bench(Book(None, {}), "cpu", "small", 1000.0, 1, config, lambda text: None)
    made.begin()
    return made


def survey(bench: Bench, problem: Scripted, points: list[Point], table: list[Entry] | None = None) -> list[Entry]:
    found: list[Entry] = [] if table is None else table
    surveyed(bench, problem, (FAST, SLOW), points, found)  # type: ignore[arg-type]
    return found


POINTS = [Point("seen", 0.02), Point("unseen", 0.03), Point("seen", 0.05)]


def test_visits_of_a_pair_lie_apart(bench: Bench) -> None:
    problem = Scripted(bench)
    table = survey(bench, problem, POINTS)
    assert [(one["kind"], one["scale"], one["variant"]) for one in table] == [
        (point.kind, point.scale, str(variant)) for point in POINTS for variant in (FAST, SLOW)
    ]
    assert all(len(one["visits"]) == VISITS and one["outcome"] == "ok" for one in table)
    assert [what for what, *_ in problem.calls].count("checked") == len(table)
    timed = [call for call in problem.calls if call[0] == "timed"]
    rounds = [timed[start : start + len(table)] for start in range(0, len(timed), len(table))]
    assert all(sorted(one) == sorted(rounds[0]) for one in rounds) and len({tuple(one) for one in rounds}) > 1


def test_the_least_visit_counts_and_the_others_stay(bench: Bench) -> None:
    table = survey(bench, Scripted(bench, late=5000.0), POINTS)
    fast = next(one for one in table if one["variant"] == str(FAST) and one["scale"] == 0.05)
    assert fast["time_ns"] == 2500 and sorted(visit[0] for visit in fast["visits"]) == [2500, 2500, 7500, 7500]
    assert by_medians([fast])[0]["time_ns"] == 5000 and fast["time_ns"] == 2500


def test_visits_that_differ_say_how_far_off_a_time_is() -> None:
    entry: Entry = {}
    for time_ns in (1400.0, 1000.0):
        add(entry, {"time_ns": time_ns, "spread": 0.02, "runs": 50})
    assert (entry["time_ns"], entry["runs"]) == (1000.0, 2) and entry["spread"] == pytest.approx(0.1)
    add(entry, {"time_ns": 1001.0, "spread": 0.02, "runs": 50})
    assert (entry["time_ns"], entry["runs"], entry["spread"]) == (1000.0, 50, 0.02)


def test_who_is_hopeless_is_told_from_smaller_sizes_and_said(bench: Bench) -> None:
    problem = Scripted(bench, slower=400.0)
    table = survey(bench, problem, [Point("seen", 0.1), Point("seen", 0.4)])
    *_, slow = table
    assert (slow["outcome"], slow["expected_ns"]) == ("skipped", 400.0 * 400**2)
    assert "400 times as long" in slow["reason"] and ("timed", 400, str(SLOW)) not in problem.calls
    assert left_out(table) == {"hopeless": 1, "no time": 0}
    # As long, but not so many times as long as the best.
    assert (
        left_out(survey(bench, Scripted(bench, slower=4.0), [Point("seen", 0.1), Point("seen", 5.0)]))["hopeless"] == 0
    )
    # What an earlier survey has found counts.
    more = survey(bench, problem, [Point("unseen", 0.5)], table)
    assert [one["outcome"] for one in more] == ["ok", "ok", "ok", "skipped", "ok", "skipped"]


def test_what_there_is_no_time_for_is_said(bench: Bench) -> None:
    bench._end = bench._begun + 100.0
    table = survey(bench, Scripted(bench), [Point("seen", 1.0), Point("seen", 200.0), Point("seen", 210.0)])
    assert [one["outcome"] for one in table] == ["ok", "ok", "ok", "ok", "skipped", "skipped"]
    assert {one["reason"] for one in table[4:]} == {NO_TIME} and left_out(table) == {"hopeless": 0, "no time": 2}
    assert all(len(one["visits"]) == 1 for one in table[:4])


def test_who_is_wrong_is_visited_no_more_and_left_out_of_the_models(bench: Bench) -> None:
    problem = Scripted(bench, wrong_at=30)
    table = survey(bench, problem, POINTS)
    [bad] = [one for one in table if one["outcome"] != "ok"]
    assert (bad["outcome"], bad["scale"], bad["variant"]) == ("wrong", 0.03, str(SLOW)) and "visits" not in bad
    assert [call[:2] for call in problem.calls].count(("timed", 30)) == VISITS


def test_sizes_that_are_trained_with_reach_the_unseen_ones() -> None:
    assert max(scales("full")) == pytest.approx(MOST) and min(scales("full")) == pytest.approx(LEAST)
    lows, highs = zip(*CLASSES.values(), strict=True)
    assert max(highs) <= MOST and min(lows) >= LEAST
    assert not set(drawn(7, LEAST, MOST, 50)) & set(scales("full"))


def curve(step_at: float, scales: list[float], kind: str = "seen") -> list[Entry]:
    """Times that grow as squares, and three times as fast from a size on."""
    return [
        {
            "kind": kind,
            "scale": s,
            "variant": name,
            "outcome": "ok",
            "time_ns": slower * s**2 * (3 if s > step_at else 1),
        }
        for s in scales
        for name, slower in (("a", 1e6), ("b", 3e6))
    ]


def test_more_is_measured_where_times_bend() -> None:
    grid = [0.1, 0.2, 0.4, 0.8, 1.6]
    for step_at in (0.25, 0.5, 0.62):
        scales = list(grid)
        for _ in range(6):
            found = bent([*curve(step_at, scales), *curve(0.12, scales, "again")])
            assert found is not None and found not in scales
            scales = sorted([*scales, found])
        assert max(s for s in scales if s <= step_at) > 0.8 * min(s for s in scales if s > step_at)


def test_nothing_is_refined_where_nothing_bends_or_nothing_is_known() -> None:
    grid = [0.1, 0.2, 0.4]
    assert bent([]) is None and bent(curve(0.15, grid[:2])) is None
    assert bent([{**one, "time_ns": 5.0} for one in curve(0.3, grid)]) is None
    skipped = {"outcome": "skipped", "reason": NO_TIME}
    assert bent([{**one, **skipped} for one in curve(0.3, grid)]) is None
    # Who did not run at all sizes is not asked.
    some = [{**one, **skipped} if (one["variant"], one["scale"]) == ("a", 0.4) else one for one in curve(0.3, grid)]
    assert bent(some) == pytest.approx((0.2 * 0.4) ** 0.5) or bent(some) == pytest.approx((0.1 * 0.2) ** 0.5)


def test_a_refined_size_is_visited_like_the_others(bench: Bench) -> None:
    problem = Scripted(bench, late=5e5)
    table: list[Entry] = []
    grid = [Point("seen", one) for one in (0.02, 0.05, 0.1, 0.4)]
    surveyed(bench, problem, (FAST, SLOW), grid, table, refined=2)  # type: ignore[arg-type]
    assert len({one["scale"] for one in table}) == 6 and {one["kind"] for one in table} == {"seen"}
    assert all(len(one["visits"]) == VISITS for one in table)


def call(scale: float, variant: Variant, n: int, kind: str = "unseen", **found: Any) -> Entry:
    told = {"kind": kind, "scale": scale, "sizes": (n, n, n, n, n, n, n), "variant": str(variant), "outcome": "ok"}
    return told | {"spread": 0.01, "runs": 9} | found


def test_a_choice_of_what_was_hopeless_has_a_regret_and_a_call_without_time_has_none(bench: Bench) -> None:
    problem, fingerprints = Problem("gesummv", bench.config), machines(bench)
    seen = [
        call(n / 1000, variant, n, "seen", time_ns=slower * n**2)
        for n in (50, 100, 200, 400)
        for variant, slower in ((FAST, 2.0), (SLOW, 1.0))
    ]
    skipped = {"outcome": "skipped", "reason": "it was expected to take 7 times as long as the best"}
    chosen = [call(0.3, FAST, 300, time_ns=1e5), call(0.3, SLOW, 300, expected_ns=7e5, **skipped)]
    late = [call(0.35, FAST, 350, time_ns=1e5), call(0.35, SLOW, 350, outcome="skipped", reason=NO_TIME)]
    found = regret.judged(problem, [*seen, *chosen, *late], fingerprints)
    assert found["regrets"] == [pytest.approx(6.0)] and found["calls left out"] == 1
    assert len(measurements(problem, [*seen, *chosen, *late], fingerprints)) == len(seen)
    assert judged(problem, [*seen, *chosen, *late], fingerprints)["unseen"] == 2


def test_what_half_of_the_visits_tell_of_the_other_half() -> None:
    def visits(*times: float) -> list[list[float]]:
        return [[time_ns, 0.0, 5] for time_ns in times]

    steady = [call(0.1, FAST, 9, visits=visits(1, 1, 1, 1)), call(0.1, SLOW, 9, visits=visits(2, 2, 2, 2))]
    swapped = [call(0.2, FAST, 9, visits=visits(1, 3, 1, 3)), call(0.2, SLOW, 9, visits=visits(2, 2, 2, 2))]
    assert regret.by_half(steady) == 0.0 and regret.by_half([*steady, *swapped]) == pytest.approx(0.25)
    assert regret.by_half([call(0.1, FAST, 9)]) is None


def test_calls_leave_what_they_are_given_as_it_was(bench: Bench) -> None:
    """Visits share the arguments of a size."""
    problem = Problem("gemver", bench.config)
    arguments = problem.arguments(0.02)
    before = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    expected, wrong = problem.checked(FAST, arguments, None)
    assert wrong is None and expected is not None and len(expected) == len(problem.written) > 0
    assert any(
        not np.array_equal(one, before[place]) for place, one in zip(sorted(problem.written), expected, strict=True)
    )
    assert problem.timed(SLOW, arguments, 0.002)["runs"] >= 1
    assert all(np.array_equal(one, other) for one, other in zip(arguments, before, strict=True))
    assert problem.arguments(0.02) is arguments
    assert problem.checked(SLOW, arguments, expected)[1] is None
    other = tuple(one + 1 for one in expected)
    assert problem.checked(SLOW, arguments, other)[1][0] == "wrong"  # type: ignore[index]
    refused, reason = problem.checked(Variant("cpu", "tile nobody 32", 2), arguments, expected)
    assert refused is expected and reason is not None and reason[0] == "refused"
