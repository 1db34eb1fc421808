"""Points that tie a loop's iterations together: where every conflict of a loop involves one index that stays the same
(`p[i, j]` beside `p[i, k]` in a loop over j), the iterations below the point, the point and those above it are run one
after the other, and the two ranges may be free of any order."""

from __future__ import annotations

from loopwright.analysis.strides import AccessStrides
from loopwright.ir.linear import Linear, linear
from loopwright.ir.nodes import Binary, Const, Expr, For, Var
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.steps.cut import Cut

MOST = 3  # loops of one nest: each cut makes three loops of one


def apart_at_points(partial: PartialSchedule) -> None:
    """Cut loops at such points, if that frees some loop."""
    wanted = _wanted(partial)
    if not 1 <= len(wanted) <= MOST:
        return
    with partial.together():
        names: set[str] = set()
        for loop, point, offset in wanted:
            place = f"{user_name(point)}{offset:+d}" if offset else user_name(point)
            why = f"'{user_name(loop)}' has dependences only at {place}: before and after it iterations are independent"
            middle = _cut(partial, Cut(loop, point, offset), why)
            # The middle is one iteration, which needs no order in any case.
            names |= {loop, _cut(partial, Cut(middle, point, offset + 1), why)}
        facts = partial.present_facts()
        if not any(facts.loops[name].verdict == "parallel" for name in names):
            raise NotTaken


def _cut(partial: PartialSchedule, step: Cut, why: str) -> str:
    """Take the step; the name of the new loop, which runs from the point on. Raises NotTaken."""
    before = set(loops(partial.kernel))
    partial.take(step, why)
    return next(name for name in loops(partial.kernel) if name not in before and name.startswith(step.loop))


def _wanted(partial: PartialSchedule) -> list[tuple[str, str, int]]:
    """(loop, name of the point, constant added to it), innermost loops first."""
    found: list[tuple[str, str, int]] = []
    for chain in partial.chains():
        inside = {id(stmt) for stmt in statements(chain[-1].body)}
        accesses = [walk for walk in partial.walks() if id(walk.stmt) in inside]
        if any(partial.verdict(loop) in ("parallel", "reduction") for loop in chain):
            continue
        for depth in range(len(chain) - 1, 0, -1):
            outer = {loop.name for loop in chain[:depth]}
            points = {one for one in _points(accesses, chain[depth], outer) if not _is_outside(chain[depth], *one)}
            if len(points) == 1:
                found.append((chain[depth].name, *points.pop()))
    return list(dict.fromkeys(found))


def _points(accesses: list[AccessStrides], loop: For, outer: set[str]) -> list[tuple[str, int]]:
    written = {walk.array for walk in accesses if walk.is_write}
    found: list[tuple[str, int]] = []
    for walk in accesses:
        for other in accesses:
            if walk.array == other.array and walk.array in written:
                for mine, theirs in zip(walk.node.index, other.node.index, strict=True):
                    point = _point(theirs, outer)
                    if isinstance(mine, Var) and mine.name == loop.name and point is not None:
                        found.append(point)
    return found


def _is_outside(loop: For, point: str, offset: int) -> bool:
    """Whether a loop is known to end before a point, or to begin behind it, so that a cut would leave nothing there:
    one over 0..i never comes to i."""
    if not isinstance(loop.step, Const) or loop.step.value < 0:
        return False
    here = Binary("add", Var(point, INT64), Const(offset, INT64))
    before, ahead = (linear(Binary("sub", *sides)) for sides in ((here, loop.lower), (loop.upper, here)))
    return (not before.terms and before.constant < 0) or (not ahead.terms and ahead.constant <= 0)


def _point(index: Expr, outer: set[str]) -> tuple[str, int] | None:
    match linear(index):
        case Linear(terms=((Var(name=name), 1),), constant=constant) if name in outer:
            return name, constant
        case _:
            return None
