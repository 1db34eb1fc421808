"""`python -m benchmarks.triangles OUT.json [--size 1000]`: products, products with triangles, and triangular systems as
plain loops, on one thread, beside the routines of SciPy's OpenBLAS on the same arrays; the least of rounds that take
turns. OpenBLAS takes the instructions that the CPU has, Loopwright those of LOOPWRIGHT_CFLAGS.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import blas
from threadpoolctl import threadpool_limits

import loopwright as lw
from benchmarks.machine import cpu_name, versions

ROUNDS, CALLS = 4, 2


def gemm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                c[i, j] += alpha * a[i, k] * b[k, j]


def syrk(alpha, beta, c, a):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


def syr2k(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += a[j, k] * alpha * b[i, k] + b[j, k] * alpha * a[i, k]


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i + 1, b.shape[0]):
                b[i, j] += a[k, i] * b[k, j]
            b[i, j] = alpha * b[i, j]


def symm(alpha, beta, c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            s = 0.0
            for k in range(i):
                c[k, j] += alpha * b[i, j] * a[i, k]
                s += b[k, j] * a[i, k]
            c[i, j] = beta * c[i, j] + alpha * b[i, j] * a[i, i] + alpha * s


def trsm(a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            for k in range(i):
                b[i, j] -= a[i, k] * b[k, j]
            b[i, j] /= a[i, i]


def cases(n: int, kind: type[np.floating[Any]]) -> dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]]:
    """Function, arguments, and the letters of BLAS's routine, for n x n arrays."""
    random = np.random.default_rng(0)
    a, b, c = (random.random((n, n)).astype(kind) for _ in range(3))
    low = (np.tril(a) / n + 2 * np.eye(n)).astype(kind)
    alpha, beta = kind(1.5), kind(1.2)
    return {
        "gemm": (gemm, (alpha, beta, c, a, b), "gemm"),
        "syrk": (syrk, (alpha, beta, c, a), "syrk"),
        "syr2k": (syr2k, (alpha, beta, c, a, b), "syr2k"),
        "trmm": (trmm, (kind(0.5), a, b), "trmm"),
        "symm": (symm, (alpha, beta, c, a, b), "symm"),
        "trsm": (trsm, (low, b), "trsm"),
    }


def routine(name: str, kind: type[np.floating[Any]], arguments: tuple[Any, ...]) -> Callable[[], object]:
    """The call of BLAS, in place; it counts rows and columns as Fortran does, so that each array is its transpose."""
    call = getattr(blas, ("d" if kind is np.float64 else "s") + name)
    match name, arguments:
        case "gemm", (alpha, beta, c, a, b):
            return lambda: call(alpha, b.T, a.T, beta=beta, c=c.T, overwrite_c=1)
        case "syrk", (alpha, beta, c, a):
            return lambda: call(alpha, a.T, beta=beta, c=c.T, trans=1, overwrite_c=1)
        case "syr2k", (alpha, beta, c, a, b):
            return lambda: call(alpha, a.T, b.T, beta=beta, c=c.T, trans=1, overwrite_c=1)
        case "trmm", (alpha, a, b):
            return lambda: call(alpha, a.T, b.T, side=1, trans_a=1, diag=1, overwrite_b=1)
        case "symm", (alpha, beta, c, a, b):
            return lambda: call(alpha, a.T, b.T, beta=beta, c=c.T, side=1, overwrite_c=1)
        case "trsm", (a, b):
            return lambda: call(1.0, a.T, b.T, side=1, overwrite_b=1)
    raise ValueError(name)


def measured(name: str, function: Callable[..., Any], arguments: tuple[Any, ...], blas_s: Callable[[], object]) -> Any:
    """Seconds of both: what one thread spends."""
    kernel = lw.kernel(threads=1)(function)
    least = {"loopwright": float("inf"), "OpenBLAS": float("inf")}
    changing = [one for one in arguments if isinstance(one, np.ndarray)][-1 if name in ("trmm", "trsm") else 0]
    with threadpool_limits(1):
        kernel(*arguments)
        blas_s()
        for _ in range(ROUNDS):
            for who, call in (("loopwright", lambda: kernel(*arguments)), ("OpenBLAS", blas_s)):
                changing[:] = 1e-3
                for _ in range(CALLS):
                    begun = time.thread_time()
                    call()
                    least[who] = min(least[who], time.thread_time() - begun)
    return least


def main() -> None:
    """Measure, and write after each row."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.triangles")
    parser.add_argument("out", type=Path)
    parser.add_argument("--size", type=int, default=1000)
    options = parser.parse_args()
    found: dict[str, Any] = {"cpu": cpu_name(), "versions": versions(), "size": options.size, "rows": []}
    for kind in (np.float64, np.float32):
        for name, (function, arguments, letters) in cases(options.size, kind).items():
            seconds = measured(name, function, arguments, routine(letters, kind, arguments))
            speed = seconds["OpenBLAS"] / seconds["loopwright"]
            found["rows"].append({"case": name, "type": kind.__name__, "seconds": seconds, "of OpenBLAS": speed})
            print(f"{name} {kind.__name__}: {1e3 * seconds['loopwright']:.1f} ms, {speed:.2f} of OpenBLAS", flush=True)
            options.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
