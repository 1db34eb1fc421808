"""`loopwright explain`, on kernels that are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.fakes import fake, recording
from loopwright.cli import explain


def test_every_kind_of_call_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('hello')")
    monkeypatch.setattr(explain, "recording", recording(fake(tmp_path, calls=2), fake(tmp_path, "idle", 40, calls=0)))
    assert explain.explain_script(script, [], as_json=False) == 0
    out = capsys.readouterr().out
    assert out.startswith("hello\n\nspread(a: float64[:]")
    assert out.count("on the cpu, up to 2 threads") == 2
    assert out.endswith("\nidle (script.py:40) was not called\n")


def test_json_is_all_that_goes_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(sys.argv[1])\nsys.exit(4)")
    monkeypatch.setattr(explain, "recording", recording(fake(tmp_path)))
    assert explain.explain_script(script, ["hello"], as_json=True) == 4
    out, err = capsys.readouterr()
    seen = json.loads(out)
    assert err == "hello\n"
    assert (seen["script"], seen["status"]) == (str(script), 4)
    [kernel] = seen["kernels"]
    assert (kernel["name"], kernel["line"]) == ("spread", 1)
    assert [loop["verdict"] for loop in kernel["explanations"][0]["loops"]] == ["sequential", "reduction", "undecided"]


def test_what_ran_before_a_failure_is_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text("raise RuntimeError('broken')")
    monkeypatch.setattr(explain, "recording", recording(fake(tmp_path)))
    assert explain.explain_script(script, [], as_json=False) == 1
    out, err = capsys.readouterr()
    assert "spread(a" in out and err.endswith("RuntimeError: broken\n")


def test_a_script_without_kernels_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text("")
    monkeypatch.setattr(explain, "recording", recording())
    assert explain.explain_script(script, [], as_json=False) == 0
    assert "made no kernel" in capsys.readouterr().err
