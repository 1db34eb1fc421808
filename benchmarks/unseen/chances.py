"""A quarter of a twenty-third set, written without a look at the recipe: prices, losses, paths, tests, topics, losses
of classes."""

# The text is what users write: what a linter would have otherwise stays.
from __future__ import annotations

import math

import numpy as np

from benchmarks.unseen.program import f8, program, zeros


def dice(z):
    z &= 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    z = ((z ^ (z >> 16)) * 0x45D9F3B) & 0xFFFFFFFF
    return z ^ (z >> 16)


def baskets(n):
    assets = 5
    rng = np.random.default_rng(2331)
    a = rng.normal(size=(assets, assets + 2))
    c = a @ a.T
    size = np.sqrt(np.diag(c))
    root = np.linalg.cholesky(c / size[:, None] / size[None, :])
    strikes = np.array([80.0, 90.0, 100.0, 110.0])
    weight = np.array([0.1, 0.3, 0.2, 0.25, 0.15])
    return 100.0 * np.ones(assets), 0.15 + 0.2 * rng.random(assets), root, weight, strikes, 0.02, 1.5, n, zeros((4, 2))


@program("baskets of five that move together, each path and its mirror", baskets, 300, 3_000_000)
def basket(spot, volatility, root, weight, strike, rate, years, paths, out):
    assets = len(spot)
    total = np.zeros(len(strike))
    square = np.zeros(len(strike))
    for p in range(paths):
        z = np.zeros(assets)
        for a in range(assets):
            u = (dice(p * 2654435761 + a * 97531 + 1) + 0.5) / 4294967296.0
            v = (dice(p * 2246822519 + a * 86423 + 2) + 0.5) / 4294967296.0
            z[a] = math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)
        up = 0.0
        down = 0.0
        for a in range(assets):
            s = 0.0
            for b in range(a + 1):
                s += root[a, b] * z[b]
            drift = (rate - 0.5 * volatility[a] * volatility[a]) * years
            size = volatility[a] * math.sqrt(years)
            up += weight[a] * spot[a] * math.exp(drift + size * s)
            down += weight[a] * spot[a] * math.exp(drift - size * s)
        for k in range(len(strike)):
            pay = 0.5 * (max(up - strike[k], 0.0) + max(down - strike[k], 0.0))
            total[k] += pay
            square[k] += pay * pay
    shrink = math.exp(-rate * years)
    for k in range(len(strike)):
        mean = total[k] / paths
        out[k, 0] = shrink * mean
        out[k, 1] = shrink * math.sqrt((square[k] / paths - mean * mean) / paths)


def arrivals(n):
    rng = np.random.default_rng(2332)
    offset = np.append(0, np.cumsum(rng.integers(2, 30 if n < 100 else 500, n)))
    gap = rng.exponential(0.6, int(offset[-1]))
    when = np.cumsum(gap)
    start = np.append(0.0, when)[offset[:-1]]
    when -= np.repeat(start, np.diff(offset))
    theta = np.stack([0.5 + rng.random(n), 0.2 + 0.5 * rng.random(n), 1.0 + rng.random(n)], 1)
    return offset, when, theta, zeros(n), zeros((n, 3))


@program("events that call for more, Hawkes, likelihood and gradient of many series", arrivals, 40, 20_000)
def hawkes(offset, when, theta, likelihood, gradient):
    for s in range(len(likelihood)):
        mu, alpha, beta = theta[s, 0], theta[s, 1], theta[s, 2]
        end = when[offset[s + 1] - 1]
        r = 0.0
        dr = 0.0
        log = -mu * end
        g_mu = -end
        g_alpha = 0.0
        g_beta = 0.0
        for i in range(offset[s], offset[s + 1]):
            if i > offset[s]:
                gap = when[i] - when[i - 1]
                fade = math.exp(-beta * gap)
                dr = fade * (dr - gap * (1.0 + r))
                r = fade * (1.0 + r)
            rate = mu + alpha * beta * r
            log += math.log(rate)
            g_mu += 1.0 / rate
            g_alpha += beta * r / rate
            g_beta += alpha * (r + beta * dr) / rate
            left = math.exp(-beta * (end - when[i]))
            log -= alpha * (1.0 - left)
            g_alpha -= 1.0 - left
            g_beta -= alpha * (end - when[i]) * left
        likelihood[s] = log
        gradient[s, 0] = g_mu
        gradient[s, 1] = g_alpha
        gradient[s, 2] = g_beta


def loans(n):
    names, most = (8, 20) if n < 100 else (60, 200)
    rng = np.random.default_rng(2333)
    unit = rng.integers(1, 4, names)
    return (
        rng.uniform(0.01, 0.1, (n, names)),
        unit,
        0.3,
        np.linspace(-3.5, 3.5, 15),
        np.full(15, 1.0 / 15.0),
        most,
        zeros((n, most + 1)),
        zeros((n, 2)),
    )


@program("losses of loans in one factor, name after name, tranches", loans, 6, 2048)
def loss_recursion(default, unit, share, factor, chance, most, density, tranche):
    portfolios, names = default.shape
    for p in range(portfolios):
        for f in range(len(factor)):
            now = np.zeros(most + 1)
            now[0] = 1.0
            for k in range(names):
                d = default[p, k] * math.exp(-share * factor[f] - 0.5 * share * share)
                d = min(d, 1.0)
                for loss in range(most, -1, -1):
                    hit = now[loss - unit[k]] if loss >= unit[k] else 0.0
                    now[loss] = (1.0 - d) * now[loss] + d * hit
            for loss in range(most + 1):
                density[p, loss] += chance[f] * now[loss]
        for loss in range(most + 1):
            tranche[p, 0] += density[p, loss] * min(loss, 5)
            tranche[p, 1] += density[p, loss] * min(max(loss - 5, 0), 10)


def sorted_samples(n):
    a, b = (30, 25) if n < 100 else (700, 500)
    rng = np.random.default_rng(2334)
    return (
        np.sort(np.round(rng.normal(size=(n, a)), 2), 1),
        np.sort(np.round(rng.normal(0.1, 1.1, (n, b)), 2), 1),
        zeros(n),
        zeros(n),
        zeros(n),
    )


@program("two sorted samples walked along, Kolmogorov, Kuiper, and Cramer and von Mises", sorted_samples, 40, 50_000)
def two_samples(x, y, smirnov, kuiper, cramer):
    tests, n = x.shape
    m = y.shape[1]
    for t in range(tests):
        i = 0
        j = 0
        above = 0.0
        below = 0.0
        total = 0.0
        while i < n or j < m:
            if j == m or (i < n and x[t, i] <= y[t, j]):
                now = x[t, i]
            else:
                now = y[t, j]
            ties = 0
            while i < n and x[t, i] == now:
                i += 1
                ties += 1
            while j < m and y[t, j] == now:
                j += 1
                ties += 1
            d = i / n - j / m
            above = max(above, d)
            below = max(below, -d)
            total += ties * d * d
        smirnov[t] = max(above, below)
        kuiper[t] = above + below
        cramer[t] = total * n * m / ((n + m) * (n + m))


def regressors(n):
    t = 30 if n < 100 else 500
    rng = np.random.default_rng(2335)
    x = rng.normal(size=(t, n, 4))
    true = 1.0 + np.cumsum(0.02 * rng.normal(size=(t, n, 4)), 0)
    return x, (x * true).sum(2) + 0.3 * rng.normal(size=(t, n)), 0.98, 100.0, zeros((n, 4)), zeros((t, n))


@program("slopes that drift, least squares that forget, many at once", regressors, 12, 16_384)
def forgetting(x, y, memory, wide, slope, surprise):
    steps, series, k = x.shape
    for s in range(series):
        p = np.zeros((k, k))
        px = np.zeros(k)
        for i in range(k):
            p[i, i] = wide
        for t in range(steps):
            error = y[t, s]
            size = memory
            for i in range(k):
                error -= slope[s, i] * x[t, s, i]
                px[i] = 0.0
                for j in range(k):
                    px[i] += p[i, j] * x[t, s, j]
                size += px[i] * x[t, s, i]
            surprise[t, s] = error
            for i in range(k):
                slope[s, i] += px[i] / size * error
            for i in range(k):
                for j in range(k):
                    p[i, j] = (p[i, j] - px[i] * px[j] / size) / memory


def contracts(n):
    rng = np.random.default_rng(2336)
    return (
        80.0 + 40.0 * rng.random(n),
        80.0 + 40.0 * rng.random(n),
        0.1 + 0.4 * rng.random(n),
        0.25 + rng.random(n),
        0.03,
        15 if n < 100 else 160,
        2.0,
        zeros(n),
        zeros(n),
        zeros(n, np.int32),
    )


@program("puts on a tree of three branches, one dividend, held or taken", contracts, 12, 8192)
def trinomial(spot, strike, volatility, years, rate, steps, dividend, price, delta, first):
    for c in range(len(spot)):
        dt = years[c] / steps
        up = math.exp(volatility[c] * math.sqrt(3.0 * dt))
        drift = (rate - 0.5 * volatility[c] ** 2) * math.sqrt(dt / (12.0 * volatility[c] ** 2))
        pu, pm, pd = 1.0 / 6.0 + drift, 2.0 / 3.0, 1.0 / 6.0 - drift
        shrink = math.exp(-rate * dt)
        pays = steps // 2
        worth = dividend * math.exp(-rate * dt * pays)
        value = np.zeros(2 * steps + 1)
        log_up = math.log(up)
        for j in range(2 * steps + 1):
            value[j] = max(strike[c] - (spot[c] - worth) * math.exp((j - steps) * log_up), 0.0)
        soonest = steps
        for t in range(steps - 1, -1, -1):
            if t == 0:
                low = (spot[c] - worth) / up
                delta[c] = (value[2] - value[0]) / ((spot[c] - worth) * up - low)
            taken = 0
            owed = dividend * math.exp(-rate * dt * (pays - t)) if t <= pays else 0.0
            for j in range(2 * t + 1):
                held = shrink * (pd * value[j] + pm * value[j + 1] + pu * value[j + 2])
                now = strike[c] - (spot[c] - worth) * math.exp((j - t) * log_up) - owed
                if now > held:
                    held = now
                    taken += 1
                value[j] = held
            if taken > 0:
                soonest = t
        price[c] = value[0]
        first[c] = soonest


def documents(n):
    topics, words = (4, 30) if n < 100 else (32, 20_000)
    rng = np.random.default_rng(2337)
    offset = np.append(0, np.cumsum(rng.integers(5, 40 if n < 100 else 150, n)))
    size = int(offset[-1])
    phi = rng.random((words, topics)) ** 3 + 0.01
    phi /= phi.sum(0)
    word = rng.integers(0, words, size).astype(np.int32)
    return offset, word, phi, 0.1, 3, rng.integers(0, topics, size).astype(np.int32), zeros((n, topics), np.int32), 17


@program("topics of words drawn again, documents apart", documents, 12, 20_000)
def topics_drawn(offset, word, phi, alpha, rounds, topic, count, seed):
    topics = phi.shape[1]
    for d in range(len(offset) - 1):
        for i in range(offset[d], offset[d + 1]):
            count[d, topic[i]] += 1
        for r in range(rounds):
            for i in range(offset[d], offset[d + 1]):
                count[d, topic[i]] -= 1
                total = 0.0
                for k in range(topics):
                    total += (count[d, k] + alpha) * phi[word[i], k]
                wanted = (dice(i * 2654435761 + r * 40503 + seed) + 0.5) / 4294967296.0 * total
                new = 0
                upto = (count[d, 0] + alpha) * phi[word[i], 0]
                while upto < wanted and new < topics - 1:
                    new += 1
                    upto += (count[d, new] + alpha) * phi[word[i], new]
                topic[i] = new
                count[d, new] += 1


def scores(n):
    k = 12 if n < 100 else 200
    rng = np.random.default_rng(2338)
    return (
        rng.normal(size=(n, k)).astype(np.float32),
        rng.normal(size=(n, k)).astype(np.float32),
        zeros((n, k), np.float32),
        zeros((n, k), np.float32),
        zeros(n, np.int32),
    )


@program("shares of which many are nothing, sparsemax by a sort, and back", scores, 40, 40_000)
def sparsemax(z, dy, y, dz, support):
    rows, n = z.shape
    for r in range(rows):
        s = np.zeros(n, np.float32)
        for i in range(n):
            at = i
            while at > 0 and s[at - 1] < z[r, i]:
                s[at] = s[at - 1]
                at -= 1
            s[at] = z[r, i]
        total = 0.0
        level = 0.0
        k = 0
        for i in range(n):
            total += s[i]
            if 1.0 + (i + 1) * s[i] > total:
                k = i + 1
                level = (total - 1.0) / k
        support[r] = k
        mean = 0.0
        for i in range(n):
            y[r, i] = max(z[r, i] - level, 0.0)
            if y[r, i] > 0.0:
                mean += dy[r, i] / k
        for i in range(n):
            if y[r, i] > 0.0:
                dz[r, i] = dy[r, i] - mean


def spreads(n):
    t = 80 if n < 100 else 2000
    rng = np.random.default_rng(2339)
    z = np.zeros((t, n))
    now = np.zeros(n)
    for i in range(t):
        now = 0.95 * now + rng.normal(size=n)
        z[i] = now
    return z, 20, 1.5, 0.3, 3.5, 0.02, zeros((t, n), np.int8), zeros(n), zeros(n, np.int32)


@program("spreads traded, in far from their mean, out near it, stopped when too far", spreads, 10, 16_384)
def spread_trades(spread, window, far, near, stop, cost, held, profit, trades):
    steps, pairs = spread.shape
    for p in range(pairs):
        total = 0.0
        square = 0.0
        place = 0
        barred = 0
        for t in range(steps):
            if t > 0:
                profit[p] += place * (spread[t, p] - spread[t - 1, p])
            total += spread[t, p]
            square += spread[t, p] * spread[t, p]
            if t >= window:
                total -= spread[t - window, p]
                square -= spread[t - window, p] * spread[t - window, p]
            if t >= window - 1:
                mean = total / window
                z = (spread[t, p] - mean) / math.sqrt(max(square / window - mean * mean, 1e-9))
                old = place
                if barred > 0:
                    barred -= 1
                if place == 0:
                    if barred == 0 and z > far:
                        place = -1
                    elif barred == 0 and z < -far:
                        place = 1
                elif abs(z) > stop:
                    place = 0
                    barred = 10
                elif (place == 1 and z > -near) or (place == -1 and z < near):
                    place = 0
                if place != old:
                    profit[p] -= cost
                    trades[p] += 1
            held[t, p] = place


@program(
    "forwards whose volatility moves, SABR, paths that stop at nothing",
    lambda n: (n, 20 if n < 1000 else 120, 0.03, 0.25, 0.5, 0.6, -0.4, 0.05, f8(6) * 0.02 + 0.02, zeros(6), zeros(3)),
    60,
    400_000,
)
def sabr(paths, steps, forward, alpha, beta, nu, rho, dt, strike, value, ends):
    stopped = 0
    mean = 0.0
    square = 0.0
    for p in range(paths):
        f = forward
        a = alpha
        for t in range(steps):
            z = p * 512 + t
            u = (dice(z * 2654435761 + 11) + 0.5) / 4294967296.0
            v = (dice(z * 2246822519 + 22) + 0.5) / 4294967296.0
            size = math.sqrt(-2.0 * math.log(u))
            z1 = size * math.cos(2.0 * math.pi * v)
            z2 = size * math.sin(2.0 * math.pi * v)
            w = rho * z1 + math.sqrt(1.0 - rho * rho) * z2
            f += a * 0.2 * f**beta * math.sqrt(dt) * w
            if f <= 0.0:
                f = 0.0
                stopped += 1
                break
            a *= math.exp(-0.5 * nu * nu * dt + nu * math.sqrt(dt) * z1)
        mean += f
        square += f * f
        for k in range(len(strike)):
            value[k] += max(f - strike[k], 0.0)
    for k in range(len(strike)):
        value[k] /= paths
    ends[0] = mean / paths
    ends[1] = square / paths
    ends[2] = stopped
