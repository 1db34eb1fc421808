from __future__ import annotations

import pytest

from loopwright.analysis.analyse import analyse
from loopwright.ir.text import parse_kernel
from loopwright.recipe.recipe import recipe
from loopwright.recipe.renumbering import among_clusters, may_count
from loopwright.recipe.target import CpuTarget
from loopwright.steps.schedule import print_schedule

SWEEPS = """
kernel sweeps(x: float64[1] C, y: float64[1] C, p: int64[2] C, m: int64):
    var s: float64
    for t in 0 .. m:
        for i in 0 .. size(x, 0):
            s = 0.0
            for k in 0 .. size(p, 1):
                s = s + x[p[i, k]]
            y[i] = s * 0.5
        for i.1 in 0 .. size(x, 0):
            x[i.1] = y[i.1]
"""
ONCE = """
kernel once(x: float64[1] C, y: float64[1] C, p: int64[2] C):
    var s: float64
    for i in 0 .. size(x, 0):
        s = 0.0
        for k in 0 .. size(p, 1):
            s = s + x[p[i, k]]
        y[i] = s * 0.5
"""
LEFT = SWEEPS.replace(
    "            x[i.1] = y[i.1]\n", "            x[i.1] = y[i.1]\n        if x[0] > 9.0:\n            break t\n"
)
REGULAR = SWEEPS.replace("p[i, k]", "i")


def schedule_of(text: str, may_remap: bool = True) -> str:
    """The default schedule of a kernel on a CPU with two cores."""
    kernel = parse_kernel(text)
    target = CpuTarget(l2_bytes=1 << 20, cores=2)
    return print_schedule(recipe(kernel, analyse(kernel), False, target, may_remap=may_remap).schedule)


def test_a_mesh_in_a_loop_over_time_is_renumbered() -> None:
    assert schedule_of(SWEEPS).startswith("renumber p in t beyond 1048576 times 32; ")
    assert "renumber" not in schedule_of(SWEEPS, may_remap=False)


@pytest.mark.parametrize("text", [ONCE, LEFT, REGULAR])
def test_what_is_done_once_or_may_end_early_or_is_regular_is_not(text: str) -> None:
    assert "renumber" not in schedule_of(text)


def test_both_versions_are_shared_by_threads() -> None:
    found = schedule_of(SWEEPS)
    for loop in ("i.r", "i.1.r", "x.in0", "x.back0", "i", "i.1"):
        assert f"parallelize {loop};" in f"{found};"


def test_a_gpu_finds_clusters() -> None:
    kernel = parse_kernel(SWEEPS)
    assert str(among_clusters(kernel, analyse(kernel), True)) == "renumber p in t clusters"
    for text in (ONCE, LEFT, REGULAR):
        other = parse_kernel(text)
        assert among_clusters(other, analyse(other), True) is None


def test_a_glance_tells_what_has_no_index_arrays() -> None:
    assert may_count(parse_kernel(SWEEPS))
    assert not may_count(parse_kernel(REGULAR))
