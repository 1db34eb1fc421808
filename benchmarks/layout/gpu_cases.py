"""The programs on a GPU: streams of calls with arrays that stay there, as plain loops, and their data.

Of Leo (Farooqui and others, 2014): Black-Scholes, k-means with 32 dimensions and 40 centres, a hash join of ten-field
records with few and with many matches, and Bellman-Ford on a road-like network. Others: one hot field of sixteen,
all fields of four, particles in cells, molecular dynamics with a cut-off, colour images, lattice Boltzmann with 19
directions, and a matrix that one kernel uses by rows and the next one by columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import erf, exp, log, sqrt
from typing import Any

import numpy as np

SEED = 11
Arrays = dict[str, Any]


@dataclass(frozen=True)
class Stream:
    """calls: of one step, each a function and the names of its arguments; `data(n)`: these arrays; arrays: those that
    could be in planes; shown: what somebody looks at in the end."""

    name: str
    calls: Sequence[tuple[Callable[..., object], Sequence[str]]]
    data: Callable[[int], Arrays]
    arrays: Sequence[str]
    n: int
    used: str


def _records(n: int, fields: Sequence[str], kind: str = "f8", least: float = 0.5, most: float = 1.5) -> np.ndarray:
    draw = np.random.default_rng(SEED)
    made = np.zeros(n, np.dtype([(name, kind) for name in fields]))
    for name in fields:
        made[name] = draw.uniform(least, most, n)
    return made


# ---- fields of records ------------------------------------------------------------------------------------------


def hot_field(p):
    for i in range(len(p)):
        p[i]["f3"] = 0.5 * p[i]["f3"] + 0.25


def all_fields(p):
    for i in range(len(p)):
        p[i]["f0"] = 0.5 * p[i]["f0"] + p[i]["f1"]
        p[i]["f1"] = 0.5 * p[i]["f1"] + p[i]["f2"]
        p[i]["f2"] = 0.5 * p[i]["f2"] + p[i]["f3"]
        p[i]["f3"] = 0.5 * p[i]["f3"] + p[i]["f0"]


def black_scholes(options):
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
        options[i]["call"] = price * n1 - discounted * n2
        options[i]["put"] = discounted * (1.0 - n2) - price * (1.0 - n1)


def luminance(image):
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            image[i, j]["g"] = 0.9 * image[i, j]["g"] + 0.1 * image[i, j]["r"]


def _image(n: int) -> Arrays:
    side = max(2, int(sqrt(n)))
    return {"image": _records(side * side, "rgbaxyzw", "f4").reshape(side, side)}


# ---- k-means ----------------------------------------------------------------------------------------------------


def nearest_centres(points, centres, nearest):
    for i in range(points.shape[0]):
        best = 1.0e300
        for c in range(centres.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                difference = points[i, d] - centres[c, d]
                distance += difference * difference
            if distance < best:
                best = distance
                nearest[i] = c


def _k_means(n: int) -> Arrays:
    draw = np.random.default_rng(SEED)
    return {"points": draw.random((n, 32)), "centres": draw.random((40, 32)), "nearest": np.zeros(n, np.int64)}


# ---- a hash join ------------------------------------------------------------------------------------------------


def joined(objects, neighbours, heads, chain, found):
    for j in range(len(neighbours)):
        key = neighbours[j]["key"]
        at = heads[key % 65536]
        while at >= 0:
            if objects[at]["key"] == key:
                found[j] = objects[at]["ra"] * neighbours[j]["ra"] + objects[at]["dec"] * neighbours[j]["dec"]
            at = chain[at]


def _hash_join(match: float) -> Callable[[int], Arrays]:
    def data(n: int) -> Arrays:
        draw = np.random.default_rng(SEED)
        dtype = np.dtype([("key", "i8"), *((name, "f8") for name in ("ra", "dec", *"abcdefg"))])
        count = 100_000
        objects, neighbours = np.zeros(count, dtype), np.zeros(n, dtype)
        objects["key"] = draw.permutation(count)
        hits = draw.random(n) < match
        neighbours["key"] = np.where(hits, draw.integers(0, count, n), draw.integers(count, 10**9, n))
        heads, chain = np.full(65536, -1), np.full(count, -1)
        for place, bucket in enumerate(objects["key"] % 65536):
            chain[place], heads[bucket] = heads[bucket], place
        return {"objects": objects, "neighbours": neighbours, "heads": heads, "chain": chain, "found": np.zeros(n)}

    return data


# ---- networks ---------------------------------------------------------------------------------------------------


def relaxed(edges, distance, offer):
    for e in range(len(edges)):
        far = distance[edges[e]["source"]] + edges[e]["weight"]
        offer[e] = far if far < distance[edges[e]["target"]] else 1.0e30


def taken(edges, distance, offer):
    for v in range(len(distance)):
        for k in range(4):
            distance[v] = min(distance[v], offer[4 * v + k])


def _road(n: int) -> Arrays:
    side = max(4, int(sqrt(n / 4)))
    draw = np.random.default_rng(SEED)
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    here = (y * side + x).ravel()
    near = [((y + dy) % side * side + (x + dx) % side).ravel() for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    count = 4 * side * side
    kind = [("source", "i4"), ("target", "i4"), ("weight", "f4"), ("road", "i4", 5)]
    edges = np.zeros(count, np.dtype(kind))
    edges["target"] = np.repeat(here, 4)  # those that come to a node are neighbours
    edges["source"] = np.stack(near, 1).ravel()
    edges["weight"] = draw.uniform(1, 9, count)
    distance = np.full(side * side, 1.0e30, np.float32)
    distance[0] = 0.0
    return {"edges": edges, "distance": distance, "offer": np.zeros(count, np.float32)}


# ---- particles --------------------------------------------------------------------------------------------------


def deposited(p, charge):
    for i in range(len(p)):
        charge[int(p[i]["x"]) % 4096] += p[i]["weight"]


def pushed(p, force):
    for i in range(len(p)):
        p[i]["v"] = 0.9 * p[i]["v"] + force[int(p[i]["x"]) % 4096] * 1.0e-3
        p[i]["x"] = abs(p[i]["x"] + p[i]["v"]) % 4096.0


def _in_cells(n: int) -> Arrays:
    p = _records(n, ("x", "v", "weight", "a", "b", "c", "d", "id"), least=0.0, most=4096.0)
    p["weight"] = 1.0
    return {"p": p, "charge": np.zeros(4096, np.int64), "force": np.ones(4096)}


def forces(p, near, force):
    for i in range(len(p)):
        fx = 0.0
        for k in range(near.shape[1]):
            j = near[i, k]
            dx = p[i]["x"] - p[j]["x"]
            dy = p[i]["y"] - p[j]["y"]
            dz = p[i]["z"] - p[j]["z"]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            if r2 < 1.0:
                fx += dx / (r2 * r2)
        force[i] = fx


def moved(p, force):
    for i in range(len(p)):
        p[i]["vx"] += 1.0e-9 * force[i]
        p[i]["x"] += 1.0e-3 * p[i]["vx"]


def _molecules(n: int) -> Arrays:
    draw = np.random.default_rng(SEED)
    names = ["x", "y", "z", "vx", "vy", "vz", "mass", "charge", "age", "kind", "cell", "id"]
    near = np.clip(np.arange(n)[:, None] + draw.integers(-500, 500, (n, 16)), 0, n - 1)
    return {"p": _records(n, names), "near": near, "force": np.zeros(n)}


# ---- arrays of two axes -----------------------------------------------------------------------------------------


def collided(f, g):
    for x in range(f.shape[0]):
        density = 0.0
        for q in range(19):
            density += f[x, q]
        for q in range(19):
            g[x, q] = f[x, q] + 0.6 * (density / 19.0 - f[x, q])


def streamed(f, g):
    for x in range(1000, f.shape[0] - 1000):
        f[x, 0] = g[x, 0]
        f[x, 1] = g[x - 1, 1]
        f[x, 2] = g[x + 1, 2]
        f[x, 3] = g[x - 31, 3]
        f[x, 4] = g[x + 31, 4]
        f[x, 5] = g[x - 961, 5]
        f[x, 6] = g[x + 961, 6]
        f[x, 7] = g[x - 32, 7]
        f[x, 8] = g[x + 32, 8]
        f[x, 9] = g[x - 30, 9]
        f[x, 10] = g[x + 30, 10]
        f[x, 11] = g[x - 962, 11]
        f[x, 12] = g[x + 962, 12]
        f[x, 13] = g[x - 960, 13]
        f[x, 14] = g[x + 960, 14]
        f[x, 15] = g[x - 992, 15]
        f[x, 16] = g[x + 992, 16]
        f[x, 17] = g[x - 930, 17]
        f[x, 18] = g[x + 930, 18]


def _lattice(n: int) -> Arrays:
    draw = np.random.default_rng(SEED)
    return {"f": draw.random((n, 19)), "g": draw.random((n, 19))}


def along_rows(a):
    for i in range(a.shape[0]):
        for j in range(1, a.shape[1]):
            a[i, j] = a[i, j] * 0.5 + a[i, j - 1] * 0.25


def along_columns(a):
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            a[i, j] = a[i, j] * 0.5 + a[i - 1, j] * 0.25


def _matrix(n: int) -> Arrays:
    side = max(8, int(sqrt(n)))
    return {"a": np.random.default_rng(SEED).random((side, side))}


def _named(count: int) -> Callable[[int], Arrays]:
    return lambda n: {"p": _records(n, [f"f{k}" for k in range(count)])}


def _options(n: int) -> Arrays:
    names = ["price", "strike", "years", "rate", "volatility", "call", "put", "a", "b", "c", "d"]
    return {"options": _records(n, names, "f4")}


STREAMS: Sequence[Stream] = (
    Stream("one hot field of sixteen", [(hot_field, ["p"])], _named(16), ["p"], 2_000_000, "1/16"),
    Stream("Black-Scholes, 7 of 11", [(black_scholes, ["options"])], _options, ["options"], 10_000_000, "7/11"),
    Stream("k-means, 32 dimensions", [(nearest_centres, ["points", "centres", "nearest"])], _k_means, ["points"],
           1_000_000, "all"),
    Stream("all of four fields", [(all_fields, ["p"])], _named(4), ["p"], 8_000_000, "all"),
    Stream("image, two of eight", [(luminance, ["image"])], _image, ["image"], 8_000_000, "2/8"),
    Stream("hash join, few matches", [(joined, ["objects", "neighbours", "heads", "chain", "found"])],
           _hash_join(0.01), ["objects", "neighbours"], 4_000_000, "1/10"),
    Stream("hash join, many matches", [(joined, ["objects", "neighbours", "heads", "chain", "found"])],
           _hash_join(0.99), ["objects", "neighbours"], 4_000_000, "3/10"),
    Stream("Bellman-Ford, 3 of 8", [(relaxed, ["edges", "distance", "offer"]), (taken, ["edges", "distance", "offer"])],
           _road, ["edges"], 8_000_000, "3/8"),
    Stream("particles in cells", [(deposited, ["p", "charge"]), (pushed, ["p", "force"])], _in_cells, ["p"],
           4_000_000, "3/8"),
    Stream("molecules, cut-off", [(forces, ["p", "near", "force"]), (moved, ["p", "force"])], _molecules, ["p"],
           1_000_000, "4/12"),
    Stream("lattice Boltzmann, 19", [(collided, ["f", "g"]), (streamed, ["f", "g"])], _lattice, ["f", "g"], 1_000_000,
           "all"),
    Stream("rows, then columns", [(along_rows, ["a"]), (along_columns, ["a"])], _matrix, ["a"], 16_000_000, "all"),
)  # fmt: skip


def arguments(stream: Stream, arrays: Mapping[str, object]) -> list[tuple[Callable[..., object], list[object]]]:
    """The calls of one step."""
    return [(function, [arrays[name] for name in names]) for function, names in stream.calls]
