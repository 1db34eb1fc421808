"""The five kernels whose whole spaces are measured, and their data.

Coulombic potential, sum of absolute differences and MRI-Q are those of the studies of GPU optimisation spaces by Ryoo
and others (CGO 2008), as plain loops of our own.
"""

from __future__ import annotations

import math

import numpy as np

import loopwright as lw

Arguments = tuple[object, ...]
TURN = 2.0 * math.pi


@lw.kernel
def gemm(c, a, b):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


@lw.kernel
def jacobi_2d(steps, a, b):
    for _t in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])


@lw.kernel
def coulomb(energy, x, y, z, charge, spacing):
    """Potential of atoms at the points of a plane grid."""
    for i in range(energy.shape[0]):
        for j in range(energy.shape[1]):
            for k in range(x.shape[0]):
                dx = spacing * j - x[k]
                dy = spacing * i - y[k]
                energy[i, j] += charge[k] / np.sqrt(dx * dx + dy * dy + z[k] * z[k])


@lw.kernel
def sad(sums, frame, before, block):
    """How much each block of a frame differs from the frame before, moved by each of many distances. sums: rows and
    columns of blocks, vertical and horizontal distances."""
    for bi in range(sums.shape[0]):
        for bj in range(sums.shape[1]):
            for di in range(sums.shape[2]):
                for dj in range(sums.shape[3]):
                    for i in range(block):
                        for j in range(block):
                            sums[bi, bj, di, dj] += abs(
                                frame[bi * block + i, bj * block + j] - before[bi * block + i + di, bj * block + j + dj]
                            )


@lw.kernel
def mri_q(real, imaginary, x, y, z, kx, ky, kz, magnitude):
    """The matrix Q of non-Cartesian magnetic resonance imaging: sums of cosines and sines."""
    for i in range(x.shape[0]):
        for k in range(kx.shape[0]):
            angle = TURN * (kx[k] * x[i] + ky[k] * y[i] + kz[k] * z[i])
            real[i] += magnitude[k] * math.cos(angle)
            imaginary[i] += magnitude[k] * math.sin(angle)


def gemm_data(n: int) -> Arguments:
    draw = np.random.default_rng(1)
    return np.zeros((n, n), np.float32), _numbers(draw, n, n), _numbers(draw, n, n)


def jacobi_2d_data(n: int, steps: int) -> Arguments:
    a = _numbers(np.random.default_rng(2), n, n)
    return steps, a, a.copy()


def coulomb_data(n: int, atoms: int) -> Arguments:
    draw = np.random.default_rng(3)
    x, y, z, charge = (_numbers(draw, atoms) for _ in range(4))
    return np.zeros((n, n), np.float32), x, y, z + np.float32(0.1), charge, 1.0 / n


def sad_data(rows: int, columns: int, reach: int, block: int) -> Arguments:
    draw = np.random.default_rng(4)
    frame = draw.integers(0, 256, (rows * block, columns * block), np.int32)
    before = draw.integers(0, 256, (rows * block + reach, columns * block + reach), np.int32)
    return np.zeros((rows, columns, reach, reach), np.int32), frame, before, block


def mri_q_data(voxels: int, samples: int) -> Arguments:
    draw = np.random.default_rng(5)
    found = [np.zeros(voxels, np.float32), np.zeros(voxels, np.float32)]
    found += [_numbers(draw, voxels) for _ in range(3)] + [_numbers(draw, samples) for _ in range(4)]
    return tuple(found)


def _numbers(draw: np.random.Generator, *shape: int) -> np.ndarray:
    return draw.random(shape, np.float32)
