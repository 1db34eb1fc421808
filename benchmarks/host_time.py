"""What a call costs the host, on GPUs that do nothing: `python -m benchmarks.host_time [--only WORD] [--gpus 1,4]`.

The loops are those of `benchmarks.many_devices`, tiny, with arrays that stay; the driver of CUDA is a stand-in
(idle_cuda.c), and kernels are not compiled. Microseconds of the thread that calls, in the median, and what it asks of
the driver. It needs no GPU, and must not run where there is one: the process has no other driver.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np

import loopwright as lw
from benchmarks.many_cases import MANY_CASES, ManyCase, length_of
from benchmarks.many_devices import names_of
from loopwright.config import current
from loopwright.devices import gpus
from loopwright.toolchain import nvrtc
from loopwright.toolchain.cc import build

SOURCE = Path(__file__).with_name("idle_cuda.c")
LEARNED_IN, TIMED, LONGEST_S = 20, 60, 1.0
"""Calls before those that count, and how many of these, or for how long."""


def idle_driver() -> ctypes.CDLL:
    """From now on this process has no other driver of CUDA."""
    path = build(SOURCE.read_text(encoding="utf-8"), ("-ldl", "-Wl,-soname,libcuda.so.1"), current()).path
    return ctypes.CDLL(str(path), ctypes.RTLD_GLOBAL)


def small(whole: int) -> int:
    """Lengths of axes: what nobody computes need not be large."""
    return min(whole, length_of(0.02, min(whole, 1 << 15)))


def call_of(case: ManyCase, count: int) -> tuple[dict[str, str], Callable[[], object]]:
    """The options of a case on so many GPUs, and its call."""
    case.kernel._dispatch.learn_anew()
    names = names_of("cuda", count)
    options = {"device": names[0]} if count == 1 else {"devices": ", ".join(names), "plan": "split"}
    make: Callable[[Any], Any] = lw.device_array if count == 1 else lw.distributed_array
    with lw.options(**options):  # type: ignore[arg-type]
        there = [make(one) if isinstance(one, np.ndarray) else one for one in case.arguments(small)]
    gpu: Any = gpus.gpu_of("cuda")

    def call() -> object:
        result = case.kernel(*there)
        if count == 1:
            gpu.synchronize()
        return result

    return options, call


def host_us(call: Callable[[], object]) -> tuple[float, int]:
    """Microseconds of a call, in the median, and how many calls there were."""
    for _ in range(LEARNED_IN):
        call()
    times: list[int] = []
    until = time.perf_counter() + LONGEST_S
    while len(times) < TIMED and (len(times) < 3 or time.perf_counter() < until):
        begun = time.thread_time_ns()
        call()
        times.append(time.thread_time_ns() - begun)
    return statistics.median(times) / 1e3, len(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="words of the names of cases, with commas in between")
    parser.add_argument("--gpus", default="1,4", help="how many, up to 4")
    asked = parser.parse_args()
    idle_driver()
    not_compiled = SimpleNamespace(cubin=b"", path=None)
    with patch.object(nvrtc, "build", lambda *_, **__: not_compiled):
        for case in MANY_CASES:
            if not any(word in case.name for word in asked.only.split(",")):
                continue
            for count in map(int, asked.gpus.split(",")):
                options, call = call_of(case, count)
                with lw.options(**options):  # type: ignore[arg-type]
                    spent, calls = host_us(call)
                print(f"{case.name:18} on {count}: {spent:9.1f} us of the host ({calls} calls)", flush=True)


if __name__ == "__main__":
    main()
