"""What is concluded of times: biases of predictions, variants that borrow one, and doubt that one measurement clears.
What it leads to over thousands of calls is in test_adapt.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from faults.stored import measured
from loopwright.choice.knowledge import Biases, Calls, Knowledge, Learned, logarithm
from loopwright.choice.series import TRUSTED
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.predict.prediction import How, Prediction
from loopwright.profile.measurement import Work

A, B, C = (Variant("cpu", schedule, 2) for schedule in "abc")
GPU = Variant("cuda")
SHAPE, OTHER = Shape((10,)), Shape((20,))


def knowledge(*variants: Variant, times: Sequence[float] = (), how: How = "interpolated") -> Knowledge:
    """Predictions are the given times, by default 100 of each."""
    predictions = [Prediction(time, 0.1, how) for time in times or [100.0] * len(variants)]
    return Knowledge(variants, lambda shape, work: predictions)


def under(known: Knowledge, shape: Shape = SHAPE) -> Calls:
    return known.calls.get(shape) or known.under(shape, Work(), {})


def serve(known: Knowledge, index: int, time_ns: int, times: int = TRUSTED, shape: Shape = SHAPE) -> bool:
    """One call after another; whether any of them told that more than this one has moved."""
    calls = under(known, shape)
    calls.previous = index
    moved = [known.served(calls, index, [time_ns]) for _ in range(times)]
    return any(moved)


def steady(known: Knowledge, index: int, time_ns: int = 100, shape: Shape = SHAPE) -> None:
    """Enough calls that it is known what is usual."""
    assert not serve(known, index, time_ns, 60, shape)


# ---- logarithms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time_ns", "otherwise", "of"),
    [
        (math.e, 7.0, math.e),
        (0.0, 7.0, 7.0),
        (-1.0, 7.0, 7.0),
        (math.nan, 7.0, 7.0),
        (math.inf, 7.0, 7.0),
        (0.0, 0.0, 1.0),
        (0.5, 7.0, 0.5),
    ],
)
def test_times_that_are_none_have_a_logarithm(time_ns: float, otherwise: float, of: float) -> None:
    assert logarithm(time_ns, otherwise) == pytest.approx(math.log(of))


# ---- biases -------------------------------------------------------------------------------------------------------


def learned(*levels: float, first: Sequence[float] = (), offset: float = 0.0) -> Learned:
    one = Learned(offset=offset)
    one.levels.extend(levels)
    one.first.extend(first)
    return one


def test_a_bias_is_the_median_of_what_predictions_were_off_by() -> None:
    assert Learned().bias() is None
    assert learned(0.2, 9.0, 0.1).bias() == 0.2
    assert learned(first=[0.3] * (TRUSTED - 1)).bias() is None  # first calls say little
    assert learned(first=[0.3] * TRUSTED).bias() == 0.3
    assert learned(0.1, first=[0.3] * TRUSTED).bias() == 0.1


def test_what_has_moved_is_off_by_that_much_more() -> None:
    one = learned(0.1, 0.2, first=[0.3], offset=0.5)
    one.moved(1.0)
    assert (list(one.levels), list(one.first), one.offset) == ([1.1, 1.2], [1.3], 1.5)


def test_who_has_no_bias_borrows_that_of_its_device() -> None:
    biases = Biases()
    biases.extend((A, B, C, GPU))
    assert biases.factors.tolist() == [1, 1, 1, 1]
    biases.put(0, learned(math.log(2)))
    assert biases.factors == pytest.approx([2, 2, 2, 1])
    biases.put(1, learned(math.log(8)))
    assert biases.factors == pytest.approx([2, 8, 4, 1])
    assert biases.known("cpu") == pytest.approx([math.log(2), math.log(8)]) and biases.known("cuda") == []


def test_what_is_borrowed_is_as_it_was_before_anything_moved() -> None:
    biases = Biases()
    biases.extend((A, B))
    biases.put(0, learned(math.log(6), offset=math.log(3)))
    assert biases.factors == pytest.approx([6, 2])
    biases.put(1, learned(offset=math.log(5)))  # believed to have moved, never measured
    assert biases.factors == pytest.approx([6, 10])


def test_more_variants_keep_what_was_learned() -> None:
    biases = Biases()
    biases.extend((A,))
    biases.put(0, learned(1.0))
    biases.extend((A, B, GPU))
    assert biases.factors == pytest.approx([math.e, math.e, 1])
    assert Biases().factors.size == 0


# ---- forecasts ----------------------------------------------------------------------------------------------------


def test_without_any_calls_it_is_what_was_predicted() -> None:
    known = knowledge(A, B, times=[100.0, 200.0])
    calls = under(known)
    assert known.forecast(calls, 1) == Prediction(200.0, 0.1, "interpolated")
    assert list(known.forecasts(calls)) == [known.forecast(calls, 0), known.forecast(calls, 1)]


def test_what_was_measured_is_no_prediction_and_the_others_share_its_bias() -> None:
    known = knowledge(A, B, GPU)
    serve(known, 0, 300)
    calls = under(known)
    found = known.forecasts(calls)
    assert [one.how for one in found] == ["measured", "interpolated", "interpolated"]
    assert [one.time_ns for one in found] == pytest.approx([300, 300, 100])
    assert found[0].error < 0.1
    assert list(found) == [known.forecast(calls, index) for index in range(3)]
    assert [one.time_ns for one in known.forecasts(under(known, OTHER))] == pytest.approx([300, 300, 100])


def test_limits_of_the_device_have_no_bias_and_give_none() -> None:
    limit = Prediction(5.0, 1, "limits")
    known = Knowledge((A, B), lambda shape, work: [Prediction(100.0, 0.1, "interpolated"), limit])
    serve(known, 0, 300)
    assert known.forecast(under(known), 1) == known.forecasts(under(known))[1] == limit
    serve(known, 1, 50)
    assert known.learned[1].bias() is None


def test_a_store_tells_what_served_last() -> None:
    known = knowledge(A, B, C)
    history = {
        0: measured(70.0, source="call", made_at=5.0, spread=0.0, runs=3),
        1: measured(80.0, source="call", made_at=6.0),
        2: measured(60.0, source="tune", made_at=9.0),
    }
    calls = known.under(SHAPE, Work(), history)
    assert calls.previous == 1 and known.calls[SHAPE] is calls
    assert [one.time_ns for one in known.forecasts(calls)] == [70, 80, 60]
    assert known.forecast(calls, 0).error == 0.01  # no time is known better
    assert known.under(OTHER, Work(), {}).previous is None


def test_new_tables_forget_biases_but_not_calls() -> None:
    known = knowledge(A, B)
    serve(known, 0, 300)
    known.refresh(lambda shape, work: [Prediction(150.0, 0.1, "tree"), Prediction(50.0, 0.2, "tree")])
    found = known.forecasts(under(known))
    assert [one.how for one in found] == ["measured", "tree"]
    assert [one.time_ns for one in found] == pytest.approx([300, 100])  # now they are off by 2


def test_more_variants_come_behind() -> None:
    known = knowledge(A, times=[100.0, 50.0])
    serve(known, 0, 300)
    known.extend((A, B))
    assert len(known.learned) == 2 and known.learned[0].bias() is not None
    assert known.beside(0) == [1] and known.beside(1) == [0]
    assert known.forecast(under(known), 1).time_ns == pytest.approx(150)


def test_how_sure_a_borrowed_bias_is() -> None:
    known = knowledge(A, B, C, Variant("cpu", "d", 2), GPU)
    assert known.borrowed(0) is None
    for index, time_ns in enumerate((100, 200)):
        serve(known, index, time_ns)
    assert known.borrowed(0) is None  # it has its own
    middle, apart = known.borrowed(3) or (0, 0)
    assert middle == pytest.approx(math.log(2) / 2) and apart == math.inf
    serve(known, 2, 200)
    middle, apart = known.borrowed(3) or (0, 0)
    assert middle == pytest.approx(math.log(2))
    assert apart == pytest.approx(1.5 * math.log(2) * math.sqrt(2) / 3)
    assert known.borrowed(4) is None  # of a device of which nothing is known


# ---- experiments --------------------------------------------------------------------------------------------------


def test_an_experiment_counts_as_it_compares_with_what_served_beside_it() -> None:
    known = knowledge(A, B)
    serve(known, 0, 100)
    known.tried(under(known), 1, [150, 150, 150], [300, 300, 300])  # the device was busy: three times as slow
    assert known.forecast(under(known), 1).time_ns == pytest.approx(50)


def test_an_experiment_alone_counts_as_it_is() -> None:
    known = knowledge(A, B)
    known.tried(under(known), 1, [150, 0, 160], [])
    assert known.forecast(under(known), 1)[::2] == (150, "measured")
    assert known.learned[1].bias() == pytest.approx(math.log(1.5))


def test_what_is_nearly_as_was_believed_moves_no_others() -> None:
    known = knowledge(A, B, C)
    for index in range(3):
        steady(known, index)
    serve(known, 0, 300, 30)
    before = known.forecast(under(known), 2).time_ns
    known.tried(under(known), 1, [known.forecast(under(known), 1).time_ns * 1.02] * 5, [])  # type: ignore[list-item]
    assert known.forecast(under(known), 2).time_ns == before
    assert known.doubted(under(known), 2) == 0  # but it is in doubt no more


# ---- moves --------------------------------------------------------------------------------------------------------


def test_a_device_that_has_moved_takes_all_its_variants_along() -> None:
    known = knowledge(A, B, GPU)
    for index in range(3):
        steady(known, index)
    assert known.alarms == 0
    assert serve(known, 0, 300, 20)
    assert known.alarms == 1
    found = [one.time_ns for one in known.forecasts(under(known))]
    assert found[0] == pytest.approx(300, rel=0.05) and found[1] > 200 and found[2] == pytest.approx(100)
    assert known.doubted(under(known), 0) == known.doubted(under(known), 2) == 0 < known.doubted(under(known), 1)


@pytest.mark.parametrize(("time_ns", "shared"), [(300, True), (100, False)])
def test_one_measurement_clears_the_doubt_of_all(time_ns: int, shared: bool) -> None:
    """Of a variant that has moved along as was believed, or has not: the third one is taken to be like it."""
    known = knowledge(A, B, C)
    for index in range(3):
        steady(known, index)
    serve(known, 0, 300, 30)
    known.tried(under(known), 1, [time_ns] * 5, [])
    found = [one.time_ns for one in known.forecasts(under(known))]
    assert found[1] == pytest.approx(time_ns, rel=0.1)
    assert found[2] > 200 if shared else found[2] == pytest.approx(100, rel=0.15)
    assert [known.doubted(under(known), index) for index in range(3)] == [0, 0, 0]


def test_a_variant_that_was_never_measured_says_nothing_of_others() -> None:
    known = knowledge(A, B, C)
    for index in (0, 2):
        steady(known, index)
    serve(known, 0, 300, 30)
    doubt = known.doubted(under(known), 2)
    known.tried(under(known), 1, [7] * 5, [])
    assert known.doubted(under(known), 1) == 0 and known.doubted(under(known), 2) == doubt > 0


def test_one_shape_that_changes_alone_is_in_doubt_alone() -> None:
    known = knowledge(A, B)
    shapes = [Shape((size,)) for size in range(10)]
    for shape in shapes:
        serve(known, 0, 100, 130, shape)
        serve(known, 1, 100, 20, shape)
    for shape in shapes * 40:
        serve(known, 0, 160 if shape == shapes[0] else 100, 1, shape)
    assert known.alarms == 1
    assert known.doubted(under(known, shapes[0]), 1) > 0 == known.doubted(under(known, shapes[1]), 1)
    assert known.forecast(under(known, shapes[1]), 1).time_ns == pytest.approx(100)


def test_times_of_zero_and_long_batches() -> None:
    one, other = knowledge(A), knowledge(A)
    for _ in range(64):
        one.served(under(one), 0, [0])
    other.served(under(other), 0, [0] * 64)
    for known in (one, other):
        assert known.forecast(under(known), 0).time_ns == 0 and known.alarms == 0
        assert under(known).series[0].calls == 64
