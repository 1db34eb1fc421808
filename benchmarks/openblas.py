"""OpenBLAS on the same arrays, for the kernels that are calls of BLAS: gemm, syrk, trmm, and 2mm and 3mm as chains.

NumPy's `@` calls OpenBLAS too, but has neither alpha and beta nor triangles: gemm by `@` passes over C three times more
and takes up to twice as long. SciPy hands NumPy's arrays to BLAS's own routines, in place: the stronger rival. BLAS
counts rows and columns as Fortran does, so that every array here is the transpose of what it is in Python.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy.linalg import blas
from threadpoolctl import threadpool_info, threadpool_limits

Array = np.ndarray


def gemm(ni: int, nj: int, nk: int, alpha: float, beta: float, C: Array, A: Array, B: Array) -> None:
    """C = alpha A B + beta C."""
    _multiply(alpha, A, B, beta, C)


def two_mm(
    ni: int, nj: int, nk: int, nl: int, alpha: float, beta: float, tmp: Array, A: Array, B: Array, C: Array, D: Array
) -> None:
    """tmp = alpha A B, D = tmp C + beta D."""
    _multiply(alpha, A, B, 0.0, tmp)
    _multiply(1.0, tmp, C, beta, D)


def three_mm(
    ni: int, nj: int, nk: int, nl: int, nm: int, E: Array, A: Array, B: Array, F: Array, C: Array, D: Array, G: Array
) -> None:
    """E = A B, F = C D, G = E F."""
    _multiply(1.0, A, B, 0.0, E)
    _multiply(1.0, C, D, 0.0, F)
    _multiply(1.0, E, F, 0.0, G)


def syrk(n: int, m: int, alpha: float, beta: float, C: Array, A: Array) -> None:
    """C = alpha A A' + beta C in the lower triangle."""
    _in_place(blas.dsyrk(alpha, A.T, beta, C.T, trans=1, lower=0, overwrite_c=1), C)


def trmm(m: int, n: int, alpha: float, A: Array, B: Array) -> None:
    """B = alpha A' B for a unit lower triangular A."""
    _in_place(blas.dtrmm(alpha, A.T, B.T, side=1, lower=0, trans_a=1, diag=1, overwrite_b=1), B)


def _multiply(alpha: float, left: Array, right: Array, beta: float, to: Array) -> None:
    _in_place(blas.dgemm(alpha, right.T, left.T, beta, to.T, overwrite_c=1), to)


def _in_place(result: Array, to: Array) -> None:
    if not np.shares_memory(result, to):
        raise ValueError("BLAS wrote into a copy: it takes C-contiguous arrays of float64 only")


ROUTINES: Mapping[str, Callable[..., None]] = {
    "gemm": gemm,
    "2mm": two_mm,
    "3mm": three_mm,
    "syrk": syrk,
    "trmm": trmm,
}


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """OpenBLAS uses so many threads in the block. Raises RuntimeError where it does not."""
    with threadpool_limits(limits=threads, user_api="blas"):
        used = threads_used()
        if used != threads:
            raise RuntimeError(f"OpenBLAS uses {used} threads instead of {threads}: set OPENBLAS_NUM_THREADS={threads}")
        yield


def threads_used() -> int:
    """The most threads that any BLAS loaded in this process would use now."""
    return max(pool["num_threads"] for pool in _pools())


def versions() -> dict[str, str]:
    """The BLAS libraries loaded by SciPy and NumPy, by what threadpoolctl calls them."""
    found: dict[str, str] = {}
    for pool in _pools():
        name = str(pool["internal_api"])
        found[name] = ", ".join(filter(None, (found.get(name), str(pool["version"]))))
    return found


def _pools() -> list[dict[str, Any]]:
    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
