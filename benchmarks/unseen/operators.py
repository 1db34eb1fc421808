"""Half of a nineteenth set, written without a look at the recipe: layers, steps of training, tables and tensors."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def around(seed, *shape):
    """Numbers about nought, in float32."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def _packed(n):
    angle = np.arange(n)[:, None] / 10_000.0 ** (np.arange(32) / 32)
    turn = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    outputs = (zeros((4, 16, n, 64), np.float32) for _ in range(3))
    return around(1, 4, n, 3 * 16 * 64), 1 + f4(64), 1 - f4(64) / 2, *turn, *outputs


@program("queries and keys normed by head, then turned", _packed, 5, 8_192)
def heads_of_tokens(packed, scale_q, scale_k, cos, sin, q, k, v):
    batch, heads, tokens, d = q.shape
    half = d // 2
    for b in range(batch):
        for t in range(tokens):
            for h in range(heads):
                sum_q = np.float32(0)
                sum_k = np.float32(0)
                for j in range(d):
                    sum_q += packed[b, t, h * d + j] ** 2
                    sum_k += packed[b, t, (heads + h) * d + j] ** 2
                norm_q = 1.0 / math.sqrt(sum_q / d + 1e-6)
                norm_k = 1.0 / math.sqrt(sum_k / d + 1e-6)
                for j in range(half):
                    c = cos[t, j]
                    s = sin[t, j]
                    low = packed[b, t, h * d + j] * norm_q * scale_q[j]
                    high = packed[b, t, h * d + j + half] * norm_q * scale_q[j + half]
                    q[b, h, t, j] = low * c - high * s
                    q[b, h, t, j + half] = high * c + low * s
                    low = packed[b, t, (heads + h) * d + j] * norm_k * scale_k[j]
                    high = packed[b, t, (heads + h) * d + j + half] * norm_k * scale_k[j + half]
                    k[b, h, t, j] = low * c - high * s
                    k[b, h, t, j + half] = high * c + low * s
                for j in range(d):
                    v[b, h, t, j] = packed[b, t, (2 * heads + h) * d + j]


def _projected(n):
    return around(2, 4 * n, n), 1 + f4(n), around(3, n, n + 8), zeros((4 * n, n + 8), np.float32)


@program("RMS norm, then a product", _projected, 24, 1_024)
def normed_product(x, scale, weight, out):
    rows, width = x.shape
    for i in range(rows):
        squares = 0.0
        for k in range(width):
            squares += x[i, k] * x[i, k]
        r = 1.0 / math.sqrt(squares / width + 1e-5)
        for j in range(weight.shape[1]):
            s = np.float32(0)
            for k in range(width):
                s += x[i, k] * scale[k] * weight[k, j]
            out[i, j] = r * s


def _gated(n):
    scale = np.float32(1 / math.sqrt(n))
    wide = around(4, n, 2 * n) * scale, around(5, n, 2 * n) * scale, around(6, 2 * n, n) * scale
    return around(7, 4 * n, n), *wide, zeros((4 * n, 2 * n), np.float32), zeros((4 * n, n), np.float32)


@program("a gated feed-forward layer, SwiGLU", _gated, 14, 768)
def gated_layer(x, gate, up, down, hidden, out):
    rows, width = x.shape
    inner = gate.shape[1]
    for i in range(rows):
        for j in range(inner):
            g = np.float32(0)
            u = np.float32(0)
            for k in range(width):
                g += x[i, k] * gate[k, j]
                u += x[i, k] * up[k, j]
            hidden[i, j] = g / (1 + math.exp(-g)) * u
    for i in range(rows):
        for j in range(width):
            s = np.float32(0)
            for k in range(inner):
                s += hidden[i, k] * down[k, j]
            out[i, j] = s


def _groups(n):
    return around(8, 8, 32, n, n), around(9, 64, 8, 3, 3), f4(64), 2, zeros((8, 64, n, n), np.float32)


@program("convolution in four groups, dilated", _groups, 3, 320)
def grouped_convolution(x, w, bias, dilation, out):
    batch, outputs, height, width = out.shape
    inputs = w.shape[1]
    size = outputs // 4
    for b in range(batch):
        for o in range(outputs):
            group = o // size
            for i in range(height):
                for j in range(width):
                    s = bias[o]
                    for c in range(inputs):
                        for di in range(3):
                            y = i + (di - 1) * dilation
                            if y < 0 or y >= height:
                                continue
                            for dj in range(3):
                                z = j + (dj - 1) * dilation
                                if z < 0 or z >= width:
                                    continue
                                s += x[b, group * inputs + c, y, z] * w[o, c, di, dj]
                    out[b, o, i, j] = s


def _modern(n):
    return around(10, 4, n, n, 96), around(11, 7, 7, 96), f4(96), 1 + f4(96), zeros((4, n, n, 96), np.float32)


@program("depthwise 7 by 7, then a norm over channels", _modern, 4, 224)
def depthwise_and_norm(x, w, shift, scale, out):
    batch, height, width, channels = x.shape
    for b in range(batch):
        for i in range(height):
            for j in range(width):
                sums = np.zeros(channels, dtype=np.float32)
                for di in range(max(0, 3 - i), min(7, height + 3 - i)):
                    for dj in range(max(0, 3 - j), min(7, width + 3 - j)):
                        for c in range(channels):
                            sums[c] += x[b, i + di - 3, j + dj - 3, c] * w[di, dj, c]
                mean = 0.0
                for c in range(channels):
                    mean += sums[c]
                mean /= channels
                spread = 0.0
                for c in range(channels):
                    spread += (sums[c] - mean) ** 2
                r = 1.0 / math.sqrt(spread / channels + 1e-6)
                for c in range(channels):
                    out[b, i, j, c] = (sums[c] - mean) * r * scale[c] + shift[c]


def _dynamic(n):
    weight = (whole(255, n, n) - 127).astype(np.int8)
    return around(12, 4 * n, n), weight, f4(n) / 127, zeros((4 * n, n), np.int8), zeros((4 * n, n), np.float32)


@program("rows rounded to bytes as they come, multiplied", _dynamic, 24, 1_536)
def dynamic_product(x, weight, scale, rounded, out):
    rows, width = x.shape
    for i in range(rows):
        top = np.float32(0)
        for k in range(width):
            top = max(top, abs(x[i, k]))
        step = top / 127
        for k in range(width):
            rounded[i, k] = math.floor(x[i, k] / step + np.float32(0.5))
        for j in range(weight.shape[1]):
            total = 0
            for k in range(width):
                total += int(rounded[i, k]) * int(weight[k, j])
            out[i, j] = total * step * scale[j]


def _captions(n):
    return around(13, n, 64), around(14, n, 64), 10.0, zeros((n, n), np.float32)


@program("pictures and captions told apart, both ways, gradient", _captions, 40, 4_000)
def contrasted(picture, caption, heat, gradient):
    n, d = picture.shape
    lengths = np.zeros((2, n))
    for i in range(n):
        for k in range(d):
            lengths[0, i] += picture[i, k] ** 2
            lengths[1, i] += caption[i, k] ** 2
    logits = np.zeros((n, n), dtype=np.float32)
    for i in range(n):
        for j in range(n):
            s = np.float32(0)
            for k in range(d):
                s += picture[i, k] * caption[j, k]
            logits[i, j] = heat * s / math.sqrt(lengths[0, i] * lengths[1, j])
    row = np.zeros(n)
    column = np.zeros(n)
    for i in range(n):
        for j in range(n):
            e = math.exp(logits[i, j] - heat)
            row[i] += e
            column[j] += e
    loss = 0.0
    for i in range(n):
        loss += 0.5 * (math.log(row[i]) + math.log(column[i])) + heat - logits[i, i]
        for j in range(n):
            e = math.exp(logits[i, j] - heat)
            gradient[i, j] = (e / row[i] + e / column[j]) * 0.5 / n
        gradient[i, i] -= 1.0 / n
    return loss / n


def _clipped(n):
    return around(15, n), around(16, n), around(17, n) * np.float32(0.1), f4(n), 3, 1e-3, 0.1, 1.0


@program("gradients clipped by their norm, then AdamW", _clipped, 3_000, 25_000_000)
def adamw(weight, gradient, first, second, step, rate, decay, most):
    squares = 0.0
    for i in range(gradient.size):
        squares += gradient[i] * gradient[i]
    norm = math.sqrt(squares)
    clip = min(1.0, most / (norm + 1e-6))
    bias_first = 1 - 0.9**step
    bias_second = 1 - 0.999**step
    for i in range(weight.size):
        g = gradient[i] * clip
        first[i] = 0.9 * first[i] + 0.1 * g
        second[i] = 0.999 * second[i] + 0.001 * g * g
        weight[i] -= rate * decay * weight[i]
        weight[i] -= rate * (first[i] / bias_first) / (math.sqrt(second[i] / bias_second) + 1e-8)
    return norm


def _routed(n):
    capacity = n // 8
    return (around(18, n, 16), zeros((n, 2), np.float32), zeros((n, 2), np.int32), zeros((n, 2), np.int32),
            np.full((16, capacity), -1, np.int32), zeros(16, np.int32))  # fmt: skip


@program("two experts a token, seats until they are full", _routed, 600, 500_000)
def routed_tokens(logits, weight, expert, seat, token, count):
    n, experts = logits.shape
    capacity = token.shape[1]
    for i in range(n):
        first = 0
        for e in range(1, experts):
            if logits[i, e] > logits[i, first]:
                first = e
        second = -1
        for e in range(experts):
            if e != first and (second < 0 or logits[i, e] > logits[i, second]):
                second = e
        odds = math.exp(logits[i, second] - logits[i, first])
        weight[i, 0] = 1.0 / (1.0 + odds)
        weight[i, 1] = odds / (1.0 + odds)
        expert[i, 0] = first
        expert[i, 1] = second
        for k in range(2):
            e = expert[i, k]
            s = count[e]
            count[e] += 1
            if s < capacity:
                token[e, s] = i
                seat[i, k] = s
            else:
                seat[i, k] = -1


def _hashed(n):
    return f4(n, 3), around(19, 8, 1 << (12 if n < 1_000 else 19), 2), 16.0, 1.6, zeros((n, 16), np.float32)


@program("features of a hashed grid, eight levels", _hashed, 60, 1_000_000)
def hashed_grid(point, table, base, growth, out):
    mask = table.shape[1] - 1
    for i in range(point.shape[0]):
        for level in range(table.shape[0]):
            size = math.floor(base * growth**level)
            x = point[i, 0] * size
            y = point[i, 1] * size
            z = point[i, 2] * size
            x0 = int(x)
            y0 = int(y)
            z0 = int(z)
            a = 0.0
            b = 0.0
            for corner in range(8):
                dx = corner & 1
                dy = (corner >> 1) & 1
                dz = corner >> 2
                w = x - x0 if dx == 1 else 1 - (x - x0)
                w *= y - y0 if dy == 1 else 1 - (y - y0)
                w *= z - z0 if dz == 1 else 1 - (z - z0)
                key = ((x0 + dx) ^ ((y0 + dy) * 2654435761) ^ ((z0 + dz) * 805459861)) & mask
                a += w * table[level, key, 0]
                b += w * table[level, key, 1]
            out[i, 2 * level] = a
            out[i, 2 * level + 1] = b


def _cloud(n):
    return around(20, n, 16), whole(n, n, 16), around(21, 32, 32), zeros((n, 32), np.float32)


@program("edges of a cloud of points, the greatest kept", _cloud, 14, 131_072)
def edges_of_cloud(feature, near, weight, out):
    n, width = feature.shape
    outputs = weight.shape[0]
    for i in range(n):
        for o in range(outputs):
            own = np.float32(0)
            for j in range(width):
                own += weight[o, j] * feature[i, j]
            best = np.float32(0)
            for k in range(near.shape[1]):
                s = own
                for j in range(width):
                    s += weight[o, width + j] * (feature[near[i, k], j] - feature[i, j])
                if s > best:
                    best = s
            out[i, o] = best


def _bent(n):
    return around(22, 4, 16, n, n), around(23, 4, 18, n, n), around(24, 16, 16, 3, 3), zeros((4, 16, n, n), np.float32)


def pixel(x, b, c, i, j):
    """Nought outside."""
    if i < 0 or j < 0 or i >= x.shape[2] or j >= x.shape[3]:
        return np.float32(0)
    return x[b, c, i, j]


@program("a convolution whose taps are moved by offsets", _bent, 3, 400)
def deformable(x, offset, weight, out):
    batch, channels, height, width = x.shape
    for b in range(batch):
        for i in range(height):
            for j in range(width):
                for tap in range(9):
                    y = i + tap // 3 - 1 + offset[b, 2 * tap, i, j]
                    z = j + tap % 3 - 1 + offset[b, 2 * tap + 1, i, j]
                    y0 = math.floor(y)
                    z0 = math.floor(z)
                    fy = y - y0
                    fz = z - z0
                    for c in range(channels):
                        upper = (1 - fz) * pixel(x, b, c, y0, z0) + fz * pixel(x, b, c, y0, z0 + 1)
                        lower = (1 - fz) * pixel(x, b, c, y0 + 1, z0) + fz * pixel(x, b, c, y0 + 1, z0 + 1)
                        value = (1 - fy) * upper + fy * lower
                        for o in range(weight.shape[0]):
                            out[b, o, i, j] += value * weight[o, c, tap // 3, tap % 3]


def _states(n):
    k = around(25, n, 64, 32)
    k /= np.sqrt((k * k).sum(2, keepdims=True))
    return around(26, n, 64, 32), k, around(27, n, 64, 32), f4(n, 64), zeros((n, 64, 32), np.float32)


@program("a state corrected by what it missed, delta rule", _states, 3, 4_096)
def delta_rule(q, k, v, strength, out):
    heads, steps, d = q.shape
    for h in range(heads):
        state = np.zeros((d, d), dtype=np.float32)
        for t in range(steps):
            for a in range(d):
                said = np.float32(0)
                for b in range(d):
                    said += state[a, b] * k[h, t, b]
                missed = strength[h, t] * (v[h, t, a] - said)
                s = np.float32(0)
                for b in range(d):
                    state[a, b] += missed * k[h, t, b]
                    s += state[a, b] * q[h, t, b]
                out[h, t, a] = s


def _taps(n):
    return around(28, 8, n, 512), around(29, 512, 4), f4(512), around(30, 8, 512, 3), zeros((8, n, 512), np.float32)


@program("four taps a channel, causal, state kept", _taps, 9, 8_192)
def causal_taps(x, weight, bias, state, out):
    batch, tokens, channels = x.shape
    for b in range(batch):
        for t in range(tokens):
            for c in range(channels):
                s = bias[c]
                for k in range(4):
                    past = t - 3 + k
                    s += weight[c, k] * (x[b, past, c] if past >= 0 else state[b, c, 3 + past])
                out[b, t, c] = s / (1.0 + math.exp(-s))
    for b in range(batch):
        for c in range(channels):
            for k in range(3):
                state[b, c, k] = x[b, tokens - 3 + k, c]


def _accounts(n):
    account, time = np.divmod(np.sort(whole(1_000_000 * (n // 12 + 1), n)), 1_000_000)
    outputs = (zeros(n, np.int64) for _ in range(3))
    return account, time, np.random.default_rng(31).integers(-5_000, 5_000, n), *outputs


@program("balances, numbers and gaps within accounts", _accounts, 4_000, 8_000_000)
def windows_of_accounts(account, time, amount, balance, number, gap):
    for i in range(account.size):
        if i == 0 or account[i] != account[i - 1]:
            balance[i] = amount[i]
            number[i] = 1
            gap[i] = -1
        else:
            balance[i] = balance[i - 1] + amount[i]
            number[i] = number[i - 1] + 1
            gap[i] = time[i] - time[i - 1]


def _intervals(n):
    start = 1_000 * f8(n // 2)
    stop = start + 2 * np.random.default_rng(32).random(n // 2)
    begin = 1_000 * np.random.default_rng(33).random(n)
    return np.sort(start), np.sort(stop), begin, begin + f8(n), zeros(n, np.int32)


def how_many_below(values, x, or_equal):
    """Of sorted values."""
    low = 0
    high = values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] < x or (or_equal and values[middle] == x):
            low = middle + 1
        else:
            high = middle
    return low


@program("intervals that meet each query, counted", _intervals, 1_000, 4_000_000)
def intervals_met(start, stop, begin, end, count):
    for i in range(begin.size):
        count[i] = how_many_below(start, end[i], True) - how_many_below(stop, begin[i], False)


def _sold(n):
    keys = (np.random.default_rng(34 + k).integers(0, most, n).astype(np.int32) for k, most in enumerate((12, 24, 7)))
    return *keys, f8(n), zeros((13, 25, 8)), zeros((13, 25, 8), np.int64)


@program("totals by three keys, rolled up", _sold, 2_500, 20_000_000)
def rolled_up(month, shop, day, value, total, count):
    months = total.shape[0] - 1
    shops = total.shape[1] - 1
    days = total.shape[2] - 1
    for i in range(value.size):
        m = month[i]
        s = shop[i]
        d = day[i]
        if value[i] < 0.05:
            continue
        for a in (m, months):
            for b in (s, shops):
                for c in (d, days):
                    total[a, b, c] += value[i]
                    count[a, b, c] += 1


def _integrals(n):
    return f8(n, n, n, n), np.random.default_rng(37).standard_normal((n, n - 2)), zeros((n - 2,) * 4)


@program("integrals from atoms to orbitals, index by index", _integrals, 7, 66)
def transformed_integrals(atomic, c, out):
    n, m = c.shape
    first = np.zeros((m, n, n, n))
    for p in range(m):
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    for x in range(n):
                        first[p, j, k, x] += c[i, p] * atomic[i, j, k, x]
    second = np.zeros((m, m, n, n))
    for p in range(m):
        for q in range(m):
            for j in range(n):
                for k in range(n):
                    for x in range(n):
                        second[p, q, k, x] += c[j, q] * first[p, j, k, x]
    third = np.zeros((m, m, m, n))
    for p in range(m):
        for q in range(m):
            for r in range(m):
                for x in range(n):
                    s = 0.0
                    for k in range(n):
                        s += c[k, r] * second[p, q, k, x]
                    third[p, q, r, x] = s
    for p in range(m):
        for q in range(m):
            for r in range(m):
                for t in range(m):
                    s = 0.0
                    for x in range(n):
                        s += c[x, t] * third[p, q, r, x]
                    out[p, q, r, t] = s


def _entries(n):
    place = np.random.default_rng(38).integers(0, n, (8 * n, 3)).astype(np.int32)
    return place, f4(8 * n), around(39, n, 16), around(40, n, 16), zeros((n, 16), np.float32)


@program("a sparse tensor times two matrices", _entries, 100, 400_000)
def tensor_times_matrices(place, value, b, c, out):
    for e in range(value.size):
        for r in range(out.shape[1]):
            out[place[e, 0], r] += value[e] * b[place[e, 1], r] * c[place[e, 2], r]


def _masses(n):
    potentials = zeros(n, np.float32), zeros(n + 2, np.float32)
    return f4(n, 2), around(41, n + 2, 2), 0.5 + f4(n), 0.5 + f4(n + 2), 0.1, 1.0, 8, *potentials


@program("transport in logarithms, masses that may differ", _masses, 20, 4_094)
def unbalanced_transport(x, y, mass_x, mass_y, blur, reach, rounds, f, g):
    damp = reach / (reach + blur)
    for _round in range(rounds):
        for i in range(x.shape[0]):
            top = -math.inf
            for j in range(y.shape[0]):
                cost = 0.5 * ((x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2)
                top = max(top, (g[j] - cost) / blur)
            s = 0.0
            for j in range(y.shape[0]):
                cost = 0.5 * ((x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2)
                s += mass_y[j] * math.exp((g[j] - cost) / blur - top)
            f[i] = -damp * blur * (top + math.log(s))
        for j in range(y.shape[0]):
            top = -math.inf
            for i in range(x.shape[0]):
                cost = 0.5 * ((x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2)
                top = max(top, (f[i] - cost) / blur)
            s = 0.0
            for i in range(x.shape[0]):
                cost = 0.5 * ((x[i, 0] - y[j, 0]) ** 2 + (x[i, 1] - y[j, 1]) ** 2)
                s += mass_x[i] * math.exp((f[i] - cost) / blur - top)
            g[j] = -damp * blur * (top + math.log(s))
