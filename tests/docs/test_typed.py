"""What an editor is told: kernels complete `tune` and `explain`, options their names and values."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
from typing import Any

import numpy as np

import loopwright as lw
from loopwright.numba import njit


@lw.kernel
def plain(a: Any, n: int) -> None:
    a[0] = n


@lw.kernel(threads=2, schedule=lw.tunable("split i {4,8}"))
def pinned(a: Any) -> None:
    a[0] = 1


@njit
def jitted(a: Any) -> None:
    a[0] = 1


@njit(parallel=True)
def parallel(a: Any) -> None:
    a[0] = 1


@njit("void(float64[:])")
def signed(a: Any) -> None:
    a[0] = 1


reveal_type(plain)
reveal_type(pinned)
reveal_type(jitted)
reveal_type(parallel)
reveal_type(signed)
reveal_type(plain.explain(np.ones(3), 2))
reveal_type(plain.tune(np.ones(3), 2, budget="5s"))
reveal_type(plain.tune(np.ones(3), 2).gain)
reveal_type(lw.device_array(np.ones(3)).numpy())
with lw.options(threads=2, device="cuda", store="off") as config:
    reveal_type(config.threads)
lw.options(thread=2)
lw.set_options(device="gpu")
lw.kernel(strict="yes")
"""
KERNEL = "loopwright.kernel.LoopKernel"


def test_what_a_type_checker_reveals(tmp_path: Path) -> None:
    """With the settings and the cache of `make lint`, so that it takes a moment."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", str(program)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    revealed = re.findall(r'Revealed type is "(.*)"', ran.stdout)
    assert [text.partition("[")[0] for text in revealed] == [
        *[KERNEL] * 5,
        "loopwright.report.explanation.Explanation",
        "loopwright.report.tune_report.TuneReport",
        "float",
        "numpy.ndarray",
        "int",
    ], ran.stdout + ran.stderr
    errors = [line.partition("error: ")[2] for line in ran.stdout.splitlines() if ": error: " in line]
    assert len(errors) == 3 and 'did you mean "threads"?' in errors[0], errors
    assert "expected \"Literal['auto', 'cpu', 'cuda', " in errors[1] and "'cuda:1'" in errors[1]
    assert "No overload variant" in errors[2]
