"""Five kernels whose spaces are looked at: a product of matrices, a stencil over time, a Coulomb potential on a grid, a
sum of absolute differences for block matching, and a sum of waves for each voxel, as in MRI reconstruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import loopwright as lw
from loopwright.compiler import Analysed, analysed
from loopwright.config import current
from loopwright.frontend.capture import capture
from loopwright.ir.variant import compilation_of
from loopwright.recipe.target import CpuTarget
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.search.space import Device, Space, space_of


def gemm(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def jacobi(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j]
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j]


def coulomb(atoms, grid, spacing, z):
    for j in range(grid.shape[0]):
        for i in range(grid.shape[1]):
            total = 0.0
            for n in range(atoms.shape[0]):
                dx = spacing * i - atoms[n, 0]
                dy = spacing * j - atoms[n, 1]
                dz = z - atoms[n, 2]
                total += atoms[n, 3] / np.sqrt(dx * dx + dy * dy + dz * dz)
            grid[j, i] += total


def differences(frame, reference, out):
    for y in range(out.shape[0]):
        for x in range(out.shape[1]):
            for dy in range(out.shape[2]):
                for dx in range(out.shape[3]):
                    total = 0
                    for v in range(4):
                        for u in range(4):
                            mine = int(frame[4 * y + v, 4 * x + u])
                            total += abs(mine - int(reference[4 * y + dy + v, 4 * x + dx + u]))
                    out[y, x, dy, dx] = total


def waves(kx, ky, weight, x, y, re, im):
    for v in range(x.shape[0]):
        real = 0.0
        imaginary = 0.0
        for k in range(kx.shape[0]):
            angle = kx[k] * x[v] + ky[k] * y[v]
            real += weight[k] * np.cos(angle)
            imaginary += weight[k] * np.sin(angle)
        re[v] += real
        im[v] += imaginary


@dataclass(frozen=True)
class Case:
    """A function, and arguments from sizes: about so many iterations of each large loop."""

    function: Callable[..., None]
    arguments: Callable[[int], tuple[Any, ...]]


def _bytes(random: np.random.Generator, *shape: int) -> Any:
    return random.integers(0, 255, shape).astype(np.uint8)


def _gemm(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(n)
    return random.random((n, n + 1)), random.random((n + 1, n + 2)), random.random((n, n + 2))


def _jacobi(n: int) -> tuple[Any, ...]:
    return 3, np.random.default_rng(n).integers(0, 9, (n, n + 3)).astype(float), np.zeros((n, n + 3))


def _coulomb(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(n)
    return random.random((7, 4)), random.random((n, n + 2)), 0.5, 2.5


def _differences(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(n)
    return _bytes(random, 12, 8), _bytes(random, 12 + n, 8 + n), np.zeros((3, 2, n, n - 1), np.int64)


def _waves(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(n)
    return (*random.random((3, 6)), *random.random((4, n)))


CASES = {
    "gemm": Case(gemm, _gemm),
    "jacobi": Case(jacobi, _jacobi),
    "coulomb": Case(coulomb, _coulomb),
    "differences": Case(differences, _differences),
    "waves": Case(waves, _waves),
}
TARGET = CpuTarget(vector_bytes=32, registers=16)


@cache
def known(name: str) -> Analysed:
    """One of the cases, analysed."""
    source = capture(CASES[name].function)
    arguments = as_arguments(CASES[name].arguments(8))
    written = [place for place, one in enumerate(source.parameters) if one.name in source.written]
    return analysed(source, compilation_of(signature_of(arguments, written), current()))


@cache
def space(name: str, device: Device) -> Space:
    """Its space."""
    found = known(name)
    return space_of(found.written, found.facts, False, device, TARGET)


def result(name: str, size: int, **options: Any) -> list[Any]:
    """The arrays of a case after a call with these options."""
    arguments = CASES[name].arguments(size)
    with lw.options(**options):
        lw.kernel(CASES[name].function)(*arguments)
    return [one for one in arguments if isinstance(one, np.ndarray)]
