"""PolyBench seidel-2d: the average of nine neighbours, in place.

PolyBench starts from values that do not change at all in a step. Here a term is added that does.
"""

import numpy as np

NAME = "seidel-2d"
SIZES = {
    "MINI": {"tsteps": 20, "n": 40},
    "SMALL": {"tsteps": 40, "n": 120},
    "MEDIUM": {"tsteps": 100, "n": 400},
    "LARGE": {"tsteps": 500, "n": 2000},
    "EXTRALARGE": {"tsteps": 1000, "n": 4000},
}
OUTPUTS = ("A",)
# Each element needs its new left and upper neighbours: only along skewed lines is anything parallel.
PARALLEL = {
    "t": "sequential",
    "i": "sequential",
    "j": "sequential",
}


def initialise(tsteps: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :n]
    return {"tsteps": tsteps, "n": n, "A": (i * (j + 2.0) + 2.0) / n + i * j % 7}


def kernel(tsteps, n, A):
    for _t in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1] + A[i - 1, j] + A[i - 1, j + 1]
                    + A[i, j - 1] + A[i, j] + A[i, j + 1]
                    + A[i + 1, j - 1] + A[i + 1, j] + A[i + 1, j + 1]
                ) / 9.0  # fmt: skip


# No loop can be annotated in this order.
kernel_prange = kernel


def reference(tsteps, n, A):
    """Along the lines 2 i + j = constant, whose elements do not need each other."""
    A = A.copy()
    for _ in range(tsteps):
        for line in range(3, 3 * n - 5):
            i = np.arange(1, n - 1)
            i = i[(line - 2 * i >= 1) & (line - 2 * i <= n - 2)]
            j = line - 2 * i
            A[i, j] = sum(A[i + di, j + dj] for di in (-1, 0, 1) for dj in (-1, 0, 1)) / 9.0
    return {"A": A}


def flops(tsteps: int, n: int) -> int:
    return 9 * tsteps * (n - 2) * (n - 2)


def bytes_min(tsteps: int, n: int) -> int:
    return 8 * (n * n + (n - 2) * (n - 2))
