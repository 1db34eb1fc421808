"""Loopwright's own times on this machine's cores alone: `benchmarks.gpu.ours` without a GPU, for PolyBench."""

from __future__ import annotations

import json
import statistics
import time
from types import ModuleType
from typing import Annotated

import typer

import loopwright as lw
from benchmarks.polybench import MODULES

LEAST, MOST = 3, 40


def main(
    only: Annotated[str, typer.Option(help="PolyBench's names, with commas between them.")] = "",
    size: Annotated[str, typer.Option(help="One of PolyBench's.")] = "LARGE",
    budget: Annotated[float, typer.Option(help="Seconds for the calls of one kernel.")] = 2.0,
) -> None:
    """A line of JSON for each kernel: seconds of the first call, and the median of the later half of the next ones."""
    for module in MODULES:
        if not only or module.NAME in only.split(","):
            print(json.dumps({"case": module.NAME} | measured(module, size, budget)), flush=True)


def measured(module: ModuleType, size: str, budget: float) -> dict[str, object]:
    """One kernel, each call on PolyBench's initial values: those of a call before would lead to other numbers."""
    kernel = lw.kernel(module.kernel)
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) <= LEAST or (len(times) <= MOST and time.perf_counter() - begin < budget + times[0]):
        arguments = module.initialise(**module.SIZES[size]).values()
        start = time.perf_counter()
        kernel(*arguments)
        times.append(time.perf_counter() - start)
    settled = times[1 + len(times) // 2 :]  # by then it knows which threads gain
    return {"size": size, "first_s": times[0], "seconds": statistics.median(settled), "agrees": None}


if __name__ == "__main__":
    typer.run(main)
