"""The console that the commands print to. Into a pipe or a file, nothing is broken to fit 80 columns."""

from __future__ import annotations

from typing import IO

from rich.console import Console

PIPE_COLUMNS = 240


def terminal(file: IO[str] | None = None) -> Console:
    """A console for stdout, or another stream, that prints text as it is: no markup, no guesses at what to colour."""
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = PIPE_COLUMNS
    return console
