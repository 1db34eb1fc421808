"""`loopwright migrate FILE`: what of a file that uses numba runs here, and the same file with our imports."""

from __future__ import annotations

import difflib
from pathlib import Path

from rich.table import Table

from loopwright.cli.numba_source import Decorated, in_lines, read_source
from loopwright.cli.refuse import refuse
from loopwright.cli.terminal import terminal


def migrate(path: Path, write: bool) -> None:
    """Print what there is; write the new imports, or show them. Refuses a file that is no Python."""
    try:
        source = read_source(path.read_bytes())
    except (SyntaxError, UnicodeDecodeError) as error:
        refuse(f"{path} is no Python: {error}")
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}")
    found, changed = source.decorated(), source.with_our_imports()
    console = terminal()
    if not source.imports:
        console.print(f"{path} does not import numba")
        return
    console.print(_table(found) if found else f"{path} has no function that numba compiles")
    if any(not one.refusals for one in found):
        console.print("'runs': nothing in its text speaks against it; what depends on types is told by the first call")
    for line, says in source.notes():
        console.print(f"line {line}: {says}")
    if changed == source.text:
        console.print("no import has to be changed")
    elif write:
        _write(path, source.encoded(changed))
        console.print(f"{path} imports loopwright.numba now")
    else:
        names = str(path), f"{path} (with --write)"
        diff = difflib.unified_diff(in_lines(source.text), in_lines(changed), *names, n=0)
        console.print("".join(line if line.endswith("\n") else line + "\n" for line in diff).replace("\r", ""), end="")


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}")


def _table(found: list[Decorated]) -> Table:
    table = Table("function", "line", "decorator", "verdict", "why", "instead", box=None)
    for one in found:
        verdict = "refused" if one.refusals else "runs"
        first = one.refusals[0] if one.refusals else None
        table.add_row(one.name, str(one.line), one.decorator, verdict, *(first.row() if first else ("", "")))
        for more in one.refusals[1:]:
            table.add_row("", "", "", "", *more.row())
    return table
