"""PolyBench gemm: C = alpha A B + beta C."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "gemm"
SIZES = {
    "MINI": {"ni": 20, "nj": 25, "nk": 30},
    "SMALL": {"ni": 60, "nj": 70, "nk": 80},
    "MEDIUM": {"ni": 200, "nj": 220, "nk": 240},
    "LARGE": {"ni": 1000, "nj": 1100, "nk": 1200},
    "EXTRALARGE": {"ni": 2000, "nj": 2300, "nk": 2600},
}
OUTPUTS = ("C",)
PARALLEL = {
    "i": "parallel",
    "j": "parallel",
    "k": "reduction",  # row i of C += ...
    "j_2": "parallel",
}


def initialise(ni: int, nj: int, nk: int) -> dict[str, object]:
    i, j, k = np.arange(ni), np.arange(nj), np.arange(nk)
    return {
        "ni": ni,
        "nj": nj,
        "nk": nk,
        "alpha": 1.5,
        "beta": 1.2,
        "C": (np.outer(i, j) + 1) % ni / ni,
        "A": np.outer(i, k + 1) % nk / nk,
        "B": np.outer(k, j + 2) % nj / nj,
    }


def kernel(ni, nj, nk, alpha, beta, C, A, B):
    for i in range(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]


def kernel_prange(ni, nj, nk, alpha, beta, C, A, B):
    for i in prange(ni):
        for j in range(nj):
            C[i, j] *= beta
        for k in range(nk):
            for j in range(nj):
                C[i, j] += alpha * A[i, k] * B[k, j]


def reference(ni, nj, nk, alpha, beta, C, A, B):
    return {"C": alpha * (A @ B) + beta * C}


def flops(ni: int, nj: int, nk: int) -> int:
    return ni * nj + 3 * ni * nj * nk


def bytes_min(ni: int, nj: int, nk: int) -> int:
    return 8 * (ni * nk + nk * nj + 2 * ni * nj)
