"""The programs, with data of the statistics that matter: those of Zhang and others (ICS 2010, and Zhang's thesis of
2012, chapters 2 and 3), and further ones. Each is a function of loops, which CPython runs too; `make(n)` gives
arguments of about n iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.gpu.irregular import by_branch, by_trips, four, one_in_32, power_law
from benchmarks.mesh import grid, one, records

Arguments = tuple[Any, ...]


def uneven_reduction(starts, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            s += x[k]
        out[i] = s


def lattice_boltzmann(f, solid, cx, cy, weight, opposite, width, tau, g):
    for i in range(solid.shape[0]):
        x = i % width
        y = i // width
        height = solid.shape[0] // width
        if solid[i] != 0:
            for q in range(9):
                j = (y - cy[q] + height) % height * width + (x - cx[q] + width) % width
                g[opposite[q], i] = f[q, j]
        else:
            rho = 0.0
            ux = 0.0
            uy = 0.0
            for q in range(9):
                j = (y - cy[q] + height) % height * width + (x - cx[q] + width) % width
                rho += f[q, j]
                ux += cx[q] * f[q, j]
                uy += cy[q] * f[q, j]
            ux = ux / rho
            uy = uy / rho
            for q in range(9):
                j = (y - cy[q] + height) % height * width + (x - cx[q] + width) % width
                c = 3.0 * (cx[q] * ux + cy[q] * uy)
                still = weight[q] * rho * (1.0 + c + 0.5 * c * c - 1.5 * (ux * ux + uy * uy))
                g[q, i] = f[q, j] + (still - f[q, j]) / tau


def genetic_crossover(kind, cut, mother, father, child):
    for i in range(child.shape[0]):
        if kind[i] == 0:
            for k in range(child.shape[1]):
                child[i, k] = mother[i, k] if k < cut[i] else father[i, k]
        elif kind[i] == 1:
            for k in range(child.shape[1]):
                child[i, k] = 0.5 * (mother[i, k] + father[i, k])
        else:
            for k in range(child.shape[1]):
                child[i, k] = math.sqrt(abs(mother[i, k] * father[i, k])) + 0.125 * (mother[i, k] - father[i, k])


def marching_cubes(case, count, edges, first, second, corners, out):
    for i in range(out.shape[0]):
        s = 0.0
        for k in range(count[case[i]]):
            e = edges[case[i], k]
            a = corners[i, first[e]]
            b = corners[i, second[e]]
            s += a / (a - b)
        out[i] = s


def black_scholes(price, strike, years, call, put):
    for i in range(price.shape[0]):
        root = 0.3 * math.sqrt(years[i])
        d1 = (math.log(price[i] / strike[i]) + (0.02 + 0.045) * years[i]) / root
        d2 = d1 - root
        n1 = 0.5 * (1.0 + math.erf(d1 * 0.7071067811865476))
        n2 = 0.5 * (1.0 + math.erf(d2 * 0.7071067811865476))
        later = strike[i] * math.exp(-0.02 * years[i])
        call[i] = price[i] * n1 - later * n2
        put[i] = later * (1.0 - n2) - price[i] * (1.0 - n1)


def sparse_cg(starts, columns, values, b, x, r, p, q, steps):
    n = x.shape[0]
    old = 0.0
    for i in range(n):
        x[i] = 0.0
        r[i] = b[i]
        p[i] = b[i]
        old += b[i] * b[i]
    for t in range(steps):  # noqa: B007 -- its name is asked for
        along = 0.0
        for i in range(n):
            s = p[i]
            for k in range(starts[i], starts[i + 1]):
                s += values[k] * p[columns[k]]
            q[i] = s
        for i in range(n):
            along += p[i] * q[i]
        alpha = old / along
        new = 0.0
        for i in range(n):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        for i in range(n):
            new += r[i] * r[i]
        for i in range(n):
            p[i] = r[i] + new / old * p[i]
        old = new


def bfs_level(starts, columns, level, depth, out):
    for i in range(level.shape[0]):
        found = level[i]
        if level[i] < 0:
            for k in range(starts[i], starts[i + 1]):
                if level[columns[k]] == depth:
                    found = depth + 1
        out[i] = found


def sssp_round(starts, columns, lengths, distance, active, out):
    for i in range(distance.shape[0]):
        best = distance[i]
        if active[i] != 0:
            for k in range(starts[i], starts[i + 1]):
                best = min(best, distance[columns[k]] + lengths[k])
        out[i] = best


def monte_carlo(seed, absorption, out):
    for i in range(out.shape[0]):
        state = seed[i]
        weight = 1.0
        path = 0.0
        while weight > 0.01:
            state = (state * 1103515245 + 12345) % 2147483648
            path += weight * (state + 1) * 4.656612873077393e-10
            weight = weight * (1.0 - absorption[i])
        out[i] = path


def n_body(count, near, x, y, z, ax):
    for i in range(ax.shape[0]):
        s = 0.0
        for k in range(count[i]):
            j = near[i, k]
            dx = x[j] - x[i]
            dy = y[j] - y[i]
            dz = z[j] - z[i]
            d = dx * dx + dy * dy + dz * dz + 0.001
            s += dx / (d * math.sqrt(d))
        ax[i] = s


def ray_marching(steps, begin, slope, out):
    for i in range(out.shape[0]):
        light = 0.0
        clear = 1.0
        t = begin[i]
        for _k in range(steps[i]):
            density = 1.0 / (1.0 + t * t + slope[i] * t)
            light = light + clear * density * 0.05
            clear = clear * (1.0 - density * 0.05)
            t = t + 0.03125
        out[i] = light


# ---- their data -------------------------------------------------------------------------------------------------


def of_trips(choose: Callable[[int, np.random.Generator], np.ndarray]) -> Callable[[int], Arguments]:
    """Arguments of `by_trips` and `by_branch`."""

    def make(n: int) -> Arguments:
        draw = np.random.default_rng(n)
        return choose(n, draw), draw.random(n), np.zeros(n)

    return make


def rows(n: int, mean: float, draw: np.random.Generator) -> np.ndarray:
    """Where rows begin whose lengths follow a power law, the longest of 2000, and where the last one ends."""
    lengths = np.minimum(mean * 0.4 * (draw.pareto(1.6, n) + 1.0), 2000.0).astype(np.int64)
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def uneven_arguments(n: int) -> Arguments:
    """Pieces of one array."""
    draw = np.random.default_rng(n)
    starts = rows(n, 16.0, draw)
    return starts, draw.random(int(starts[-1])), np.zeros(n)


def boltzmann_arguments(n: int) -> Arguments:
    """A channel with obstacles in a tenth of it, each of a few cells."""
    draw = np.random.default_rng(n)
    width = 1 << max(2, int(math.log2(n)) // 2)
    height = n // width
    cx, cy = np.array([0, 1, 0, -1, 0, 1, -1, -1, 1]), np.array([0, 0, 1, 0, -1, 1, 1, -1, -1])
    weight = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    coarse = draw.random((height // 2 + 1, width // 2 + 1)) < 0.1
    solid = np.repeat(np.repeat(coarse, 2, 0), 2, 1)[:height, :width].astype(np.int64).ravel()
    f = weight[:, None] * (1.0 + 0.01 * draw.random((9, height * width)))
    opposite = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])
    return f, solid, cx, cy, weight, opposite, width, 0.6, np.zeros_like(f)


def crossover_arguments(n: int) -> Arguments:
    """Chromosomes of 32 genes, three ways to cross over."""
    draw = np.random.default_rng(n)
    parents = draw.random((n, 32)), draw.random((n, 32))
    return draw.integers(0, 3, n), draw.integers(0, 32, n), *parents, np.zeros((n, 32))


def cubes_arguments(n: int) -> Arguments:
    """Two cells of three are empty, as away from a surface."""
    draw = np.random.default_rng(n)
    count = np.array([0, *draw.integers(3, 16, 254), 0])
    case = np.where(draw.random(n) < 0.65, 0, draw.integers(1, 255, n))
    edges = draw.integers(0, 12, (256, 15))
    first, second = np.arange(12) % 8, (np.arange(12) * 5 + 1) % 8
    corners = draw.random((n, 8)) + np.arange(8)
    return case, count, edges, first, second, corners, np.zeros(n)


def options_arguments(n: int) -> Arguments:
    """Options of the usual prices."""
    draw = np.random.default_rng(n)
    return *(draw.uniform(low, high, n) for low, high in ((5, 30), (1, 100), (0.25, 10))), np.zeros(n), np.zeros(n)


def mesh_arguments(fields: int) -> Callable[[int], Arguments]:
    """A square grid whose nodes are numbered at random, 40 sweeps."""

    def make(n: int) -> Arguments:
        side = math.isqrt(n)
        shape = (side * side, fields) if fields > 1 else (side * side,)
        return np.random.default_rng(n).random(shape), np.zeros(shape), grid(side, shuffled=True), 40

    return make


def graph(n: int, draw: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a power law, columns at random."""
    starts = rows(n, 8.0, draw)
    return starts, draw.integers(0, n, int(starts[-1]))


def cg_arguments(n: int) -> Arguments:
    """The identity and small numbers beside it, not even symmetric: only the loops matter here."""
    draw = np.random.default_rng(n)
    starts, columns = graph(n, draw)
    vectors = (np.zeros(n) for _ in range(4))
    return starts, columns, 0.001 * draw.random(len(columns)), draw.random(n), *vectors, 10


def bfs_arguments(n: int) -> Arguments:
    """A level in the middle: a third of the nodes was reached."""
    draw = np.random.default_rng(n)
    starts, columns = graph(n, draw)
    level = np.where(draw.random(n) < 0.3, draw.integers(0, 4, n), -1)
    return starts, columns, level, 3, np.zeros(n, np.int64)


def sssp_arguments(n: int) -> Arguments:
    """A round in which a quarter of the nodes has news."""
    draw = np.random.default_rng(n)
    starts, columns = graph(n, draw)
    active = (draw.random(n) < 0.25).astype(np.int64)
    return starts, columns, draw.random(len(columns)), 9.0 * draw.random(n), active, np.zeros(n)


def photons_arguments(n: int) -> Arguments:
    """From 1 % to 90 % is absorbed in each step."""
    draw = np.random.default_rng(n)
    return draw.integers(1, 1 << 31, n), draw.uniform(0.01, 0.9, n) ** 2 + 0.01, np.zeros(n)


def bodies_arguments(n: int) -> Arguments:
    """Bodies in clumps: the lists have up to 64 others."""
    draw = np.random.default_rng(n)
    count = np.minimum(4.0 * (draw.pareto(1.2, n) + 1.0), 64.0).astype(np.int64)
    near = np.clip(np.arange(n)[:, None] + draw.integers(-200, 201, (n, 64)), 0, n - 1)
    return count, near, draw.random(n), draw.random(n), draw.random(n), np.zeros(n)


def rays_arguments(n: int) -> Arguments:
    """Rays that leave the volume after 0 to 256 steps."""
    draw = np.random.default_rng(n)
    return (256 * draw.random(n) ** 2).astype(np.int64), draw.uniform(-4, 0, n), draw.random(n), np.zeros(n)


@dataclass(frozen=True)
class Program:
    """forced: the value of `remap` that is compared with, on a CPU and on a GPU. most: iterations at most, where data
    take more room."""

    function: Callable[..., object]
    make: Callable[[int], Arguments]
    forced: tuple[str, str] = ("group i", "redirect i")
    most: int = 1 << 24


LANES, ONE = "group i; abreast i.g", "redirect i"
MESH = ("renumber nb in t", "renumber nb in t clusters")
PROGRAMS = {
    "trip counts of a power law": Program(by_trips, of_trips(power_law), (LANES, ONE)),
    "one in 32 a hundred times as long": Program(by_trips, of_trips(one_in_32), (LANES, ONE)),
    "four branches": Program(
        by_branch, of_trips(four), ("group i; abreast i.g; abreast i.g.1; abreast i.g.2; abreast i.g.3", ONE)
    ),
    "uneven reduction": Program(uneven_reduction, uneven_arguments, most=1 << 22),
    "lattice Boltzmann with obstacles": Program(lattice_boltzmann, boltzmann_arguments, most=1 << 22),
    "genetic crossover": Program(genetic_crossover, crossover_arguments, most=1 << 20),
    "marching cubes": Program(marching_cubes, cubes_arguments, most=1 << 22),
    "Black-Scholes": Program(black_scholes, options_arguments),
    "unstructured flow, 8 fields": Program(records, mesh_arguments(8), MESH, 1 << 20),
    "mesh smoothing": Program(one, mesh_arguments(1), MESH, 1 << 22),
    "sparse CG": Program(sparse_cg, cg_arguments, most=1 << 22),
    "BFS, one level": Program(bfs_level, bfs_arguments, most=1 << 22),
    "SSSP, one round": Program(sssp_round, sssp_arguments, most=1 << 22),
    "Monte Carlo with absorption": Program(monte_carlo, photons_arguments, most=1 << 22),
    "n-body with cut-off lists": Program(n_body, bodies_arguments, most=1 << 20),
    "ray marching": Program(ray_marching, rays_arguments, (LANES, ONE), 1 << 22),
}
