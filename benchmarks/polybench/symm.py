"""PolyBench symm: C = alpha A B + beta C for a symmetric A, of which the lower triangle is stored."""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "symm"
SIZES = {
    "MINI": {"m": 20, "n": 30},
    "SMALL": {"m": 60, "n": 80},
    "MEDIUM": {"m": 200, "n": 240},
    "LARGE": {"m": 1000, "n": 1200},
    "EXTRALARGE": {"m": 2000, "n": 2600},
}
OUTPUTS = ("C",)
PARALLEL = {
    "i": "sequential",  # row i of C is scaled in iteration i and added to in every later one
    "j": "parallel",  # each j stays in its column; temp2 is private
    "k": "reduction",  # temp2 += ...; the rows k < i of C are all different
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:m, :n]
    row, column = np.ogrid[:m, :m]
    return {
        "m": m,
        "n": n,
        "alpha": 1.5,
        "beta": 1.2,
        "C": (i + j) % 100 / m,
        # The upper triangle must not be used: a value that would show.
        "A": np.where(column <= row, (row + column) % 100 / m, -999.0),
        "B": (n + i - j) % 100 / m,
    }


def kernel(m, n, alpha, beta, C, A, B):
    for i in range(m):
        for j in range(n):
            temp2 = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp2 += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2


def kernel_prange(m, n, alpha, beta, C, A, B):
    for i in range(m):
        for j in prange(n):
            temp2 = 0.0
            for k in range(i):
                C[k, j] += alpha * B[i, j] * A[i, k]
                temp2 += B[k, j] * A[i, k]
            C[i, j] = beta * C[i, j] + alpha * B[i, j] * A[i, i] + alpha * temp2


def reference(m, n, alpha, beta, C, A, B):
    lower = np.tril(A)
    return {"C": beta * C + alpha * ((lower + np.tril(A, -1).T) @ B)}


def flops(m: int, n: int) -> int:
    return 5 * n * (m * (m - 1) // 2) + 6 * m * n


def bytes_min(m: int, n: int) -> int:
    return 8 * (m * (m + 1) // 2 + 3 * m * n)
