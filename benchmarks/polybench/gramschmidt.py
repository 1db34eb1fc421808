"""PolyBench gramschmidt: A = Q R by the modified Gram-Schmidt process.

PolyBench gives it more columns than rows, so that its last columns are rounding errors scaled up to length one, and
no two programs agree on them. Here the two sizes change places, and 200 is added on the diagonal of the input, so
that all of the result means something.
"""

import math

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "gramschmidt"
SIZES = {
    "MINI": {"m": 30, "n": 20},
    "SMALL": {"m": 80, "n": 60},
    "MEDIUM": {"m": 240, "n": 200},
    "LARGE": {"m": 1200, "n": 1000},
    "EXTRALARGE": {"m": 2600, "n": 2000},
}
OUTPUTS = ("R", "Q")
PARALLEL = {
    "k": "sequential",  # iteration k changes the columns that later ones read
    "i": "reduction",  # nrm += ...
    "i_2": "parallel",
    "j": "parallel",  # each j has its own column of A and element of R
    "i_3": "reduction",  # R[k, j] += ...
    "i_4": "parallel",
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:m, :n]
    return {
        "m": m,
        "n": n,
        "A": (i * j % m / m) * 100.0 + 10.0 + 200.0 * np.eye(m, n),
        "R": np.zeros((n, n)),
        "Q": np.zeros((m, n)),
    }


def kernel(m, n, A, R, Q):
    for k in range(n):
        nrm = 0.0
        for i in range(m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in range(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def kernel_prange(m, n, A, R, Q):
    for k in range(n):
        nrm = 0.0
        for i in range(m):
            nrm += A[i, k] * A[i, k]
        R[k, k] = math.sqrt(nrm)
        for i in range(m):
            Q[i, k] = A[i, k] / R[k, k]
        for j in prange(k + 1, n):
            R[k, j] = 0.0
            for i in range(m):
                R[k, j] += Q[i, k] * A[i, j]
            for i in range(m):
                A[i, j] = A[i, j] - Q[i, k] * R[k, j]


def reference(m, n, A, R, Q):
    q, r = np.linalg.qr(A)
    sign = np.sign(np.diag(r))  # Gram-Schmidt makes the diagonal of R positive
    return {"R": r * sign[:, None] + np.tril(R, -1), "Q": q * sign}


def flops(m: int, n: int) -> int:
    return n * (3 * m + 1) + 2 * m * n * (n - 1)


def bytes_min(m: int, n: int) -> int:
    return 8 * (m * n + m * (n - 1) + m * n + n * (n + 1) // 2)
