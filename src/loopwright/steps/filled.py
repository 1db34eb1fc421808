"""What a nest has just set to a constant: who keeps these elements in a local array begins with the constant, and the
nest can go."""

from __future__ import annotations

from loopwright.ir.linear import apart, variable
from loopwright.ir.nodes import Body, Const, Expr, For, Kernel, Stmt, Store, Var
from loopwright.ir.walk import bodies
from loopwright.steps.extent import around, ends_of, extent_of, marked
from loopwright.steps.nest import step_of
from loopwright.steps.region import Region
from loopwright.steps.step import Rejection


def fill_before(kernel: Kernel, loop: For, region: Region) -> tuple[For, Const] | Rejection:
    """The nest right before the one around a loop, and the constant to which it sets the elements of the regions that
    the loop uses in all iterations of the loops around it: these elements, and no others, each of which is in the
    region of one iteration. Else, why there is no such nest."""
    refusal = Rejection(f"no nest right before sets the elements of '{region.array}' to a constant, and no others")
    outer, fill = _nest_and_before(kernel, loop)
    if not isinstance(fill, For) or marked((fill,)):
        return refusal
    loops, store = _perfect(fill)
    if not isinstance(store, Store) or store.array != region.array or not isinstance(store.value, Const):
        return refusal
    own = {one.name: one for one in loops}
    places = [place.name for place in store.index if isinstance(place, Var)]
    if len(places) < len(store.index) or sorted(places) != sorted(own):
        return refusal
    used = [_goes_through(axis, own[name], outer, region) for axis, name in zip(region.index, places, strict=True)]
    if None in used or sorted(used, key=str) != sorted(one.name for one in outer):
        return refusal
    return fill, store.value


def _nest_and_before(kernel: Kernel, loop: For) -> tuple[tuple[For, ...], Stmt | None]:
    """The loops around a loop that hold nothing else, outermost first, and the statement right before the first of
    them."""
    outer: list[For] = []
    root: Stmt = loop
    stack = list(around(kernel, loop))
    while stack and isinstance(one := stack[-1], For) and one.body == (root,):
        outer.insert(0, one)
        root = stack.pop()
    body = _body_with(stack[-1] if stack else None, kernel, root)
    at = next(at for at, stmt in enumerate(body) if stmt is root)
    return tuple(outer), body[at - 1] if at else None


def _body_with(stmt: Stmt | None, kernel: Kernel, inside: Stmt) -> Body:
    parts = (kernel.body,) if stmt is None else bodies(stmt)
    return next(part for part in parts if any(one is inside for one in part))


def _perfect(fill: For) -> tuple[tuple[For, ...], Stmt]:
    """Loops around one another, and what alone stands in them."""
    loops: list[For] = []
    stmt: Stmt = fill
    while isinstance(stmt, For):
        loops.append(stmt)
        if len(stmt.body) != 1:
            break
        stmt = stmt.body[0]
    return tuple(loops), stmt


def _goes_through(axis: Expr, fill: For, outer: tuple[For, ...], region: Region) -> str | None:
    """Which of the loops around takes an axis once through all that a loop has filled, by itself or a stretch each
    time. None where none does."""
    if not isinstance(axis, Var) or step_of(fill) != 1:
        return None
    by_name = {one.name: one for one in outer}
    own = next((one for one in region.inner if one.name == axis.name), None)
    if own is None:
        same = by_name.get(axis.name)
        is_same = same is not None and (same.lower, same.upper, same.step) == (fill.lower, fill.upper, fill.step)
        return axis.name if is_same else None
    block = by_name.get(own.lower.name) if isinstance(own.lower, Var) else None
    if block is None or (block.lower, block.upper) != (fill.lower, fill.upper) or step_of(own) != 1:
        return None
    about = [limit for limit in region.limits if own.name in limit.names]
    if any(limit.below != variable(own.name) for limit in about):
        return None
    ends = {*ends_of(own), *(limit.end for limit in about)} - {fill.upper}
    is_stretch = len(ends) == 1 and apart(ends.pop(), own.lower) == step_of(block) == extent_of(own)
    is_cut = fill.upper in (*ends_of(own), *(limit.end for limit in about))
    return block.name if is_stretch and is_cut else None
