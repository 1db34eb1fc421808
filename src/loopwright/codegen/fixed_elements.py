"""Elements that are the same in all iterations of a loop in lanes, and are read under a condition: read before it.

    for j in 0 .. n: if t[j] > 0.0: if p[j] > p[i]: count += 1
    ->
    p.i = p[i]
    for j in 0 .. n: if t[j] > 0.0: if p[j] > p.i: count += 1

The C compiler moves what every iteration reads by itself. Behind a condition it masks the load, has no masked load of
the same element for all lanes, and then makes no lanes.

The element must be inside its array where the condition does not hold, too: all conditions on the way to it compare
elements or floats, which say nothing of indices. Where the loop has no iterations, nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from loopwright.codegen.chosen_stores import compares_elements, is_inside
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.function import Writer
from loopwright.ir.nodes import Body, Compare, Const, Expr, For, If, Load, Logical, Select, Unary, Var
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.walk import children, own_expressions


def fix_elements(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of every loop in lanes."""
    found: dict[str, tuple[Load, ...]] = {}
    for name in lowering.lanes:
        loop = given.loops[name]
        stored = arrays_stored(loop.body)
        if given.check_all or (given.kernel.overlap and stored):
            continue
        varying = names_assigned(loop.body) | {name}
        loads = {(one.array, one.index): one for one in _behind_conditions(loop.body, False, given)}
        fixed = tuple(one for one in loads.values() if one.array not in stored and _is_fixed(one, varying, given))
        if fixed:
            found[name] = fixed
    return replace(lowering, fixed=found)


def _is_fixed(load: Load, varying: set[str], given: CodegenInput) -> bool:
    return not any(has(one, Load) or names_in(one) & varying for one in load.index) and is_inside(load, given)


def _behind_conditions(body: Body, is_behind: bool, given: CodegenInput) -> Iterator[Load]:
    """The elements that are read behind conditions, all of which compare elements or floats."""
    for stmt in body:
        for expr in own_expressions(stmt):
            yield from _in_expression(expr, is_behind, given)
        if isinstance(stmt, If) and tells_no_index(stmt.condition, given):
            for side in (stmt.then, stmt.otherwise):
                yield from _behind_conditions(side, True, given)


def _in_expression(expr: Expr, is_behind: bool, given: CodegenInput) -> Iterator[Load]:
    if isinstance(expr, Load) and is_behind:
        yield expr
    first, *others = children(expr) or (None,)
    if first is not None:
        yield from _in_expression(first, is_behind, given)
    if isinstance(expr, Logical | Select):
        if first is None or not tells_no_index(first, given):
            return
        is_behind = True
    for other in others:
        yield from _in_expression(other, is_behind, given)


def tells_no_index(condition: Expr, given: CodegenInput) -> bool:
    """Whether a condition compares elements, or floats: whether it holds says nothing of any index."""
    match condition:
        case Logical(left=left, right=right):
            return tells_no_index(left, given) and tells_no_index(right, given)
        case Unary(op="not", operand=operand):
            return tells_no_index(operand, given)
        case Load():
            return is_inside(condition, given)
        case Compare(left=left, right=right):
            return compares_elements(condition, given) or (_is_of_floats(left) and _is_of_floats(right))
        case _:
            return False


def _is_of_floats(value: Expr) -> bool:
    """Whether a number is computed from floats alone."""
    match value:
        case Const() | Var() | Load():
            return value.type.is_float
        case _:
            return value.type.is_float and all(map(_is_of_floats, children(value)))


@contextmanager
def reading_before(loop: For, trip: str, w: Writer) -> Iterator[None]:
    """Read such elements, if the loop has iterations (trip: how many), and let their names stand for them."""
    part = w.function
    before = part.replaced
    for load in w.decided.fixed.get(loop.name, ()):
        if (load.array, load.index) not in part.replaced and not part.on_device:
            kind, text = w.arrays[load.array].memory_type, w.element(load)
            name = w.fresh("lw_fixed", kind)
            w.line(f"const {kind} {name} = {trip} > 0 ? {text} : 0;")
            part.scoped.add(name)
            part.replaced = part.replaced | {(load.array, load.index): name}
    yield
    part.replaced = before
