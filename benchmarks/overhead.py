"""What a repeated call costs over its loop: six array arguments of one element each, for us, numba, and C by ctypes."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

import loopwright as lw
from benchmarks.c_peers import build, converted
from benchmarks.results import NUMBA, OURS, PRANGE, C, Overhead
from benchmarks.timing import Timing

CALLS = 20_000
ROUNDS = 15
C_CALLS = 5_000_000


def add(a, b, c, d, e, f):
    """The loop that is called."""
    for i in range(a.shape[0]):
        f[i] = a[i] + b[i] + c[i] + d[i] + e[i]


def add_prange(a, b, c, d, e, f):
    """The same for numba's threads."""
    for i in numba.prange(a.shape[0]):
        f[i] = a[i] + b[i] + c[i] + d[i] + e[i]


def measure(folder: Path) -> Overhead:
    """Time the calls, contenders in turn, round after round. Raises AssertionError where one computes the wrong sum."""
    library = build("overhead", folder)
    arrays = [np.full(1, float(k)) for k in range(1, 7)]
    callers = {
        OURS: _python_caller(lw.kernel(add), arrays),
        NUMBA: _python_caller(numba.njit(add), arrays),
        PRANGE: _python_caller(numba.njit(parallel=True)(add_prange), arrays),
        C: _python_caller(library.run, [part for array in arrays for part in converted(array, shapes=True)]),
    }
    for name, call_often in callers.items():
        arrays[5][0] = 0.0
        call_often(1)
        assert arrays[5][0] == 15.0, f"{name} computes {arrays[5][0]} instead of 15"
    times: dict[str, list[float]] = {name: [] for name in callers}
    for _ in range(ROUNDS):
        for name, call_often in callers.items():
            start = time.perf_counter_ns()
            call_often(CALLS)
            times[name].append((time.perf_counter_ns() - start) / CALLS)
    loop_ns = _bare_loop_ns(library, arrays)
    return Overhead(loop_ns, {name: Timing(tuple(each)).median - loop_ns for name, each in times.items()})


def _python_caller(function: Callable[..., object], arguments: list[object]) -> Callable[[int], None]:
    """Calls a function many times, with names bound as in a user's loop."""
    a, b, c, d, e, f, *more = arguments
    if more:

        def call_often_with_all(calls: int) -> None:
            for _ in range(calls):
                function(*arguments)

        return call_often_with_all

    def call_often(calls: int) -> None:
        for _ in range(calls):
            function(a, b, c, d, e, f)

    return call_often


def _bare_loop_ns(library: ctypes.CDLL, arrays: list[np.ndarray]) -> float:
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter_ns()
        library.often(ctypes.c_int64(C_CALLS), *pointers)
        times.append((time.perf_counter_ns() - start) / C_CALLS)
    return Timing(tuple(times)).median
