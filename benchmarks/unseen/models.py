"""Half of a seventeenth set, written without a look at the recipe: learning, statistics, series, prices, samplers."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f4, f8, program, whole, zeros


def around(*shape):
    return f4(*shape) - np.float32(0.5)


def _focal(n):
    return around(n, 80) * 4, whole(81, n), 0.25, 2.0, zeros((n, 80), np.float32)


@program("easy labels count little, focal loss and its gradient", _focal, 12, 262_144)
def focal_loss(logits, label, alpha, gamma, gradient):
    n, classes = logits.shape
    total = 0.0
    for i in range(n):
        for k in range(classes):
            p = 1.0 / (1.0 + math.exp(-logits[i, k]))
            sign = 1.0
            weight = alpha
            if label[i] != k:
                p = 1.0 - p
                sign = -1.0
                weight = 1.0 - alpha
            hard = weight * (1.0 - p) ** gamma
            log_p = math.log(max(p, 1e-12))
            total -= hard * log_p
            gradient[i, k] = sign * hard * (gamma * p * log_p - (1.0 - p)) / n
    return total / n


def _response(n):
    return around(8, 64, n, n), 5, 1e-4, 0.75, 1.0, zeros((8, 64, n, n), np.float32)


@program("channels that inhibit their neighbours", _response, 4, 200)
def local_response(x, size, alpha, beta, k, out):
    batch, channels, h, w = x.shape
    for b in range(batch):
        for c in range(channels):
            for i in range(h):
                for j in range(w):
                    s = np.float32(0)
                    for m in range(max(0, c - size // 2), min(channels, c + size // 2 + 1)):
                        s += x[b, m, i, j] ** 2
                    out[b, c, i, j] = x[b, c, i, j] / (k + alpha * s / size) ** beta


def _alibi(n):
    slope = (2.0 ** -np.arange(1.0, 9.0)).astype(np.float32)
    length = np.maximum(1, whole(n + 1, 8))
    q = around(8, n, 32)
    return q, q[::-1].copy(), q * 2, slope, length, zeros((8, n, 32), np.float32)


@program("attention that fades with distance, sums as they come", _alibi, 18, 4_096)
def fading_attention(q, k, v, slope, length, out):
    heads, n, d = q.shape
    for h in range(heads):
        for i in range(n):
            top = np.float32(-1e30)
            total = np.float32(0)
            acc = np.zeros(d, dtype=np.float32)
            for j in range(min(i + 1, length[h])):
                s = np.float32(0)
                for c in range(d):
                    s += q[h, i, c] * k[h, j, c]
                s -= slope[h] * (i - j)
                new = max(top, s)
                keep = math.exp(top - new)
                p = math.exp(s - new)
                total = total * keep + p
                for c in range(d):
                    acc[c] = acc[c] * keep + p * v[h, j, c]
                top = new
            for c in range(d):
                out[h, i, c] = acc[c] / total


def _panes(n):
    q = around(n, 4, 49, 16)
    return q, q[..., ::-1].copy(), q * 2, around(4, 13, 13), zeros((n, 4, 49, 16), np.float32)


@program("attention in panes of 7 by 7, biased by place", _panes, 1, 4_096)
def pane_attention(q, k, v, bias, out):
    panes, heads, n, d = q.shape
    for w in range(panes):
        for h in range(heads):
            for i in range(n):
                score = np.zeros(n, dtype=np.float32)
                for j in range(n):
                    for c in range(d):
                        score[j] += q[w, h, i, c] * k[w, h, j, c]
                    score[j] = score[j] * 0.25 + bias[h, i // 7 - j // 7 + 6, i % 7 - j % 7 + 6]
                score = np.exp(score - score.max())
                score /= score.sum()
                for c in range(d):
                    s = np.float32(0)
                    for j in range(n):
                        s += score[j] * v[w, h, j, c]
                    out[w, h, i, c] = s


def _cuts(n):
    shape = (16, n, 256)
    return f8(*shape) - 0.5, f8(*shape)[::-1].copy(), 1.0, zeros(16), zeros(16, np.int64), zeros(16, np.int64)


@program("the best cut of each leaf, from histograms", _cuts, 6, 2_000)
def best_cuts(gradient, hessian, lam, gain, feature, cut):
    leaves, features, bins = gradient.shape
    for leaf in range(leaves):
        for f in range(features):
            g_all = 0.0
            h_all = 0.0
            for b in range(bins):
                g_all += gradient[leaf, f, b]
                h_all += hessian[leaf, f, b]
            g = 0.0
            h = 0.0
            for b in range(bins - 1):
                g += gradient[leaf, f, b]
                h += hessian[leaf, f, b]
                right = g_all - g
                score = g * g / (h + lam) + right * right / (h_all - h + lam) - g_all * g_all / (h_all + lam)
                if score > gain[leaf]:
                    gain[leaf] = score
                    feature[leaf] = f
                    cut[leaf] = b


def _forest(n):
    return f4(n, 32), whole(32, 50, 255), f4(50, 255), around(50, 256), zeros(n, np.float32)


@program("trees of a forest asked", _forest, 30, 500_000)
def forest_predict(x, feature, threshold, leaf, out):
    trees, inner = feature.shape
    for i in range(x.shape[0]):
        total = 0.0
        for t in range(trees):
            node = 0
            while node < inner:
                if x[i, feature[t, node]] > threshold[t, node]:
                    node = 2 * node + 2
                else:
                    node = 2 * node + 1
            total += leaf[t, node - inner]
        out[i] = total / trees


def _adagrad(n):
    return whole(n, n, 20), around(n, 32), around(n, 32), f4(n, 32), zeros((n, 32), np.float32), 0.1


@program("words of bags moved, sparse Adagrad", _adagrad, 60, 100_000)
def sparse_adagrad(words, gradient, table, memory, move, rate):
    n, bag = words.shape
    width = table.shape[1]
    for i in range(n):
        for j in range(bag):
            for k in range(width):
                move[words[i, j], k] += gradient[i, k] / bag
    for r in range(table.shape[0]):
        for k in range(width):
            g = move[r, k]
            if g != 0:
                memory[r, k] += g * g
                table[r, k] -= rate * g / (math.sqrt(memory[r, k]) + 1e-8)


def _nucleus(n):
    return around(n, 64 * n) * 16, 0.8, 0.9, f4(n), zeros((n, 64 * n), np.float32), zeros(n, np.int64)


@program("words drawn from the likeliest, top p", _nucleus, 8, 512)
def nucleus_sampling(logits, temperature, mass, chance, prob, word):
    rows, size = logits.shape
    for i in range(rows):
        top = np.float32(-1e30)
        for v in range(size):
            top = max(top, logits[i, v])
        total = 0.0
        for v in range(size):
            prob[i, v] = math.exp((logits[i, v] - top) / temperature)
            total += prob[i, v]
        for v in range(size):
            prob[i, v] /= total
        low = 0.0
        high = 1.0
        for _ in range(26):
            middle = 0.5 * (low + high)
            kept = 0.0
            for v in range(size):
                if prob[i, v] >= middle:
                    kept += prob[i, v]
            if kept >= mass:
                low = middle
            else:
                high = middle
        kept = 0.0
        for v in range(size):
            if prob[i, v] >= low:
                kept += prob[i, v]
        run = 0.0
        for v in range(size):
            if prob[i, v] >= low:
                run += prob[i, v]
                if run >= chance[i] * kept:
                    word[i] = v
                    break


def _bernoullis(n):
    return whole(2, n, 128).astype(np.uint8), 0.2 + 0.6 * f8(16, 128), np.full(16, 1 / 16), zeros((n, 16))


@program("a mixture of Bernoullis, one step", _bernoullis, 20, 131_072)
def bernoulli_mixture(x, mean, share, duty):
    n, d = x.shape
    kinds = share.size
    yes = np.log(mean)
    no = np.log(1 - mean)
    likelihood = 0.0
    for i in range(n):
        top = -math.inf
        for k in range(kinds):
            s = math.log(share[k])
            for j in range(d):
                if x[i, j]:
                    s += yes[k, j]
                else:
                    s += no[k, j]
            duty[i, k] = s
            top = max(top, s)
        total = 0.0
        for k in range(kinds):
            duty[i, k] = math.exp(duty[i, k] - top)
            total += duty[i, k]
        for k in range(kinds):
            duty[i, k] /= total
        likelihood += top + math.log(total)
    for k in range(kinds):
        weight = 0.0
        for i in range(n):
            weight += duty[i, k]
        share[k] = weight / n
        for j in range(d):
            s = 0.0
            for i in range(n):
                s += duty[i, k] * x[i, j]
            mean[k, j] = (s + 1.0) / (weight + 2.0)
    return likelihood / n


def _ensembles(n):
    return f4(n, 50), f4(n)[::-1].copy(), zeros(n, np.float32)


@program("forecasts of ensembles scored, CRPS", _ensembles, 20, 262_144)
def ensemble_scores(forecast, observed, score):
    n, members = forecast.shape
    for i in range(n):
        error = 0.0
        spread = 0.0
        for a in range(members):
            error += abs(forecast[i, a] - observed[i])
            for b in range(a + 1, members):
                spread += abs(forecast[i, a] - forecast[i, b])
        score[i] = error / members - spread / (members * members)


def _uneven(n):
    return np.cumsum(f8(n)), f8(n)[::-1].copy(), 20.0, zeros(n)


@program("a moving average over uneven times", _uneven, 2_000, 16_000_000)
def uneven_average(time, value, scale, out):
    level = value[0]
    out[0] = level
    for i in range(1, time.size):
        keep = math.exp(-(time[i] - time[i - 1]) / scale)
        level = keep * level + (1.0 - keep) * value[i]
        out[i] = level


def _viterbi(n):
    return around(n, 64, 8), around(8, 8), zeros((n, 64, 8), np.uint8), zeros((n, 64), np.uint8), zeros(n, np.float32)


@program("the likeliest states, Viterbi, many series", _viterbi, 4, 32_768)
def viterbi(emit, move, back, path, score):
    n, steps, states = emit.shape
    for i in range(n):
        best = np.empty(states, dtype=np.float32)
        for s in range(states):
            best[s] = emit[i, 0, s]
        for t in range(1, steps):
            following = np.empty(states, dtype=np.float32)
            for s in range(states):
                top = best[0] + move[0, s]
                where = 0
                for r in range(1, states):
                    if best[r] + move[r, s] > top:
                        top = best[r] + move[r, s]
                        where = r
                following[s] = top + emit[i, t, s]
                back[i, t, s] = where
            best[:] = following
        last = 0
        for s in range(1, states):
            if best[s] > best[last]:
                last = s
        score[i] = best[last]
        for t in range(steps - 1, -1, -1):
            path[i, t] = last
            last = back[i, t, last]


def _hampel(n):
    x = around(n)
    x[::50] *= 20
    return x, 3.0, x.copy()


@program("outliers replaced by medians, Hampel", _hampel, 800, 4_000_000)
def hampel(x, limit, out):
    found = 0
    for i in range(5, x.size - 5):
        window = np.empty(11, dtype=np.float32)
        for k in range(11):
            v = x[i - 5 + k]
            m = k
            while m > 0 and window[m - 1] > v:
                window[m] = window[m - 1]
                m -= 1
            window[m] = v
        median = window[5]
        away = np.empty(11, dtype=np.float32)
        for k in range(11):
            v = abs(window[k] - median)
            m = k
            while m > 0 and away[m - 1] > v:
                away[m] = away[m - 1]
                m -= 1
            away[m] = v
        if abs(x[i] - median) > limit * 1.4826 * away[5]:
            out[i] = median
            found += 1
    return found


def _ticks(n):
    bars = n // 20 + 1
    time = np.sort(whole(bars * 60, n))
    return time, 100 + f8(n), f8(n), *(zeros(bars) for _ in range(5)), zeros(bars, np.int64)


@program("ticks gathered into bars of a minute", _ticks, 3_000, 8_000_000)
def minute_bars(time, price, volume, first, high, low, last, sold, count):
    for i in range(time.size):
        b = time[i] // 60
        if count[b] == 0:
            first[b] = price[i]
            high[b] = price[i]
            low[b] = price[i]
        else:
            high[b] = max(high[b], price[i])
            low[b] = min(low[b], price[i])
        last[b] = price[i]
        sold[b] += volume[i]
        count[b] += 1


def _bits(n):
    return 2 * whole(2, n) - 1, 16, zeros(n // 16, np.int64)


@program("a stream of single bits decimated, sums and combs", _bits, 3_200, 8_000_000)
def cic_decimator(bits, ratio, out):
    a = 0
    b = 0
    c = 0
    old_c = 0
    old_d = 0
    old_e = 0
    for i in range(bits.size):
        a += bits[i]
        b += a
        c += b
        if i % ratio == ratio - 1:
            d = c - old_c
            e = d - old_d
            f = e - old_e
            old_c = c
            old_d = d
            old_e = e
            out[i // ratio] = f


def _gates(n):
    return around(n, 24, 144), around(48, 144) * np.float32(0.5), zeros((n, 24, 48), np.float32)


@program("gated units over series, hidden 48", _gates, 2, 2_048)
def gru(gate, weight, out):
    n, steps, _ = gate.shape
    size = weight.shape[0]
    for i in range(n):
        h = np.zeros(size, dtype=np.float32)
        for t in range(steps):
            sums = np.zeros(3 * size, dtype=np.float32)
            for k in range(size):
                for j in range(3 * size):
                    sums[j] += h[k] * weight[k, j]
            for j in range(size):
                r = 1.0 / (1.0 + math.exp(-(gate[i, t, j] + sums[j])))
                z = 1.0 / (1.0 + math.exp(-(gate[i, t, size + j] + sums[size + j])))
                c = math.tanh(gate[i, t, 2 * size + j] + r * sums[2 * size + j])
                h[j] = (1.0 - z) * c + z * h[j]
                out[i, t, j] = h[j]


def _implied(n):
    spot = 80 + 40 * f8(n)
    return spot, np.maximum(spot - 95, 0) + 2 + 6 * f8(n)[::-1], 100.0, 0.5, zeros(n), zeros(n, np.int32)


@program("volatilities implied by prices, Newton kept in bounds", _implied, 300, 4_000_000)
def implied_volatility(spot, price, strike, years, out, used):
    for i in range(spot.size):
        low = 1e-4
        high = 4.0
        sigma = 0.4
        rounds = 0
        while rounds < 40:
            rounds += 1
            width = sigma * math.sqrt(years)
            d1 = math.log(spot[i] / strike) / width + 0.5 * width
            d2 = d1 - width
            value = 0.5 * spot[i] * (1 + math.erf(d1 / math.sqrt(2))) - 0.5 * strike * (1 + math.erf(d2 / math.sqrt(2)))
            error = value - price[i]
            if abs(error) < 1e-9:
                break
            if error > 0:
                high = sigma
            else:
                low = sigma
            vega = spot[i] * math.sqrt(years / (2 * math.pi)) * math.exp(-0.5 * d1 * d1)
            sigma = sigma - error / vega if vega > 1e-12 else -1.0
            if sigma <= low or sigma >= high:
                sigma = 0.5 * (low + high)
        out[i] = sigma
        used[i] = rounds


def _paths(n):
    step = np.random.default_rng(7).normal(0.0, 0.04, (50, n))
    return np.exp(np.cumsum(step, 0)), 1.05, 0.999, zeros(n)


@program("American options, regressions over paths", _paths, 60, 262_144)
def regressed_options(spot, strike, discount, value):
    steps, n = spot.shape
    for p in range(n):
        value[p] = max(strike - spot[steps - 1, p], 0.0)
    for t in range(steps - 2, -1, -1):
        m = np.zeros((3, 4))
        for p in range(n):
            value[p] *= discount
            x = spot[t, p]
            if x < strike:
                for a in range(3):
                    for b in range(3):
                        m[a, b] += x ** (a + b)
                    m[a, 3] += x**a * value[p]
        if m[0, 0] < 8:
            continue
        for a in range(3):
            for r in range(3):
                if r != a:
                    factor = m[r, a] / m[a, a]
                    for c in range(a, 4):
                        m[r, c] -= factor * m[a, c]
        for p in range(n):
            x = spot[t, p]
            if x < strike:
                kept = m[0, 3] / m[0, 0] + m[1, 3] / m[1, 1] * x + m[2, 3] / m[2, 2] * x * x
                if strike - x > kept:
                    value[p] = strike - x
    total = 0.0
    for p in range(n):
        total += value[p]
    return total / n


def _small(n):
    return f8(n, 8, 6), zeros((n, 6))


@program("singular values of many, columns turned by Jacobi", _small, 5, 400_000)
def singular_values(matrix, out):
    n, rows, columns = matrix.shape
    for i in range(n):
        a = matrix[i].copy()
        for _sweep in range(8):
            for p in range(columns - 1):
                for q in range(p + 1, columns):
                    alpha = 0.0
                    beta = 0.0
                    gamma = 0.0
                    for r in range(rows):
                        alpha += a[r, p] * a[r, p]
                        beta += a[r, q] * a[r, q]
                        gamma += a[r, p] * a[r, q]
                    if abs(gamma) > 1e-14 * math.sqrt(alpha * beta):
                        zeta = (beta - alpha) / (2.0 * gamma)
                        t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                        c = 1.0 / math.sqrt(1.0 + t * t)
                        s = c * t
                        for r in range(rows):
                            keep = a[r, p]
                            a[r, p] = c * keep - s * a[r, q]
                            a[r, q] = s * keep + c * a[r, q]
        values = np.sqrt((a * a).sum(axis=0))
        for k in range(columns):
            place = 0
            for m in range(columns):
                if values[m] > values[k] or (values[m] == values[k] and m < k):
                    place += 1
            out[i, place] = values[k]


def _hamilton(n):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(100, 8))
    y = (x @ np.linspace(-1, 1, 8) + rng.normal(size=100) > 0).astype(np.float64)
    return x, y, zeros((n, 8)), rng.normal(size=(4, n, 8)), f8(4, n), 0.1, 6, zeros(n, np.int64)


@program("chains of a Hamiltonian sampler, leapfrog", _hamilton, 2, 16_384)
def hamiltonian_chains(x, y, place, kick, chance, dt, leaps, taken):
    rows, d = x.shape
    rounds, chains = chance.shape
    for c in range(chains):
        for s in range(rounds):
            q = place[c].copy()
            p = kick[s, c].copy()
            before = 0.0
            after = 0.0
            for leap in range(leaps + 1):
                slope = q.copy()
                energy = 0.5 * (q * q).sum()
                for i in range(rows):
                    z = 0.0
                    for k in range(d):
                        z += x[i, k] * q[k]
                    energy += max(z, 0.0) + math.log(1.0 + math.exp(-abs(z))) - y[i] * z
                    g = 1.0 / (1.0 + math.exp(-z)) - y[i]
                    for k in range(d):
                        slope[k] += g * x[i, k]
                if leap == 0:
                    before = energy + 0.5 * (p * p).sum()
                    p -= 0.5 * dt * slope
                elif leap < leaps:
                    p -= dt * slope
                else:
                    p -= 0.5 * dt * slope
                    after = energy + 0.5 * (p * p).sum()
                if leap < leaps:
                    q += dt * p
            if chance[s, c] < math.exp(min(0.0, before - after)):
                place[c] = q
                taken[c] += 1
