"""The default beside other candidates: what a row holds."""

from __future__ import annotations

import benchmarks.unseen.__main__  # noqa: F401
from benchmarks.candidates import measured
from benchmarks.unseen.program import PROGRAMS


def test_candidates_give_what_the_default_gives() -> None:
    row = measured(PROGRAMS["bits set"], "emulated")
    usual, *others = row["candidates"]
    assert usual["differs"] == "" and others and row["behind_best"] >= 1.0
    assert all(one["wrong"] == 0.0 and one["differs"] for one in others)
