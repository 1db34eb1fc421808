"""Audio and signals: filters, windows, envelopes, transforms."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


@case(lambda rng: (rng.normal(size=40), np.array([0.2, 0.3, 0.2]), np.array([1.0, -0.5, 0.1])))
def iir_filter(x, b, a):
    y = np.zeros_like(x)
    for n in range(x.shape[0]):
        acc = 0.0
        for k in range(b.shape[0]):
            if n - k >= 0:
                acc += b[k] * x[n - k]
        for k in range(1, a.shape[0]):
            if n - k >= 0:
                acc -= a[k] * y[n - k]
        y[n] = acc / a[0]
    return y


@case(lambda rng: (rng.normal(size=40).astype(np.float32), rng.normal(size=5).astype(np.float32)), "slice read", "dot")
def fir_valid(signal, taps):
    n = len(signal) - len(taps) + 1
    out = np.empty(n, dtype=np.float32)
    rev = taps[::-1]
    for i in range(n):
        out[i] = np.sum(signal[i : i + len(taps)] * rev)
    return out


@case(lambda rng: (rng.normal(size=64), 16, 8), "slice read", "reductions", "computed-size results")
def frame_rms(x, frame, hop):
    n = 1 + (len(x) - frame) // hop
    out = np.zeros(n)
    for i in range(n):
        seg = x[i * hop : i * hop + frame]
        out[i] = np.sqrt(np.mean(seg**2))
    return out


@case(lambda rng: (rng.normal(size=40),))
def zero_crossings(x):
    count = 0
    for i in range(1, x.size):
        if (x[i] >= 0) != (x[i - 1] >= 0):
            count += 1
    return count


@case(lambda rng: (rng.normal(size=40), 0.1, 0.01))
def envelope(x, attack, release):
    env = 0.0
    out = np.zeros(len(x))
    for i, s in enumerate(np.abs(x)):
        c = attack if s > env else release
        env += c * (s - env)
        out[i] = env
    return out


@case(lambda rng: (rng.normal(size=16),), "complex")
def naive_dft(x):
    n = len(x)
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for t in range(n):
            out[k] += x[t] * np.exp(-2j * np.pi * k * t / n)
    return out


@case(lambda rng: (rng.normal(size=16), 3))
def goertzel(x, k):
    w = 2.0 * np.pi * k / x.size
    coeff = 2.0 * np.cos(w)
    s1 = s2 = 0.0
    for v in x:
        s0 = v + coeff * s1 - s2
        s2 = s1
        s1 = s0
    return s1 * s1 + s2 * s2 - coeff * s1 * s2


@case(lambda rng: (rng.normal(size=60), 20), "slice read", "whole-array arithmetic", "argmin", "cumsum")
def yin_difference(x, tau_max):
    diff = np.zeros(tau_max)
    for tau in range(1, tau_max):
        delta = x[: x.size - tau] - x[tau:]
        diff[tau] = (delta * delta).sum() / delta.size
    cum = np.cumsum(diff)
    norm = np.ones(tau_max)
    for tau in range(1, tau_max):
        if cum[tau] > 0:
            norm[tau] = diff[tau] * tau / cum[tau]
    return np.argmin(norm), norm


@case(lambda rng: (rng.normal(size=12), rng.normal(size=15)), "slice read", "assignment to a slice", "lists", "np.inf")
def dynamic_time_warping(a, b):
    cost = np.full((len(a) + 1, len(b) + 1), np.inf)
    cost[0, 0] = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            d = abs(a[i] - b[j])
            cost[i + 1, j + 1] = d + min(cost[i, j + 1], cost[i + 1, j], cost[i, j])
    i, j = len(a), len(b)
    steps = 0
    while i > 1 or j > 1:
        moves = np.array([cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1]])
        best = np.argmin(moves)
        if best == 0:
            i -= 1
            j -= 1
        elif best == 1:
            i -= 1
        else:
            j -= 1
        steps += 1
    return cost[-1, -1], steps


@case(lambda rng: (rng.normal(size=50), 0.5, 3), "computed-size results", "lists")
def find_peaks(x, height, distance):
    peaks = []
    last = -distance
    for i in range(1, len(x) - 1):
        if x[i] > height and x[i] >= x[i - 1] and x[i] > x[i + 1] and i - last >= distance:
            peaks.append(i)
            last = i
    return np.array(peaks, dtype=np.int64)


@case(lambda rng: (rng.normal(size=50), 0.5), "computed-size results", "slice read")
def onsets(x, threshold):
    found = np.empty(x.size, dtype=np.int64)
    count = 0
    for i in range(1, x.size):
        if x[i - 1] < threshold <= x[i]:
            found[count] = i
            count += 1
    return found[:count]


@case(lambda rng: (rng.normal(size=30), 0.37), "slice read")
def resample_linear(x, ratio):
    n = int(len(x) / ratio)
    out = np.zeros(n)
    for i in range(n):
        pos = i * ratio
        k = int(pos)
        frac = pos - k
        if k + 1 < len(x):
            out[i] = x[k] * (1 - frac) + x[k + 1] * frac
        else:
            out[i] = x[-1]
    return out


@case(lambda rng: (rng.integers(-30000, 30000, 20).astype(np.int16), 2.5), "np.iinfo", "np.clip")
def amplify(samples, gain):
    info = np.iinfo(np.int16)
    out = np.empty_like(samples)
    for i in range(samples.size):
        v = samples[i] * gain
        if v > info.max:
            v = info.max
        elif v < info.min:
            v = info.min
        out[i] = int(v)
    return out


@case(lambda rng: (rng.uniform(size=(3, 9)), rng.uniform(size=9)), "dot", "np.log", "np.maximum")
def mel_energies(filters, power):
    e = np.dot(filters, power)
    return 10.0 * np.log10(np.maximum(e, 1e-10))


@case(lambda rng: (rng.normal(size=(2, 30)), 0.3), ".T", "slice read", "reductions", "whole-array arithmetic")
def mid_side(stereo, width):
    mid = (stereo[0] + stereo[1]) * 0.5
    side = (stereo[0] - stereo[1]) * 0.5 * width
    out = np.empty((stereo.shape[1], 2), dtype=stereo.dtype)
    out[:, 0] = mid + side
    out[:, 1] = mid - side
    peak = np.abs(out).max()
    if peak > 1.0:
        out /= peak
    return out.T.copy()


@case(lambda rng: (rng.normal(size=24), 6), "reshape", "axis")
def block_energy(x, size):
    blocks = x.reshape(-1, size)
    return (blocks * blocks).sum(axis=1), blocks.max(axis=0)
