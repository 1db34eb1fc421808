"""One number from many, wanted on the host: sum, dot product, the place of the greatest."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu import kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

KERNELS = {"sum": kernels.total, "dot": kernels.dot}
LENGTH = {"tiny": 1 << 12, "small": 1 << 18, "full": 1 << 28}


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case. CuPy's sums are CUB's."""
    n = LENGTH[size]
    a = bench.random(n, "float32" if case == "argmax float32" else "float64")
    torch, cupy = bench.torch, bench.cupy
    there = cupy.asarray(a) if cupy is not None else None
    runs: dict[str, Any]
    if case == "dot":
        b = bench.random(n)
        other = cupy.asarray(b) if cupy is not None else None
        runs = {"loopwright": lambda: kernels.dot(a, b)}
        theirs = {"torch": lambda: torch.dot(a, b).item(), "cupy": lambda: cupy.dot(there, other).item()}

        def agrees() -> bool:
            return bool(np.isclose(kernels.dot(a, b), bench.host(a) @ bench.host(b)))
    elif case == "sum":
        runs = {"loopwright": lambda: kernels.total(a)}
        theirs = {"torch": lambda: torch.sum(a).item(), "cupy": lambda: cupy.sum(there).item()}

        def agrees() -> bool:
            return bool(np.isclose(kernels.total(a), bench.host(a).sum()))
    else:
        runs = {"loopwright": lambda: kernels.argmax(a)}
        theirs = {"torch": lambda: torch.argmax(a).item(), "cupy": lambda: cupy.argmax(there).item()}

        def agrees() -> bool:
            return kernels.argmax(a) == int(np.argmax(bench.host(a)))  # both: the first of several

    runs |= {who: run for who, run in theirs.items() if {"torch": torch, "cupy": cupy}[who] is not None}
    work = float(n * (16 if case == "dot" else 4 if case == "argmax float32" else 8))
    return Trial(f"{n}", work, "B", runs, agrees, "copy", kernel=KERNELS.get(case, kernels.argmax))


PART = Part("sums", ("sum", "dot", "argmax", "argmax float32"), ("tiny", "small", "full"), make)
