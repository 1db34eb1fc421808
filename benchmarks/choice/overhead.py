"""Part `overhead`: what a choice costs: among 100 variants on a new shape, on a repeated one, in a real call, and in
memory."""

from __future__ import annotations

import gc
import statistics
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

import loopwright as lw
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Row
from loopwright.choice.adapt import Adaptive
from loopwright.config import Config, current, options
from loopwright.ir.signature import Shape, shape_of
from loopwright.ir.variant import Variant, default_variant
from loopwright.predict.model import models_of
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work

VARIANTS = 100
SEEN = (64, 128, 200, 256, 384, 512, 700, 1024, 1500, 2048)
ROUNDS = {"small": 3, "full": 15}
CALLS = {"small": 200, "full": 20_000}
SHAPES = {"small": 50, "full": 1000}


@lw.kernel
def added(out, one, other):
    for i in range(out.shape[0]):
        out[i] = one[i] + other[i]


def run(bench: Bench) -> None:
    """Both cases."""
    for name, measure in (("100 variants", choices), ("calls", calls)):
        if bench.wanted("overhead", name):
            bench.kept(bench.book.row("overhead", name), partial(measure, bench))


def choices(bench: Bench, row: Row) -> None:
    """Of one kernel with 100 variants, each measured at ten sizes."""
    rows = measured(VARIANTS)
    gc.collect()
    tracemalloc.start()
    begun = time.perf_counter_ns()
    adaptive = made(rows)
    row.values["fit_ms"] = (time.perf_counter_ns() - begun) / 1e6
    row.values["memory_bytes"] = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    adaptive = made(rows)  # again: memory that is traced is slow
    new, known = [], []
    for k in range(SHAPES[bench.size]):
        shape = Shape((2100 + k,))
        work = work_at(2100 + k)
        new.append(nanoseconds(lambda s=shape, w=work: adaptive.choose(s, w)))  # type: ignore[misc]
        known.append(nanoseconds(lambda s=shape, w=work: adaptive.choose(s, w)))  # type: ignore[misc]
    row.values |= {"new_us": statistics.median(new) / 1e3, "new_95_us": float(np.percentile(new, 95)) / 1e3}
    row.values["repeated_us"] = statistics.median(known) / 1e3


def measured(count: int) -> list[Measurement]:
    """Times that a machine might have: how fast a choice is does not depend on them."""
    draw = np.random.default_rng(6)
    found = []
    for k in range(count):
        variant = Variant("cpu", "recipe" if k == 0 else f"split i {k}", 2)
        fixed, each = 1e4 * draw.random(), 0.5 + draw.random()
        for n in SEEN:
            time_ns = (fixed + each * n * n) * (1 + 0.03 * draw.random())
            found.append(Measurement("kernel", "machine", variant, Shape((n,)), work_at(n), "ok", time_ns, 0.01, 9))
    return found


def work_at(n: int) -> Work:
    """Of a kernel of two loops."""
    return Work(float(n * n), float(n), float(n), 16.0 * n * n, 8.0 * n * n, 8.0 * n * n)


def made(rows: Sequence[Measurement]) -> Adaptive:
    """What a kernel keeps while it runs."""
    models = models_of(rows)
    return Adaptive(
        "kernel", {"cpu": "machine"}, models.variants, models.estimate, now=time.time, history=rows, share=0.0
    )


def nanoseconds(run: Callable[[], object]) -> int:
    """Of one run."""
    begun = time.perf_counter_ns()
    run()
    return time.perf_counter_ns() - begun


# ---- a real kernel ------------------------------------------------------------------------------------------------


def calls(bench: Bench, row: Row) -> None:
    """The same call of a kernel of which nothing is known, and of one that has a choice; one shape again and again, and
    ten shapes in turns. Times are medians of rounds, in turns."""
    with tempfile.TemporaryDirectory(prefix="loopwright-") as folder:
        plain = replace(bench.config, device="cpu", store="off", explore=False)
        tuned = replace(plain, store=Path(folder) / "store.sqlite3")
        untold, told = lw.kernel(added.__wrapped__), lw.kernel(added.__wrapped__)  # type: ignore[attr-defined]
        sets = [tuple(np.zeros(n) for _ in range(3)) for n in range(8, 18)]
        with _under(tuned):
            _known(told, sets)
        times: dict[str, list[float]] = {}
        for _ in range(ROUNDS[bench.size]):
            for name, kernel, config in (("untuned", untold, plain), ("tuned", told, tuned)):
                with _under(config):
                    for what, some in (("same", sets[:1]), ("turns", sets)):
                        times.setdefault(f"{name}_{what}", []).append(_per_call(kernel, some, CALLS[bench.size]))
        row.values |= {f"{name}_us": statistics.median(some) / 1e3 for name, some in times.items()}
        for what in ("same", "turns"):
            row.values[f"choice_{what}_us"] = row.values[f"tuned_{what}_us"] - row.values[f"untuned_{what}_us"]
        row.values["has a choice"] = _has_choice(told)
        journal_of(tuned).close()


def _known(kernel: lw.LoopKernel, sets: Sequence[tuple[np.ndarray, ...]]) -> None:
    """Have measurements of two variants in the store, so that there is a choice."""
    config = current()
    one = kernel.specialise(*sets[0])
    machine = machine_of("cpu", config)
    assert machine is not None
    journal = journal_of(config)
    journal.put_machine(machine)
    default = default_variant(config)
    for given in sets:
        shape = shape_of(given)
        for variant, time_ns in ((default, 900.0), (Variant("cpu", "plain", 1), 1000.0)):
            work = Work(float(len(given[0])), float(len(given[0])), 1.0, 24.0 * len(given[0]))
            journal.add(Measurement(one.fingerprint, machine.fingerprint, variant, shape, work, "ok", time_ns, 0.01, 9))
    journal.flush()


def _has_choice(kernel: lw.LoopKernel) -> bool:
    """Whether variants are chosen for its calls: else the difference says nothing."""
    return any(chooser is not None for _, chooser in kernel._dispatch._choosers.values())


def _per_call(kernel: lw.LoopKernel, sets: Sequence[tuple[np.ndarray, ...]], count: int) -> float:
    for given in sets:
        kernel(*given)
    begun = time.perf_counter_ns()
    for _ in range(count // len(sets)):
        for a, b, c in sets:
            kernel(a, b, c)
    return (time.perf_counter_ns() - begun) / (count // len(sets) * len(sets))


def _under(config: Config):  # type: ignore[no-untyped-def]
    return options(device="cpu", store=config.store, cache=config.cache, explore=config.explore, threads=config.threads)
