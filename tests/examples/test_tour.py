"""The tour's table, and that a wrong result ends it with 1. The problems are small ones in the real ones' place."""

from __future__ import annotations

import dataclasses
import importlib
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from examples.programs.problem import Problem

import loopwright as lw


@lw.kernel
def double(a, out):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        out[i] = 2.0 * a[i]


def with_numpy(a: np.ndarray, out: np.ndarray) -> None:
    out[...] = 2.0 * a


def arguments() -> dict[str, Any]:
    return {"a": np.arange(50.0), "out": np.zeros(50)}


PROBLEM = Problem("doubling", double, with_numpy, arguments, lambda data: "50 numbers", ("out",), 0.0)


@pytest.fixture
def tour(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> ModuleType:
    monkeypatch.syspath_prepend(request.config.rootpath / "examples")
    return importlib.import_module("tour")


def test_a_row_for_each_problem(tour: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(tour, "PROBLEMS", (PROBLEM,))
    assert tour.main() == 0
    text = capsys.readouterr().out
    for word in (*tour.COLUMNS, "doubling", "50 numbers", "parallel: i", "exact"):
        assert word in text


def test_a_wrong_result_is_named_and_ends_the_tour_with_1(
    tour: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    def not_double(a: np.ndarray, out: np.ndarray) -> None:
        out[...] = 2.0 * a
        out[7] += 1e-9

    monkeypatch.setattr(tour, "PROBLEMS", (PROBLEM, dataclasses.replace(PROBLEM, with_numpy=not_double)))
    assert tour.main() == 1
    text = capsys.readouterr().out
    assert "WRONG" in text and "1 of 2 results are wrong" in text


def test_the_tour_visits_all_four(tour: ModuleType) -> None:
    assert [problem.kernel.__name__ for problem in tour.PROBLEMS] == [
        "bilateral", "cluster", "pagerank", "cooccurrence",
    ]  # fmt: skip
