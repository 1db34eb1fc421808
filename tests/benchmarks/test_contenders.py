"""Who takes part in which case. Needs numba, which is installed for the benchmark only."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import WARM_UP, Case, all_cases
from benchmarks.results import BLAS, CONTENDERS, OPENMP, PLAIN, PLUTO, SOMETIMES

import loopwright as lw

pytest.importorskip("numba", reason="numba is not installed: pip install loopwright[bench]")
contenders = importlib.import_module("benchmarks.contenders")


def case(name: str) -> Case:
    return {one.name: one for one in all_cases()}[name]


def takers(name: str) -> set[str]:
    return {one.name for one in contenders.CONTENDERS if one.takes(case(name))} - {PLAIN}


def test_the_table_has_a_column_for_everyone() -> None:
    assert {one.name for one in contenders.CONTENDERS} == {*CONTENDERS, *SOMETIMES}


def test_everyone_takes_what_there_is_a_version_of() -> None:
    assert takers("gemm") == {*CONTENDERS, PLUTO, BLAS}
    assert takers("jacobi-2d-beyond") == takers("jacobi-2d") == {*CONTENDERS, OPENMP, PLUTO}
    assert takers("spmv") == {*CONTENDERS, OPENMP}
    assert takers("mvt") == set(CONTENDERS)


@pytest.mark.parametrize("name", [BLAS, PLUTO])
def test_who_is_prepared_computes_in_place(name: str, tmp_path: Path) -> None:
    (contender,) = (one for one in contenders.CONTENDERS if one.name == name)
    arguments = case("gemm").arguments(WARM_UP)
    before = arguments["C"].copy()
    contender.prepare(case("gemm"), tmp_path)(*arguments.values())()
    assert not np.array_equal(arguments["C"], before)


def test_an_option_that_is_not_there_leaves_the_plain_one_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contenders, "PLAIN_OPTIONS", {"no_such_option": "plain"})
    assert not contenders.has_plain()
    assert contenders.notes() == ("'plain' is left out: this Loopwright has no options(no_such_option='plain').",)


def test_the_plain_one_runs_under_its_options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(contenders, "PLAIN_OPTIONS", {"device": "interpreter"})
    assert contenders.has_plain() and contenders.notes() == ()
    seen: list[str] = []
    monkeypatch.setattr(lw, "kernel", lambda _: lambda *_: seen.append(lw.config.current().device))
    (contender,) = (one for one in contenders.CONTENDERS if one.name == PLAIN)
    contender.prepare(case("gemm"), tmp_path)()()
    assert seen == ["interpreter"]
