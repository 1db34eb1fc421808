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
from numpy.typing import NDArray

import loopwright as lw
from benchmarks.choice.parts import Bench
from loopwright.config import Config, options
from loopwright.errors import LoopwrightError
from loopwright.ir.nodes import Store
from loopwright.ir.signature import Shape, shape_of
from loopwright.ir.variant import PLAIN, RECIPE, Variant
from loopwright.ir.walk import statements
from loopwright.profile.clock import measure
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.work_form import WorkForm
from loopwright.tuning.agreement import disagreement
from loopwright.tuning.judge import judge_for
from loopwright.tuning.members import Members
from loopwright.tuning.work import work_form

NAMES = ("gemm", "syrk", "bicg", "gemver", "mvt", "gesummv")
LARGE = 1.0
LEAST, MOST = 0.03, 1.15 * LARGE
"""The sizes that are trained with, as parts of those of LARGE: no unseen one is larger. Where the squares matter, SMALL
is about 0.06 and MEDIUM 0.2 of them."""

TRAINED = {"small": 3, "full": 12}
REFINED = {"small": 1, "full": 6}
"""At so many sizes that grow by the same factor; and so many more, where times bend most."""

MEMBERS = {"small": 0, "full": 2}
"""Variants besides the recipe's own and the plain loops: the most promising of the space."""

LOOKING = 0.2
"""Of the time of a kernel, for making members of its spaces."""


Results = tuple[NDArray[Any], ...]
"""The arrays that a call has written."""


@dataclass
class Problem:
    """A PolyBench kernel under these options."""

    name: str
    config: Config
    _arguments: dict[float, tuple[object, ...]] = field(default_factory=dict)

    @cached_property
    def module(self) -> Any:
        return importlib.import_module(f"benchmarks.polybench.{self.name}")

    @cached_property
    def kernel(self) -> lw.LoopKernel:
        return lw.kernel(self.module.kernel)

    def arguments(self, scale: float) -> tuple[object, ...]:
        """Of a call: LARGE times so much in each dimension. They are made once, and nobody may write to them."""
        if scale not in self._arguments:
            sizes = {name: max(4, round(size * scale)) for name, size in self.module.SIZES["LARGE"].items()}
            self._arguments[scale] = tuple(self.module.initialise(**sizes).values())
        return self._arguments[scale]

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

    @cached_property
    def written(self) -> frozenset[int]:
        """Positions of the arguments that the kernel writes."""
        kernel = self.one.analysed.written
        stored = {stmt.array for stmt in statements(kernel.body) if isinstance(stmt, Store)}
        return frozenset(param.argument for param in kernel.arrays if param.name in stored)

    def checked(
        self, variant: Variant, arguments: Sequence[object], expected: Results | None
    ) -> tuple[Results | None, tuple[str, str] | None]:
        """Call it once. What others' results are to be compared with, which are these where nothing was expected; and
        the outcome and the reason where it did not run, or its result was another one."""
        own = self._own(arguments)
        try:
            with _under(self.config, variant):
                self.kernel(*own)
        except LoopwrightError as error:
            return expected, ("refused", str(error).splitlines()[0])
        found = tuple(one for place, one in enumerate(own) if place in self.written and isinstance(one, np.ndarray))
        if expected is None:
            return found, None
        wrong = disagreement(expected, found, self.config.strict)
        return expected, ("wrong", wrong) if wrong else None

    def timed(self, variant: Variant, arguments: Sequence[object], budget_s: float) -> dict[str, Any]:
        """How long a call takes, of many one right after the other on the same arrays, as a program that makes them
        has it: no values of theirs change how long it takes. Arrays are in the memory of the host before and after."""
        own = self._own(arguments)
        with _under(self.config, variant):
            timing = measure(lambda: self.kernel(*own), _nothing, time.perf_counter_ns, budget_s * 1e9, wanted=0.0)
        return {"time_ns": timing.median_ns, "spread": timing.spread, "runs": timing.runs}

    def _own(self, arguments: Sequence[object]) -> list[object]:
        """The arguments, with copies of those that are written."""
        return [
            one.copy() if place in self.written and isinstance(one, np.ndarray) else one
            for place, one in enumerate(arguments)
        ]

    def work(self, sizes: Sequence[int]) -> Work:
        """In a call of these sizes."""
        return self.form.at(Shape(tuple(sizes)))

    def measurement(self, entry: dict[str, Any], machines: dict[str, str]) -> Measurement:
        """One that was kept as numbers."""
        variant, shape = Variant.parse(entry["variant"]), Shape(tuple(entry["sizes"]))
        return Measurement(
            self.one.fingerprint, machines[variant.device], variant, shape, self.form.at(shape), entry["outcome"],
            entry.get("time_ns", 0.0), entry.get("spread", 0.0), entry.get("runs", 0),
        )  # fmt: skip


def _nothing() -> None:
    """Nothing is restored between calls."""


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


def scales(size: str) -> list[float]:
    """What is trained with at first: sizes that grow by the same factor."""
    low, high = (0.02, 0.1) if size == "small" else (LEAST, MOST)
    return [float(one) for one in np.geomspace(low, high, TRAINED[size])]


def drawn(seed: int, low: float, high: float, count: int) -> list[float]:
    """Unseen scales, log-uniform."""
    draw = np.random.default_rng(seed)
    return [float(one) for one in np.exp(draw.uniform(math.log(low), math.log(high), count))]
