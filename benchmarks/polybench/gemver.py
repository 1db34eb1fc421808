"""PolyBench gemver: A += u1 v1' + u2 v2'; x += beta A' y + z; w += alpha A x."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "gemver"
SIZES = {
    "MINI": {"n": 40},
    "SMALL": {"n": 120},
    "MEDIUM": {"n": 400},
    "LARGE": {"n": 2000},
    "EXTRALARGE": {"n": 4000},
}
OUTPUTS = ("A", "x", "w")
PARALLEL = {
    "i": "parallel",
    "j": "parallel",
    "i_2": "parallel",
    "j_2": "reduction",  # x[i] += ...
    "i_3": "parallel",
    "i_4": "parallel",
    "j_3": "reduction",  # w[i] += ...
}


def initialise(n: int) -> dict[str, object]:
    i = np.arange(n)
    rising = (i + 1) / n
    return {
        "n": n,
        "alpha": 1.5,
        "beta": 1.2,
        "A": np.outer(i, i) % n / n,
        "u1": i.astype(np.float64),
        "v1": rising / 4.0,
        "u2": rising / 2.0,
        "v2": rising / 6.0,
        "w": np.zeros(n),
        "x": np.zeros(n),
        "y": rising / 8.0,
        "z": rising / 9.0,
    }


def kernel(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def kernel_prange(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    for i in prange(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in prange(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    # Too little work to be worth starting threads for.
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in prange(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]


def reference(n, alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    updated = A + np.outer(u1, v1) + np.outer(u2, v2)
    moved = x + beta * (y @ updated) + z
    return {"A": updated, "x": moved, "w": w + alpha * (updated @ moved)}


def flops(n: int) -> int:
    return 10 * n * n + n


def bytes_min(n: int) -> int:
    return 8 * (2 * n * n + 10 * n)
