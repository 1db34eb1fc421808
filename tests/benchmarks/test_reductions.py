"""The benchmark of sums, extremes and searches: every function is right, and its row says how long it takes."""

from __future__ import annotations

import pytest
from benchmarks.reductions import FUNCTIONS, KINDS, measured, text_of

import loopwright as lw
from benchmarks import reductions


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_function_runs_and_is_right(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reductions, "ROUNDS", 1)
    row = measured(name, kind, 1000, {"loopwright": lw.kernel, "numba": lambda function: function})
    assert row.loopwright > 0 and row.numpy > 0
    assert f"{row.numpy / row.loopwright:.2f}" in text_of(row)


def test_who_is_wrong_or_cannot_do_it_has_no_time_and_the_row_says_so() -> None:
    wrong = measured("total", "int64", 100, {"loopwright": lw.kernel, "numba": lambda function: lambda a, b: 0})
    assert wrong.numba == 0 and wrong.times("numba") == 0 and text_of(wrong).endswith("numba: AssertionError")
    with pytest.raises(AssertionError):
        measured("total", "int64", 100, {"loopwright": lambda function: lambda a, b: 0})
