"""Layout and overlap, against the set of bytes that an array really has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from loopwright.memory.overlap import disjoint, extent, layout_of, overlaps_itself, same_array

BUFFER = np.zeros(4096, np.uint8)


def bytes_of(array: np.ndarray) -> list[int]:
    """The address of every byte of every element, with repetitions."""
    places = [0]
    for size, stride in zip(array.shape, array.strides, strict=True):
        places = [place + k * stride for place in places for k in range(size)]
    return [array.ctypes.data + place + byte for place in places for byte in range(array.itemsize)]


@st.composite
def views(draw: st.DrawFn) -> np.ndarray:
    dtype = draw(st.sampled_from([np.uint8, np.int16, np.float64]))
    rank = draw(st.integers(0, 3))
    shape = tuple(draw(st.integers(0, 4)) for _ in range(rank))
    strides = tuple(draw(st.sampled_from([-24, -16, -8, -3, 0, 1, 2, 4, 8, 12, 16, 24, 32, 48])) for _ in range(rank))
    start = 1024 + draw(st.integers(0, 64))
    return as_strided(
        BUFFER[start : start + 8].view(np.uint8)[: np.dtype(dtype).itemsize].view(dtype)[0:1], shape, strides
    )


@given(views(), views())
def test_disjoint_arrays_share_no_byte(first, second):
    shared = set(bytes_of(first)) & set(bytes_of(second))
    if disjoint(first, second):
        assert not shared
    assert disjoint(first, second) == disjoint(second, first)


@given(views())
def test_every_byte_lies_in_the_extent(array):
    low, high = extent(array)
    places = bytes_of(array)
    assert (low, high) == ((min(places), max(places) + 1) if places else (array.ctypes.data,) * 2)


@given(views())
def test_what_does_not_overlap_itself_has_distinct_bytes(array):
    places = bytes_of(array)
    if not overlaps_itself(array):
        assert len(set(places)) == len(places)


@given(views())
def test_the_layout_keeps_its_promise(array):
    layout = layout_of(array)
    if array.size == 0:
        assert layout == "C"
        return
    steps = {"C": _dense(array.shape, array.itemsize), "F": _dense(array.shape[::-1], array.itemsize)[::-1]}
    for place, (size, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        if size == 1:
            continue
        if layout in steps:
            assert stride == steps[layout][place]
        if (layout, place) in (("last", array.ndim - 1), ("first", 0)):
            assert stride == array.itemsize


def _dense(shape: tuple[int, ...], item: int) -> list[int]:
    return [item * int(np.prod(shape[place + 1 :])) for place in range(len(shape))]


GRID = np.zeros((6, 8))
PAIR = np.zeros(5, [("x", "f8"), ("y", "f4"), ("z", "f4")])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (GRID[:3], GRID[3:]),
        (GRID[:, :4], GRID[:, 4:]),
        (GRID[:, 0], GRID[:, 1]),
        (GRID[::2], GRID[1::2]),
        (GRID[:, ::2], GRID[:, 1::2]),
        (GRID[::-1, :4], GRID[:, :3:-1]),
        (GRID.T[:4], GRID.T[4:]),
        (PAIR["x"], PAIR["y"]),
        (PAIR["z"][::-1], PAIR["y"]),
        (GRID[:0], GRID),
        (GRID, np.zeros((6, 8))),
    ],
)
def test_usual_ways_to_split_a_buffer_are_seen_to_be_disjoint(first, second):
    assert disjoint(first, second)


@pytest.mark.parametrize("second", [GRID, GRID[1:], GRID[:, 1:], GRID.T, GRID[::-1], GRID[5:, 7:], GRID.view("i4")])
def test_what_shares_an_element_is_never_disjoint(second):
    assert not disjoint(GRID, second)


def test_overlap_of_one_array_with_itself():
    sliding = as_strided(GRID.ravel(), (10, 3), (8, 8))
    assert overlaps_itself(sliding)
    assert overlaps_itself(np.broadcast_to(GRID[0], (3, 8)))
    for fine in (GRID, GRID.T, GRID[::2, ::-3], GRID[:, 1:2], np.broadcast_to(GRID[0], (1, 8)), GRID[:0], GRID[2, 2]):
        assert not overlaps_itself(fine)


def test_layouts_by_name():
    cube = np.zeros((3, 4, 5))
    assert layout_of(cube) == "C"
    assert layout_of(cube.T) == "F"
    assert layout_of(cube[:, ::2]) == "last"
    assert layout_of(cube[:, ::2].T) == "first"
    assert layout_of(cube[:, :, ::2]) == "strided"
    assert layout_of(cube[0, 0, ::-1]) == "strided"
    assert layout_of(np.zeros(())) == "C"
    assert layout_of(cube[:, :0]) == "C"


def test_the_same_array_is_the_same_in_everything():
    different = [GRID[:], GRID[:-1], GRID.reshape(8, 6), GRID.T, GRID.view("i8"), GRID.copy()]
    assert [same_array(GRID, one) for one in different] == [True] + [False] * 5
    assert all(same_array(one, one) for one in itertools.chain(different))
