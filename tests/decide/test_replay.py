"""What was recorded makes the same choices again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from decide.serving import DEFAULT, MACHINES, Serving, exactly, variant, work
from loopwright.choice.adapt import Adaptive
from loopwright.devices.simulated import linear, sawtooth, slowed
from loopwright.ir.signature import Shape
from loopwright.profile.measurement import Measurement

A, B, BAD = variant("a"), variant("b"), variant("bad")
CURVES = {
    DEFAULT: linear(1000.0),
    A: sawtooth(400_000.0, 512),
    B: slowed(sawtooth(170_000.0, 192), 1.4, 1_000_000_000),
    BAD: linear(1.0),
}
SHAPES = [Shape((size,)) for size in range(200, 2200, 200)]


def lived(seed: int = 0) -> Serving:
    serving = Serving(CURVES, seed=seed, faults={BAD: "wrong"})
    for call in range(3000):
        serving.call(SHAPES[call % len(SHAPES)])
    return serving


def again(history: object, **changed: object) -> Adaptive:
    settings = {"predict": exactly(CURVES), "now": lambda: 0.0, "history": history, **changed}
    return Adaptive("kernel", MACHINES, tuple(CURVES), **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def serving() -> Serving:
    return lived()


def test_the_same_calls_make_the_same_decisions(serving: Serving) -> None:
    other = lived()
    assert other.decisions == serving.decisions
    assert other.rows == serving.rows
    assert other.adaptive.remembered() == serving.adaptive.remembered()
    assert lived(1).decisions != serving.decisions


def test_what_is_remembered_chooses_as_before(serving: Serving) -> None:
    assert len({one.variant for one in serving.decisions[-10:]}) > 1
    before = {shape: serving.adaptive.choose(shape, work(shape)) for shape in SHAPES}
    restored = again(serving.adaptive.remembered())
    for shape, decision in before.items():
        now = restored.choose(shape, work(shape))
        assert (now.variant, now.how) == (decision.variant, decision.how)
        known = serving.adaptive.standings(shape)[now.index].prediction
        assert now.predicted_ns == pytest.approx(known.time_ns)
    assert restored.standings(SHAPES[0])[3].state == "wrong"
    assert {replace(one, made_at=0.0, source="tune") for one in restored.remembered()} == {
        replace(one, made_at=0.0, source="tune") for one in serving.adaptive.remembered()
    }


def test_what_the_store_was_given_keeps_evidence_and_failures(serving: Serving) -> None:
    restored = again(serving.rows)
    assert restored.candidates.proven == serving.adaptive.candidates.proven
    assert restored.candidates.failures.keys() == serving.adaptive.candidates.failures.keys()
    for shape in SHAPES:
        assert restored.choose(shape, work(shape)).proven


def test_the_order_of_shapes_makes_no_difference(serving: Serving) -> None:
    rows = serving.adaptive.remembered()
    there, back = again(rows), again(rows)
    forwards = [there.choose(shape, work(shape)) for shape in SHAPES]
    assert forwards == [back.choose(shape, work(shape)) for shape in reversed(SHAPES)][::-1]


def test_other_kernels_and_machines_say_nothing(serving: Serving) -> None:
    rows = serving.adaptive.remembered()
    for changed in ({"kernel": "another"}, {"machine": "another"}):
        assert again([replace(one, **changed) for one in rows]).candidates.proven == {0}
    assert again([replace(one, variant=variant("gone")) for one in rows]).candidates.proven == {0}


def test_rows_of_calls_come_at_a_bounded_rate(serving: Serving) -> None:
    calls = [one for one in serving.rows if one.source == "call"]
    assert 10 <= len(calls) <= 32 + len(serving.decisions) / 16
    assert all(one.outcome == "ok" and one.runs and one.time_ns > 0 and one.machine == "one" for one in calls)
    assert [one.made_at for one in serving.rows] == sorted(one.made_at for one in serving.rows)


def test_the_newest_of_two_rows_counts() -> None:
    def row(time_ns: float, made_at: float) -> Measurement:
        return Measurement("kernel", "one", A, SHAPES[0], work(SHAPES[0]), "ok", time_ns, runs=9, made_at=made_at)

    for rows in ([row(1.0, 1.0), row(1e9, 2.0)], [row(1e9, 2.0), row(1.0, 1.0)]):
        assert again(rows).choose(SHAPES[0], work(SHAPES[0])).variant == DEFAULT
    assert again([row(1.0, 3.0), row(1e9, 2.0)]).choose(SHAPES[0], work(SHAPES[0])).variant == A
