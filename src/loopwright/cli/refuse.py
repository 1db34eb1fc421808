"""How a command says that it was asked for something that does not exist: a line or two to stderr, exit code 2."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NoReturn

import typer

from loopwright.report.words import visible

REFUSED = 2


def refuse(what: str, remedy: str = "") -> NoReturn:
    """Print and leave with code 2."""
    print(visible(f"loopwright: {what}" + (f"\n  try: {remedy}" if remedy else ""), "\n"), file=sys.stderr)
    raise typer.Exit(REFUSED)


def existing_script(path: Path) -> Path:
    """The path, if there is a file that can be read; else refuses."""
    if path.is_dir():
        refuse(f"{path} is a folder, not a script")
    if not path.exists():
        if str(path).startswith("-"):
            refuse(f"there is no option {path}", "--help, or a variable such as LOOPWRIGHT_THREADS (loopwright config)")
        script, _, kernel = str(path).rpartition(":")
        if Path(script).is_file():
            refuse(f"there is no file {path}", f"{script}; what became of '{kernel}' alone: loopwright show {path}")
        near = sorted(path.parent.glob("*.py")) if path.parent.is_dir() else []
        refuse(f"there is no file {path}", f"one of {', '.join(map(str, near[:8]))}" if near else "")
    try:
        path.open("rb").close()
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}")
    return path
