"""The command line: measure, print rows as they come, keep the JSON."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks import table
from benchmarks.gpu.bench import NoBench
from benchmarks.gpu.parts import PARTS
from benchmarks.gpu.rows import Row, against, kept, table_of, write
from benchmarks.gpu.trial import STEPS, Part
from benchmarks.gpu.worker import Worker

RESULTS = Path(__file__).parents[1] / "results"
NAMES = ", ".join(part.name for part in PARTS)


def main(
    output: Annotated[Path | None, typer.Argument(help="The JSON file; rows that it has already are kept.")] = None,
    only: Annotated[str, typer.Option(help=f"Parts, with commas between them: {NAMES}; or part/case.")] = "",
    budget: Annotated[float, typer.Option(min=0.1, help="Seconds that a case may take, about.")] = 12.0,
    size: Annotated[str, typer.Option(help="tiny, small or full.")] = "full",
    device: Annotated[str, typer.Option(help="cuda, or emulated for a dry run.")] = "cuda",
) -> None:
    """Loopwright on a GPU beside PyTorch, CuPy, Triton and numba.cuda."""
    if size not in STEPS or device not in ("cuda", "emulated"):
        raise typer.BadParameter(f"no size {size!r}" if size not in STEPS else f"no device {device!r}")
    cases = chosen(only)
    path = output or RESULTS / f"{datetime.now():%Y-%m-%dT%H%M%S}-GPU.json"
    worker = Worker(PARTS, device, budget)  # type: ignore[arg-type]
    try:
        rows, told = run(worker, cases, size, path, table.console())
    except NoBench as error:
        print(error)
        raise typer.Exit(1) from None
    finally:
        worker.stop()
    summary(rows, told, table.console())


def chosen(only: str) -> list[tuple[Part, str]]:
    """The cases that are asked for: whole parts, or single ones as `part/case`."""
    every = [(part, case) for part in PARTS for case in part.cases]
    if not only:
        return every
    found: list[tuple[Part, str]] = []
    for word in only.split(","):
        matching = [(part, case) for part, case in every if word.strip() in (part.name, f"{part.name}/{case}")]
        if not matching:
            raise typer.BadParameter(f"no part or case {word.strip()!r}: there are {NAMES}")
        found += matching
    return found


def run(
    worker: Worker, cases: list[tuple[Part, str]], size: Any, path: Path, console: Console
) -> tuple[list[Row], dict[str, Any]]:
    """Measure what the file does not have yet; all rows of the file, and what they rest on."""
    worker.start()
    told = worker.told | {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "asked": size}
    rows = kept(path, told)
    for part, case in cases:
        if any((row.part, row.case) == (part.name, case) for row in rows):
            continue
        row = worker.row(part, case, size)
        rows.append(row)
        beside = against(rows, "polybench", "numba.cuda")
        write(path, told | ({"polybench": beside} if beside["ratios"] else {}), rows)
        console.print(f"{part.name}/{case}, {row.size}: {row.text()}", highlight=False, markup=False)
    return rows, told


def summary(rows: list[Row], told: dict[str, Any], console: Console) -> None:
    """The table, and PolyBench's mean."""
    copy = told["copy_bytes_per_s"]
    console.print(table_of(rows, f"{told['gpu']}" + (f"; copy {copy / 1e9:.0f} GB/s" if copy else "")))
    found = against(rows, "polybench", "numba.cuda")
    if not found["ratios"]:
        return
    each = ", ".join(f"{case} {ratio:.2f}" for case, ratio in found["ratios"].items())
    missing = f"; without a ratio: {', '.join(found['missing'])}" if found["missing"] else ""
    console.print(
        f"PolyBench, {len(found['ratios'])} kernels: {found['mean']:.2f} times as fast as numba.cuda by hand "
        f"(geometric mean). {each}{missing}",
        highlight=False,
    )


if __name__ == "__main__":
    typer.run(main)
