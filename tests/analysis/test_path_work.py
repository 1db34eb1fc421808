"""How much work the parts of an iteration are, by its path."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import loopwright as lw
from loopwright.analysis.path_inspector import PathInspector, path_inspector
from loopwright.analysis.path_work import IterationWork


def nested(t, x, out):
    for i in range(out.shape[0]):
        if t[i] > 0:
            if t[i] == 1:
                for _k in range(100):
                    out[i] += x[i]
            else:
                out[i] = 1.0
        else:
            for _k in range(t[i] + 3):
                out[i] += 1.0


def unknown(t, x, out):
    for i in range(out.shape[0]):
        while out[i] < x[i]:
            out[i] += 1.0
        if t[i] > 0:
            out[i] = 1.0


def work_of(function: Callable[..., object]) -> tuple[IterationWork, list[str]]:
    found = lw.kernel(function).specialise(np.zeros(4, int), np.zeros(4), np.zeros(4)).analysed
    inspector = path_inspector(found.written, found.facts, "i")
    assert isinstance(inspector, PathInspector)
    return inspector.vector.work, [entry.scalar for entry in inspector.vector.known]


def test_each_part_knows_its_branches_and_does_not_count_what_is_inside() -> None:
    work, scalars = work_of(nested)
    outer, inner, loop = work.parts
    assert [part.scalar for part in work.parts] == scalars
    assert (outer.under, inner.under, loop.under) == ((), ((outer.scalar, 1),), ((outer.scalar, 0),))
    assert inner.second is not None and inner.first > 50 * inner.second
    assert outer.second is not None and outer.first < inner.first / 10 and outer.second < inner.first / 10
    assert loop.second is None and loop.first < inner.first / 10


def test_a_loop_about_which_nothing_is_known_runs_a_few_times() -> None:
    work, _ = work_of(unknown)
    (branch,) = work.parts
    assert work.fixed > 4 * branch.first
