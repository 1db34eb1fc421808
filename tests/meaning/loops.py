"""Loops of generated programs: `for` over every shape of range, `while` with an end that is certain."""

from __future__ import annotations

from dataclasses import replace

from .context import Context, size_text
from .kinds import WEAK_INT, Term
from .positions import is_reachable, subscripts
from .scope import Array, Loop, Scalar, Scope

DEEPEST = 3


def for_loop(context: Context, scope: Scope) -> Scope | None:
    """`for` over a range, with a body; None where the nest is deep enough."""
    if scope.depth >= DEEPEST or not scope.arrays:
        return None
    rows = _rows(scope)
    if rows and context.choices.chance(25):
        return _row_loops(context, scope, rows)
    name = context.names.fresh("i")
    text, loop = ranged(context, scope, name)
    return _write_for(context, scope, text, loop)


def _write_for(context: Context, scope: Scope, text: str, loop: Loop) -> Scope:
    context.names.note("for")
    context.names.note(f"loop depth {scope.depth + 1}")
    known = context.choices.chance(30)
    if known:
        context.names.note("loop variable with a value before the loop")
        context.line(f"{loop.name} = {context.choices.number(-3, 9)}")
    else:
        context.names.inner.setdefault(loop.name, set()).add(WEAK_INT)
    context.line(f"for {loop.name} in {text}:")
    with context.indented():
        inner = loop
        if context.choices.chance(5):
            context.names.note("loop variable assigned")
            context.line(f"{loop.name} = {loop.name} + 1")
            inner = replace(loop, low=loop.low + 1, high=loop.high + 1, after=loop.after + 1, before=loop.before + 1)
        context.block(context, scope.within_loop(inner))
    if context.choices.chance(60 if known else 5):
        context.names.note("loop variable after the loop")
        return scope.with_scalar(Scalar(loop.name, WEAK_INT, -64, 64, fixed=True))
    return scope


def _rows(scope: Scope) -> list[Array]:
    return [array for array in scope.arrays if array.role == "pointer"] if scope.depth < DEEPEST - 1 else []


def _row_loops(context: Context, scope: Scope, pointers: list[Array]) -> Scope:
    """The rows of a matrix in CSR form, and the elements of each row."""
    context.names.note("data-dependent bounds")
    array = context.choices.pick(pointers)
    rows = Loop(context.names.fresh("i"), 0, scope.size_of(array.axes[0]) - 2, array.axes[0].symbol, 0, 0)
    context.line(f"for {rows.name} in range({array.size_text(0, context.choices)} - 1):")
    context.names.note("for")
    with context.indented():
        inner = scope.within_loop(rows)
        name = context.names.fresh("i")
        target = array.target
        entries = Loop(name, 0, scope.size_of(target) - 1, target.symbol, 0, target.offset)
        _write_for(context, inner, f"range({array.name}[{rows.name}], {array.name}[{rows.name} + 1])", entries)
        if context.choices.chance(30):
            context.block(context, inner)
    return scope


def ranged(context: Context, scope: Scope, name: str) -> tuple[str, Loop]:
    """The text of a range and what is known of its loop variable."""
    choices = context.choices
    array = choices.pick(scope.arrays)
    axis = choices.number(0, len(array.axes) - 1)
    size = size_text(context, scope, array, axis)
    where = array.axes[axis]
    high = scope.size_of(where) - 1
    full = Loop(name, 0, high, where.symbol, 0, where.offset)
    form = choices.weighted((
        (14, "full"), (5, "interior"), (4, "down"), (4, "by two"), (2, "down by two"), (6, "triangle"), (3, "constant"),
        (4, "data"), (3, "step"), (2, "half"), (3, "window"),
    ))  # fmt: skip
    context.names.note(f"range {form}")
    match form:
        case "full":
            return f"range({size})", full
        case "interior":
            return f"range(1, {size} - 1)", replace(full, low=1, high=high - 1, after=1, before=where.offset - 1)
        case "down":
            return f"range({size} - 1, -1, -1)", full
        case "by two":
            return f"range(0, {size}, {choices.pick((2, 3))})", full
        case "down by two":
            return f"range({size} - 1, 0, -2)", replace(full, low=1, after=1)
        case "half":
            return f"range({size} // 2)", replace(full, high=(high + 1) // 2 - 1)
        case "constant":
            start, count = choices.pick((0, 1)), choices.pick((3, 1, 2, 4))
            return f"range({start}, {start + count})", Loop(name, start, start + count - 1)
        case "triangle" if scope.loops:
            return _triangle(context, scope, size, full)
        case "window" if scope.loops:
            outer = choices.pick(scope.loops)
            text = f"range(max({outer.name} - 1, 0), min({outer.name} + 2, {size}))"
            return text, replace(full, high=min(high, outer.high + 1))
        case "step":
            return _stepped(context, scope, size, full)
        case "data":
            term = context.expressions.of_kind(scope, WEAK_INT, 1)
            context.names.note("data-dependent bounds")
            return f"range({term.text} % 4)", Loop(name, 0, 3)
    return f"range({size})", full


def _triangle(context: Context, scope: Scope, size: str, full: Loop) -> tuple[str, Loop]:
    outer = context.choices.pick(scope.loops)
    more = context.choices.number(0, 1)
    plus = " + 1" if more else ""
    if context.choices.chance(50):
        inner = replace(full, low=outer.low + more, after=outer.after + more)
        return f"range({outer.name}{plus}, {size})", inner if outer.symbol else replace(inner, symbol="")
    below = Loop(full.name, 0, outer.high - 1 + more, outer.symbol, 0, outer.before - 1 + more)
    if context.choices.chance(30):
        return f"range({outer.name}{'' if more else ' - 1'}, -1, -1)", below
    return f"range({outer.name}{plus})", below


def _stepped(context: Context, scope: Scope, size: str, full: Loop) -> tuple[str, Loop]:
    """A step that only the call tells, if there is such an argument."""
    if not any(scalar.name == "step" for scalar in scope.scalars):
        return f"range({size} - 1, -1, -2)", full
    context.names.note("step from an argument")
    if context.choices.chance(40):
        return f"range({size} - 1, -1, -step)", full
    return f"range(0, {size}, step)", full


def while_loop(context: Context, scope: Scope) -> Scope | None:
    """`while` over a counter that moves first thing in each round, whatever else is in the condition."""
    if scope.depth >= DEEPEST or not scope.arrays:
        return None
    choices = context.choices
    context.names.note("while")
    name = context.names.fresh("w")
    array = choices.pick(scope.arrays)
    axis = choices.number(0, len(array.axes) - 1)
    size, where = size_text(context, scope, array, axis), array.axes[axis]
    loop = Loop(name, 0, scope.size_of(where) - 1, where.symbol, 0, where.offset)
    also = f" and ({context.expressions.condition(scope, 1)})" if choices.chance(30) else ""
    match choices.weighted(((4, "down"), (3, "up"), (2, "halves"), (2, "for ever"))):
        case "up":
            start, condition, move = "-1", f"{name} < {size} - 1{also}", f"{name} += 1"
        case "halves":
            start, condition, move = f"{size}", f"{name} > 0{also}", f"{name} //= 2"
        case "for ever":
            start, condition, move = "0", "True", f"{name} = {name} + 1"
            loop = Loop(name, 1, 4)
        case _:
            start, condition, move = f"{size}", f"{name} > 0{also}", f"{name} -= 1"
    context.line(f"{name} = {start}")
    context.line(f"while {condition}:")
    with context.indented():
        context.line(move)
        if condition == "True":
            context.names.note("break")
            context.line(f"if {name} > 4:")
            context.line("    break")
        context.block(context, scope.within_loop(loop))
    return scope.with_scalar(Scalar(name, WEAK_INT, -64, 64, fixed=True))


def parallel_loop(context: Context, scope: Scope) -> Scope | None:
    """`for` over prange, where each round writes an element of its own and reads other arrays only."""
    targets = [array for array in scope.arrays if array.writable and not array.local and not array.field]
    targets = [array for array in targets if is_reachable(scope, array.axes[1:])]
    if scope.in_loop or not targets or not context.names.exact:
        return None
    target = context.choices.pick(targets)
    others = tuple(array for array in scope.arrays if array.name != target.name)
    if any(array.element == target.element for array in others):  # might be given as the same array
        return None
    context.names.note("prange")
    name = context.names.fresh("i")
    where = target.axes[0]
    loop = Loop(name, 0, scope.size_of(where) - 1, where.symbol, 0, where.offset)
    inner = replace(scope, arrays=others).within_loop(loop)
    term = context.expressions.of_kind(inner, target.kind, 2)
    rest = subscripts(scope, replace(target, axes=target.axes[1:]), context.choices, context.names)
    context.line(f"for {name} in prange({target.size_text(0, context.choices)}):")
    context.line(f"    {target.name}[{', '.join([name, *rest])}] = {term.text}")
    return scope


def loop_terms(scope: Scope) -> list[Term]:
    """The loop variables as expressions."""
    return [loop.term for loop in scope.loops]
