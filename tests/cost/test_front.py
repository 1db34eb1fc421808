"""What was left out without running: into the store and back."""

from __future__ import annotations

import json
import math

from loopwright.cost.front import PARETO, JudgedCandidates, Point, front_content, front_from, front_of, fronts_of
from loopwright.cost.metrics import Metrics
from loopwright.cost.prune import prune
from loopwright.profile.records import FittedTable
from report.stored import front


def table(content: object, name: str = "k") -> FittedTable:
    return FittedTable(PARETO, "m", name, content, 0.0)


def test_a_front_comes_back_as_it_was() -> None:
    assert front_of(table(json.loads(json.dumps(front_content(front()), allow_nan=False)))) == front()


def test_what_could_not_be_told_comes_back_as_nan() -> None:
    content = front_content(JudgedCandidates(("a", "b"), (Point("x", (1.0, math.nan), True, ""),)))
    found = front_of(table(json.loads(json.dumps(content, allow_nan=False))))
    assert found is not None and math.isnan(found.points[0].values[1])


def test_of_a_kernel_only_its_own() -> None:
    content = front_content(front())
    assert fronts_of([table(content), table(content, "other"), table({}, "k")], "k") == (front(),)


def test_from_what_pruning_said() -> None:
    def judged(*values: float) -> Metrics:
        return Metrics(values, ("efficiency", "utilisation"))

    candidates = {"a": judged(1, 4), "b": judged(4, 1), "same": judged(4, 1), "worse": judged(0.5, 0.5)}
    found = front_from(candidates, prune(candidates, "a"))
    assert found.names == ("efficiency", "utilisation")
    assert {one.schedule: one.kept for one in found.points} == {"a": True, "b": True, "same": False, "worse": False}
    whys = {one.schedule: one.why for one in found.points}
    assert whys["a"] == whys["b"] == "" and whys["same"] == "as good as 'b' in every metric"
    assert whys["worse"].startswith("dominated by ")
    assert front_from({}, prune({})) == JudgedCandidates((), ())
