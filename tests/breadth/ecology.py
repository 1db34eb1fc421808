"""Ecology and earth science: populations, landscapes, rivers, weather."""

from __future__ import annotations

import numpy as np

from breadth.cases import case


@case(lambda rng: (rng.uniform(0, 5, 4), rng.uniform(0.5, 1, 4), rng.uniform(0, 0.2, (4, 4)), 0.05, 30), "dot")
def lotka_volterra(n0, growth, alpha, dt, steps):
    track = np.zeros((steps, n0.shape[0]))
    n = n0.copy()
    for t in range(steps):
        dn = n * (growth - alpha @ n)
        n += dt * dn
        n[n < 1e-6] = 0.0
        track[t, :] = n
    return track


@case(lambda rng: (rng.integers(0, 6, (7, 5)),))
def shannon_rows(counts):
    out = np.zeros(counts.shape[0])
    for i in range(counts.shape[0]):
        total = counts[i, :].sum()
        if total == 0:
            continue
        for j in range(counts.shape[1]):
            if counts[i, j] > 0:
                p = counts[i, j] / total
                out[i] -= p * np.log(p)
    return out


@case(
    lambda rng: (rng.integers(0, 9, (6, 5)).astype(np.float64),), "slice read", "reductions", "whole-array arithmetic"
)
def bray_curtis(table):
    n = table.shape[0]
    d = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1, n):
            num = np.abs(table[i] - table[j]).sum()
            den = (table[i] + table[j]).sum()
            d[i, j] = d[j, i] = num / den if den > 0 else 0.0
    return d


@case(lambda rng: (rng.uniform(0, 100, (7, 8)),), "tuple loop")
def flow_direction(dem):
    rows, cols = dem.shape
    out = np.full((rows, cols), -1, dtype=np.int8)
    for r in range(1, rows - 1):
        for c in range(1, cols - 1):
            best = 0.0
            for k, (dr, dc) in enumerate(((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))):
                dist = 1.4142135623730951 if dr != 0 and dc != 0 else 1.0
                slope = (dem[r, c] - dem[r + dr, c + dc]) / dist
                if slope > best:
                    best = slope
                    out[r, c] = k
    return out


@case(lambda rng: (np.array([1, 2, 4, 4, 5, 5]), rng.uniform(0, 1, 6)))
def accumulate_flow(receivers, rain):
    acc = rain.copy()
    for i in range(len(receivers) - 1):
        acc[receivers[i]] += acc[i]
    return acc


@case(lambda rng: (rng.integers(0, 2, (8, 8)),), "lists")
def label_patches(grid):
    labels = np.zeros(grid.shape, dtype=np.int64)
    sizes = []
    label = 0
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] == 1 and labels[i, j] == 0:
                label += 1
                labels[i, j] = label
                queue = [(i, j)]
                head = 0
                while head < len(queue):
                    y, x = queue[head]
                    head += 1
                    for dy, dx in ((0, 1), (0, -1), (1, 0), (-1, 0)):
                        yy, xx = y + dy, x + dx
                        if 0 <= yy < grid.shape[0] and 0 <= xx < grid.shape[1]:
                            if grid[yy, xx] == 1 and labels[yy, xx] == 0:
                                labels[yy, xx] = label
                                queue.append((yy, xx))
                sizes.append(len(queue))
    return labels, np.array(sizes)


@case(lambda rng: (rng.uniform(-5, 30, 365 // 5), 5.0, 30.0))
def degree_days(temperature, base, cap):
    total = 0.0
    out = np.zeros(temperature.shape)
    for d, t in enumerate(temperature):
        t = min(t, cap)
        if t > base:
            total += t - base
        out[d] = total
    return out


@case(lambda rng: (rng.uniform(0, 20, 40), rng.uniform(0, 4, 40), 100.0, 0.3))
def bucket_model(rain, pet, capacity, k):
    store = capacity / 2
    flow = np.empty_like(rain)
    for t in range(rain.size):
        store += rain[t]
        over = 0.0
        if store > capacity:
            over = store - capacity
            store = capacity
        evap = pet[t] * min(1.0, store / capacity)
        store = max(0.0, store - evap)
        base = k * store
        store -= base
        flow[t] = over + base
    return flow, store


@case(lambda rng: (rng.integers(0, 20, 12), rng.integers(0, 20, 12), 20), "sets")
def shared_species(a, b, n):
    sites_a = set()
    sites_b = set()
    for x in a:
        sites_a.add(x)
    for x in b:
        sites_b.add(x)
    shared = 0
    for x in range(n):
        if x in sites_a and x in sites_b:
            shared += 1
    return shared, len(sites_a), len(sites_b)


@case(lambda rng: (rng.uniform(0, 1, (6, 6)), 0.2, 3), "slice read", "assignment to a slice", "np.zeros_like")
def disperse(density, rate, steps):
    for _ in range(steps):
        leaving = rate * density
        incoming = np.zeros_like(density)
        incoming[1:, :] += leaving[:-1, :] / 4
        incoming[:-1, :] += leaving[1:, :] / 4
        incoming[:, 1:] += leaving[:, :-1] / 4
        incoming[:, :-1] += leaving[:, 1:] / 4
        density = density - leaving + incoming
    return density


@case(lambda rng: (rng.uniform(0.2, 0.9, 3), rng.uniform(0, 4, 4), 8), "assignment to a slice", "np.diag")
def leslie_projection(survival, fecundity, years):
    n = fecundity.size
    matrix = np.zeros((n, n))
    matrix[0, :] = fecundity
    for i in range(n - 1):
        matrix[i + 1, i] = survival[i]
    population = np.ones(n)
    totals = np.zeros(years)
    for y in range(years):
        population = matrix.dot(population)
        totals[y] = population.sum()
    return totals, population / population.sum()


@case(
    lambda rng: (rng.normal(size=(10, 3)), rng.normal(size=10), rng.normal(size=3), 2.0),
    "whole-array arithmetic",
    "argsort",
    "index arrays",
)
def inverse_distance(stations, values, target, power):
    d = np.sqrt(((stations - target) ** 2).sum(axis=1))
    near = np.argsort(d)[:4]
    w = 1.0 / d[near] ** power
    return np.sum(w * values[near]) / w.sum()


@case(lambda rng: (rng.uniform(0, 1, (5, 30)), 0.8), "any", "argmax", "slice read")
def first_exceedance(series, level):
    out = np.full(series.shape[0], -1)
    for i in range(series.shape[0]):
        above = series[i, :] > level
        if above.any():
            out[i] = np.argmax(above)
    return out


@case(lambda rng: (rng.integers(0, 3, (6, 6)), rng.uniform(size=(6, 6)), 0.3))
def fire_step(forest, draw, p):
    new = forest.copy()
    n, m = forest.shape
    for i in range(n):
        for j in range(m):
            if forest[i, j] == 2:
                new[i, j] = 0
            elif forest[i, j] == 1:
                burning = False
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        y = i + di
                        x = j + dj
                        if y < 0 or x < 0 or y >= n or x >= m:
                            continue
                        if forest[y, x] == 2:
                            burning = True
                if burning and draw[i, j] < p:
                    new[i, j] = 2
    return new
