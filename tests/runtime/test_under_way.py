"""What GPUs are asked for in a region comes after what all of them have done in the one before."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from loopwright.memory.region_call import RegionProgram
from loopwright.runtime.participants import Launched, Participant
from loopwright.runtime.under_way import UnderWay


class Queues:
    """A GPU whose queue knows what is done before the next thing in it: marks carry that from one to another."""

    marks: dict[int, frozenset[str]] = {}  # noqa: RUF012
    numbers = itertools.count()

    def __init__(self, name: str) -> None:
        self.name, self.before = name, frozenset[str]()

    def asked(self, what: str) -> None:
        self.before |= {f"{what} on {self.name}"}

    def mark(self, queue: str) -> int:
        assert queue == "work"
        number = next(self.numbers)
        self.marks[number] = self.before
        return number

    def wait(self, queue: str, mark: int) -> None:
        self.before |= self.marks.pop(mark)  # KeyError for one that is used twice


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8])
def test_each_gpu_waits_for_all_others(count: int) -> None:
    program: Any = RegionProgram((), 0, 2, {}, 0, (), lambda *_: None)
    gpus: list[Any] = [Queues(f"gpu{k}") for k in range(count)]
    members = [Participant(gpu.name, program, gpu) for gpu in gpus]
    under_way = UnderWay()
    for region in ("first", "second"):
        under_way.order()
        for gpu in gpus:
            gpu.asked(region)
        under_way.add([Launched(one, 0, range(1), 0, None, [], None) for one in members])
    under_way.order()
    everything = {f"{region} on {gpu.name}" for region in ("first", "second") for gpu in gpus}
    assert [gpu.before for gpu in gpus] == [everything] * count
    assert not Queues.marks, "each mark is used once: the driver keeps it until then"
