"""The console that the commands print to. Into a pipe or a file, nothing is broken to fit 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from loopwright.report.words import visible

PIPE_COLUMNS = 240


class _Terminal(Console):
    """A console on which text is only text: names may come from files that others made (report/words.visible). Colours
    are rich's own, apart from the text that has them."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Of everything that is printed."""
        for segment in super().render(renderable, options):
            is_text = segment.control is None and not segment.text.isprintable()
            yield Segment(visible(segment.text, "\n"), segment.style) if is_text else segment

    def render_str(self, text: str, **options: Any) -> Any:
        """Of a cell of a table, say, before it is measured."""
        return super().render_str(visible(text, "\n"), **options)


def terminal(file: IO[str] | None = None) -> Console:
    """A console for stdout, or another stream, that prints text as it is: no markup, no guesses at what to colour."""
    console = _Terminal(file=file, highlight=False, markup=False, emoji=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = PIPE_COLUMNS
    return console
