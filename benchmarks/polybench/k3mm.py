"""PolyBench 3mm: G = (A B)(C D)."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "3mm"
SIZES = {
    "MINI": {"ni": 16, "nj": 18, "nk": 20, "nl": 22, "nm": 24},
    "SMALL": {"ni": 40, "nj": 50, "nk": 60, "nl": 70, "nm": 80},
    "MEDIUM": {"ni": 180, "nj": 190, "nk": 200, "nl": 210, "nm": 220},
    "LARGE": {"ni": 800, "nj": 900, "nk": 1000, "nl": 1100, "nm": 1200},
    "EXTRALARGE": {"ni": 1600, "nj": 1800, "nk": 2000, "nl": 2200, "nm": 2400},
}
OUTPUTS = ("G",)
PARALLEL = {
    "i": "parallel",
    "j": "parallel",
    "k": "reduction",  # E[i, j] += ...
    "i_2": "parallel",
    "j_2": "parallel",
    "k_2": "reduction",  # F[i, j] += ...
    "i_3": "parallel",
    "j_3": "parallel",
    "k_3": "reduction",  # G[i, j] += ...
}


def initialise(ni: int, nj: int, nk: int, nl: int, nm: int) -> dict[str, object]:
    i, j, k, p, q = np.arange(ni), np.arange(nj), np.arange(nk), np.arange(nl), np.arange(nm)
    return {
        "ni": ni,
        "nj": nj,
        "nk": nk,
        "nl": nl,
        "nm": nm,
        "E": np.zeros((ni, nj)),
        "A": (np.outer(i, k) + 1) % ni / (5 * ni),
        "B": (np.outer(k, j + 1) + 2) % nj / (5 * nj),
        "F": np.zeros((nj, nl)),
        "C": np.outer(j, q + 3) % nl / (5 * nl),
        "D": (np.outer(q, p + 2) + 2) % nk / (5 * nk),
        "G": np.zeros((ni, nl)),
    }


def kernel(ni, nj, nk, nl, nm, E, A, B, F, C, D, G):
    for i in range(ni):
        for j in range(nj):
            E[i, j] = 0.0
            for k in range(nk):
                E[i, j] += A[i, k] * B[k, j]
    for i in range(nj):
        for j in range(nl):
            F[i, j] = 0.0
            for k in range(nm):
                F[i, j] += C[i, k] * D[k, j]
    for i in range(ni):
        for j in range(nl):
            G[i, j] = 0.0
            for k in range(nj):
                G[i, j] += E[i, k] * F[k, j]


def kernel_prange(ni, nj, nk, nl, nm, E, A, B, F, C, D, G):
    for i in prange(ni):
        for j in range(nj):
            E[i, j] = 0.0
            for k in range(nk):
                E[i, j] += A[i, k] * B[k, j]
    for i in prange(nj):
        for j in range(nl):
            F[i, j] = 0.0
            for k in range(nm):
                F[i, j] += C[i, k] * D[k, j]
    for i in prange(ni):
        for j in range(nl):
            G[i, j] = 0.0
            for k in range(nj):
                G[i, j] += E[i, k] * F[k, j]


def reference(ni, nj, nk, nl, nm, E, A, B, F, C, D, G):
    return {"G": np.linalg.multi_dot([A, B, C, D])}


def flops(ni: int, nj: int, nk: int, nl: int, nm: int) -> int:
    return 2 * (ni * nj * nk + nj * nl * nm + ni * nl * nj)


def bytes_min(ni: int, nj: int, nk: int, nl: int, nm: int) -> int:
    return 8 * (ni * nk + nk * nj + nj * nm + nm * nl + ni * nj + nj * nl + ni * nl)
