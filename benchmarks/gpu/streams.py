"""What only moves memory: an element-wise chain, stencils, a transposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

LENGTH = {"tiny": 1 << 10, "small": 1 << 20, "full": 1 << 28}
SIDE = {"tiny": 32, "small": 1024, "full": 16384}
EDGE = {"tiny": 12, "small": 96, "full": 640}
INNER, LESS, MORE = slice(1, -1), slice(0, -2), slice(2, None)


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case."""
    if case == "add":
        return _add(bench, LENGTH[size])
    if case == "heat-3d":
        return _heat(bench, EDGE[size])
    return _plane(bench, case, SIDE[size])


def _add(bench: Bench, n: int) -> Trial:
    a, b, c = bench.random(n), bench.random(n), bench.zeros(n)
    runs: dict[str, Any] = {"loopwright": lambda: kernels.add(a, b, c)}
    if bench.torch is not None:
        runs["torch"] = lambda: bench.torch.add(a, b, alpha=2.0, out=c)
    runs |= bench.numba("add", by_hand.kernels, (n,), a, b, c)
    return Trial(f"{n}", 24.0 * n, "B", runs,
                 lambda: np.array_equal(bench.host(c), bench.host(a) + 2.0 * bench.host(b)), "copy")  # fmt: skip


def five_points(x: Any) -> Any:
    """jacobi-2d's result inside, of NumPy's arrays or PyTorch's."""
    return 0.2 * (x[INNER, INNER] + x[INNER, LESS] + x[INNER, MORE] + x[MORE, INNER] + x[LESS, INNER])


def seven_points(x: Any) -> Any:
    """heat-3d's, likewise."""
    mid = x[INNER, INNER, INNER]
    lines = ((x[MORE, INNER, INNER], x[LESS, INNER, INNER]), (x[INNER, MORE, INNER], x[INNER, LESS, INNER]),
             (x[INNER, INNER, MORE], x[INNER, INNER, LESS]))  # fmt: skip
    return mid + sum(0.125 * (right - 2.0 * mid + left) for right, left in lines)


def _plane(bench: Bench, case: str, n: int) -> Trial:
    a, b = bench.random((n, n)), bench.zeros((n, n))
    torch = bench.torch
    if case == "jacobi-2d":
        runs: dict[str, Any] = {"loopwright": lambda: kernels.jacobi_2d(a, b)}
        if torch is not None:
            runs["torch.compile"] = bench.compiled(lambda x, y: y[1:-1, 1:-1].copy_(five_points(x)), a, b)

        def agrees() -> bool:
            return np.allclose(bench.host(b)[1:-1, 1:-1], five_points(bench.host(a)))
    else:
        runs = {"loopwright": lambda: kernels.transpose(a, b)}
        if torch is not None:
            runs["torch"] = lambda: b.copy_(a.T)

        def agrees() -> bool:
            return np.array_equal(bench.host(b), bench.host(a).T)

    runs |= bench.numba(case, by_hand.kernels, (n, n), a, b)
    return Trial(f"{n}^2", 16.0 * n**2, "B", runs, agrees, "copy")


def _heat(bench: Bench, n: int) -> Trial:
    a, b = bench.random((n, n, n)), bench.zeros((n, n, n))
    runs: dict[str, Any] = {"loopwright": lambda: kernels.heat_3d(a, b)}
    if bench.torch is not None:
        runs["torch.compile"] = bench.compiled(lambda x, y: y[INNER, INNER, INNER].copy_(seven_points(x)), a, b)
    runs |= bench.numba("heat-3d", by_hand.kernels, (n, n, n), a, b)
    return Trial(f"{n}^3", 16.0 * n**3, "B", runs,
                 lambda: np.allclose(bench.host(b)[INNER, INNER, INNER], seven_points(bench.host(a))),
                 "copy")  # fmt: skip


PART = Part("streams", ("add", "jacobi-2d", "transpose", "heat-3d"), ("tiny", "small", "full"), make)
