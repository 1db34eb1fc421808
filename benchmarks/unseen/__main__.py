"""`python -m benchmarks.unseen OUT.json`: on the CPU (`--device cpu`) beside numba.njit, one thread each, the least
times of the thread by turns, at sizes of milliseconds; on a GPU (`--device cuda`), with `lw.device_array`s, until it
has done everything, beside the same kernel on all threads of the CPU and what a copy of all arguments would take.
Results are compared, in float32 roughly, as threads add up in another order.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import numpy as np

import loopwright as lw
from benchmarks.machine import cpu_name, versions
from benchmarks.unseen import (  # noqa: F401
    algorithms,
    batches,
    bodies,
    chances,
    codes,
    currents,
    discrete,
    dynamics,
    engineering,
    environments,
    estimates,
    expressions,
    fields,
    figures,
    gradients,
    grids,
    imaging,
    information,
    instruments,
    journeys,
    laboratory,
    layers,
    learning,
    ledgers,
    maps,
    markets,
    matter,
    mixed,
    models,
    motions,
    nature,
    networks,
    observations,
    operators,
    pages,
    pairs,
    perception,
    physics,
    pictures,
    puzzles,
    records,
    samples,
    scenes,
    sciences,
    searches,
    series,
    signals,
    strategies,
    structures,
    surveys,
    tables,
    training,
    units,
    vision,
    weights,
)
from benchmarks.unseen.program import PROGRAMS, Arguments, Program

ROUNDS, LONGEST_S = 25, 1.2
COPY_BYTES_PER_S = 4.2e12
"""Of an H200, read and written, as measured."""


def own(arguments: Arguments) -> Arguments:
    """A copy."""
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


def different(mine: Any, other: Any) -> float:
    """The part of the elements that differ by more than rounding."""
    a, b = np.asarray(mine), np.asarray(other)
    if a.dtype.kind not in "fc":
        return float((a != b).mean()) if a.size else 0.0
    tolerance = 2e-3 if a.dtype == np.float32 else 1e-5
    with np.errstate(all="ignore"):
        near = np.isclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return float((~near).mean()) if a.size else 0.0


def results(arguments: Arguments, returned: Any) -> list[Any]:
    """The arrays of a call as it left them, and what it returned."""
    values = returned if isinstance(returned, tuple) else () if returned is None else (returned,)
    return [one.numpy() if hasattr(one, "numpy") else one for one in (*arguments, *values)]


def least(runs: dict[str, Callable[..., object]], arguments: Arguments, clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of calls that take turns, each with arguments as they were."""
    found, end, turn = dict.fromkeys(runs, float("inf")), time.perf_counter() + LONGEST_S, 0
    while turn < 3 or (turn < ROUNDS and time.perf_counter() < end):
        for name, run in runs.items():
            given = own(arguments)
            begun = clock()
            run(*given)
            found[name] = min(found[name], clock() - begun)
        turn += 1
    return found


def on_cpu(one: Program) -> dict[str, Any]:
    """Beside numba, with one thread."""
    import numba

    arguments, first = one.make(one.middle), dict[str, float]()
    runs: dict[str, Callable[..., object]] = {"loopwright": lw.kernel(threads=1)(one.function)}
    runs["numba"] = numba.njit(one.function)
    found: dict[str, list[Any]] = {}
    for name, run in runs.items():
        given, begun = own(arguments), time.perf_counter()
        try:
            found[name] = results(given, run(*given))
        except numba.core.errors.NumbaError as error:
            return {"case": one.name, "numba": str(error).splitlines()[0]}
        first[name] = time.perf_counter() - begun
    differs = max((different(a, b) for a, b in zip(*found.values(), strict=True)), default=0.0)
    seconds = least(runs, arguments, time.thread_time)
    return {"case": one.name, "size": one.middle, "seconds": seconds, "first": first, "differs": differs,
            "speed": seconds["numba"] / seconds["loopwright"]}  # fmt: skip


def on_gpu(one: Program, device: str, where: Literal["host", "device"] = "host") -> dict[str, Any]:
    """Beside the CPU, all of its threads. where: what the option `results` is."""
    is_real = device == "cuda"
    arguments = one.make(one.large if is_real else one.small)
    kernel, other = lw.kernel(device=device, results=where)(one.function), lw.kernel(device="cpu")(one.function)
    given = own(arguments)
    expected = results(given, other(*given))
    with lw.options(device=device):
        there = tuple(lw.device_array(a) if isinstance(a, np.ndarray) else a for a in arguments)
    begun = time.perf_counter()
    found = results(there, kernel(*there))
    row: dict[str, Any] = {"case": one.name, "first_s": time.perf_counter() - begun}
    row["differs"] = max((different(a, b) for a, b in zip(expected, found, strict=True)), default=0.0)
    row["schedule"] = str(kernel.explain(*there).schedule)
    if is_real:
        import torch

        def timed(*_: object) -> None:
            kernel(*there)
            torch.cuda.synchronize()

        size = sum(a.nbytes for a in arguments if isinstance(a, np.ndarray))
        row |= {"ms": 1e3 * least({"": timed}, (), time.perf_counter)[""], "copy_ms": 1e3 * size / COPY_BYTES_PER_S}
        row["cpu_ms"] = 1e3 * least({"": other}, arguments, time.perf_counter)[""]
    return row


def main() -> None:
    """Measure, and write each row as soon as it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--results", default="host", choices=("host", "device"))
    parser.add_argument("--only", default="", help="words of names, with commas between them")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for one in PROGRAMS.values():
        if any(word in one.name for word in asked.only.split(",")):
            rows.append(on_cpu(one) if asked.device == "cpu" else on_gpu(one, asked.device, asked.results))
            print({key: value for key, value in rows[-1].items() if key != "schedule"}, flush=True)
            text = {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "cpu": cpu_name(), "device": asked.device,
                    "versions": versions(), "rows": rows}  # fmt: skip
            asked.out.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
