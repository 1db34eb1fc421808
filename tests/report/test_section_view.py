"""What a section of the page is made from: what is chosen for its sizes, and what that gains."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from loopwright.profile.measurement import Measurement
from loopwright.profile.records import KernelName, MachineName
from loopwright.report.section_view import SectionView, gain_of, view_of
from loopwright.report.subjects import Subject
from report.stored import CPU, DEFAULT, KERNEL, LOOPS, ONE_THREAD, TILED, WRONG, row


def view(*found: Measurement) -> SectionView:
    return view_of(Subject(KernelName(KERNEL, "gemm"), MachineName(CPU.fingerprint, CPU), found, (), ()))


def test_the_gain_is_that_of_the_chosen_one_and_the_rival_is_the_next() -> None:
    found = view(*(row(one, 512, time) for one, time in ((DEFAULT, 4e6), (TILED, 1e6), (LOOPS, 2e6))))
    gain = gain_of(found)
    assert gain is not None and (gain.default, gain.variant, gain.ratio) == (DEFAULT, TILED, 4.0)
    assert (gain.rival, gain.rival_part) == (LOOPS, 1.0)
    assert gain.error == pytest.approx(math.hypot(0.02, 0.02)) and found.ranked == (TILED, LOOPS, DEFAULT)


def test_within_the_errors_the_default_is_chosen_and_comes_first() -> None:
    found = view(row(DEFAULT, 512, 1.01e6), row(TILED, 512, 1e6))
    gain = gain_of(found)
    assert found.chosen == DEFAULT and found.ranked == (DEFAULT, TILED)
    assert gain is not None and (gain.ratio, gain.error) == (1.0, 0.0) and gain.rival_part == pytest.approx(-1 / 101)


def test_the_default_is_the_one_with_all_threads() -> None:
    assert view(row(ONE_THREAD, 64, 1e3), row(DEFAULT, 64, 9e3)).default == DEFAULT


def test_nothing_can_be_gained_where_something_did_not_run() -> None:
    assert gain_of(view()) is None and gain_of(view(row(TILED, 64, 1e6))) is None
    failed = row(DEFAULT, 64, 0.0, outcome="crashed", runs=0)
    found = view(failed, row(TILED, 64, 1e6), replace(row(WRONG, 64, 0.0), outcome="wrong"))
    assert gain_of(found) is None and found.here(DEFAULT) is None and found.here(None) is None
    assert found.names[WRONG] == "V2" and found.names[DEFAULT].startswith("default")
