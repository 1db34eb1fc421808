"""`loopwright tune script.py`: run a script, and tune the calls of kernels that it makes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from loopwright.cli.script import INTERRUPTED, run_script
from loopwright.cli.terminal import terminal
from loopwright.config import current
from loopwright.kernel import WATCHERS, LoopKernel
from loopwright.profile.journal import journal_of
from loopwright.report.tune_progress import TerminalBar
from loopwright.report.tune_report import after_ns, before_ns, name_of, sizes_of, unreached_text
from loopwright.report.words import duration, visible
from loopwright.tuning.recording import Recording
from loopwright.tuning.scratch import working_folder
from loopwright.tuning.tune import Budget, tune
from loopwright.tuning.tuned import Tuned


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
            console.print("no kernel call of the script succeeded: there is nothing to tune")
            return ended.status
        console.print(f"{_many(len(recording.calls), 'kind')} of calls to tune, {duration(budget_s * 1e9)} to do it in")
        with TerminalBar(console, budget_s) as bar:
            try:
                found = tune(recording.calls, journal_of(config), Budget(budget_s), folder, bar)
            except KeyboardInterrupt:
                console.print("stopped; the measurements are kept, and the same command continues from there")
                return INTERRUPTED
    out = terminal()
    out.print(_table(found))
    for line in _unreached(found):
        out.print(line)
    return ended.status


def _table(found: Sequence[Tuned]) -> Table:
    heads = ("kernel", "sizes", "calls", "measured", "not run", "before", "now", "gain", "how sure", "variant")
    table = Table(*heads, box=None)
    for column in table.columns[2:8]:
        column.justify = "right"
    for one in found:
        first = (visible(name_of(one)), sizes_of(one), str(one.call.calls))
        if one.default is None or one.best is None:
            table.add_row(*first, "", "", "", "", "", "", visible(one.why_not or unreached_text(one) or "nothing ran"))
            continue
        measured = str(sum(one.counts.values()) + one.known)
        before = duration(before_ns(one)) if one.default.outcome == "ok" else one.default.outcome
        gain = f"{one.gain:.2f}x" if one.is_reached or one.best != one.default else "not known"
        numbers = (measured, str(len(one.dropped)), before, duration(after_ns(one)), gain)
        table.add_row(*first, *numbers, _how_sure(one), visible(str(one.best.variant)))
    return table


def _how_sure(one: Tuned) -> str:
    if one.compared is None:
        return "not reached" if not one.is_reached else ""
    low, high = one.compared.interval
    told = f"{low:.2f} to {high:.2f}, {one.compared.pairs} pairs"
    return told if one.compared.is_clear else f"not clear: {told}"


def _unreached(found: Sequence[Tuned]) -> Iterator[str]:
    """A line for each call that its share of the budget was not enough for."""
    for one in found:
        if (text := unreached_text(one)) is not None:
            yield visible(f"{name_of(one)} for {sizes_of(one)}: {text}")


def _many(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
