"""Batches of one cell: merged like sets, and what is concluded of them."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.stored import measured
from loopwright.ir.signature import Shape
from loopwright.profile.history import KEPT, cell_of, concluded, merged, pooled
from loopwright.profile.measurement import OUTCOMES, Work

BATCHES = st.builds(
    lambda at, outcome, time, runs: cell_of(measured(time, made_at=at, outcome=outcome, runs=runs)),
    st.integers(0, 20), st.sampled_from(OUTCOMES), st.sampled_from([0.0, 1.0, 2.0]), st.integers(0, 2),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(BATCHES, min_size=1, max_size=12), st.randoms())
def test_cells_merge_in_any_order_any_number_of_times(cells, random):
    whole = reduce(merged, cells)
    shuffled = [*cells, *cells[: len(cells) // 2]]
    random.shuffle(shuffled)
    middle = random.randint(1, len(shuffled))
    halves = [reduce(merged, half) for half in (shuffled[:middle], shuffled[middle:]) if half]
    assert reduce(merged, halves) == whole
    assert len(whole.batches) <= KEPT


def times(*times_ns: float, **changes: object):
    """What is concluded of batches one after another."""
    cells = [cell_of(measured(time, made_at=1000.0 + at, **changes)) for at, time in enumerate(times_ns)]
    return concluded(reduce(merged, cells))


def test_one_measurement_comes_back_as_it_was():
    for one in (measured(), measured(7e9, outcome="timeout", reason="after 7 s", runs=1), measured(0.0, runs=0)):
        assert concluded(cell_of(one)) == one


def test_an_outlier_does_not_steer():
    assert times(100, 101, 1e9, 99, 100).time_ns == 100


def test_what_has_become_slower_is_believed_soon():
    assert times(*[100.0] * 20, *[200.0] * 5).time_ns == 200


def test_runs_and_spread_of_several():
    found = times(100, 120, 110)
    assert (found.time_ns, found.runs, found.made_at) == (110, 15, 1002.0)
    assert found.spread == pytest.approx(5 / 110)  # of the batches: more than within each
    assert times(100, 100, spread=0.2).spread == 0.2


def test_a_wrong_result_is_never_forgotten():
    wrong = cell_of(measured(made_at=1.0, outcome="wrong", reason="b[3] differs", runs=1))
    right = [cell_of(measured(made_at=2.0 + at)) for at in range(2 * KEPT)]
    found = concluded(reduce(merged, [wrong, *right]))
    assert (found.outcome, found.reason) == ("wrong", "b[3] differs")


def test_otherwise_the_last_outcome_counts():
    late = cell_of(measured(made_at=5000.0, outcome="memory", time_ns=0.0, runs=0, reason="no room"))
    found = concluded(merged(cell_of(measured()), late))
    assert (found.outcome, found.time_ns, found.made_at) == ("memory", 0.0, 5000.0)
    again = concluded(merged(merged(cell_of(measured()), late), cell_of(measured(made_at=6000.0))))
    assert (again.outcome, again.runs) == ("ok", 10)


def test_known_work_beats_unknown():
    unknown = cell_of(measured(work=Work(), made_at=5000.0))
    assert merged(unknown, cell_of(measured())).work == measured().work


def test_numbers_of_numpy_become_pythons():
    one = measured(
        np.float64(3), shape=Shape((np.int64(4), np.uint64(2**64 - 1)), (np.float32(0.5), 2)), runs=np.int32(2)
    )
    cell = cell_of(one)
    assert [type(size) for size in cell.shape.sizes] == [int, int]
    assert [type(feature) for feature in cell.shape.features] == [float, float]
    assert type(cell.batches[0].runs) is int and type(cell.batches[0].time_ns) is float


def test_long_and_broken_reasons_are_cut():
    [batch] = cell_of(measured(outcome="crashed", reason="x" * 9999 + "\udce4")).batches
    assert len(batch.reason) == 500 and batch.reason.endswith("x...")
    [batch] = cell_of(measured(outcome="crashed", reason="\udce4")).batches
    batch.reason.encode()


@pytest.mark.parametrize(
    "changes",
    [
        {"time_ns": math.nan}, {"time_ns": math.inf}, {"time_ns": -1.0}, {"spread": math.nan}, {"runs": -1},
        {"runs": 1 << 60}, {"made_at": math.nan}, {"outcome": "good"}, {"cache": "hot"}, {"source": "rumour"},
        {"kernel": ""}, {"shape": Shape((1,), (math.nan,))}, {"work": Work(math.nan)}, {"work": Work(-1.0)},
    ],
)  # fmt: skip
def test_what_nobody_can_have_measured(changes):
    with pytest.raises(ValueError, match="cannot have been measured"):
        cell_of(replace(measured(), **changes))


def test_calls_are_pooled_and_experiments_are_not():
    calls = [measured(float(time), source="call", runs=1, made_at=1000.0 + time) for time in (1, 2, 9)]
    tuned = [measured(5.0), measured(6.0)]
    failed = measured(0.0, source="call", outcome="crashed", runs=1)
    elsewhere = measured(4.0, source="call", n=11)
    found = pooled([calls[0], tuned[0], failed, calls[1], elsewhere, tuned[1], calls[2]])
    assert sorted((m.time_ns, m.runs, m.source, m.outcome) for m in found) == [
        (0.0, 1, "call", "crashed"), (2.0, 3, "call", "ok"), (4.0, 5, "call", "ok"), (5.0, 5, "tune", "ok"),
        (6.0, 5, "tune", "ok"),
    ]  # fmt: skip
    assert next(m for m in found if m.runs == 3).made_at == 1009.0
