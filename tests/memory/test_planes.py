"""Planes beside arrays on the emulated GPU: what is where, and that whoever looks finds it up to date."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated import EmulatedGpu
from loopwright.errors import DeviceMemoryError
from loopwright.kernel import kernel_with
from loopwright.memory.device_array import DeviceArray
from loopwright.memory.planes import WHOLE, Planes, copied, turned
from loopwright.tuning.in_planes import _Conversion

RECORD = np.dtype(
    [("x", "f8"), ("tag", "u1"), ("v", "f4", 3), ("row", "f8", 11), ("m", "c16"), ("k", "i4")], align=True
)
CONVERT = _Conversion(kernel_with)


def filled(shape: Any, dtype: np.dtype[Any] = RECORD) -> np.ndarray:
    count = int(np.prod(shape)) * dtype.itemsize
    return np.frombuffer(np.random.default_rng(3).bytes(count), dtype).reshape(shape).copy()


def kept(array: np.ndarray) -> tuple[DeviceArray, Planes]:
    with lw.options(device="emulated"):
        there = lw.device_array(array)
    there.beside = planes = Planes(there, CONVERT)
    return there, planes


def same(first: np.ndarray, second: np.ndarray) -> bool:
    """All fields, to the last bit: NumPy itself does not keep what lies between them."""
    return all(first[name].tobytes() == second[name].tobytes() for name in RECORD.names or ())


def plane_of(there: DeviceArray, planes: Planes, name: str) -> np.ndarray:
    """What a plane holds, in the order of the array."""
    part = planes._planes[name]
    found = np.empty(part.nbytes // part.dtype.itemsize, part.dtype)
    part.gpu.synchronize()
    part.gpu.download(found, part._address)
    return np.lib.stride_tricks.as_strided(found, part.shape, part._strides)


@pytest.mark.parametrize("shape", [(1,), (37,), (1000,), (5, 7)])
@pytest.mark.parametrize("fields", [("x",), ("tag", "k"), ("v", "x"), ("row",), ("k", "row", "tag", "v", "x")])
def test_planes_hold_what_the_fields_do_to_the_last_bit(shape: tuple[int, ...], fields: tuple[str, ...]) -> None:
    array = filled(shape)
    there, planes = kept(array)
    planes.bring(there, fields)
    for name in fields:
        assert plane_of(there, planes, name).tobytes() == np.ascontiguousarray(array[name]).tobytes()
    planes.written(there, fields)
    assert same(there.numpy(), array)
    assert not planes.ahead


@pytest.mark.parametrize("first", [("b", "c", "d", "e"), ("c",), ("e", "d", "c", "b", "a"), ("d", "b")])
@pytest.mark.parametrize("second", [("a", "b", "c", "d", "e", "f"), ("d", "e"), ("f", "a")])
def test_neighbours_are_turned_together(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    array = filled(133, np.dtype([*((name, "f4") for name in "abcdeg"), ("f", "f8")]))
    there, planes = kept(array)
    for fields in (first, second):
        planes.bring(there, fields)
        for name in fields:
            assert plane_of(there, planes, name).tobytes() == array[name].tobytes()
    planes.written(there, first)
    assert there.numpy().tobytes() == array.tobytes()
    planes.written(there, second)
    assert there.numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize("shape", [(2, 2), (100, 3), (65, 130), (1000, 19)])
def test_of_plain_elements_the_axes_are_turned(shape: tuple[int, int]) -> None:
    array = filled(shape, np.dtype("f4"))
    there, planes = kept(array)
    planes.bring(there, (WHOLE,))
    found = planes.view(there, (WHOLE,)).argument()
    assert found.strides == array.T.copy().T.strides
    assert plane_of(there, planes, WHOLE).tobytes() == array.tobytes()
    planes.written(there, (WHOLE,))
    assert there.numpy().tobytes() == array.tobytes()


def add(p, by):
    for i in range(len(p)):
        p[i]["x"] += by


def test_whoever_looks_finds_what_kernels_did_in_planes() -> None:
    kernel, array = lw.kernel(add), np.zeros(50, RECORD)
    there, planes = kept(array)
    with lw.options(layout="off", device="emulated"):
        planes.bring(there, ("x",))
        planes.written(there, ("x",))
        kernel(planes.view(there, ("x",)), 1.5)
        assert planes.ahead == {"x"}
        assert (np.asarray(there)["x"] == 1.5).all() and not planes.ahead
        kernel(there, 1.0)  # a kernel that takes it as it is
        assert (there.numpy()["x"] == 2.5).all()
        assert planes.missing(there, ("x",)) == ("x",)
        planes.bring(there, ("x",))
        planes.written(there, ("x",))
        kernel(planes.view(there, ("x",)), 1.0)
        kernel(there, 1.0)  # sees what is newer in planes
        assert (there.numpy()["x"] == 4.5).all()


def test_a_look_leaves_planes_as_they_are() -> None:
    there, planes = kept(filled(9))
    planes.bring(there, ("x", "k"))
    planes.written(there, ("k",))
    there.numpy()
    assert planes.missing(there, ("x", "k")) == ()


def test_all_new_elements_make_planes_old() -> None:
    there, planes = kept(filled(9))
    planes.bring(there, ("x",))
    planes.written(there, ("x",))
    there.copy_from(new := filled(9)[::-1])
    assert planes.missing(there, ("x",)) == ("x",)
    assert same(there.numpy(), new)


def test_what_is_written_in_planes_is_a_new_version() -> None:
    there, planes = kept(filled(9))
    before = there.version
    planes.bring(there, ("x",))
    planes.written(there, ())
    assert there.version == before
    planes.written(there, ("x",))
    assert there.version != before


def test_an_array_that_another_thread_uses_is_written_back_and_has_no_planes_from_then_on() -> None:
    there, planes = kept(filled(9))
    assert can_have_planes(there)
    planes.bring(there, ("x",))
    planes.written(there, ("x",))
    there.used()
    planes.written(there, ("x",))
    other = threading.Thread(target=there.used)
    other.start()
    other.join()
    assert not planes.ahead and not can_have_planes(there)


def test_without_room_nothing_happens() -> None:
    array = filled(1000)
    there = DeviceArray(array, EmulatedGpu(array.nbytes + 10_000), "emulated")
    planes = Planes(there, CONVERT)
    with pytest.raises(DeviceMemoryError, match="little room"):
        planes.look_for_room(there, ("row",))
    with pytest.raises(DeviceMemoryError):
        planes.bring(there, ("row",))
    assert same(there.numpy(), array)


def test_planes_make_room_for_arrays() -> None:
    array = filled(1000)
    gpu = EmulatedGpu(2 * array.nbytes + 10_000)
    there = DeviceArray(array, gpu, "emulated")
    asked: list[object] = []
    there.put_beside(planes := Planes(there, lambda sources, targets: asked.append(targets)))
    planes.bring(there, ("row",))
    planes.written(there, ("row",))
    del planes
    other = DeviceArray(array, gpu, "emulated")
    assert there.beside is None and same(there.numpy(), array) and same(other.numpy(), array)
    assert len(asked) == 2  # what was newer in them was written back
    with pytest.raises(DeviceMemoryError):
        DeviceArray(array, gpu, "emulated")


def test_planes_go_with_their_array() -> None:
    there, planes = kept(filled(1000))
    planes.bring(there, ("x", "row"))
    parts = [part._finalizer for part in planes._blocks]
    del there, planes
    assert not any(one.alive for one in parts)  # by counting references, not when garbage is looked for


def can_have_planes(array: Any) -> bool:
    return array.may_be_turned and not array.is_seen


def test_which_arrays_may_have_planes() -> None:
    with lw.options(device="emulated"):
        wanted = [np.zeros(4, RECORD), np.zeros((3, 4)), np.zeros((2, 3), RECORD)]
        others = [np.zeros(4), np.zeros((3, 1)), np.zeros(0, RECORD), np.zeros((2, 3, 4)), np.zeros((), RECORD),
                  np.zeros(4, [("tag", "u1"), ("x", "f8")])]  # fmt: skip
        assert all(can_have_planes(lw.device_array(one)) for one in wanted)
        assert not any(can_have_planes(lw.device_array(one)) for one in others)


def test_what_converts_is_a_function_of_python() -> None:
    sources, targets = [np.arange(5.0), np.arange(5)], [np.zeros(5), np.zeros(5, int)]
    copied(sources, targets)
    turned(source := np.arange(6.0).reshape(2, 3), target := np.zeros((2, 3)))
    assert (targets[0] == sources[0]).all() and (targets[1] == sources[1]).all() and (target == source).all()
