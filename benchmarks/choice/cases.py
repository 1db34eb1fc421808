"""Cases: a kernel with the data of one call, in the sizes for a CPU and for a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import loopwright as lw
from benchmarks.choice import kernels
from benchmarks.choice.kernels import Arguments

Device = Literal["cpu", "cuda", "emulated"]
Size = Literal["small", "full"]


@dataclass(frozen=True)
class Case:
    """A call. make: its arguments, from numbers. small, cpu, cuda: these numbers, for a look and for runs of 5 to 50
    milliseconds (on a GPU, where members of a space may be ten thousand times slower than the best, of about one)."""

    name: str
    kernel: lw.LoopKernel
    make: Callable[..., Arguments]
    small: dict[str, int]
    cpu: dict[str, int]
    cuda: dict[str, int] = field(default_factory=dict)

    def arguments(self, device: Device, size: Size) -> Arguments:
        """Of the call on a device."""
        if size == "small" or device == "emulated":
            return self.make(**self.small)
        return self.make(**(self.cpu if device == "cpu" else self.cuda))


SPACES = (
    Case("gemm", kernels.gemm, kernels.gemm_data, {"n": 32}, {"n": 640}, {"n": 1536}),
    Case(
        "jacobi-2d", kernels.jacobi_2d, kernels.jacobi_2d_data,
        {"n": 40, "steps": 3}, {"n": 1500, "steps": 10}, {"n": 3000, "steps": 10},
    ),
    Case(
        "coulombic potential", kernels.coulomb, kernels.coulomb_data,
        {"n": 16, "atoms": 24}, {"n": 256, "atoms": 500}, {"n": 2048, "atoms": 500},
    ),
    Case(
        "sum of absolute differences", kernels.sad, kernels.sad_data,
        {"rows": 2, "columns": 3, "reach": 5, "block": 4},
        {"rows": 9, "columns": 11, "reach": 33, "block": 16},
        {"rows": 17, "columns": 60, "reach": 33, "block": 16},
    ),
    Case(
        "MRI-Q", kernels.mri_q, kernels.mri_q_data,
        {"voxels": 64, "samples": 32}, {"voxels": 4096, "samples": 512}, {"voxels": 262144, "samples": 512},
    ),
)  # fmt: skip
