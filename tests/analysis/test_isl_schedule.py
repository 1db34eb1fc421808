"""New orders from isl's scheduler: loops that may change places, tiles and diagonals, and why there is no new order.
That the loops that come of it are right is test_reschedule.py's of steps."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from loopwright.analysis import isl, isl_schedule
from loopwright.analysis.effort import LOCK
from loopwright.analysis.isl_schedule import TOO_MANY, Constraints, Fusion, NoSchedule, Wanted, schedule_of
from loopwright.analysis.order import Scene, scene_of
from loopwright.ir.text import parse_kernel

COPY = """
kernel copy(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = a[i, j]
"""
CHAIN = """
kernel chain(a: float64[1] C):
    for i in 1 .. size(a, 0):
        a[i] = a[i] + a[i - 1]
"""
PAIR = """
kernel pair(a: float64[1] C, b: float64[1] C, c: float64[1] C):
    for i in 0 .. size(a, 0):
        b[i] = 2.0 * a[i]
    for k in 0 .. size(a, 0):
        c[k] = b[k] + 1.0
"""
SWEEPS = """
kernel sweeps(a: float64[1] C, b: float64[1] C, n: int64):
    for t in 0 .. n:
        for i in 1 .. size(a, 0) - 1:
            b[i] = a[i - 1] + a[i] + a[i + 1]
        for j in 1 .. size(a, 0) - 1:
            a[j] = b[j]
"""
TOTAL = """
kernel total(a: float64[1] C, b: float64[1] C):
    for i in 0 .. 5:
        a[0] = a[0] + b[i]
"""
LOCAL = """
kernel local(a: float64[2] C, b: float64[2] C):
    var s: float64
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s = a[i, j] * 2.0
            b[i, j] = s
"""


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """isl is asked by one thread at a time."""
    with LOCK:
        yield


def scene(text: str) -> Scene:
    return scene_of(parse_kernel(text), strict=True)


def schedule(text: str, fusion: Fusion = "smart", *sizes: int, **more: bool) -> isl.Schedule:
    return schedule_of(scene(text), Wanted(fusion, sizes, **more))


def marks(found: isl.Schedule) -> list[str]:
    """The loops of a schedule tree from outside to inside, as they are marked."""
    names: list[str] = []

    def note(node: isl.ScheduleNode) -> bool:
        if node.get_type() == isl.schedule_node_type.mark:
            names.append(node.mark_get_id().get_name())
        return True

    found.foreach_schedule_node_top_down(note)
    return names


def apart(pairs: isl.UnionMap) -> set[str]:
    """By how much the later one of two instances of one loop is later."""
    found: set[str] = set()
    pairs.deltas().foreach_set(lambda one: one.foreach_point(lambda point: found.add(str(point.to_set()))))
    return {re.findall(r"= (-?\d+)", one)[-1] for one in found}


def sequences(found: isl.Schedule) -> int:
    kinds: list[object] = []
    found.foreach_schedule_node_top_down(lambda node: kinds.append(node.get_type()) or True)
    return kinds.count(isl.schedule_node_type.sequence)


# ---- orders ---------------------------------------------------------------------------------------------------------


def test_each_loop_is_marked_with_the_users_name() -> None:
    assert marks(schedule(COPY)) == ["i", "j"]
    assert marks(schedule(CHAIN)) == ["i"]


@pytest.mark.parametrize(
    ("sizes", "names"), [((), ["i", "j"]), ((4,), ["i.o", "j.o", "i", "j"]), ((4, 8), ["i.o", "j.o", "i", "j"])]
)
def test_tiles_are_put_around_loops_that_may_change_places(sizes: tuple[int, ...], names: list[str]) -> None:
    found = schedule(COPY, "smart", *sizes)
    assert marks(found) == names
    lengths = [int(one) for one in re.findall(r"floor\(\(x\d\)/(\d+)\)", str(found))]
    assert lengths == list(sizes * 2)[: len(lengths)] and len(lengths) == len(names) - 2


def test_one_loop_alone_has_no_tiles() -> None:
    assert marks(schedule(CHAIN, "smart", 4)) == ["i"]


def test_how_much_runs_in_one_loop() -> None:
    together, apart = schedule(PAIR, "max"), schedule(PAIR, "min")
    assert marks(together) == ["i"] or len(marks(together)) < len(marks(apart))
    assert marks(apart) == ["i", "k"] and sequences(apart) == 1


def test_the_order_is_kept() -> None:
    """No dependence goes backwards, whatever is wanted."""
    for text in (COPY, CHAIN, PAIR, SWEEPS, LOCAL):
        one = scene(text)
        order = Constraints.of(one).order
        for fusion in ("min", "smart", "max"):
            for sizes in ((), (4,)):
                new = schedule_of(one, Wanted(fusion, sizes)).get_map()
                assert order.intersect(new.lex_ge_union_map(new)).is_empty()


def test_tiles_over_time_run_along_a_diagonal_where_that_is_wanted() -> None:
    plain = marks(schedule(SWEEPS, "smart", 4))
    front = marks(schedule(SWEEPS, "smart", 4, wavefront=True))
    assert not any(name.endswith(".w") for name in plain)
    assert [name for name in front if name.endswith(".w")] == ["t.w"]
    assert len(front) == len(plain)


def test_options_of_isl_are_as_they_were() -> None:
    context = isl.DEFAULT_CONTEXT
    names = ("serialize_sccs", "whole_component", "maximize_band_depth")
    before = [getattr(context, f"get_schedule_{name}")() for name in names]
    for fusion in ("min", "smart", "max"):
        schedule(PAIR, fusion)
    with pytest.raises(NoSchedule):
        schedule("kernel k(a: float64[1] C):\n    a[0] = 1.0\n")
    assert [getattr(context, f"get_schedule_{name}")() for name in names] == before


# ---- constraints ----------------------------------------------------------------------------------------------------


def test_only_direct_steps_are_constraints() -> None:
    """What is between two others says no more than those: of a chain, its neighbours."""
    one = scene(TOTAL)
    [dependence] = one.dependences
    assert Constraints.of(one).order.is_strict_subset(dependence.pairs)
    assert apart(dependence.pairs) == {"1", "2", "3", "4"}
    assert apart(Constraints.of(one).order) == {"1"}


def test_values_of_an_iteration_do_not_mix() -> None:
    found = Constraints.of(scene(LOCAL))
    assert not found.flow.is_empty() and not found.apart.is_empty()
    assert found.flow.intersect(found.apart).is_empty()
    assert Constraints.of(scene(CHAIN)).apart.is_empty()


def test_without_bounds_nothing_is_lost() -> None:
    found = Constraints.of(scene(SWEEPS))
    wider = found.without_bounds()
    assert found.order.is_subset(wider.order.intersect_domain(found.domain).intersect_range(found.domain))
    assert wider.domain is found.domain and wider.flow is found.flow


# ---- none -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "kernel k(a: float64[1] C):\n    a[0] = 1.0\n",
        "kernel k(a: int64[1] C):\n    while a[0] > 1 named w:\n        a[0] = a[0] // 2\n",
        "kernel k(a: float64[1] C):\n    pass\n",
    ],
)
def test_without_loops_there_is_nothing_to_do(text: str) -> None:
    with pytest.raises(NoSchedule, match=r"^no loop has bounds that are known before it runs$"):
        schedule(text)


def test_too_many_dependences(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule(SWEEPS)
    monkeypatch.setattr(isl_schedule, "MOST", 1)
    with pytest.raises(NoSchedule, match=f"^{TOO_MANY}$"):
        schedule(SWEEPS)


def test_too_many_dependences_for_fronts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isl_schedule, "MOST_FOR_FRONTS", 0)
    schedule(CHAIN)
    with pytest.raises(NoSchedule, match=r"^it has too many dependences for fronts to be looked for$"):
        schedule(CHAIN, inner=True)
