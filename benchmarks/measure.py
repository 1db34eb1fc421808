"""One kernel through the whole measurement: compile, race, compare, and look at it in a new process."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numba

from benchmarks import openblas
from benchmarks.agreement import judged
from benchmarks.cases import WARM_UP, Case, bytes_of
from benchmarks.contenders import CONTENDERS, Binder
from benchmarks.fresh import Fresh, in_new_process
from benchmarks.machine import Machine
from benchmarks.results import Row
from benchmarks.timing import race
from loopwright.config import current

FRESH_TIMEOUT_S = 300.0


@dataclass(frozen=True)
class Settings:
    """size: PolyBench's name for it. rounds, budget_s: see `timing.race`. fresh: look at new processes too."""

    size: str
    rounds: int
    budget_s: float
    threads: int
    fresh: bool


def measure(case: Case, settings: Settings, machine: Machine, reason: str, work: Path) -> Row:
    """The row of one kernel, under the options in force. work: a folder for the C libraries."""
    cold = _fresh(case, WARM_UP, settings)
    cached = _fresh(case, settings.size, settings)
    data = case.arguments(settings.size)
    numba.set_num_threads(min(settings.threads, numba.config.NUMBA_NUM_THREADS))
    binders, first_calls, failures = _warmed(case, work)
    with openblas.limited(settings.threads):
        run = race(binders, data, case.outputs, settings.rounds, settings.budget_s)
    return Row(
        name=case.name,
        suite=case.suite,
        size="its own" if case.suite == "tour" else settings.size,
        array_bytes=bytes_of(data),
        cells=judged(run, case.tolerance, first_calls, failures),
        bound_s=machine.bound_s(case.flops(settings.size), case.bytes_min(settings.size)),
        cold_s=cold.first_call_s if isinstance(cold, Fresh) else None,
        cached_s=cached.first_call_s if isinstance(cached, Fresh) else None,
        compiler_s=cold.compiler_s if isinstance(cold, Fresh) else None,
        memory_ratio=cached.memory_ratio if isinstance(cached, Fresh) else None,
        fresh_fault=next((fault for fault in (cold, cached) if isinstance(fault, str)), ""),
        reason=reason,
        streamed_bytes=case.streamed(settings.size) if case.streamed else None,
    )


def _fresh(case: Case, size: str, settings: Settings) -> Fresh | str | None:
    """What a new process found, or what went wrong in it; None where it was not asked for."""
    if not settings.fresh:
        return None
    try:
        return in_new_process(case.name, size, settings.threads, current().cache, FRESH_TIMEOUT_S)
    except RuntimeError as error:
        return str(error)


def _warmed(case: Case, work: Path) -> tuple[dict[str, Binder], dict[str, float], dict[str, str]]:
    """Everyone compiled, by a first call on small data: their binders, the seconds that took, and who failed."""
    binders: dict[str, Binder] = {}
    first_calls: dict[str, float] = {}
    failures: dict[str, str] = {}
    for contender in (one for one in CONTENDERS if one.takes(case)):
        arguments = case.arguments(WARM_UP)
        try:
            bind = contender.prepare(case, work)
            run = bind(*arguments.values())
            start = time.perf_counter()
            run()
            first_calls[contender.name] = time.perf_counter() - start
            binders[contender.name] = bind
        except Exception as error:
            failures[contender.name] = f"{type(error).__name__}: {error}"
    return binders, first_calls, failures
