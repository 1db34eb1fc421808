"""Loopwright's own times alone: the first call of each case, and the median of those that follow.

It says nothing of peers, so that two copies of Loopwright can be compared in little time: `benchmarks.compare`."""

from __future__ import annotations

import json
import time
from typing import Annotated

import typer

from benchmarks.gpu.__main__ import chosen
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.trial import Part

SIZE = "LARGE"
BUDGET_S = 1.0


def main(
    only: Annotated[str, typer.Option(help="Parts or part/case, with commas between them.")] = "",
    device: Annotated[str, typer.Option(help="cuda, or emulated for a dry run.")] = "cuda",
    tiny: Annotated[bool, typer.Option(help="The least sizes.")] = False,
    agree: Annotated[bool, typer.Option(help="Compare results with the reference.")] = False,
) -> None:
    """A line of JSON for each case: seconds of the first call by the CPU's clock, median of the next by the GPU's."""
    bench = Bench(device, BUDGET_S)  # type: ignore[arg-type]
    for part, case in chosen(only):
        try:
            found = measured(bench, part, case, part.sizes[0] if tiny else size_of(part), agree)
        except Exception as error:
            found = {"fault": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps({"case": f"{part.name}/{case}"} | found), flush=True)


def size_of(part: Part) -> str:
    """PolyBench's LARGE; the largest of the others."""
    return SIZE if SIZE in part.sizes else part.sizes[-1]


def measured(bench: Bench, part: Part, case: str, size: str, agree: bool) -> dict[str, object]:
    """One case: `first_s`, `seconds`, and `agrees` where that was asked for and can be told."""
    trial = part.make(bench, case, size)
    run = trial.runs["loopwright"]
    bench.wait()
    start = time.perf_counter()
    run()
    bench.wait()
    first_s = time.perf_counter() - start
    agrees = None
    if agree and trial.agrees is not None:
        if trial.before is not None:
            trial.before()
        run()
        bench.wait()
        agrees = bool(trial.agrees())
    seconds = bench.seconds(run, trial.clock, trial.before, bench.budget_s)
    return {"size": trial.size, "first_s": first_s, "seconds": seconds, "agrees": agrees}


if __name__ == "__main__":
    typer.run(main)
