"""Two copies of Loopwright by turns: what is made of their times, and a dry run on the emulated GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.compare import main, summary

import loopwright as lw


def line(case: str, seconds: float, first_s: float = 1.0) -> dict[str, object]:
    return {"case": case, "size": "9", "first_s": first_s, "seconds": seconds, "agrees": True}


def test_medians_of_the_turns_and_their_ratio() -> None:
    other = [[line("a/x", 4.0, 2.0)], [line("a/x", 2.0)], [line("a/x", 2.0)]]
    this = [[line("a/x", 1.0, 3.0)], [line("a/x", 1.0)], [line("a/x", 9.0)]]
    (found,) = summary({"other": other, "this": this})
    assert found["seconds"] == {"other": 2.0, "this": 1.0} and found["ratio"] == 0.5
    assert found["first_ratio"] == 1.5 and found["spread"] == 9.0


def test_a_case_that_one_copy_cannot_run_has_no_ratio() -> None:
    (found,) = summary({"other": [[{"case": "a/x", "fault": "KeyError: 1"}]], "this": [[line("a/x", 1.0)]]})
    assert found == {"case": "a/x", "faults": ["KeyError: 1"]}


def test_a_dry_run_compares_this_copy_with_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = Path(lw.__file__).parents[1], tmp_path / "out.json"
    main(source, out, only="calls/lw.device_array", rounds=1, limit=100.0, device="emulated", tiny=True)
    (case,) = json.loads(out.read_text())["cases"]
    assert case["agrees"] and case["ratio"] > 0
    assert "calls/lw.device_array" in capsys.readouterr().out


def test_polybench_on_the_cores_of_this_machine(tmp_path: Path) -> None:
    source, out = Path(lw.__file__).parents[1], tmp_path / "out.json"
    main(source, out, only="trisolv", rounds=2, limit=100.0, device="cpu", tiny=True)
    told = json.loads(out.read_text())
    (case,) = told["cases"]
    assert case["case"] == "trisolv" and case["ratio"] > 0 and len(told["turns"]["other"]) == 2
    assert case["first_s"]["this"] > case["seconds"]["this"]
