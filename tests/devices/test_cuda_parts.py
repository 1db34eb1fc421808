"""Parts of a region on several GPUs of CUDA's, started and waited for together, over a stand-in for the driver."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from devices.cuda_table import HALF, TEXT, Table
from devices.fake_cuda import FakeDriver
from loopwright.devices.cuda import CudaGpu
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpu import ENTRY
from loopwright.devices.peers import GpuPart, PartsTogether
from loopwright.toolchain import nvrtc


class Part:
    """One that adds 2 * x to y on a GPU; its call is a number, which the entry returns where it is not 0."""

    def __init__(self, gpu: CudaGpu, config: Any) -> None:
        self.gpu, self.table = gpu, Table(gpu.module(TEXT, config))
        self.given = np.arange(64, dtype=np.float32)
        self.places = [gpu.allocate(self.given.nbytes) for _ in range(2)]
        for place in self.places:
            gpu.upload(place, self.given)
        gpu.synchronize()
        self.call, self.site, self.told = ctypes.c_int64(0), ctypes.c_int64(7), ctypes.c_int64(-1)
        self.entry = ENTRY(self.run)

    def run(self, call: int) -> int:
        code = ctypes.c_int64.from_address(call).value
        return code or self.table.saxpy(64, 2.0, *self.places)

    @property
    def told_part(self) -> GpuPart:
        entry = ctypes.cast(self.entry, ctypes.c_void_p).value
        assert entry is not None
        own = [ctypes.addressof(one) for one in (self.call, self.site)]
        return GpuPart(entry, *own, self.table.table, ctypes.addressof(self.told))

    def times(self) -> float:
        """How often it has run."""
        found = np.empty_like(self.given)
        self.gpu.download(found, self.places[1])
        return float((found[1] - self.given[1]) / (2 * self.given[1]))


@pytest.fixture
def parts(driver: FakeDriver, config: Any, monkeypatch: pytest.MonkeyPatch) -> list[Part]:
    monkeypatch.setattr(nvrtc, "build", lambda *_: SimpleNamespace(cubin=b"fake"))
    return [Part(CudaGpu(driver, number, lanes=2, half_bytes=HALF), config) for number in range(3)]


def together(parts: list[Part]) -> PartsTogether:
    found = parts[0].gpu.together([(one.gpu, one.told_part) for one in parts])
    assert found is not None
    return found


def test_all_parts_run_each_time_they_are_started(parts: list[Part]) -> None:
    found = together(parts)
    for _ in range(3):
        assert not found.start(()) and not found.wait()
    assert [part.times() for part in parts] == [3.0] * 3
    assert [part.site.value for part in parts] == [-1] * 3, "what an earlier call recorded is forgotten"


def test_a_part_that_cannot_be_started_keeps_no_other_from_it(parts: list[Part]) -> None:
    found = together(parts)
    parts[1].call.value = 1
    assert list(found.start(())) == [1]
    assert list(found.wait()) == [1]
    assert [part.times() for part in parts] == [1.0, 0.0, 1.0]
    parts[1].call.value = 0
    assert not found.start(()) and not found.wait()
    assert [part.times() for part in parts] == [2.0, 1.0, 2.0]


def test_what_kernels_tell_of_a_failure_is_seen(parts: list[Part]) -> None:
    found = together(parts)
    assert not found.start(())
    parts[2].told.value = 3
    assert list(found.wait()) == [2]


def test_an_error_of_the_driver_is_seen(parts: list[Part], driver: FakeDriver) -> None:
    found = together(parts)
    driver.fail("cuLaunchKernel", 1, after=1)
    assert list(found.start(())) == [1]
    assert list(found.wait()) == [1]
    assert "failed" in str(parts[1].table.module.fault())
    driver.fail("cuStreamQuery", 700)
    assert not found.start(())
    assert list(found.wait()) == [0, 1, 2], "the stand-in is one device: it is lost"


def test_parts_are_timed_where_somebody_asks(parts: list[Part], driver: FakeDriver) -> None:
    found, before = together(parts), driver.count("fake_records")
    found.start(())
    assert driver.count("fake_records") == before
    timers = [part.gpu.timer() for part in parts]
    found.start(timers)
    assert driver.count("fake_records") == before + 6
    assert not found.wait() and all(timer.finished_ns() == 1_500_000 for timer in timers)
    found.start(())
    assert driver.count("fake_records") == before + 6


def test_gpus_of_two_kinds_have_nothing_that_starts_them_together(parts: list[Part]) -> None:
    gpu, part = parts[0].gpu, parts[0].told_part
    assert gpu.together([(gpu, part), (EmulatedGpu(), part)]) is None
    assert EmulatedGpu().together([]) is None  # type: ignore[func-returns-value]


def test_few_bytes_are_seen_by_both_as_long_as_somebody_has_them(parts: list[Part]) -> None:
    gpu = parts[0].gpu
    found = [gpu.visible(8) for _ in range(64)]
    places = {one.ctypes.data for one in found}
    assert len(places) == 64 and gpu.visible(8) is None and gpu.visible(65) is None
    del found[3]
    again = gpu.visible(16)
    assert again is not None and again.ctypes.data in places and again.size == 16
