"""PolyBench mvt: x1 += A y1 and x2 += A' y2."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "mvt"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("x1", "x2")
PARALLEL = {
    "i": "parallel",
    "j": "reduction",  # x1[i] += ...
    "i_2": "parallel",
    "j_2": "reduction",  # x2[i] += ...
}


def initialise(n: int) -> dict[str, object]:
    i = np.arange(n)
    return {
        "n": n,
        "x1": i / n,
        "x2": (i + 1) % n / n,
        "y1": (i + 3) % n / n,
        "y2": (i + 4) % n / n,
        "A": np.outer(i, i) % n / n,
    }


def kernel(n, x1, x2, y1, y2, A):
    for i in range(n):
        for j in range(n):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in range(n):
        for j in range(n):
            x2[i] = x2[i] + A[j, i] * y2[j]


def kernel_prange(n, x1, x2, y1, y2, A):
    for i in prange(n):
        for j in range(n):
            x1[i] = x1[i] + A[i, j] * y1[j]
    for i in prange(n):
        for j in range(n):
            x2[i] = x2[i] + A[j, i] * y2[j]


def reference(n, x1, x2, y1, y2, A):
    return {"x1": x1 + A @ y1, "x2": x2 + y2 @ A}


def flops(n: int) -> int:
    return 4 * n * n


def bytes_min(n: int) -> int:
    return 8 * (n * n + 6 * n)
