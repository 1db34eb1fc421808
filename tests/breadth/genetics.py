"""Genetics and biology: haplotypes, alignments, trees of sequences."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


def _haplotypes(rng, sites=12, samples=8):
    return rng.integers(0, 2, (sites, samples)).astype(np.int8)


@case(lambda rng: (_haplotypes(rng),), "slice read", "reductions")
def nucleotide_diversity(hap):
    n = hap.shape[1]
    total = 0.0
    for s in range(hap.shape[0]):
        k = np.sum(hap[s])
        total += 2.0 * k * (n - k) / (n * (n - 1))
    return total


@case(lambda rng: (_haplotypes(rng),), "slice read", "reductions")
def linkage(hap):
    m, n = hap.shape
    r2 = np.zeros((m, m))
    for i in range(m):
        for j in range(i + 1, m):
            pi = hap[i].sum() / n
            pj = hap[j].sum() / n
            pij = 0.0
            for k in range(n):
                pij += hap[i, k] * hap[j, k]
            pij /= n
            den = pi * (1 - pi) * pj * (1 - pj)
            if den > 0:
                r2[i, j] = (pij - pi * pj) ** 2 / den
    return r2


@case(lambda rng: (_haplotypes(rng, 9, 6), 4))
def ehh_decay(hap, core):
    m, n = hap.shape
    out = np.ones(m - core)
    same = np.ones((n, n), dtype=np.bool_)
    for s in range(core, m):
        pairs = 0
        for i in range(n):
            for j in range(i + 1, n):
                if same[i, j] and hap[s, i] != hap[s, j]:
                    same[i, j] = False
                if same[i, j]:
                    pairs += 1
        out[s - core] = pairs / (n * (n - 1) / 2)
    return out


@case(lambda rng: (rng.integers(0, 4, 12).astype(np.uint8), rng.integers(0, 4, 10).astype(np.uint8), 2, -1, -2))
def smith_waterman(a, b, match, mismatch, gap):
    score = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int32)
    best = 0
    bi = bj = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            s = match if a[i - 1] == b[j - 1] else mismatch
            h = max(0, score[i - 1, j - 1] + s, score[i - 1, j] + gap, score[i, j - 1] + gap)
            score[i, j] = h
            if h > best:
                best, bi, bj = h, i, j
    return score, best, bi, bj


@case(lambda rng: (rng.integers(0, 4, 9), rng.integers(0, 4, 11)), "lists", "reversed")
def align_path(a, b):
    n, m = len(a), len(b)
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    d[:, 0] = np.arange(n + 1)
    d[0, :] = np.arange(m + 1)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    path = []
    i, j = n, m
    while i > 0 and j > 0:
        path.append(d[i, j])
        if d[i - 1, j - 1] <= d[i - 1, j] and d[i - 1, j - 1] <= d[i, j - 1]:
            i -= 1
            j -= 1
        elif d[i - 1, j] < d[i, j - 1]:
            i -= 1
        else:
            j -= 1
    return d[n, m], np.array(path)


@case(lambda rng: (rng.integers(0, 4, 40).astype(np.int8), 3))
def count_kmers(seq, k):
    counts = np.zeros(4**k, dtype=np.uint32)
    mask = (1 << (2 * k)) - 1
    code = 0
    for i in range(seq.size):
        code = ((code << 2) | seq[i]) & mask
        if i >= k - 1:
            counts[code] += 1
    return counts


@case(
    lambda rng: (np.log(rng.dirichlet(np.ones(3), 3)), np.log(rng.dirichlet(np.ones(4), 3)), rng.integers(0, 4, 10)),
    "slice read",
    "argmax",
    "whole-array arithmetic",
)
def viterbi(log_trans, log_emit, obs):
    n_states = log_trans.shape[0]
    n = len(obs)
    score = np.empty((n, n_states))
    back = np.zeros((n, n_states), dtype=np.int64)
    score[0] = log_emit[:, obs[0]] - np.log(n_states)
    for t in range(1, n):
        for s in range(n_states):
            cand = score[t - 1] + log_trans[:, s]
            back[t, s] = np.argmax(cand)
            score[t, s] = cand[back[t, s]] + log_emit[s, obs[t]]
    path = np.empty(n, dtype=np.int64)
    path[-1] = np.argmax(score[-1])
    for t in range(n - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path, score[-1].max()


@case(lambda rng: (rng.dirichlet(np.ones(3), 3), rng.dirichlet(np.ones(4), 3), rng.integers(0, 4, 10)), "dot", "axis")
def forward_algorithm(trans, emit, obs):
    alpha = np.full(trans.shape[0], 1.0 / trans.shape[0]) * emit[:, obs[0]]
    loglik = 0.0
    for o in obs[1:]:
        alpha = (alpha @ trans) * emit[:, o]
        c = alpha.sum()
        loglik += np.log(c)
        alpha /= c
    return loglik, alpha


@case(lambda rng: (rng.integers(0, 3, (10, 6)).astype(np.int8),), "masks", "slice read")
def allele_frequencies(geno):
    freqs = np.zeros(geno.shape[0], dtype=np.float32)
    missing = 0
    for i in range(geno.shape[0]):
        row = geno[i]
        ok = row[row != 2]
        if ok.size == 0:
            missing += 1
            freqs[i] = np.nan
        else:
            freqs[i] = ok.mean()
    return freqs, missing


@case(lambda rng: (_haplotypes(rng),), "unique", "lists")
def site_spectrum(hap):
    n = hap.shape[1]
    sfs = np.zeros(n + 1, dtype=np.int64)
    for i in range(hap.shape[0]):
        k = 0
        for j in range(n):
            k += hap[i, j]
        sfs[k] += 1
    return sfs[1:-1]


@case(
    lambda rng: (np.sort(rng.integers(0, 1000, 20)), rng.integers(0, 2, 20), 250, 100),
    "slice read",
    "searchsorted",
    "lists",
)
def windowed_counts(positions, derived, size, step):
    starts = []
    counts = []
    start = 0
    while start + size <= positions[-1]:
        lo = np.searchsorted(positions, start)
        hi = np.searchsorted(positions, start + size)
        starts.append(start)
        counts.append(np.sum(derived[lo:hi]))
        start += step
    return np.array(starts), np.array(counts)


@case(lambda rng: ((lambda m: (m + m.T).astype(np.float64))(rng.integers(1, 9, (6, 6))),), "copy", "np.inf")
def upgma_heights(dist):
    n = dist.shape[0]
    d = dist.copy()
    alive = np.ones(n, dtype=np.bool_)
    size = np.ones(n)
    heights = np.zeros(n - 1)
    for step in range(n - 1):
        best = np.inf
        bi, bj = -1, -1
        for i in range(n):
            if not alive[i]:
                continue
            for j in range(i + 1, n):
                if alive[j] and d[i, j] < best:
                    best = d[i, j]
                    bi, bj = i, j
        heights[step] = best / 2
        for k in range(n):
            if alive[k] and k != bi and k != bj:
                d[bi, k] = d[k, bi] = (d[bi, k] * size[bi] + d[bj, k] * size[bj]) / (size[bi] + size[bj])
        size[bi] += size[bj]
        alive[bj] = False
    return heights


@case(lambda rng: (rng.integers(0, 2, (8, 10)).astype(np.uint8),), "@", "astype")
def hamming_matrix(codes):
    x = codes.astype(np.float64)
    ones = x @ x.T
    zeros = (1 - x) @ (1 - x).T
    return codes.shape[1] - ones - zeros


@case(lambda rng: (rng.integers(0, 5, (6, 12)).astype(np.float64), 0.5), "assignment to a slice", "axis", "keepdims")
def normalise_counts(counts, pseudo):
    out = np.empty_like(counts)
    library = counts.sum(axis=1)
    for i in range(counts.shape[0]):
        out[i, :] = np.log2((counts[i, :] + pseudo) / (library[i] + 1.0) * 1e6)
    return out - out.mean(axis=0)


@case(lambda rng: (rng.integers(0, 2, (5, 6)).astype(np.bool_), rng.integers(0, 2, (5, 6)).astype(np.bool_)))
def jaccard(a, b):
    out = np.zeros((a.shape[0], b.shape[0]))
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            inter = 0
            union = 0
            for k in range(a.shape[1]):
                if a[i, k] and b[j, k]:
                    inter += 1
                if a[i, k] or b[j, k]:
                    union += 1
            out[i, j] = inter / union if union else 1.0
    return out
