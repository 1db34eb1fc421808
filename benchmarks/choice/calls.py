"""Calls of PolyBench kernels in any size, their variants, and how long each takes: for `prediction` and `regret`."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import loopwright as lw
from benchmarks.choice.parts import Bench
from loopwright.config import Config, options
from loopwright.memory.on_device import is_on_device
from loopwright.profile.clock import measure
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import PLAIN, RECIPE, Measurement, Shape, Variant, Work
from loopwright.profile.work_form import WorkForm
from loopwright.runtime.agreement import disagreement
from loopwright.runtime.choosing import shape_of
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import Members
from loopwright.tuning.work import work_form

NAMES = ("gemm", "syrk", "bicg", "gemver", "mvt", "gesummv")
LEAST, LARGE = 0.06, 1.0
"""The sizes that are trained with, as parts of those of LARGE; where the squares matter, SMALL is about 0.06 and MEDIUM
0.2 of them."""

MEMBERS = {"small": 0, "full": 2}
"""Variants besides the recipe's own and the plain loops: the most promising of the space."""

ONE_S = {"small": 0.01, "full": 0.2, "cuda": 0.06}
"""By size, or device: for how long a variant is measured at one size, unless its median is known well enough before."""

LOOKING = 0.2
"""Of the time of a kernel, for making members of its spaces."""


@dataclass
class Problem:
    """A PolyBench kernel under these options."""

    name: str
    config: Config
    _expected: dict[Shape, tuple[Any, ...]] = field(default_factory=dict)

    @cached_property
    def module(self) -> Any:
        return importlib.import_module(f"benchmarks.polybench.{self.name}")

    @cached_property
    def kernel(self) -> lw.LoopKernel:
        return lw.kernel(self.module.kernel)

    def arguments(self, scale: float) -> tuple[object, ...]:
        """Of a call: LARGE times so much in each dimension."""
        sizes = {name: max(4, round(size * scale)) for name, size in self.module.SIZES["LARGE"].items()}
        return tuple(self.module.initialise(**sizes).values())

    @cached_property
    def one(self) -> Any:
        with _under(self.config, Variant("cpu", RECIPE, self.config.threads)):
            return self.kernel.specialise(*self.arguments(LEAST))

    @cached_property
    def form(self) -> WorkForm:
        return work_form(self.one.analysed.written, self.one.analysed.facts, self.one.signature)

    def call(self, arguments: Sequence[object]) -> tuple[Shape, Work]:
        """What predictions are made from."""
        shape = shape_of(arguments)
        return shape, self.form.at(shape)

    def variants(
        self, devices: Sequence[str], spent: Callable[[str], Callable[[], bool]], members: int
    ) -> list[Variant]:
        """The defaults of each device, the plain loops, one thread, and the most promising members of each device's
        space, of as many as can be made in time. spent: starts a device's share of it."""
        threads = self.config.threads
        found = [Variant(device, RECIPE, threads if device == "cpu" else 0) for device in devices]
        found += [Variant("cpu", PLAIN, threads), Variant("cpu", RECIPE, 1)]
        if not members:
            return found
        for device in devices:
            judge = judge_for(self.one, device, self.config, self.arguments(0.5))
            space = Members(self.one, device, self.config, judge)
            promising = space.pruned(spent(device), members + 1).measure
            workers = threads if device == "cpu" else 0
            found += [Variant(device, one, workers) for one in promising if one != RECIPE][:members]
        return list(dict.fromkeys(found))

    def time(self, variant: Variant, arguments: Sequence[object], budget_s: float) -> dict[str, Any]:
        """How long a call takes, after its result was compared with that of the default variant. Arrays are in the
        memory of the host before and after."""
        own = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]

        def reset() -> None:
            for mine, given in zip(own, arguments, strict=True):
                if isinstance(mine, np.ndarray) and isinstance(given, np.ndarray):
                    mine[...] = given

        with _under(self.config, variant):
            self.kernel(*own)
            wrong = self._disagreement(shape_of(arguments), own)
            if wrong:
                return {"variant": str(variant), "outcome": "wrong", "reason": wrong}
            timing = measure(lambda: self.kernel(*own), reset, time.perf_counter_ns, budget_s * 1e9)
        return {
            "variant": str(variant), "outcome": "ok", "time_ns": timing.median_ns,
            "spread": timing.spread, "runs": timing.runs,
        }  # fmt: skip

    def _disagreement(self, shape: Shape, found: Sequence[object]) -> str:
        arrays = tuple(one for one in found if isinstance(one, np.ndarray) and not is_on_device(one))
        known = self._expected.get(shape)
        if known is None:
            self._expected.clear()
            self._expected[shape] = tuple(one.copy() for one in arrays)
            return ""
        return disagreement(known, arrays, self.config.strict)

    def measurement(self, entry: dict[str, Any], machines: dict[str, str]) -> Measurement:
        """One that was kept as numbers."""
        variant, shape = Variant.parse(entry["variant"]), Shape(tuple(entry["sizes"]))
        return Measurement(
            self.one.fingerprint, machines[variant.device], variant, shape, self.form.at(shape), entry["outcome"],
            entry.get("time_ns", 0.0), entry.get("spread", 0.0), entry.get("runs", 0),
        )  # fmt: skip


@contextmanager
def _under(config: Config, variant: Variant) -> Iterator[Config]:
    with options(
        device=variant.device, cache=config.cache, threads=variant.threads or config.threads, store="off",
        schedule="" if variant.schedule in (RECIPE, PLAIN) else variant.schedule,
        recipe="plain" if variant.schedule == PLAIN else "auto",
    ) as found:  # fmt: skip
        yield found


def variants(bench: Bench, problem: Problem, devices: Sequence[str]) -> list[Variant]:
    """Of a problem, for what is left of the time."""
    share = LOOKING * bench.left_s() / len(devices)

    def spent(device: str) -> Callable[[], bool]:
        end = time.monotonic() + share
        return lambda: time.monotonic() >= end

    return problem.variants(devices, spent, MEMBERS[bench.size])


def devices(bench: Bench) -> tuple[str, ...]:
    """Those that a call of the host may run on."""
    return ("cpu",) if bench.device == "cpu" else ("cpu", bench.device)


def machines(bench: Bench) -> dict[str, str]:
    """The fingerprints of the devices."""
    found = {device: machine_of(device, bench.config) for device in devices(bench)}
    return {device: one.fingerprint if one is not None else device for device, one in found.items()}


def scales(size: str, most: float = LARGE) -> list[float]:
    """What is trained with: sizes that grow by the same factor."""
    count = 3 if size == "small" else 10
    high = 0.1 if size == "small" else most
    low = 0.02 if size == "small" else LEAST
    return [float(one) for one in np.geomspace(low, high, count)]


def drawn(seed: int, low: float, high: float, count: int) -> list[float]:
    """Unseen scales, log-uniform."""
    draw = np.random.default_rng(seed)
    return [float(one) for one in np.exp(draw.uniform(math.log(low), math.log(high), count))]


def surveyed(
    bench: Bench,
    problem: Problem,
    variants: Sequence[Variant],
    at: Sequence[float],
    table: list[dict[str, Any]],
    kind: str,
) -> None:
    """Measure every variant at every scale, the smallest first, and put what was found into a table, until the part's
    time is spent. One that took more than 20 times as long as the best at a smaller size is left out from there on."""
    hopeless: set[Variant] = set()
    for scale in sorted(at):
        arguments = problem.arguments(scale)
        times: dict[Variant, float] = {}
        for variant in variants:
            if variant in hopeless or bench.spent():
                continue
            entry = problem.time(variant, arguments, ONE_S["cuda" if bench.device == "cuda" else bench.size])
            table.append({"kind": kind, "scale": scale, "sizes": shape_of(arguments).sizes, **entry})
            if entry["outcome"] == "ok":
                times[variant] = entry["time_ns"]
        best = min(times.values(), default=0.0)
        hopeless |= {variant for variant, taken in times.items() if taken > max(20 * best, 5e7)}
