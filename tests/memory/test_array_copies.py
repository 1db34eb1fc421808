"""Who has the newest elements, and what is copied for that: against a model that knows each element by itself."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from loopwright.devices.emulated import EmulatedGpu
from loopwright.ir.boxes import Box as Ends
from loopwright.ir.boxes import Reach
from loopwright.memory.array_copies import HOST, ArrayCopies, Copy, make
from loopwright.memory.on_device import on_device
from loopwright.memory.placing import give_back

ARRAYS = {
    "C": lambda: np.zeros((6, 5)),
    "F": lambda: np.zeros((6, 5), order="F"),
    "strided": lambda: np.zeros((12, 10))[::2, ::2],
    "backwards": lambda: np.zeros((6, 5))[::-1],
    "one axis": lambda: np.zeros(9),
    "three axes": lambda: np.zeros((3, 4, 5), np.float32),
}


def here(copies: ArrayCopies, place: str, gpus: dict[str, Any]) -> np.ndarray[Any, Any]:
    """What a place has of an array, rows first."""
    if place == HOST:
        return copies.rows.copy()
    found = np.zeros(copies.rows.shape, copies.rows.dtype)
    if place in copies.placed:
        gpus[place].download(found, copies.placed[place].address)
    return found


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("seed", range(6))
def test_every_element_is_the_newest_where_it_is_wanted(name: str, seed: int) -> None:
    """Three places write and want boxes by chance; each write puts a new number there."""
    numbers = random.Random(seed)
    gpus: dict[str, Any] = {"emulated": EmulatedGpu(1 << 20), "emulated1": EmulatedGpu(1 << 20, number=1)}
    copies = ArrayCopies(ARRAYS[name]())
    truth = np.zeros(copies.rows.shape, copies.rows.dtype)
    for step in range(1, 25):
        place = numbers.choice([HOST, *gpus])
        box = tuple(range(*sorted(numbers.sample(range(size + 1), 2))) for size in truth.shape)
        inside = tuple(slice(one.start, one.stop) for one in box)
        if place != HOST:
            copies.room(place, gpus[place])
        if numbers.random() < 0.5:
            for copy in copies.wanted(place, box):
                make(copy, gpus, "work")
            assert (here(copies, place, gpus)[inside] == truth[inside]).all()
        else:
            truth[inside] = step
            new = np.full(truth[inside].shape, step, truth.dtype)
            if place == HOST:
                copies.rows[inside] = new
            else:
                all_of_it = here(copies, place, gpus)
                all_of_it[inside] = new
                gpus[place].upload(copies.placed[place].address, all_of_it)
            copies.wrote(place, box)
    for copy in copies.homeward():
        make(copy, gpus, "down")
    assert (copies.rows == truth).all()
    for place, placed in copies.placed.items():
        give_back([placed], gpus[place])


def test_nothing_is_copied_twice() -> None:
    copies = ArrayCopies(np.zeros((8, 4)))
    first = list(copies.wanted("emulated", (range(4), range(4))))
    assert [(one.source, one.target, one.box) for one in first] == [(HOST, "emulated", (range(4), range(4)))]
    assert first[0].size_bytes == 4 * 4 * 8
    assert not list(copies.wanted("emulated", (range(1, 3), range(4))))
    second = list(copies.wanted("emulated", (range(2, 6), range(4))))
    assert [one.box for one in second] == [(range(4, 6), range(4))]


def test_what_only_a_lost_device_had_is_nowhere() -> None:
    gpus: dict[str, Any] = {"emulated": EmulatedGpu(1 << 20)}
    copies = ArrayCopies(np.zeros(8))
    copies.room("emulated", gpus["emulated"])
    copies.wrote("emulated", (range(2, 4),))
    copies.lost("emulated")
    with pytest.raises(LookupError):
        copies.homeward()


def test_the_home_of_an_array_may_be_a_gpu() -> None:
    """What it has is not on the host until somebody wants it there, and goes back in the end."""
    gpu = EmulatedGpu(1 << 20)
    address = gpu.allocate(64)
    gpu.upload(address, np.arange(8.0))
    there = on_device(address, (8,), np.dtype(float), None, "emulated", None)
    copies = ArrayCopies(np.empty(8), "emulated", there)
    gpus: dict[str, Any] = {"emulated": gpu}
    for copy in copies.wanted(HOST, (range(2, 5),)):
        make(copy, gpus, "down")
    assert copies.array[2:5].tolist() == [2, 3, 4]
    copies.array[2:5] = 9
    copies.wrote(HOST, (range(2, 5),))
    back = copies.homeward()
    assert [(one.source, one.target, one.box) for one in back] == [(HOST, "emulated", (range(2, 5),))]
    make(back[0], gpus, "work")
    found = np.zeros(8)
    gpu.download(found, address)
    assert found.tolist() == [0, 1, 9, 9, 9, 5, 6, 7]


def test_a_box_of_a_reach_has_the_slowest_axis_first() -> None:
    ends = Ends("s0_0 > 0", [("v1", "v2 - 1"), ("0", "s0_1 - 1")])
    values = {"s0_0": 6, "s0_1": 5, "v1": 1, "v2": 3}
    reach = Reach(ends, None, ends)
    c, f = ArrayCopies(np.zeros((6, 5))), ArrayCopies(np.zeros((6, 5), order="F"))
    assert c.box_of(reach, "written", values) == (range(1, 3), range(5))
    assert f.box_of(reach, "written", values) == (range(5), range(1, 3))
    assert c.box_of(reach, "needed", values) is None
    assert c.box_of(None, "touched", values) is None
    assert ArrayCopies(np.zeros((0, 5))).box_of(reach, "touched", values) is None


def test_two_gpus_that_cannot_reach_each_other_copy_through_the_host() -> None:
    class Alone(EmulatedGpu):
        def copy_from(self, *given: Any) -> bool:
            return False

    gpus: dict[str, Any] = {"emulated": Alone(1 << 20), "emulated1": Alone(1 << 20, number=1)}
    copies = ArrayCopies(np.zeros((4, 4)))
    for place in gpus:
        copies.room(place, gpus[place])
    gpus["emulated"].upload(copies.placed["emulated"].address, np.arange(16.0))
    copies.wrote("emulated", copies.whole)
    for copy in copies.wanted("emulated1", (range(1, 3), range(1, 2))):
        assert isinstance(copy, Copy)
        make(copy, gpus, "work")
    assert here(copies, "emulated1", gpus)[1:3, 1].tolist() == [5, 9]


BOXES = [
    ((5, 6, 7), (range(2, 3), range(1, 5), range(1, 6)), 1),  # a plane without its edge
    ((5, 6, 7), (range(1, 4), range(1, 5), range(1, 6)), 3),
    ((5, 6, 7), (range(1, 4), range(1, 5), range(7)), 1),
    ((5, 6, 7), (range(1, 4), range(6), range(7)), 1),
    ((5, 6), (range(5), range(2, 3)), 1),  # a column
    ((3, 4, 5, 6), (range(1, 3), range(1, 3), range(1, 4), range(2, 5)), 4),
    ((9,), (range(2, 5),), 1),
]


@pytest.mark.parametrize(("shape", "box", "calls"), BOXES)
@pytest.mark.parametrize("reach", [True, False])
def test_rows_of_a_box_are_one_copy(shape: tuple[int, ...], box: tuple[range, ...], calls: int, reach: bool) -> None:
    """What a stencil needs of its neighbour is a plane of short rows: a copy for each takes longer than all else."""
    asked: list[int] = []

    class Counting(EmulatedGpu):
        def copy_from(self, *given: Any) -> bool:
            asked.append(given[4])
            return reach and super().copy_from(*given)

    gpus: dict[str, Any] = {"emulated": Counting(1 << 20), "emulated1": Counting(1 << 20, number=1)}
    copies = ArrayCopies(np.zeros(shape))
    values = np.arange(float(np.prod(shape))).reshape(shape)
    for place in gpus:
        copies.room(place, gpus[place])
    gpus["emulated"].upload(copies.placed["emulated"].address, values)
    gpus["emulated1"].upload(copies.placed["emulated1"].address, -values)
    copies.wrote("emulated", copies.whole)
    for copy in copies.wanted("emulated1", box):
        make(copy, gpus, "work")
    inside = tuple(slice(one.start, one.stop) for one in box)
    wanted = -values
    wanted[inside] = values[inside]
    np.testing.assert_array_equal(here(copies, "emulated1", gpus), wanted)
    assert len(asked) == calls


def test_what_is_copied_comes_from_where_it_was_written() -> None:
    """The copy to the second GPU may still be under way when the third one looks for the elements, too."""
    gpus = {name: EmulatedGpu(1 << 20, number=k) for k, name in enumerate(("emulated", "emulated1", "emulated2"))}
    copies = ArrayCopies(np.zeros(8))
    for place, gpu in gpus.items():
        copies.room(place, gpu)
    copies.wrote("emulated1", (range(2, 6),))
    first = list(copies.wanted("emulated", copies.whole))
    later = list(copies.wanted("emulated2", copies.whole))
    assert {(one.source, one.box) for one in first} == {(one.source, one.box) for one in later}
    assert {one.source for one in later} == {HOST, "emulated1"}
    copies.wrote("emulated", (range(2, 4),))  # from now on that is where it is
    assert [one.source for one in copies.wanted("emulated2", (range(2, 4),))] == ["emulated"]
    copies.lost("emulated")
    copies.lost("emulated1")
    assert [one.source for one in copies.wanted("emulated1", (range(4, 6),))] == ["emulated2"], "better than none"


def test_what_is_yet_to_be_written_is_taken_from_where_it_still_is() -> None:
    copies = ArrayCopies(np.arange(8.0))
    list(copies.wanted("emulated", (range(8),)))
    copies.wrote("emulated", (range(8),))
    copies.will_write("cuda", (range(2, 6),))
    assert not list(copies.wanted("cuda", (range(2, 6),)))
    assert [one.source for one in copies.wanted("emulated1", (range(8),))] == ["emulated"]
    copies.wrote("cuda", (range(2, 6),))
    assert [one.source for one in copies.wanted("emulated1", (range(2, 6),))] == ["cuda"]


@pytest.mark.parametrize("name", ["C", "F", "strided", "backwards", "three axes"])
def test_a_box_of_the_host_is_one_copy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The inside of an array is many stretches of memory: a copy for each takes longer than all else. What lies between
    them on the GPU may be newer, and stays."""
    asked: list[Any] = []
    real = EmulatedGpu.upload

    def upload(gpu: EmulatedGpu, address: int, source: Any, *given: Any) -> None:
        asked.append(given)
        real(gpu, address, source, *given)

    array = ARRAYS[name]()
    array[...] = np.random.default_rng(2).integers(1, 9, array.shape)
    array.flags.writeable = False
    gpus: dict[str, Any] = {"emulated": EmulatedGpu(1 << 20)}
    copies = ArrayCopies(array)
    copies.room("emulated", gpus["emulated"])
    expected = np.full(copies.rows.shape, 77, array.dtype)
    gpus["emulated"].upload(copies.placed["emulated"].address, expected)
    monkeypatch.setattr(EmulatedGpu, "upload", upload)
    box = tuple(range(1, size - 1) for size in copies.rows.shape)
    for copy in copies.wanted("emulated", box):
        make(copy, gpus, "work")
    inside = tuple(slice(1, -1) for _ in box)
    expected[inside] = copies.rows[inside]
    np.testing.assert_array_equal(here(copies, "emulated", gpus), expected)
    assert len(asked) == 1
    give_back([copies.placed["emulated"]], gpus["emulated"])
