"""A quarter of a twentieth set, written without a look at the recipe: pages, layers, tokens and sites."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, program, zeros


def page(n):
    rng = np.random.default_rng(18)
    ink = rng.integers(0, 64, (n, n), np.uint8)
    ink[rng.integers(0, 256, (n, n), np.uint8) > 150] += 90
    ink += (np.arange(n) * 60 // n).astype(np.uint8)
    return ink, 16 if n < 100 else 32, zeros((n, n), np.uint8)


@program("tiles of a page made black and white, Otsu", page, 32, 8192)
def otsu_tiles(page, size, out):
    n, m = page.shape
    for ti in range(n // size):
        for tj in range(m // size):
            histogram = np.zeros(256, np.int32)
            for i in range(size):
                for j in range(size):
                    histogram[page[ti * size + i, tj * size + j]] += 1
            whole_sum = 0
            for g in range(256):
                whole_sum += g * histogram[g]
            count = size * size
            below = 0
            below_sum = 0
            best = -1.0
            threshold = 0
            for g in range(256):
                below += histogram[g]
                if below == 0:
                    continue
                above = count - below
                if above == 0:
                    break
                below_sum += g * histogram[g]
                gap = below_sum / below - (whole_sum - below_sum) / above
                between = float(below) * above * gap * gap
                if between > best * (1.0 + 1e-9):
                    best = between
                    threshold = g
            for i in range(size):
                for j in range(size):
                    if page[ti * size + i, tj * size + j] > threshold:
                        out[ti * size + i, tj * size + j] = 255


def drawing(n):
    rng = np.random.default_rng(19)
    edges = (rng.random((n, n)) < 0.03).astype(np.uint8)
    edges[n // 3, :] = 1
    edges[np.arange(n), np.arange(n)] = 1
    angle = np.pi * np.arange(180) / 180
    votes = zeros((180, 2 * int(1.5 * n) + 1), np.int32)
    return edges, np.cos(angle), np.sin(angle), max(8, n // 4), votes, zeros(votes.shape, np.uint8)


@program("lines voted for in a drawing, Hough, peaks marked", drawing, 16, 2048)
def hough(edges, cosine, sine, least, votes, peaks):
    n, m = edges.shape
    angles, rhos = votes.shape
    for i in range(n):
        for j in range(m):
            if edges[i, j] == 0:
                continue
            for a in range(angles):
                rho = math.floor(j * cosine[a] + i * sine[a] + 0.37) + rhos // 2
                if 0 <= rho < rhos:
                    votes[a, rho] += 1
    found = 0
    for a in range(1, angles - 1):
        for r in range(1, rhos - 1):
            if votes[a, r] < least:
                continue
            peak = True
            for da in range(-1, 2):
                for dr in range(-1, 2):
                    if votes[a + da, r + dr] > votes[a, r]:
                        peak = False
            if peak:
                peaks[a, r] = 1
                found += 1
    return found


def maps(b):
    c, s = (2, 9) if b < 4 else (64, 112)
    o = (s + 1) // 2
    return (
        f4(b, c, s, s),
        np.ascontiguousarray(f4(b, c, o, o)[::-1]),
        zeros((b, c, o, o), np.float32),
        zeros((b, c, o, o), np.int32),
        zeros((b, c, s, s), np.float32),
    )


@program("greatest of nine with its place, every second, and back", maps, 2, 32)
def pool_and_back(x, dy, y, place, dx):
    batch, channels, h, w = x.shape
    for b in range(batch):
        for c in range(channels):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    most = -np.inf
                    where = -1
                    for a in range(2 * i - 1, 2 * i + 2):
                        for d in range(2 * j - 1, 2 * j + 2):
                            if a < 0 or d < 0 or a >= h or d >= w:
                                continue
                            if x[b, c, a, d] > most:
                                most = x[b, c, a, d]
                                where = a * w + d
                    y[b, c, i, j] = most
                    place[b, c, i, j] = where
    for b in range(batch):
        for c in range(channels):
            for i in range(y.shape[2]):
                for j in range(y.shape[3]):
                    p = place[b, c, i, j]
                    dx[b, c, p // w, p % w] += dy[b, c, i, j]


def spline_layer(n):
    k, o, g = (5, 4, 6) if n < 100 else (64, 64, 16)
    rng = np.random.default_rng(20)
    return (
        (rng.random((n, k)) * 2 - 1).astype(np.float32),
        rng.normal(size=(o, k, g + 3)).astype(np.float32),
        rng.normal(size=(o, k)).astype(np.float32),
        zeros((n, o), np.float32),
    )


@program("a layer of splines on its edges, Kolmogorov and Arnold", spline_layer, 20, 16384)
def kan(x, coefficient, base, y):
    rows, inputs = x.shape
    outputs = base.shape[0]
    cells = coefficient.shape[2] - 3
    for r in range(rows):
        for o in range(outputs):
            total = 0.0
            for i in range(inputs):
                v = x[r, i]
                total += base[o, i] * v / (1.0 + math.exp(-v))
                t = (v + 1.0) * 0.5 * cells
                cell = min(max(int(t), 0), cells - 1)
                u = t - cell
                total += coefficient[o, i, cell] * (1.0 - u) ** 3 / 6.0
                total += coefficient[o, i, cell + 1] * (3.0 * u**3 - 6.0 * u**2 + 4.0) / 6.0
                total += coefficient[o, i, cell + 2] * (-3.0 * u**3 + 3.0 * u**2 + 3.0 * u + 1.0) / 6.0
                total += coefficient[o, i, cell + 3] * u**3 / 6.0
            y[r, o] = total


def heavy(n):
    levels = np.array(
        [
            -1.0,
            -0.6962,
            -0.5251,
            -0.3949,
            -0.2844,
            -0.1848,
            -0.0911,
            0.0,
            0.0796,
            0.1609,
            0.2461,
            0.3379,
            0.4407,
            0.5626,
            0.723,
            1.0,
        ],
        np.float32,
    )
    c = 256 if n < 100 else 4096
    w = np.random.default_rng(21).standard_normal((n, c), dtype=np.float32)
    return w, levels, zeros((n, c // 2), np.uint8), zeros((n, c // 64), np.float32)


@program("weights to sixteen uneven levels, two in a byte", heavy, 4, 8192)
def nibbles(w, levels, packed, scale):
    rows, columns = w.shape
    lost = 0.0
    for r in range(rows):
        for b in range(columns // 64):
            most = np.float32(0.0)
            for k in range(64):
                a = abs(w[r, 64 * b + k])
                if a > most:
                    most = a
            scale[r, b] = most
            for k in range(32):
                byte = 0
                for half in range(2):
                    z = w[r, 64 * b + 2 * k + half] / most
                    best = 0
                    least = abs(z - levels[0])
                    for q in range(1, 16):
                        d = abs(z - levels[q])
                        if d < least:
                            least = d
                            best = q
                    byte |= best << (4 * half)
                    lost += float(least * most) ** 2
                packed[r, 32 * b + k] = byte
    return lost


def padded(b):
    h, t, s, d = (2, 5, 7, 4) if b < 4 else (8, 256, 256, 64)
    rng = np.random.default_rng(22)
    return (
        *(rng.standard_normal((b, h, m, d), dtype=np.float32) for m in (t, s, s)),
        rng.integers(1, s + 1, b),
        15.0,
        zeros((b, h, t, d), np.float32),
    )


@program("attention over keys of several lengths, logits capped", padded, 3, 16)
def capped_attention(q, k, v, length, cap, out):
    batch, heads, queries, d = q.shape
    for b in range(batch):
        for h in range(heads):
            for i in range(queries):
                score = np.zeros(k.shape[2], np.float32)
                most = -1e30
                for j in range(length[b]):
                    dot = 0.0
                    for c in range(d):
                        dot += q[b, h, i, c] * k[b, h, j, c]
                    score[j] = cap * math.tanh(dot / math.sqrt(d) / cap)
                    most = max(most, score[j])
                norm = 0.0
                for j in range(length[b]):
                    score[j] = math.exp(score[j] - most)
                    norm += score[j]
                for c in range(d):
                    total = 0.0
                    for j in range(length[b]):
                        total += score[j] * v[b, h, j, c]
                    out[b, h, i, c] = total / norm


def sparse_voxels(n):
    side = max(4, round((5.0 * n) ** (1 / 3)))
    c = 4 if n < 1000 else 32
    rng = np.random.default_rng(23)
    cells = np.sort(rng.permutation(side**3)[:n])
    p = np.stack([cells // (side * side), cells // side % side, cells % side], 1)
    source, target, start = [], [], [0]
    for k in range(27):
        q = p + np.array([k // 9 - 1, k // 3 % 3 - 1, k % 3 - 1])
        inside = ((q >= 0) & (q < side)).all(1)
        key = (q[:, 0] * side + q[:, 1]) * side + q[:, 2]
        at = np.minimum(np.searchsorted(cells, key), len(cells) - 1)
        good = inside & (cells[at] == key)
        source.append(at[good])
        target.append(np.flatnonzero(good))
        start.append(start[-1] + int(good.sum()))
    m = len(cells)
    return (
        np.concatenate(source),
        np.concatenate(target),
        np.array(start),
        rng.standard_normal((m, c), dtype=np.float32),
        rng.standard_normal((27, c, c), dtype=np.float32),
        rng.standard_normal(c, dtype=np.float32),
        zeros((m, c), np.float32),
    )


@program("few voxels of a volume convolved by a book of rules", sparse_voxels, 60, 100_000)
def rule_book(source, target, start, feature, weight, bias, out):
    channels = feature.shape[1]
    for v in range(out.shape[0]):
        for c in range(channels):
            out[v, c] = bias[c]
    for k in range(len(start) - 1):
        for r in range(start[k], start[k + 1]):
            for a in range(channels):
                for c in range(channels):
                    out[target[r], c] += feature[source[r], a] * weight[k, a, c]
    for v in range(out.shape[0]):
        for c in range(channels):
            if out[v, c] < 0.0:
                out[v, c] = 0.0


def segments_of(n):
    b, c = (2, 3) if n < 1000 else (4, 8)
    rng = np.random.default_rng(24)
    return (
        rng.standard_normal((b, c, n), dtype=np.float32),
        rng.integers(0, c, (b, n)),
        zeros((b, c, n), np.float32),
        zeros((b, c, n), np.float32),
    )


@program("overlap of regions, soft Dice of a softmax, gradient", segments_of, 150, 1_000_000)
def dice(logits, label, p, gradient):
    batch, classes, n = logits.shape
    both = np.zeros((batch, classes))
    size = np.zeros((batch, classes))
    for b in range(batch):
        for i in range(n):
            most = logits[b, 0, i]
            for c in range(1, classes):
                most = max(most, logits[b, c, i])
            norm = 0.0
            for c in range(classes):
                p[b, c, i] = math.exp(logits[b, c, i] - most)
                norm += p[b, c, i]
            for c in range(classes):
                p[b, c, i] /= norm
                size[b, c] += p[b, c, i]
            both[b, label[b, i]] += p[b, label[b, i], i]
            size[b, label[b, i]] += 1.0
    loss = 0.0
    for b in range(batch):
        for c in range(classes):
            loss += 1.0 - 2.0 * both[b, c] / size[b, c]
    loss /= batch * classes
    for b in range(batch):
        for i in range(n):
            g = np.zeros(classes)
            mean = 0.0
            for c in range(classes):
                hit = 1.0 if label[b, i] == c else 0.0
                g[c] = -2.0 * (hit * size[b, c] - both[b, c]) / size[b, c] ** 2 / (batch * classes)
                mean += p[b, c, i] * g[c]
            for c in range(classes):
                gradient[b, c, i] = p[b, c, i] * (g[c] - mean)
    return loss


def votes_of(b):
    i, j, d = (8, 3, 4) if b < 10 else (512, 10, 16)
    return np.random.default_rng(25).standard_normal((b, i, j, d), dtype=np.float32), 3, zeros((b, j, d), np.float32)


@program("capsules agree in three rounds", votes_of, 3, 256)
def capsules(u, rounds, v):
    batch, inputs, outputs, d = u.shape
    for b in range(batch):
        logit = np.zeros((inputs, outputs))
        for it in range(rounds):
            s = np.zeros((outputs, d))
            for i in range(inputs):
                norm = 0.0
                for j in range(outputs):
                    norm += math.exp(logit[i, j])
                for j in range(outputs):
                    c = math.exp(logit[i, j]) / norm
                    for k in range(d):
                        s[j, k] += c * u[b, i, j, k]
            for j in range(outputs):
                square = 0.0
                for k in range(d):
                    square += s[j, k] * s[j, k]
                for k in range(d):
                    v[b, j, k] = s[j, k] * math.sqrt(square) / (1.0 + square)
            if it == rounds - 1:
                break
            for i in range(inputs):
                for j in range(outputs):
                    for k in range(d):
                        logit[i, j] += u[b, i, j, k] * v[b, j, k]


def promoters(r):
    rng = np.random.default_rng(26)
    s = rng.integers(0, 4, (r, 40 if r < 100 else 400)).astype(np.uint8)
    s[rng.random(s.shape) < 0.002] = 4
    return s, rng.normal(size=(12, 4)), zeros(r), zeros(r, np.int32), zeros(r, np.int8)


@program("sites on both strands, a matrix of weights, the best of each", promoters, 12, 50_000)
def best_sites(sequence, matrix, score, place, strand):
    width = matrix.shape[0]
    for r in range(sequence.shape[0]):
        best = -np.inf
        p = 0
        while p + width <= sequence.shape[1]:
            forward = 0.0
            backward = 0.0
            unknown = -1
            for k in range(width):
                base = sequence[r, p + k]
                if base > 3:
                    unknown = k
                    break
                forward += matrix[k, base]
                backward += matrix[width - 1 - k, 3 - base]
            if unknown >= 0:
                p += unknown + 1
                continue
            if forward > best:
                best = forward
                place[r] = p
                strand[r] = 1
            if backward > best:
                best = backward
                place[r] = p
                strand[r] = -1
            p += 1
        score[r] = best
