"""`loopwright explain script.py`: run a script, then say of every kernel what was proven and what ran."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from loopwright.cli.kernels import Recorded, recording, where
from loopwright.cli.script import run_script
from loopwright.cli.terminal import terminal


def explain_script(path: Path, arguments: Sequence[str], as_json: bool) -> int:
    """Returns the script's exit status. With JSON, what the script prints goes to stderr."""
    redirected = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
    with redirected, recording() as kernels:
        ended = run_script(path, arguments)
    if as_json:
        print(
            json.dumps({"script": str(path), "status": ended.status, "kernels": [_dict(k) for k in kernels]}, indent=2)
        )
    else:
        _print(path, kernels, ended.failure is not None)
    return ended.status


def _dict(kernel: Recorded) -> dict[str, object]:
    explanations = [one.to_dict() for one in kernel.explanations()]
    return {"name": kernel.name, "file": kernel.file, "line": kernel.line, "explanations": explanations}


def _print(path: Path, kernels: Sequence[Recorded], has_failed: bool) -> None:
    console = terminal()
    if not kernels:
        why = "it failed before" if has_failed else "no function in it is decorated with @lw.kernel"
        print(f"loopwright: {path} made no kernel: {why}", file=sys.stderr)
    for kernel in kernels:
        explanations = kernel.explanations()
        for explanation in explanations:
            console.print()
            console.print(explanation)
        if not explanations:
            console.print(f"\n{where(kernel)} was not called", markup=False)
