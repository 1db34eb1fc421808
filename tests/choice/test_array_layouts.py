"""Whether arrays are kept in planes: the trial of a kind of call, and the account of each array, in virtual time."""

from __future__ import annotations

import random
from itertools import product
from statistics import geometric_mean

import pytest

from loopwright.choice.array_layouts import (
    LOOK_NS,
    MAKING_NS,
    OFTEN,
    ArrayUses,
    CallKind,
    PlaneUse,
)
from loopwright.choice.layout_sequence import CallCost, best_plan

MS = 1_000_000.0
HOT = PlaneUse(0, ("x",), ("x",), 0.75)


def run(kind: CallKind, calls: int, records_ns: float, planes_ns: float) -> int:
    """Calls of a kind that takes so long, in planes where a trial wants that; how many were."""
    there = 0
    for _ in range(calls):
        in_planes = kind.phase == "planes"
        there += in_planes
        kind.made(in_planes, (planes_ns if in_planes else records_ns) if kind.timed else None)
        if kind.due:
            kind.inspected([HOT])
    return there


def known(records_ns: float = 4 * MS, planes_ns: float = MS, price_ns: float = 5 * MS) -> CallKind:
    kind = CallKind()
    run(kind, 200, records_ns, planes_ns)
    while kind.phase in ("counted", "records", "planes"):
        run(kind, 1, records_ns, planes_ns)
    assert kind.phase == "known", kind.why
    kind.in_ns[0] = price_ns
    return kind


def test_nobody_looks_before_calls_have_taken_a_while() -> None:
    kind = CallKind()
    run(kind, int(LOOK_NS / MS) // 2, MS, MS)
    assert kind.phase == "new" and not kind.due


def test_calls_that_take_no_time_are_left_alone() -> None:
    kind = CallKind()
    assert run(kind, int(2 * LOOK_NS / 5_000.0), 5_000.0, 1_000.0) == 0
    assert kind.phase == "follows" and "5 us" in kind.why
    assert not kind.timed


def test_a_trial_waits_until_it_costs_little() -> None:
    kind = CallKind()
    needed = int(MAKING_NS / (0.75 * 10 * MS))
    assert run(kind, needed - 1, 10 * MS, MS) == 0
    assert kind.phase == "counted"
    assert run(kind, 12, 10 * MS, MS) == 4  # the first one is not counted
    assert kind.phase == "known" and kind.gain_ns() == 9 * MS


def test_what_is_predicted_to_save_little_is_tried_late() -> None:
    kind = CallKind()
    kind.records_ns = MS
    kind.inspected([PlaneUse(0, ("x",), (), 0.0), PlaneUse(1, ("y",), (), 0.0, fits=False)])
    assert kind.phase == "counted" and [one.position for one in kind.uses] == [0]
    assert run(kind, int(MAKING_NS / MS), MS, MS) == 0  # a trial comes late
    kind.inspected([PlaneUse(1, ("y",), (), 0.0, fits=False)])
    assert kind.phase == "over"


def test_a_kind_follows_when_that_has_avoided_as_much_as_it_costs() -> None:
    kind = CallKind(phase="follows", uses=[HOT], records_ns=MS)
    assert [kind.avoids(MAKING_NS / 3) for _ in range(4)] == [False, False, True, True]
    kind.is_made = True
    for _ in range(4):
        assert kind.timed
        kind.made(True, MS)
    assert kind.phase == "follows" and not kind.timed


def test_a_kind_that_is_slower_in_planes_than_what_it_avoids_does_not_follow() -> None:
    kind = CallKind(phase="follows", uses=[HOT], records_ns=MS, is_made=True)
    for _ in range(4):
        kind.avoids(2 * MS)
        kind.made(True, 4 * MS)
    assert kind.phase == "over" and "slower" in kind.why


def test_few_calls_are_looked_at_while_nothing_is_decided() -> None:
    kind = CallKind(phase="counted", uses=[HOT], records_ns=MS)
    assert kind.unasked() == 0  # the first ones are
    kind.calls, kind.spent_ns = 400, 400 * MS
    assert kind.unasked() == 32 and (kind.calls, kind.spent_ns) == (432, 432 * MS)
    kind.phase = "known"
    assert kind.unasked() == 0


def test_no_gain_is_tried_again_much_later() -> None:
    kind = CallKind()
    trials = run(kind, 1000, 10 * MS, 9.9 * MS)
    assert trials == 8  # of 10 seconds
    assert kind.phase == "counted" and "no gain" in kind.why
    assert run(kind, 1000, 10 * MS, 9.9 * MS) < 8


def test_a_kind_that_changes_is_compared_again() -> None:
    kind = known()
    for _ in range(4 * OFTEN):
        kind.made(True, 5 * MS if kind.timed else None)
        if kind.phase != "known":
            break
    assert kind.phase == "records" and "compared again" in kind.why
    run(kind, 7, 4 * MS, 5 * MS)
    assert kind.phase == "counted" and kind.gain_ns() == 0.0


def test_one_slow_call_changes_nothing() -> None:
    kind = known()
    while not kind.timed:
        kind.made(True, None)
    kind.made(True, 50 * MS)
    kind.made(True, MS)
    assert kind.phase == "known"


def test_an_array_is_converted_when_that_would_have_paid() -> None:
    uses = ArrayUses()
    assert [uses.wanted(2.0, 3.0, 2.0) for _ in range(4)] == [False, False, True, True]


def test_an_array_goes_back_when_planes_lose() -> None:
    uses = ArrayUses(in_planes=True)
    assert [uses.wanted(-2.0, 5.0, 3.0) for _ in range(3)] == [True, False, False]


def test_what_others_look_at_after_each_use_is_not_converted() -> None:
    uses = ArrayUses()
    assert not any(uses.wanted(2.0 - 3.0, 5.0, 3.0) for _ in range(100))


def test_what_conversions_may_lose_is_little_beside_all_calls_or_was_won() -> None:
    kind = known()
    kind.won_ns, kind.total_ns = 0.0, 100 * MS
    assert kind.may_bet(2 * MS) and not kind.may_bet(5 * MS)
    kind.made(True, None)
    assert kind.won_ns == 3 * MS and kind.may_bet(5 * MS)
    kind.converted(20 * MS)
    assert not kind.may_bet(2 * MS)
    assert not any(ArrayUses().wanted(9.0, 5.0, 3.0, 900.0, may_bet=False) for _ in range(9))


def test_arrays_are_expected_to_be_used_as_often_as_those_before_them() -> None:
    kind = known()
    for uses in (3, 10, 10, 10):
        account = ArrayUses()
        assert kind.uses_left(account) == 0.0 or uses == 10
        account.uses = uses
    account = ArrayUses()
    assert kind.uses_left(account) == 10.0
    account.uses = 4
    assert kind.uses_left(account) == 6.0
    account.uses = 12  # it may have any number now
    assert kind.uses_left(account) == 0.0


@pytest.mark.parametrize(("expected", "there"), [(30.0, True), (12.0, True), (9.0, False), (-1.0, False)])
def test_what_is_expected_decides_before_the_first_use(expected: float, there: bool) -> None:
    assert ArrayUses().wanted(3.0, 5.0, 3.0, expected) == there


def test_looks_count_for_what_a_use_gains_on_average() -> None:
    kind = known()
    for _ in range(100):
        usual = [kind.usual_ns(net) for net in (3.0, 3.0, -9.0)]
    assert -1.5 < min(usual) <= max(usual) < 0.0


def _stream(kind: CallKind, uses: int, gain: float, price: tuple[float, float], looks: int) -> float:
    """What so many uses of a new array take, conversions included; somebody looks at it after each so many of them."""
    account, use = ArrayUses(), kind.uses[0]
    kind.in_ns[0], kind.written_ns[0] = price
    taken, touched, was = 0.0, False, False
    for k in range(uses):
        net = gain - (price[1] if touched else 0.0)
        kind.converted(price[1] if touched and was else 0.0)
        usual, left = kind.usual_ns(net), kind.uses_left(account)
        if account.in_planes and net > 0.0:
            is_there = account.stays(net)
        else:
            expected = left * usual if left > 0.0 else None
            is_there = account.wanted(net, price[0], kind.back_ns(use), expected, kind.may_bet(sum(price)))
        if is_there and not was:
            taken += price[0]
            kind.converted(sum(price))
        taken += price[1] if was and not is_there and not touched else 0.0
        taken += kind.planes_ns if is_there else kind.records_ns
        kind.made(is_there, None)
        was, touched = is_there, looks > 0 and (k + 1) % looks == 0
        taken += price[1] if touched and was else 0.0
    return taken + (price[1] if was and not touched else 0.0)


def test_a_grid_of_gains_prices_uses_and_looks() -> None:
    """Of kernel, size, reuse and what others do: nothing is slower than arrays that stay as they are, and nearly
    everything is as fast as the better one of the two layouts."""
    shares, against = [], []
    for gain, price, back, uses, looks in product(
        (0.05, 0.2, 0.5, 0.75, 0.9), (0.3, 1, 3, 10, 40), (0.0, 1.0, 2.0), (1, 2, 3, 5, 10, 30, 100, 400), (0, 1, 5)
    ):
        kind = CallKind(uses=[HOT], phase="known", records_ns=MS, planes_ns=(1 - gain) * MS, total_ns=500 * MS)
        prices = price * MS, price * back * MS
        times = [_stream(kind, uses, gain * MS, prices, looks) for _ in range(30)][12:]
        seen = uses // looks if looks else 0
        planes = prices[0] + uses * kind.planes_ns + prices[1] * (seen + (not looks or uses % looks > 0))
        shares.append(min(uses * MS, planes) / (sum(times) / len(times)))
        against.append(uses * MS / (sum(times) / len(times)))
    assert min(against) >= 0.98
    assert sum(one >= 0.97 for one in shares) >= 0.95 * len(shares)
    assert geometric_mean(shares) >= 0.97


@pytest.mark.parametrize("seed", range(60))
def test_no_sequence_costs_more_than_four_times_the_best_plan(seed: int) -> None:
    draw = random.Random(seed)
    in_ns, back_ns = draw.uniform(1, 20), draw.uniform(1, 20)
    kinds = [(draw.uniform(0, 10), draw.uniform(0, 10)) for _ in range(3)]
    stay = draw.choice([0.0, 0.5, 0.9, 0.98])
    calls, at = [], 0
    for _ in range(200):
        at = at if draw.random() < stay else draw.randrange(3)
        calls.append(kinds[at])
    uses, where, cost = ArrayUses(), False, 0.0
    for records, planes in calls:
        there = uses.wanted(records - planes, in_ns, back_ns)
        cost += 0.0 if there == where else in_ns if there else back_ns
        cost += planes if there else records
        where = there
    costs = [CallCost(("a",), {("records",): records, ("planes",): planes}) for records, planes in calls]
    best = best_plan(costs, lambda _, old, new: in_ns if new == "planes" else back_ns, {"a": "records"})
    assert cost <= 4.0 * best.total_ns + 2 * (in_ns + back_ns)
