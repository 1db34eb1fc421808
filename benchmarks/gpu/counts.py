"""Histograms: `for i: h[b[i]] += 1`, beside torch.bincount, cupy.bincount, CUB's histogram (of ranges
of equal width, as CuPy calls it) and atomic additions by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

LENGTH = {"tiny": 1 << 12, "small": 1 << 18, "full": 1 << 28}
CASES: dict[str, tuple[int, int, str, str]] = {
    "256 bins, uint8 into int64": (256, 256, "uint8", "int64"),
    "256 bins, int32 into int32": (256, 256, "int32", "int32"),
    "256 bins, all items in one": (256, 1, "uint8", "int64"),
    "2^20 bins, int32 into int32": (1 << 20, 1 << 20, "int32", "int32"),
    "2^20 bins, int32 into int64": (1 << 20, 1 << 20, "int32", "int64"),
}
"""Bins, how many of them have items, the type of items and that of counts."""


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case."""
    bins, used, items, kind = CASES[case]
    n = LENGTH[size]
    bins = min(bins, n)
    b, h, empty = bench.whole(min(used, bins), n, items), bench.zeros(bins, kind), bench.zeros(bins, kind)
    torch, cupy = bench.torch, bench.cupy
    runs: dict[str, Any] = {"loopwright": lambda: kernels.histogram(b, h)}
    if torch is not None:
        runs["torch"] = lambda: torch.bincount(b, minlength=bins)
    if cupy is not None:
        there = cupy.asarray(b)
        runs["cupy"] = lambda: cupy.bincount(there, minlength=bins)
        runs["cub"] = lambda: cupy.histogram(there, bins=bins, range=(0, bins))
    runs |= bench.numba("histogram", by_hand.kernels, (n,), b, h)

    def agrees() -> bool:
        return np.array_equal(bench.host(h), np.bincount(bench.host(b), minlength=bins))

    work = float(n * np.dtype(items).itemsize)
    return Trial(f"{n}", work, "B", runs, agrees, "copy", before=lambda: bench.put(h, empty), kernel=kernels.histogram)


PART = Part("counts", tuple(CASES), ("tiny", "small", "full"), make)
