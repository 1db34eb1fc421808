"""PolyBench 2mm: D = alpha A B C + beta D."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "2mm"
SIZES = {
    "MINI": {"ni": 16, "nj": 18, "nk": 22, "nl": 24},
    "SMALL": {"ni": 40, "nj": 50, "nk": 70, "nl": 80},
    "MEDIUM": {"ni": 180, "nj": 190, "nk": 210, "nl": 220},
    "LARGE": {"ni": 800, "nj": 900, "nk": 1100, "nl": 1200},
    "EXTRALARGE": {"ni": 1600, "nj": 1800, "nk": 2200, "nl": 2400},
}
OUTPUTS = ("D",)
PARALLEL = {
    "i": "parallel",
    "j": "parallel",
    "k": "reduction",  # tmp[i, j] += ...
    "i_2": "parallel",
    "j_2": "parallel",
    "k_2": "reduction",  # D[i, j] += ...
}


def initialise(ni: int, nj: int, nk: int, nl: int) -> dict[str, object]:
    i, j, k, m = np.arange(ni), np.arange(nj), np.arange(nk), np.arange(nl)
    return {
        "ni": ni,
        "nj": nj,
        "nk": nk,
        "nl": nl,
        "alpha": 1.5,
        "beta": 1.2,
        "tmp": np.zeros((ni, nj)),
        "A": (np.outer(i, k) + 1) % ni / ni,
        "B": np.outer(k, j + 1) % nj / nj,
        "C": (np.outer(j, m + 3) + 1) % nl / nl,
        "D": np.outer(i, m + 2) % nk / nk,
    }


def kernel(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D):
    for i in range(ni):
        for j in range(nj):
            tmp[i, j] = 0.0
            for k in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in range(ni):
        for j in range(nl):
            D[i, j] *= beta
            for k in range(nj):
                D[i, j] += tmp[i, k] * C[k, j]


def kernel_prange(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D):
    for i in prange(ni):
        for j in range(nj):
            tmp[i, j] = 0.0
            for k in range(nk):
                tmp[i, j] += alpha * A[i, k] * B[k, j]
    for i in prange(ni):
        for j in range(nl):
            D[i, j] *= beta
            for k in range(nj):
                D[i, j] += tmp[i, k] * C[k, j]


def reference(ni, nj, nk, nl, alpha, beta, tmp, A, B, C, D):
    return {"D": alpha * (A @ (B @ C)) + beta * D}


def flops(ni: int, nj: int, nk: int, nl: int) -> int:
    return 3 * ni * nj * nk + ni * nl + 2 * ni * nl * nj


def bytes_min(ni: int, nj: int, nk: int, nl: int) -> int:
    return 8 * (ni * nk + nk * nj + nj * nl + ni * nj + 2 * ni * nl)
