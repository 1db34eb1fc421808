"""How often a `lw.device_array` may have been written, in every way to write it, and what is kept while it was not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from threading import Thread
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices import gpus
from loopwright.errors import BoundsError, DeviceError
from loopwright.memory import device_array, offload
from loopwright.memory.device_array import DeviceArray, version_of
from loopwright.memory.on_device import on_device
from loopwright.runtime import execute
from memory.watched import Watched


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: watched)
    monkeypatch.setattr(offload, "gpu_of", lambda _: watched)
    for function in (add_one, gather, doubled):  # code for this GPU
        monkeypatch.setitem(globals(), function.__name__, lw.kernel(function))
    with lw.options(device="emulated"):
        yield watched


def add_one(a, b):
    for i in range(a.shape[0]):
        b[i] = a[i] + 1.0


def gather(a, index, b):
    for i in range(index.shape[0]):
        b[i] = a[index[i]]


def doubled(a):
    b = np.empty(a.shape[0])
    for i in range(a.shape[0]):
        b[i] = 2 * a[i]
    return b


def there(*values: float) -> DeviceArray:
    return lw.device_array(np.array(values, float))


def on_the_cpu(a: Any) -> list[float]:
    """What a call finds that runs on the CPU, and so on a copy."""
    b = np.zeros(a.shape)
    with lw.options(checks="all"):
        add_one(a, b)
    return [float(one) - 1 for one in b]


def by_a_kernel(a: DeviceArray) -> None:
    add_one(there(4, 4, 4), a)


def by_a_repeated_kernel(a: DeviceArray) -> None:
    source = there(4, 4, 4)
    for _ in range(3):
        add_one(source, a)


def by_a_kernel_with_an_array_of_the_host(a: DeviceArray) -> None:
    add_one(np.full(3, 4.0), a)


def by_a_kernel_on_the_cpu(a: DeviceArray) -> None:
    with lw.options(checks="all"):
        add_one(there(4, 4, 4), a)


def by_a_kernel_in_place(a: DeviceArray) -> None:
    a.copy_from(np.full(3, 4.0))
    with lw.options(checks="all"):
        add_one(a, a)


def by_a_view(a: DeviceArray) -> None:
    whole = a.argument()
    view = on_device(whole.ctypes.data, (3,), a.dtype, None, "emulated", a)
    add_one(there(4, 4, 4), view)


def by_a_copy(a: DeviceArray) -> None:
    a.copy_from(np.full(3, 5.0))


def by_a_call_that_fails(a: DeviceArray) -> None:
    with pytest.raises(BoundsError):
        gather(there(5, 5, 5), lw.device_array(np.array([0, 1, 9])), a)


def by_a_thread(a: DeviceArray) -> None:
    other = Thread(target=by_a_copy, args=(a,))
    other.start()
    other.join()


WAYS: list[Callable[[DeviceArray], None]] = [
    by_a_kernel,
    by_a_repeated_kernel,
    by_a_kernel_with_an_array_of_the_host,
    by_a_kernel_on_the_cpu,
    by_a_kernel_in_place,
    by_a_view,
    by_a_copy,
    by_a_call_that_fails,
    by_a_thread,
]


@pytest.mark.parametrize("write", WAYS)
def test_whoever_writes_makes_it_another_version(gpu: Watched, write: Callable[[DeviceArray], None]) -> None:
    array = there(1, 2, 3)
    seen = [array.version]
    assert on_the_cpu(array) == on_the_cpu(array) == [1, 2, 3]
    for _ in range(3):
        write(array)
        seen.append(array.version)
        array_now = array.numpy().tolist()
        assert array_now[:2] == [5, 5]
        assert on_the_cpu(array) == array_now
    assert all(isinstance(now, int) and now > before for before, now in pairwise(seen))


def test_who_reads_leaves_it_as_it_is(gpu: Watched) -> None:
    a, b = there(1, 2, 3), there(0, 0, 0)
    before = a.version
    for _ in range(3):
        add_one(a, b)
    assert (on_the_cpu(a), doubled(a).tolist(), a.numpy().sum()) == ([1, 2, 3], [2, 4, 6], 6)
    assert a.version == before and version_of(a.argument()) == before


def test_a_copy_on_the_host_is_kept_until_somebody_writes(gpu: Watched) -> None:
    array = there(1, 2, 3)
    assert on_the_cpu(array) == [1, 2, 3]
    before = gpu.total("down")
    assert on_the_cpu(array) == on_the_cpu(array) == [1, 2, 3]
    assert gpu.total("down") == before
    by_a_copy(array)
    assert array._kept[1] is None  # no memory for what nobody can use
    assert on_the_cpu(array) == [5, 5, 5]
    assert gpu.total("down") == before + array.nbytes


def test_what_a_call_writes_is_not_kept(gpu: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread would see it while it is written."""
    kept: list[object] = []
    monkeypatch.setattr(DeviceArray, "keep", lambda *given: kept.append(given[0]))
    a, b = there(1, 2, 3), there(0, 0, 0)
    with lw.options(checks="all"):
        add_one(a, b)
        add_one(b, b)
    assert kept == [a] and b.numpy().tolist() == [3, 4, 5]


def test_a_view_of_some_elements_is_not_the_array(gpu: Watched) -> None:
    array = there(1, 2, 3)
    assert on_the_cpu(array) == [1, 2, 3]
    start = array.argument().ctypes.data
    view = on_device(start + 8, (2,), array.dtype, None, "emulated", array)
    assert on_the_cpu(view) == [2, 3]
    assert on_the_cpu(array) == [1, 2, 3] and version_of(view) == array.version


def test_nothing_is_known_of_arrays_that_others_may_write(gpu: Watched) -> None:
    assert (
        version_of(np.zeros(3)) == version_of(on_device(4096, (3,), np.dtype(float), None, "cuda", None)) == "unknown"
    )
    shown = DeviceArray(np.arange(3.0), gpu, "cuda")
    kept = shown.argument()
    shown.keep(kept, shown.version, np.arange(3.0))
    assert shown.version != "unknown" and shown.kept(kept) is not None
    assert shown.__cuda_array_interface__["shape"] == (3,)
    assert shown.version == "unknown" and shown.kept(kept) is None
    shown.copy_from(np.zeros(3))
    shown.keep(kept, shown.version, np.arange(3.0))
    assert shown.version == "unknown" and shown.kept(kept) is None


def test_a_copy_that_fails_may_have_written(gpu: Watched) -> None:
    array = there(1, 2, 3)
    before = array.version
    gpu.refuses = {2: DeviceError("the bus is gone")}
    with pytest.raises(DeviceError, match="the bus is gone"):
        array.copy_from(np.zeros(3))
    assert array.version != before


def first(a: DeviceArray, b: DeviceArray) -> None:
    add_one(a, b)


def repeated(a: DeviceArray, b: DeviceArray) -> None:
    add_one(a, b)


def copied(a: DeviceArray, b: DeviceArray) -> None:
    b.copy_from(np.array([2.0, 3, 4]))


def ready(write: Callable[..., None]) -> tuple[DeviceArray, DeviceArray]:
    a, b = there(1, 2, 3), there(0, 0, 0)
    for _ in range(2 if write is repeated else 0):
        add_one(a, b)
    b.copy_from(np.zeros(3))
    assert on_the_cpu(b) == [0, 0, 0]
    return a, b


@pytest.mark.parametrize("write", [first, repeated, copied])
def test_what_another_thread_sees_in_the_middle_of_a_write_is_not_kept(
    gpu: Watched, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]
) -> None:
    seen: list[list[float]] = []
    a, b = ready(write)
    kind, name = {first: (offload.OffloadEntry, "run"), repeated: (offload.Again, "run"), copied: (Watched, "upload")}[
        write
    ]
    run = getattr(kind, name)

    def wrapped(*given: Any, **named: Any) -> Any:
        reader = Thread(target=lambda: seen.append(on_the_cpu(b)))
        reader.start()
        reader.join()
        return run(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(kind, name, wrapped)
        write(a, b)
    assert seen == [[0, 0, 0]]
    assert on_the_cpu(b) == [2, 3, 4]


@pytest.mark.parametrize("write", [first, repeated, copied])
def test_a_signal_that_hides_the_end_of_a_write(
    gpu: Watched, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]
) -> None:
    a, b = ready(write)
    before, note, told = b.version, execute.note_writes, []

    def interrupted(arrays: Any) -> None:
        told.append(arrays)
        if len(told) == 2:
            raise KeyboardInterrupt
        note(arrays)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        for module in (execute, device_array):
            patched.setattr(module, "note_writes", interrupted)
        write(a, b)
    assert len(told) == 2 and b.version != before
    assert on_the_cpu(b) == [2, 3, 4]
