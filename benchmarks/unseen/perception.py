"""Part of a sixteenth set, written without a look at the recipe: what models that see, hear and read compute."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, program, whole, zeros


def signed(*shape):
    return f4(*shape) - np.float32(0.5)


def _squeeze(n):
    return signed(n, 64, 8, 8), signed(64, 16), signed(16, 64), zeros((n, 64, 8, 8), np.float32)


@program("channels weighed, squeeze and excite", _squeeze, 2, 4_000)
def squeeze_excite(x, w1, w2, out):
    n, c, h, w = x.shape
    mean = np.zeros((n, c), dtype=np.float32)
    for b in range(n):
        for k in range(c):
            total = np.float32(0)
            for i in range(h):
                for j in range(w):
                    total += x[b, k, i, j]
            mean[b, k] = total / (h * w)
    for b in range(n):
        hidden = np.zeros(16, dtype=np.float32)
        for m in range(16):
            for k in range(c):
                hidden[m] += mean[b, k] * w1[k, m]
            hidden[m] = max(hidden[m], np.float32(0))
        for k in range(c):
            gate = np.float32(0)
            for m in range(16):
                gate += hidden[m] * w2[m, k]
            gate = 1 / (1 + math.exp(-gate))
            for i in range(h):
                for j in range(w):
                    out[b, k, i, j] = x[b, k, i, j] * gate


def _linear(n):
    return f4(8, n, 32), f4(8, n, 32)[::-1].copy(), signed(8, n, 32), zeros((8, n, 32), np.float32)


@program("attention without a softmax, causal", _linear, 16, 4_096)
def linear_attention(q, k, v, out):
    heads, steps, d = q.shape
    for h in range(heads):
        state = np.zeros((d, d), dtype=np.float32)
        norm = np.zeros(d, dtype=np.float32)
        for t in range(steps):
            for i in range(d):
                norm[i] += k[h, t, i]
                for j in range(d):
                    state[i, j] += k[h, t, i] * v[h, t, j]
            bottom = np.float32(1e-6)
            for i in range(d):
                bottom += q[h, t, i] * norm[i]
            for j in range(d):
                top = np.float32(0)
                for i in range(d):
                    top += q[h, t, i] * state[i, j]
                out[h, t, j] = top / bottom


def _selective(n):
    return (
        f4(4, n, 64),
        f4(4, n, 64) * 0.1,
        -f4(64, 16),
        signed(4, n, 16),
        signed(4, n, 16),
        zeros((4, n, 64), np.float32),
    )


@program("a state that selects, scanned over time", _selective, 12, 2_048)
def selective_scan(x, delta, a, b, c, out):
    batch, steps, width = x.shape
    size = a.shape[1]
    for s in range(batch):
        for d in range(width):
            h = np.zeros(size, dtype=np.float32)
            for t in range(steps):
                y = np.float32(0)
                for m in range(size):
                    h[m] = math.exp(delta[s, t, d] * a[d, m]) * h[m] + delta[s, t, d] * b[s, t, m] * x[s, t, d]
                    y += h[m] * c[s, t, m]
                out[s, t, d] = y


def _experts(n):
    return signed(n, 64), whole(8, n), f4(n), signed(8, 64, 128), zeros((n, 128), np.float32)


@program("tokens sent to their experts", _experts, 20, 32_768)
def experts(x, chosen, gate, weight, out):
    for t in range(x.shape[0]):
        e = chosen[t]
        for j in range(weight.shape[2]):
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += x[t, k] * weight[e, k, j]
            out[t, j] = gate[t] * total


def _lora(n):
    return signed(n, 256), signed(256, 256), signed(256, 8), signed(8, 256), 2.0, zeros((n, 256), np.float32)


@program("a layer with a change of low rank", _lora, 4, 16_384)
def low_rank_layer(x, w, a, b, scale, out):
    n = x.shape[0]
    small = np.zeros((n, a.shape[1]), dtype=np.float32)
    for i in range(n):
        for r in range(a.shape[1]):
            for k in range(x.shape[1]):
                small[i, r] += x[i, k] * a[k, r]
    for i in range(n):
        for j in range(w.shape[1]):
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += x[i, k] * w[k, j]
            low = np.float32(0)
            for r in range(a.shape[1]):
                low += small[i, r] * b[r, j]
            out[i, j] = total + scale * low


def _contrast(n):
    return signed(n, 64), signed(n, 64)[::-1].copy(), 0.07


@program("pairs told from all others, loss", _contrast, 16, 4_096)
def contrastive(a, b, temperature):
    n, d = a.shape
    logits = np.zeros((n, n), dtype=np.float32)
    for i in range(n):
        for j in range(n):
            total = np.float32(0)
            for k in range(d):
                total += a[i, k] * b[j, k]
            logits[i, j] = total / temperature
    loss = 0.0
    for i in range(n):
        top = -math.inf
        for j in range(n):
            top = max(top, logits[i, j])
        total = 0.0
        for j in range(n):
            total += math.exp(logits[i, j] - top)
        loss += math.log(total) + top - logits[i, i]
    for j in range(n):
        top = -math.inf
        for i in range(n):
            top = max(top, logits[i, j])
        total = 0.0
        for i in range(n):
            total += math.exp(logits[i, j] - top)
        loss += math.log(total) + top - logits[j, j]
    return loss / (2 * n)


def _sampled(n):
    return signed(8, 16, n, n), f4(8, n, n, 2) * 2 - 1, zeros((8, 16, n, n), np.float32)


@program("features sampled on a grid, zeros outside", _sampled, 8, 256)
def grid_sample(feature, grid, out):
    batch, channels, h, w = feature.shape
    for b in range(batch):
        for y in range(grid.shape[1]):
            for x in range(grid.shape[2]):
                gx = ((grid[b, y, x, 0] + 1) * w - 1) / 2
                gy = ((grid[b, y, x, 1] + 1) * h - 1) / 2
                x0 = math.floor(gx)
                y0 = math.floor(gy)
                fx = gx - x0
                fy = gy - y0
                for c in range(channels):
                    total = 0.0
                    if 0 <= y0 < h and 0 <= x0 < w:
                        total += (1 - fy) * (1 - fx) * feature[b, c, y0, x0]
                    if 0 <= y0 < h and 0 <= x0 + 1 < w:
                        total += (1 - fy) * fx * feature[b, c, y0, x0 + 1]
                    if 0 <= y0 + 1 < h and 0 <= x0 < w:
                        total += fy * (1 - fx) * feature[b, c, y0 + 1, x0]
                    if 0 <= y0 + 1 < h and 0 <= x0 + 1 < w:
                        total += fy * fx * feature[b, c, y0 + 1, x0 + 1]
                    out[b, c, y, x] = total


def _shuffled(n):
    return signed(8, 48, n, n), signed(12), zeros((8, 12, 2 * n, 2 * n), np.float32)


@program("channels made into pixels", _shuffled, 8, 300)
def pixel_shuffle(x, bias, out):
    for b in range(out.shape[0]):
        for c in range(out.shape[1]):
            for y in range(out.shape[2]):
                for z in range(out.shape[3]):
                    out[b, c, y, z] = x[b, c * 4 + (y % 2) * 2 + z % 2, y // 2, z // 2] + bias[c]


def _window(n):
    return signed(4, n, 32), signed(4, n, 32)[::-1].copy(), signed(4, n, 32) * 2, 64, zeros((4, n, 32), np.float32)


@program("attention in a window of 64", _window, 24, 4_096)
def window_attention(q, k, v, reach, out):
    heads, n, d = q.shape
    for h in range(heads):
        for i in range(n):
            first = max(0, i - reach + 1)
            score = np.empty(reach, dtype=np.float32)
            top = np.float32(-1e30)
            for j in range(first, i + 1):
                s = np.float32(0)
                for c in range(d):
                    s += q[h, i, c] * k[h, j, c]
                score[j - first] = s
                top = max(top, s)
            total = np.float32(0)
            for j in range(first, i + 1):
                score[j - first] = math.exp(score[j - first] - top)
                total += score[j - first]
            for c in range(d):
                acc = np.float32(0)
                for j in range(first, i + 1):
                    acc += score[j - first] * v[h, j, c]
                out[h, i, c] = acc / total


def _divergence(n):
    return signed(n, 64), signed(n, 64)[::-1].copy(), signed(n, 784), f4(n, 784)


@program("loss of a variational encoder", _divergence, 4, 16_384)
def variational_loss(mean, log_variance, logits, target):
    n = mean.shape[0]
    divergence = 0.0
    for i in range(n):
        for k in range(mean.shape[1]):
            divergence += -0.5 * (1 + log_variance[i, k] - mean[i, k] ** 2 - math.exp(log_variance[i, k]))
    built = 0.0
    for i in range(n):
        for k in range(logits.shape[1]):
            z = logits[i, k]
            built += max(z, 0.0) - z * target[i, k] + math.log(1 + math.exp(-abs(z)))
    return (divergence + built) / n


def _factored(n):
    return signed(n, n), signed(n, n) * 0.01, f4(n), f4(n), 0.01


@program("weights moved with factored moments", _factored, 24, 4_096)
def adafactor(w, g, row, column, rate):
    n, m = w.shape
    for i in range(n):
        total = np.float32(0)
        for j in range(m):
            total += g[i, j] * g[i, j]
        row[i] = 0.99 * row[i] + 0.01 * total / m
    for j in range(m):
        total = np.float32(0)
        for i in range(n):
            total += g[i, j] * g[i, j]
        column[j] = 0.99 * column[j] + 0.01 * total / n
    mean = np.float32(0)
    for i in range(n):
        mean += row[i]
    mean /= n
    size = 0.0
    for i in range(n):
        for j in range(m):
            u = g[i, j] / math.sqrt(row[i] * column[j] / mean + 1e-12)
            size += u * u
    clip = max(1.0, math.sqrt(size / (n * m)))
    for i in range(n):
        for j in range(m):
            u = g[i, j] / math.sqrt(row[i] * column[j] / mean + 1e-12)
            w[i, j] -= rate * u / clip


def _codebook(n):
    return signed(n, 32), signed(256, 32)[::-1].copy(), zeros(n, np.int64), zeros(256), zeros((256, 32))


@program("vectors quantised, code words that follow", _codebook, 30, 100_000)
def vector_quantise(x, book, code, count, total):
    n, d = x.shape
    for i in range(n):
        best = np.float32(1e30)
        for c in range(book.shape[0]):
            s = np.float32(0)
            for k in range(d):
                s += (x[i, k] - book[c, k]) ** 2
            if s < best:
                best = s
                code[i] = c
    for i in range(n):
        count[code[i]] += 1
        for k in range(d):
            total[code[i], k] += x[i, k]
    for c in range(book.shape[0]):
        for k in range(d):
            book[c, k] = 0.99 * book[c, k] + 0.01 * total[c, k] / max(count[c], 1)


def _labels(n):
    return signed(n, 32, 12), signed(12, 12), whole(12, n, 32)


@program("likelihood of labels in a row, CRF", _labels, 4, 16_384)
def crf_likelihood(emit, move, label):
    n, steps, states = emit.shape
    loss = 0.0
    for b in range(n):
        alpha = np.empty(states)
        for s in range(states):
            alpha[s] = emit[b, 0, s]
        score = emit[b, 0, label[b, 0]]
        for t in range(1, steps):
            new = np.empty(states)
            for s in range(states):
                top = -1e300
                for r in range(states):
                    top = max(top, alpha[r] + move[r, s])
                total = 0.0
                for r in range(states):
                    total += math.exp(alpha[r] + move[r, s] - top)
                new[s] = top + math.log(total) + emit[b, t, s]
            alpha = new
            score += move[label[b, t - 1], label[b, t]] + emit[b, t, label[b, t]]
        top = -1e300
        for s in range(states):
            top = max(top, alpha[s])
        total = 0.0
        for s in range(states):
            total += math.exp(alpha[s] - top)
        loss += top + math.log(total) - score
    return loss / n


def _clouds(n):
    return f4(8, n, 3), f4(8, n, 3)[:, ::-1].copy() + np.float32(0.05), zeros((8, n), np.int64)


@program("clouds of points compared, Chamfer", _clouds, 24, 8_192)
def chamfer(a, b, nearest):
    batch, n, _ = a.shape
    total = 0.0
    for s in range(batch):
        for i in range(n):
            best = np.float32(1e30)
            where = 0
            for j in range(b.shape[1]):
                dx = a[s, i, 0] - b[s, j, 0]
                dy = a[s, i, 1] - b[s, j, 1]
                dz = a[s, i, 2] - b[s, j, 2]
                d = dx * dx + dy * dy + dz * dz
                if d < best:
                    best = d
                    where = j
            nearest[s, i] = where
            total += best / (batch * n)
    for s in range(batch):
        for j in range(b.shape[1]):
            best = np.float32(1e30)
            for i in range(n):
                dx = a[s, i, 0] - b[s, j, 0]
                dy = a[s, i, 1] - b[s, j, 1]
                dz = a[s, i, 2] - b[s, j, 2]
                best = min(best, dx * dx + dy * dy + dz * dz)
            total += best / (batch * n)
    return total


def _farthest(n):
    return f4(16, n, 3), zeros((16, 128), np.int64)


@program("points far from each other chosen", _farthest, 140, 16_384)
def farthest_points(points, chosen):
    batch, n, _ = points.shape
    for b in range(batch):
        distance = np.full(n, np.float32(1e30))
        last = 0
        for s in range(chosen.shape[1]):
            chosen[b, s] = last
            far = np.float32(-1)
            following = 0
            for i in range(n):
                d = np.float32(0)
                for k in range(3):
                    d += (points[b, i, k] - points[b, last, k]) ** 2
                if d < distance[i]:
                    distance[i] = d
                if distance[i] > far:
                    far = distance[i]
                    following = i
            last = following


def _volume(n):
    return signed(2, 8, n, n, n), signed(8, 8, 3, 3, 3), signed(8), zeros((2, 8, n - 2, n - 2, n - 2), np.float32)


@program("convolution of volumes, three dimensions", _volume, 5, 96)
def volume_convolution(x, w, bias, out):
    for b in range(out.shape[0]):
        for o in range(out.shape[1]):
            for z in range(out.shape[2]):
                for y in range(out.shape[3]):
                    for c in range(out.shape[4]):
                        total = bias[o]
                        for k in range(x.shape[1]):
                            for dz in range(3):
                                for dy in range(3):
                                    for dx in range(3):
                                        total += w[o, k, dz, dy, dx] * x[b, k, z + dz, y + dy, c + dx]
                        out[b, o, z, y, c] = max(total, np.float32(0))


def _style(n):
    return signed(4, 64, n, n), signed(4, 64, n, n) * f4(64, 1, 1)


@program("style of pictures, products of channels", _style, 6, 128)
def style_loss(a, b):
    batch, channels, h, w = a.shape
    loss = 0.0
    for s in range(batch):
        for i in range(channels):
            for j in range(channels):
                one = np.float32(0)
                other = np.float32(0)
                for y in range(h):
                    for x in range(w):
                        one += a[s, i, y, x] * a[s, j, y, x]
                        other += b[s, i, y, x] * b[s, j, y, x]
                d = (one - other) / (channels * h * w)
                loss += d * d
    return loss


def _pyramid(n):
    return signed(8, 32, n, n), zeros((8, 32, 1 + 4 + 16), np.float32)


@program("greatest of regions, a pyramid of pools", _pyramid, 9, 200)
def spatial_pyramid(x, out):
    batch, channels, h, w = x.shape
    for b in range(batch):
        for c in range(channels):
            at = 0
            for level in range(3):
                parts = 1 << level
                for i in range(parts):
                    for j in range(parts):
                        top = np.float32(-1e30)
                        for y in range(i * h // parts, (i + 1) * h // parts):
                            for z in range(j * w // parts, (j + 1) * w // parts):
                                top = max(top, x[b, c, y, z])
                        out[b, c, at] = top
                        at += 1


def _energies(n):
    return signed(n), 400, 160, zeros(((n - 400) // 160 + 1, 40), np.float32), f4(201, 40)


@program("energies of bands, frames of sound", _energies, 1_200, 480_000)
def mel_energies(sound, size, hop, out, bank):
    frames = out.shape[0]
    window = np.empty(size, dtype=np.float32)
    for i in range(size):
        window[i] = 0.5 - 0.5 * math.cos(2 * math.pi * i / size)
    turn_re = np.empty((201, size), dtype=np.float32)
    turn_im = np.empty((201, size), dtype=np.float32)
    for f in range(201):
        for i in range(size):
            turn_re[f, i] = math.cos(2 * math.pi * f * i / size)
            turn_im[f, i] = math.sin(2 * math.pi * f * i / size)
    power = np.empty((frames, 201), dtype=np.float32)
    for t in range(frames):
        for f in range(201):
            re = np.float32(0)
            im = np.float32(0)
            for i in range(size):
                re += window[i] * sound[t * hop + i] * turn_re[f, i]
                im += window[i] * sound[t * hop + i] * turn_im[f, i]
            power[t, f] = re * re + im * im
    for t in range(frames):
        for m in range(out.shape[1]):
            total = np.float32(1e-10)
            for f in range(201):
                total += power[t, f] * bank[f, m]
            out[t, m] = math.log(total)
