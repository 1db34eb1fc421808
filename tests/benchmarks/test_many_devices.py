"""The run on many GPUs, on two that the CPU imitates, at a scale at which that takes no time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.many_cases import MANY_CASES, THESIS, length_of, random, scattered

import loopwright as lw
from benchmarks import many_devices

CASES = {case.name: case for case in MANY_CASES}


def rows_of(out: Path, **more: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "kind": "emulated",
        "counts": [1, 2],
        "budget_s": 1e9,
        "only": "sums of",
        "scale": 0.003,
    }
    return many_devices.run(out, **(settings | more))


def test_rows_tell_time_gain_imbalance_and_copies(tmp_path: Path) -> None:
    out = tmp_path / "rows.json"
    found = rows_of(out, jobs=2)
    assert found["compared"] == {"sums of rows": ""}, "in another process"
    assert json.loads(out.read_text(encoding="utf-8")) == found
    assert [(row["arrays"], row["gpus"]) for row in found["rows"]] == [
        ("resident", 1), ("resident", 2), ("host", 1), ("host", 2)
    ]  # fmt: skip
    rows = len(CASES["sums of rows"].arguments(0.003)[1])
    for row in found["rows"][1::2]:
        assert sum(one["iterations"] for one in row["devices"]) == rows and row["speed_up"] > 0
        assert 0 <= row["imbalance"] <= 1 and min(row["before_ms"], row["after_ms"], row["nobody_busy_ms"]) >= 0
    assert sum(one["bytes"] for one in found["rows"][3]["moved"]) >= CASES["sums of rows"].arguments(0.003)[0].nbytes
    assert not found["rows"][1]["moved"], "arrays that stay need no copies"
    page = out.with_suffix(".html").read_text(encoding="utf-8")
    assert "How many times as fast" in page and "sums of rows on 2: computes" in page
    assert many_devices.table(found["rows"]).row_count == 4


def test_nothing_begins_when_the_budget_is_spent(tmp_path: Path) -> None:
    found = rows_of(tmp_path / "rows.json", budget_s=-1.0, only="")
    where = [f"{name}, {arrays}" for arrays in ("resident", "host") for name in CASES]
    assert found["rows"] == [] and found["not_run"] == where


def test_a_case_that_goes_wrong_does_not_lose_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise lw.DeviceError("no room")

    monkeypatch.setattr(many_devices.Resident, "measured", fails)
    found = rows_of(tmp_path / "rows.json")
    assert [row.get("failed") for row in found["rows"]] == ["no room", "no room", None, None]


def test_another_result_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AssertionError, match="another result"):
        many_devices._alike(CASES["sums of rows"], "resident", [np.ones(3)], [np.array([1.0, 1.0, 1.1])])


def small(whole: int) -> int:
    """Lengths of axes as a check on real GPUs has them, where they are no longer than what several blocks share."""
    return min(length_of(many_devices.SMALL, whole), 1 << 14)


@pytest.mark.parametrize("name", CASES)
def test_cases_are_shared_and_right(name: str) -> None:
    """What `check` compares, and that there is something to compare: two GPUs do take part."""
    many_devices.check(CASES[name], "emulated", 2, small)
    found = many_devices.last(CASES[name].kernel)
    assert [bool(one["iterations"]) for one in found["devices"]] == [True, True], name


def test_the_thesis_codes_are_there() -> None:
    assert {name for name in CASES if name.startswith("PolyBench")} == {f"PolyBench {name}" for name in THESIS}


def test_arguments_are_filled() -> None:
    assert np.unique(random(3, 1 << 21, dtype=np.float32)).size > 1 << 20
    columns = scattered(1 << 16, 1000)
    assert columns.dtype == np.int32 and columns.min() >= 0 and columns.max() < 1000
    assert np.bincount(columns, minlength=1000).min() > 0
