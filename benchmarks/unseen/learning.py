"""Part of a seventh set, written without a look at the recipe: statistics, learning, networks, finance."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


@program("normal equations, 8 columns", lambda n: (f8(n, 8), f8(n), zeros((8, 8)), zeros(8)), 50, 4_000_000)
def normal_equations(x, y, xtx, xty):
    for i in range(x.shape[0]):
        for a in range(8):
            xty[a] += x[i, a] * y[i]
            for b in range(8):
                xtx[a, b] += x[i, a] * x[i, b]


@program("weighted covariance, 64 columns", lambda n: (f8(n, 64), f8(n)), 30, 200_000)
def weighted_covariance(x, w):
    n, d = x.shape
    total = w.sum()
    mean = np.zeros(d)
    for i in range(n):
        for a in range(d):
            mean[a] += w[i] * x[i, a]
    mean /= total
    c = np.zeros((d, d))
    for i in range(n):
        for a in range(d):
            for b in range(a + 1):
                c[a, b] += w[i] * (x[i, a] - mean[a]) * (x[i, b] - mean[b])
    for a in range(d):
        for b in range(a + 1):
            c[a, b] /= total
            c[b, a] = c[a, b]
    return c


def _mixture(n):
    return f8(n, 4), f8(6, 4), f8(6, 4) + 0.5, f8(6), zeros(6), zeros((6, 4)), zeros((n, 6))


@program("mixture of Gaussians, one step", _mixture, 40, 1_000_000)
def mixture(x, mu, var, weight, nk, sums, resp):
    n, d = x.shape
    k = mu.shape[0]
    loglik = 0.0
    for i in range(n):
        top = -1e300
        for c in range(k):
            s = math.log(weight[c])
            for j in range(d):
                s -= 0.5 * ((x[i, j] - mu[c, j]) ** 2 / var[c, j] + math.log(2 * math.pi * var[c, j]))
            resp[i, c] = s
            if s > top:
                top = s
        z = 0.0
        for c in range(k):
            z += math.exp(resp[i, c] - top)
        loglik += top + math.log(z)
        for c in range(k):
            r = math.exp(resp[i, c] - top) / z
            resp[i, c] = r
            nk[c] += r
            for j in range(d):
                sums[c, j] += r * x[i, j]
    return loglik


def _ratings(n):
    counts = np.minimum(np.random.default_rng(5).zipf(1.6, n), 400)
    start = np.concatenate([[0], np.cumsum(counts)])
    return start, whole(n, int(start[-1])), f8(int(start[-1])), f8(n, 8), zeros((n, 8, 8)), zeros((n, 8))


@program("matrices of users, least squares by turns", _ratings, 30, 300_000)
def als(start, item, rating, v, a, b):
    k = v.shape[1]
    for u in range(len(start) - 1):
        for p in range(start[u], start[u + 1]):
            t = item[p]
            for i in range(k):
                b[u, i] += rating[p] * v[t, i]
                for j in range(k):
                    a[u, i, j] += v[t, i] * v[t, j]
        for i in range(k):
            a[u, i, i] += 0.1


@program("gradient of t-SNE", lambda n: (f8(n, 2), f8(n, n), zeros((n, 2))), 20, 6000)
def tsne(y, p, grad):
    n = y.shape[0]
    z = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                z += 1.0 / (1.0 + (y[i, 0] - y[j, 0]) ** 2 + (y[i, 1] - y[j, 1]) ** 2)
    for i in range(n):
        for j in range(n):
            if i != j:
                q = 1.0 / (1.0 + (y[i, 0] - y[j, 0]) ** 2 + (y[i, 1] - y[j, 1]) ** 2)
                w = (p[i, j] - q / z) * q
                grad[i, 0] += 4 * w * (y[i, 0] - y[j, 0])
                grad[i, 1] += 4 * w * (y[i, 1] - y[j, 1])


@program("Sinkhorn, 30 rounds", lambda n: (f8(n, n) + 0.1, f8(n) + 0.5, f8(n) + 0.5, np.ones(n), np.ones(n)), 16, 3000)
def sinkhorn(k, a, b, u, v):
    for _ in range(30):
        u[:] = a / (k @ v)
        v[:] = b / (k.T @ u)


def _lstm(n):
    return f4(n, 64), f4(n, 128), f4(n, 128), f4(512, 64), f4(512, 128), f4(512)


@program("a step of an LSTM", _lstm, 2, 4096)
def lstm(x, h, c, w, u, b):
    n, hidden = h.shape
    g = np.empty((n, 4 * hidden), np.float32)
    for i in range(n):
        for r in range(4 * hidden):
            s = b[r]
            for j in range(x.shape[1]):
                s += w[r, j] * x[i, j]
            for j in range(hidden):
                s += u[r, j] * h[i, j]
            g[i, r] = s
    for i in range(n):
        for j in range(hidden):
            gi = 1 / (1 + np.exp(-g[i, j]))
            gf = 1 / (1 + np.exp(-g[i, hidden + j]))
            go = 1 / (1 + np.exp(-g[i, 2 * hidden + j]))
            gg = np.tanh(g[i, 3 * hidden + j])
            c[i, j] = gf * c[i, j] + gi * gg
            h[i, j] = go * np.tanh(c[i, j])


def _dilated(n):
    return f4(n, 32, 512), f4(32, 32, 3), f4(32), zeros((n, 32, 512), np.float32)


@program("dilated convolution of series, causal", _dilated, 1, 256)
def dilated(x, w, b, o):
    n, ci, t = x.shape
    co, _, k = w.shape
    for s in range(n):
        for c in range(co):
            for i in range(t):
                acc = b[c]
                for d in range(ci):
                    for q in range(k):
                        if i - 4 * q >= 0:
                            acc += w[c, d, q] * x[s, d, i - 4 * q]
                o[s, c, i] = acc


@program(
    "scores of heads", lambda n: (f4(n, 8, 128, 64), f4(n, 8, 128, 64), zeros((n, 8, 128, 128), np.float32)), 1, 64
)
def scores(q, k, s):
    for b in range(q.shape[0]):
        for h in range(q.shape[1]):
            for i in range(q.shape[2]):
                for j in range(k.shape[2]):
                    if j <= i:
                        t = np.float32(0)
                        for d in range(q.shape[3]):
                            t += q[b, h, i, d] * k[b, h, j, d]
                        s[b, h, i, j] = t * np.float32(0.125)
                    else:
                        s[b, h, i, j] = -np.inf


@program(
    "residual, norm and GELU",
    lambda n: (f4(n, 768), f4(n, 768), f4(768), f4(768), zeros((n, 768), np.float32)),
    3,
    32_768,
)
def residual_norm(x, r, g, b, o):
    for i in range(x.shape[0]):
        row = x[i] + r[i]
        mean = row.mean()
        var = ((row - mean) ** 2).mean()
        y = (row - mean) / np.sqrt(var + 1e-5) * g + b
        o[i] = 0.5 * y * (1.0 + np.tanh(0.7978845608 * (y + 0.044715 * y**3)))


def _rois(n):
    g = np.random.default_rng(6)
    lo = g.integers(0, 40, (n, 2))
    return f4(4, 32, 64, 64), g.integers(0, 4, n), lo, lo + g.integers(4, 24, (n, 2)), zeros((n, 32, 7, 7), np.float32)


@program("regions pooled", _rois, 3, 4000)
def roi_pool(x, which, lo, hi, o):
    for r in range(o.shape[0]):
        for c in range(o.shape[1]):
            for p in range(7):
                for q in range(7):
                    i0 = lo[r, 0] + (hi[r, 0] - lo[r, 0]) * p // 7
                    i1 = lo[r, 0] + ((hi[r, 0] - lo[r, 0]) * (p + 1) + 6) // 7
                    j0 = lo[r, 1] + (hi[r, 1] - lo[r, 1]) * q // 7
                    j1 = lo[r, 1] + ((hi[r, 1] - lo[r, 1]) * (q + 1) + 6) // 7
                    m = -np.inf
                    for i in range(i0, i1):
                        for j in range(j0, j1):
                            m = max(m, x[which[r], c, i, j])
                    o[r, c, p, q] = m


def _ctc(n):
    return np.log(f8(n, 100, 30) + 1e-3), whole(29, n, 20) + 1, zeros(n)


@program("losses of alignments, CTC", _ctc, 2, 5000)
def ctc(logp, label, loss):
    n, t_max, _ = logp.shape
    s_max = 2 * label.shape[1] + 1
    for b in range(n):
        alpha = np.full(s_max, -1e30)
        alpha[0] = logp[b, 0, 0]
        alpha[1] = logp[b, 0, label[b, 0]]
        for t in range(1, t_max):
            before = alpha.copy()
            for s in range(s_max):
                m = before[s]
                if s > 0:
                    m = max(m, before[s - 1])
                e = math.exp(before[s] - m)
                if s > 0:
                    e += math.exp(before[s - 1] - m)
                k = label[b, s // 2] if s % 2 == 1 else 0
                alpha[s] = m + math.log(e) + logp[b, t, k]
        m = max(alpha[s_max - 1], alpha[s_max - 2])
        loss[b] = -(m + math.log(math.exp(alpha[s_max - 1] - m) + math.exp(alpha[s_max - 2] - m)))


@program(
    "volatility implied, Newton",
    lambda n: (f8(n) * 20 + 5, 100.0, f8(n) * 40 + 80, f8(n) + 0.1, zeros(n)),
    30,
    1_000_000,
)
def implied(price, spot, strike, years, out):
    for i in range(price.shape[0]):
        sigma = 0.3
        for _ in range(50):
            root = sigma * math.sqrt(years[i])
            d1 = (math.log(spot / strike[i]) + 0.5 * sigma * sigma * years[i]) / root
            d2 = d1 - root
            c = spot * 0.5 * math.erfc(-d1 / math.sqrt(2)) - strike[i] * 0.5 * math.erfc(-d2 / math.sqrt(2))
            vega = spot * math.sqrt(years[i] / (2 * math.pi)) * math.exp(-0.5 * d1 * d1)
            step = (c - price[i]) / max(vega, 1e-6)
            sigma = min(max(sigma - step, 0.01), 3.0)
            if abs(step) < 1e-9:
                break
        out[i] = sigma


@program("means resampled", lambda n: (f8(n), zeros(n)), 40, 8000)
def resampled(x, means):
    n = x.shape[0]
    for b in range(means.shape[0]):
        state = np.uint64(88172645463325252 + 2 * b)
        s = 0.0
        for _ in range(n):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            s += x[state % np.uint64(n)]
        means[b] = s / n


@program("ranks within rows", lambda n: (f8(n, 200), zeros((n, 200), np.int64)), 4, 20_000)
def ranks(x, r):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            c = 0
            for k in range(x.shape[1]):
                if x[i, k] < x[i, j] or (x[i, k] == x[i, j] and k < j):
                    c += 1
            r[i, j] = c


@program("neighbours within a radius, counted", lambda n: (f8(n, 4), 0.3), 40, 20_000)
def neighbours_counted(x, eps):
    n, d = x.shape
    count = np.zeros(n, dtype=np.int64)
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(d):
                s += (x[i, k] - x[j, k]) ** 2
            if s <= eps * eps:
                count[i] += 1
    return count


@program("smoothed by row, prices of many", lambda n: (f8(n, 500), 0.1, zeros((n, 500))), 4, 100_000)
def smoothed(x, alpha, out):
    for i in range(x.shape[0]):
        out[i, 0] = x[i, 0]
        for t in range(1, x.shape[1]):
            out[i, t] = alpha * x[i, t] + (1 - alpha) * out[i, t - 1]


@program("smoothed by time, prices of many", lambda n: (f8(500, n), 0.1, zeros((500, n))), 4, 100_000)
def smoothed_by_time(x, alpha, out):
    out[0] = x[0]
    for t in range(1, x.shape[0]):
        out[t] = alpha * x[t] + (1 - alpha) * out[t - 1]


@program("betas in windows", lambda n: (f8(n, 300), f8(300), zeros((n, 300))), 3, 20_000)
def betas(r, market, out):
    w = 30
    for i in range(r.shape[0]):
        for t in range(w, r.shape[1]):
            a = r[i, t - w : t]
            m = market[t - w : t]
            ma = a.mean()
            mm = m.mean()
            cov = ((a - ma) * (m - mm)).sum()
            var = ((m - mm) ** 2).sum()
            out[i, t] = cov / var
