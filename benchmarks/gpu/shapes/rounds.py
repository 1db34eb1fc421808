"""Loops in rounds, each round over pairs of elements that lie twice as far apart: fast transforms, sorting networks."""

from __future__ import annotations

import numpy as np

from benchmarks.gpu.shapes.case import Case, Draw


def fourier(w, x):
    n = x.shape[0]
    size = 2
    while size <= n:
        half = size // 2
        step = n // size
        for i in range(0, n, size):
            k = 0
            for j in range(i, i + half):
                t = x[j + half] * w[k]
                x[j + half] = x[j] - t
                x[j] = x[j] + t
                k += step
        size *= 2


def fourier_in_blocks(w, x):
    n = len(x)
    size = 2
    while size <= n:
        half = size // 2
        for s in range(n // size):
            start = s * size
            for k in range(half):
                t = w[k * (n // size)] * x[start + k + half]
                x[start + k + half] = x[start + k] - t
                x[start + k] = x[start + k] + t
        size *= 2


def sorting_network(x):
    n = x.shape[0]
    k = 2
    while k <= n:
        j = k >> 1
        while j > 0:
            for i in range(n):
                o = i ^ j
                if o > i:
                    a = x[i]
                    if (i & k == 0 and a > x[o]) or (i & k != 0 and a < x[o]):
                        x[i], x[o] = x[o], a
            j >>= 1
        k *= 2


def walsh(x):
    n = len(x)
    m = 1
    while m < n:
        for i in range(n):
            if i & m == 0:
                u = x[i]
                v = x[i + m]
                x[i] = u + v
                x[i + m] = u - v
        m *= 2


def _reversed(n: int) -> np.ndarray:
    """Each index with its bits in the opposite order."""
    bits = n.bit_length() - 1
    indices = np.arange(n)
    found = np.zeros_like(indices)
    for bit in range(bits):
        found |= (indices >> bit & 1) << (bits - 1 - bit)
    return found


def _roots_and_data(r: Draw, n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.exp(-2j * np.pi * np.arange(n // 2) / n), r.f8(n) + 1j * r.f8(n)


def _transformed(w, x):
    return (np.fft.fft(x[_reversed(len(x))]),)


def _walsh(x):
    half = 1
    while half < len(x):
        pairs = x.reshape(-1, 2, half)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1).ravel()
        half *= 2
    return (x,)


CASES = (
    Case("fast Fourier transform", fourier, _roots_and_data, (1 << 9,), (1 << 20,), _transformed,
         lambda torch, w, x: torch.fft.fft(x), moved=lambda n: 32.0 * n * np.log2(n), restore=True),
    Case("fast Fourier transform, in blocks", fourier_in_blocks, _roots_and_data, (1 << 9,), (1 << 20,), _transformed,
         lambda torch, w, x: torch.fft.fft(x), moved=lambda n: 32.0 * n * np.log2(n), restore=True),
    Case("bitonic sort", sorting_network, lambda r, n: (r.f8(n),), (1 << 8,), (1 << 20,), lambda x: (np.sort(x),),
         lambda torch, x: torch.sort(x), moved=lambda n: 8.0 * n * np.log2(n) * (np.log2(n) + 1), restore=True),
    Case("Walsh-Hadamard transform", walsh, lambda r, n: (r.f8(n),), (1 << 9,), (1 << 22,), _walsh,
         moved=lambda n: 16.0 * n * np.log2(n), restore=True),
)  # fmt: skip
