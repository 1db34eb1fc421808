"""Copies to a GPU, measured once for all kernels."""

from __future__ import annotations

from itertools import count

from loopwright.devices.gpus import gpu_of
from loopwright.profile.copies import known_copies
from loopwright.profile.journal import Journal
from loopwright.tuning.transfers import measured_copies


def test_copies_are_measured_once_and_kept() -> None:
    gpu, journal = gpu_of("emulated"), Journal(None)
    assert gpu is not None and known_copies(journal, "here") is None
    ticks = count()
    made = measured_copies(gpu, journal, "here", 1 << 16, lambda: next(ticks) * 1000)
    assert made is not None and known_copies(journal, "here") == made
    assert made.time_ns(0, 0) == 0 < made.time_ns(1 << 10, 0)
    assert made.time_ns(1 << 10, 1 << 10) > made.time_ns(1 << 10, 0)
    before = next(ticks)
    assert measured_copies(gpu, journal, "here", 1 << 16, lambda: next(ticks)) == made
    assert next(ticks) == before + 1


def test_a_gpu_without_room_is_no_failure() -> None:
    gpu = gpu_of("emulated")
    assert gpu is not None
    assert measured_copies(gpu, Journal(None), "there", 1 << 62) is None
