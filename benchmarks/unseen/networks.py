"""Part of a twelfth set, written without a look at the recipe: layers and their gradients, statistics, graphs."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def _maps(n):
    return f4(8, n, n, 64) - 0.5, f4(8, n, n, 64)[::-1] - 0.4, f4(64), 8, zeros((8, n, n, 64), np.float32)


@program("group norm, channels last, backward", _maps, 3, 128)
def group_norm_backward(x, dy, gamma, groups, dx):
    images, h, w, channels = x.shape
    size = channels // groups
    dgamma = np.zeros(channels)
    dbeta = np.zeros(channels)
    for b in range(images):
        for g in range(groups):
            total = 0.0
            squares = 0.0
            for i in range(h):
                for j in range(w):
                    for c in range(g * size, (g + 1) * size):
                        total += x[b, i, j, c]
                        squares += x[b, i, j, c] * x[b, i, j, c]
            count = h * w * size
            mean = total / count
            inv = 1 / math.sqrt(squares / count - mean * mean + 1e-5)
            s1 = 0.0
            s2 = 0.0
            for i in range(h):
                for j in range(w):
                    for c in range(g * size, (g + 1) * size):
                        norm = (x[b, i, j, c] - mean) * inv
                        s1 += dy[b, i, j, c] * gamma[c]
                        s2 += dy[b, i, j, c] * gamma[c] * norm
                        dgamma[c] += dy[b, i, j, c] * norm
                        dbeta[c] += dy[b, i, j, c]
            for i in range(h):
                for j in range(w):
                    for c in range(g * size, (g + 1) * size):
                        norm = (x[b, i, j, c] - mean) * inv
                        dx[b, i, j, c] = inv * (dy[b, i, j, c] * gamma[c] - (s1 + norm * s2) / count)
    return dgamma, dbeta


def _relu6(v):
    return min(max(v, 0.0), 6.0)


def _separable(n):
    return f4(8, n, n, 32), f4(3, 3, 32) - 0.3, f4(32, 64) - 0.5, f4(64), zeros((8, n // 2, n // 2, 64), np.float32)


@program("depthwise then pointwise, stride 2", _separable, 6, 256)
def separable(x, depth, point, bias, out):
    images, h, w, channels = x.shape
    middle = np.zeros((images, h // 2, w // 2, channels), np.float32)
    for b in range(images):
        for i in range(h // 2):
            for j in range(w // 2):
                for c in range(channels):
                    s = 0.0
                    for p in range(3):
                        for q in range(3):
                            y, z = 2 * i + p - 1, 2 * j + q - 1
                            if y < 0 or z < 0 or y >= h or z >= w:
                                continue
                            s += x[b, y, z, c] * depth[p, q, c]
                    middle[b, i, j, c] = _relu6(s)
    for b in range(images):
        for i in range(h // 2):
            for j in range(w // 2):
                for k in range(point.shape[1]):
                    s = bias[k]
                    for c in range(channels):
                        s += middle[b, i, j, c] * point[c, k]
                    out[b, i, j, k] = _relu6(s)


def _rows(n):
    return f4(n, 1024) - 0.5, f4(n, 1024)[::-1] - 0.4, f4(1024), zeros((n, 1024), np.float32), zeros(1024)


@program("RMS norm, backward", _rows, 5, 32_768)
def rms_norm_backward(x, dy, w, dx, dw):
    n, d = x.shape
    for i in range(n):
        squares = 0.0
        dot = 0.0
        for j in range(d):
            squares += x[i, j] ** 2
            dot += dy[i, j] * w[j] * x[i, j]
        inv = 1 / np.sqrt(squares / d + 1e-6)
        for j in range(d):
            dx[i, j] = inv * (dy[i, j] * w[j] - x[i, j] * dot * inv * inv / d)
            dw[j] += dy[i, j] * x[i, j] * inv


def _tokens(n):
    rng = np.random.default_rng(5)
    slots = rng.permutation(2 * n)[:n].astype(np.int32)
    slots[::7] = -1
    angle = np.outer(np.arange(n), 10_000.0 ** (-np.arange(32) / 32))
    tables = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    return f4(n, 8, 64), whole(n, n).astype(np.int32), slots, *tables, zeros((2 * n // 16, 16, 8, 64), np.float32)


@program("keys turned, into pages of a cache", _tokens, 16, 65_536)
def paged_keys(k, position, slot, cos, sin, cache):
    tokens, heads, size = k.shape
    half = size // 2
    for t in range(tokens):
        if slot[t] < 0:
            continue
        page, row = divmod(slot[t], cache.shape[1])
        for h in range(heads):
            for d in range(half):
                c, s = cos[position[t], d], sin[position[t], d]
                a, b = k[t, h, d], k[t, h, d + half]
                cache[page, row, h, d] = a * c - b * s
                cache[page, row, h, d + half] = a * s + b * c


def _labelled(n):
    label = whole(8 * n, n)
    label[::5] = -100
    return 4 * f4(n, 8 * n), label, 0.1, zeros((n, 8 * n), np.float32)


@program("cross entropy, smoothed, some labels ignored", _labelled, 30, 3000)
def smoothed_cross_entropy(x, label, smooth, grad):
    n, classes = x.shape
    count = 0
    for i in range(n):
        if label[i] != -100:
            count += 1
    loss = 0.0
    for i in range(n):
        if label[i] == -100:
            continue
        top = x[i, 0]
        for j in range(1, classes):
            top = max(top, x[i, j])
        total = 0.0
        mean = 0.0
        for j in range(classes):
            total += math.exp(x[i, j] - top)
            mean += x[i, j] / classes
        log = top + math.log(total)
        loss += (1 - smooth) * (log - x[i, label[i]]) + smooth * (log - mean)
        for j in range(classes):
            grad[i, j] = (math.exp(x[i, j] - log) - smooth / classes) / count
        grad[i, label[i]] -= (1 - smooth) / count
    return loss / count, count


@program("eight best of rows", lambda n: (f4(n, 4096), zeros((n, 8), np.float32), zeros((n, 8), np.int32)), 5, 16_384)
def eight_best(x, value, place):
    for i in range(x.shape[0]):
        best = np.full(8, -np.inf, np.float32)
        at = np.zeros(8, np.int32)
        for j in range(x.shape[1]):
            v = x[i, j]
            if v <= best[7]:
                continue
            p = 7
            while p > 0 and best[p - 1] < v:
                best[p] = best[p - 1]
                at[p] = at[p - 1]
                p -= 1
            best[p] = v
            at[p] = j
        value[i] = best
        place[i] = at


def _beams(n):
    done = whole(4, n, 4) == 0
    outputs = zeros((n, 4), np.float32), zeros((n, 4), np.int32), zeros((n, 4), np.int32)
    return -9 * f4(n, 4, 8000), -f4(n, 4), done, *outputs


@program("beams that go on", _beams, 2, 1000)
def beams(logp, score, done, new, parent, token):
    batch, width, words = logp.shape
    for b in range(batch):
        for k in range(width):
            new[b, k] = -np.inf
        for k in range(width):
            for v in range(words):
                if done[b, k]:
                    if v > 0:
                        break
                    s = score[b, k]
                else:
                    s = score[b, k] + logp[b, k, v]
                if s <= new[b, width - 1]:
                    continue
                p = width - 1
                while p > 0 and new[b, p - 1] < s:
                    new[b, p] = new[b, p - 1]
                    parent[b, p] = parent[b, p - 1]
                    token[b, p] = token[b, p - 1]
                    p -= 1
                new[b, p] = s
                parent[b, p] = k
                token[b, p] = v


def _decode(n):
    lengths = (1 + whole(n, 8)).astype(np.int32)
    return f4(8, 32, 64), f4(8, n, 8, 64) - 0.5, f4(8, n, 8, 64)[::-1], lengths, zeros((8, 32, 64), np.float32)


@program("a token attends, queries in groups", _decode, 8, 8192)
def grouped_decode(q, k, v, length, out):
    batch, heads, size = q.shape
    group = heads // k.shape[2]
    for b in range(batch):
        for h in range(heads):
            top = -np.inf
            total = 0.0
            acc = np.zeros(size)
            for t in range(length[b]):
                s = 0.0
                for d in range(size):
                    s += q[b, h, d] * k[b, t, h // group, d]
                s /= math.sqrt(size)
                if s > top:
                    scale = math.exp(top - s)
                    total *= scale
                    acc *= scale
                    top = s
                p = math.exp(s - top)
                total += p
                for d in range(size):
                    acc[d] += p * v[b, t, h // group, d]
            out[b, h] = acc / total


def _shares(n):
    p = f8(n, 64) ** 3
    p[p < 0.01] = 0
    return p / p.sum(axis=1, keepdims=True), zeros((n, n))


def _part(a, m):
    return a * math.log(a / m) if a > 0 else 0.0


@program("Jensen-Shannon, pairs of rows", _shares, 30, 3000)
def jensen_shannon(p, out):
    n, d = p.shape
    for i in range(n):
        for j in range(i + 1, n):
            s = 0.0
            for k in range(d):
                m = 0.5 * (p[i, k] + p[j, k])
                s += _part(p[i, k], m) + _part(p[j, k], m)
            out[i, j] = out[j, i] = math.sqrt(max(0.5 * s, 0.0))


def _packed(n):
    return f4(8, n) - 0.5, whole(256, n // 2, n).astype(np.uint8), f4(n // 32, n), zeros((8, n), np.float32)


@program("weights of 4 bits, unpacked and multiplied", _packed, 64, 8192)
def four_bits(x, packed, scale, out):
    rows, depth = x.shape
    for i in range(rows):
        for j in range(out.shape[1]):
            s = np.float32(0)
            for k in range(0, depth, 2):
                byte = packed[k // 2, j]
                low = float(byte & 15) - 8
                high = float(byte >> 4) - 8
                s += scale[k // 32, j] * (x[i, k] * low + x[i, k + 1] * high)
            out[i, j] = s


@program(
    "systems of 8, pivots, batch last",
    lambda n: (f8(8, 8, n) - 0.5, f8(8, n), zeros((8, n)), zeros(n, np.bool_)),
    20,
    200_000,
)
def pivoted(a, b, x, singular):
    n = a.shape[2]
    for m in range(n):
        lu = a[:, :, m].copy()
        y = b[:, m].copy()
        for k in range(8):
            pivot = k
            for i in range(k + 1, 8):
                if abs(lu[i, k]) > abs(lu[pivot, k]):
                    pivot = i
            if abs(lu[pivot, k]) < 1e-12:
                singular[m] = True
                break
            if pivot != k:
                for j in range(8):
                    lu[k, j], lu[pivot, j] = lu[pivot, j], lu[k, j]
                y[k], y[pivot] = y[pivot], y[k]
            for i in range(k + 1, 8):
                factor = lu[i, k] / lu[k, k]
                for j in range(k + 1, 8):
                    lu[i, j] -= factor * lu[k, j]
                y[i] -= factor * y[k]
        if singular[m]:
            continue
        for i in range(7, -1, -1):
            for j in range(i + 1, 8):
                y[i] -= lu[i, j] * y[j]
            y[i] /= lu[i, i]
        x[:, m] = y


def _queries(n):
    return f4(n, 48), whole(4, n, 48).astype(np.int8), 10 + whole(39, n), zeros((n, 48), np.float32)


@program("lists ranked, gradient of pairs", _queries, 6, 100_000)
def lambda_rank(score, gain, length, grad):
    loss = 0.0
    for q in range(score.shape[0]):
        m = length[q]
        rank = np.zeros(48, np.int64)
        for i in range(m):
            for j in range(m):
                if score[q, j] > score[q, i]:
                    rank[i] += 1
        for i in range(m):
            for j in range(m):
                if gain[q, i] <= gain[q, j]:
                    continue
                weight = (2.0 ** gain[q, i] - 2.0 ** gain[q, j]) * abs(
                    1 / math.log2(2 + rank[i]) - 1 / math.log2(2 + rank[j])
                )
                e = math.exp(score[q, j] - score[q, i])
                loss += weight * math.log1p(e)
                g = weight * e / (1 + e)
                grad[q, i] -= g
                grad[q, j] += g
    return loss / score.shape[0]


def _links(n):
    start = np.concatenate([[0], np.cumsum(whole(30, n) + (np.arange(n) % 50 == 0) * 40)])
    return start.astype(np.int64), whole(n, int(start[-1])).astype(np.int32)


def _walkers(n):
    start, source = _links(n)
    leaving = np.bincount(source, minlength=n).astype(np.int32)
    return start, source, leaving, np.full((n, 16), 1 / n, np.float32), whole(n, 16), zeros((n, 16), np.float32)


@program("PageRank from 16 places at once", _walkers, 60, 500_000)
def personal_rank(start, source, leaving, rank, seed, new):
    n, people = rank.shape
    lost = np.zeros(people)
    for v in range(n):
        if leaving[v] == 0:
            for k in range(people):
                lost[k] += rank[v, k]
    change = np.zeros(people)
    for v in range(n):
        total = np.zeros(people, np.float32)
        for e in range(start[v], start[v + 1]):
            u = source[e]
            for k in range(people):
                total[k] += rank[u, k] / leaving[u]
        for k in range(people):
            r = 0.85 * total[k]
            if seed[k] == v:
                r += 0.15 + 0.85 * lost[k]
            change[k] += abs(r - rank[v, k])
            new[v, k] = r
    return change


def _features(n):
    start, source = _links(n)
    return start, source, f4(n, 64) - 0.5, f4(64), zeros((n, 64), np.float32)


@program("neighbours' features, symmetric mean and ReLU", _features, 60, 200_000)
def graph_convolution(start, source, x, bias, out):
    n, size = x.shape
    scale = np.empty(n, np.float32)
    for v in range(n):
        scale[v] = 1 / math.sqrt(start[v + 1] - start[v] + 1)
    for v in range(n):
        for d in range(size):
            s = scale[v] * x[v, d]
            for e in range(start[v], start[v + 1]):
                s += scale[source[e]] * x[source[e], d]
            out[v, d] = max(scale[v] * s + bias[d], 0.0)


def _friends(n):
    rng = np.random.default_rng(4)
    a, b = (n * rng.random(4 * n) ** 2).astype(np.int64), rng.integers(0, n, 4 * n)
    a, b = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(a, kind="stable")
    start = np.searchsorted(a[order], np.arange(n + 1))
    return start, b[order].astype(np.int32), 7, np.ones(n, np.bool_)


@program("k-core, peeled in rounds", _friends, 100, 1_000_000)
def k_core(start, neighbour, k, alive):
    n = alive.shape[0]
    degree = np.empty(n, np.int32)
    for v in range(n):
        degree[v] = start[v + 1] - start[v]
    rounds = 0
    while True:
        peeled = np.zeros(n, np.bool_)
        found = False
        for v in range(n):
            if alive[v] and degree[v] < k:
                peeled[v] = True
                alive[v] = False
                found = True
        if not found:
            break
        for v in range(n):
            if peeled[v]:
                for e in range(start[v], start[v + 1]):
                    degree[neighbour[e]] -= 1
        rounds += 1
    return rounds, alive.sum()


def _sales(n):
    return whole(500, n).astype(np.int32), 3600 * whole(30 * n, n), 100 * f4(n), f8(n) < 0.05


@program("sales by shop and weekday", _sales, 400, 20_000_000)
def sales(shop, time, amount, returned):
    shops = shop.max() + 1
    count = np.zeros((shops, 7), np.int64)
    total = np.zeros((shops, 7))
    largest = np.full((shops, 7), -np.inf, np.float32)
    latest = np.full((shops, 7), -1)
    for i in range(shop.shape[0]):
        s, day = shop[i], (time[i] // 86_400 + 3) % 7
        latest[s, day] = max(latest[s, day], time[i])
        if returned[i]:
            total[s, day] -= amount[i]
            continue
        count[s, day] += 1
        total[s, day] += amount[i]
        if amount[i] > largest[s, day]:
            largest[s, day] = amount[i]
    return count, total, largest, latest


def _orders(n):
    right = np.unique(whole(2000, n // 4, 2) * [n // 2000 + 1, 1], axis=0).astype(np.int32)
    right = np.repeat(right, 1 + np.arange(len(right)) % 3, axis=0)
    left = right[whole(len(right), n)] + (whole(3, n, 2) - 1).astype(np.int32)
    return left, right, f8(len(right)), zeros(n, np.int32), zeros(n)


def _less(a, b, c, d):
    return a < c or (a == c and b < d)


@program("joined by two sorted keys", _orders, 200, 4_000_000)
def join(left, right, worth, count, total):
    for i in range(left.shape[0]):
        a, b = left[i]
        lo, hi = 0, right.shape[0]
        while lo < hi:
            mid = (lo + hi) // 2
            if _less(right[mid, 0], right[mid, 1], a, b):
                lo = mid + 1
            else:
                hi = mid
        while lo < right.shape[0] and right[lo, 0] == a and right[lo, 1] == b:
            count[i] += 1
            total[i] += worth[lo]
            lo += 1


@program(
    "different values in windows of 64",
    lambda n: (whole(50, n, 512).astype(np.uint8), zeros((n, 449), np.int32)),
    8,
    50_000,
)
def distinct(x, out):
    for r in range(x.shape[0]):
        seen = np.zeros(256, np.int32)
        different = 0
        for j in range(x.shape[1]):
            v = x[r, j]
            if seen[v] == 0:
                different += 1
            seen[v] += 1
            if j >= 64:
                old = x[r, j - 64]
                seen[old] -= 1
                if seen[old] == 0:
                    different -= 1
            if j >= 63:
                out[r, j - 63] = different
