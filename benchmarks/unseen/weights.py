"""A quarter of a twenty-fourth set, written without a look at the recipe: layers of today, losses, an optimiser."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import program, zeros


def dice(z):
    z &= 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    return z ^ (z >> 16)


def normal4(rng, *shape, size=1.0):
    return (rng.normal(size=shape) * size).astype(np.float32)


def cells(n):
    channels, hidden, steps = (6, 8, 2) if n < 64 else (16, 64, 8)
    rng = np.random.default_rng(2411)
    state = (rng.random((n, n, channels)) * (rng.random((n, n, 1)) < 0.3)).astype(np.float32)
    return (
        state,
        normal4(rng, 3 * channels, hidden, size=0.3),
        normal4(rng, hidden, size=0.1),
        normal4(rng, hidden, channels, size=0.1),
        steps,
        31,
        zeros((n, n, channels), np.float32),
    )


@program("cells that learnt their rule, a small net at each, half of them asleep", cells, 10, 384)
def neural_cells(state, w1, b1, w2, steps, seed, out):
    rows, columns, channels = state.shape
    hidden = len(b1)
    now = state.copy()
    new = np.zeros((rows, columns, channels), np.float32)
    was = np.zeros((rows, columns), np.uint8)
    for step in range(steps):
        for i in range(rows):
            for j in range(columns):
                up, down = (i - 1) % rows, (i + 1) % rows
                left, right = (j - 1) % columns, (j + 1) % columns
                most = 0.0
                for a in (up, i, down):
                    for b in (left, j, right):
                        most = max(most, now[a, b, 3])
                was[i, j] = most > 0.1
                seen = np.zeros(3 * channels, np.float32)
                for c in range(channels):
                    seen[c] = now[i, j, c]
                    east = now[up, right, c] + 2.0 * now[i, right, c] + now[down, right, c]
                    west = now[up, left, c] + 2.0 * now[i, left, c] + now[down, left, c]
                    south = now[down, left, c] + 2.0 * now[down, j, c] + now[down, right, c]
                    north = now[up, left, c] + 2.0 * now[up, j, c] + now[up, right, c]
                    seen[channels + c] = (east - west) / 8.0
                    seen[2 * channels + c] = (south - north) / 8.0
                for c in range(channels):
                    new[i, j, c] = now[i, j, c]
                if dice((step * rows + i) * columns + j + seed * 7919) & 1:
                    for k in range(hidden):
                        s = b1[k]
                        for c in range(3 * channels):
                            s += seen[c] * w1[c, k]
                        if s > 0.0:
                            for c in range(channels):
                                new[i, j, c] += s * w2[k, c]
        for i in range(rows):
            for j in range(columns):
                most = 0.0
                for a in range(i - 1, i + 2):
                    for b in range(j - 1, j + 2):
                        most = max(most, new[a % rows, b % columns, 3])
                alive = most > 0.1 and was[i, j] == 1
                for c in range(channels):
                    now[i, j, c] = new[i, j, c] if alive else 0.0
    for i in range(rows):
        for j in range(columns):
            for c in range(channels):
                out[i, j, c] = now[i, j, c]


def two_queries(t):
    heads, d = (2, 4) if t < 100 else (8, 64)
    rng = np.random.default_rng(2412)
    return (
        normal4(rng, heads, 2, t, d),
        normal4(rng, heads, 2, t, d),
        normal4(rng, heads, t, 2 * d),
        (0.3 + 0.4 * rng.random(heads)).astype(np.float32),
        np.float32(0.2),
        zeros((heads, t, 2 * d), np.float32),
    )


@program("attention less another attention, causal, then a norm by head", two_queries, 20, 4096)
def less_noise(q, k, v, share, first, out):
    heads, _, tokens, d = q.shape
    for h in range(heads):
        for i in range(tokens):
            p = np.zeros((2, tokens), np.float32)
            for m in range(2):
                most = -np.inf
                for j in range(i + 1):
                    s = 0.0
                    for c in range(d):
                        s += q[h, m, i, c] * k[h, m, j, c]
                    p[m, j] = s / math.sqrt(d)
                    most = max(most, p[m, j])
                total = 0.0
                for j in range(i + 1):
                    p[m, j] = math.exp(p[m, j] - most)
                    total += p[m, j]
                for j in range(i + 1):
                    p[m, j] /= total
            square = 0.0
            for c in range(2 * d):
                s = 0.0
                for j in range(i + 1):
                    s += (p[0, j] - share[h] * p[1, j]) * v[h, j, c]
                out[h, i, c] = s
                square += s * s
            r = (1.0 - first) / math.sqrt(square / (2 * d) + 1e-5)
            for c in range(2 * d):
                out[h, i, c] *= r


def latents(t):
    batch, heads, c, r, d = (3, 2, 6, 2, 4) if t < 100 else (32, 32, 256, 32, 64)
    rng = np.random.default_rng(2413)
    return (
        normal4(rng, batch, heads, c),
        normal4(rng, batch, heads, r),
        normal4(rng, batch, t, c),
        normal4(rng, batch, t, r),
        rng.integers(t // 4 + 1, t + 1, batch),
        normal4(rng, heads, c, d, size=c**-0.5),
        zeros((batch, heads, d), np.float32),
        zeros((batch, heads), np.float32),
    )


@program("one token attends to latent vectors that all heads share", latents, 30, 4096)
def latent_attention(q, q_turned, latent, turned, length, up, out, log_norm):
    batch, heads, rank = q.shape
    extra = q_turned.shape[2]
    d = up.shape[2]
    scale = 1.0 / math.sqrt(rank + extra)
    for b in range(batch):
        for h in range(heads):
            most = -1e30
            norm = 0.0
            mixed = np.zeros(rank, np.float32)
            for t in range(length[b]):
                s = 0.0
                for c in range(rank):
                    s += q[b, h, c] * latent[b, t, c]
                for c in range(extra):
                    s += q_turned[b, h, c] * turned[b, t, c]
                s *= scale
                if s > most:
                    shrink = math.exp(most - s)
                    norm *= shrink
                    for c in range(rank):
                        mixed[c] *= shrink
                    most = s
                p = math.exp(s - most)
                norm += p
                for c in range(rank):
                    mixed[c] += p * latent[b, t, c]
            for j in range(d):
                s = 0.0
                for c in range(rank):
                    s += mixed[c] * up[h, c, j]
                out[b, h, j] = s / norm
            log_norm[b, h] = most + math.log(norm)


def films(n):
    b, c, o, t, groups = (1, 4, 4, 3, 2) if n < 32 else (2, 32, 64, 16, 4)
    rng = np.random.default_rng(2414)
    half = (n + 1) // 2
    return (
        normal4(rng, b, c, t, n, n),
        normal4(rng, o, c // groups, 3, 3, 3, size=0.1),
        normal4(rng, b, o, t, half, half),
        zeros((b, o, t, half, half), np.float32),
        zeros((o, c // groups, 3, 3, 3), np.float32),
        zeros(o, np.float32),
    )


@program("films in groups of channels, causal in time, every second pixel, weights' gradient", films, 6, 128)
def causal_films(x, w, dy, y, dw, dbias):
    batch, channels, frames, rows, columns = x.shape
    outputs, inside = w.shape[0], w.shape[1]
    groups = channels // inside
    for b in range(batch):
        for o in range(outputs):
            base = o // (outputs // groups) * inside
            for t in range(frames):
                for i in range(y.shape[3]):
                    for j in range(y.shape[4]):
                        s = 0.0
                        for c in range(inside):
                            for kt in range(3):
                                for ki in range(3):
                                    for kj in range(3):
                                        ft = t + kt - 2
                                        fi = 2 * i + ki - 1
                                        fj = 2 * j + kj - 1
                                        if ft >= 0 and 0 <= fi < rows and 0 <= fj < columns:
                                            s += w[o, c, kt, ki, kj] * x[b, base + c, ft, fi, fj]
                        y[b, o, t, i, j] = s
    for o in range(outputs):
        base = o // (outputs // groups) * inside
        for c in range(inside):
            for kt in range(3):
                for ki in range(3):
                    for kj in range(3):
                        s = 0.0
                        for b in range(batch):
                            for t in range(max(0, 2 - kt), frames):
                                for i in range(y.shape[3]):
                                    for j in range(y.shape[4]):
                                        fi = 2 * i + ki - 1
                                        fj = 2 * j + kj - 1
                                        if 0 <= fi < rows and 0 <= fj < columns:
                                            s += dy[b, o, t, i, j] * x[b, base + c, t + kt - 2, fi, fj]
                        dw[o, c, kt, ki, kj] = s
        s = 0.0
        for b in range(batch):
            for t in range(frames):
                for i in range(y.shape[3]):
                    for j in range(y.shape[4]):
                        s += dy[b, o, t, i, j]
        dbias[o] = s


def matrices(n):
    many, wide = (2, n + 4) if n < 64 else (8, 2 * n)
    rng = np.random.default_rng(2415)
    return (
        normal4(rng, many, n, wide, size=0.02),
        normal4(rng, many, n, wide),
        normal4(rng, many, n, wide, size=0.3),
        0.95,
        0.02,
        5,
    )


@program("weights moved by momentum made orthogonal, Newton and Schulz, Muon", matrices, 6, 512)
def muon(w, g, momentum, memory, rate, rounds):
    many, rows, columns = w.shape
    x = np.zeros((rows, columns), np.float32)
    new = np.zeros((rows, columns), np.float32)
    a = np.zeros((rows, rows), np.float32)
    b = np.zeros((rows, rows), np.float32)
    for m in range(many):
        square = 0.0
        for i in range(rows):
            for j in range(columns):
                momentum[m, i, j] = memory * momentum[m, i, j] + g[m, i, j]
                x[i, j] = g[m, i, j] + memory * momentum[m, i, j]
                square += x[i, j] * x[i, j]
        size = math.sqrt(square) + 1e-7
        for i in range(rows):
            for j in range(columns):
                x[i, j] /= size
        for _ in range(rounds):
            for i in range(rows):
                for j in range(rows):
                    s = 0.0
                    for k in range(columns):
                        s += x[i, k] * x[j, k]
                    a[i, j] = s
            for i in range(rows):
                for j in range(rows):
                    s = 0.0
                    for k in range(rows):
                        s += a[i, k] * a[k, j]
                    b[i, j] = -4.775 * a[i, j] + 2.0315 * s
            for i in range(rows):
                for j in range(columns):
                    s = 3.4445 * x[i, j]
                    for k in range(rows):
                        s += b[i, k] * x[k, j]
                    new[i, j] = s
            for i in range(rows):
                for j in range(columns):
                    x[i, j] = new[i, j]
        for i in range(rows):
            for j in range(columns):
                w[m, i, j] -= rate * math.sqrt(max(1.0, rows / columns)) * x[i, j]


def captions(n):
    d = 6 if n < 100 else 512
    rng = np.random.default_rng(2416)
    x, y = normal4(rng, n, d), normal4(rng, n, d)
    x /= np.sqrt((x * x).sum(1, keepdims=True))
    y /= np.sqrt((y * y).sum(1, keepdims=True))
    return x, y, np.float32(10.0), np.float32(-10.0), zeros((n, d), np.float32), zeros((n, d), np.float32)


@program("pairs told from all others one by one, a sigmoid each, loss and gradients", captions, 20, 4096)
def sigmoid_pairs(x, y, warmth, bias, dx, dy):
    n, d = x.shape
    loss = np.float64(0.0)
    d_warmth = np.float64(0.0)
    d_bias = np.float64(0.0)
    for i in range(n):
        for j in range(n):
            s = 0.0
            for k in range(d):
                s += x[i, k] * y[j, k]
            sign = 1.0 if i == j else -1.0
            z = sign * (warmth * s + bias)
            loss += max(-z, 0.0) + math.log1p(math.exp(-abs(z)))
            dz = -sign / (1.0 + math.exp(z)) / n
            d_warmth += dz * s
            d_bias += dz
            for k in range(d):
                dx[i, k] += dz * warmth * y[j, k]
                dy[j, k] += dz * warmth * x[i, k]
    return loss / n, d_warmth, d_bias


def seats(tokens):
    experts, d, seat = (4, 5, 6) if tokens < 100 else (64, 512, 512)
    rng = np.random.default_rng(2417)
    return (
        normal4(rng, tokens, experts),
        normal4(rng, tokens, d),
        zeros((experts, seat), np.int32),
        zeros((experts, seat), np.float32),
        zeros((experts, seat, d), np.float32),
        zeros(tokens, np.int32),
    )


@program("experts choose their tokens, the best for each seat", seats, 24, 16_384)
def experts_choose(score, x, chosen, gate, rows, times):
    tokens, experts = score.shape
    places = chosen.shape[1]
    for e in range(experts):
        taken = np.zeros(tokens, np.uint8)
        for c in range(places):
            best = -1
            for t in range(tokens):
                if taken[t] == 0 and (best < 0 or score[t, e] > score[best, e]):
                    best = t
            taken[best] = 1
            chosen[e, c] = best
            times[best] += 1
            gate[e, c] = 1.0 / (1.0 + math.exp(-score[best, e]))
            for k in range(x.shape[1]):
                rows[e, c, k] = x[best, k] * gate[e, c]


def gated(n):
    d, groups = (12, 3) if n < 100 else (4096, 8)
    rng = np.random.default_rng(2418)
    return (
        normal4(rng, n, d),
        normal4(rng, n, d),
        (1.0 + 0.1 * rng.normal(size=d)).astype(np.float32),
        normal4(rng, n, d),
        groups,
        zeros((n, d), np.float32),
        zeros((n, d), np.float32),
        zeros((n, d), np.float32),
        zeros(d, np.float32),
    )


@program("a gate, then RMS norm within groups, and back", gated, 12, 8192)
def gated_norm(x, z, w, dy, groups, y, dx, dz, dw):
    rows, d = x.shape
    size = d // groups
    for r in range(rows):
        for g in range(groups):
            square = 0.0
            for i in range(g * size, (g + 1) * size):
                h = x[r, i] * z[r, i] / (1.0 + math.exp(-z[r, i]))
                square += h * h
            scale = 1.0 / math.sqrt(square / size + 1e-5)
            both = 0.0
            for i in range(g * size, (g + 1) * size):
                h = x[r, i] * z[r, i] / (1.0 + math.exp(-z[r, i]))
                y[r, i] = h * scale * w[i]
                both += dy[r, i] * w[i] * h
                dw[i] += dy[r, i] * h * scale
            for i in range(g * size, (g + 1) * size):
                s = 1.0 / (1.0 + math.exp(-z[r, i]))
                h = x[r, i] * z[r, i] * s
                dh = scale * (dy[r, i] * w[i] - h * scale * scale * both / size)
                dx[r, i] = dh * z[r, i] * s
                dz[r, i] = dh * x[r, i] * s * (1.0 + z[r, i] * (1.0 - s))


def byte_pictures(n):
    batch, c, o = (1, 3, 4) if n < 32 else (16, 32, 64)
    rng = np.random.default_rng(2419)
    half = (n + 1) // 2
    return (
        rng.integers(0, 256, (batch, n, n, c)).astype(np.uint8),
        rng.integers(-127, 128, (o, 3, 3, c)).astype(np.int8),
        rng.integers(-3000, 3000, o).astype(np.int32),
        rng.integers(1 << 30, 1 << 31, o),
        rng.integers(39, 43, o),
        121,
        7,
        zeros((batch, half, half, o), np.uint8),
    )


@program("pictures in bytes convolved, rounded to bytes by whole numbers", byte_pictures, 8, 128)
def byte_convolution(x, w, bias, multiplier, shift, zero_in, zero_out, y):
    batch, rows, columns, channels = x.shape
    for b in range(batch):
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                for o in range(w.shape[0]):
                    s = int(bias[o])
                    for ki in range(3):
                        for kj in range(3):
                            fi = 2 * i + ki - 1
                            fj = 2 * j + kj - 1
                            if 0 <= fi < rows and 0 <= fj < columns:
                                for c in range(channels):
                                    s += (int(x[b, fi, fj, c]) - zero_in) * int(w[o, ki, kj, c])
                    s = (s * multiplier[o] + (1 << (shift[o] - 1))) >> shift[o]
                    y[b, i, j, o] = min(max(s + zero_out, 0), 255)


def boxes(images):
    queries, classes, most = (10, 4, 6) if images < 16 else (900, 91, 120)
    rng = np.random.default_rng(2420)
    offset = np.append(0, np.cumsum(rng.integers(1, most, images)))
    total = int(offset[-1])

    def some(*shape):
        return np.concatenate([rng.random((*shape, 2)), 0.02 + 0.4 * rng.random((*shape, 2))], -1)

    return (
        rng.normal(size=(images, queries, classes)),
        some(images, queries),
        offset,
        rng.integers(0, classes, total),
        some(total),
        zeros((total, queries)),
        zeros(total, np.int32),
    )


@program("what it costs to match boxes to boxes, class, distance, shared area", boxes, 4, 96)
def matching_costs(logit, box, offset, kind, truth, cost, best):
    images, queries, _ = logit.shape
    for b in range(images):
        for t in range(offset[b], offset[b + 1]):
            tx0 = truth[t, 0] - 0.5 * truth[t, 2]
            ty0 = truth[t, 1] - 0.5 * truth[t, 3]
            tx1 = truth[t, 0] + 0.5 * truth[t, 2]
            ty1 = truth[t, 1] + 0.5 * truth[t, 3]
            for q in range(queries):
                p = 1.0 / (1.0 + math.exp(-logit[b, q, kind[t]]))
                yes = 0.25 * (1.0 - p) ** 2 * -math.log(p + 1e-8)
                no = 0.75 * p**2 * -math.log(1.0 - p + 1e-8)
                far = 0.0
                for k in range(4):
                    far += abs(box[b, q, k] - truth[t, k])
                x0 = box[b, q, 0] - 0.5 * box[b, q, 2]
                y0 = box[b, q, 1] - 0.5 * box[b, q, 3]
                x1 = box[b, q, 0] + 0.5 * box[b, q, 2]
                y1 = box[b, q, 1] + 0.5 * box[b, q, 3]
                shared = max(min(x1, tx1) - max(x0, tx0), 0.0) * max(min(y1, ty1) - max(y0, ty0), 0.0)
                union = (x1 - x0) * (y1 - y0) + (tx1 - tx0) * (ty1 - ty0) - shared
                hull = (max(x1, tx1) - min(x0, tx0)) * (max(y1, ty1) - min(y0, ty0))
                likeness = shared / union - (hull - union) / hull
                cost[t, q] = 2.0 * (yes - no) + 5.0 * far - 2.0 * likeness
            at = 0
            for q in range(1, queries):
                if cost[t, q] < cost[t, at]:
                    at = q
            best[t] = at
