"""`loopwright run script.py`: run a script; with --summary, one line for each kind of call of each kernel after it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from loopwright.cli.kernels import Recorded, recording, where
from loopwright.cli.script import run_script
from loopwright.cli.terminal import terminal
from loopwright.report.words import duration

if TYPE_CHECKING:
    from loopwright.report.explanation import Explanation


def run_and_sum_up(path: Path, arguments: Sequence[str], summary: bool) -> int:
    """Returns the script's exit status. The summary goes to stderr: a script's own output stays its own."""
    with recording() as kernels:
        ended = run_script(path, arguments)
    if summary:
        console = terminal(sys.stderr)
        console.print(_table(kernels) if kernels else "no kernel was made")
    return ended.status


def _table(kernels: Sequence[Recorded]) -> Table:
    table = Table("kernel", "arguments", "calls", "in all", "fastest", "threads", "loops", box=None)
    for column in table.columns[2:6]:
        column.justify = "right"
    for kernel in kernels:
        called = kernel.explanations()
        for explanation in called:
            table.add_row(where(kernel), *_row(explanation))
        if not called:
            table.add_row(where(kernel), "", "0")
    return table


def _row(explanation: Explanation) -> list[str]:
    arguments = explanation.signature.removeprefix(explanation.kernel)
    loops = _verdicts(explanation)
    ran = explanation.ran
    shared = explanation.shared_calls
    if ran is None or not ran.calls:
        return [arguments, str(shared), "", "", "several devices" if shared else "", loops]
    threads = str(ran.threads) if ran.device == "cpu" else ran.device
    return [arguments, str(ran.calls + shared), duration(ran.total_ns), duration(ran.min_ns), threads, loops]


def _verdicts(explanation: Explanation) -> str:
    """`parallel i j; reduction k`."""
    names: dict[str, list[str]] = {}
    for loop in explanation.loops:
        names.setdefault(loop.verdict, []).append(loop.source_name)
    return "; ".join(f"{verdict} {' '.join(of)}" for verdict, of in names.items())
