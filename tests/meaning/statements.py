"""Statements of generated programs: each maker writes one and returns the scope after it, or None if it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .context import Context, small, written
from .kinds import ELEMENTS, LIMIT, STRONG, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Kind, Term, coerced, result, storable
from .loops import for_loop, parallel_loop, while_loop
from .patterns import index_scatter, local_array, reduction
from .positions import affine_positions, subscripts
from .scope import Array, Scalar, Scope

Maker = Callable[[Context, Scope], "Scope | None"]
LOCAL_BOUND = 10**6


def block(context: Context, scope: Scope) -> None:
    """One to three statements; scalars that they define are free for other use afterwards."""
    start = {scalar.name for scalar in scope.scalars}
    scope = statements(context, scope, most=3, percent=55)
    if scope.in_loop and context.choices.chance(4):
        context.line(context.choices.pick(("continue", "break")))
        context.names.note("jump at the end of a block")
    ended = [scalar.name for scalar in scope.scalars if scalar.name not in start and scalar.name.startswith("v")]
    context.names.retired += [name for name in ended if name not in context.names.retired]


def statements(context: Context, scope: Scope, most: int, percent: int) -> Scope:
    """One statement or more; the scope after them."""
    scopes = [scope]
    context.choices.repeatedly(lambda _: scopes.append(_statement(context, scopes[-1])), most, percent)
    return scopes[-1]


def _statement(context: Context, scope: Scope) -> Scope:
    """Any statement that fits here."""
    context.left -= 1
    if context.left > 0:
        maker = context.choices.weighted(_TOP if not scope.in_loop else _INNER)
        after = maker(context, scope)
        if after is not None:
            return after
    after = store(context, scope) or define(context, scope)
    assert after is not None
    return after


def store(context: Context, scope: Scope) -> Scope | None:
    """A[i] = expression"""
    targets = written(scope)
    if not targets:
        return None
    array = context.choices.pick(targets)
    target = _element(context, scope, array)
    term = context.expressions.any(scope, context.choices.number(1, 3))
    if term.kind == WEAK_INT and array.kind.is_integer and context.choices.chance(3):
        context.names.note("weak int may overflow")
    else:
        term = storable(term, array.element)
    context.names.note(f"store {array.element}")
    context.line(f"{target} = {term.text}")
    return scope


def update(context: Context, scope: Scope) -> Scope | None:
    """A[i] += expression, and the other operators"""
    targets = written(scope)
    if not targets:
        return None
    array = context.choices.pick(targets)
    target = _element(context, scope, array)
    operator, term = augmentation(context, scope, array.kind)
    context.names.note(f"augmented {operator}=")
    if context.choices.chance(20):
        context.line(f"{target} = {target} {operator} {term.text}")
    else:
        context.line(f"{target} {operator}= {term.text}")
    return scope


def augmentation(context: Context, scope: Scope, kind: Kind) -> tuple[str, Term]:
    """An operator and a right side such that `kind operator right` may be stored as `kind`."""
    choices = context.choices
    operators = ["&", "|", "^"] if kind.is_bool else ["+", "-", "*", "//", "%"]
    if kind.is_float and not context.names.exact:
        operators += ["/", "/"]
    if kind.is_integer:
        operators += ["&", "|", "^"]
    operator = choices.pick(operators)
    term = context.expressions.any(scope, 2)
    if term.kind == WEAK_INT and not kind.is_float:
        term = storable(term, kind.name)
    after = result("{} " + operator + " {}", kind, term.kind)
    if after is None or not _stays(after, kind):
        term = coerced(term, kind)
    return operator, term


def _stays(after: Kind, kind: Kind) -> bool:
    if kind.is_float:
        return True
    return after.is_integer and (kind.name.startswith("u") or bool(np.can_cast(after.name, kind.name)))


def extreme(context: Context, scope: Scope) -> Scope | None:
    """A[i] = max(A[i], expression) in several spellings"""
    targets = written(scope)
    if not targets:
        return None
    array = context.choices.pick(targets)
    target = _element(context, scope, array)
    term = context.expressions.of_kind(scope, array.kind, 2).text
    context.names.note("minimum or maximum of an element")
    name = context.choices.pick(("max", "min", "np.maximum", "np.minimum"))
    if name in ("max", "min") and context.choices.chance(30):
        context.line(f"if {term} {'>' if name == 'max' else '<'} {target}:")
        context.line(f"    {target} = {term}")
    elif context.choices.chance(20):
        context.line(f"{target} = {name}({term}, {target})")
    else:
        context.line(f"{target} = {name}({target}, {term})")
    return scope


def define(context: Context, scope: Scope) -> Scope | None:
    """v = expression, a new scalar local"""
    term = small(context.expressions.any(scope, 2), LOCAL_BOUND)
    name = context.new_name()
    _note_inner(context, name, term.kind)
    context.names.note(f"local {'weak ' if term.kind.weak else ''}{term.kind.name}")
    context.line(f"{name} = {term.text}")
    bound = LOCAL_BOUND if term.kind == WEAK_INT else LIMIT
    return scope.with_scalar(Scalar(name, term.kind, -bound, bound))


def _note_inner(context: Context, name: str, kind: Kind) -> None:
    if context.level > 1:
        context.names.inner.setdefault(name, set()).add(kind)


def assign(context: Context, scope: Scope) -> Scope | None:
    """v = expression, or v += expression, for a scalar local that there is"""
    locals_ = _assignable(scope)
    if not locals_:
        return None
    local = context.choices.pick(locals_)
    if context.level == 1 and local.name.startswith("v") and context.choices.chance(40):
        return _rebind(context, scope, local)
    if local.kind != WEAK_INT and context.choices.chance(40):
        operator = context.choices.pick(_closed(local.kind, context.names.exact))
        term = context.expressions.of_kind(scope, local.kind, 2)
        if local.kind == WEAK_FLOAT and operator in ("//", "%", "/"):
            term = Term("4.0", WEAK_FLOAT)
        context.names.note("augmented local")
        context.line(f"{local.name} {operator}= {term.text}")
        return scope
    context.names.note("local assigned again")
    context.line(f"{local.name} = {small(context.expressions.of_kind(scope, local.kind, 2), LOCAL_BOUND).text}")
    return scope


def _closed(kind: Kind, exact: bool) -> list[str]:
    operators = ["&", "|", "^"] if kind.is_bool else ["+", "-", "*", "//", "%"]
    return operators + (["/"] if kind.is_float and not exact else [])


def _rebind(context: Context, scope: Scope, local: Scalar) -> Scope:
    """At the top level a name may go on with a value of another kind."""
    term = context.expressions.of_kind(scope, context.choices.pick(STRONG), 2)
    context.names.note("name bound to another kind")
    context.line(f"{local.name} = {term.text}")
    return scope.with_scalar(Scalar(local.name, term.kind))


def pair(context: Context, scope: Scope) -> Scope | None:
    """x, y = y, x for scalars, for elements, or two new scalars"""
    choices = context.choices
    locals_ = _assignable(scope)
    same = [(a, b) for a in locals_ for b in locals_ if a.name < b.name and a.kind == b.kind]
    context.names.note("tuple assignment")
    if same and choices.chance(50):
        first, second = choices.pick(same)
        context.line(f"{first.name}, {second.name} = {second.name}, {first.name}")
        return scope
    if written(scope) and choices.chance(50):
        array = choices.pick(written(scope))
        one, two = _element(context, scope, array), _element(context, scope, array)
        context.names.note("elements swapped")
        context.line(f"{one}, {two} = {two}, {one}")
        return scope
    terms = [small(context.expressions.any(scope, 1), LOCAL_BOUND) for _ in range(2)]
    names = [context.new_name(), context.new_name()]
    context.line(f"{names[0]}, {names[1]} = {terms[0].text}, {terms[1].text}")
    for name, term in zip(names, terms, strict=True):
        bound = LOCAL_BOUND if term.kind == WEAK_INT else LIMIT
        scope = scope.with_scalar(Scalar(name, term.kind, -bound, bound))
        _note_inner(context, name, term.kind)
    return scope


def _assignable(scope: Scope) -> list[Scalar]:
    return [scalar for scalar in scope.scalars if not scalar.fixed and not scalar.loose]


def branch(context: Context, scope: Scope) -> Scope | None:
    """if, elif, else"""
    context.names.note("if")
    context.line(f"if {context.expressions.condition(scope, 2)}:")
    with context.indented():
        context.block(context, scope)
    if context.choices.chance(20):
        context.names.note("elif")
        context.line(f"elif {context.expressions.condition(scope, 1)}:")
        with context.indented():
            context.block(context, scope)
    if context.choices.chance(40):
        context.names.note("else")
        context.line("else:")
        with context.indented():
            context.block(context, scope)
    return scope


def choose(context: Context, scope: Scope) -> Scope | None:
    """A scalar that gets its value in a branch: in both, or (rarely) in one only, and so perhaps in none"""
    kind = context.choices.pick((WEAK_INT, WEAK_FLOAT, *STRONG))
    unassigned = context.choices.chance(15)
    name = context.names.fresh("v") if unassigned else context.new_name()
    scope_after = scope.with_scalar(Scalar(name, kind, -LOCAL_BOUND, LOCAL_BOUND))
    _note_inner(context, name, kind)
    first, second = (small(context.expressions.of_kind(scope, kind, 1), LOCAL_BOUND) for _ in range(2))
    context.line(f"if {context.expressions.condition(scope, 1)}:")
    context.line(f"    {name} = {first.text}")
    if unassigned:
        context.names.note("perhaps unassigned")
        return scope_after
    context.names.note("local of a branch")
    context.line("else:")
    context.line(f"    {name} = {second.text}")
    return scope_after


def leave(context: Context, scope: Scope) -> Scope | None:
    """break, continue or return, under a condition"""
    ways = ["break", "continue", "continue"] if scope.in_loop else []
    ways += ["return"] if context.returns is not None else []
    if not ways:
        return None
    way = context.choices.pick(ways)
    condition = context.expressions.condition(scope, 1)
    context.line(f"if {condition}:")
    with context.indented():
        context.line(context.return_text(scope, 1) if way == "return" else way)
    context.names.note("early return" if way == "return" else way)
    return scope


def alias(context: Context, scope: Scope) -> Scope | None:
    """row = A[i], in range in every call; or another name for the whole array"""
    rooms = [array for array in scope.arrays if not array.field and array.role == "data"]
    if not rooms:
        return None
    array = context.choices.pick([array for array in rooms if len(array.axes) > 1] * 3 + rooms)
    name = context.names.fresh("row")
    if len(array.axes) == 1:
        context.names.note("another name for an array")
        context.line(f"{name} = {array.name}")
        return scope.with_array(replace(array, name=name))
    sure, _ = affine_positions(scope, array.axes[0])
    if not sure:
        return None
    context.names.note("row of an array")
    context.line(f"{name} = {array.name}[{context.choices.pick(sure)[0]}]")
    return scope.with_array(replace(array, name=name, axes=array.axes[1:]))


def array_helper(context: Context, scope: Scope) -> Scope | None:
    """A call of a function that writes an array"""
    targets = [array for array in written(scope) if not array.field and len(array.axes) == 1]
    if not targets:
        return None
    array = context.choices.pick(targets)
    index = [subscripts(scope, array, context.choices, context.names, 0)[0] for _ in range(2)]
    context.names.note("array helper call")
    if context.choices.chance(40):
        context.line(f"exchange({array.name}, {index[0]}, {index[1]})")
        return scope
    term = storable(context.expressions.any(scope, 1), array.element)
    context.line(f"put({array.name}, {index[0]}, {term.text})")
    return scope


def nothing(context: Context, scope: Scope) -> Scope | None:
    """pass"""
    context.names.note("pass")
    context.line("pass")
    return scope


def _element(context: Context, scope: Scope, array: Array) -> str:
    return array.access(subscripts(scope, array, context.choices, context.names), context.choices)


_ANYWHERE: tuple[tuple[int, Maker], ...] = (
    (8, update), (6, reduction), (5, extreme), (9, define), (6, assign), (3, pair), (10, branch), (3, choose),
    (4, while_loop), (4, local_array), (4, alias), (4, array_helper), (5, index_scatter), (1, nothing),
)  # fmt: skip
_TOP: tuple[tuple[int, Maker], ...] = ((50, for_loop), (4, store), *_ANYWHERE, (2, leave), (5, parallel_loop))
_INNER: tuple[tuple[int, Maker], ...] = ((18, store), (14, for_loop), *_ANYWHERE, (6, leave))

assert {kind.name for kind in STRONG} == set(ELEMENTS) and WEAK_BOOL.weak
