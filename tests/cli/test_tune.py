"""`loopwright tune`."""

from __future__ import annotations

from pathlib import Path

import pytest

import loopwright as lw
from loopwright.cli.tune import tune_script

SCRIPT = """
import sys
import numpy as np
import loopwright as lw

@lw.kernel
def doubled(a):
    for i in range(len(a)):
        a[i] *= 2

a = np.ones(int(sys.argv[1]))
for _ in range(3):
    doubled(a)
assert a[0] == 8
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_a_script_is_run_and_its_kernels_are_tuned(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lw.options(store=script.parent / "store.sqlite3", threads=1):
        assert tune_script(script, ["500"], 0.0) == 0
    told = capsys.readouterr()
    assert "1 kind of calls to tune" in told.err
    assert "doubled" in told.out and "500" in told.out and "cpu 1: recipe" in told.out and "not known" in told.out
    assert "doubled for a 500: not reached: its share of the budget was 0 s; only the default" in told.out


def test_a_script_that_fails_keeps_its_status(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lw.options(store=script.parent / "store.sqlite3", threads=1):
        assert tune_script(script, ["x"], 0.0) == 1
    assert "nothing to tune" in capsys.readouterr().err


def test_without_a_store_nothing_is_tuned(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lw.options(store="off"):
        assert tune_script(script, ["5"], 1.0) == 2
    assert "LOOPWRIGHT_STORE is off" in capsys.readouterr().err
