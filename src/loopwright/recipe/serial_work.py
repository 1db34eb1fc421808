"""Whether what one thread of a GPU would do is reason enough to run a kernel on the CPU."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Assign, Body, Const, Expr, For, If, Kernel, Load, Store, Var, While
from loopwright.ir.queries import contains, has, names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import bodies, expressions, loops, statements, subexpressions
from loopwright.recipe.grid_conditions import is_free_now
from loopwright.recipe.grid_tiles import Bound
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import around, most_trips_within, trip_of
from loopwright.steps.grids import is_bound, is_host, launches

LITTLE = 256
"""Iterations that one thread of a GPU does in the time that a launch takes."""


@dataclass(frozen=True, slots=True)
class Grid:
    """What becomes of a nest: the loops to bind, none where it is no grid. inner: its innermost loop, as the user wrote
    it; depth: how many loops around one another run as often as sizes say."""

    inner: str
    depth: int
    bound: list[Bound]


def better_off(kernel: Kernel, grids: Sequence[Grid], alone: Mapping[str, str], rare: Collection[str] = ()) -> str:
    """Why the whole kernel is better off on the CPU: of the loops of one thread, some run as often as those of all
    grids, and, where their order is needed, as often as an array has elements, which may have to be copied; or there
    are no grids. One thread is a hundred times slower. '' where that is not so. No call has told any sizes yet, and
    cost/ counts with sizes: loops whose bounds follow from these, and axes, are the degree in which iterations and
    elements grow with them. rare: loops that do not count, as they hardly ever run."""
    grid = max((grid.depth for grid in grids if grid.bound and grid.inner not in alone), default=0)
    if told := next((alone[one.inner] for one in grids if one.inner in alone and one.depth >= grid), ""):
        return told
    axes = _most_axes(kernel)
    serial, loop = _in_one_thread(kernel.body, 0, rare)
    has_grids = any(one.bound for one in grids)
    if loop is None or kernel.overlap or serial < max(1, grid, axes if has_grids else 0):
        return ""
    return f"one thread would run '{_as_written(loop)}', whose iterations need their order"


def _most_axes(kernel: Kernel) -> int:
    """The most axes that elements of an argument are found along; not those on which each has a number, as
    coordinates have, or which a loop of constant length goes along."""
    given, found = {param.name for param in kernel.arrays}, dict[str, set[int]]()
    short = {name for name, loop in loops(kernel).items() if isinstance(loop, For) and trip_of(loop) is not None}
    accesses: list[Load | Store] = [*expressions(kernel.body, Load), *statements(kernel.body, Store)]
    for access in accesses:
        if access.array in given:
            moving = {axis for axis, index in enumerate(access.index) if not isinstance(index, Const)}
            along = {axis for axis in moving if not (isinstance(at := access.index[axis], Var) and at.name in short)}
            found.setdefault(access.array, set()).update(along)
    return max(map(len, found.values()), default=0)


def _as_written(loop: For | While) -> str:
    """The user's name for a loop, of which a step may have made it."""
    return user_name(loop.name).partition(".")[0]


def is_little(partial: PartialSchedule, chain: Chain) -> bool:
    """Whether all that a nest has to share out are a few iterations inside a loop that needs its order, as those of a
    window are in a sweep that goes on from what it has written, or one that is not shared out itself, as the nest
    stands under a condition: a launch for each of them takes longer than one thread for all."""
    outer, nest = tuple(stmt for stmt in around(partial.kernel, chain[0]) if isinstance(stmt, For)), chain
    chain = (*outer, *chain)
    if outer and None in map(trip_of, outer) and not any(is_free_now(partial, loop) for loop in outer):
        trips = [_most_trips(loop, chain) for loop in nest]
        if None not in trips and prod(trip or 0 for trip in trips) <= LITTLE:
            return True
    needs_no_order = [
        partial.verdict(loop) in ("parallel", "reduction") or is_free_now(partial, loop) for loop in chain
    ]
    if all(needs_no_order) or not needs_no_order[-1]:
        return False
    first = len(chain) - needs_no_order[::-1].index(False)
    if any(is_free_now(partial, loop) for loop in chain[:first]) or None not in map(trip_of, chain[:first]):
        return False
    trips = [_most_trips(loop, chain) for loop in chain[first:]]
    return None not in trips and prod(trip or 0 for trip in trips) <= LITTLE


def _most_trips(loop: For, around: Chain) -> int | None:
    most = most_trips_within(loop, around)
    return most if most is not None and most > 1 else trip_of(loop)  # points between cuts are parts of something large


def each_a_launch(kernel: Kernel, facts: Facts, written: Facts, rare: Collection[str] = ()) -> str:
    """Why it is better off there where a grid would be launched for each iteration of a loop that needs no order, but
    cannot be counted, or has not been taken apart, or where data is asked again and again whether to launch a small
    one. '' where that is not so. written: the facts of the kernel before any step, which are known: to prove more of
    what it has become may take all the time there is. rare: loops that do not count."""
    for loop in _around_launches(kernel.body):
        if not isinstance(loop.step, Const) and facts.loops[loop.name].verdict == "parallel":
            return f"each iteration of '{user_name(loop.name)}' would be a launch, as its step may be negative"
        if trip_of(loop) is None and _only_adds(written, loop):
            return f"each iteration of '{user_name(loop.name)}' would be a launch, though they meet in totals only"
    for host in _innermost_hosts(kernel.body, rare):
        grids = list(_grids(host[-1].body, names_assigned(kernel.body)))
        if ragged := next((grid for grid, _ in grids if _is_told_anew(host[-1], grid)), None):
            return (
                f"each iteration of '{user_name(host[-1].name)}' would be a launch of as many "
                f"'{_as_written(ragged)}' as data tells for it"
            )
        deepest = max((_depth(grid) for grid, _ in grids), default=0)
        is_free = any(loop.name in facts.loops and facts.loops[loop.name].verdict == "parallel" for loop in host)
        if is_free and len(host) > deepest + 1:
            return (
                f"each iteration of '{user_name(host[-1].name)}' would be a launch, though others around need no order"
            )
        if len(host) > max(1, deepest) and (asked := next((grid for grid, asks in grids if asks), None)):
            return (
                f"each iteration of '{user_name(host[-1].name)}' would wait for data to tell whether "
                f"'{_as_written(asked)}' is launched"
            )
    return ""


def _innermost_hosts(body: Body, rare: Collection[str], hosts: Chain = ()) -> Iterator[Chain]:
    """Loops of the host around one another that run as often as sizes say, the last of which holds grids and no other
    one."""
    for stmt in body:
        if is_bound(stmt) or not launches(stmt) or (isinstance(stmt, For) and stmt.name in rare):
            continue
        inner = (*hosts, stmt) if isinstance(stmt, For) and trip_of(stmt) is None else hosts
        found = [one for part in bodies(stmt) for one in _innermost_hosts(part, rare, inner)]
        yield from found
        if not found and inner is not hosts:
            yield inner


def _grids(body: Body, told: Collection[str], asks: bool = False) -> Iterator[tuple[For, bool]]:
    """The grids in a body, and whether data decides that they are launched, where a user has asked so. told: scalars
    that data may give a value."""
    for stmt in body:
        if is_bound(stmt) and isinstance(stmt, For):
            yield stmt, asks
            continue
        by_data = isinstance(stmt, If) and stmt.at is not None
        if by_data and isinstance(stmt, If):
            by_data = not names_in(stmt.condition).isdisjoint(told) or has(stmt.condition, Load)
        for part in bodies(stmt):
            yield from _grids(part, told, asks or by_data)


def _is_told_anew(host: For, grid: For) -> bool:
    """Whether elements of arrays tell how often what is in a grid runs, others for each iteration of a loop around it:
    those of a row of a matrix, of which there are many, and most are short."""
    parts = dict[str, list[For]]()
    for loop in statements((grid,), For):
        parts.setdefault(_as_written(loop), []).append(loop)
    long = [some for some in parts.values() if not any(trip_of(loop) is not None for loop in some)]
    return bool(long) and all(_is_of_an_iteration(host, [*_ends(some)]) for some in long)


def _ends(some: Sequence[For]) -> Iterator[Expr]:
    for loop in some:
        yield from (loop.lower, loop.upper)


def _is_of_an_iteration(host: For, ends: Sequence[Expr]) -> bool:
    told = set[str]().union(*map(names_in, ends))
    values = [stmt.value for stmt in statements(host.body, Assign) if stmt.name in told]
    return any(host.name in names_in(load) for end in (*ends, *values) for load in subexpressions(end, Load))


def _depth(grid: For) -> int:
    """How many loops of the user's that run as often as sizes say are in it."""
    return len({_as_written(one) for one in statements((grid,), For) if trip_of(one) is None})


def _around_launches(body: Body) -> Iterator[For]:
    """The loops of the host that launch grids."""
    for stmt in body:
        if launches(stmt) and not is_bound(stmt):
            if isinstance(stmt, For):
                yield stmt
            for part in bodies(stmt):
                yield from _around_launches(part)


def _only_adds(facts: Facts, loop: For) -> bool:
    if not names_assigned(loop.body) or (found := facts.loops.get(loop.name)) is None:
        return False
    return found.verdict == "reduction" and all(one.kind == "scalar" for one in found.reductions)


def _in_one_thread(
    body: Body, depth: int, rare: Collection[str], around: tuple[For, ...] = ()
) -> tuple[int, For | While | None]:
    """How many loops around one another that run as often as sizes or data say one thread has at most, those of the
    host around it included; the innermost of them. A `while` around others counts for nothing: it may end soon."""
    found: tuple[int, For | While | None] = (0, None)
    for stmt in body:
        if is_bound(stmt) or is_host(stmt) or (isinstance(stmt, For) and stmt.name in rare):
            continue
        is_long = isinstance(stmt, For) and most_trips_within(stmt, around) is None
        is_long |= isinstance(stmt, While) and not contains(stmt.body, For, While)
        inner = depth + is_long
        if is_long and not launches(stmt) and inner > found[0]:
            assert isinstance(stmt, For | While)
            found = inner, stmt
        loops_now = (*around, stmt) if isinstance(stmt, For) else around
        for part in bodies(stmt):
            below = _in_one_thread(part, inner, rare, loops_now)
            found = below if below[0] > found[0] else found
    return found
