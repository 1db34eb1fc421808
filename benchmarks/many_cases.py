"""The loops of `benchmarks.many_devices`: kernels, and what makes their arguments of a scale, without taking longer for
it than the loops themselves take."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import loopwright as lw
from benchmarks import polybench, sparse

THESIS = ("2mm", "3mm", "gemm", "syrk", "syr2k", "doitgen", "gesummv", "mvt", "gemver")
"""PolyBench's codes in the thesis' table (Dollinger 2015, 5.3)."""

STEPS, SWEEPS, ENTRIES, BINS = 100, 10, 8, 256
"""Steps of the stencils (each is two of PolyBench's loops), sweeps of PageRank, entries of a sparse row, bins of the
histogram."""


@lw.kernel
def product(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = a.dtype.type(0)
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


@lw.kernel
def sums(a, s):
    for i in range(a.shape[0]):
        t = 0.0
        for j in range(a.shape[1]):
            t += a[i, j]
        s[i] = t


@lw.kernel
def histograms(a, h):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            h[i, a[i, j]] += 1


@lw.kernel
def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


@lw.kernel
def histogram(a, h):
    for i in range(a.shape[0]):
        h[a[i]] += 1


@lw.kernel
def forces(x, y, z, m, f):
    for i in range(x.shape[0]):
        s = np.float32(0)
        for j in range(x.shape[0]):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            d = dx * dx + dy * dy + dz * dz + np.float32(1e-3)
            s += m[j] / (d * np.sqrt(d)) * dx
        f[i] = s


@lw.kernel
def pagerank(starts, sources, links, rank, share, damping, sweeps):
    pages = rank.shape[0]
    for _ in range(sweeps):
        for v in range(pages):
            share[v] = rank[v] / max(links[v], 1)
        for v in range(pages):
            received = 0.0
            for e in range(starts[v], starts[v + 1]):
                received += share[sources[e]]
            rank[v] = (1.0 - damping) / pages + damping * received


Scale = float | Callable[[int], int]
"""1 is the size that is asked for, and lengths of axes are proportional to it. Or what gives each length, told what it
is at 1."""


class ManyCase(NamedTuple):
    """A kernel, and what makes its arguments of a scale."""

    name: str
    kernel: Any
    arguments: Callable[[Scale], tuple[Any, ...]]


def length_of(scale: float, whole: int, least: int = 16) -> int:
    """How long an axis is at a scale."""
    return max(least, round(scale * whole))


def _length(scale: Scale, whole: int) -> int:
    return scale(whole) if callable(scale) else length_of(scale, whole)


def filled(shape: tuple[int, ...], dtype: Any, make: Callable[[int, int], Any]) -> Any:
    """An array whose elements from one index to another `make` gives, on all cores."""
    found = np.empty(shape, dtype)
    flat = found.reshape(-1)
    ends = [*range(0, flat.size, 1 << 22), flat.size]

    def fill(part: tuple[int, int]) -> None:
        flat[slice(*part)] = make(*part)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(fill, pairwise(ends)))
    return found


def random(*shape: int, dtype: Any = np.float64) -> Any:
    """Between 0 and 1; the same block again and again."""
    block = np.random.default_rng(1).random(1 << 22).astype(dtype)
    return filled(shape, dtype, lambda first, last: block[: last - first])


def scattered(count: int, below: int) -> Any:
    """Whole numbers that are far from one another, so that no cache helps who follows them."""
    step = np.uint64(0x9E3779B97F4A7C15)

    def make(first: int, last: int) -> Any:
        return ((np.arange(first, last, dtype=np.uint64) * step >> np.uint64(32)) * np.uint64(below)) >> np.uint64(32)

    return filled((count,), np.int32, make)


def _product(scale: Scale, dtype: Any) -> tuple[Any, ...]:
    n = _length(scale, 16384)
    return random(n, n, dtype=dtype), random(n, n, dtype=dtype), np.zeros((n, n), dtype)


def _stencil(dimensions: int, whole: int, scale: Scale) -> tuple[Any, ...]:
    n = _length(scale, whole)
    given = random(*(n,) * dimensions)
    return STEPS, n, given, given.copy()


def _elements(scale: Scale) -> tuple[int, int]:
    """2**32 in rows: what one loop of independent iterations makes a sum, or a histogram, of."""
    return _length(scale, 4096), _length(scale, 1 << 20)


def _sums(scale: Scale) -> tuple[Any, ...]:
    rows, columns = _elements(scale)
    return random(rows, columns, dtype=np.float32), np.zeros(rows)


def _total(scale: Scale) -> tuple[Any, ...]:
    return (random(_length(scale, 1 << 32)),)


def _bytes(*shape: int) -> Any:
    block = np.random.default_rng(2).integers(0, BINS, 1 << 22).astype(np.uint8)
    return filled(shape, np.uint8, lambda first, last: block[: last - first])


def _histogram(scale: Scale) -> tuple[Any, ...]:
    return _bytes(_length(scale, 1 << 32)), np.zeros(BINS, np.int64)


def _histograms(scale: Scale) -> tuple[Any, ...]:
    rows, columns = _elements(scale)
    return _bytes(rows, columns), np.zeros((rows, BINS), np.int64)


def _forces(scale: Scale) -> tuple[Any, ...]:
    n = _length(scale, 1 << 20)
    return (*(np.random.default_rng(k).random(n, np.float32) for k in range(4)), np.zeros(n, np.float32))


def _rows(scale: Scale) -> tuple[int, Any, Any]:
    rows = _length(scale, 1 << 25)
    return rows, np.arange(rows + 1) * ENTRIES, scattered(rows * ENTRIES, rows)


def _spmv(scale: Scale) -> tuple[Any, ...]:
    rows, starts, columns = _rows(scale)
    return starts, columns, random(rows * ENTRIES), random(rows), np.zeros(rows)


def _pagerank(scale: Scale) -> tuple[Any, ...]:
    pages, starts, sources = _rows(scale)
    links = np.bincount(sources, minlength=pages)
    return starts, sources, links, np.full(pages, 1.0 / pages), np.zeros(pages), 0.85, SWEEPS


def _polybench(module: ModuleType, scale: Scale) -> tuple[Any, ...]:
    large = module.SIZES["EXTRALARGE"]
    larger = 3 if len(set(large.values())) == 1 else 2 if module.NAME != "doitgen" else 1
    return tuple(module.initialise(**{name: _length(scale, larger * one) for name, one in large.items()}).values())


def _thesis() -> list[ManyCase]:
    modules = {module.NAME: module for module in polybench.MODULES}
    return [
        ManyCase(f"PolyBench {name}", lw.kernel(modules[name].kernel), lambda s, m=modules[name]: _polybench(m, s))
        for name in THESIS
    ]


_THESIS_CASES = {case.name: case for case in _thesis()}

MANY_CASES = (
    ManyCase("jacobi-2d", lw.kernel(polybench.jacobi_2d.kernel), lambda s: _stencil(2, 16384, s)),
    ManyCase("heat-3d", lw.kernel(polybench.heat_3d.kernel), lambda s: _stencil(3, 512, s)),
    ManyCase("sum", total, _total),
    ManyCase("histogram", histogram, _histogram),
    ManyCase("sums of rows", sums, _sums),
    ManyCase("product float32", product, lambda s: _product(s, np.float32)),
    ManyCase("n-body", forces, _forces),
    *(_THESIS_CASES.pop(f"PolyBench {name}") for name in ("syrk", "syr2k", "gemm")),
    ManyCase("histograms of rows", histograms, _histograms),
    ManyCase("SpMV", lw.kernel(sparse.spmv), _spmv),
    ManyCase("PageRank", pagerank, _pagerank),
    ManyCase("product float64", product, lambda s: _product(s, np.float64)),
    *_THESIS_CASES.values(),
)
"""In order of value: what comes late is what a short budget leaves out."""
