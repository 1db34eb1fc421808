"""Crystallography: reflections, frames of a detector."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case
from loopwright import prange

TWO_PI = 2 * np.pi


@case(lambda rng: (rng.integers(-3, 4, (9, 3)), rng.random((5, 3)), rng.uniform(1, 8, 5)))
def structure_factors(hkl, xyz, f):
    out = np.zeros(hkl.shape[0], dtype=np.complex128)
    for i in prange(hkl.shape[0]):
        acc = 0.0 + 0.0j
        for j in range(xyz.shape[0]):
            phase = TWO_PI * (hkl[i, 0] * xyz[j, 0] + hkl[i, 1] * xyz[j, 1] + hkl[i, 2] * xyz[j, 2])
            acc += f[j] * complex(math.cos(phase), math.sin(phase))
        out[i] = acc
    return out, np.abs(out) ** 2



@case(lambda rng: (min(9, 12),))
def reflections(limit):
    found = []
    for h in range(-limit, limit + 1):
        for k in range(-limit, limit + 1):
            for l in range(0, limit + 1):
                if h == k == l == 0 or (l == 0 and (h < 0 or (h == 0 and k < 0))):
                    continue
                if (h + k) % 2 != 0 or (k + l) % 2 != 0:
                    continue
                if h * h + k * k + l * l > limit * limit:
                    continue
                found.append((h, k, l))
    return np.array(found) if len(found) > 0 else np.zeros((0, 3), dtype=np.int64)



@case(lambda rng: (rng.integers(0, 200, (9, 4)).astype(np.uint16), rng.integers(0, 50, 4).astype(np.uint16)))
def subtract_dark(frames, dark):
    out = np.zeros_like(frames)
    saturated = 0
    for i in range(frames.shape[0]):
        for j in range(frames.shape[1]):
            if frames[i, j] > dark[j]:
                out[i, j] = frames[i, j] - dark[j]
            if frames[i, j] >= 190:
                saturated += 1
    wrapped = frames - dark
    return out, saturated, wrapped.max() if wrapped.size else 0



@case(lambda rng: (rng.uniform(0, 40, 9), 1.54, 200))
def bragg_histogram(two_theta, wavelength, nbins):
    hist = np.zeros(nbins, dtype=np.uint32)
    for tt in two_theta:
        s = np.sin(np.deg2rad(tt / 2))
        if s == 0:
            continue
        d = wavelength / (2 * s)
        k = int(np.floor(d * 10))
        if k < nbins:
            hist[k] += np.uint32(1)
    return hist, np.cumsum(hist[::-1])[::-1]
