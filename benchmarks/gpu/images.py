"""A convolution in two dimensions with 5 x 5 weights, fp32, beside cuDNN."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

SIDE = {"tiny": 40, "small": 1024, "full": 8192}
WEIGHTS = 5


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of the one case: an image of a side and 4 more pixels."""
    n = SIDE[size]
    image = bench.random((n + WEIGHTS - 1, n + WEIGHTS - 1), "float32")
    weights, out = bench.random((WEIGHTS, WEIGHTS), "float32"), bench.zeros((n, n), "float32")
    runs: dict[str, Any] = {"loopwright": lambda: kernels.convolve(image, weights, out)}
    if (torch := bench.torch) is not None:
        torch.backends.cudnn.allow_tf32 = False
        runs["torch"] = lambda: torch.nn.functional.conv2d(image[None, None], weights[None, None])
    runs |= bench.numba("convolve", by_hand.kernels, (n, n), image, weights, out)

    def agrees() -> bool:
        whole = bench.host(image).astype(np.float64)
        small = bench.host(weights).astype(np.float64)
        rows = [0, n // 2, n - 1]
        expected = sum(
            small[i, j] * whole[np.array(rows) + i, j : j + n] for i in range(WEIGHTS) for j in range(WEIGHTS)
        )
        return np.allclose(bench.host(out)[rows], expected, rtol=1e-4)

    return Trial(f"{n}^2", 2.0 * WEIGHTS**2 * n**2, "op", runs, agrees, "torch", kernel=kernels.convolve)


PART = Part("images", ("conv2d 5x5 float32",), ("tiny", "small", "full"), make)
