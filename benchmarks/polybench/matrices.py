"""The input matrix that PolyBench gives to its three factorisations."""

import numpy as np


def positive_definite(n: int) -> np.ndarray:
    """`L @ L.T`, n x n, for the lower triangular L with ones on the diagonal and 1 - j/n below it."""
    i, j = np.ogrid[:n, :n]
    lower = np.where(j < i, 1.0 - j / n, 0.0) + np.eye(n)
    return lower @ lower.T
