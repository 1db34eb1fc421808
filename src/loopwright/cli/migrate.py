"""`loopwright migrate FILE`: what of a file that uses numba runs here, and the same file with our imports."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from loopwright.cli.numba_source import Decorated, in_lines, read_source
from loopwright.cli.numba_trial import TriedKernel, tried_kernels
from loopwright.cli.refuse import refuse
from loopwright.cli.terminal import terminal
from loopwright.errors import KernelError


def migrate(path: Path, write: bool, run: bool = False, arguments: Sequence[str] = ()) -> int:
    """Print what there is; write the new imports, or show them. run: run it first, with these arguments, and tell what
    its calls did. Returns the exit status of that run, or 0. Refuses a file that is no Python."""
    try:
        source = read_source(path.read_bytes())
    except (SyntaxError, UnicodeDecodeError) as error:
        refuse(f"{path} is not Python: {error}")
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}")
    found, changed = source.decorated(), source.with_our_imports()
    console = terminal()
    if not source.imports:
        console.print(f"{path} does not import numba")
        return 0
    tried, status = tried_kernels(path, arguments) if run else ([], 0)
    console.print(_table(path, found, tried) if found else f"{path} has no function that numba compiles")
    if not run and any(not one.refusals for one in found):
        console.print("'runs': nothing in its text prevents it; the first call reports problems with types")
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
    return status


def _write(path: Path, content: bytes) -> None:
    try:
        path.write_bytes(content)
    except OSError as error:
        refuse(f"{path} cannot be written: {error.strerror}")


def _table(path: Path, found: Sequence[Decorated], tried: Sequence[TriedKernel]) -> Table:
    table = Table("function", "line", "decorator", "verdict", "why", "instead", box=None)
    for one in found:
        of = [each for each in tried if _is_of(each, path, one)]
        rows = [refusal.row() for refusal in one.refusals] or [
            _row(error) for each in of for error in each.refused.values()
        ]
        verdict = "refused" if rows else "runs"
        if tried and not rows:
            served = sum(each.served for each in of)
            verdict = f"ran {served} {'time' if served == 1 else 'times'}" if served else "was not called"
        table.add_row(one.name, str(one.line), one.decorator, verdict, *(rows[0] if rows else ("", "")))
        for more in rows[1:]:
            table.add_row("", "", "", "", *more)
    return table


def _is_of(tried: TriedKernel, path: Path, found: Decorated) -> bool:
    code = tried.py_func.__code__
    above = found.line - code.co_firstlineno  # a function begins at its first decorator
    return code.co_name == found.name and Path(code.co_filename) == path and 0 <= above <= found.decorators


def _row(error: Exception) -> tuple[str, str]:
    if isinstance(error, KernelError):
        place = f"line {error.at.line}: " if error.at is not None else ""
        return place + error.what + (f": {error.why}" if error.why else ""), error.remedy
    return str(error).splitlines()[0], ""
