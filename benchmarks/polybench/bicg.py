"""PolyBench bicg: s = A' r and q = A p, the two products of a step of BiCG."""

import numpy as np

NAME = "bicg"
SIZES = {
    "MINI": {"m": 38, "n": 42},
    "SMALL": {"m": 116, "n": 124},
    "MEDIUM": {"m": 390, "n": 410},
    "LARGE": {"m": 1900, "n": 2100},
    "EXTRALARGE": {"m": 1800, "n": 2200},
}
OUTPUTS = ("s", "q")
PARALLEL = {
    "i": "parallel",
    "i_2": "reduction",  # the whole of s += ...; q[i] is this iteration's own
    "j": "reduction",  # q[i] += ...; each s[j] is touched once
}


def initialise(m: int, n: int) -> dict[str, object]:
    i, j = np.ogrid[:n, :m]
    return {
        "m": m,
        "n": n,
        "A": i * (j + 1) % n / n,
        "s": np.zeros(m),
        "q": np.zeros(n),
        "p": np.arange(m) / m,
        "r": np.arange(n) / n,
    }


def kernel(m, n, A, s, q, p, r):
    for i in range(m):
        s[i] = 0.0
    for i in range(n):
        q[i] = 0.0
        for j in range(m):
            s[j] = s[j] + r[i] * A[i, j]
            q[i] = q[i] + A[i, j] * p[j]


# prange over the rows would be a race on s (Numba reduces into whole arrays only), and the loop inside is a few
# microseconds long, less than it costs to start threads for each row: no loop here gains from it.
kernel_prange = kernel


def reference(m, n, A, s, q, p, r):
    return {"s": r @ A, "q": A @ p}


def flops(m: int, n: int) -> int:
    return 4 * m * n


def bytes_min(m: int, n: int) -> int:
    return 8 * (m * n + 2 * m + 2 * n)
