"""Arrays of other libraries: the same memory or a refusal."""

from __future__ import annotations

import array
import mmap

import numpy as np
import pytest

from loopwright.errors import ArgumentTypeError
from loopwright.memory.arrays import as_numpy


class Dlpack:
    """A library that speaks DLPack only, like jax; `device` as DLPack numbers them."""

    def __init__(self, values: np.ndarray, device: int = 1) -> None:
        self.values, self.device = values, device

    def __dlpack__(self, **options: object) -> object:
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (self.device, 0)


class OldDlpack(Dlpack):
    """A library that cannot yet say that its memory may be written, but has a copy-free __array__: older torch."""

    def __dlpack__(self, stream: object = None) -> object:
        return self.values.__dlpack__()

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        return self.values


class Interface:
    def __init__(self, values: np.ndarray) -> None:
        self.__array_interface__ = values.__array_interface__
        self.values = values


class Copying:
    """Its __array__ makes a new array each time: writing into that would be lost."""

    def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
        if copy is False:
            raise ValueError("a copy is needed")
        return np.zeros(3)


class Cupy:
    __cuda_array_interface__ = None


@pytest.mark.parametrize("wrap", [Dlpack, OldDlpack, Interface, lambda values: values, lambda values: values.data])
def test_the_memory_is_shared_both_ways(wrap):
    values = np.arange(4.0)
    seen = as_numpy(wrap(values))
    seen[0] = 7
    values[1] = 8
    assert values[0] == 7
    assert seen[1] == 8


def test_buffers():
    numbers = array.array("d", [1, 2, 3])
    as_numpy(numbers)[1] = 9
    assert list(numbers) == [1, 9, 3]
    fixed = as_numpy(memoryview(numbers).toreadonly())
    assert fixed.tolist() == [1, 9, 3] and not fixed.flags.writeable
    for narrow in (array.array("i", [1]), bytearray(b"abc"), memoryview(b"abc")):  # sums of them never wrap in Python
        with pytest.raises(ArgumentTypeError, match="Python's ints"):
            as_numpy(narrow)


def test_memory_maps_and_other_subclasses_stay_what_they_are(tmp_path):
    mapped = np.memmap(tmp_path / "file", np.float64, "w+", shape=(3,))
    assert as_numpy(mapped) is mapped
    records = np.rec.array([(1, 2.0)])
    assert as_numpy(records) is records
    with mmap.mmap(-1, 16) as anonymous, pytest.raises(ArgumentTypeError, match="elements of a mmap are Python's ints"):
        as_numpy(anonymous)


@pytest.mark.parametrize(
    ("value", "what", "remedy"),
    [
        ([1.0], "a list is not an array", "np.asarray(x)"),
        ([], "an empty list does not tell what its elements are", "np.empty(0)"),
        (array.array("i", [1]), "the elements of an array.array are Python's ints", "list(x)"),
        (([1], 2), "a tuple is not an array", "np.asarray(x)"),
        (range(3), "a range is not an array", "np.asarray(x)"),
        (np.ma.masked_array([1.0], [True]), "masked", "x.filled()"),
        (np.zeros((1, 1)).view(np.matrix), "matrix", "np.asarray(x)"),
        (Cupy(), "GPU", "x.get()"),
        (Dlpack(np.zeros(2), device=2), "GPU", "copy it to the CPU"),
        (Copying(), "type Copying", ""),
        ({}, "type dict", ""),
        (object(), "type object", ""),
    ],
)
def test_the_rest_is_refused_with_a_remedy(value, what, remedy):
    with pytest.raises(ArgumentTypeError) as caught:
        as_numpy(value, "x")
    assert "argument 'x'" in str(caught.value)
    assert what in str(caught.value)
    assert remedy in str(caught.value)


def test_an_array_that_dlpack_cannot_carry():
    class Broken(Dlpack):
        def __dlpack__(self, **options: object) -> object:
            raise RuntimeError("Can't export tensors that require gradient")

    with pytest.raises(ArgumentTypeError, match=r"(?s)require gradient.*x\.detach\(\)"):
        as_numpy(Broken(np.zeros(2)), "x")
