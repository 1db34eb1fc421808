"""Signals: codes, transforms, dynamics."""

from __future__ import annotations

import cmath
import math

import numpy as np

from breadth.cases import case

STEPS = np.array([7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97, 107, 118], dtype=np.int32)
INDEX = (-1, -1, -1, -1, 2, 4, 6, 8)


@case(lambda rng: (rng.normal(size=2 ** max(0, int(math.log2(max(9, 1))))) + 0j,))
def fft_radix2(x):
    n = len(x)
    if n & (n - 1):
        raise ValueError("length must be a power of two")
    out = x.copy()
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            out[i], out[j] = out[j], out[i]
    size = 2
    while size <= n:
        w0 = cmath.exp(-2j * cmath.pi / size)
        for start in range(0, n, size):
            w = 1 + 0j
            for k in range(size // 2):
                a = out[start + k]
                b = out[start + k + size // 2] * w
                out[start + k] = a + b
                out[start + k + size // 2] = a - b
                w *= w0
        size *= 2
    return out



@case(lambda rng: ((rng.normal(size=9) * 8000).astype(np.int16),))
def mu_law(samples):
    out = np.empty(samples.shape, dtype=np.uint8)
    for i in range(samples.size):
        s = int(samples[i])
        sign = (s >> 8) & 0x80
        if sign != 0:
            s = -s
        s = min(s, 32635) + 0x84
        exponent = 7
        mask = 0x4000
        while exponent > 0 and not (s & mask):
            exponent -= 1
            mask >>= 1
        mantissa = (s >> (exponent + 3)) & 0x0F
        out[i] = ~(sign | (exponent << 4) | mantissa) & 0xFF
    return out



@case(lambda rng: ((rng.normal(size=9) * 3000).astype(np.int16),))
def adpcm(samples):
    codes = np.zeros(len(samples), dtype=np.int8)
    predicted, index = 0, 0
    for i, s in enumerate(samples):
        step = STEPS[index]
        diff = s - predicted
        code = 0
        if diff < 0:
            code = 8
            diff = -diff
        if diff >= step:
            code |= 4
            diff -= step
        if diff >= step >> 1:
            code |= 2
            diff -= step >> 1
        if diff >= step >> 2:
            code |= 1
        delta = (step >> 3) + (step if code & 4 else 0) + (step >> 1 if code & 2 else 0) + (step >> 2 if code & 1 else 0)
        predicted += -delta if code & 8 else delta
        predicted = max(-32768, min(32767, predicted))
        index = min(max(index + INDEX[code & 7], 0), len(STEPS) - 1)
        codes[i] = code
    return codes, predicted



@case(lambda rng: (rng.normal(size=9).astype(np.float32), np.float32(0.5), np.float32(4.0)))
def compressor(x, threshold, ratio, attack=0.9, release=0.99):
    env = np.float32(0.0)
    y = np.empty_like(x)
    reduction = np.float32(1.0)
    for i in range(x.size):
        level = abs(x[i])
        coeff = attack if level > env else release
        env = np.float32(coeff * env + (1 - coeff) * level)
        gain = np.float32(1.0)
        if env > threshold:
            gain = (threshold + (env - threshold) / ratio) / env
        reduction = min(reduction, gain)
        y[i] = x[i] * gain
    return y, reduction



@case(lambda rng: (rng.normal(size=9), 0.3))
def phase_vocoder_angles(x, rate):
    z = np.zeros(len(x), dtype=np.complex128)
    z.real = x
    z.imag = np.roll(x, 1)
    ang = np.angle(z)
    dphi = np.diff(ang)
    dphi = dphi - 2.0 * np.pi * np.round(dphi / (2.0 * np.pi))
    acc = np.cumsum(dphi)
    return acc * rate, np.unwrap(ang)



@case(lambda rng: (np.sin(np.linspace(0, 30, 9)) if 9 else np.zeros(0), 2, 0.2))
def sample_entropy(x, m, tol):
    n = len(x)
    r = tol * np.std(x)
    counts = [0, 0]
    for i in range(n - m):
        for j in range(i + 1, n - m):
            match = True
            for k in range(m):
                if abs(x[i + k] - x[j + k]) > r:
                    match = False
                    break
            if match:
                counts[0] += 1
                if abs(x[i + m] - x[j + m]) <= r:
                    counts[1] += 1
    b, a = counts
    if a == 0 or b == 0:
        return np.inf
    return -math.log(a / b)



@case(lambda rng: (rng.integers(0, 2, 9).astype(np.int8), 11))
def convolutional_code(bits, poly):
    state = 0
    out = np.zeros(2 * len(bits), dtype=np.uint8)
    for i in range(len(bits)):
        state = ((state << 1) | bits[i]) & 0b1111
        v, p = state & poly, 0
        while v:
            p ^= v & 1
            v >>= 1
        out[2 * i] = p
        out[2 * i + 1] = (state ^ (state >> 3)) & 1
    return out
