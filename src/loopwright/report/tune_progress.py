"""The progress of tuning, while it goes on: on a terminal, in a notebook, or nowhere. A notebook needs nothing for it:
its bar is a piece of HTML that is shown again and again.
"""

from __future__ import annotations

import sys
import time
from html import escape
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from loopwright.report.words import duration, visible
from loopwright.tuning.jobs import Tried
from loopwright.tuning.recorded_call import RecordedCall
from loopwright.tuning.tuned import Progress, Silent

if TYPE_CHECKING:
    from rich.console import Console

APART_S = 0.25
"""A notebook's bar is shown again after so long at the earliest."""


class TuneBar(Progress, Protocol):
    """What shows the progress, inside a `with`."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def tune_bar(budget_s: float) -> TuneBar:
    """The one that fits where the program runs: nothing is shown where nobody watches."""
    shell: Any = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is not None and getattr(shell, "kernel", None) is not None:
        return NotebookBar(budget_s)
    if sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console  # only where there is a terminal: importing rich costs 30 ms

        return TerminalBar(Console(file=sys.stderr, highlight=False, markup=False), budget_s)
    return HiddenBar()


class HiddenBar(Silent):
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class TerminalBar:
    """One line on a terminal, which is gone when tuning has ended."""

    def __init__(self, console: Console, budget_s: float) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TextColumn("{task.fields[now]}"))
        self._progress = Progress(*columns, console=console, transient=True)
        self._task = self._progress.add_task("", total=budget_s, now="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begun(self, call: RecordedCall) -> None:
        """See Progress."""
        self._progress.update(self._task, description=visible(name_of(call)), now="")

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        """See Progress."""
        self._say(f"best so far {duration(best_ns)}")

    def turned(self, call: RecordedCall, turn: int, turns: int) -> None:
        """See Progress."""
        self._say(f"alternating the default and the fastest: {turn} of {turns}")

    def _say(self, text: str) -> None:
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        self._progress.update(self._task, completed=elapsed, now=text)


class NotebookBar:
    """A bar below a cell, which is gone when tuning has ended."""

    def __init__(self, budget_s: float) -> None:
        self._display: Any = sys.modules["IPython"].display
        self._budget_s, self._begun, self._shown = budget_s, time.monotonic(), 0.0
        self._name, self._handle = "", None

    def __enter__(self) -> Self:
        self._handle = self._display.display(self._html("measuring the default"), display_id=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(""))

    def begun(self, call: RecordedCall) -> None:
        """See Progress."""
        self._name = name_of(call)
        self._say("measuring the default", always=True)

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        """See Progress."""
        self._say(f"best so far {duration(best_ns)}")

    def turned(self, call: RecordedCall, turn: int, turns: int) -> None:
        """See Progress."""
        self._say(f"alternating the default and the fastest: {turn} of {turns}")

    def _say(self, text: str, always: bool = False) -> None:
        now = time.monotonic()
        if self._handle is not None and (always or now - self._shown >= APART_S):
            self._shown = now
            self._handle.update(self._html(text))

    def _html(self, text: str) -> Any:
        spent_s = time.monotonic() - self._begun
        words = f"{self._name}: {text}" if self._name else text
        told = f"{words} ({spent_s:.0f} of {self._budget_s:.0f} s)"
        bar = f'<progress value="{min(spent_s, self._budget_s):.2f}" max="{self._budget_s or 1:.2f}"></progress>'
        return self._display.HTML(f"<div>{bar} <span>{escape(told)}</span></div>")


def name_of(call: RecordedCall) -> str:
    """The function's own name."""
    return call.one.analysed.written.name
