from __future__ import annotations

import pytest

from loopwright.ir.verify import verify
from loopwright.recipe import wavefronts
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.wavefronts import in_fronts
from recipe.planning import (
    JACOBI,
    MATMUL_BY_ELEMENTS,
    PATHS,
    PATHS_SHAPES,
    TRMM,
    TRMM_SHAPES,
    check_same,
    plan_of,
    planned,
    reasons,
    steps,
)
from recipe.test_gpu import BOTH_WAYS, BOTH_WAYS_SHAPES, FACTORS, IN_PLACE, SOLUTION
from steps.kernels import COUNT, PREFIX, ROWS, TOTAL, WHILE


def in_new_order(text: str) -> PartialSchedule:
    """The plan, whose kernel counts as the written one."""
    partial = plan_of(text, strict=True)
    in_fronts(partial)
    verify(partial.kernel)
    assert partial.written is partial.kernel
    return partial


@pytest.mark.parametrize(
    ("text", "shapes", "free"),
    [
        (TRMM, TRMM_SHAPES, ("i", "j")),
        (FACTORS, {"a": "nn"}, ("i", "i.s", "j", "i.s.1", "j.2")),
        (IN_PLACE, {"a": "nm"}, ("t", "i")),
        (SOLUTION, {"a": "nn", "x": "n", "b": "n"}, ("i", "i.s")),
        (BOTH_WAYS, BOTH_WAYS_SHAPES, ("i", "j.s")),
    ],
)
def test_loops_become_free(text: str, shapes: dict[str, str], free: tuple[str, ...]) -> None:
    partial = in_new_order(text)
    assert steps(partial) == "reschedule smart inner" and len(reasons(partial)) == 1
    assert {name: partial.facts.loops[name].verdict for name in free} == dict.fromkeys(free, "parallel")
    check_same(plan_of(text).kernel, partial.kernel, shapes)


IN_SCALARS = """
kernel in_scalars(a: float64[2] C):
    var s: float64
    var t: float64
    for i in 0 .. size(a, 0):
        for j in 0 .. i:
            s = a[i, j]
            for k in 0 .. j:
                s = s - a[i, k] * a[k, j]
            a[i, j] = s // (abs(a[j, j]) + 1.0)
        for j.2 in i .. size(a, 0):
            t = a[i, j.2]
            for k.2 in 0 .. i:
                t = t - a[i, k.2] * a[k.2, j.2]
            a[i, j.2] = t
"""


def test_sums_in_scalars_go_to_their_elements_where_that_frees_loops() -> None:
    partial = in_new_order(IN_SCALARS)
    assert steps(partial) == "demote s; demote t; reschedule smart inner"
    assert "what 's' adds up in its element can be added in another order" in reasons(partial)
    free = [name for name, found in partial.facts.loops.items() if found.verdict == "parallel"]
    assert len(free) == 5, free
    check_same(plan_of(IN_SCALARS).kernel, partial.kernel, {"a": "nn"})
    in_elements = in_new_order(FACTORS)
    assert sorted(free) == sorted(n for n, one in in_elements.facts.loops.items() if one.verdict == "parallel")


def test_loops_that_meet_themselves_at_a_point_are_cut_there() -> None:
    partial = in_new_order(PATHS)
    assert steps(partial).startswith("cut j k; cut j.1 k+1; cut i k")
    check_same(plan_of(PATHS).kernel, partial.kernel, PATHS_SHAPES)


@pytest.mark.parametrize("text", [ROWS, MATMUL_BY_ELEMENTS, JACOBI, PREFIX, TOTAL, COUNT, WHILE])
def test_what_is_free_already_or_cannot_be_stays(text: str) -> None:
    assert planned(in_fronts, text).decisions == []


def test_large_kernels_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wavefronts, "MOST_STATEMENTS", 1)
    assert planned(in_fronts, SOLUTION).decisions == []
