"""Arrays that hold loops together: a row that each iteration fills anew and then uses. With a copy of it for each
iteration the loops need no order, whatever stands in them. It is done only where the copies together are no larger than
an array that the call has anyway."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.linear import most, number
from loopwright.ir.nodes import Const, Expr, For, Kernel, Load, Store, Var
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import expressions, statements
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.wavefronts import is_free
from loopwright.steps.copies import copies_of, length_of
from loopwright.steps.expand import Expand

Wanted = tuple[str, tuple[str, ...]]
"""An array, and loops around one another, outermost first."""


def in_copies(partial: PartialSchedule) -> None:
    """Give loops whose iterations meet only in an array that they fill anew a copy for each iteration."""
    tried: set[Wanted] = set()
    while (found := next((one for one in _wanted(partial) if one not in tried), None)) is not None:
        tried.add(found)
        _copied(partial, *found)


def _copied(partial: PartialSchedule, array: str, run: tuple[str, ...]) -> None:
    words = " and ".join(f"'{user_name(name)}'" for name in run)
    why = f"each {words} fills '{user_name(array)}' anew: with a copy for each of them, iterations are independent"
    kernel = partial.kernel
    with partial.together():
        partial.take(Expand(array, run), why, anew=True)
        facts = partial.present_facts()
        loops = {loop.name: loop for chain in partial.chains() for loop in chain}
        if not all(name in loops and is_free(loops[name], facts.loops[name]) for name in run):
            raise NotTaken
        if any(facts.loops[name].alike for name in run):  # the processor's threads cannot share it
            raise NotTaken
    if partial.kernel is not kernel:
        partial.begin_again()


def _wanted(partial: PartialSchedule) -> Iterator[Wanted]:
    """The outermost loops first, as many around one another as hold nothing but the next."""
    for chain in partial.chains():
        for at, loop in enumerate(chain[:-1]):
            for array in _used_again(partial, loop):
                run = [loop]
                for inner in chain[at + 1 : -1]:
                    if len(run[-1].body) != 1 or array not in _used_again(partial, inner):
                        break
                    run.append(inner)
                if _is_no_larger(partial.kernel, array, chain, run):
                    yield array, tuple(one.name for one in run)


def _used_again(partial: PartialSchedule, loop: For) -> list[str]:
    """The arrays that a loop writes, and of which it uses the same elements in each iteration."""
    inside = {id(stmt) for stmt in statements(loop.body)}
    own = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    moving = {walk.array for walk in own if walk.strides.get(loop.name) != 0}
    return list(dict.fromkeys(walk.array for walk in own if walk.is_write and walk.array not in moving))


def _is_no_larger(kernel: Kernel, array: str, chain: Chain, run: list[For]) -> bool:
    """Whether the loops use, of an argument or a result, an element for each element of each copy."""
    first = run[0]
    if any(length_of(loop, first) is None for loop in run):
        return False
    shape = copies_of(kernel, array, run).shape
    loops = {stmt.name: stmt for stmt in statements((first,), For)}
    given = ({one.name for one in kernel.arrays} | {one.name for one in kernel.results}) - {array}
    accesses: list[Load | Store] = list(expressions(first.body, Load))
    accesses += list(statements(first.body, Store))
    wanted = [loop.name for loop in run]
    for access in accesses:
        names = [axis.name for axis in access.index if isinstance(axis, Var)]
        rest = [_length(loops[name], first) for name in names if name in loops and name not in wanted]
        if access.array in given and set(wanted) <= set(names) and _all_in(shape, rest):
            return True
    return False


def _length(loop: For, first: For) -> Expr | None:
    return length_of(loop, first) if loop.lower == Const(0, loop.lower.type) else None


def _all_in(shape: tuple[Expr, ...], rest: list[Expr | None]) -> bool:
    left = list(rest)
    for size in shape:
        one = next((one for one in left if one in (size, most(number(0), size))), None)
        if one is None:
            return False
        left.remove(one)
    return True
