"""How many bytes a second this machine's memory moves for its cores: by a copy of a large array that as many threads
share as kernels use. Reports compare kernels with it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

LIMITS = "limits"
"""The kind of tables that say what a machine can do at most."""

MEMORY = "memory"
"""The name of the one about memory: {"bytes_per_s": ..., "threads": ...}, measured; of a GPU without threads, as
gpu_peak.py finds it."""

GPU_CACHE = "l2_bytes"
"""What the last cache of a GPU is called among the limits of a machine."""

LEAST_BYTES, MOST_BYTES = 1 << 26, 1 << 27
ROUNDS = 3


def measured_rate(threads: int, cache_bytes: int) -> float:
    """Bytes a second that are read or written, each once; the best of some rounds. cache_bytes: of the last level: the
    array is larger, up to MOST_BYTES. Raises MemoryError."""
    size = min(MOST_BYTES, max(LEAST_BYTES, 4 * cache_bytes)) // 8
    source, target = np.ones(size), np.zeros(size)
    cuts = [size * k // threads for k in range(threads + 1)]
    pairs = [(target[low:high], source[low:high]) for low, high in pairwise(cuts)]
    best_s = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(ROUNDS):
            started = time.perf_counter()
            list(pool.map(lambda pair: np.copyto(*pair), pairs))  # NumPy gives the GIL back meanwhile
            best_s = min(best_s, time.perf_counter() - started)
    return 2 * source.nbytes / best_s


def last_cache(limits: tuple[tuple[str, int], ...]) -> int:
    """Bytes of the last level of caches, of a machine's limits; 0 where they do not say."""
    sizes = [size for name, size in limits if name == GPU_CACHE or (name.startswith("L") and name.endswith(" bytes"))]
    return max(sizes, default=0)
