"""Sums over a long loop into elements that loops inside it go through, beside other work, as in
`for i: ...; for j: total[j] += f(i, j)`: the gradients of a layer, the sums of a mixture. All iterations of the long
loop would meet there in atomic updates, or one thread would do them in order. In nests of their own they are sums like
others, which grid_parts.py shares out; scalars that they need are computed again, or kept in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from loopwright.analysis.reductions import is_told_by_data
from loopwright.ir.nodes import Assign, Body, Compare, Const, For, If, Load, Stmt, Store
from loopwright.ir.queries import arrays_made, contains, names_assigned, names_read
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements, subexpressions
from loopwright.recipe.code_sinking import CHEAP, price_of
from loopwright.recipe.grid_parts import LEAST
from loopwright.recipe.outermost import is_outermost
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.shape import MOST_ELEMENTS
from loopwright.steps.expand import Expand
from loopwright.steps.extent import around, trip_of
from loopwright.steps.fission import Fission
from loopwright.steps.forward import Forward
from loopwright.steps.limits import terms

MOST = 32
"""Sums that are looked at, each in all versions of its loop."""


def sums_apart(partial: PartialSchedule) -> None:
    """Cut such sums off the nests that they stand in, unless additions have to keep their order."""
    if partial.strict:
        return
    seen = set[tuple[str, str]]()
    while len(seen) < MOST:
        found = next((one for one in _candidates(partial) if (one[0].name, one[1]) not in seen), None)
        if found is None:
            return
        loop, target = found
        seen.add((loop.name, target))
        with partial.together():
            _apart(partial, loop, target)
            partial.begin_again()


def _candidates(partial: PartialSchedule) -> Iterator[tuple[For, str]]:
    """Long loops, and arrays that they add to, each time at the same elements."""
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or not is_outermost(partial, loop) or (trip_of(loop) or LEAST) < LEAST:
            continue
        if contains(loop.body, For) and partial.verdict(loop) == "reduction":
            for one in partial.present_facts().loops[name].reductions:
                if one.kind == "scatter" and not is_told_by_data(loop, one):
                    yield loop, one.target


def _apart(partial: PartialSchedule, loop: For, target: str) -> None:
    """Raises NotTaken."""
    why = f"sums in '{user_name(target)}' over all '{user_name(loop.name)}' are apart from what else it does"
    paths = list(_paths(loop, target))
    if len(paths) != 1 or len(paths[0]) < 2 or all(len(one.body) == 1 for one in paths[0]):
        raise NotTaken
    *names, inner = (one.name for one in paths[0])
    _without_scalars(partial, paths[0], target, why)
    first = paths[0][0].name
    inner = alone(partial, first, inner, [stmt for stmt in _body(partial, inner) if _adds(stmt, target)], why)
    for name in reversed(names):
        (child,) = (stmt for stmt in _body(partial, name) if isinstance(stmt, For) and stmt.name == inner)
        inner = alone(partial, first, name, [child], why)


def _paths(loop: For, target: str) -> Iterator[Chain]:
    """The loops down to each statement that stores to an array, each in the body of the one before. Raises NotTaken
    where conditions, or loops of unknown ends, stand in between."""
    if any(_adds(stmt, target) for stmt in loop.body):
        yield (loop,)
    for stmt in loop.body:
        if isinstance(stmt, For):
            yield from ((loop, *rest) for rest in _paths(stmt, target))
        elif not isinstance(stmt, Store) and any(one.array == target for one in statements((stmt,), Store)):
            raise NotTaken


def _adds(stmt: object, target: str) -> bool:
    return isinstance(stmt, Store) and stmt.array == target


def _body(partial: PartialSchedule, name: str) -> Body:
    return partial.around(name)[-1].body


def _without_scalars(partial: PartialSchedule, path: Chain, target: str, why: str) -> None:
    """Let no statement that adds read a scalar which an iteration sets: what is cheap is computed there again, and of
    all else there is an element for each iteration. Raises NotTaken."""
    is_large = any(isinstance(one, If) and _is_for_many(one, path[0]) for one in around(partial.kernel, path[0]))
    for depth in range(len(path), 1, -1):  # of the long loop itself, cuts keep what they need
        names = tuple(one.name for one in path[:depth])
        while needed := _needed(partial, names[-1], path[-1].name, target):
            name = min(needed)
            values = [one for one in statements(partial.kernel.body, Assign) if one.name == name]
            before = partial.kernel
            is_apart = not names_read(tuple(values)) & names_assigned(_body(partial, names[-1]))
            if is_apart and price_of(tuple(values)) <= CHEAP:
                with suppress(NotTaken):
                    partial.take(Forward(name), why, anew=True)
            if partial.kernel is before:
                if is_large:
                    raise NotTaken("an element for each iteration would take too much memory")
                partial.take(Expand(name, names), why, anew=True)


def _is_for_many(version: If, loop: For) -> bool:
    """Whether a loop stands in a version for calls in which it, and those inside, have too many iterations in all for
    an array with an element for each."""
    return any(one is loop for one in version.then) and any(
        isinstance(part, Compare)
        and part.op == "ge"
        and isinstance(part.right, Const)
        and part.right.value >= MOST_ELEMENTS
        for part in terms(version.condition)
    )


def _needed(partial: PartialSchedule, name: str, inner: str, target: str) -> set[str]:
    """Scalars that the body of a loop sets, and that what adds to an array, in it or in loops inside, reads."""
    body = _body(partial, name)
    adds = [stmt for stmt in _body(partial, inner) if isinstance(stmt, Store) and _adds(stmt, target)]
    between = {one.name for one in partial.around(inner)}
    own = names_assigned(tuple(stmt for stmt in body if not isinstance(stmt, For) or stmt.name not in between))
    if {load.array for stmt in adds for load in _loads(stmt)} & arrays_made(body):
        raise NotTaken
    return (own - between) & names_read(tuple(adds))


def _loads(stmt: Store) -> Iterator[Load]:
    for part in (stmt.value, *stmt.index):
        yield from subexpressions(part, Load)


def alone(partial: PartialSchedule, first: str, name: str, mine: list[Stmt], why: str) -> str:
    """Cut what stands before and after such statements of a loop off it; the loop that has them then. first: the loop,
    it or one around it, from which on each iteration has what is kept in between for itself. Raises NotTaken."""
    body = _body(partial, name)
    places = [at for at, stmt in enumerate(body) if any(stmt is one for one in mine)]
    if not places or places != list(range(places[0], places[-1] + 1)):
        raise NotTaken
    if places[0]:
        before = set(loops(partial.kernel))
        cut(partial, first, name, places[0] + 1, why)
        name = next(loop for loop in loops(partial.kernel) if loop not in before)
    if places[-1] + 1 < len(body):  # last: what is kept of the part before has no need to be kept again
        cut(partial, first, name, len(places) + 1, why)
    return name


def cut(partial: PartialSchedule, first: str, name: str, place: int, why: str) -> None:
    """Cut a loop in two. What both need of an iteration is kept in between, for each of the loops around it, too.
    Raises NotTaken."""
    there = arrays_made(partial.kernel.body)
    partial.take(Fission(name, place, kept=True), why, anew=True)
    outer = [one.name for one in partial.around(name)[:-1]]
    if outer := outer[outer.index(first) :] if first in outer else []:
        for array in sorted(arrays_made(partial.kernel.body) - there):
            partial.take(Expand(array, tuple(outer)), why, anew=True)
