"""The programs, as plain loops, and their data.

Of Leo (Farooqui and others, 2014): Black-Scholes, k-means with 32 dimensions and 40 centres, a hash join of ten-field
records with few and with many matches, and Bellman-Ford on a road-like network; the data are generated, and smaller
than the paper's. Others: one hot field of sixteen, particles in cells, particles with many unused fields, colour
images, lattice Boltzmann with 9 directions, and a matrix that is used by rows and then by columns.
"""

# ruff: noqa: B007 (the names of loops over time are in schedules)

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import erf, exp, log, sqrt

import numpy as np

SEED = 11


@dataclass(frozen=True)
class Case:
    """layouts: for each array of records, the loops that a layout is for; `arguments(n, t)`: of a call with n records,
    or so, and t passes. sizes: n and the numbers of passes that are measured."""

    name: str
    function: Callable[..., object]
    arguments: Callable[[int, int], list[object]]
    arrays: Sequence[str]
    loop: str
    n: int
    passes: Sequence[int]
    fixed: Sequence[str] = ("soa", "aos", "aosoa 8")
    used: str = ""


def _filled(n: int, dtype: list[tuple[str, str]], least: float = 0.5, most: float = 1.5) -> np.ndarray:
    draw = np.random.default_rng(SEED)
    made = np.zeros(n, np.dtype(dtype))
    for name in made.dtype.names or ():
        made[name] = draw.uniform(least, most, n)
    return made


# ---- one hot field of sixteen -----------------------------------------------------------------------------------


def hot_field(p, t):
    for k in range(t):
        mean = 0.0
        for i in range(len(p)):
            mean += p[i]["f3"]
        mean /= len(p)
        for i in range(len(p)):
            p[i]["f3"] = 0.5 * p[i]["f3"] + mean


def half_of_the_fields(p, t):
    for k in range(t):
        mean = 0.0
        for i in range(len(p)):
            mean += p[i]["f0"] * p[i]["f2"]
        mean /= len(p)
        for i in range(len(p)):
            p[i]["f4"] = 0.5 * p[i]["f4"] + mean * p[i]["f6"]


def all_fields(p, t):
    for k in range(t):
        mean = 0.0
        for i in range(len(p)):
            mean += p[i]["f0"]
        mean /= len(p)
        for i in range(len(p)):
            p[i]["f0"] = 0.5 * p[i]["f0"] + p[i]["f1"] * mean
            p[i]["f1"] = 0.5 * p[i]["f1"] + p[i]["f2"]
            p[i]["f2"] = 0.5 * p[i]["f2"] + p[i]["f3"]
            p[i]["f3"] = 0.5 * p[i]["f3"] + p[i]["f0"]


def _fields(count: int) -> Callable[[int, int], list[object]]:
    return lambda n, t: [_filled(n, [(f"f{k}", "f8") for k in range(count)]), t]


# ---- Leo's ------------------------------------------------------------------------------------------------------


def black_scholes(options, t):
    for k in range(t):
        for i in range(len(options)):
            price = options[i]["price"]
            strike = options[i]["strike"]
            years = options[i]["years"]
            rate = options[i]["rate"]
            spread = options[i]["volatility"] * sqrt(years)
            d1 = (log(price / strike) + rate * years) / spread + 0.5 * spread
            d2 = d1 - spread
            n1 = 0.5 * (1.0 + erf(d1 * 0.7071067811865476))
            n2 = 0.5 * (1.0 + erf(d2 * 0.7071067811865476))
            discounted = strike * exp(-rate * years)
            options[i]["call"] = 0.5 * options[i]["call"] + price * n1 - discounted * n2
            options[i]["put"] = 0.5 * options[i]["put"] + discounted * (1.0 - n2) - price * (1.0 - n1)


def _black_scholes(n: int, t: int) -> list[object]:
    names = ["price", "strike", "years", "rate", "volatility", "call", "put", "a", "b", "c", "d"]
    return [_filled(n, [(name, "f4") for name in names]), t]


def k_means(points, centres, nearest, t):
    for r in range(t):
        for i in range(len(points)):
            best = 1.0e300
            for c in range(centres.shape[0]):
                distance = 0.0
                for d in range(32):
                    difference = points[i]["x"][d] - centres[c, d]
                    distance += difference * difference
                if distance < best:
                    best = distance
                    nearest[i] = c
        for c in range(centres.shape[0]):
            for d in range(32):
                centres[c, d] *= 0.5
        for i in range(len(points)):
            for d in range(32):
                centres[i % 40, d] += points[i]["x"][d] * 1.0e-6


def _k_means(n: int, t: int) -> list[object]:
    draw = np.random.default_rng(SEED)
    points = np.zeros(n, np.dtype([("x", "f8", 32), ("tag", "i8"), ("weight", "f8")]))
    points["x"] = draw.random((n, 32))
    return [points, draw.random((40, 32)), np.zeros(n, np.int64), t]


def hash_join(objects, neighbours, heads, chain, found, t):
    for r in range(t):
        for i in range(len(objects)):
            bucket = objects[i]["key"] % 1024
            chain[i] = heads[bucket]
            heads[bucket] = i
        for j in range(len(neighbours)):
            key = neighbours[j]["key"]
            at = heads[key % 1024]
            while at >= 0:
                if objects[at]["key"] == key:
                    found[j] = objects[at]["ra"] * neighbours[j]["ra"] + objects[at]["dec"] * neighbours[j]["dec"]
                at = chain[at]
        for b in range(len(heads)):
            heads[b] = -1


def _hash_join(match: float) -> Callable[[int, int], list[object]]:
    def arguments(n: int, t: int) -> list[object]:
        draw = np.random.default_rng(SEED)
        dtype = np.dtype([("key", "i8"), *((name, "f8") for name in ("ra", "dec", *"abcdefg"))])
        objects, neighbours = np.zeros(2048, dtype), np.zeros(n, dtype)
        objects["key"] = draw.permutation(2048)
        neighbours["key"] = np.where(draw.random(n) < match, draw.integers(0, 2048, n), draw.integers(2048, 10**6, n))
        return [objects, neighbours, np.full(1024, -1), np.zeros(2048, np.int64), np.zeros(n), t]

    return arguments


def bellman_ford(edges, distance, t):
    for r in range(t):
        for e in range(len(edges)):
            far = distance[edges[e]["source"]] + edges[e]["weight"]
            if far < distance[edges[e]["target"]]:
                distance[edges[e]["target"]] = far


def _bellman_ford(n: int, t: int) -> list[object]:
    side = int(sqrt(n / 4))
    draw = np.random.default_rng(SEED)
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    here = (y * side + x).ravel()
    pairs = []
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        there = ((y + dy) % side * side + (x + dx) % side).ravel()
        pairs.append(np.stack([here, there], 1))
    both = np.concatenate(pairs)
    edges = np.zeros(len(both), np.dtype([("source", "i4"), ("target", "i4"), ("weight", "f4"), ("road", "i4", 5)]))
    edges["source"], edges["target"] = both.T
    edges["weight"] = draw.uniform(1, 9, len(both))
    distance = np.full(side * side, 1.0e30, np.float32)
    distance[0] = 0.0
    return [edges, distance, t]


# ---- others -----------------------------------------------------------------------------------------------------


def particles(p, t):
    for s in range(t):
        centre = 0.0
        for i in range(len(p)):
            centre += p[i]["x"]
        centre /= len(p)
        for i in range(len(p)):
            p[i]["vx"] -= 0.01 * (p[i]["x"] - centre)
            p[i]["x"] += 0.1 * p[i]["vx"]
            p[i]["y"] += 0.1 * p[i]["vy"]


def _particles(n: int, t: int) -> list[object]:
    names = ["x", "y", "z", "vx", "vy", "vz", "mass", "charge", "age", "kind", "cell", "id"]
    return [_filled(n, [(name, "f8") for name in names]), t]


def in_cells(p, field, charge, t):
    for s in range(t):
        for c in range(len(charge)):
            charge[c] = 0.0
        for i in range(len(p)):
            charge[int(p[i]["x"])] += p[i]["weight"]
        for c in range(1, len(field)):
            field[c] = field[c - 1] * 0.5 + charge[c] * 1.0e-4
        for i in range(len(p)):
            p[i]["v"] = 0.9 * p[i]["v"] + field[i % 64] * 1.0e-3


def _in_cells(n: int, t: int) -> list[object]:
    made = _filled(n, [(name, "f8") for name in ("x", "v", "weight", "a", "b", "c", "d", "id")], 0.0, 64.0)
    return [made, np.zeros(64), np.zeros(64), t]


def luminance(image, t):
    for s in range(t):
        mean = 0.0
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                mean += image[i, j]["g"]
        mean /= image.size
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                image[i, j]["g"] = 0.9 * image[i, j]["g"] + 0.1 * mean


def _image(n: int, t: int) -> list[object]:
    side = int(sqrt(n))
    return [_filled(side * side, [(name, "f4") for name in "rgba"]).reshape(side, side), t]


def lattice_boltzmann(f, g, t):
    for s in range(t):
        for x in range(1, f.shape[0] - 1):
            for y in range(1, f.shape[1] - 1):
                density = 0.0
                for q in range(9):
                    density += f[x, y, q]
                for q in range(9):
                    g[x, y, q] = f[x, y, q] + 0.6 * (density / 9.0 - f[x, y, q])
        for x in range(1, f.shape[0] - 1):
            for y in range(1, f.shape[1] - 1):
                f[x, y, 0] = g[x, y, 0]
                f[x, y, 1] = g[x - 1, y, 1]
                f[x, y, 2] = g[x + 1, y, 2]
                f[x, y, 3] = g[x, y - 1, 3]
                f[x, y, 4] = g[x, y + 1, 4]
                f[x, y, 5] = g[x - 1, y - 1, 5]
                f[x, y, 6] = g[x + 1, y + 1, 6]
                f[x, y, 7] = g[x - 1, y + 1, 7]
                f[x, y, 8] = g[x + 1, y - 1, 8]


def _lattice(n: int, t: int) -> list[object]:
    side = int(sqrt(n))
    draw = np.random.default_rng(SEED)
    return [draw.random((side, side, 9)), draw.random((side, side, 9)), t]


def rows_then_columns(a, x, t):
    for s in range(t):
        for i in range(a.shape[0]):
            for j in range(1, a.shape[1]):
                a[i, j] = a[i, j] * 0.5 + a[i, j - 1] * 0.25
        for j in range(a.shape[1]):
            for i in range(1, a.shape[0]):
                a[i, j] = a[i, j] * 0.5 + a[i - 1, j] * 0.25


def _matrix(n: int, t: int) -> list[object]:
    side = int(sqrt(n))
    return [np.random.default_rng(SEED).random((side, side)), np.zeros(side), t]


CASES = (
    Case("one hot field of sixteen", hot_field, _fields(16), ("p",), "k", 500_000, (1, 2, 3, 5, 20), used="1/16"),
    Case("four fields of eight", half_of_the_fields, _fields(8), ("p",), "k", 500_000, (1, 3, 20), used="1/2"),
    Case("all of four fields", all_fields, _fields(4), ("p",), "k", 500_000, (1, 20), used="all"),
    Case("one hot field, in cache", hot_field, _fields(16), ("p",), "k", 2_000, (1, 3, 20), used="1/16"),
    Case("particles, 4 of 12", particles, _particles, ("p",), "s", 400_000, (1, 3, 20), used="1/3"),
    Case("particles in cells", in_cells, _in_cells, ("p",), "s", 400_000, (3, 20), used="3/8"),
    Case("colour image, one of four", luminance, _image, ("image",), "s", 1_000_000, (1, 3, 20), used="1/4"),
    Case("Black-Scholes, 7 of 11", black_scholes, _black_scholes, ("options",), "k", 300_000, (1, 5), used="7/11"),
    Case("k-means, 32 dimensions", k_means, _k_means, ("points",), "r", 20_000, (1, 5), used="32/34"),
    Case("hash join, few matches", hash_join, _hash_join(0.0001), ("neighbours",), "r", 300_000, (1, 5), used="1/10"),
    Case("hash join, many matches", hash_join, _hash_join(0.99), ("neighbours",), "r", 300_000, (1, 5), used="3/10"),
    Case("Bellman-Ford, 3 of 8", bellman_ford, _bellman_ford, ("edges",), "r", 400_000, (1, 10), used="3/8"),
    Case("lattice Boltzmann, D2Q9", lattice_boltzmann, _lattice, ("f", "g"), "s", 90_000, (1, 10), ("soa", "aosoa 8")),
    Case("rows, then columns", rows_then_columns, _matrix, ("a",), "s", 1_000_000, (1, 5), ("order 1 0",)),
)
