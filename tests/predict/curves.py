"""Synthetic cost curves shaped like real ones: caches of a CPU as steps of its bandwidth, uneven shares of threads,
waves of blocks on a GPU, fixed costs of calls and launches, remainders of tiles, noise. The truth is known exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.measurement import Measurement, Work

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """name: of a kernel of PolyBench. work: from its sizes. axes: how many sizes it has."""

    name: str
    axes: int
    work: Callable[[Sizes], Work]


def _matrix_vector(passes: int) -> Callable[[Sizes], Work]:
    def work(sizes: Sizes) -> Work:
        n, m = sizes[0], sizes[-1]
        matrix, vectors = 8.0 * n * m, 16.0 * (n + m)
        return Work(passes * n * m, n, passes * m, matrix + vectors, matrix + vectors / 2, vectors / 2)

    return work


def _gemm(sizes: Sizes) -> Work:
    n, m, k = sizes
    read, written = 8.0 * (n * k + k * m + n * m), 8.0 * n * m
    return Work(n * m * k, n * m, k, read, read, written)


def _syrk(sizes: Sizes) -> Work:
    n, m = sizes
    return Work(n * n * m, n * n, m, 8.0 * (n * n + n * m), 8.0 * (n * n + n * m), 8.0 * n * n)


PROBLEMS = (
    Problem("gemm", 3, _gemm),
    Problem("syrk", 2, _syrk),
    Problem("bicg", 2, _matrix_vector(2)),
    Problem("gemver", 1, _matrix_vector(4)),
    Problem("mvt", 1, _matrix_vector(2)),
    Problem("gesummv", 2, _matrix_vector(1)),
)


@dataclass(frozen=True)
class Cpu:
    """ns_per_flop: of one thread. tile: rows that one thread takes at a time. reuse: how often an element that was
    loaded is used before it has to be loaded again; None: as often as the tile allows."""

    threads: int
    ns_per_flop: float
    tile: int
    reuse: float
    call_ns: float = 2500.0

    def time_ns(self, work: Work, sizes: Sizes) -> float:
        """Of one call."""
        pieces = math.ceil(sizes[0] / self.tile)
        uneven = math.ceil(pieces / self.threads) * self.threads / pieces
        compute = work.iterations * self.ns_per_flop / self.threads * uneven
        moved = max(work.footprint_bytes, 8 * work.iterations / self.reuse)
        return self.call_ns * (1 + self.threads / 8) + (compute**3 + (moved / bandwidth(work, self.threads)) ** 3) ** (
            1 / 3
        )


LEVELS = ((32e3, 90.0, 1.0), (1e6, 45.0, 1.0), (24e6, 28.0, 0.8), (math.inf, 10.0, 0.35))
"""Bytes of a cache, bytes per ns of one thread out of it, and how bandwidth grows with threads (as an exponent)."""


def bandwidth(work: Work, threads: int) -> float:
    """Bytes per ns; from one level to the next within a factor of two of the size."""
    size, total = work.footprint_bytes, 0.0
    share = 1.0
    for limit, rate, growth in LEVELS:
        here = share if math.isinf(limit) else share / (1 + (size / limit) ** 4)
        total += here / (rate * threads**growth)
        share -= here
    return 1 / total


@dataclass(frozen=True)
class Gpu:
    """block: outer iterations in one block. at_once: blocks that run side by side on the whole device."""

    block: int
    at_once: int
    ns_per_flop: float
    reuse: float
    call_ns: float = 9000.0
    copies: bool = False

    def time_ns(self, work: Work, sizes: Sizes) -> float:
        """Of one call; with copies to the device and back where it says so."""
        blocks = math.ceil(work.units / self.block)
        waves = math.ceil(blocks / self.at_once) * self.at_once / blocks
        compute = work.iterations * self.ns_per_flop * waves
        memory = max(work.footprint_bytes, 8 * work.iterations / self.reuse) / 2500.0 * max(1.0, waves**0.5)
        moved = sum(8000 + size / 20.0 for size in (work.inputs_bytes, work.outputs_bytes)) if self.copies else 0.0
        return self.call_ns + max(compute, memory) + 30 * work.depth**0.5 + moved


DEVICES: dict[Variant, Cpu | Gpu] = {
    Variant("cpu", "recipe", 1): Cpu(1, 0.35, 32, 40),
    Variant("cpu", "recipe", 8): Cpu(8, 0.35, 32, 40),
    Variant("cpu", "tile i 64", 8): Cpu(8, 0.31, 64, 25),
    Variant("cpu", "plain", 8): Cpu(8, 0.9, 1, 4),
    Variant("cuda", "recipe"): Gpu(64, 132 * 8, 0.0012, 64),
    Variant("cuda", "tile i 16"): Gpu(256, 132 * 2, 0.0009, 128),
    Variant("cuda", "plain"): Gpu(1024, 132, 0.002, 16, copies=True),
}


def shapes(problem: Problem, count: int, seed: int, low: int = 64, high: int = 0) -> list[Sizes]:
    """Sizes as people choose them: half of them equal in all axes, all spread evenly over the logarithm."""
    rng = np.random.default_rng(seed)
    high = high or (2500 if problem.name in ("gemm", "syrk") else 10000)
    places = (np.arange(count) + rng.uniform(0, 1, count)) / count
    found = []
    for i, place in enumerate(places):
        base = low * (high / low) ** place
        stretch = np.exp(rng.uniform(-0.7, 0.7, problem.axes)) if i % 2 else np.ones(problem.axes)
        found.append(tuple(int(min(max(base * s, low), high)) for s in stretch))
    return found


def measured(
    problem: Problem, sizes: list[Sizes], seed: int, noise: float = 0.015, devices: dict[Variant, Cpu | Gpu] = DEVICES
) -> Iterator[Measurement]:
    """Each variant at each of the sizes."""
    rng = np.random.default_rng(seed)
    for at, each in enumerate(sizes):
        work = problem.work(each)
        for variant, device in devices.items():
            time_ns = device.time_ns(work, each) * math.exp(noise * rng.standard_normal())
            spread = 0.67 * noise * math.exp(0.3 * rng.standard_normal())
            yield Measurement(problem.name, "m", variant, Shape(each), work, "ok", time_ns, spread, 9, made_at=at)
