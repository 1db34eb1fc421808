"""From a case to its row: the sizes one after the other, as long as the next one promises to fit into the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import loopwright as lw
from benchmarks.gpu.bench import Bench, Clock, Run
from benchmarks.gpu.rows import OURS, Row

Size = Literal["tiny", "small", "full"]
STEPS: dict[Size, slice] = {"tiny": slice(0, 1), "small": slice(0, 2), "full": slice(0, None)}
"""Which of a part's sizes are tried, by what was asked for."""

HOPEFUL = 2.0
"""By how much a prediction may exceed the budget: small sizes are mostly launches, which grow less than the work."""


@dataclass(frozen=True)
class Trial:
    """One case at one size. runs: by contender, Loopwright first. agrees: run after Loopwright's; None where there is
    nothing to compare with. limit: 'copy', or the contender whose time is the limit, or ''. before: what restores the
    arrays, ahead of each run. kernel: Loopwright's, to tell where it ran. told: what else the row says, asked after
    all."""

    size: str
    work: float
    unit: str
    runs: dict[str, Run]
    agrees: Callable[[], bool] | None
    limit: str = ""
    before: Run | None = None
    kernel: lw.LoopKernel | None = None
    clock: Clock = "gpu"
    told: Callable[[], str] = str


@dataclass(frozen=True)
class Part:
    """A family of cases. sizes: ascending names; make: the trial of a case at one of them."""

    name: str
    cases: tuple[str, ...]
    sizes: tuple[str, ...]
    make: Callable[[Bench, str, str], Trial]


def rows(bench: Bench, part: Part, case: str, asked: Size) -> Iterator[Row]:
    """The row of a case, better each time: one for each size that was tried once, the last one with medians."""
    sizes = part.sizes[STEPS[asked]]
    row = Row(part.name, case, sizes[0], 0.0, "")
    for number, size in enumerate(sizes):
        trial = part.make(bench, case, size)
        if number and row.seconds:
            ahead = max(row.seconds.values()) * trial.work / max(row.work, 1.0)
            if ahead > HOPEFUL * bench.budget_s:
                note = f"{size} would take some {ahead:.0f} s: measured at {sizes[number - 1]}"
                yield from _measured(bench, part.make(bench, case, sizes[number - 1]), replace(row, note=note))
                return
        row = _tried(bench, trial, replace(row, size=trial.size, work=trial.work, unit=trial.unit), not number)
        if size != sizes[-1]:
            yield replace(row, note=f"{row.note} one run at {size}".strip())
    yield from _measured(bench, trial, row)


def _tried(bench: Bench, trial: Trial, row: Row, first: bool) -> Row:
    """Each contender once, or twice where that is short, or the first of all: that may compile. A peer that cannot do
    it is left out from then on, and the row says so."""
    seconds, note = {}, row.note
    for who, run in trial.runs.items():
        if who != OURS and f"{who}:" in note:
            continue
        try:
            seconds[who] = _one(bench, run, trial.before)
            if first or seconds[who] < bench.budget_s:
                seconds[who] = _one(bench, run, trial.before)
        except Exception as error:
            if who == OURS:
                raise
            note = f"{note} {who}: {type(error).__name__}".strip()
    return replace(row, seconds=seconds, note=note)


def _one(bench: Bench, run: Run, before: Run | None) -> float:
    if before is not None:
        before()
    return bench.once(run, "wall")


def _measured(bench: Bench, trial: Trial, row: Row) -> Iterator[Row]:
    """Compare, then measure those who could; one run is enough of those that take long."""
    if trial.before is not None:
        trial.before()
    trial.runs[OURS]()
    bench.wait()
    agrees = None if trial.agrees is None else bool(trial.agrees())
    each = bench.budget_s / max(1, len(row.seconds))
    seconds = {
        who: once if once > each / 3 else bench.seconds(trial.runs[who], trial.clock, trial.before, each)
        for who, once in row.seconds.items()
    }
    limit = seconds.get(trial.limit)
    if trial.limit == "copy" and bench.copy_bytes_per_s:
        limit = trial.work / bench.copy_bytes_per_s
    yield replace(
        row,
        seconds=seconds,
        limit_s=limit,
        agrees=agrees,
        note="; ".join(filter(None, (row.note, _where(trial), trial.told()))),
    )


def _where(trial: Trial) -> str:
    """That the kernel was left to the CPU, and why, or to one thread; '' where a grid of the GPU ran it."""
    made = trial.kernel.specialisations() if trial.kernel is not None else []
    for one in made:
        if one.why_not_gpu:
            return f"Loopwright ran on the CPU: {one.why_not_gpu}"
        if one.takes_device_arrays and one.program is not None and not one.program.parallel:
            return "Loopwright ran in one thread of the GPU"
    return ""
