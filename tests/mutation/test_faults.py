"""Every planted fault still has its place, and they are where a hostile reader would put them. That the tests notice
them is what `make mutate` finds out."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from mutation.fault import Fault
from mutation.faults import FAULTS
from mutation.in_analysis import ANALYSIS
from mutation.in_codegen import CPU, GPU
from mutation.in_runtime import RUNTIME
from mutation.run import STAGES, Outcome, table_of, targets_of

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "loopwright"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_one_place_and_can_be_read(fault: Fault) -> None:
    text = (PACKAGE / fault.file).read_text(encoding="utf-8")
    faulty = fault.planted(text)
    assert faulty != text
    if fault.file.endswith(".py"):
        assert ast.dump(ast.parse(faulty)) != ast.dump(ast.parse(text))
    assert fault.why
    assert fault.first
    for test in fault.first:
        assert (ROOT / test.split("::")[0]).is_file(), test


def test_where_tests_are_looked_for() -> None:
    in_folder, beside = (Fault("x", file, "", "", "", ("t",)) for file in ("analysis/guard.py", "remembered.py"))
    assert [targets_of(in_folder, stage) for stage in STAGES] == [
        ["t"],
        ["tests/analysis"],
        ["tests/meaning"],
        ["tests"],
    ]
    assert targets_of(beside, "folder") == ["tests/test_remembered.py"]


def test_the_score_counts_what_was_noticed() -> None:
    found = [Outcome("a", "x.py", noticed, "", "", 1.0) for noticed in ("tests/x.py::test", "", "tests/y.py::test")]
    assert table_of(found).title == "2 of 3 noticed"


def test_a_fault_without_a_place_is_refused() -> None:
    fault = Fault("lost", "x.py", "a", "b", "", ())
    with pytest.raises(ValueError, match="lost: 0 places"):
        fault.planted("c")
    with pytest.raises(ValueError, match="lost: 2 places"):
        fault.planted("aa")


def test_faults_are_many_and_everywhere() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 30
    assert len({(fault.file, fault.before) for fault in FAULTS}) == len(FAULTS)
    assert len(CPU) >= 8 and len(GPU) >= 8 and len(ANALYSIS) >= 10 and len(RUNTIME) >= 6
    assert max(Counter(fault.file for fault in FAULTS).values()) <= 6
