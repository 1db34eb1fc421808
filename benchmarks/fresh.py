"""What only a new process can tell: how long the first call takes with nothing compiled and with everything compiled,
and how much memory a call needs over its arrays. `python -m benchmarks.fresh CASE SIZE THREADS` prints it as JSON."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

import loopwright as lw
from benchmarks.cases import WARM_UP, Arguments, Case, all_cases, bytes_of

CLEAR_PEAK = Path("/proc/self/clear_refs")
STATUS = Path("/proc/self/status")
SMALL_BYTES = 16_000_000


@dataclass(frozen=True)
class Fresh:
    """first_call_s: seconds of the first call, on small data: all analysis, the choice of a schedule, and the C
    compiler, which takes compiler_s of them. memory_ratio: peak memory during a call at full size, arrays included,
    divided by the arrays; None where only the first call was asked for."""

    first_call_s: float
    compiler_s: float
    memory_ratio: float | None


def in_new_process(name: str, size: str, threads: int, cache: Path, timeout_s: float) -> Fresh:
    """Run this module on one case in a new process, with `cache` as Loopwright's cache.

    Raises RuntimeError with the last line of what went wrong, or that the time is over."""
    command = [sys.executable, "-m", "benchmarks.fresh", name, size, str(threads)]
    environment = {**os.environ, "LOOPWRIGHT_CACHE": str(cache)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"more than {timeout_s:.0f} s in a new process") from None
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no words").splitlines()[-1])
    return Fresh(**json.loads(done.stdout.splitlines()[-1]))


def main(name: str, size: str, threads: int) -> Fresh:
    """In this process: the first call of a case; and its memory at `size`, unless that is the warm-up's size."""
    case = {case.name: case for case in all_cases()}[name]
    lw.kernel(_nothing)(np.zeros(1))  # builds the launcher, which all kernels share
    kernel = lw.kernel(case.kernel)
    with lw.options(threads=threads):
        small = case.arguments(WARM_UP)
        start = time.perf_counter()
        kernel(*small.values())
        first_call_s = time.perf_counter() - start
        compiler_s = sum(one.generated.seconds for one in kernel.explanations() if one.generated)
        del small
        return Fresh(first_call_s, compiler_s, None if size == WARM_UP else _full_size(kernel, _touched(case, size)))


def _nothing(a):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        a[i] = 0.0


def _full_size(kernel: Callable[..., object], arguments: Arguments) -> float:
    """The memory ratio; beside small arrays without what is set up once, such as the stacks of threads."""
    if bytes_of(arguments) < SMALL_BYTES:
        kernel(*arguments.values())
    return memory_ratio(kernel, arguments)


def _touched(case: Case, size: str) -> Arguments:
    """The arguments, every page of whose arrays is really there (np.zeros alone only promises them)."""
    made = case.arguments(size)
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in made.items()}


def memory_ratio(kernel: Callable[..., object], arguments: Arguments) -> float:
    """The most memory that was in use during a call, over what was in use before it, plus the arrays' bytes; divided
    by the arrays' bytes."""
    before = _reset_peak()
    kernel(*arguments.values())
    arrays = bytes_of(arguments)
    return (arrays + max(0, _peak() - before)) / arrays


def _reset_peak() -> int:
    """Bytes in use now, where Linux lets the peak start again from them; else the peak so far."""
    try:
        CLEAR_PEAK.write_text("5")
    except OSError:
        return _peak()
    return _status("VmRSS")


def _peak() -> int:
    if STATUS.exists():
        return _status("VmHWM")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _status(key: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(key + ":"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    print(json.dumps(asdict(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))))
