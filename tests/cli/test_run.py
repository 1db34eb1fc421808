"""`loopwright run`, on kernels that are not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.fakes import fake, recording
from loopwright.cli import run


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text("import sys\nprint(sys.argv[1:])\nsys.exit(5)")
    return path


def test_without_summary_only_the_script_speaks(script: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run.run_and_sum_up(script, ["--n", "3"], summary=False) == 5
    assert capsys.readouterr() == ("['--n', '3']\n", "")


def test_the_summary_has_a_line_for_each_kind_of_call(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "recording", recording(fake(tmp_path, calls=2), fake(tmp_path, "idle", 40, calls=0)))
    assert run.run_and_sum_up(script, [], summary=True) == 5
    out, err = capsys.readouterr()
    head, *rows = [line.split() for line in err.splitlines()]
    assert out == "[]\n" and head[0] == "kernel" and len(rows) == 3
    assert rows[0] == rows[1]
    assert " ".join(rows[0]) == (
        "spread (script.py:1) (a: float64[:], col: int32[:], hist: int64[:], n: int64) 3 4 ms 1.25 ms 2 "
        "sequential t; reduction k; undecided while"
    )
    assert rows[2] == ["idle", "(script.py:40)", "0"]


def test_calls_that_devices_shared_are_among_them(tmp_path: Path) -> None:
    found = fake(tmp_path, calls=1).explanations()[0]
    several = [replace(found, shared_calls=4), replace(found, ran=None, shared_calls=4)]
    rows = [run._row(one) for one in several]
    assert [row[1:5] for row in rows] == [["7", "4 ms", "1.25 ms", "2"], ["4", "", "", "several devices"]]


def test_a_summary_of_nothing(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "recording", recording())
    run.run_and_sum_up(script, [], summary=True)
    assert capsys.readouterr().err == "no kernel was made\n"
