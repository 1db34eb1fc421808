"""Into a pipe nothing is broken to fit a screen."""

from __future__ import annotations

import io

from rich.table import Table
from rich.text import Text

from loopwright.cli.terminal import terminal


def test_long_lines_stay_whole() -> None:
    out = io.StringIO()
    terminal(out).print("a[i] :smile: [bold]" * 60)
    assert out.getvalue() == "a[i] :smile: [bold]" * 60 + "\n"


def test_what_is_printed_is_only_text() -> None:
    out = io.StringIO()
    console = terminal(out)
    table = Table("a\x1b[2J", box=None)
    table.add_row("b\x07\u202e")
    for one in ("c\x1b]0;title\x07\nd", Text("e\x9b1m"), table):
        console.print(one)
    assert "\x1b" not in out.getvalue() and "\x07" not in out.getvalue() and "\x9b" not in out.getvalue()
    assert out.getvalue().splitlines()[:3] == [r"c\x1b]0;title\x07", "d", r"e\x9b1m"]
    assert [line.strip() for line in out.getvalue().splitlines()[3:]] == [r"a\x1b[2J", r"b\x07\u202e"]
