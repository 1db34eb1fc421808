"""What a GPU does at most, from what drivers say of real ones: it is what their makers say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from loopwright.devices.clocks import Clocks
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.limits import Limits
from loopwright.profile.gpu_peak import LANES, peak_bytes_per_s, peak_flop_per_s

KHZ = 1000


@pytest.mark.parametrize(
    ("capability", "multiprocessors", "clocks", "tbytes", "tflop64", "tflop32"),
    [
        pytest.param((9, 0), 132, Clocks(1_980_000 * KHZ, 2_619_000 * KHZ, 5120), 3.35, 33.5, 66.9, id="H100"),
        pytest.param((8, 0), 108, Clocks(1_410_000 * KHZ, 1_215_000 * KHZ, 5120), 1.555, 9.7, 19.5, id="A100"),
        pytest.param((8, 9), 128, Clocks(2_520_000 * KHZ, 10_501_000 * KHZ, 384), 1.008, 1.29, 82.6, id="RTX 4090"),
        pytest.param((7, 5), 40, Clocks(1_590_000 * KHZ, 5_001_000 * KHZ, 256), 0.32, 0.254, 8.1, id="T4"),
    ],
)
def test_as_data_sheets_say(
    capability: tuple[int, int], multiprocessors: int, clocks: Clocks, tbytes: float, tflop64: float, tflop32: float
) -> None:
    limits = Limits(capability, multiprocessors, 1 << 30)
    assert peak_bytes_per_s(clocks) / 1e12 == pytest.approx(tbytes, rel=0.01)
    found = [one / 1e12 for one in peak_flop_per_s(limits, clocks)]
    assert found == pytest.approx([tflop64, tflop32], rel=0.01)


def test_nothing_is_claimed_of_what_nobody_tells() -> None:
    limits = Limits((9, 0), 132, 1 << 30)
    assert peak_bytes_per_s(Clocks()) == 0 and peak_flop_per_s(limits, Clocks()) == (0, 0)
    assert peak_bytes_per_s(Clocks(memory_hz=10**9)) == 0
    newer = replace(limits, capability=(99, 0))
    assert newer.capability not in LANES and peak_flop_per_s(newer, Clocks(10**9, 10**9, 512)) == (0, 0)


def test_an_emulated_gpu_has_no_limits() -> None:
    gpu = EmulatedGpu()
    assert gpu.clocks == Clocks() and peak_flop_per_s(gpu.limits, gpu.clocks) == (0, 0)
