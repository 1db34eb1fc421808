"""Populations: samples, genotypes, trees of species."""

from __future__ import annotations

import math

import numpy as np

from breadth.cases import case



@case(lambda rng: (rng.poisson(5, 12), 10))
def rarefaction(counts, depth):
    N = counts.sum()
    if depth > N:
        raise ValueError("depth exceeds the sample")
    total = 0.0
    for c in counts:
        if N - c >= depth:
            logp = math.lgamma(N - c + 1) - math.lgamma(N - c - depth + 1) - math.lgamma(N + 1) + math.lgamma(N - depth + 1)
            total += 1 - math.exp(logp)
        else:
            total += 1
    return total



@case(lambda rng: (rng.integers(0, 40, 9), rng.integers(0, 40, 9), rng.integers(0, 40, 9)))
def hardy_weinberg(aa, ab, bb):
    p = np.ones(len(aa))
    for i in range(len(aa)):
        hets, hom_r, hom_c = int(ab[i]), min(int(aa[i]), int(bb[i])), max(int(aa[i]), int(bb[i]))
        rare = 2 * hom_r + hets
        n = hets + hom_r + hom_c
        if n == 0:
            continue
        probs = np.zeros(rare + 1)
        mid = rare * (2 * n - rare) // (2 * n)
        if mid % 2 != rare % 2:
            mid += 1
        probs[mid] = 1.0
        cur, r, c = mid, (rare - mid) // 2, n - mid - (rare - mid) // 2
        while cur > 1:
            probs[cur - 2] = probs[cur] * cur * (cur - 1) / (4.0 * (r + 1) * (c + 1))
            r += 1
            c += 1
            cur -= 2
        cur, r, c = mid, (rare - mid) // 2, n - mid - (rare - mid) // 2
        while cur <= rare - 2:
            probs[cur + 2] = probs[cur] * 4.0 * r * c / ((cur + 2) * (cur + 1))
            r -= 1
            c -= 1
            cur += 2
        probs /= probs.sum()
        target = probs[hets]
        p[i] = min(1.0, probs[probs <= target].sum())
    return p



@case(lambda rng: (rng.integers(0, 2, (9, 10)).astype(np.int8),))
def pbwt(hap):
    sites, m = hap.shape
    order = np.arange(m)
    div = np.zeros(m, dtype=np.int64)
    longest = 0
    for s in range(sites):
        a, b = [], []
        d, e = [], []
        p = q = s + 1
        for k in range(m):
            p = max(p, div[k])
            q = max(q, div[k])
            if hap[s, order[k]] == 0:
                a.append(order[k])
                d.append(p)
                p = 0
            else:
                b.append(order[k])
                e.append(q)
                q = 0
        order = np.array(a + b)
        div = np.array(d + e)
        for k in range(1, m):
            longest = max(longest, s + 1 - div[k])
    return order, div, longest



@case(lambda rng: (rng.integers(0, 2, (9, 12)).astype(np.int8),))
def tajima_d(hap):
    n = hap.shape[1]
    S = 0
    pi = 0.0
    for i in range(hap.shape[0]):
        k = hap[i].sum()
        if 0 < k < n:
            S += 1
            pi += 2.0 * k * (n - k) / (n * (n - 1))
    if S == 0:
        return None
    a1 = (1 / np.arange(1, n)).sum()
    a2 = (1 / np.arange(1, n) ** 2).sum()
    b1 = (n + 1) / (3 * (n - 1))
    b2 = 2 * (n**2 + n + 3) / (9 * n * (n - 1))
    c1 = b1 - 1 / a1
    c2 = b2 - (n + 2) / (a1 * n) + a2 / a1**2
    e1, e2 = c1 / a1, c2 / (a1**2 + a2)
    return (pi - S / a1) / math.sqrt(e1 * S + e2 * S * (S - 1))



@case(lambda rng: (np.array([(i - 1) // 2 for i in range(9)]), rng.exponential(1, 9), rng.random((9, 3)) < 0.5))
def faith_diversity(parent, length, present):
    n, k = present.shape
    carried = present.copy()
    for i in range(n - 1, 0, -1):
        for s in range(k):
            if carried[i, s]:
                carried[parent[i], s] = True
    pd = np.zeros(k)
    for i in range(n):
        pd[carried[i]] += length[i]
    shared = carried.sum(axis=1) == k
    return pd, length[shared].sum()
