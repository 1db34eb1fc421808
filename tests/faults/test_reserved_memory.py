"""Calls that return lists, sets, dicts and texts take little memory, also where malloc writes to all that it gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.devices.emulated_memory import EmulatedMemory
from loopwright.ir.reserved_arrays import empty_array
from loopwright.runtime.in_use import allocated
from meaning.ways import fresh_memory_filled

MEGABYTE = 1 << 20


def most_bytes() -> int:
    """The most memory that this process has had since that was last forgotten."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


def pairs(a: Any) -> Any:
    found = []
    for i in range(len(a)):
        if a[i] > 0.5:
            found.append((i, a[i]))
    return found


def chosen(a: Any) -> Any:
    return a[a > 5.5]


def told(a: Any) -> Any:
    b = np.empty(int(a[0]))
    b[:] = a[1]
    return b


def grown_by(work: Any) -> int:
    """How much memory this work takes at most."""
    Path("/proc/self/clear_refs").write_text("5")
    before = most_bytes()
    with fresh_memory_filled():
        work()
    return most_bytes() - before


def test_a_list_takes_little_memory_whatever_malloc_does() -> None:
    kernel, a = lw.kernel(pairs), np.array([0.25, 0.75, 1.0])
    assert kernel(a) == [(1, 0.75), (2, 1.0)]
    other = lw.kernel(pairs)
    results = []
    assert grown_by(lambda: results.append(other(a))) < 200 * MEGABYTE
    assert results == [[(1, 0.75), (2, 1.0)]]


def test_a_long_list_that_is_an_array_keeps_what_it_holds() -> None:
    """Room that is shortened to more than is kept for the next call."""
    a = np.arange(400_000.0)
    with fresh_memory_filled():
        got = lw.kernel(chosen)(a)
    np.testing.assert_array_equal(got, a[6:])
    got.resize(500_000, refcheck=False)
    np.testing.assert_array_equal(got[: len(a) - 6], a[6:])


@pytest.mark.parametrize(
    "work",
    [
        lambda: empty_array((2**27,), np.float64),
        lambda: allocated((2**20, 128), np.float64, None),
        lambda: EmulatedMemory(8 << 30).allocate(1 << 30),
    ],
)
def test_room_takes_addresses_alone(work: Any) -> None:
    assert grown_by(work) < 200 * MEGABYTE


def test_room_is_an_array_like_others() -> None:
    array = empty_array((2**20, 128), np.float64)
    array[-1, -1] = 3.0
    assert array.shape == (2**20, 128) and array.flags.c_contiguous and array.flags.writeable and array[-1, -1] == 3.0
    assert empty_array((3, 0), np.int8).shape == (3, 0)


def test_of_room_on_an_emulated_gpu_only_what_is_seen_is_copied() -> None:
    kernel, a = lw.kernel(device="emulated")(told), np.array([2.0, 7.0])
    assert kernel(a).tolist() == [7.0, 7.0]
    assert grown_by(lambda: kernel(a)) < 200 * MEGABYTE
    a[0] = 0.0
    assert kernel(a).tolist() == []
