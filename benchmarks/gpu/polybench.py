"""PolyBench up to EXTRALARGE, beside kernels by hand for numba.cuda with one thread for each item."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.agreement import same
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial
from benchmarks.polybench import MODULES

BY_NAME = {module.NAME: module for module in MODULES}
TOLERANCE = 1e-6
COMPILED: dict[str, Any] = {}


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a kernel; on the emulated GPU it is compared with NumPy's result."""
    module = BY_NAME[case]
    sizes = module.SIZES[size]
    given = module.initialise(**sizes)
    kernel = COMPILED.setdefault(case, lw.kernel(module.kernel))
    arrays = {name: value for name, value in given.items() if isinstance(value, np.ndarray)}
    there = {name: bench.array(value) if name in arrays else value for name, value in given.items()}
    pristine = {name: bench.array(value) for name, value in arrays.items()}

    def before() -> None:
        for name, value in pristine.items():
            bench.put(there[name], value)

    def outputs() -> dict[str, np.ndarray]:
        return {name: bench.host(there[name]) for name in module.OUTPUTS}

    runs: dict[str, Any] = {"loopwright": lambda: kernel(*there.values())}
    if (other := _by_hand(bench, case)) is not None:
        cuda = importlib.import_module("numba.cuda")
        seen = [cuda.as_cuda_array(value) if name in arrays else value for name, value in there.items()]
        runs["numba.cuda"] = lambda: other(*seen)

    def agrees() -> bool:
        ours = outputs()
        if "numba.cuda" in runs:
            before()
            runs["numba.cuda"]()
            bench.wait()
            theirs = outputs()
        else:
            theirs = module.reference(**given)
        return same(ours, theirs, getattr(module, "TOLERANCE", TOLERANCE))

    checked = "numba.cuda" in runs or bench.torch is None
    work = float(module.flops(**sizes))
    return Trial(size, work, "op", runs, agrees if checked else None, before=before, kernel=kernel)


def _by_hand(bench: Bench, case: str) -> Any:
    """The kernel by hand, None on the emulated GPU and without numba.cuda."""
    if bench.torch is None:
        return None
    try:
        found = importlib.import_module("benchmarks.polybench_cuda").KERNELS[case]
        importlib.import_module("numba").config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    except Exception:
        return None
    return found


PART = Part("polybench", tuple(BY_NAME), ("MINI", "MEDIUM", "LARGE", "EXTRALARGE"), make)
