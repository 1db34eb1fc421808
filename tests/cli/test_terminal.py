"""Into a pipe nothing is broken to fit a screen."""

from __future__ import annotations

import io

from loopwright.cli.terminal import terminal


def test_long_lines_stay_whole() -> None:
    out = io.StringIO()
    terminal(out).print("a[i] :smile: [bold]" * 60)
    assert out.getvalue() == "a[i] :smile: [bold]" * 60 + "\n"
