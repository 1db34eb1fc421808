"""What several GPUs of CUDA's are asked for together, over a stand-in for the driver (fake_cuda.c), in which nothing of
a stream happens before it has to."""

from __future__ import annotations

import ctypes
import importlib
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from devices.cuda_table import HALF
from devices.fake_cuda import FakeDriver
from loopwright.devices import cuda_peer
from loopwright.devices.cuda import CudaGpu
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.peers import ExchangeFailed, PeerCopy
from loopwright.errors import DeviceError
from loopwright.toolchain import nvrtc


@pytest.fixture
def gpus(driver: FakeDriver) -> list[CudaGpu]:
    return [CudaGpu(driver, number, lanes=2, half_bytes=HALF) for number in range(3)]


def filled(gpu: CudaGpu, value: int, size: int = 400) -> int:
    address = gpu.allocate(size)
    gpu.upload(address, np.full(size, value, "u1"))
    return address


def there(gpu: CudaGpu, address: int, size: int = 400) -> np.ndarray:
    found = np.zeros(size, "u1")
    gpu.download(found, address)
    return found


@pytest.mark.parametrize("is_ordered", [True, False])
def test_a_copy_waits_for_what_the_other_gpu_was_asked_for(gpus: list[CudaGpu], is_ordered: bool) -> None:
    one, other, _ = gpus
    mine, its = filled(one, 1), filled(other, 2)
    one.meet([other])
    one.synchronize()
    other.synchronize()
    other.upload(its, np.full(400, 3, "u1"))  # it is under way
    made = one.exchange([(one, other)] * is_ordered, [PeerCopy(one, other, mine, its, 400)])
    assert made is not None
    made()
    assert (there(one, mine) == (3 if is_ordered else 2)).all()


def test_what_was_copied_from_is_not_written_before(gpus: list[CudaGpu]) -> None:
    one, other, _ = gpus
    mine, its = filled(one, 1), filled(other, 2)
    first = one.exchange([(one, other)], [PeerCopy(one, other, mine, its, 400)])
    second = one.exchange([(other, one)], [])
    assert first is not None and second is not None
    for value in (7, 8, 9):
        first()
        second()
        other.upload(its, np.full(400, value, "u1"))
        other.synchronize()
    assert (there(one, mine) == 8).all()


def test_calls_of_the_driver_are_as_many_as_there_are_neighbours(gpus: list[CudaGpu], driver: FakeDriver) -> None:
    """An event for each GPU, a wait and a copy for each neighbour, and nothing that is made or destroyed."""
    places = [filled(gpu, number) for number, gpu in enumerate(gpus)]
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1)]
    copies = [PeerCopy(gpus[a], gpus[b], places[a] + 8 * b, places[b], 8) for a, b in pairs]
    made = gpus[0].exchange([(gpus[a], gpus[b]) for a, b in pairs], copies)
    assert made is not None
    made()
    counters = ("fake_events", "fake_records", "fake_waits", "fake_copies")
    before = [driver.count(one) for one in counters]
    made()
    assert [driver.count(one) - old for one, old in zip(counters, before, strict=True)] == [0, 3, 4, 4]


def test_rows_are_one_copy_and_what_lies_between_stays(gpus: list[CudaGpu], driver: FakeDriver) -> None:
    one, other, _ = gpus
    mine, its = filled(one, 1), one.allocate(400)
    values = np.arange(400, dtype="u2").astype("u1")
    other.upload(its, values)
    copies = driver.count("fake_copies")
    assert one.copy_from(other, mine + 3, its + 3, 5, 7, 40)
    assert driver.count("fake_copies") == copies + 1
    expected = np.full(400, 1, "u1")
    for row in range(7):
        expected[3 + 40 * row : 8 + 40 * row] = values[3 + 40 * row : 8 + 40 * row]
    assert np.array_equal(there(one, mine), expected)


def test_far_rows_are_copied_one_by_one(gpus: list[CudaGpu], driver: FakeDriver) -> None:
    """No pitch may have more than 31 bits."""
    one, other, _ = gpus
    mine, its = filled(one, 1), filled(other, 2)
    driver.fail("cuMemcpyPeerAsync", 1)  # before a row that is not there is touched
    with pytest.raises(DeviceError, match="copying from another GPU failed"):
        one.copy_from(other, mine, its, 4, 3, 1 << 31)


def test_the_one_that_fails_is_told(gpus: list[CudaGpu], driver: FakeDriver) -> None:
    places = [filled(gpu, number) for number, gpu in enumerate(gpus)]
    copies = [PeerCopy(gpus[k], gpus[0], places[k], places[0], 8) for k in (1, 2)]
    made = gpus[0].exchange([(gpus[1], gpus[0]), (gpus[2], gpus[0])], copies)
    assert made is not None
    driver.fail("cuMemcpyPeerAsync", 1, after=1)
    with pytest.raises(ExchangeFailed) as found:
        made()
    assert found.value.gpu is gpus[2]
    assert "copying from another GPU failed: CUDA_ERROR_OTHER" in str(found.value.error)
    made()
    assert (there(gpus[2], places[2], 8) == 0).all()


def test_gpus_of_another_kind_are_not_reached(gpus: list[CudaGpu]) -> None:
    other = EmulatedGpu()
    assert gpus[0].exchange([], [PeerCopy(gpus[0], other, 0, 0, 8)]) is None
    assert not gpus[0].copy_from(other, 0, 0, 8)
    assert other.exchange([], [PeerCopy(other, gpus[0], 0, 0, 8)]) is None


def test_the_struct_is_that_of_the_driver() -> None:
    """cuda_memory.c writes it by itself: CUDA's own package has it, too."""
    api = importlib.import_module("cuda.bindings.driver")

    class Box(ctypes.Structure):
        _fields_ = (
            *((name, ctypes.c_size_t) for name in ("srcXInBytes", "srcY", "srcZ", "srcLOD")),
            ("srcMemoryType", ctypes.c_int),
            *((name, ctypes.c_uint64) for name in ("srcHost", "srcDevice", "srcArray", "srcContext")),
            *((name, ctypes.c_size_t) for name in ("srcPitch", "srcHeight", "dstXInBytes", "dstY", "dstZ", "dstLOD")),
            ("dstMemoryType", ctypes.c_int),
            *((name, ctypes.c_uint64) for name in ("dstHost", "dstDevice", "dstArray", "dstContext")),
            *((name, ctypes.c_size_t) for name in ("dstPitch", "dstHeight", "WidthInBytes", "Height", "Depth")),
        )

    theirs = api.CUDA_MEMCPY3D_PEER()
    numbers = ("srcXInBytes", "srcPitch", "srcHeight", "dstXInBytes", "dstY", "dstZ", "dstPitch", "dstHeight",
               "WidthInBytes", "Height", "Depth")  # fmt: skip
    for value, name in enumerate(numbers, 11):
        setattr(theirs, name, value)
    theirs.srcMemoryType, theirs.dstMemoryType = (
        api.CUmemorytype.CU_MEMORYTYPE_HOST,
        api.CUmemorytype.CU_MEMORYTYPE_DEVICE,
    )
    theirs.srcDevice, theirs.dstDevice = 101, 102
    ours = Box.from_address(theirs.getPtr())
    assert [getattr(ours, name) for name in numbers] == list(range(11, 11 + len(numbers)))
    assert (ours.srcMemoryType, ours.dstMemoryType, ours.srcDevice, ours.dstDevice) == (1, 2, 101, 102)


def test_nobody_copies_while_another_thread_still_maps_the_memory(gpus: list[CudaGpu], monkeypatch) -> None:
    one, other, _ = gpus
    mapping, told = threading.Event(), []

    def slowly(function: str, *arguments: object, doing: str = "") -> int:
        if function == "cuDeviceCanAccessPeer":
            mapping.set()
            time.sleep(0.2)
            told.append("mapped")
        return 0

    monkeypatch.setattr(one, "ask", slowly)
    first = threading.Thread(target=cuda_peer.reach, args=(one, other))
    first.start()
    assert mapping.wait(10)
    cuda_peer.reach(one, other)
    told.append("copies")
    first.join()
    assert told == ["mapped", "copies"]


def test_memory_that_was_not_mapped_is_asked_for_again(gpus: list[CudaGpu], monkeypatch) -> None:
    one, other, _ = gpus
    asked = []

    def failing(function: str, *arguments: object, doing: str = "") -> int:
        if function == "cuCtxSynchronize":
            return 0
        asked.append(function)
        if len(asked) == 1:
            raise DeviceError("no")
        return 0

    monkeypatch.setattr(one, "ask", failing)
    with pytest.raises(DeviceError, match="no"):
        cuda_peer.reach(one, other)
    cuda_peer.reach(one, other)
    cuda_peer.reach(one, other)
    assert asked == ["cuDeviceCanAccessPeer"] * 2


def test_memory_is_mapped_when_nobody_is_at_work(gpus: list[CudaGpu], monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, CudaGpu]] = []
    for gpu in gpus:
        monkeypatch.setattr(gpu, "synchronize", lambda gpu=gpu: told.append(("waits", gpu)))
    monkeypatch.setattr(cuda_peer, "_allow", lambda _, source: told.append(("maps", source)))
    one, two, three = gpus
    one.meet([one, two])
    three.meet([one, two])
    maps = [at for at, (what, _) in enumerate(told) if what == "maps"]
    assert len(maps) == 6
    readers: dict[CudaGpu, set[CudaGpu]] = {gpu: set() for gpu in gpus}
    for before, at in zip([-1, *maps], maps, strict=False):  # all who may use that memory have stopped
        stopped = {gpu for what, gpu in told[before + 1 : at] if what == "waits"}
        source = told[at][1]
        assert stopped >= {source, *readers[source]}
        readers[source] |= stopped - {source}
    assert all(gpu.reads == set(gpus) - {gpu} for gpu in gpus)
    told.clear()
    three.meet([one, two])
    assert not told


@pytest.fixture
def pulling(gpus: list[CudaGpu], monkeypatch: pytest.MonkeyPatch) -> list[CudaGpu]:
    """GPUs whose kernels see each other's memory."""
    monkeypatch.setattr(nvrtc, "build", lambda *_: SimpleNamespace(cubin=b"fake"))
    for gpu in gpus:
        gpu.sees |= set(gpus)
    return gpus


@pytest.mark.parametrize(
    ("first", "size", "rows", "pitch", "is_pooled", "launches"),
    [
        (0, 64, 1, 0, True, 1),
        (8, 40, 1, 0, True, 1),
        (4, 12, 5, 20, True, 1),
        (0, 16, 4, 24, True, 1),
        (1, 7, 1, 0, True, 0),
        (0, 64, 1, 0, False, 0),
    ],
)
def test_a_kernel_copies_what_it_sees(
    pulling: list[CudaGpu],
    driver: FakeDriver,
    first: int,
    size: int,
    rows: int,
    pitch: int,
    is_pooled: bool,
    launches: int,
) -> None:
    one, other, third = pulling
    mine = one.allocate(400)
    its = [gpu.allocate(400) for gpu in (other, third)]
    given = [np.random.default_rng(k).integers(0, 200, 400, np.uint8) for k in range(2)]
    one.upload(mine, np.full(400, 255, np.uint8))
    for gpu, place, values in zip((other, third), its, given, strict=True):
        gpu.upload(place, values)
        gpu.synchronize()
    one.synchronize()
    before = driver.count("fake_launches")
    at = (first, first + 200)
    copies = [
        PeerCopy(one, gpu, mine + shift, place + shift, size, rows, pitch, is_pooled)
        for gpu, place, shift in zip((other, third), its, at, strict=True)
    ]
    made = one.exchange([(one, other), (one, third)], copies)
    assert made is not None
    made()
    expected = np.full(400, 255, np.uint8)
    for values, shift in zip(given, at, strict=True):
        for row in range(rows):
            there_is = slice(shift + row * pitch, shift + row * pitch + size)
            expected[there_is] = values[there_is]
    assert np.array_equal(there(one, mine), expected)
    assert driver.count("fake_launches") - before == launches


def test_without_the_kernel_copy_engines_do_it(gpus: list[CudaGpu], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "build", lambda *_: SimpleNamespace(cubin=b"no cubin"))
    assert gpus[0].pull == 0


@pytest.mark.parametrize("count", [2, 3, 4, 8])
def test_no_gpu_is_read_by_two_at_once(count: int) -> None:
    order = [
        sorted((k for k in range(count) if k != one), key=lambda other: cuda_peer.turn(one, other, count))
        for one in range(count)
    ]
    for step in zip(*order, strict=True):
        assert sorted(step) == list(range(count))
