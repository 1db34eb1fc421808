"""Scripts that use numba, run with our names: what served their calls, and that numba's own place is left as it was."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import loopwright as lw
import loopwright.numba as nb
from loopwright.cli.migrate import migrate
from loopwright.cli.numba_trial import tried_kernels

SCRIPT = """\
import sys
import numpy as np
import numba as nb
from numba import njit, prange
from numba.core import types
from numba.core.errors import NumbaWarning

@njit(parallel=True)
def doubled(a):
    for i in prange(len(a)):
        a[i] *= types.float64(2.0)

@nb.njit
def wrong(a):
    doubled(a)
    return open(a)

@njit()
def generator(a):
    yield a[0]

@njit
def unused(a):
    return a

a = np.ones(3)
doubled(a)
doubled(a)
try:
    wrong(a)
except TypeError:
    print(a, float(next(generator(a))), sys.argv[1:])
sys.exit(3)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "uses_numba.py"
    path.write_text(SCRIPT)
    return path


def test_what_served_the_calls(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "numba"}, nb.njit, nb.jit
    tried, status = tried_kernels(script, ["x"])
    assert status == 3 and capsys.readouterr().out == "[8. 8. 8.] 8.0 ['x']\n"
    assert [(one.py_func.__name__, one.served, len(one.refused)) for one in tried] == [
        ("doubled", 3, 0), ("wrong", 0, 1), ("generator", 0, 1), ("unused", 0, 0)
    ]  # fmt: skip
    assert all(isinstance(error, lw.KernelError) for one in tried for error in one.refused.values())
    assert before == (
        {name: module for name, module in sys.modules.items() if name.split(".")[0] == "numba"}, nb.njit, nb.jit
    )  # fmt: skip


def test_migrate_tells_it(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert migrate(script, write=False, run=True) == 3
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[2] == "doubled 9 @njit ran 3 times"  # once for Python's own `wrong`
    assert lines[3].startswith("wrong 14 @njit refused line 16: 'open' is outside the language")
    assert lines[4].startswith("generator 19 @njit refused line 20: 'yield' is outside the language")
    assert lines[5] == "unused 23 @njit was not called"
