"""Better extremes among few candidates, and their places, without a jump:

    least = 10 ** 9
    for k in range(8):                   least, place = d or least, k or place, as d < least says
        d = ...                     ->
        if d < least:
            least = d
            place = k

Of n numbers in no order 1 + 1/2 + ... + 1/n are better than all before them: three of nine, where each jump that is
guessed wrong costs some fifteen cycles, and a choice for which the next candidate waits costs two to four. Of a hundred
they are five, and a jump is guessed right nearly always: there it stays. So it does where the loops around store to an
array that candidates are read from, such as the times at which servers are free: what follows would wait for the
choice, where a jump goes ahead.

How many there are may be known only when a loop begins: one that begins again and again, and would skip blocks of
iterations otherwise (rare_updates.py), stands there without jumps as well, for few iterations.

Of more candidates too, in a loop that begins again and again, where to find one takes longer than the choice: the
comparison of the next one is not waited for then, and of the jumps none is guessed wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.safepoints import is_innermost, operations_in
from loopwright.ir.nodes import Assign, Body, Compare, Const, Expr, For, If, Var, While
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, names_in
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import statements

MOST_CANDIDATES = 16
FEW_HERE = {"int": 40, "float": 24}  # candidates that a choice takes no longer for than jumps, where a loop begins
LONGER = {"int": 16, "float": 32}  # operations of an iteration that a choice takes no longer than
MOST_LONGER = 160  # operations next to which a jump that is guessed wrong counts little
MOST_KEPT = 4  # scalars: the extreme, and what is kept with it


@dataclass(frozen=True)
class BetterExtreme:
    """asked: whether a candidate is better. kept: what scalars become then, by the values before."""

    asked: Compare
    kept: dict[str, Expr]

    @property
    def name(self) -> str:
        """The extreme."""
        sides = self.asked.left, self.asked.right
        return next(name for name, value in self.kept.items() if value in sides and Var(name, value.type) in sides)


def better_extreme(stmt: If) -> BetterExtreme | None:
    """What a branch keeps of a better candidate; None where that is not all that it does, or it is no simple number."""
    match stmt:
        case If(condition=Compare(op="lt" | "le" | "gt" | "ge", left=left, right=right) as asked, otherwise=()):
            pass
        case _:
            return None
    if left.type != right.type or not (left.type.is_float or left.type == INT64):
        return None
    kept: dict[str, Expr] = {}
    for one in stmt.then:
        if not isinstance(one, Assign) or one.name in kept:
            return None
        value = kept.get(one.value.name, one.value) if isinstance(one.value, Var) else one.value
        is_side = value in (left, right)
        is_whole = value.type.is_integer and value.type != BOOL and (value.type == INT64 or value.type.bits < 64)
        if not is_side and not (is_whole and isinstance(value, Var | Const)):
            return None
        kept[one.name] = value
    sides = {name for name, value in kept.items() if value in (left, right) and Var(name, value.type) in (left, right)}
    return BetterExtreme(asked, kept) if len(sides) == 1 and len(kept) <= MOST_KEPT else None


def among_few(given: CodegenInput, lowering: LoopLowering) -> set[int]:
    """Those of innermost loops without lanes, by their identity, whose candidates are few between one place at which
    the extreme begins anew and the next. Where candidates are found by loops of their own, little is gained."""
    found: set[int] = set()
    for path in _paths(given.kernel.body, ()):
        body = path[-1].loop.body
        if any(one.loop.name in lowering.lanes for one in path):
            continue
        operations = operations_in(body) if is_innermost(path[-1].loop) and not contains(body, While) else 0
        has_loops = contains(body, For, While)
        if has_loops and not LONGER["int"] <= operations <= MOST_LONGER:
            continue
        if arrays_loaded(body) & arrays_stored(path[0].loop.body):
            continue
        for stmt in statements(body, If):
            better = better_extreme(stmt)
            if better is None:
                continue
            is_long = LONGER["float" if better.asked.left.type.is_float else "int"] <= operations <= MOST_LONGER
            begins_again = is_long and stmt in body and _begins_again(better.name, path, given, lowering)
            if begins_again or (not has_loops and _are_few(better.name, path, given, lowering)):
                found.add(id(stmt))
    return found


def keep_among_few(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Innermost loops that skip blocks and begin again and again, and how many iterations are few."""
    found: dict[str, int] = {}
    for path in _paths(given.kernel.body, ()):
        loop = path[-1].loop
        better = [better_extreme(stmt) for stmt in loop.body if isinstance(stmt, If)]
        if len(path) == 1 or loop.name not in lowering.skipped or loop.name in lowering.regions.keys() - lowering.alone:
            continue
        if all(one is not None and _is_set(one.name, path[-1].before) for one in better):
            kinds = [one.asked.left.type.is_float for one in better if one is not None]
            few = FEW_HERE["float" if any(kinds) else "int"]
            found |= {loop.name: few} if (_trip(loop, given) or 0) <= few else {}
    return replace(lowering, few=found)


@dataclass(frozen=True)
class _LoopBehind:
    """before: the statements before a loop in the body in which it stands."""

    loop: For
    before: Body


def _paths(body: Body, path: tuple[_LoopBehind, ...]) -> Iterator[tuple[_LoopBehind, ...]]:
    """Each `for` loop behind those around it."""
    for number, stmt in enumerate(body):
        match stmt:
            case For():
                longer = (*path, _LoopBehind(stmt, body[:number]))
                yield longer
                yield from _paths(stmt.body, longer)
            case If():
                yield from _paths(stmt.then, path)
                yield from _paths(stmt.otherwise, path)
            case While():
                yield from _paths(stmt.body, ())


def _are_few(name: str, path: tuple[_LoopBehind, ...], given: CodegenInput, lowering: LoopLowering) -> bool:
    candidates = 1
    for place in reversed(path):
        trip = None if place.loop.name in lowering.regions else _trip(place.loop, given)
        if trip is None or candidates * trip > MOST_CANDIDATES:
            return False
        candidates *= trip
        if _is_set(name, place.before):
            return True
    return False


def _begins_again(name: str, path: tuple[_LoopBehind, ...], given: CodegenInput, lowering: LoopLowering) -> bool:
    """Whether a loop around the innermost one begins an extreme anew in each of its iterations, and that one runs in
    order in one thread; not where the C compiler writes it out."""
    loop = path[-1].loop
    is_alone = loop.name not in lowering.regions and given.constant_trip(loop) is None
    return len(path) > 1 and is_alone and _is_set(name, path[-1].before)


def _is_set(name: str, before: Body) -> bool:
    return any(isinstance(one, Assign) and one.name == name and name not in names_in(one.value) for one in before)


def _trip(loop: For, given: CodegenInput) -> int | None:
    match loop:
        case For(lower=Const(value=int() as lower), upper=Const(value=int() as upper), step=Const(value=int() as step)):
            return len(range(lower, upper, step)) if step else None
        case _:
            return given.constant_trip(loop)
