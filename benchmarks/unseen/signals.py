"""The other half of the sixth set: sounds, prices, statistics, small physics, sparse systems, pictures."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def with_gaps(n):
    """Numbers of which some are missing."""
    a = f8(n)
    a[whole(5, n) == 0] = np.nan
    return a


def lower_rows(n, degree):
    """A triangular sparse matrix with a diagonal that comes last in each row: rows, columns, values."""
    random = np.random.default_rng(8)
    columns = [np.unique(np.append(random.integers(0, i, min(i, degree)) if i else [], i)) for i in range(n)]
    starts = np.concatenate(([0], np.cumsum([len(one) for one in columns])))
    values = random.random(int(starts[-1])) + 0.5
    return starts.astype(np.int64), np.concatenate(columns).astype(np.int32), values


@program(
    "sound in 8 bits, mu-law",
    lambda n: ((whole(65536, n) - 32768).astype(np.int16), zeros(n, np.uint8)),
    100,
    3_000_000,
)
def mu_law(a, o):
    for i in range(len(a)):
        x = int(a[i])
        sign = 0
        if x < 0:
            x = -x
            sign = 128
        x = min(x, 32635) + 132
        exponent = 7
        mask = 0x4000
        while exponent > 0 and x & mask == 0:
            exponent -= 1
            mask >>= 1
        o[i] = 255 - (sign | (exponent << 4) | ((x >> (exponent + 3)) & 15))


@program(
    "sound from 4 bits, adaptive steps",
    lambda n: (whole(16, n).astype(np.uint8), np.cumsum(whole(90, 89) + 7), zeros(n, np.int16)),
    300,
    10_000_000,
)
def adpcm(codes, steps, o):
    value = 0
    at = 0
    for i in range(len(codes)):
        code = int(codes[i])
        step = steps[at]
        d = step >> 3
        if code & 4:
            d += step
        if code & 2:
            d += step >> 1
        if code & 1:
            d += step >> 2
        value = value - d if code & 8 else value + d
        value = max(-32768, min(32767, value))
        o[i] = value
        at += 2 * (code & 7) - 6 if code & 4 else -1
        at = max(0, min(88, at))


@program("tones found, Goertzel", lambda n: (f8(n), f8(40), zeros(40)), 60, 60_000)
def goertzel(a, frequency, power):
    for k in range(len(frequency)):
        c = 2.0 * math.cos(2.0 * math.pi * frequency[k])
        s1 = 0.0
        s2 = 0.0
        for i in range(len(a)):
            s = a[i] + c * s1 - s2
            s2 = s1
            s1 = s
        power[k] = s1 * s1 + s2 * s2 - c * s1 * s2


@program("linear prediction, Levinson", lambda n: (f8(n, 160), zeros((n, 11)), zeros((n, 11))), 6, 20_000)
def levinson(frames, r, a):
    order = 10
    for f in range(frames.shape[0]):
        for lag in range(order + 1):
            s = 0.0
            for i in range(frames.shape[1] - lag):
                s += frames[f, i] * frames[f, i + lag]
            r[f, lag] = s
        error = r[f, 0]
        a[f, 0] = 1.0
        for i in range(1, order + 1):
            s = r[f, i]
            for j in range(1, i):
                s += a[f, j] * r[f, i - j]
            k = -s / error
            a[f, i] = k
            for j in range(1, (i + 1) // 2):
                t = a[f, j]
                a[f, j] = t + k * a[f, i - j]
                a[f, i - j] = a[f, i - j] + k * t
            if i % 2 == 0:
                a[f, i // 2] *= 1 + k
            error *= 1.0 - k * k


@program("missing prices filled", lambda n: (with_gaps(n), zeros(n)), 300, 16_000_000)
def forward_filled(a, o):
    last = np.nan
    for i in range(len(a)):
        if not np.isnan(a[i]):
            last = a[i]
        o[i] = last


@program("relative strength, 14 days", lambda n: (f8(n), zeros(n)), 100, 2_000_000)
def strength(price, o):
    up = 0.0
    down = 0.0
    for i in range(1, len(price)):
        change = price[i] - price[i - 1]
        up = (up * 13 + max(change, 0.0)) / 14
        down = (down * 13 + max(-change, 0.0)) / 14
        o[i] = 100.0 - 100.0 / (1.0 + up / down) if down > 0 else 100.0


@program("trades with a stop", lambda n: (f8(n) + 10, zeros(n)), 300, 20_000_000)
def with_stop(price, equity):
    cash = 100.0
    held = 0.0
    entry = 0.0
    fast = price[0]
    slow = price[0]
    trades = 0
    for i in range(len(price)):
        fast += 0.2 * (price[i] - fast)
        slow += 0.05 * (price[i] - slow)
        if held == 0.0:
            if fast > slow * 1.005:
                held = cash / price[i]
                cash = 0.0
                entry = price[i]
                trades += 1
        elif price[i] < 0.96 * entry or fast < slow:
            cash = held * price[i]
            held = 0.0
        equity[i] = cash + held * price[i]
    return trades


@program("breaks of a level, CUSUM", lambda n: (f8(n), zeros(n, np.int64)), 300, 20_000_000)
def cusum(a, o):
    high = 0.0
    low = 0.0
    k = 0
    for i in range(len(a)):
        high = max(0.0, high + a[i] - 0.55)
        low = min(0.0, low + a[i] - 0.45)
        if high > 2.0 or low < -2.0:
            o[k] = i
            k += 1
            high = 0.0
            low = 0.0
    return k


@program(
    "rising fit, pools of neighbours",
    lambda n: (f8(n) + np.arange(n) / n, zeros(n), zeros(n), zeros(n)),
    240,
    10_000_000,
)
def isotonic(y, level, weight, o):
    top = 0
    for i in range(len(y)):
        level[top] = y[i]
        weight[top] = 1.0
        top += 1
        while top > 1 and level[top - 2] > level[top - 1]:
            w = weight[top - 2] + weight[top - 1]
            level[top - 2] = (level[top - 2] * weight[top - 2] + level[top - 1] * weight[top - 1]) / w
            weight[top - 2] = w
            top -= 1
    k = 0
    for i in range(top):
        for _ in range(int(weight[i])):
            o[k] = level[i]
            k += 1


@program("medians of rows by selection", lambda n: (f8(n, 101), zeros(n)), 6, 50_000)
def selected(a, o):
    for r in range(a.shape[0]):
        row = a[r].copy()
        k = len(row) // 2
        low = 0
        high = len(row) - 1
        while low < high:
            pivot = row[(low + high) // 2]
            i = low
            j = high
            while i <= j:
                while row[i] < pivot:
                    i += 1
                while row[j] > pivot:
                    j -= 1
                if i <= j:
                    row[i], row[j] = row[j], row[i]
                    i += 1
                    j -= 1
            if k <= j:
                high = j
            elif k >= i:
                low = i
            else:
                break
        o[r] = row[k]


@program(
    "means and variances by group, Welford",
    lambda n: (whole(8, n), f8(n), zeros(8), zeros(8), zeros(8)),
    300,
    20_000_000,
)
def welford(group, value, count, mean, spread):
    for i in range(len(group)):
        g = group[i]
        count[g] += 1
        d = value[i] - mean[g]
        mean[g] += d / count[g]
        spread[g] += d * (value[i] - mean[g])


@program("distances between pairs, counted", lambda n: (f8(n, 3), zeros(100, np.int64)), 30, 8_000)
def pair_distances(x, counts):
    for i in range(x.shape[0]):
        for j in range(i + 1, x.shape[0]):
            r2 = 0.0
            for d in range(3):
                u = x[i, d] - x[j, d]
                u -= round(u)
                r2 += u * u
            b = int(math.sqrt(r2) * 120)
            if b < len(counts):
                counts[b] += 2


@program("Kepler's equation", lambda n: (f8(n) * 6, f8(n) * 0.8, zeros(n)), 60, 600_000)
def kepler(mean, e, o):
    for i in range(len(mean)):
        x = mean[i]
        for _ in range(30):
            d = (x - e[i] * math.sin(x) - mean[i]) / (1.0 - e[i] * math.cos(x))
            x -= d
            if abs(d) < 1e-12:
                break
        o[i] = x


@program(
    "shallow water, 20 steps", lambda n: (f4(n, n) + 1, zeros((n, n), np.float32), zeros((n, n), np.float32)), 14, 1_000
)
def shallow(h, u, v):
    for _ in range(20):
        for i in range(h.shape[0] - 1):
            for j in range(h.shape[1] - 1):
                u[i, j] -= np.float32(0.05) * (h[i, j + 1] - h[i, j])
                v[i, j] -= np.float32(0.05) * (h[i + 1, j] - h[i, j])
        for i in range(1, h.shape[0]):
            for j in range(1, h.shape[1]):
                h[i, j] -= np.float32(0.05) * (u[i, j] - u[i, j - 1] + v[i, j] - v[i - 1, j])


@program("grains that topple", lambda n: (whole(6, n, n),), 10, 300)
def sandpile(a):
    topples = 0
    moved = True
    while moved:
        moved = False
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] >= 4:
                    moved = True
                    topples += 1
                    a[i, j] -= 4
                    if i > 0:
                        a[i - 1, j] += 1
                    if i + 1 < a.shape[0]:
                        a[i + 1, j] += 1
                    if j > 0:
                        a[i, j - 1] += 1
                    if j + 1 < a.shape[1]:
                        a[i, j + 1] += 1
    return topples


@program(
    "an illness among agents", lambda n: (f8(n), f8(n)[::-1].copy(), (whole(20, n) == 0).astype(np.int8)), 60, 3_000
)
def illness(x, y, state):
    seed = 12345
    for _ in range(5):
        for i in range(len(x)):
            if state[i] != 1:
                continue
            for j in range(len(x)):
                if state[j] == 0:
                    d = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2
                    if d < 0.002:
                        seed = (seed * 1103515245 + 12345) % 2147483648
                        if seed < 1000000000:
                            state[j] = 1
            seed = (seed * 1103515245 + 12345) % 2147483648
            if seed < 400000000:
                state[i] = 2
    return np.sum(state == 2)


@program("sparse triangular system", lambda n: (*lower_rows(n, 6), f8(n), zeros(n)), 180, 600_000)
def sparse_solve(rows, columns, values, b, x):
    for i in range(len(b)):
        s = b[i]
        for k in range(rows[i], rows[i + 1] - 1):
            s -= values[k] * x[columns[k]]
        x[i] = s / values[rows[i + 1] - 1]


@program(
    "entries sorted into rows",
    lambda n: (
        whole(n, 5 * n),
        whole(n, 5 * n)[::-1].copy(),
        f8(5 * n),
        zeros(n + 1, np.int64),
        zeros(5 * n, np.int64),
        zeros(5 * n),
    ),
    40,
    400_000,
)
def to_rows(row, column, value, starts, columns, values):
    n = len(starts) - 1
    for k in range(len(row)):
        starts[row[k] + 1] += 1
    for i in range(n):
        starts[i + 1] += starts[i]
    place = starts.copy()
    for k in range(len(row)):
        at = place[row[k]]
        columns[at] = column[k]
        values[at] = value[k]
        place[row[k]] += 1


@program(
    "a threshold after Otsu", lambda n: ((whole(256, n, n) // 2 + whole(2, n, n) * 100).astype(np.uint8),), 60, 40_000
)
def otsu(picture):
    counts = np.zeros(256, np.int64)
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            counts[picture[y, x]] += 1
    total = 0.0
    for k in range(256):
        total += k * counts[k]
    n = picture.shape[0] * picture.shape[1]
    below = 0
    sum_below = 0.0
    best = 0.0
    level = 0
    for k in range(256):
        below += counts[k]
        if below == 0 or below == n:
            continue
        sum_below += k * counts[k]
        d = sum_below / below - (total - sum_below) / (n - below)
        spread = below * (n - below) * d * d
        if spread > best:
            best = spread
            level = k
    return level


@program(
    "colours to luma and chroma",
    lambda n: (whole(256, n, n, 3).astype(np.uint8), zeros((n, n), np.uint8), zeros((n // 2, n // 2, 2), np.uint8)),
    16,
    4_000,
)
def chroma(a, luma, o):
    for y in range(a.shape[0]):
        for x in range(a.shape[1]):
            luma[y, x] = (77 * int(a[y, x, 0]) + 150 * int(a[y, x, 1]) + 29 * int(a[y, x, 2])) >> 8
    for y in range(o.shape[0]):
        for x in range(o.shape[1]):
            r = 0
            g = 0
            b = 0
            for v in range(2):
                for u in range(2):
                    r += int(a[2 * y + v, 2 * x + u, 0])
                    g += int(a[2 * y + v, 2 * x + u, 1])
                    b += int(a[2 * y + v, 2 * x + u, 2])
            o[y, x, 0] = 128 + ((128 * b - 43 * r - 85 * g) >> 10)
            o[y, x, 1] = 128 + ((128 * r - 107 * g - 21 * b) >> 10)


@program("the cheapest seam", lambda n: (f8(n, n), zeros((n, n)), zeros(n, np.int64)), 48, 25_000)
def seam(energy, cost, o):
    h, w = energy.shape
    for x in range(w):
        cost[0, x] = energy[0, x]
    for y in range(1, h):
        for x in range(w):
            best = cost[y - 1, x]
            if x > 0 and cost[y - 1, x - 1] < best:
                best = cost[y - 1, x - 1]
            if x < w - 1 and cost[y - 1, x + 1] < best:
                best = cost[y - 1, x + 1]
            cost[y, x] = energy[y, x] + best
    x = 0
    for k in range(1, w):
        if cost[h - 1, k] < cost[h - 1, x]:
            x = k
    for y in range(h - 1, -1, -1):
        o[y] = x
        if y > 0:
            at = x
            for k in range(max(0, x - 1), min(w, x + 2)):
                if cost[y - 1, k] < cost[y - 1, at]:
                    at = k
            x = at


@program("boxes that overlap left out", lambda n: (f8(n, 4), np.argsort(f8(n)), zeros(n, np.bool_)), 120, 60_000)
def suppressed(boxes, order, gone):
    kept = 0
    for a in range(len(order)):
        i = order[a]
        if gone[i]:
            continue
        kept += 1
        for b in range(a + 1, len(order)):
            j = order[b]
            if gone[j]:
                continue
            w = min(boxes[i, 0] + 0.2, boxes[j, 0] + 0.2) - max(boxes[i, 0], boxes[j, 0])
            h = min(boxes[i, 1] + 0.2, boxes[j, 1] + 0.2) - max(boxes[i, 1], boxes[j, 1])
            if w > 0 and h > 0:
                both = w * h
                if both / (0.08 - both) > 0.3:
                    gone[j] = True
    return kept
