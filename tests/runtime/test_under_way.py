"""What GPUs are asked for in a region comes after what it needs of the regions before, and after what has read what it
writes."""

from __future__ import annotations

import random

import pytest

from loopwright.runtime.region_plans import RegionPlan
from loopwright.runtime.under_way import UnderWay


class Queue:
    """What a GPU was asked for, and what is done before the next thing in its queue."""

    def __init__(self) -> None:
        self.before = frozenset[str]()

    def asked(self, what: str) -> None:
        self.before |= {what}


def exchanged(queues: list[Queue], order: frozenset[tuple[int, int]]) -> None:
    """As in devices.gpu.Gpu.exchange: all events are recorded before anybody waits."""
    events = [queue.before for queue in queues]
    for one, other in order:
        queues[one].before |= events[other]


@pytest.mark.parametrize("seed", range(20))
def test_copies_come_after_writes_and_writes_after_copies(seed: int) -> None:
    """Regions whose copies are chosen by chance, each of them made many times."""
    numbers = random.Random(seed)
    count = numbers.randint(1, 8)
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    plans = [
        RegionPlan(number, (), {}, {}, frozenset(numbers.sample(pairs, min(len(pairs), numbers.randint(0, 5)))))
        for number in range(3)
    ]
    queues, under_way = [Queue() for _ in range(count)], UnderWay()
    copied_from: list[set[str]] = [set() for _ in queues]
    for region in range(30):
        plan = numbers.choice(plans)
        exchanged(queues, under_way.order(plan))
        for one, other in plan.order:
            written = {f"{other} writes in {earlier}" for earlier in range(region)}
            assert written <= queues[one].before, "a copy comes after what it copies"
        readers = [set(one) for one in copied_from]
        for one, other in plan.order:
            queues[one].asked(f"{one} copies from {other} in {region}")
            copied_from[other].add(f"{one} copies from {other} in {region}")
        for place, queue in enumerate(queues):
            assert readers[place] <= queue.before, "nobody writes before all have copied what was there"
            queue.asked(f"{place} writes in {region}")
        under_way.over(plan)


def test_only_those_wait_that_share_something() -> None:
    """In a chain of GPUs each one waits for its neighbours: as many waits as copies, not one for each pair."""
    chain = frozenset(pair for k in range(7) for pair in ((k, k + 1), (k + 1, k)))
    plan, under_way = RegionPlan(0, (), {}, {}, chain), UnderWay()
    for _ in range(3):
        assert under_way.order(plan) == chain
        under_way.over(plan)
    alone = RegionPlan(1, (), {}, {}, frozenset())
    assert under_way.order(alone) == chain, "what was copied from may be written again"
    under_way.over(alone)
    assert not under_way.order(alone)
