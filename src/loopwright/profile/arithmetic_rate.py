"""How many floating-point operations a second this machine's cores do at most: fused multiply-adds on vectors of
float64, two operations for each element, by as many threads as kernels use (peak.c). Reports compare kernels with it.
"""

from __future__ import annotations

import ctypes
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from loopwright.config import Tools
from loopwright.toolchain.cc import build
from loopwright.toolchain.library import load_library, made_and_loaded
from loopwright.toolchain.machine import vector_registers

ARITHMETIC = "arithmetic"
"""The name of the table about it: {"flop_per_s": ..., "threads": ...}, of float64; float32 has twice as many, or
"float32_flop_per_s", as gpu_peak.py finds it for a GPU."""

CHAINS = 12
"""As in peak.c."""

FLOAT64_BYTES = 8
FEWEST = 100_000
ROUND_S = 0.02
"""How long a round takes at least: to hand it to threads takes nothing beside that."""

ROUNDS = 5


def measured_peak(threads: int, tools: Tools) -> float:
    """Operations a second on float64; the best of some rounds. Raises CompilerError, and OSError where what it made
    cannot be loaded."""
    vector_bytes, _ = vector_registers(tools.compiler_flags)
    text = f"#define LW_VECTOR_BYTES {vector_bytes}\n{(Path(__file__).parent / 'peak.c').read_text()}"
    _, library = made_and_loaded(
        lambda: build(text, ("-ffp-contract=fast",), tools), lambda artifact: load_library(artifact.path)
    )
    run = library.lw_peak
    run.argtypes, run.restype = (ctypes.c_long, ctypes.c_double, ctypes.c_double), ctypes.c_double
    rounds = FEWEST
    while min(_timed(run, 1, rounds) for _ in range(ROUNDS)) < ROUND_S:
        rounds *= 4
    best_s = min(_timed(run, threads, rounds) for _ in range(ROUNDS))
    return threads * rounds * 2 * CHAINS * (vector_bytes // FLOAT64_BYTES) / best_s


def _timed(run: ctypes._NamedFuncPointer, threads: int, rounds: int) -> float:
    """Seconds until all threads are done: ctypes gives the GIL back meanwhile."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: run(1, 0.5, 0.25), range(threads)))  # the threads are there
        started = time.perf_counter()
        list(pool.map(lambda _: run(rounds, 0.5, 0.25), range(threads)))
        return time.perf_counter() - started
