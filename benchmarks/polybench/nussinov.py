"""PolyBench nussinov: the most base pairs that an RNA sequence can form with itself, over all its stretches."""

import numpy as np

NAME = "nussinov"
SIZES = {
    "MINI": {"n": 60},
    "SMALL": {"n": 180},
    "MEDIUM": {"n": 500},
    "LARGE": {"n": 2500},
    "EXTRALARGE": {"n": 5500},
}
OUTPUTS = ("table",)
PARALLEL = {
    "i": "sequential",  # stretch (i, j) needs (i + 1, j)
    "j": "sequential",  # and (i, j - 1)
    "k": "reduction",  # the maximum, into table[i, j], which i < k < j never reads otherwise
}


def initialise(n: int) -> dict[str, object]:
    return {"n": n, "seq": ((np.arange(n) + 1) % 4).astype(np.int8), "table": np.zeros((n, n), np.int32)}


def kernel(n, seq, table):
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    # Two bases pair when their numbers add up to 3.
                    pair = 1 if seq[i] + seq[j] == 3 else 0
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


# Only the maximum over k could be annotated: too short to start threads for each.
kernel_prange = kernel


def reference(n, seq, table):
    """By the length of the stretch, with the split point tried at every place."""
    best = np.zeros((n + 1, n + 1), np.int32)  # best[i, j]: the stretch from i up to, not including, j
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            ends_pair = length > 2 and int(seq[i]) + int(seq[j - 1]) == 3
            splits = best[i, i + 1 : j] + best[i + 1 : j, j]
            best[i, j] = max(int(splits.max()), int(best[i + 1, j - 1]) + ends_pair)
    return {"table": np.triu(best[:n, 1:])}


def flops(n: int) -> int:
    return 3 * n * (n - 1) - 3 * (n - 1) + n * (n - 1) * (n - 2) // 3


def bytes_min(n: int) -> int:
    return 4 * (n * (n - 1) + 2 * n - 1) + n
