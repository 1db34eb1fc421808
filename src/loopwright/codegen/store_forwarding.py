"""Neighbouring elements that an iteration stores and the next one reads from another place on: `a[j], a[j + 1] =
a[j + 1], a[j]` of a sort. The C compiler makes one wide load and one wide store of the two. The next load then reaches
over two stores that are still on their way to the cache, which no processor forwards: it waits some fifteen cycles.

So it is where a loop around it comes back to elements of which one moves on to its neighbour, as in the delay line of a
filter (`z[s, 0] = x + z[s, 1]; z[s, 1] = y`): what is read one by one waits for both to be put into a register, stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.ir.linear import apart
from loopwright.ir.nodes import Body, Break, For, Leave, Load, Return, Store, While
from loopwright.ir.queries import arrays_loaded, contains, names_assigned, names_in
from loopwright.ir.walk import bodies, subexpressions


def separate_stores(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """The first of two such stores, in innermost loops that need their order."""
    found: set[int] = set()
    for name, facts in given.facts.loops.items():
        loop = facts.node
        if loop is None or facts.verdict in ("parallel", "reduction") or name in lowering.lanes:
            continue
        if not contains(loop.body, For, While):
            moving = names_assigned(loop.body) | ({loop.name} if isinstance(loop, For) else set())
            read = arrays_loaded((loop,))
            at_times = isinstance(loop, While) or contains(loop.body, Break, Return, Leave)
            found |= {id(store) for store in _first_of_pairs(loop.body, moving, read, at_times)}
            found |= {id(store) for store in _moved_on(loop.body, moving)}
    return replace(lowering, separated=frozenset(found))


def _first_of_pairs(body: Body, moving: set[str], read: set[str], at_times: bool) -> Iterator[Store]:
    """Stores beside which a later one of the same body goes, in arrays that are read as well, where the place moves
    from iteration to iteration. at_times: whether some iterations may not come to them; with those to which all come
    the C compiler keeps the elements in registers."""
    stores = [stmt for stmt in body if isinstance(stmt, Store) and stmt.array in read] if at_times else []
    for place, store in enumerate(stores):
        if names_in(store.index[-1]) & moving and any(_are_neighbours(store, other) for other in stores[place + 1 :]):
            yield store
    for stmt in body:
        for part in bodies(stmt):
            yield from _first_of_pairs(part, moving, read, True)


def _moved_on(body: Body, moving: set[str]) -> Iterator[Store]:
    """Stores that take over a neighbour, which is stored behind them: elsewhere in each iteration, or both would be in
    registers all the time."""
    stores = [stmt for stmt in body if isinstance(stmt, Store) and any(names_in(one) & moving for one in stmt.index)]
    for place, store in enumerate(stores):
        read = {(load.array, load.index) for load in subexpressions(store.value, Load)}
        for other in stores[place + 1 :]:
            if (other.array, other.index) in read and _are_neighbours(store, other):
                yield store
                break


def _are_neighbours(one: Store, other: Store) -> bool:
    if one.array != other.array or one.index[:-1] != other.index[:-1]:
        return False
    distance = apart(one.index[-1], other.index[-1])
    return distance is not None and abs(distance) == 1
