"""An order for machines on which everything inside one loop may run at once: of the loops that need their order, one is
put around all others, such that as many of these as possible need none.

That loop is one of a band's own (a factorisation becomes right-looking, a triangular solution goes column by column),
or, where none will do, their sum: what lies on one front of a wave does not depend on one another. Inside it, only what
depends on one another within one iteration keeps its order.
Source: Lamport, "The parallel execution of DO loops", CACM 1974, for fronts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from typing import Protocol

from loopwright.analysis import isl
from loopwright.analysis.isl_rows import Counts, coefficients, numbers_of, rank, rows_of


class Computed(Protocol):
    """A schedule of some instances, given the pairs of them that must stay in order, and whether statements are to have
    loops of their own wherever they can; None where it is too hard to find."""

    def __call__(self, domain: isl.UnionSet, order: isl.UnionMap, apart: bool, /) -> isl.Schedule | None: ...


WORTH = 2
"""Loops of a nest that need no order: more of them gain nothing."""


def in_front(domain: isl.UnionSet, order: isl.UnionMap, computed: Computed) -> isl.Schedule | None:
    """A schedule of the instances. order: pairs that must stay in order."""
    order = order.intersect_domain(domain).intersect_range(domain)
    for is_apart in (False, True):  # statements that only share a loop with others may be free without them
        found = computed(domain, order, is_apart)
        if found is None:
            return None
        node = found.get_root().child(0)
        if node.get_type() in (isl.schedule_node_type.sequence, isl.schedule_node_type.set):
            return _one_by_one(node, domain, order, computed)
        if node.get_type() != isl.schedule_node_type.band or node.band_member_get_coincident(0):
            return found
    return _best_front(found, domain, order, computed)


def _one_by_one(
    node: isl.ScheduleNode, domain: isl.UnionSet, order: isl.UnionMap, computed: Computed
) -> isl.Schedule | None:
    """A schedule of each part of a sequence by itself."""
    whole: isl.Schedule | None = None
    for child in range(node.n_children()):
        part = in_front(node.child(child).filter_get_filter().intersect(domain), order, computed)
        if part is None:
            return None
        whole = part if whole is None else whole.sequence(part)
    return whole


def _best_front(found: isl.Schedule, domain: isl.UnionSet, order: isl.UnionMap, computed: Computed) -> isl.Schedule:
    """The schedule with the row of its outermost band around that leaves most loops inside free."""
    best, most = found, (0, False, 0)
    for row, is_own in _candidates(found.get_root().child(0)):
        front = isl.MultiUnionPwAff.from_union_pw_aff(row)
        for is_apart in (False, True):
            inside = computed(domain, order.eq_at_multi_union_pw_aff(front), is_apart)
            if inside is not None:
                deepest, all_in_all = _gain(inside.get_root().child(0), row)
                if deepest and (deepest, is_own, all_in_all) > most:
                    most, best = (deepest, is_own, all_in_all), inside.insert_partial_schedule(front)
    return best


def _candidates(node: isl.ScheduleNode) -> Iterator[tuple[isl.UnionPwAff, bool]]:
    """Rows each of which keeps the order by itself, as far as it tells two instances apart, and whether it is one of
    the band's own."""
    rows = rows_of(node.band_get_partial_schedule())
    if len(rows) == 1 or not node.band_get_permutable():
        yield rows[0], True
        return
    for row in rows:
        yield row, True
    yield reduce(lambda one, other: one.add(other), rows), False


def _gain(node: isl.ScheduleNode, row: isl.UnionPwAff) -> tuple[int, int]:
    """How many loops inside the row's need no order: of the statements with most loops, and of all."""
    found = [(len(loops), min(WORTH, free)) for loops, free in _free(node, [coefficients(row)], {}, frozenset())]
    deepest = max(loops for loops, _ in found)
    return sum(free for loops, free in found if loops == deepest), sum(free for _, free in found)


def _free(
    node: isl.ScheduleNode, outer: list[Counts], free: Mapping[int, int], tied: frozenset[int]
) -> Iterator[tuple[list[Fraction], int]]:
    """For each statement below a node what the first row counts of its loops, and how many loops around it, from
    outside, need no order. free: how many so far; tied: of which statements no more can come."""
    if node.get_type() == isl.schedule_node_type.leaf:
        yield from ((outer[0][number], free.get(number, 0)) for number in numbers_of(node.get_domain()))
        return
    if node.get_type() == isl.schedule_node_type.band:
        for place, row in enumerate(rows_of(node.band_get_partial_schedule())):
            counts = coefficients(row)
            new = {number for number in counts if _is_new(number, counts, outer)} - tied
            if node.band_member_get_coincident(place):
                free = {**free, **{number: free.get(number, 0) + 1 for number in new}}
            else:
                tied |= new
            outer = [*outer, counts]
    for child in range(node.n_children()):
        yield from _free(node.child(child), outer, free, tied)


def _is_new(number: int, counts: Counts, outer: list[Counts]) -> bool:
    """Whether a row tells instances of a statement apart that those before it do not."""
    before = [one[number] for one in outer if number in one]
    return rank([*before, counts[number]]) > rank(before)
