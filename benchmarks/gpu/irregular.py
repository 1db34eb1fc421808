"""Loops whose trip counts or branches only data tells, with the iterations as they stand and in the order of their keys
(`redirect`): with the order found in each call, and kept between calls (arrays of `lw.device_array`, whose versions say
that nothing has changed)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

THREADS = 256
STEPS = 60
"""Of the loop in each of four branches."""
FACTORS = (0.5, 0.25, 0.75, 0.125)


def by_trips(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        for _k in range(t[i]):
            s = s * 0.5 + x[i]
        out[i] = s


def by_branch(t, x, out):
    for i in range(out.shape[0]):
        s = 0.0
        if t[i] < 2:
            if t[i] == 0:
                for _k in range(60):
                    s = s * 0.5 + x[i]
            else:
                for _k in range(60):
                    s = s * 0.25 + x[i]
        else:
            if t[i] == 2:
                for _k in range(60):
                    s = s * 0.75 + x[i]
            else:
                for _k in range(60):
                    s = s * 0.125 + x[i]
        out[i] = s


def power_law(n: int, draw: np.random.Generator) -> np.ndarray:
    """Trip counts of a Pareto distribution, at most 5000."""
    return np.minimum(4.0 * (draw.pareto(1.2, n) + 1.0), 5000.0).astype(np.int64)


def one_in_32(n: int, draw: np.random.Generator) -> np.ndarray:
    """One iteration in 32 takes a hundred times as long."""
    return np.where(draw.integers(0, 32, n) == 0, 1000, 10)


def even(n: int, draw: np.random.Generator) -> np.ndarray:
    """Trip counts from 0 to 200, each as likely as any other."""
    return draw.integers(0, 201, n)


def four(n: int, draw: np.random.Generator) -> np.ndarray:
    """Which branch is taken."""
    return draw.integers(0, 4, n)


KINDS: dict[str, tuple[Callable[..., object], Callable[[int, np.random.Generator], np.ndarray]]] = {
    "power law": (by_trips, power_law),
    "one in 32": (by_trips, one_in_32),
    "0 to 200": (by_trips, even),
    "four branches": (by_branch, four),
}
EXPONENTS = (16, 20, 22)
CASES = tuple(f"{kind}, 2^{exponent}" for kind in KINDS for exponent in EXPONENTS)
MAPPED = (
    f"redirect i; split i.a {THREADS}; bind i.a.o block.x; bind i.a thread.x; "
    f"split i.t {THREADS}; bind i.t.o block.x; bind i.t thread.x"
)
_KERNELS: dict[Callable[..., object], tuple[lw.LoopKernel, lw.LoopKernel]] = {}
"""Of each function one without and one with a mapping: sizes and data share their code."""


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case: its full size is in its name."""
    kind, _, power = case.rpartition(", 2^")
    function, choose = KINDS[kind]
    n = {"tiny": 300, "small": 1 << 14, "full": 1 << int(power)}[size]
    draw = np.random.default_rng(int(power))
    t, x = choose(n, draw), draw.random(n)
    plain, mapped = _KERNELS.setdefault(function, (lw.kernel(function), lw.kernel(function)))
    changing = [bench.array(one) for one in (t, x, np.zeros(n))]
    with lw.options(device=bench.device):
        lasting = [lw.device_array(one) for one in (t, x, np.zeros(n))]

    def in_order(arrays: list[Any]) -> Callable[[], object]:
        def run() -> object:
            with lw.options(schedule=MAPPED):
                return mapped(*arrays)

        return run

    runs: dict[str, Callable[[], object]] = {"loopwright": lambda: plain(*changing)}
    mappings = {"mapped": in_order(changing), "mapping kept": in_order(lasting)}

    def agrees() -> bool:
        wanted = expected(kind, t, x)
        right = [bool(np.allclose(bench.host(changing[-1]), wanted))]
        for who, arrays in (("mapped", changing), ("mapping kept", lasting)):
            mappings[who]()
            got = arrays[-1].numpy() if arrays is lasting else bench.host(arrays[-1])
            right.append(bool(np.allclose(got, wanted)))
        return all(right)

    runs |= mappings if bench.torch is not None else {}
    return Trial(f"{n} iterations", float(total(kind, t)), "op", runs, agrees, "", kernel=plain)


def expected(kind: str, t: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What comes out: the sum of a geometric series."""
    if kind != "four branches":
        return np.asarray(x * (1.0 - 0.5**t) / 0.5)
    factor = np.array(FACTORS)[t]
    return np.asarray(x * (1.0 - factor**STEPS) / (1.0 - factor))


def total(kind: str, t: np.ndarray) -> int:
    """Operations of all iterations together."""
    return 2 * (STEPS * len(t) if kind == "four branches" else int(t.sum()))


PART = Part("irregular", CASES, ("tiny", "small", "full"), make)
