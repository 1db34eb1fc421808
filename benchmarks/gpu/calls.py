"""What does not depend on kernels: arrays that lie in the host's memory, and the cost of a call."""

from __future__ import annotations

from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu import by_hand, kernels
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

LENGTH = {"tiny": 1 << 10, "small": 1 << 20, "full": 1 << 27}


def from_host(bench: Bench, case: str, size: str) -> Trial:
    """An addition of NumPy arrays; beside it the same bytes to pinned memory and back."""
    n = LENGTH[size]
    random = np.random.default_rng(5)
    a, b, c = random.random(n), random.random(n), np.zeros(n)

    def ours() -> None:
        with lw.options(device=bench.device):
            kernels.add(a, b, c)

    runs: dict[str, Any] = {"loopwright": ours}
    if (torch := bench.torch) is not None:
        pinned = torch.empty(n, dtype=torch.float64).pin_memory()
        there = torch.empty(n, dtype=torch.float64, device="cuda")

        def pinned_copies() -> None:
            there.copy_(pinned, non_blocking=True)
            there.copy_(pinned, non_blocking=True)
            pinned.copy_(there, non_blocking=True)

        runs["pinned copies"] = pinned_copies
    return Trial(f"{n}", 24.0 * n, "B", runs, lambda: np.array_equal(c, a + 2.0 * b), "pinned copies", clock="wall")


def cost(bench: Bench, case: str, size: str) -> Trial:
    """A call on tiny arrays that are on the GPU, the launch included, without waiting for it."""
    a, b, c = (bench.random(8) for _ in range(3))
    if case == "lw.device_array":
        with lw.options(device=bench.device):
            x, y, z = (lw.device_array(np.arange(8.0)) for _ in range(3))
        return Trial("8", 1.0, "call", {"loopwright": lambda: kernels.add(x, y, z)},
                     lambda: np.array_equal(z.numpy(), np.arange(8.0) * 3.0), clock="call")  # fmt: skip
    runs: dict[str, Any] = {"loopwright": lambda: kernels.add(a, b, c)}
    if bench.torch is not None:
        runs["torch"] = lambda: bench.torch.add(a, b, alpha=2.0, out=c)
    runs |= bench.numba("add", by_hand.kernels, (8,), a, b, c)
    return Trial("8", 1.0, "call", runs,
                 lambda: np.array_equal(bench.host(c), bench.host(a) + 2.0 * bench.host(b)), clock="call")  # fmt: skip


HOST = Part("host", ("add",), ("tiny", "small", "full"), from_host)
CALLS = Part("calls", ("tensors", "lw.device_array"), ("tiny",), cost)
