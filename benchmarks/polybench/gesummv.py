"""PolyBench gesummv: y = alpha A x + beta B x."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "gesummv"
SIZES = {
    "MINI": {"n": 30},
    "SMALL": {"n": 90},
    "MEDIUM": {"n": 250},
    "LARGE": {"n": 1300},
    "EXTRALARGE": {"n": 2800},
}
OUTPUTS = ("y",)
PARALLEL = {
    "i": "parallel",
    "j": "reduction",  # tmp[i] += ... and y[i] += ...
}


def initialise(n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    return {
        "n": n,
        "alpha": 1.5,
        "beta": 1.2,
        "A": (i * j + 1) % n / n,
        "B": (i * j + 2) % n / n,
        "tmp": np.zeros(n),
        "x": np.arange(n) / n,
        "y": np.zeros(n),
    }


def kernel(n, alpha, beta, A, B, tmp, x, y):
    for i in range(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


def kernel_prange(n, alpha, beta, A, B, tmp, x, y):
    for i in prange(n):
        tmp[i] = 0.0
        y[i] = 0.0
        for j in range(n):
            tmp[i] = A[i, j] * x[j] + tmp[i]
            y[i] = B[i, j] * x[j] + y[i]
        y[i] = alpha * tmp[i] + beta * y[i]


def reference(n, alpha, beta, A, B, tmp, x, y):
    return {"y": (alpha * A + beta * B) @ x}


def flops(n: int) -> int:
    return 4 * n * n + 3 * n


def bytes_min(n: int) -> int:
    return 8 * (2 * n * n + 3 * n)
