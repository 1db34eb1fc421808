"""Loops whose trip counts or branches only data tells: iterations as they stand (`remap="off"`), in the order of their
keys (`remap="redirect i"`), and as Loopwright decides (`remap="auto"`). Each with an order that is found in each call
(tensors, of which nobody knows whether they have changed), and with one that is kept between calls (`lw.device_array`,
whose versions say that nothing has). A row says what was predicted, and when the order served. Times are those of
REPEATED calls one after the other, until the GPU has done them all: kernels on device arrays run in a stream of their
own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part, Trial

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
SETTLE_S = {16: 2.5, 20: 5.0, 22: 5.0}
"""For so long at most, by size, calls are made until an order serves; then some more: a small gain of long calls is
waited for."""
REPEATED = 20
SIZES = {"tiny": 300, "small": 1 << 15}
LOOK_S = 0.25
"""After so long, somebody looks whether it does."""
_MADE: dict[tuple[Callable[..., object], str, str], lw.LoopKernel] = {}


def kernel_of(function: Callable[..., object], remap: str, case: str = "") -> lw.LoopKernel:
    """The kernel of a function under an option. case: other data of the same sizes have another decision."""
    return _MADE.setdefault((function, remap, case), lw.kernel(remap=remap)(function))


class Deciding:
    """Calls under `remap="auto"`, and what is decided about them."""

    def __init__(self, bench: Bench, function: Callable[..., object], case: str, arrays: list[Any]) -> None:
        self.bench, self.arrays = bench, arrays
        self.settle_s = SETTLE_S[int(case.partition("2^")[2].split()[0])]
        self.kernel, self.calls, self.seconds = kernel_of(function, "auto", case), 0, 0.0
        self.settled = 0

    def __call__(self) -> object:
        self.calls += 1
        return self.kernel(*self.arrays)

    def settle(self) -> None:
        """Make calls until the order serves, or for long enough."""
        begun, first = time.perf_counter(), self.calls
        while not self.in_order and time.perf_counter() - begun < self.settle_s:
            self._call_for(LOOK_S)
        self.seconds, self.settled = time.perf_counter() - begun, self.calls - first
        self._call_for(LOOK_S)

    def _call_for(self, seconds: float) -> None:
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for _ in range(20):
                self()
            self.bench.wait()

    @property
    def in_order(self) -> bool:
        return "redirect" in str(self.kernel.explain(*self.arrays).schedule)

    def told(self) -> str:
        """The decision, with the figures it rests on."""
        why, state = self.kernel.explain(*self.arrays).choices[0].why, "in order" if self.in_order else "as it stands"
        return f"{state} after {self.settled} calls and {self.seconds:.1f} s ({why})"


def make(bench: Bench, case: str, size: str) -> Trial:
    """The trial of a case: its full size is in its name."""
    kind, _, power = case.rpartition(", 2^")
    function, choose = KINDS[kind]
    n = SIZES.get(size, 1 << int(power))
    draw = np.random.default_rng(int(power))
    t, x = choose(n, draw), draw.random(n)
    plain, mapped = kernel_of(function, "off"), kernel_of(function, "redirect i")
    with lw.options(device=bench.device):
        lasting = [lw.device_array(one) for one in (t, x, np.zeros(n))]
    changing = [bench.array(one) for one in (t, x, np.zeros(n))]
    deciding = {
        who: Deciding(bench, function, f"{case} {who}", arrays)
        for who, arrays in (("auto", changing), ("auto, kept", lasting))
    }
    runs: dict[str, Callable[[], object]] = {"loopwright": lambda: plain(*changing)}
    others: dict[str, Callable[[], object]] = {
        "as it stands, kept": lambda: plain(*lasting),
        "redirect": lambda: mapped(*changing),
        "redirect, kept": lambda: mapped(*lasting),
        **deciding,
    }

    def agrees() -> bool:
        wanted = expected(kind, t, x)
        right = [bool(np.allclose(bench.host(changing[-1]), wanted))]
        for who, run in others.items() if bench.torch is not None else ():
            if isinstance(run, Deciding):
                run.settle()
            got = lasting[-1] if "kept" in who else changing[-1]
            clear(got)
            run()
            right.append(bool(np.allclose(got.numpy() if got is lasting[-1] else bench.host(got), wanted)))
        return all(right)

    def told() -> str:
        return "; ".join(f"{who}: {one.told()}" for who, one in deciding.items()) if bench.torch is not None else ""

    runs |= others if bench.torch is not None else {}
    repeated = {who: partial(repeat, run) for who, run in runs.items()}
    work = float(REPEATED * total(kind, t))
    return Trial(f"{n} iterations", work, "op", repeated, agrees, "", kernel=plain, clock="wall", told=told)


def repeat(run: Callable[[], object]) -> None:
    """So many calls."""
    for _ in range(REPEATED):
        run()


def clear(array: Any) -> None:
    """What a call does not write is seen then."""
    array.zero_() if hasattr(array, "zero_") else array.copy_from(np.zeros(array.shape))


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
