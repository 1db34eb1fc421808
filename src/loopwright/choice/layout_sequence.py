"""Layouts for the arrays of a sequence of calls: for each call, and each array that it uses, the layout in which all of
them together take the least time, conversions included. By dynamic programming over the layouts that arrays are in
between calls (Bellman 1957): an array is converted right before a call that wants it otherwise, as nothing is gained by
doing that earlier, and stays as it is through calls that do not use it.

Pure logic: times and prices are handed in. It is exact while there are no more states than `MOST_STATES`; beyond, only
the best ones are followed, and the answer may not be the best one, but what it costs is right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

MOST_STATES = 4096

Price = Callable[[str, str, str], float]
"""What it takes to convert an array from one layout to another one, in nanoseconds."""
_State = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallCost:
    """One call. arrays: that it uses; time_ns: of the call, by the layouts of these, in their order. What is not there
    cannot be run."""

    arrays: tuple[str, ...]
    time_ns: Mapping[tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class LayoutPlan:
    """layouts: of the arrays of each call, in the order of the calls. total_ns: of calls and conversions; inf where no
    plan runs all of them, and then there are no layouts."""

    layouts: tuple[Mapping[str, str], ...]
    total_ns: float


@dataclass(frozen=True, slots=True)
class _Reached:
    """A state after some calls: what that has cost, the state before, and the layouts of the last call."""

    cost: float
    before: _State
    chosen: tuple[str, ...]


def best_plan(
    calls: Sequence[CallCost], price: Price, start: Mapping[str, str], end: Mapping[str, str] | None = None
) -> LayoutPlan:
    """The plan that takes the least time. start: the layout of each array before the first call; end: what some arrays
    have to be in after the last one, as somebody looks at them then."""
    arrays = tuple(dict.fromkeys([*start, *(array for call in calls for array in call.arrays)]))
    if missing := [array for array in arrays if array not in start]:
        raise ValueError(f"no layout is known of '{missing[0]}' before the first call")
    first = tuple(start[array] for array in arrays)
    steps = _forward(calls, arrays, price, first)
    back = {state: _to_end(arrays, state, end or {}, price) for state in steps[-1]}
    last = min(steps[-1], key=lambda state: steps[-1][state].cost + back[state], default=None)
    if last is None or steps[-1][last].cost + back[last] == inf:
        return LayoutPlan((), inf)
    return LayoutPlan(_traced(calls, steps, last), steps[-1][last].cost + back[last])


def best_cycle(calls: Sequence[CallCost], price: Price, layouts: Mapping[str, Sequence[str]]) -> LayoutPlan:
    """The same for a sequence that is repeated: what it costs each time, once it goes round. layouts: that each array
    may have."""
    arrays = tuple(dict.fromkeys(array for call in calls for array in call.arrays))
    begins: list[_State] = [()]
    for array in arrays:
        begins = [(*state, layout) for state in begins for layout in layouts[array]]
    best = LayoutPlan((), inf)
    for state in begins[:MOST_STATES]:
        where = dict(zip(arrays, state, strict=True))
        found = best_plan(calls, price, where, where)
        best = min(best, found, key=lambda plan: plan.total_ns)
    return best


def uses_to_pay(once_ns: float, before_ns: float, after_ns: float) -> float:
    """How often something has to be used for a price that is paid once to come back; inf where it never does."""
    return once_ns / (before_ns - after_ns) if before_ns > after_ns else inf


def _forward(
    calls: Sequence[CallCost], arrays: tuple[str, ...], price: Price, first: _State
) -> list[dict[_State, _Reached]]:
    steps: list[dict[_State, _Reached]] = [{first: _Reached(0.0, first, ())}]
    for call in calls:
        places = [arrays.index(array) for array in call.arrays]
        found: dict[_State, _Reached] = {}
        for state, reached in steps[-1].items():
            for chosen, time_ns in call.time_ns.items():
                moved = list(state)
                cost = reached.cost + time_ns
                for place, array, layout in zip(places, call.arrays, chosen, strict=True):
                    cost += 0.0 if state[place] == layout else price(array, state[place], layout)
                    moved[place] = layout
                known = found.get(after := tuple(moved))
                if cost < inf and (known is None or cost < known.cost):
                    found[after] = _Reached(cost, state, chosen)
        kept = sorted(found, key=lambda one: found[one].cost)[:MOST_STATES] if len(found) > MOST_STATES else found
        steps.append({state: found[state] for state in kept})
    return steps


def _to_end(arrays: tuple[str, ...], state: _State, end: Mapping[str, str], price: Price) -> float:
    there = dict(zip(arrays, state, strict=True))
    return sum(price(one, there[one], to) for one, to in end.items() if one in there and there[one] != to)


def _traced(
    calls: Sequence[CallCost], steps: Sequence[Mapping[_State, _Reached]], last: _State
) -> tuple[Mapping[str, str], ...]:
    found: list[Mapping[str, str]] = []
    for call, reached in zip(reversed(calls), reversed(steps), strict=False):
        one = reached[last]
        found.append(dict(zip(call.arrays, one.chosen, strict=True)))
        last = one.before
    return tuple(reversed(found))
