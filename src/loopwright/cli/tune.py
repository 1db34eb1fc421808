"""`loopwright tune script.py`: run a script, and tune the calls of kernels that it makes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from loopwright.cli.script import INTERRUPTED, run_script
from loopwright.cli.terminal import terminal
from loopwright.config import current
from loopwright.kernel import WATCHERS, LoopKernel
from loopwright.profile.journal import journal_of
from loopwright.report.words import duration, visible
from loopwright.tuning.jobs import Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.recording import Recording
from loopwright.tuning.scratch import working_folder
from loopwright.tuning.tune import Budget, Tuned, tune


def tune_script(path: Path, arguments: Sequence[str], budget_s: float) -> int:
    """Returns the exit status: the script's where it failed, that of an interruption, else 0. What was measured is kept
    in any case."""
    console = terminal(sys.stderr)
    config = current()
    if config.store_path is None:
        console.print("there is no store to keep results in: LOOPWRIGHT_STORE is off")
        return 2
    with working_folder() as folder:
        recording = Recording(folder)

        def record(kernel: LoopKernel) -> None:
            kernel.record(recording)

        WATCHERS.append(record)
        try:
            ended = run_script(path, arguments)
        finally:
            WATCHERS.remove(record)
        if ended.status == INTERRUPTED:
            return ended.status
        if not recording.calls:
            console.print("the script made no call of a kernel that ended well: there is nothing to tune")
            return ended.status
        console.print(f"{_many(len(recording.calls), 'kind')} of calls to tune, {duration(budget_s * 1e9)} to do it in")
        with _Bar(console, budget_s) as bar:
            try:
                found = tune(recording.calls, journal_of(config), Budget(budget_s), folder, bar)
            except KeyboardInterrupt:
                console.print("ended; what was measured is kept, and the same command goes on from there")
                return INTERRUPTED
    terminal().print(_table(found))
    return ended.status


class _Bar:
    """The progress of tuning, on a terminal."""

    def __init__(self, console: Console, budget_s: float) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[now]}"))
        self._progress = Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task("", total=budget_s, now="")

    def __enter__(self) -> _Bar:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._progress.stop()

    def begun(self, call: RecordedCall) -> None:
        """See Progress."""
        self._progress.update(self._task, description=_name(call))

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        """See Progress."""
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        self._progress.update(self._task, completed=elapsed, now=f"best so far {duration(best_ns)}")


def _table(found: Sequence[Tuned]) -> Table:
    table = Table("kernel", "sizes", "calls", "measured", "not run", "before", "best", "gain", "variant", box=None)
    for column in table.columns[2:8]:
        column.justify = "right"
    for one in found:
        sizes = " ".join(map(str, one.call.shape.sizes))
        if one.default is None or one.best is None:
            why = visible(one.why_not or "nothing ran")
            table.add_row(_name(one.call), sizes, str(one.call.calls), "", "", "", "", "", why)
            continue
        measured = str(sum(one.counts.values()) + one.known)
        before = duration(one.default.time_ns) if one.default.outcome == "ok" else one.default.outcome
        times = before, duration(one.best.time_ns), f"{one.gain:.2f}x"
        row = (_name(one.call), sizes, str(one.call.calls), measured, str(len(one.dropped)), *times)
        table.add_row(*row, visible(str(one.best.variant)))
    return table


def _name(call: RecordedCall) -> str:
    return call.one.analysed.written.name


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
