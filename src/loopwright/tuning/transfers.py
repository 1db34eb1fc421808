"""How long copies to a GPU and back take on this machine: measured once, kept in the store, used for every kernel."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np

from loopwright.devices.gpu import Gpu
from loopwright.errors import DeviceError
from loopwright.profile.bandwidth import BandwidthTable, Bus, Direction, measure_bandwidth
from loopwright.profile.copies import BANDWIDTH, known_copies
from loopwright.profile.journal import Journal
from loopwright.profile.records import FittedTable
from loopwright.profile.stride import NoMeasurement

LARGEST = 1 << 28
MOST = 60
"""Measurements of each direction: a walk that doubles needs some thirty."""

REPEATS = 3


def measured_copies(
    gpu: Gpu,
    journal: Journal,
    machine: str,
    largest: int = LARGEST,
    clock: Callable[[], int] = time.perf_counter_ns,
) -> Bus | None:
    """What copies take on a machine, measured now where the store does not know; None where the GPU has no room for
    it."""
    known = known_copies(journal, machine)
    if known is not None:
        return known
    try:
        address = gpu.allocate(largest)
    except DeviceError:
        return None
    host = np.zeros(largest, np.uint8)

    def up(size_bytes: int) -> None:
        gpu.upload(address, host[:size_bytes])

    def down(size_bytes: int) -> None:
        gpu.download(host[:size_bytes], address)

    try:
        there = _table("to device", up, gpu, largest, clock)
        back = _table("to host", down, gpu, largest, clock)
    finally:
        gpu.release(address)
    if isinstance(there, NoMeasurement) or isinstance(back, NoMeasurement):
        return None
    for name, table in (("to device", there), ("to host", back)):
        journal.put(FittedTable(BANDWIDTH, machine, name, str(table), time.time()))
    return Bus(there, back)


def _table(
    direction: Direction, copy: Callable[[int], None], gpu: Gpu, largest: int, clock: Callable[[], int]
) -> BandwidthTable | NoMeasurement:
    def measured(size_bytes: int) -> float | NoMeasurement:
        times: list[int] = []
        try:
            for _ in range(REPEATS):
                started = clock()
                copy(size_bytes)
                gpu.synchronize()
                times.append(clock() - started)
        except DeviceError as error:
            return NoMeasurement(str(error))
        return max(1.0, float(median(times)))

    return measure_bandwidth(measured, direction, "pageable", largest, MOST)
