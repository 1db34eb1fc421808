"""`loopwright show script.py:kernel`: the IR, the facts, the generated C, the space of a kernel, or what data decides
in it, for each kind of call."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import typer
from rich.console import RenderableType

from loopwright.cli.example_arguments import TypesError, example_arguments
from loopwright.cli.kernels import Looked, Recorded, Specialised, looking_at_calls, named, recording, where
from loopwright.cli.refuse import refuse
from loopwright.cli.script import run_script
from loopwright.cli.terminal import terminal
from loopwright.errors import LoopwrightError, ScheduleError
from loopwright.ir.text import print_kernel
from loopwright.report.explain import signature_text
from loopwright.report.facts_text import facts_text
from loopwright.report.space_table import space_table
from loopwright.search.ranges import Ranges

KINDS = ("ir", "facts", "c", "space", "irregular")
NOT_MAIN = "__loopwright__"


def split_target(target: str) -> tuple[Path, str]:
    """`folder/script.py:name` -> the path and the name; without a colon the name is empty."""
    path, colon, name = target.rpartition(":")
    return (Path(path), name) if colon and not name.endswith(".py") else (Path(target), "")


def show(
    path: Path,
    name: str,
    kinds: Sequence[str],
    types: str | None,
    arguments: Sequence[str],
    steps: str | None = None,
) -> int:
    """With `types` the script is imported and the kernel specialised to them; without, the script runs and the calls
    that it makes are shown. With `steps`, what this schedule makes of the kernel as it was written. What the script
    prints goes to stderr. Refuses what does not exist."""
    looking = "irregular" in kinds
    if looking and types is not None:
        refuse("--irregular looks at the data of calls, which types alone do not have", "it without --args")
    looked: AbstractContextManager[list[Looked]] = looking_at_calls() if looking else contextlib.nullcontext([])
    with contextlib.redirect_stdout(sys.stderr), recording() as every, looked as reports:
        ended = run_script(path, arguments, "__main__" if types is None else NOT_MAIN)
    found = named(every, name)
    if not found and ended.status:
        return ended.status
    if not found:
        refuse(f"{path} has no kernel {name!r}" if name else f"{path} has no kernel", _those_there_are(every))
    shown = [(_scheduled(one, steps), kernel.ranges) for kernel in found for one in _specialised(kernel, types)]
    if not shown:
        refuse(
            f"{', '.join(map(where, found))}: the script ended without calling it",
            "--args, the types of a call: --args 'float64[:, :], int'",
        )
    texts = [_text(one, kind, ranges) for one, ranges in shown for kind in kinds if kind != "irregular"]
    texts += [f"# {where(kernel)}\n{report}" for kernel, report in reports if kernel in found]
    print("\n\n".join(texts))
    return ended.status


def _those_there_are(kernels: Sequence[Recorded]) -> str:
    return f"one of {', '.join(map(where, kernels))}" if kernels else "a function decorated with @lw.kernel"


def _specialised(kernel: Recorded, types: str | None) -> Sequence[Specialised]:
    if types is None:
        return kernel.specialisations()
    try:
        return [kernel.specialise(*example_arguments(types))]
    except TypesError as error:
        refuse(str(error))
    except (LoopwrightError, TypeError) as error:
        print(f"{where(kernel)} cannot take {types}:\n{error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _scheduled(one: Specialised, steps: str | None) -> Specialised:
    if steps is None:
        return one
    try:
        return one.scheduled(steps)
    except ScheduleError as error:
        print(f"{one.kernel.name}: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _text(one: Specialised, kind: str, ranges: Ranges | None) -> str:
    match kind:
        case "ir":
            comment, text = "#", print_kernel(one.kernel)
        case "facts":
            comment, text = "#", facts_text(one.kernel, one.facts)
        case "space":
            comment, text = "#", _printed(space_table(one.space(ranges)))
        case _:
            comment, text = "//", one.c_text or "// nothing was generated: this kernel runs in the interpreter"
    return f"{comment} {signature_text(one.kernel)}\n{text.rstrip()}"


def _printed(table: RenderableType) -> str:
    """A table as text, as wide as the terminal."""
    console = terminal()
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())
