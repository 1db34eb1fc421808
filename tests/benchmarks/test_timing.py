"""A race: in turns, on restored data, with failures as values. Nothing here looks at how long anything took."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.timing import Timing, Track, binder, race


def add_one(a: np.ndarray, n: int) -> None:
    a += n


def test_median_and_spread() -> None:
    timing = Timing((3.0, 1.0, 2.0))
    assert (timing.median, timing.spread) == (2.0, 1.0)


def test_a_track_restores_what_a_run_wrote_and_leaves_the_data_alone() -> None:
    data = {"a": np.arange(3), "n": 7}
    track = Track(data)
    first = track.restored()
    first["a"][:] = -1
    assert track.outputs(["a"])["a"].tolist() == [-1, -1, -1]
    assert track.restored()["a"].tolist() == [0, 1, 2]
    assert track.restored()["a"] is first["a"]
    assert data["a"].tolist() == [0, 1, 2]


def test_contenders_take_turns_on_the_same_restored_data() -> None:
    order: list[str] = []

    def contender(name: str) -> Any:
        def run(a: np.ndarray, n: int) -> None:
            assert a.tolist() == [0, 1, 2], "not restored"
            order.append(name)
            add_one(a, n)

        return binder(run)

    seen = race({"x": contender("x"), "y": contender("y")}, {"a": np.arange(3), "n": 1}, ["a"], rounds=3, budget_s=1e9)
    assert order == ["x", "y"] * 3
    assert {name: len(timing.seconds) for name, timing in seen.timings.items()} == {"x": 3, "y": 3}
    assert seen.results["y"]["a"].tolist() == [1, 2, 3]
    assert not seen.failures


def test_two_rounds_are_run_whatever_the_budget() -> None:
    seen = race({"x": binder(add_one)}, {"a": np.zeros(2), "n": 1}, ["a"], rounds=9, budget_s=0.0)
    assert len(seen.timings["x"].seconds) == 2


def test_who_raises_is_out_and_the_others_go_on() -> None:
    calls = []

    def fails_in_round_two(a: np.ndarray, n: int) -> None:
        calls.append(n)
        if len(calls) == 2:
            raise ValueError("enough")

    binders = {"x": binder(fails_in_round_two), "y": binder(add_one)}
    seen = race(binders, {"a": np.zeros(2), "n": 1}, ["a"], rounds=4, budget_s=1e9)
    assert seen.failures == {"x": "ValueError: enough"}
    assert set(seen.timings) == set(seen.results) == {"y"}
    assert len(calls) == 2 and len(seen.timings["y"].seconds) == 4
