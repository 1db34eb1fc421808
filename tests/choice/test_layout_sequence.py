from __future__ import annotations

import random
from itertools import product
from math import inf

import pytest

from loopwright.choice import layout_sequence
from loopwright.choice.layout_sequence import CallCost, best_cycle, best_plan, uses_to_pay

ROWS_THEN_COLUMNS = [CallCost(("a",), {("rows",): 1.0, ("columns",): 9.0}),
                     CallCost(("a",), {("rows",): 9.0, ("columns",): 1.0})]  # fmt: skip


def flat(cost: float) -> layout_sequence.Price:
    return lambda array, before, after: cost


def test_an_array_that_is_used_by_rows_and_then_by_columns() -> None:
    """It is converted in between where that costs less than what it saves, and back where somebody looks."""
    cheap = best_plan(ROWS_THEN_COLUMNS, flat(2.0), {"a": "rows"})
    assert [one["a"] for one in cheap.layouts] == ["rows", "columns"] and cheap.total_ns == 4.0
    seen = best_plan(ROWS_THEN_COLUMNS, flat(2.0), {"a": "rows"}, {"a": "rows"})
    assert seen.total_ns == 6.0
    dear = best_plan(ROWS_THEN_COLUMNS, flat(20.0), {"a": "rows"}, {"a": "rows"})
    assert [one["a"] for one in dear.layouts] == ["rows", "rows"] and dear.total_ns == 10.0


def test_a_conversion_pays_where_it_comes_back() -> None:
    one = CallCost(("p",), {("aos",): 8.0, ("soa",): 1.0})
    for calls, taken in ((1, "aos"), (2, "soa"), (9, "soa")):
        plan = best_plan([one] * calls, flat(10.0), {"p": "aos"})
        assert plan.layouts[0]["p"] == taken
    assert uses_to_pay(10.0, 8.0, 1.0) == pytest.approx(10 / 7) and uses_to_pay(1.0, 1.0, 2.0) == inf


def test_opposite_layouts_for_two_inputs() -> None:
    """As the join of Leo's SkyServer wants them."""
    call = CallCost(("objects", "neighbours"), {
        ("aos", "aos"): 10.0, ("aos", "soa"): 4.0, ("soa", "aos"): 14.0, ("soa", "soa"): 8.0})  # fmt: skip
    plan = best_plan([call] * 3, flat(3.0), {"objects": "aos", "neighbours": "aos"})
    assert plan.layouts == ({"objects": "aos", "neighbours": "soa"},) * 3 and plan.total_ns == 15.0


def test_what_wants_planes_early_and_records_late() -> None:
    """As Leo's shortest paths do."""
    calls = [CallCost(("e",), {("aos",): 5.0, ("soa",): 1.0 + 1.5 * k}) for k in range(6)]
    plan = best_plan(calls, flat(1.0), {"e": "aos"})
    assert [one["e"] for one in plan.layouts] == ["soa", "soa", "soa", "aos", "aos", "aos"]


def test_what_cannot_be_run() -> None:
    assert best_plan([CallCost(("a",), {})], flat(1.0), {"a": "rows"}).total_ns == inf
    assert best_plan([CallCost(("a",), {("rows",): 1.0})], flat(inf), {"a": "columns"}).layouts == ()
    assert best_plan([], flat(1.0), {"a": "rows"}).total_ns == 0.0
    with pytest.raises(ValueError, match="no layout is known of 'a'"):
        best_plan(ROWS_THEN_COLUMNS, flat(1.0), {})


# ---- beside all plans that there are ----------------------------------------------------------------------------


def drawn(seed: int) -> tuple[list[CallCost], layout_sequence.Price, list[str], list[str]]:
    """Random calls, prices, arrays and layouts."""
    draw = random.Random(seed)
    arrays, layouts = ["a", "b", "c"][: draw.randint(1, 3)], ["x", "y", "z"][: draw.randint(2, 3)]
    calls = []
    for _ in range(draw.randint(1, 4)):
        used = tuple(draw.sample(arrays, draw.randint(1, min(2, len(arrays)))))
        times = {one: float(draw.randint(1, 20)) for one in product(layouts, repeat=len(used)) if draw.random() < 0.9}
        calls.append(CallCost(used, times))
    prices = {key: float(draw.randint(0, 9)) for key in product(arrays, layouts, layouts)}
    return calls, lambda array, before, after: prices[array, before, after], arrays, layouts


def by_trying(calls: list[CallCost], price: layout_sequence.Price, start: dict[str, str], end: dict[str, str]) -> float:
    best = inf
    for chosen in product(*(call.time_ns for call in calls)):
        total, now = 0.0, dict(start)
        for call, layouts in zip(calls, chosen, strict=True):
            total += call.time_ns[layouts]
            for array, layout in zip(call.arrays, layouts, strict=True):
                total += 0.0 if now[array] == layout else price(array, now[array], layout)
                now[array] = layout
        total += sum(price(array, now[array], to) for array, to in end.items() if now[array] != to)
        best = min(best, total)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_no_plan_is_better(seed: int) -> None:
    calls, price, arrays, layouts = drawn(seed)
    start = dict.fromkeys(arrays, layouts[0])
    end = {arrays[0]: layouts[-1]} if seed % 2 else {}
    plan = best_plan(calls, price, start, end)
    assert plan.total_ns == by_trying(calls, price, start, end)
    if seed < 20:
        found = best_cycle(calls, price, dict.fromkeys(arrays, layouts)).total_ns
        used = list(dict.fromkeys(array for call in calls for array in call.arrays))
        begins = [dict(zip(used, one, strict=True)) for one in product(layouts, repeat=len(used))]
        assert found == min(by_trying(calls, price, one, one) for one in begins)


def test_with_too_many_states_the_best_ones_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_sequence, "MOST_STATES", 2)
    for seed in range(20):
        calls, price, arrays, layouts = drawn(seed)
        start = dict.fromkeys(arrays, layouts[0])
        plan = best_plan(calls, price, start)
        assert plan.total_ns >= by_trying(calls, price, start, {})
