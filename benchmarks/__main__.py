"""`python -m benchmarks`: measure, print the tables, keep the JSON."""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import loopwright as lw
from benchmarks import machine, openblas, overhead, results, table
from benchmarks.cases import SIZES, Case, all_cases
from benchmarks.contenders import notes
from benchmarks.measure import Settings, measure
from loopwright.config import available_cores


def main(
    only: Annotated[list[str] | None, typer.Option(help="Only kernels whose name holds this. May be repeated.")] = None,
    size: Annotated[str, typer.Option(help=f"PolyBench's size: {', '.join(SIZES)}.")] = "LARGE",
    repeat: Annotated[int, typer.Option(min=1, help="Rounds for each kernel, as far as its budget goes.")] = 15,
    budget: Annotated[float, typer.Option(help="Seconds after which a kernel gets no third round or later.")] = 8.0,
    threads: Annotated[int, typer.Option(min=1, help="Threads.")] = available_cores(),
    output: Annotated[Path | None, typer.Option(help="The JSON file instead of one in benchmarks/results.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="MEDIUM size, 3 rounds, no look at new processes.")] = False,
) -> None:
    """PolyBench, stencils beyond the cache, sparse loops, the tour and the cost of a call: Loopwright, numba, C, tiled
    C and OpenBLAS in one run."""
    settings = Settings(size=size, rounds=repeat, budget_s=budget, threads=threads, fresh=True)
    if quick:
        settings = Settings(size="MEDIUM", rounds=3, budget_s=budget, threads=threads, fresh=False)
    if settings.size not in SIZES:
        raise typer.BadParameter(f"no size {size!r}: there are {', '.join(SIZES)}")
    cases = chosen(only or [])
    if not cases:
        raise typer.BadParameter(f"no kernel's name holds {' or '.join(only or [])}")
    with tempfile.TemporaryDirectory(prefix="loopwright-bench-") as folder:
        run(cases, settings, Path(folder), output or results.default_path(settings.size))


def chosen(only: list[str]) -> tuple[Case, ...]:
    """The cases whose names hold one of the words, or all."""
    return tuple(case for case in all_cases() if not only or any(word in case.name for word in only))


def run(cases: tuple[Case, ...], settings: Settings, work: Path, output: Path) -> None:
    """Measure the cases one by one, with a cache of their own; then show the tables and keep the numbers."""
    console = table.console()
    start = time.perf_counter()
    known = results.reasons()
    limits = machine.measure(settings.threads, work)
    limits = replace(limits, versions=limits.versions | openblas.versions())
    kept = asdict(settings) | {"notes": notes()}
    rows: list[results.Row] = []
    with lw.options(cache=work / "cache", threads=settings.threads):
        for number, case in enumerate(cases, 1):
            with console.status(f"{case.name} ({number} of {len(cases)})"):
                rows.append(measure(case, settings, limits, known.get(case.name, ""), work))
            results.write(output, limits, rows, None, kept)  # what is measured is not lost with the run
            if not console.is_terminal:
                console.print(table.progress(rows[-1]), highlight=False)
        calls = overhead.measure(work)
    results.write(output, limits, rows, calls, kept)
    show(console, limits, rows, calls)
    console.print(f"{time.perf_counter() - start:.0f} s in all; kept in {output}", highlight=False)


def show(console: Console, limits: machine.Machine, rows: list[results.Row], calls: results.Overhead) -> None:
    """All tables."""
    console.print(table.speed_table(rows), table.others_table(rows, notes()), sep="\n")
    if any(row.streamed_bytes for row in rows):
        console.print(table.bytes_table(limits, rows))
    console.print(table.fresh_table(rows), table.overhead_table(calls), table.goals_table(rows), sep="\n")
    console.print(table.summary(limits, rows), highlight=False)


if __name__ == "__main__":
    typer.run(main)
