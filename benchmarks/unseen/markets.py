"""A quarter of a twenty-first set, written without a look at the recipe: voices, incomes, genes and texts."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import program, zeros


def voice(n):
    window, lags, hop = (64, 40, 48) if n < 10_000 else (512, 300, 256)
    rng = np.random.default_rng(55)
    period = lags / 3.0 * (1.0 + 0.4 * np.sin(np.arange(n) * 6.0 / n))
    turn = np.cumsum(2.0 * np.pi / period)
    loud = np.sin(np.arange(n) * 9.0 / n) > -0.3
    x = loud * (np.sin(turn) + 0.5 * np.sin(2.0 * turn + 1.0)) + 0.1 * rng.normal(size=n)
    frames = (n - window - lags) // hop
    return x, window, lags, hop, 0.2, zeros(frames), zeros(frames), zeros(frames, np.uint8)


@program("pitch of a voice, differences made even, YIN", voice, 1800, 1_000_000)
def pitch(x, window, lags, hop, limit, period, clear, voiced):
    for f in range(len(period)):
        first = f * hop
        d = np.zeros(lags + 1)
        d[0] = 1.0
        running = 0.0
        for lag in range(1, lags + 1):
            s = 0.0
            for t in range(window):
                away = x[first + t] - x[first + t + lag]
                s += away * away
            running += s
            d[lag] = s * lag / running
        lag = 2
        while lag < lags and d[lag] >= limit:
            lag += 1
        if lag == lags:
            lag = 2
            for k in range(3, lags):
                if d[k] < d[lag]:
                    lag = k
        else:
            voiced[f] = 1
            while lag + 1 < lags and d[lag + 1] < d[lag]:
                lag += 1
        bend = d[lag - 1] - 2.0 * d[lag] + d[lag + 1]
        shift = 0.0
        if bend > 0.0:
            shift = 0.5 * (d[lag - 1] - d[lag + 1]) / bend
            shift = min(1.0, max(-1.0, shift))
        period[f] = lag + shift
        clear[f] = 1.0 - d[lag]


def band(n):
    rng = np.random.default_rng(56)
    channels, taps = 32, 8
    k = np.arange(channels * taps) - (channels * taps - 1) / 2.0
    h = np.sinc(k / channels) * np.hamming(channels * taps)
    return (
        rng.normal(size=n) + 1j * rng.normal(size=n) + 3.0 * np.exp(0.7j * np.arange(n)),
        h,
        channels,
        zeros((n // channels - taps + 1, channels)),
        zeros(channels),
    )


@program("a band split into 32 channels, branches and a transform", band, 32 * 14, 32 * 65_536)
def channels_split(x, h, channels, power, mean):
    frames = power.shape[0]
    taps = len(h) // channels
    turn = np.zeros(channels, np.complex128)
    for k in range(channels):
        turn[k] = math.cos(2.0 * math.pi * k / channels) - 1j * math.sin(2.0 * math.pi * k / channels)
    for f in range(frames):
        branch = np.zeros(channels, np.complex128)
        for p in range(channels):
            s = 0j
            for k in range(taps):
                s += h[k * channels + p] * x[(f + k) * channels + p]
            branch[p] = s
        for c in range(channels):
            s = 0j
            for p in range(channels):
                s += branch[p] * turn[c * p % channels]
            power[f, c] = s.real * s.real + s.imag * s.imag
    for c in range(channels):
        for f in range(frames):
            mean[c] += power[f, c] / frames


def incomes(g):
    rng = np.random.default_rng(57)
    count = rng.integers(0, 40 if g < 1000 else 400, g)
    count[3] = 0
    start = np.zeros(g + 1, np.int64)
    start[1:] = np.cumsum(count)
    group = np.repeat(np.arange(g), count)
    x = np.exp(rng.normal(size=len(group)) * (0.4 + 0.6 * rng.random(g)[group]))
    return start, x[np.lexsort((x, group))], zeros(g), zeros((g, 10)), zeros(g, np.int32)


@program("incomes of groups in order, curves of Lorenz and Gini", incomes, 60, 20_000)
def lorenz(start, income, gini, curve, rich):
    worst = 0.0
    for g in range(len(gini)):
        n = start[g + 1] - start[g]
        if n < 2:
            gini[g] = -1.0
            continue
        total = 0.0
        ranked = 0.0
        for k in range(n):
            total += income[start[g] + k]
            ranked += (k + 1) * income[start[g] + k]
        gini[g] = 2.0 * ranked / (n * total) - (n + 1.0) / n
        worst = max(worst, gini[g])
        sofar = 0.0
        tenth = 0
        for k in range(n):
            sofar += income[start[g] + k]
            while tenth < 10 and (k + 1) * 10 >= (tenth + 1) * n:
                curve[g, tenth] = sofar / total
                tenth += 1
        mean = total / n
        k = n - 1
        while k >= 0 and income[start[g] + k] > 2.0 * mean:
            k -= 1
        rich[g] = n - 1 - k
    return worst


def notes(n):
    factor = np.linalg.cholesky(np.array([[1.0, 0.5, 0.3], [0.5, 1.0, 0.4], [0.3, 0.4, 1.0]]))
    return factor, np.array([0.2, 0.25, 0.3]), 0.03, 0.02, 0.6, 12, zeros(n), zeros(13, np.int64)


@program("notes called when the worst of three shares stands high", notes, 1500, 1_000_000)
def called_notes(factor, sigma, rate, coupon, barrier, quarters, payoff, called):
    paths = len(payoff)
    total = 0.0
    for p in range(paths):
        level = np.zeros(3)
        normal = np.zeros(4)
        hurt = False
        paid = 0.0
        when = quarters
        worst = 1.0
        for q in range(quarters):
            for k in range(2):
                z = (p * 2654435761 + (q * 2 + k) * 7919 + 4711) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                u = ((z ^ (z >> 16)) + 0.5) / 4294967296.0
                z = (z * 1664525 + 1013904223) & 0xFFFFFFFF
                z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
                v = ((z ^ (z >> 16)) + 0.5) / 4294967296.0
                r = math.sqrt(-2.0 * math.log(u))
                normal[2 * k] = r * math.cos(2.0 * math.pi * v)
                normal[2 * k + 1] = r * math.sin(2.0 * math.pi * v)
            worst = np.inf
            for a in range(3):
                z = 0.0
                for b in range(a + 1):
                    z += factor[a, b] * normal[b]
                level[a] += 0.25 * (rate - 0.5 * sigma[a] * sigma[a]) + 0.5 * sigma[a] * z
                worst = min(worst, math.exp(level[a]))
            if worst < barrier:
                hurt = True
            if worst >= 1.0:
                paid = 1.0 + coupon * (q + 1)
                when = q + 1
                called[q] += 1
                break
        if paid == 0.0:
            called[quarters] += 1
            paid = min(1.0, worst) if hurt else 1.0
        payoff[p] = paid * math.exp(-0.25 * rate * when)
        total += payoff[p]
    return total / paths


def curves(c):
    rng = np.random.default_rng(58)
    years = np.array([0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0])
    decay = np.linspace(0.4, 5.0, 8 if c < 100 else 48)
    tau = 0.6 + 4.0 * rng.random((c, 1))
    f = (1.0 - np.exp(-years / tau)) / (years / tau)
    b = rng.normal(size=(3, c, 1)) * 0.02 + 0.03
    y = b[0] + b[1] * f + b[2] * (f - np.exp(-years / tau)) + 0.0005 * rng.normal(size=(c, 11))
    return years, decay, y, zeros((c, 3)), zeros(c, np.int32), zeros(c)


@program("curves of yields fitted, Nelson and Siegel, the best of many decays", curves, 40, 32_768)
def nelson_siegel(years, decay, rates, beta, best, error):
    m = len(years)
    for c in range(rates.shape[0]):
        error[c] = np.inf
        for d in range(len(decay)):
            a00, a01, a02, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            y0, y1, y2, yy = 0.0, 0.0, 0.0, 0.0
            for k in range(m):
                x = years[k] / decay[d]
                e = math.exp(-x)
                f = (1.0 - e) / x
                g = f - e
                y = rates[c, k]
                a00 += 1.0
                a01 += f
                a02 += g
                a11 += f * f
                a12 += f * g
                a22 += g * g
                y0 += y
                y1 += f * y
                y2 += g * y
                yy += y * y
            c0 = a11 * a22 - a12 * a12
            c1 = a12 * a02 - a01 * a22
            c2 = a01 * a12 - a11 * a02
            det = a00 * c0 + a01 * c1 + a02 * c2
            b0 = (c0 * y0 + c1 * y1 + c2 * y2) / det
            b1 = (c1 * y0 + (a00 * a22 - a02 * a02) * y1 + (a01 * a02 - a00 * a12) * y2) / det
            b2 = (c2 * y0 + (a01 * a02 - a00 * a12) * y1 + (a00 * a11 - a01 * a01) * y2) / det
            rest = 0.0
            for k in range(m):
                x = years[k] / decay[d]
                f = (1.0 - math.exp(-x)) / x
                r = rates[c, k] - b0 - b1 * f - b2 * (f - math.exp(-x))
                rest += r * r
            if rest < error[c]:
                error[c] = rest
                best[c] = d
                beta[c, 0] = b0
                beta[c, 1] = b1
                beta[c, 2] = b2


def prices(s):
    t, window = (50, 12) if s < 100 else (1000, 64)
    steps = np.random.default_rng(59).integers(-3, 4, (s, t))
    return (1000 + np.cumsum(steps, 1)).astype(np.int32), window, zeros((s, t), np.float32), zeros(s, np.int32)


@program("each day's place among the days before it, and how often it was low", prices, 16, 2048)
def rolling_places(price, window, place, low):
    rows, n = price.shape
    for s in range(rows):
        for t in range(n):
            if t < window:
                place[s, t] = -1.0
                continue
            less = 0
            equal = 0
            for k in range(t - window, t):
                if price[s, k] < price[s, t]:
                    less += 1
                elif price[s, k] == price[s, t]:
                    equal += 1
            place[s, t] = (less + 0.5 * equal) / window
            if 20 * less + 10 * equal <= window:
                low[s] += 1


def piles(r):
    length = 30 if r < 1000 else 100
    g = r * length // 20
    rng = np.random.default_rng(60)
    genome = rng.integers(0, 4, (2, g)).astype(np.uint8)
    genome[1] = np.where(rng.random(g) < 0.05, genome[1], genome[0])
    place = np.sort(rng.integers(0, g - length + 1, r)).astype(np.int32)
    read = genome[rng.integers(0, 2, r)[:, None], place[:, None] + np.arange(length)]
    quality = rng.integers(2, 41, (r, length)).astype(np.uint8)
    wrong = rng.random((r, length)) < 0.02
    read[wrong] = (read[wrong] + 1) % 4
    return place, read, quality, 10, zeros((g, 4), np.int32), zeros(g, np.int8), zeros(g, np.int32)


@program("reads piled on a genome, counts of bases and genotypes called", piles, 60, 300_000)
def genotypes(place, read, quality, least, count, call, certain):
    for r in range(read.shape[0]):
        for k in range(read.shape[1]):
            if quality[r, k] >= least:
                count[place[r] + k, read[r, k]] += 1
    different = 0
    for p in range(count.shape[0]):
        depth = 0
        for b in range(4):
            depth += count[p, b]
        if depth < 3:
            call[p] = -1
            continue
        best = -1_000_000_000
        second = -1_000_000_000
        g = 0
        for a in range(4):
            for b in range(a, 4):
                score = 0 if a == b else -30
                for c in range(4):
                    if c == a and c == b:
                        score -= count[p, c] * 1
                    elif c == a or c == b:  # noqa: SIM109
                        score -= count[p, c] * 31
                    else:
                        score -= count[p, c] * 218
                if score > best:
                    second = best
                    best = score
                    call[p] = g
                elif score > second:
                    second = score
                g += 1
        certain[p] = best - second
        if call[p] != 0 and call[p] != 4 and call[p] != 7 and call[p] != 9:
            different += 1
    return different


def relatives(n):
    length = 50 if n < 100 else 603
    rng = np.random.default_rng(61)
    s = np.repeat(rng.integers(0, 4, (1, length)), n, 0)
    for _ in range(3):
        change = rng.random(s.shape) < 0.06
        s = np.where(change, rng.integers(0, 4, s.shape), s)
    s[rng.random(s.shape) < 0.03] = 4
    return s.astype(np.uint8), zeros((n, n)), zeros(n)


@program("distances of sequences after Kimura, gaps left out", relatives, 30, 1024)
def kimura(sequence, distance, nearest):
    n, length = sequence.shape
    for i in range(n):
        for j in range(i + 1, n):
            valid = 0
            within = 0
            across = 0
            for k in range(length):
                a = sequence[i, k]
                b = sequence[j, k]
                if a > 3 or b > 3:
                    continue
                valid += 1
                if a == b:
                    continue
                if a >> 1 == b >> 1:
                    within += 1
                else:
                    across += 1
            d = 9.0
            if valid > 0:
                first = 1.0 - (2.0 * within + across) / valid
                second = 1.0 - 2.0 * across / valid
                if first > 0.0 and second > 0.0:
                    d = -0.5 * math.log(first * math.sqrt(second))
            distance[i, j] = d
            distance[j, i] = d
    for i in range(n):
        least = np.inf
        for j in range(n):
            if j != i:
                least = min(least, distance[i, j])
        nearest[i] = least


def prose(n):
    rng = np.random.default_rng(62)
    letters = np.frombuffer(b"etaoinshrdluEATS    ,,.!?\n-", np.uint8)
    text = letters[rng.integers(0, len(letters), n)]
    text = np.where((text > 64) & (rng.random(n) < 0.2), 32, text).astype(np.uint8)
    return (
        text,
        zeros(n // 4 + 2, np.int32),
        zeros(n // 4 + 2, np.int32),
        zeros(n // 4 + 2, np.int32),
        zeros(n // 4 + 2, np.uint8),
    )


@program("sentences of a text, their words, letters and longest word", prose, 3000, 8_000_000)
def sentences(text, words, letters, longest, capital):
    s = 0
    run = 0
    begun = False
    for i in range(len(text)):
        c = text[i]
        if (c >= 65 and c <= 90) or (c >= 97 and c <= 122):
            if not begun:
                begun = True
                if c <= 90:
                    capital[s] = 1
            if run == 0:
                words[s] += 1
            run += 1
            letters[s] += 1
            if run > longest[s]:
                longest[s] = run
        else:
            run = 0
            if begun and (c == 46 or c == 33 or c == 63):
                s += 1
                begun = False
    return s
