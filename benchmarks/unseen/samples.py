"""A quarter of a twenty-fourth set, written without a look at the recipe: draws, ranks, extremes, exposures."""

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


def daily(n):
    days = 40 if n < 1000 else 1500
    return 0.0004 + 0.01 * np.random.default_rng(2431).standard_t(4, days), n, 0.1, 5, zeros(n), zeros(n)


@program("blocks of days drawn again, their Sharpe ratios and worst falls", daily, 30, 40_000)
def drawn_blocks(daily_return, draws, fresh, seed, sharpe, fall):
    days = len(daily_return)
    for r in range(draws):
        at = 0
        total = 0.0
        squares = 0.0
        top = 0.0
        worst = 0.0
        for t in range(days):
            z = 2 * (r * days + t) + seed
            if t == 0 or (dice(z * 2654435761) + 0.5) / 4294967296.0 < fresh:
                at = dice((z + 1) * 2246822519) % days
            else:
                at += 1
                if at == days:
                    at = 0
            x = daily_return[at]
            total += x
            squares += x * x
            top = max(top, total)
            worst = max(worst, top - total)
        mean = total / days
        sharpe[r] = mean / math.sqrt(squares / days - mean * mean) * math.sqrt(252.0)
        fall[r] = worst


def genes(n):
    samples = 20 if n < 100 else 128
    rng = np.random.default_rng(2432)
    counts = rng.negative_binomial(2, 0.05, (n, samples)).astype(np.float32)
    return counts, rng.integers(0, 4, samples).astype(np.int32), 4, zeros(n), zeros((n, samples), np.float32)


@program("genes that differ between four groups, ranks with ties, Kruskal and Wallis", genes, 12, 20_000)
def kruskal(value, group, groups, h, rank):
    many, samples = value.shape
    size = np.zeros(groups, np.int64)
    for s in range(samples):
        size[group[s]] += 1
    for g in range(many):
        total = np.zeros(groups)
        ties = 0.0
        for i in range(samples):
            less = 0
            same = 0
            for j in range(samples):
                if value[g, j] < value[g, i]:
                    less += 1
                elif value[g, j] == value[g, i]:
                    same += 1
            rank[g, i] = less + 0.5 * (same + 1)
            ties += same * same - 1.0
            total[group[i]] += rank[g, i]
        s = 0.0
        for k in range(groups):
            s += total[k] * total[k] / size[k]
        s = 12.0 / (samples * (samples + 1.0)) * s - 3.0 * (samples + 1.0)
        h[g] = s / (1.0 - ties / (samples**3 - samples))


def cloud(n):
    rng = np.random.default_rng(2433)
    x = np.concatenate([rng.normal(size=(n // 2, 3)), 2.0 + 0.5 * rng.normal(size=(n - n // 2, 3))])
    return x, np.array([0.15, 0.25, 0.35, 0.5, 0.7, 1.0]), zeros(6)


@program("widths of kernels judged by leaving each point out", cloud, 40, 8192)
def left_out(x, width, score):
    n = len(x)
    for i in range(n):
        density = np.zeros(len(width))
        for j in range(n):
            if j != i:
                d = (x[i, 0] - x[j, 0]) ** 2 + (x[i, 1] - x[j, 1]) ** 2 + (x[i, 2] - x[j, 2]) ** 2
                for w in range(len(width)):
                    density[w] += math.exp(-0.5 * d / (width[w] * width[w]))
        for w in range(len(width)):
            size = (n - 1) * (width[w] * math.sqrt(2.0 * math.pi)) ** 3
            score[w] += math.log(density[w] / size + 1e-300) / n
    best = 0
    for w in range(1, len(width)):
        if score[w] > score[best]:
            best = w
    return best


def gauges(n):
    years = 25 if n < 100 else 64
    rng = np.random.default_rng(2434)
    flow = 100.0 + 30.0 * rng.gumbel(size=(n, years)) * (0.5 + rng.random((n, 1)))
    flow[rng.random((n, years)) < 0.1] = np.nan
    return flow, np.array([2.0, 10.0, 50.0, 100.0, 1000.0]), zeros((n, 3)), zeros((n, 5))


@program("floods of long return from yearly extremes, moments of sorted years", gauges, 20, 100_000)
def return_levels(flow, period, shape, level):
    stations, years = flow.shape
    for s in range(stations):
        x = np.zeros(years)
        n = 0
        for t in range(years):
            if math.isnan(flow[s, t]):
                continue
            at = n
            while at > 0 and x[at - 1] > flow[s, t]:
                x[at] = x[at - 1]
                at -= 1
            x[at] = flow[s, t]
            n += 1
        b0 = 0.0
        b1 = 0.0
        b2 = 0.0
        for i in range(n):
            b0 += x[i] / n
            b1 += x[i] * i / (n * (n - 1.0))
            b2 += x[i] * i * (i - 1.0) / (n * (n - 1.0) * (n - 2.0))
        l2 = 2.0 * b1 - b0
        skew = (6.0 * b2 - 6.0 * b1 + b0) / l2
        c = 2.0 / (3.0 + skew) - math.log(2.0) / math.log(3.0)
        k = 7.859 * c + 2.9554 * c * c
        if abs(k) < 1e-6:
            k = 1e-6
        gamma = math.gamma(1.0 + k)
        scale = l2 * k / ((1.0 - 2.0**-k) * gamma)
        place = b0 - scale * (1.0 - gamma) / k
        shape[s, 0] = place
        shape[s, 1] = scale
        shape[s, 2] = k
        for p in range(len(period)):
            y = -math.log(1.0 - 1.0 / period[p])
            level[s, p] = place + scale / k * (1.0 - y**k)


def anchors(n):
    most = 40 if n < 100 else 250
    rng = np.random.default_rng(2435)
    number = rng.integers(1, most, n)
    offset = np.append(0, np.cumsum(number))
    read = np.repeat(np.arange(n), number)
    x = rng.integers(0, 4000, len(read))
    y = np.where(rng.random(len(read)) < 0.6, x + rng.integers(-15, 15, len(read)), rng.integers(0, 4000, len(read)))
    order = np.lexsort((y, x, read))
    size = len(read)
    return (
        offset,
        x[order],
        y[order],
        15,
        40,
        500,
        zeros(size, np.int64),
        zeros(size, np.int32),
        zeros((n, 3), np.int64),
    )


@program("anchors of long reads put into chains, forty looked back upon", anchors, 20, 12_000)
def chains(offset, x, y, seed, back, far, score, before, best):
    for r in range(len(offset) - 1):
        top = -1
        for i in range(offset[r], offset[r + 1]):
            most = seed
            parent = -1
            for j in range(i - 1, max(offset[r], i - back) - 1, -1):
                dx = x[i] - x[j]
                dy = y[i] - y[j]
                if dx <= 0 or dy <= 0 or dx > far or dy > far:
                    continue
                gap = abs(dx - dy)
                s = score[j] + min(min(dx, dy), seed) - gap // 4 - (1 if gap > 0 else 0)
                if s > most:
                    most = s
                    parent = j
            score[i] = most
            before[i] = parent
            if top < 0 or most > score[top]:
                top = i
        length = 1
        i = top
        while before[i] >= 0:
            i = before[i]
            length += 1
        best[r, 0] = score[top]
        best[r, 1] = length
        best[r, 2] = x[top] - x[i] + seed


def kin(n):
    taxa = 7 if n < 100 else 40
    rng = np.random.default_rng(2436)
    place = np.cumsum(rng.exponential(size=(n, taxa, 12)), 1)
    d = np.abs(place[:, :, None] - place[:, None]).sum(3) * (1.0 + 0.1 * rng.random((n, taxa, taxa)))
    d = 0.5 * (d + d.transpose(0, 2, 1))
    return d, zeros((n, taxa - 3, 2), np.int32), zeros((n, taxa - 3, 2))


@program("trees of many resampled tables, neighbours joined", kin, 8, 4000)
def joined_neighbours(distance, join, length):
    trees, n, _ = distance.shape
    for t in range(trees):
        d = distance[t].copy()
        alive = np.ones(n, np.uint8)
        total = np.zeros(n)
        left = n
        step = 0
        while left > 3:
            for i in range(n):
                total[i] = 0.0
                if alive[i]:
                    for k in range(n):
                        if alive[k]:
                            total[i] += d[i, k]
            best = 1e300
            a = 0
            b = 0
            for i in range(n):
                if alive[i]:
                    for j in range(i + 1, n):
                        if alive[j]:
                            q = (left - 2) * d[i, j] - total[i] - total[j]
                            if q < best - 1e-7:
                                best = q
                                a = i
                                b = j
            join[t, step, 0] = a
            join[t, step, 1] = b
            length[t, step, 0] = 0.5 * d[a, b] + (total[a] - total[b]) / (2.0 * (left - 2))
            length[t, step, 1] = d[a, b] - length[t, step, 0]
            pair = d[a, b]
            for k in range(n):
                if alive[k] and k != a and k != b:
                    d[a, k] = 0.5 * (d[a, k] + d[b, k] - pair)
                    d[k, a] = d[a, k]
            alive[b] = 0
            left -= 1
            step += 1


def regions(n):
    days, lag = (30, 8) if n < 100 else (400, 20)
    rng = np.random.default_rng(2437)
    trend = np.exp(np.cumsum(0.08 * rng.normal(size=(n, days)), 1))
    weight = np.exp(-0.5 * ((np.arange(1, lag + 1) - 5.0) / 2.5) ** 2)
    cases = rng.poisson(np.minimum(20.0 * trend, 5000.0)).astype(np.int32)
    return cases, weight / weight.sum(), 7, 1.0, 5.0, zeros((n, days)), zeros((n, days)), zeros(n, np.int32)


@program("how many each case infects, weeks that slide over regions", regions, 8, 60_000)
def reproduction(cases, weight, window, a, b, mean, spread, rising):
    many, days = cases.shape
    for r in range(many):
        force = np.zeros(days)
        run = 0
        for t in range(1, days):
            s = 0.0
            for k in range(min(t, len(weight))):
                s += weight[k] * cases[r, t - 1 - k]
            force[t] = s
            if t < window:
                continue
            seen = a
            pressure = 1.0 / b
            for k in range(t - window + 1, t + 1):
                seen += cases[r, k]
                pressure += force[k]
            mean[r, t] = seen / pressure
            spread[r, t] = math.sqrt(seen) / pressure
            if mean[r, t] - 1.96 * spread[r, t] > 1.0:
                run += 1
                rising[r] = max(rising[r], run)
            else:
                run = 0


def swaps(n):
    steps = 12 if n < 1000 else 40
    rng = np.random.default_rng(2438)
    end = rng.integers(steps // 3, steps + 1, 8)
    notional = np.where(rng.random(8) < 0.5, -1.0, 1.0) * (1.0 + rng.random(8))
    return n, steps, 0.25, 0.02, 0.3, 0.03, 0.012, end, 0.02 + 0.02 * rng.random(8), notional, zeros((steps, 3))


@program("what a book of swaps may be owed, one rate, many paths", swaps, 60, 200_000)
def exposure(paths, steps, dt, start, back, level, noise, end, fixed, notional, profile):
    b = np.zeros(steps + 1)
    a = np.zeros(steps + 1)
    for k in range(steps + 1):
        tau = k * dt
        b[k] = (1.0 - math.exp(-back * tau)) / back
        a[k] = (level - noise**2 / (2.0 * back**2)) * (b[k] - tau) - noise**2 * b[k] ** 2 / (4.0 * back)
    keep = math.exp(-back * dt)
    size = noise * math.sqrt((1.0 - keep * keep) / (2.0 * back))
    for p in range(paths):
        rate = start
        discount = 1.0
        bond = np.zeros(steps + 1)
        annuity = np.zeros(steps + 1)
        for t in range(steps):
            z = p * 64 + t
            u = (dice(z * 2654435761 + 3) + 0.5) / 4294967296.0
            v = (dice(z * 2246822519 + 4) + 0.5) / 4294967296.0
            normal = math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)
            discount *= math.exp(-rate * dt)
            rate = level + (rate - level) * keep + size * normal
            left = steps - t - 1
            for k in range(1, left + 1):
                bond[k] = math.exp(a[k] - b[k] * rate)
                annuity[k] = annuity[k - 1] + dt * bond[k]
            value = 0.0
            for s in range(len(end)):
                k = end[s] - t - 1
                if k > 0:
                    value += notional[s] * (1.0 - bond[k] - fixed[s] * annuity[k])
            profile[t, 0] += max(value, 0.0) * discount / paths
            profile[t, 1] += max(-value, 0.0) * discount / paths
            profile[t, 2] += value * value / paths


def towns(n):
    rng = np.random.default_rng(2439)
    clinics = n // 20 + 2
    return (
        rng.random((n, 2)) * 100.0,
        rng.integers(100, 20_000, n).astype(np.float64),
        rng.random((clinics, 2)) * 100.0,
        rng.integers(1, 40, clinics).astype(np.float64),
        15.0,
        zeros(clinics),
        zeros(n),
    )


@program("doctors within reach of towns, shared by all who reach them", towns, 100, 40_000)
def within_reach(town, people, clinic, doctors, reach, share, access):
    for c in range(len(clinic)):
        asked = 0.0
        for t in range(len(town)):
            dx = town[t, 0] - clinic[c, 0]
            dy = town[t, 1] - clinic[c, 1]
            d = dx * dx + dy * dy
            if d < reach * reach:
                asked += people[t] * math.exp(-4.0 * d / (reach * reach))
        share[c] = doctors[c] / asked if asked > 0.0 else 0.0
    for t in range(len(town)):
        total = 0.0
        for c in range(len(clinic)):
            dx = town[t, 0] - clinic[c, 0]
            dy = town[t, 1] - clinic[c, 1]
            d = dx * dx + dy * dy
            if d < reach * reach:
                total += share[c] * math.exp(-4.0 * d / (reach * reach))
        access[t] = 1000.0 * total


@program(
    "light that small balls scatter and take, Mie's series",
    lambda n: (np.random.default_rng(2440).uniform(0.2, 15.0 if n < 100 else 60.0, n), 1.5 + 0.02j, zeros(n), zeros(n)),
    20,
    400_000,
)
def mie(size, m, extinction, scattering):
    for i in range(len(size)):
        x = size[i]
        y = m * x
        stop = int(x + 4.0 * x ** (1.0 / 3.0) + 2.0)
        first = int(max(stop, abs(y))) + 16
        d = np.zeros(first + 1, np.complex128)
        for k in range(first - 1, 0, -1):
            d[k] = (k + 1) / y - 1.0 / (d[k + 1] + (k + 1) / y)
        psi0 = math.cos(x)
        psi1 = math.sin(x)
        chi0 = -math.sin(x)
        chi1 = math.cos(x)
        out = 0.0
        taken = 0.0
        for k in range(1, stop + 1):
            psi = (2 * k - 1) * psi1 / x - psi0
            chi = (2 * k - 1) * chi1 / x - chi0
            xi = complex(psi, -chi)
            xi1 = complex(psi1, -chi1)
            da = d[k] / m + k / x
            db = d[k] * m + k / x
            a = (da * psi - psi1) / (da * xi - xi1)
            b = (db * psi - psi1) / (db * xi - xi1)
            out += (2 * k + 1) * (abs(a) ** 2 + abs(b) ** 2)
            taken += (2 * k + 1) * (a.real + b.real)
            psi0 = psi1
            psi1 = psi
            chi0 = chi1
            chi1 = chi
        scattering[i] = 2.0 * out / (x * x)
        extinction[i] = 2.0 * taken / (x * x)
