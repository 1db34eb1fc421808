"""Three plain loops against cuBLAS, and in fp32 against Triton's product without TF32."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

SIDE = {
    "float32": {"tiny": 32, "small": 1024, "full": 8192},
    "float64": {"tiny": 32, "small": 1024, "full": 4096},
}

UNEVEN = {
    "float32": {"tiny": (33, 41, 29), "small": (1001, 1003, 999), "full": (4001, 4003, 3999)},
    "float64": {"tiny": (33, 41, 29), "small": (500, 575, 650), "full": (2000, 2300, 2600)},
}
"""Rows, columns and depth that are no multiples of a tile."""


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case: gemm of one type."""
    kind = case.split()[1]
    rows, columns, depth = UNEVEN[kind][size] if case.endswith("uneven") else (SIDE[kind][size],) * 3
    a, b = bench.random((rows, depth), kind), bench.random((depth, columns), kind)
    c = bench.zeros((rows, columns), kind)
    runs: dict[str, Any] = {"loopwright": lambda: kernels.gemm(a, b, c)}
    if bench.torch is not None:
        bench.torch.backends.cuda.matmul.allow_tf32 = False
        runs["torch"] = lambda: bench.torch.matmul(a, b)
        if kind == "float32" and (product := _triton()) is not None:
            d = bench.zeros((rows, columns), kind)
            runs["triton"] = lambda: product(a, b, d)
    runs |= bench.numba("gemm", by_hand.kernels, (rows, columns), a, b, c)
    zero = bench.zeros((rows, columns), kind)

    def agrees() -> bool:
        some = slice(0, rows, max(1, rows // 64))  # the host multiplies some rows only: it is slow
        expected = bench.host(a)[some].astype(np.float64) @ bench.host(b).astype(np.float64)
        last = bench.host(a)[-1].astype(np.float64) @ bench.host(b).astype(np.float64)
        near = 1e-3 if kind == "float32" else 1e-9
        return np.allclose(bench.host(c)[some], expected, rtol=near) and np.allclose(bench.host(c)[-1], last, rtol=near)

    named = f"{rows}^3" if rows == columns == depth else f"{rows}x{columns}x{depth}"
    work = 2.0 * rows * columns * depth
    return Trial(named, work, "op", runs, agrees, "torch", before=lambda: bench.put(c, zero), kernel=kernels.gemm)


def _triton() -> Any:
    """Our product in Triton, None where Triton is missing."""
    try:
        return importlib.import_module("benchmarks.gpu.triton_product").product
    except ImportError:
        return None


CASES = ("gemm float32", "gemm float64", "gemm float32 uneven", "gemm float64 uneven")
PART = Part("products", CASES, ("tiny", "small", "full"), make)
