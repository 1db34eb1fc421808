"""The tables that `python -m benchmarks` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from benchmarks.cases import TOLERANCE
from benchmarks.goals import CACHED_S, COLD_S, verdicts
from benchmarks.machine import Machine
from benchmarks.results import (
    BLAS,
    CONTENDERS,
    GOAL,
    OPENMP,
    OURS,
    PLUTO,
    PRANGE,
    RIVALS,
    SOMETIMES,
    WRONG,
    C,
    Cell,
    Overhead,
    Row,
    geometric_mean,
)

WIDTH = 150


def console() -> Console:
    """As wide as the terminal, or wide enough for the tables where there is none."""
    found = Console()
    if not found.is_terminal:
        found.width = max(found.width, WIDTH)
    return found


def speed_table(rows: Sequence[Row]) -> Table:
    """Times and ratios, one row for each kernel; the last row holds the geometric means."""
    table = Table(title="Median times; a ratio above 1 means that Loopwright is faster")
    table.add_column("kernel", no_wrap=True)
    for name in CONTENDERS:
        table.add_column(name, justify="right", no_wrap=True)
    for rival in RIVALS:
        table.add_column(f"vs {rival}", justify="right", no_wrap=True)
    table.add_column("spread", justify="right")
    table.add_column("roofline", justify="right")
    table.add_column("reason")
    for row in rows:
        table.add_row(
            row.name,
            *(_time(row.cells.get(name)) for name in CONTENDERS),
            *(_ratio(row.ratio(rival)) for rival in RIVALS),
            _percent(row.cells[OURS].spread if OURS in row.cells else None),
            _percent(row.roofline),
            row.reason,
        )
    table.add_section()
    means = [_ratio(geometric_mean(row.ratio(rival) for row in rows)) for rival in RIVALS]
    table.add_row("geometric mean", *[""] * len(CONTENDERS), *means, style="bold")
    return table


def others_table(rows: Sequence[Row], notes: Sequence[str] = ()) -> Table:
    """Beside those who have a version of some kernels only; notes: who has none at all, and why."""
    table = Table(title="Where there is such a version: ratios as above; of OpenBLAS, the share of its speed")
    table.caption = " ".join(notes) or None
    table.add_column("kernel", no_wrap=True)
    for name in (OURS, *SOMETIMES):
        table.add_column(name, justify="right", no_wrap=True)
    for name in SOMETIMES:
        table.add_column(f"of {name}" if name == BLAS else f"vs {name}", justify="right", no_wrap=True)
    for row in rows:
        if any(name in row.cells for name in SOMETIMES):
            times = (_time(row.cells.get(name)) for name in (OURS, *SOMETIMES))
            table.add_row(row.name, *times, *(_against(name, row.ratio(name)) for name in SOMETIMES))
    table.add_section()
    means = [_against(name, geometric_mean(row.ratio(name) for row in rows)) for name in SOMETIMES]
    table.add_row("geometric mean", *[""] * (1 + len(SOMETIMES)), *means, style="bold")
    return table


def bytes_table(machine: Machine, rows: Sequence[Row]) -> Table:
    """How much of the memory's bandwidth is used, on the kernels that are bound by it."""
    table = Table("kernel", title=f"Bytes per second, as a share of the copy's {machine.bandwidth / 1e9:.1f} GB/s")
    table.caption = "Streamed: what the loops as written move, pass by pass; more than 100% only from a cache."
    names = (OURS, PRANGE, C, OPENMP, PLUTO)
    for heading in ("arrays", "streamed", "GB/s", *names):
        table.add_column(heading, justify="right")
    for row in rows:
        if row.streamed_bytes is not None:
            rates = {name: row.streamed_bytes / seconds for name in names if (seconds := row.seconds(name))}
            ours = f"{rates[OURS] / 1e9:.1f}" if OURS in rates else "-"
            shares = (_percent(rates[name] / machine.bandwidth if name in rates else None) for name in names)
            table.add_row(row.name, _megabytes(row.array_bytes), _megabytes(row.streamed_bytes), ours, *shares)
    return table


def goals_table(rows: Sequence[Row]) -> Table:
    """What we want to reach at LARGE, and what was seen."""
    table = Table("goal, at LARGE", "seen", "met", title="Goals")
    for verdict in verdicts(rows):
        met = {
            True: Text("yes", style="green"),
            False: Text("no", style="red"),
            None: Text("not measured", style="dim"),
        }
        table.add_row(verdict.goal, verdict.reached or "-", met[verdict.met])
    return table


def fresh_table(rows: Sequence[Row]) -> Table:
    """Compile times and memory, one row for each kernel."""
    table = Table("kernel", title="First calls in a new process, and peak memory over the arrays' size")
    for heading in ("nothing cached", "of it gcc", "cached", "numba prange compiles", "arrays", "memory"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.name,
            _limited(row.cold_s, COLD_S),
            _seconds(row.compiler_s),
            _limited(row.cached_s, CACHED_S),
            _seconds(row.cells[PRANGE].first_call_s if PRANGE in row.cells else None),
            _megabytes(row.array_bytes),
            "-" if row.memory_ratio is None else f"{row.memory_ratio:.2f}x",
        )
    return table


def overhead_table(overhead: Overhead) -> Table:
    """What a repeated call costs."""
    table = Table("caller", title="A repeated call with six array arguments, over its loop", min_width=60)
    table.add_column("cost", justify="right")
    for name, cost in overhead.call_ns.items():
        table.add_row(f"{name} (through ctypes)" if name == C else name, f"{cost:,.0f} ns")
    table.add_row("the loop itself, in C", f"{overhead.loop_ns:,.1f} ns", style="dim")
    return table


def progress(row: Row) -> str:
    """One line as soon as a kernel is done."""
    names = (*CONTENDERS, *(name for name in SOMETIMES if name in row.cells))
    times = ", ".join(f"{name} {row.cells[name].fault or _seconds(row.seconds(name))}" for name in names)
    return f"{row.name}: {times}"


def summary(machine: Machine, rows: Sequence[Row]) -> RenderableType:
    """The machine, and what is not as it should be."""
    lines = [
        f"{machine.cpu}, {machine.threads} threads; copies {machine.bandwidth / 1e9:.1f} GB/s (read and write), "
        f"{machine.peak / 1e9:.1f} Gflop/s; " + ", ".join(f"{name} {v}" for name, v in machine.versions.items()),
        f"Results count as the same where integers are equal and floats differ by less than {TOLERANCE:g} of the value "
        "(or the kernel's TOLERANCE).",
    ]
    faults = [f"{row.name}: {name}: {cell.fault}" for row in rows for name, cell in row.cells.items() if cell.fault]
    faults += [f"{row.name}: in a new process: {row.fresh_fault}" for row in rows if row.fresh_fault]
    slow = [row.name for row in rows if row.below_goal and not row.reason]
    if slow:
        faults.append(f"below {GOAL} of {PRANGE} without a reason in reasons.toml: {', '.join(slow)}")
    if machine.busy:
        faults.append("Other programs were running: times of several threads mean little. Measure on a quiet machine.")
    return Group(*lines, *(Text(fault, style="red") for fault in faults))


def _time(cell: Cell | None) -> RenderableType:
    if cell is None:
        return "-"
    if cell.fault:
        return Text(WRONG if cell.fault == WRONG else "ERROR", style="bold red")
    return _seconds(cell.median_s)


def _seconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3f} s" if value >= 1 else f"{value * 1e3:.3f} ms"


def _ratio(value: float | None) -> RenderableType:
    return "-" if value is None else Text(f"{value:.2f}x", style="red" if value < GOAL else "")


def _against(rival: str, value: float | None) -> RenderableType:
    return _percent(value) if rival == BLAS else _ratio(value)


def _limited(value: float | None, limit: float) -> RenderableType:
    return Text(_seconds(value), style="red" if value is not None and value > limit else "")


def _megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
