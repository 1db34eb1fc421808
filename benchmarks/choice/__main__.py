"""The command line: run the parts, print rows as they come, keep the JSON, and compare with what is wanted."""

from __future__ import annotations

import os
import platform
import tempfile
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import table
from benchmarks.choice import goals, kernel_tuner, overhead, prediction, preparing, pruning, regret
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Book, told
from benchmarks.gpu.worker import content_of
from benchmarks.machine import cpu_name
from loopwright.config import available_cores, options
from loopwright.devices.gpus import gpu_of, why_no_gpu
from loopwright.revision import PACKAGE

RESULTS = Path(__file__).parents[1] / "results"
PARTS = {
    "making": preparing.run,
    "pruning": pruning.run,
    "kernel_tuner": kernel_tuner.run,
    "prediction": prediction.run,
    "regret": regret.run,
    "overhead": overhead.run,
}
PACKAGES = ("loopwright", "numpy", "islpy", "kernel-tuner")
NAMES = ", ".join(PARTS)


def main(
    output: Annotated[Path | None, typer.Argument(help="The JSON file; rows that it has already are kept.")] = None,
    only: Annotated[str, typer.Option(help=f"Parts, with commas between them: {NAMES}; or part/case.")] = "",
    device: Annotated[str, typer.Option(help="cpu or cuda; emulated for a dry run of what a GPU does.")] = "cpu",
    budget: Annotated[
        float, typer.Option(min=1, help="Seconds of each part, about; what does not fit is left out.")
    ] = 300.0,
    size: Annotated[str, typer.Option(help="small or full.")] = "full",
    replay: Annotated[
        bool,
        typer.Option(help="Take the file's rows as they are, from whatever machine: for kernel_tuner, and the table."),
    ] = False,
    cache: Annotated[
        Path | None, typer.Option(help="Where compiled code is kept for a later run; else it goes with this one.")
    ] = None,
    cores: Annotated[int, typer.Option(help="Processes that compile at once; 0: one for each core.")] = 0,
) -> None:
    """How well variants are pruned, predicted and chosen."""
    words = frozenset(word.strip() for word in only.split(",") if word.strip())
    parts = [name for name in PARTS if not words or name in {word.partition("/")[0] for word in words}]
    if unknown := {word.partition("/")[0] for word in words} - set(PARTS):
        raise typer.BadParameter(f"no part {', '.join(sorted(unknown))}: there are {NAMES}")
    if size not in ("small", "full") or device not in ("cpu", "cuda", "emulated"):
        raise typer.BadParameter(f"no size {size!r}" if size not in ("small", "full") else f"no device {device!r}")
    if replay and (output is None or not output.exists()):
        raise typer.BadParameter("there are no rows to replay: name the file that has them")
    if device == "cuda" and not replay and gpu_of("cuda") is None:
        print(why_no_gpu())
        raise typer.Exit(1)
    path = output or RESULTS / f"{datetime.now():%Y-%m-%dT%H%M%S}-choice-{device}.json"
    book = Book(path, told(path) if replay else facts(device, size))
    console = table.console()
    with (
        tempfile.TemporaryDirectory(prefix="loopwright-") as folder,
        options(cache=(cache or Path(folder)).absolute(), store="off") as config,
    ):
        many = cores or available_cores()
        bench = Bench(book, device, size, budget, many, config, console.print, words)  # type: ignore[arg-type]
        for name in parts:
            bench.begin()
            PARTS[name](bench)
            book.write()
    console.print(goals.table_of(goals.verdicts(book)))


def facts(device: str, size: str) -> dict[str, Any]:
    """What rows rest on."""
    gpu = gpu_of("cuda") if device == "cuda" else None
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "date": f"{datetime.now():%Y-%m-%d %H:%M}",
        "machine": f"{cpu_name()}, {available_cores()} cores" + (f"; {gpu.name}" if gpu else ""),
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "device": device,
        "size": size,
        "revision": content_of(PACKAGE),
        "versions": found,
    }


if __name__ == "__main__":
    typer.run(main)
