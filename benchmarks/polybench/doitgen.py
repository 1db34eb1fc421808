"""PolyBench doitgen: each vector A[r, q, :] is multiplied by C4, in place.

PolyBench passes the scratch vector as an argument, as C makes one do; in Python it is a local array.
"""

import numpy as np

from benchmarks.polybench.annotations import prange

NAME = "doitgen"
SIZES = {  # ns is PolyBench's NP
    "MINI": {"nr": 10, "nq": 8, "ns": 12},
    "SMALL": {"nr": 25, "nq": 20, "ns": 30},
    "MEDIUM": {"nr": 50, "nq": 40, "ns": 60},
    "LARGE": {"nr": 150, "nq": 140, "ns": 160},
    "EXTRALARGE": {"nr": 250, "nq": 220, "ns": 270},
}
OUTPUTS = ("A",)
PARALLEL = {
    "r": "parallel",  # total is written before it is read in each iteration: private
    "q": "parallel",  # likewise
    "p": "parallel",
    "s": "reduction",  # total[p] += ...
    "p_2": "parallel",
}


def initialise(nr: int, nq: int, ns: int) -> dict[str, object]:
    i, j, k = np.ogrid[:nr, :nq, :ns]
    row, column = np.ogrid[:ns, :ns]
    return {"nr": nr, "nq": nq, "ns": ns, "A": (i * j + k) % ns / ns, "C4": row * column % ns / ns}


def kernel(nr, nq, ns, A, C4):
    total = np.empty(ns)
    for r in range(nr):
        for q in range(nq):
            for p in range(ns):
                total[p] = 0.0
                for s in range(ns):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(ns):
                A[r, q, p] = total[p]


def kernel_prange(nr, nq, ns, A, C4):
    for r in prange(nr):
        total = np.empty(ns)  # inside the loop: Numba shares one allocated before it among the threads
        for q in range(nq):
            for p in range(ns):
                total[p] = 0.0
                for s in range(ns):
                    total[p] += A[r, q, s] * C4[s, p]
            for p in range(ns):
                A[r, q, p] = total[p]


def reference(nr, nq, ns, A, C4):
    return {"A": (A.reshape(nr * nq, ns) @ C4).reshape(nr, nq, ns)}


def flops(nr: int, nq: int, ns: int) -> int:
    return 2 * nr * nq * ns * ns


def bytes_min(nr: int, nq: int, ns: int) -> int:
    return 8 * (2 * nr * nq * ns + ns * ns)
