"""Particle physics: events of different sizes, hits in a detector."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case

HIT = np.dtype([("x", "f8"), ("y", "f8"), ("z", "f8"), ("layer", "i4"), ("used", "?")])


def _offsets(r, n):
    counts = r.integers(0, 4, n)
    off = np.concatenate([[0], np.cumsum(counts)])
    return off, int(off[-1])



def _events(r, n):
    off, m = _offsets(r, n)
    return off, r.exponential(20, m), r.normal(0, 2, m), r.uniform(-np.pi, np.pi, m), r.choice([-1, 1], m).astype(np.int8)



def pair_mass(pt1, eta1, phi1, pt2, eta2, phi2):
    return math.sqrt(2 * pt1 * pt2 * (math.cosh(eta1 - eta2) - math.cos(phi1 - phi2)))



@case(lambda rng: _events(rng, 9))
def best_z_candidate(offsets, pt, eta, phi, charge):
    n = len(offsets) - 1
    mass = np.full(n, np.nan)
    pairs = np.full((n, 2), -1, dtype=np.int32)
    for ev in range(n):
        start, stop = offsets[ev], offsets[ev + 1]
        best = 1e9
        for i in range(start, stop):
            for j in range(i + 1, stop):
                if charge[i] * charge[j] > 0:
                    continue
                m = pair_mass(pt[i], eta[i], phi[i], pt[j], eta[j], phi[j])
                if abs(m - 91.19) < best:
                    best = abs(m - 91.19)
                    mass[ev] = m
                    pairs[ev] = i - start, j - start
    return mass, pairs



def _hits(r, n):
    h = np.zeros(n, HIT)
    for f in "xyz":
        h[f] = r.normal(size=n)
    h["layer"] = r.integers(0, 5, n)
    return (h, 0.8)



@case(lambda rng: _hits(rng, 30))
def link_hits(hits, window):
    n = 0
    chi = 0.0
    for i in range(len(hits)):
        if hits[i]["used"]:
            continue
        best, where = window * window, -1
        for j in range(len(hits)):
            if hits[j]["layer"] != hits[i]["layer"] + 1 or hits[j]["used"]:
                continue
            d = (hits[j]["x"] - hits[i]["x"]) ** 2 + (hits[j]["y"] - hits[i]["y"]) ** 2
            if d < best:
                best = d
                where = j
        if where >= 0:
            hits[where]["used"] = True
            chi += best
            n += 1
    return n, chi



@case(lambda rng: (rng.normal(50, 40, 9), rng.uniform(0, 2, 9), 20, 0.0, 100.0))
def fill_with_overflow(x, w, nbins, lo, hi):
    h = np.zeros((2, nbins + 2))
    norm = nbins / (hi - lo)
    for i in range(x.size):
        if np.isnan(x[i]):
            continue
        k = 0 if x[i] < lo else nbins + 1 if x[i] >= hi else int((x[i] - lo) * norm) + 1
        h[0, k] += w[i]
        h[1, k] += w[i] ** 2
    return h[0], np.sqrt(h[1])



@case(lambda rng: _events(rng, 9))
def ht_and_met(offsets, pt, eta, phi, charge):
    n = offsets.shape[0] - 1
    ht = np.zeros(n, np.float32)
    met = np.zeros(n, np.complex64)
    lead = np.zeros(n)
    for i in range(n):
        s = slice(offsets[i], offsets[i + 1])
        p, f = pt[s], phi[s]
        central = np.abs(eta[s]) < 2.5
        ht[i] = p[central].sum()
        met[i] = -np.sum(p * np.exp(1j * f))
        if p.size:
            lead[i] = p.max()
    return ht, met, lead
