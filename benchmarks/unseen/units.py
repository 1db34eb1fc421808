"""A quarter of a twenty-third set, written without a look at the recipe: layers of odd shapes, forward and back."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import program, zeros


def clicks(n):
    rng = np.random.default_rng(2311)
    features, k = (50, 4) if n < 1000 else (200_000, 16)
    offset = np.append(0, np.cumsum(rng.integers(1, 40, n)))
    size = int(offset[-1])
    return (
        offset,
        (rng.random(size) ** 2 * features).astype(np.int32),
        rng.random(size).astype(np.float32),
        rng.integers(0, 2, n).astype(np.float32),
        (0.1 * rng.normal(size=features)).astype(np.float32),
        (0.1 * rng.normal(size=(features, k))).astype(np.float32),
        zeros(n, np.float32),
        zeros(features, np.float32),
        zeros((features, k), np.float32),
    )


@program("clicks told by a factorisation machine, sparse rows, loss and gradients", clicks, 60, 100_000)
def factorisation_machine(offset, feature, value, click, w, v, score, dw, dv):
    k = v.shape[1]
    loss = 0.0
    for i in range(len(click)):
        z = 0.0
        both = np.zeros(k, np.float32)
        for a in range(offset[i], offset[i + 1]):
            z += w[feature[a]] * value[a]
        for f in range(k):
            square = 0.0
            for a in range(offset[i], offset[i + 1]):
                t = v[feature[a], f] * value[a]
                both[f] += t
                square += t * t
            z += 0.5 * (both[f] * both[f] - square)
        score[i] = 1.0 / (1.0 + math.exp(-z))
        loss += math.log1p(math.exp(-abs(z))) + max(z, 0.0) - click[i] * z
        dz = score[i] - click[i]
        for a in range(offset[i], offset[i + 1]):
            j = feature[a]
            dw[j] += dz * value[a]
            for f in range(k):
                dv[j, f] += dz * value[a] * (both[f] - v[j, f] * value[a])
    return loss / len(click)


def paged(b):
    heads, groups, d, page, longest = (4, 2, 6, 4, 30) if b < 32 else (32, 8, 128, 16, 3000)
    rng = np.random.default_rng(2312)
    length = rng.integers(1, longest, b).astype(np.int32)
    most = longest // page + 1
    pages = b * most // 2 + most
    table = rng.permutation(pages)[:most][None, :] * np.ones((b, 1), np.int64)
    for i in range(b):
        table[i] = rng.permutation(pages)[:most]
    return (
        rng.normal(size=(b, heads, d)).astype(np.float32),
        rng.random((pages, page, groups, d), dtype=np.float32) - np.float32(0.5),
        rng.random((pages, page, groups, d), dtype=np.float32) - np.float32(0.5),
        table.astype(np.int32),
        length,
        zeros((b, heads, d), np.float32),
        zeros((b, heads), np.float32),
    )


@program("one token of each sequence attends through its table of pages", paged, 3, 64)
def paged_attention(q, keys, values, table, length, out, weight):
    batch, heads, d = q.shape
    page = keys.shape[1]
    share = heads // keys.shape[2]
    for b in range(batch):
        for h in range(heads):
            most = -np.inf
            norm = 0.0
            total = np.zeros(d, np.float32)
            for t in range(length[b]):
                at = table[b, t // page]
                s = 0.0
                for k in range(d):
                    s += q[b, h, k] * keys[at, t % page, h // share, k]
                s /= math.sqrt(d)
                if s > most:
                    shrink = math.exp(most - s)
                    norm *= shrink
                    for k in range(d):
                        total[k] *= shrink
                    most = s
                p = math.exp(s - most)
                norm += p
                for k in range(d):
                    total[k] += p * values[at, t % page, h // share, k]
            for k in range(d):
                out[b, h, k] = total[k] / norm
            weight[b, h] = most + math.log(norm)


def vocabularies(n):
    rng = np.random.default_rng(2313)
    return (
        rng.normal(size=(3, n)).astype(np.float32) * np.float32(2.0),
        rng.normal(size=(3, n)).astype(np.float32) * np.float32(2.0),
        2.0,
        zeros(3, np.float32),
        zeros((3, n), np.float32),
    )


@program("a student after a teacher, three rows of millions, warm", vocabularies, 700, 8_000_000)
def distilled(student, teacher, warmth, loss, gradient):
    rows, n = student.shape
    for r in range(rows):
        most_s = -np.inf
        most_t = -np.inf
        for i in range(n):
            most_s = max(most_s, student[r, i])
            most_t = max(most_t, teacher[r, i])
        norm_s = np.float64(0.0)
        norm_t = np.float64(0.0)
        for i in range(n):
            norm_s += math.exp((student[r, i] - most_s) / warmth)
            norm_t += math.exp((teacher[r, i] - most_t) / warmth)
        total = np.float64(0.0)
        for i in range(n):
            log_s = (student[r, i] - most_s) / warmth - math.log(norm_s)
            log_t = (teacher[r, i] - most_t) / warmth - math.log(norm_t)
            p = math.exp(log_t)
            total += p * (log_t - log_s)
            gradient[r, i] = warmth * (math.exp(log_s) - p)
        loss[r] = total * warmth * warmth


def pooled(b):
    t, h = (14, 5) if b < 32 else (400, 256)
    rng = np.random.default_rng(2314)
    return (
        rng.normal(size=(b, t, h)).astype(np.float32),
        rng.random((b, t, h)).astype(np.float32),
        rng.random((b, t, h)).astype(np.float32),
        rng.integers(1, t + 1, b).astype(np.int32),
        rng.normal(size=(b, t, h)).astype(np.float32),
        zeros((b, t, h), np.float32),
        zeros((b, t, h), np.float32),
        zeros((b, t, h), np.float32),
        zeros((b, t, h), np.float32),
        zeros((b, t, h), np.float32),
    )


@program("gates that pool along sequences of several lengths, and back", pooled, 6, 128)
def fo_pool(z, forget, gate, length, dy, state, y, dz, dforget, dgate):
    batch, _, hidden = z.shape
    for b in range(batch):
        for h in range(hidden):
            c = 0.0
            for t in range(length[b]):
                c = forget[b, t, h] * c + (1.0 - forget[b, t, h]) * z[b, t, h]
                state[b, t, h] = c
                y[b, t, h] = gate[b, t, h] * c
            dc = 0.0
            for t in range(length[b] - 1, -1, -1):
                dgate[b, t, h] = dy[b, t, h] * state[b, t, h]
                dc += dy[b, t, h] * gate[b, t, h]
                before = state[b, t - 1, h] if t > 0 else 0.0
                dforget[b, t, h] = dc * (before - z[b, t, h])
                dz[b, t, h] = dc * (1.0 - forget[b, t, h])
                dc *= forget[b, t, h]


def grouped(n):
    experts, d, h = (4, 6, 5) if n < 1000 else (32, 256, 384)
    rng = np.random.default_rng(2315)
    share = rng.random(experts) ** 2
    share[1] = 0.0
    owner = np.sort(rng.choice(experts, n, p=share / share.sum()))
    return (
        np.searchsorted(owner, np.arange(experts + 1)),
        rng.normal(size=(n, d)).astype(np.float32),
        rng.normal(size=(experts, d, h)).astype(np.float32) * np.float32(0.1),
        rng.normal(size=(n, h)).astype(np.float32),
        zeros((n, h), np.float32),
        zeros((n, d), np.float32),
        zeros((experts, d, h), np.float32),
    )


@program("tokens sorted by expert, a product for each group and its gradients", grouped, 40, 8192)
def grouped_products(offset, x, w, dy, y, dx, dw):
    experts, d, h = w.shape
    for e in range(experts):
        for i in range(offset[e], offset[e + 1]):
            for j in range(h):
                z = 0.0
                for k in range(d):
                    z += x[i, k] * w[e, k, j]
                y[i, j] = z / (1.0 + math.exp(-z))
                s = 1.0 / (1.0 + math.exp(-z))
                dz = dy[i, j] * s * (1.0 + z * (1.0 - s))
                for k in range(d):
                    dx[i, k] += dz * w[e, k, j]
                    dw[e, k, j] += dz * x[i, k]


def bytes_of_weights(n):
    rows, inputs, group = (6, 32, 8) if n < 64 else (64, 4096, 64)
    rng = np.random.default_rng(2316)
    return (
        rng.normal(size=(rows, inputs)).astype(np.float32),
        rng.integers(0, 256, (n, inputs)).astype(np.uint8),
        (0.02 * rng.random((n, inputs // group))).astype(np.float32),
        rng.integers(100, 156, (n, inputs // group)).astype(np.uint8),
        rng.normal(size=(rows, n)).astype(np.float32),
        zeros((rows, n), np.float32),
        zeros((rows, inputs), np.float32),
        zeros((n, inputs // group), np.float32),
    )


@program("weights in bytes, a zero and a scale for each group, product and back", bytes_of_weights, 12, 2048)
def byte_weights(x, weight, scale, zero, dy, y, dx, dscale):
    rows, inputs = x.shape
    outputs, groups = scale.shape
    size = inputs // groups
    for r in range(rows):
        for o in range(outputs):
            total = 0.0
            for g in range(groups):
                part = 0.0
                for k in range(g * size, (g + 1) * size):
                    part += x[r, k] * (int(weight[o, k]) - int(zero[o, g]))
                total += part * scale[o, g]
                dscale[o, g] += part * dy[r, o]
            y[r, o] = total
        for k in range(inputs):
            s = 0.0
            for o in range(outputs):
                s += dy[r, o] * scale[o, k // size] * (int(weight[o, k]) - int(zero[o, k // size]))
            dx[r, k] = s


def layers_of_weights(n):
    rng = np.random.default_rng(2317)
    layers = 5 if n < 10_000 else 60
    share = rng.random(layers) ** 4 + 0.01
    offset = np.append(0, (np.cumsum(share) / share.sum() * n).astype(np.int64))
    return (
        offset,
        rng.normal(size=n).astype(np.float32),
        rng.normal(size=n).astype(np.float32),
        rng.normal(size=n).astype(np.float32) * np.float32(0.1),
        rng.random(n).astype(np.float32),
        0.9,
        0.999,
        0.01,
        1e-3,
        7,
        zeros(layers, np.float32),
    )


@program("weights moved by layers as large as they are, LAMB", layers_of_weights, 1000, 60_000_000)
def lamb(offset, w, g, m, v, beta1, beta2, decay, rate, step, trust):
    for layer in range(len(trust)):
        size_w = np.float64(0.0)
        size_u = np.float64(0.0)
        for i in range(offset[layer], offset[layer + 1]):
            m[i] = beta1 * m[i] + (1.0 - beta1) * g[i]
            v[i] = beta2 * v[i] + (1.0 - beta2) * g[i] * g[i]
            u = m[i] / (1.0 - beta1**step) / (math.sqrt(v[i] / (1.0 - beta2**step)) + 1e-6) + decay * w[i]
            size_w += w[i] * w[i]
            size_u += u * u
        ratio = 1.0
        if size_w > 0.0 and size_u > 0.0:
            ratio = min(10.0, math.sqrt(size_w / size_u))
        trust[layer] = ratio
        for i in range(offset[layer], offset[layer + 1]):
            u = m[i] / (1.0 - beta1**step) / (math.sqrt(v[i] / (1.0 - beta2**step)) + 1e-6) + decay * w[i]
            w[i] -= rate * ratio * u


def dilated(b):
    c, o, t = (3, 4, 21) if b < 16 else (32, 48, 2048)
    rng = np.random.default_rng(2318)
    out = (t + 2) // 3
    return (
        rng.normal(size=(b, c, t)).astype(np.float32),
        rng.normal(size=(o, c, 4)).astype(np.float32) * np.float32(0.2),
        rng.normal(size=(b, o, out)).astype(np.float32),
        3,
        5,
        zeros((b, o, out), np.float32),
        zeros((b, c, t), np.float32),
        zeros((o, c, 4), np.float32),
        zeros(o, np.float32),
    )


@program("a causal convolution, stride and dilation, and its gradients", dilated, 4, 48)
def strided_dilated(x, w, dy, stride, dilation, y, dx, dw, dbias):
    batch, channels, length = x.shape
    outputs, _, taps = w.shape
    for b in range(batch):
        for o in range(outputs):
            for t in range(y.shape[2]):
                s = 0.0
                for c in range(channels):
                    for k in range(taps):
                        at = t * stride - (taps - 1 - k) * dilation
                        if at >= 0:
                            s += w[o, c, k] * x[b, c, at]
                y[b, o, t] = s
    for b in range(batch):
        for c in range(channels):
            for i in range(length):
                s = 0.0
                for k in range(taps):
                    far = i + (taps - 1 - k) * dilation
                    if far % stride == 0 and far // stride < y.shape[2]:
                        for o in range(outputs):
                            s += w[o, c, k] * dy[b, o, far // stride]
                dx[b, c, i] = s
    for o in range(outputs):
        for b in range(batch):
            for t in range(y.shape[2]):
                dbias[o] += dy[b, o, t]
                for c in range(channels):
                    for k in range(taps):
                        at = t * stride - (taps - 1 - k) * dilation
                        if at >= 0:
                            dw[o, c, k] += dy[b, o, t] * x[b, c, at]


def sinks(t):
    heads, d, window = (2, 5, 7) if t < 200 else (8, 64, 256)
    rng = np.random.default_rng(2319)
    return (
        rng.normal(size=(t, heads, d)).astype(np.float32),
        rng.normal(size=(t, heads, d)).astype(np.float32),
        rng.normal(size=(t, heads, d)).astype(np.float32),
        rng.normal(size=heads).astype(np.float32),
        window,
        4,
        zeros((t, heads, d), np.float32),
        zeros((t, heads), np.float32),
    )


@program("attention to a window, four first tokens and a drain, causal", sinks, 40, 4096)
def window_and_sinks(q, k, v, drain, window, first, out, log_norm):
    tokens, heads, d = q.shape
    for h in range(heads):
        for i in range(tokens):
            low = max(first, i - window + 1)
            most = drain[h]
            score = np.zeros(tokens, np.float32)
            for j in range(i + 1):
                if j < first or j >= low:
                    s = 0.0
                    for c in range(d):
                        s += q[i, h, c] * k[j, h, c]
                    score[j] = s / math.sqrt(d)
                    most = max(most, score[j])
            norm = math.exp(drain[h] - most)
            for j in range(i + 1):
                if j < first or j >= low:
                    p = math.exp(score[j] - most)
                    norm += p
                    for c in range(d):
                        out[i, h, c] += p * v[j, h, c]
            for c in range(d):
                out[i, h, c] /= norm
            log_norm[i, h] = most + math.log(norm)


def drafts(b):
    steps, words = (4, 30) if b < 64 else (5, 50_000)
    rng = np.random.default_rng(2320)
    p = rng.random((b, steps + 1, words), dtype=np.float32) ** 4 + np.float32(1e-6)
    q = (p[:, :steps] * (0.5 + rng.random((b, steps, words), dtype=np.float32))).astype(np.float32)
    p /= p.sum(2, keepdims=True)
    q /= q.sum(2, keepdims=True)
    return p, q, rng.integers(0, words, (b, steps)), rng.random((b, steps + 1)), zeros(b, np.int32), zeros(b, np.int64)


@program("words drafted by a small model kept or drawn again by a large one", drafts, 40, 256)
def accepted_drafts(large, small, draft, chance, kept, last):
    batch, steps, words = small.shape
    for b in range(batch):
        n = 0
        while n < steps and chance[b, n] * small[b, n, draft[b, n]] < large[b, n, draft[b, n]]:
            n += 1
        kept[b] = n
        total = np.float64(0.0)
        for w in range(words):
            rest = large[b, n, w]
            if n < steps:
                rest = max(rest - small[b, n, w], 0.0)
            total += rest
        left = chance[b, steps] * total
        at = words - 1
        for w in range(words):
            rest = large[b, n, w]
            if n < steps:
                rest = max(rest - small[b, n, w], 0.0)
            left -= rest
            if left < 0.0:
                at = w
                break
        last[b] = at
