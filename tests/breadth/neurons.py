"""Neuroscience: models of neurons, trains of spikes."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case



@case(lambda rng: (rng.normal(8, 4, 9), np.float32(0.5)))
def izhikevich(I, dt, a=0.02, b=0.2, c=-65.0, d=8.0):
    v = np.float32(-65.0)
    u = np.float32(b * v)
    trace = np.zeros((2, I.shape[0]), dtype=np.float32)
    spikes = np.zeros(I.shape[0], dtype=np.bool_)
    for t in range(I.shape[0]):
        v += dt * (0.04 * v * v + 5 * v + 140 - u + np.float32(I[t]))
        u += dt * a * (b * v - u)
        if v >= 30:
            spikes[t] = True
            v = np.float32(c)
            u += d
        trace[0, t] = v
        trace[1, t] = u
    return trace, spikes



def _rates(v):
    am = 0.1 * (v + 40.0) / (1.0 - math.exp(-(v + 40.0) / 10.0)) if abs(v + 40.0) > 1e-7 else 1.0
    bm = 4.0 * math.exp(-(v + 65.0) / 18.0)
    ah = 0.07 * math.exp(-(v + 65.0) / 20.0)
    bh = 1.0 / (1.0 + math.exp(-(v + 35.0) / 10.0))
    an = 0.01 * (v + 55.0) / (1.0 - math.exp(-(v + 55.0) / 10.0)) if abs(v + 55.0) > 1e-7 else 0.1
    bn = 0.125 * math.exp(-(v + 65) / 80.0)
    return (am, bm), (ah, bh), (an, bn)



@case(lambda rng: (rng.uniform(0, 15, 9), 0.01))
def hodgkin_huxley(I, dt):
    v, m, h, n = -65.0, 0.05, 0.6, 0.32
    out = np.empty(len(I))
    for t in range(len(I)):
        (am, bm), (ah, bh), (an, bn) = _rates(v)
        m += dt * (am * (1 - m) - bm * m)
        h += dt * (ah * (1 - h) - bh * h)
        n += dt * (an * (1 - n) - bn * n)
        ion = 120 * m**3 * h * (v - 50) + 36 * n**4 * (v + 77) + 0.3 * (v + 54.4)
        v += dt * (I[t] - ion)
        out[t] = v
    return out



@case(lambda rng: (np.sort(rng.uniform(0, 100, 9)), np.sort(rng.uniform(0, 100, 9)), 20.0, 1.0))
def cross_correlogram(a, b, window, width):
    nbins = int(2 * window / width)
    counts = np.zeros(nbins, dtype=np.int64)
    j0 = 0
    for i in range(a.size):
        while j0 < b.size and b[j0] < a[i] - window:
            j0 += 1
        j = j0
        while j < b.size and b[j] < a[i] + window:
            k = int((b[j] - a[i] + window) // width)
            if 0 <= k < nbins:
                counts[k] += 1
            j += 1
    return counts



@case(lambda rng: (np.sort(rng.uniform(0, 10, 9)), np.sort(rng.uniform(0, 10, 9 // 2)), 2.0))
def victor_purpura(s1, s2, q):
    n1, n2 = len(s1), len(s2)
    if q == 0:
        return float(abs(n1 - n2))
    g = np.zeros((n1 + 1, n2 + 1))
    g[:, 0] = np.arange(n1 + 1)
    g[0, :] = np.arange(n2 + 1)
    for i in range(1, n1 + 1):
        for j in range(1, n2 + 1):
            g[i, j] = min(g[i - 1, j] + 1, g[i, j - 1] + 1, g[i - 1, j - 1] + q * abs(s1[i - 1] - s2[j - 1]))
    return g[n1, n2]



@case(lambda rng: (rng.random((9, 6)) < 0.3, rng.uniform(0, 1, (6, 6))))
def stdp(spikes, w, a_plus=0.01, a_minus=0.012, decay=0.9):
    steps, n = spikes.shape
    pre = np.zeros(n)
    post = np.zeros(n)
    for t in range(steps):
        pre *= decay
        post *= decay
        for i in range(n):
            if spikes[t, i]:
                for j in range(n):
                    if j == i:
                        continue
                    w[j, i] = min(1.0, w[j, i] + a_plus * pre[j])
                    w[i, j] = max(0.0, w[i, j] - a_minus * post[j])
        pre[spikes[t]] += 1
        post[spikes[t]] += 1
    return w.mean()



@case(lambda rng: (rng.integers(0, 6, 9), rng.integers(0, 6, 9), rng.uniform(0, 1, 9), 6, np.ones(6)))
def synaptic_input(pre, post, w, n, rates):
    drive = np.zeros(n)
    for k in range(pre.size):
        drive[post[k]] += w[k] * rates[pre[k]]
    return np.tanh(drive), drive.argmax()
