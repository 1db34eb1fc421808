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


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case: gemm of one type."""
    kind = case.removeprefix("gemm ")
    n = SIDE[kind][size]
    a, b, c = bench.random((n, n), kind), bench.random((n, n), kind), bench.zeros((n, n), kind)
    runs: dict[str, Any] = {"loopwright": lambda: kernels.gemm(a, b, c)}
    if bench.torch is not None:
        bench.torch.backends.cuda.matmul.allow_tf32 = False
        runs["torch"] = lambda: bench.torch.matmul(a, b)
        if kind == "float32" and (product := _triton()) is not None:
            d = bench.zeros((n, n), kind)
            runs["triton"] = lambda: product(a, b, d)
    runs |= bench.numba("gemm", by_hand.kernels, (n, n), a, b, c)
    zero = bench.zeros((n, n), kind)

    def agrees() -> bool:
        rows = slice(0, n, max(1, n // 64))  # the host multiplies some rows only: it is slow
        expected = bench.host(a)[rows].astype(np.float64) @ bench.host(b).astype(np.float64)
        return np.allclose(bench.host(c)[rows], expected, rtol=1e-3 if kind == "float32" else 1e-9)

    return Trial(
        f"{n}^3", 2.0 * n**3, "op", runs, agrees, "torch", before=lambda: bench.put(c, zero), kernel=kernels.gemm
    )


def _triton() -> Any:
    """Our product in Triton, None where Triton is missing."""
    try:
        return importlib.import_module("benchmarks.gpu.triton_product").product
    except ImportError:
        return None


PART = Part("products", ("gemm float32", "gemm float64"), ("tiny", "small", "full"), make)
