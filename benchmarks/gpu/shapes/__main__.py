"""The command line: compare all cases at their small sizes in several processes, then time them in one."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Annotated, Any

import typer
from rich.table import Table

from benchmarks import table
from benchmarks.gpu.bench import NoBench
from benchmarks.gpu.rows import OURS, Row, write
from benchmarks.gpu.shapes.measure import CASES, PART, SHAPES, serve
from benchmarks.gpu.worker import Worker

COMPARE_S, TIME_S, RUN_S = 60.0, 20.0, 0.5
"""What a case may take to be compared, and to be timed; and about how long its calls may be repeated."""


def main(
    output: Annotated[Path, typer.Argument(help="The JSON file.")],
    budget: Annotated[float, typer.Option(help="Seconds for all; cases that it does not reach say so.")] = 400.0,
    only: Annotated[str, typer.Option(help="Words, with commas between them: cases whose names hold one.")] = "",
    processes: Annotated[int, typer.Option(min=1, help="How many compare at once.")] = 6,
    device: Annotated[str, typer.Option(help="cuda, or emulated to compare only.")] = "cuda",
) -> None:
    """Loopwright's default on many shapes, beside PyTorch or one thread for each iteration."""
    end = time.monotonic() + budget
    words = [word.strip() for word in only.split(",") if word.strip()]
    names = [name for name in CASES if not words or any(word in name for word in words)]
    try:
        checked, told = compare(names, device, processes, end)
        found = _told(told, checked.values())
        write(output, found, list(checked.values()))
        rows = list(checked.values()) if device == "emulated" else _timed(names, checked, device, end, output, found)
    except NoBench as error:
        print(error)
        raise typer.Exit(1) from None
    table.console().print(_table(rows, str(told.get("gpu", ""))))


def _told(told: dict[str, Any], checked: Iterable[Row]) -> dict[str, Any]:
    schedules = {row.case: row.note for row in checked}
    return told | {"date": f"{datetime.now():%Y-%m-%d %H:%M}", "schedules": schedules}


def compare(names: list[str], device: str, processes: int, end: float) -> tuple[dict[str, Row], dict[str, Any]]:
    """The rows of all cases at their small sizes, by name, and what the processes say of the machine."""
    waiting: SimpleQueue[str] = SimpleQueue()
    for name in names:
        waiting.put(name)
    found: dict[str, Row] = {}
    told: list[dict[str, Any]] = []
    failed: list[NoBench] = []

    def work() -> None:
        worker = Worker((SHAPES,), device, RUN_S, serve)  # type: ignore[arg-type]
        try:
            while time.monotonic() < end:
                name = waiting.get_nowait()
                worker.start()
                worker.deadline_s = max(1.0, min(COMPARE_S, end - time.monotonic()))
                found[name] = row = worker.row(SHAPES, name, "tiny")
                told.append(worker.told)
                wrong = "" if row.agrees else "RESULTS DIFFER " if row.agrees is False else "no result "
                print(f"compared: {name}: {wrong}{row.fault} {row.note.split(' | ')[0]}", flush=True)
        except Empty:
            pass
        except NoBench as error:
            failed.append(error)
        finally:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(min(processes, len(names)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed and not told:
        raise failed[0]
    missing = {name: Row(PART, name, "", 0.0, "B", fault="not reached") for name in names}
    return {name: found.get(name, missing[name]) for name in names}, told[0] if told else {}


def _timed(
    names: list[str], checked: dict[str, Row], device: str, end: float, output: Path, told: dict[str, Any]
) -> list[Row]:
    worker = Worker((SHAPES,), device, RUN_S, serve)  # type: ignore[arg-type]
    rows = []
    try:
        for name in names:
            before = checked[name]
            left = end - time.monotonic()
            if left < 1.0:
                row = Row(PART, name, "", 0.0, "B", fault="not reached")
            elif before.fault and before.agrees is None:
                row = before
            else:
                worker.start()
                worker.deadline_s = min(TIME_S, left)
                row = worker.row(SHAPES, name, "full")
                row.agrees = before.agrees
            rows.append(row)
            print("  ".join(_cells(row)), flush=True)
            write(output, told, rows + [checked[other] for other in names[len(rows) :]])
    finally:
        worker.stop()
    return rows


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1e3:.3g}"


def _cells(row: Row) -> list[str]:
    """Name, ours, peer, peer's share of ours, floor, floor's share of ours, and what else to know."""
    ours, theirs, least = row.ours, row.seconds.get("peer"), row.limit_s
    ratio = f"{theirs / ours:.3g}" if ours and theirs else "-"
    share = f"{least / ours:.2g}" if ours and least else "-"
    wrong = "RESULTS DIFFER; " if row.agrees is False else ""
    note = row.note.split(" | ")[0]
    return [row.case, _ms(ours), _ms(theirs), ratio, _ms(least), share, f"{wrong}{row.fault} {note}".strip()]


def _table(rows: list[Row], title: str) -> Table:
    """The slowest beside its peer first."""

    def rank(row: Row) -> float:
        theirs = row.seconds.get("peer")
        return theirs / row.ours if theirs and row.ours else 0.0

    shown = Table(title=title)
    for heading in ("case", f"{OURS} ms", "peer ms", "peer / ours", "floor ms", "floor / ours", "ran on"):
        shown.add_column(heading, overflow="fold")
    for row in sorted(rows, key=rank):
        shown.add_row(*_cells(row))
    return shown


if __name__ == "__main__":
    typer.run(main)
