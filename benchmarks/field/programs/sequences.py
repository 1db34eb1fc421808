"""Sequences and time series."""

import math

import numpy as np

from benchmarks.field.programs.programs import program


def _kmer_counts(r, big):
    seq = r.integers(0, 4, 1000000 if big else 80)
    return (seq, 5, np.zeros(1024, np.int64))


@program(_kmer_counts)
def kmer_counts(seq, k, counts):
    code = 0
    mask = 4**k - 1
    for i in range(seq.shape[0]):
        code = ((code << 2) | seq[i]) & mask
        if i >= k - 1:
            counts[code] += 1


def _smith_waterman(r, big):
    a, b = (r.integers(0, 4, 800 if big else 20), r.integers(0, 4, 900 if big else 17))
    sh = (len(a) + 1, len(b) + 1)
    return (a, b, np.zeros(sh, np.int64), np.full(sh, -1000), np.full(sh, -1000), 2, -1, 3, 1)


@program(_smith_waterman)
def smith_waterman(a, b, h, e, f, match, mismatch, gap_open, gap_ext):
    best = 0
    for i in range(1, a.shape[0] + 1):
        for j in range(1, b.shape[0] + 1):
            e[i, j] = max(e[i, j - 1] - gap_ext, h[i, j - 1] - gap_open)
            f[i, j] = max(f[i - 1, j] - gap_ext, h[i - 1, j] - gap_open)
            s = match if a[i - 1] == b[j - 1] else mismatch
            h[i, j] = max(0, h[i - 1, j - 1] + s, e[i, j], f[i, j])
            if h[i, j] > best:
                best = h[i, j]
    return best


def _lcs_two_rows(r, big):
    a, b = (r.integers(0, 4, 800 if big else 20), r.integers(0, 4, 900 if big else 17))
    return (a, b)


@program(_lcs_two_rows)
def lcs_two_rows(a, b):
    prev = np.zeros(b.shape[0] + 1, dtype=np.int64)
    cur = np.zeros(b.shape[0] + 1, dtype=np.int64)
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            if a[i] == b[j]:
                cur[j + 1] = prev[j] + 1
            else:
                cur[j + 1] = max(prev[j + 1], cur[j])
        for j in range(b.shape[0] + 1):
            prev[j] = cur[j]
    return prev[b.shape[0]]


def _gc_windows(r, big):
    seq = r.integers(0, 4, 1000000 if big else 80)
    return (seq, 50, np.zeros(len(seq) - 50))


@program(_gc_windows)
def gc_windows(seq, w, out):
    for i in range(out.shape[0]):
        n = 0
        for j in range(i, i + w):
            if seq[j] == 1 or seq[j] == 2:
                n += 1
        out[i] = n / w


def _dtw(r, big):
    fa, fb = (r.random(1000 if big else 20), r.random(1000 if big else 20))
    return (fa, fb, np.zeros((len(fa) + 1, len(fb) + 1)), 100 if big else 6)


@program(_dtw)
def dtw(a, b, cost, band):
    n, m = a.shape[0], b.shape[0]
    for i in range(n + 1):
        for j in range(m + 1):
            cost[i, j] = np.inf
    cost[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - band), min(m, i + band) + 1):
            d = abs(a[i - 1] - b[j - 1])
            cost[i, j] = d + min(cost[i - 1, j], cost[i, j - 1], cost[i - 1, j - 1])
    return cost[n, m]


def _viterbi(r, big):
    k, t = (20 if big else 4, 3000 if big else 12)
    return (
        r.integers(0, 5, t),
        r.random(k),
        r.random((k, k)),
        r.random((k, 5)),
        np.zeros((t, k)),
        np.zeros((t, k), np.int64),
    )


@program(_viterbi)
def viterbi(obs, start, trans, emit, prob, back):
    k = start.shape[0]
    for s in range(k):
        prob[0, s] = start[s] + emit[s, obs[0]]
    for t in range(1, obs.shape[0]):
        for s in range(k):
            best = -1e300
            arg = 0
            for p in range(k):
                v = prob[t - 1, p] + trans[p, s]
                if v > best:
                    best = v
                    arg = p
            prob[t, s] = best + emit[s, obs[t]]
            back[t, s] = arg


def _rolling_mean_std(r, big):
    x = r.random(1000000 if big else 90)
    return (x, 20, np.zeros_like(x), np.zeros_like(x))


@program(_rolling_mean_std)
def rolling_mean_std(x, w, mean, std):
    s = 0.0
    s2 = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        s2 += x[i] * x[i]
        if i >= w:
            s -= x[i - w]
            s2 -= x[i - w] * x[i - w]
        if i >= w - 1:
            mean[i] = s / w
            std[i] = math.sqrt(max(s2 / w - mean[i] * mean[i], 0.0))
        else:
            mean[i] = np.nan
            std[i] = np.nan


def _ewma(r, big):
    x = r.random(1000000 if big else 90)
    return (x, 0.1, np.zeros_like(x))


@program(_ewma)
def ewma(x, alpha, out):
    out[0] = x[0]
    for i in range(1, x.shape[0]):
        out[i] = alpha * x[i] + (1.0 - alpha) * out[i - 1]


def _autocorrelation(r, big):
    x = r.random(1000000 if big else 90)
    return (x[: 100000 if big else 40].copy(), np.zeros(200 if big else 6))


@program(_autocorrelation)
def autocorrelation(x, out):
    n = x.shape[0]
    mean = 0.0
    for i in range(n):
        mean += x[i]
    mean /= n
    for lag in range(out.shape[0]):
        s = 0.0
        for i in range(n - lag):
            s += (x[i] - mean) * (x[i + lag] - mean)
        out[lag] = s / (n - lag)


def _moving_median(r, big):
    x = r.random(1000000 if big else 90)
    return (x[: 100000 if big else 40].copy(), 11, np.zeros((100000 if big else 40) - 11))


@program(_moving_median)
def moving_median(x, w, out):
    buf = np.empty(w)
    for i in range(out.shape[0]):
        for j in range(w):
            v = x[i + j]
            k = j
            while k > 0 and buf[k - 1] > v:
                buf[k] = buf[k - 1]
                k -= 1
            buf[k] = v
        out[i] = buf[w // 2]


def _weighted_quantile(r, big):
    x = r.random(1000000 if big else 90)
    return (x, r.random(x.size), np.argsort(x), 0.7)


@program(_weighted_quantile)
def weighted_quantile(x, w, order, q):
    total = 0.0
    for i in range(x.shape[0]):
        total += w[i]
    acc = 0.0
    for i in range(x.shape[0]):
        acc += w[order[i]]
        if acc >= q * total:
            return x[order[i]]
    return x[order[x.shape[0] - 1]]


def _run_lengths(r, big):
    x = r.random(1000000 if big else 90)
    return (r.integers(0, 2, x.size), np.zeros(x.size, np.int64), np.zeros(x.size, np.int64))


@program(_run_lengths)
def run_lengths(x, values, lengths):
    n = 0
    i = 0
    while i < x.shape[0]:
        j = i
        while j < x.shape[0] and x[j] == x[i]:
            j += 1
        values[n] = x[i]
        lengths[n] = j - i
        n += 1
        i = j
    return n


def _drawdown(r, big):
    x = r.random(1000000 if big else 90)
    return (np.cumsum(r.normal(size=x.size)) + 10000.0,)


@program(_drawdown)
def drawdown(price):
    peak = price[0]
    worst = 0.0
    for i in range(price.shape[0]):
        if price[i] > peak:
            peak = price[i]
        d = (peak - price[i]) / peak
        if d > worst:
            worst = d
    return worst


def _crossings(r, big):
    x = r.random(1000000 if big else 90)
    return (x, r.random(x.size), np.zeros(x.size, np.int64))


@program(_crossings)
def crossings(a, b, out):
    n = 0
    for i in range(1, a.shape[0]):
        if (a[i - 1] < b[i - 1] and a[i] >= b[i]) or (a[i - 1] > b[i - 1] and a[i] <= b[i]):
            out[n] = i
            n += 1
    return n


def _crc32(r, big):
    x = r.random(1000000 if big else 90)
    return (r.integers(0, 256, x.size), r.integers(0, 2**32, 256))


@program(_crc32)
def crc32(data, table):
    crc = 0xFFFFFFFF
    for i in range(data.shape[0]):
        crc = table[(crc ^ data[i]) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF
