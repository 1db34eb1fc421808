"""The machine under the benchmark: what it is, with the versions of everything that takes part, and what it can do at
most, measured in the same run: the copy bandwidth and the peak of its multiply-adds."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from benchmarks.c_peers import FLAGS, build, compiler

PACKAGES = ("loopwright", "numpy", "numba", "llvmlite", "islpy")
COPY_BYTES = 1 << 28
PEAK_ROUNDS = 4_000_000
TRIES = 5
BUSY_LOAD = 0.35


@dataclass(frozen=True)
class Machine:
    """busy: did other programs keep cores from us at the start? bandwidth: bytes read plus bytes written per second, by
    a copy on all threads. peak: double-precision operations per second on all threads."""

    cpu: str
    threads: int
    system: str
    busy: bool
    versions: dict[str, str]
    bandwidth: float
    peak: float

    def bound_s(self, flops: float, bytes_min: float) -> float:
        """No program that does so many operations and moves so many bytes can take less time (roofline), in seconds."""
        return max(flops / self.peak, bytes_min / self.bandwidth)


def measure(threads: int, folder: Path) -> Machine:
    """Describe this machine and measure its limits on so many threads. folder: where the C library is built."""
    library = build("machine", folder, (*FLAGS, "-fopenmp"))
    library.multiply_add.restype = ctypes.c_double
    return Machine(
        cpu=cpu_name(),
        threads=threads,
        system=platform.platform(),
        busy=busy(),
        versions=versions(),
        bandwidth=_bandwidth(library, threads),
        peak=_peak(library, threads),
    )


def busy() -> bool:
    """Has more than a third of a core been in use, over the last minute, by programs that want to run?"""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] > BUSY_LOAD


def cpu_name() -> str:
    """What the system calls its processor."""
    information = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*:\s*(.+)$", information.read_text(), re.M) if information.exists() else None
    return found.group(1) if found else platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Python, the C compiler, and the packages that take part."""
    found = {"python": platform.python_version()}
    line = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    found["C compiler"] = line
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "absent"
    return found


def _bandwidth(library: ctypes.CDLL, threads: int) -> float:
    source = np.ones(COPY_BYTES // 8)
    target = np.zeros_like(source)
    best = float("inf")
    for _ in range(TRIES):
        start = time.perf_counter()
        library.copy(
            ctypes.c_int64(source.size),
            ctypes.c_void_p(source.ctypes.data),
            ctypes.c_void_p(target.ctypes.data),
            ctypes.c_int64(threads),
        )
        best = min(best, time.perf_counter() - start)
    return 2 * COPY_BYTES / best


def _peak(library: ctypes.CDLL, threads: int) -> float:
    best = 0.0
    for _ in range(TRIES):
        start = time.perf_counter()
        operations = library.multiply_add(ctypes.c_int64(PEAK_ROUNDS), ctypes.c_int64(threads))
        best = max(best, operations / (time.perf_counter() - start))
    return best
