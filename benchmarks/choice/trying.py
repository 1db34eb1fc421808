"""Variants of one call compiled on all cores, and then measured one at a time, each in a process apart that compares
its result with the reference first."""

from __future__ import annotations

import inspect
import queue
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.choice.making import Asked, config_of
from loopwright.ir.nodes import Store
from loopwright.ir.signature import shape_of
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant, default_variant
from loopwright.ir.walk import statements
from loopwright.specialisation import Specialisation
from loopwright.tuning.arguments import save, write
from loopwright.tuning.isolated import Isolated
from loopwright.tuning.jobs import Setting, Trial, Tried
from loopwright.tuning.work import work_form

HOPELESS = 5
"""Who takes so many times as long as the best so far is not measured more than once."""

RUNS = 8
"""Of the best so far: for how long the others are measured."""

LIMIT_S = 90.0
"""What one trial may take, the start of a process and the reference run included."""

LEAST_S = 1.0
"""What a trial gets when the time of all is nearly up."""

PLAIN_ITERATIONS = 2e8
"""Up to so many iterations the reference is the loops as they are written, in one thread."""


def setting_of(asked: Asked, one: Specialisation, arguments: tuple[object, ...], path: Path) -> Setting:
    """What the processes are told. path: where the arguments are to be kept. Arrays are in the GPU's memory before a
    call. Raises OSError."""
    kernel = one.analysed.written
    write(save(arguments), path)
    stored = {stmt.array for stmt in statements(kernel.body) if isinstance(stmt, Store)}
    written = tuple(sorted({param.argument for param in kernel.arrays if param.name in stored}))
    form = work_form(kernel, one.analysed.facts, one.signature)
    sizes = shape_of(arguments)
    config = config_of(asked)
    cpu = replace(config, device="cpu")
    is_small = 0 < form.at(sizes).iterations <= PLAIN_ITERATIONS
    reference = Variant("cpu", PLAIN, 1) if is_small else default_variant(cpu)
    names = tuple(inspect.signature(asked.case.kernel).parameters)
    resident = asked.device != "cpu"
    return Setting(print_kernel(kernel), names, written, one.signature, config, str(path), reference, resident)


@dataclass(frozen=True, slots=True)
class Timed:
    """What became of a variant, and for how long it was measured, its check included."""

    tried: Tried
    measure_ns: int


class Crew:
    """As many processes as there are cores. Use it as a context manager."""

    def __init__(self, setting: Setting, cores: int) -> None:
        self._setting = setting
        self._isolated = [Isolated(setting) for _ in range(cores)]
        self._by: dict[Variant, Isolated] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Crew:
        for one in self._isolated:
            self._stack.enter_context(one)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def compiled(self, variants: Sequence[Variant], end: float) -> dict[Variant, Tried]:
        """Those that can be compiled until `end`, all processes at work. Each is kept by the process that made it."""
        waiting: queue.SimpleQueue[Variant] = queue.SimpleQueue()
        for variant in variants:
            waiting.put(variant)
        found: dict[Variant, Tried] = {}
        stopped = threading.Event()

        def work(isolated: Isolated) -> None:
            while time.monotonic() < end and not stopped.is_set():
                try:
                    variant = waiting.get_nowait()
                except queue.Empty:
                    return
                found[variant] = isolated.tried(Trial(variant, 0, compile_only=True), LIMIT_S)
                self._by[variant] = isolated

        threads = [threading.Thread(target=work, args=(one,)) for one in self._isolated]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:  # after ctrl-C nobody starts another process
            stopped.set()
        return found

    def measured(self, variants: Sequence[Variant], end: float, told: Callable[[Timed], None]) -> None:
        """One at a time, until `end`. told: of each."""
        best = 0.0
        for variant in variants:
            if time.monotonic() >= end:
                return
            budget = int(max(2e7, RUNS * best)) if best else int(3e8)
            trial = Trial(variant, budget, hopeless_ns=int(HOPELESS * best))
            begun = time.perf_counter_ns()
            limit_s = min(LIMIT_S, max(LEAST_S, end - time.monotonic()))
            tried = self._by.get(variant, self._isolated[0]).tried(trial, limit_s)
            if tried.outcome == "timeout" and limit_s < LIMIT_S:
                return  # not its fault: the time of all was up
            told(Timed(tried, time.perf_counter_ns() - begun))
            if tried.outcome == "ok":
                best = min(best or tried.time_ns, tried.time_ns)

    def again(self, variants: Sequence[Variant], rounds: int, budget_ns: int) -> dict[Variant, float]:
        """The least median of several rounds, in turns, all in one process: for those that are nearly as fast as one
        another. Only those that ran."""
        found: dict[Variant, float] = {}
        first = self._isolated[0]
        for variant in variants:
            first.tried(Trial(variant, 0, compile_only=True), LIMIT_S)
        for _ in range(rounds):
            for variant in variants:
                tried = first.tried(Trial(variant, budget_ns), LIMIT_S)
                if tried.outcome == "ok":
                    found[variant] = min(found.get(variant, tried.time_ns), tried.time_ns)
        return found
