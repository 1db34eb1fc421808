"""Timers of a real GPU, over a stand-in for CUDA's driver."""

from __future__ import annotations

import gc

from devices.fake_cuda import FakeDriver
from loopwright.devices.cuda import CudaGpu


def test_timers_use_the_events_of_those_that_are_no_more(gpu: CudaGpu, driver: FakeDriver) -> None:
    """A shared call has one for each GPU, and to make an event takes as long as to start a kernel."""
    with gpu.timer() as timer:
        pass
    with gpu.timer() as other:
        pass
    gpu.synchronize()
    assert timer.finished_ns() == other.finished_ns() == 1_500_000
    del timer, other
    gc.collect()
    made = driver.count("fake_events")
    for _ in range(5):
        with gpu.timer() as timer:
            pass
        del timer
    assert driver.count("fake_events") == made
