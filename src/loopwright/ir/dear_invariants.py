"""Dear functions of what many iterations of a loop have in common get names, so that they can be computed before it:
the sine of each angle, which is computed again for each pixel of a picture, or the weights of a window.

    for i in 0 .. n:
        for a in 0 .. m:
            s = s + c[a] * cos(angle[a]) + b[i]
    ->
    for i in 0 .. n:
        for a in 0 .. m:
            cos.1 = cos(angle[a])
            s = s + c[a] * cos.1 + b[i]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Checked,
    Const,
    Expr,
    For,
    Kernel,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_made, arrays_stored, fresh, has, names_assigned, names_in, names_of
from loopwright.ir.walk import (
    bodies,
    children,
    own_expressions,
    rewrite_expr,
    statements,
    subexpressions,
    with_bodies,
    with_children,
)

CHEAP = frozenset(
    [
        "sqrt",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "copysign",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "isnan",
        "isinf",
        "isfinite",
        "signbit",
        "bits",
    ]
)
"""Functions that take a few instructions."""
MOST = 1 << 16
"""Elements of a table along two loops of known length: half of a second cache."""


def dear_invariants_named(kernel: Kernel) -> Kernel:
    """The same kernel with a scalar for each of them."""
    if not any(map(is_dear, _all(kernel.body))):
        return kernel
    return replace(kernel, body=_named(kernel.body, (), names_of(kernel)))


def _all(body: Body) -> list[Expr]:
    found: list[Expr] = []
    for stmt in body:
        found += [part for own in own_expressions(stmt) for part in subexpressions(own)]
        found += [part for inner in bodies(stmt) for part in _all(inner)]
    return found


def is_dear(expr: Expr) -> bool:
    """Whether an operation takes some twenty instructions or more."""
    match expr:
        case Call(function=function):
            return function not in CHEAP
        case Binary(op="pow", right=right):
            return expr.type.is_float and not isinstance(right, Const)
    return False


def _named(body: Body, around: tuple[For, ...], taken: set[str]) -> Body:
    """A body in these loops, each right inside the one before."""
    found: list[Stmt] = []
    worth: dict[str, Expr] = {}
    times = Counter(stmt.name for stmt in statements(body, Assign))
    for stmt in body:
        if isinstance(stmt, For):
            found.append(replace(stmt, body=_named(stmt.body, (*around, stmt), taken)))
        elif isinstance(stmt, Assign | Store) and len(around) > 1 and not _may_end(stmt):
            named: list[Stmt] = []
            value = _without(stmt.value, around, taken, named, worth)
            found += [*named, replace(stmt, value=value) if named else stmt]
            if isinstance(stmt, Assign) and times[stmt.name] == 1:
                worth[stmt.name] = _put_in(stmt.value, worth)
        else:
            found.append(with_bodies(stmt, tuple(_named(inner, (), taken) for inner in bodies(stmt))))
    return tuple(found)


def _may_end(stmt: Stmt) -> bool:
    """Whether a statement tests something besides its indices: an error of that comes before those of other parts."""
    return any(has(own, Checked) for own in own_expressions(stmt))


def _put_in(expr: Expr, worth: Mapping[str, Expr]) -> Expr:
    """An expression with what scalars are worth in their place."""
    if isinstance(expr, Var):
        return rewrite_expr(worth[expr.name], _anew) if expr.name in worth else expr
    return with_children(expr, tuple(_put_in(part, worth) for part in children(expr)))


def _anew(expr: Expr) -> Expr:
    return replace(expr, key=object()) if isinstance(expr, Load) else expr


def _without(
    expr: Expr, around: tuple[For, ...], taken: set[str], named: list[Stmt], worth: Mapping[str, Expr]
) -> Expr:
    """The expression with scalars in place of the largest parts that are worth it; what sets these is added to a
    list. What is only computed under a condition stays. worth: of scalars that the body sets before, and only once."""
    if isinstance(expr, Select | Logical | Checked):
        return expr
    dear = next(filter(is_dear, subexpressions(expr)), None)
    if dear is None:
        return expr
    if _is_common(whole := _put_in(expr, worth), around):
        name = fresh(f"{dear.function}.1" if isinstance(dear, Call) else "power.1", taken)
        taken.add(name)
        named.append(Assign(name, whole))
        return Var(name, expr.type)
    return with_children(expr, tuple(_without(part, around, taken, named, worth) for part in children(expr)))


def _is_common(expr: Expr, around: tuple[For, ...]) -> bool:
    """Whether an expression differs along the innermost loop, and is the same for all iterations of one around it."""
    names, loops = names_in(expr), [loop.name for loop in around]
    if loops[-1] not in names or has(expr, Select, Logical, Checked):
        return False
    over = [loop for loop in around if loop.name in names]
    other = next((loop for loop in around if loop.name not in names), None)
    if other is None or other is around[-1]:
        return False
    bounds = {name for loop in over for own in own_expressions(loop) for name in names_in(own)}
    changing = names_assigned(other.body) - {loop.name for loop in over}
    loaded = list(subexpressions(expr, Load))
    if (names | bounds) & (changing | {other.name}):
        return False
    if {load.array for load in loaded} & (arrays_stored(other.body) | arrays_made(other.body)):
        return False
    return len(over) == 1 or _is_small(over) or any({loop.name for loop in over} <= names_in(load) for load in loaded)


def _is_small(over: list[For]) -> bool:
    """Whether a table with an element for each iteration of loops takes little memory."""
    total = 1
    for loop in over:
        match loop:
            case For(lower=Const(value=lower), upper=Const(value=upper)):
                total *= max(0, int(upper) - int(lower))
            case _:
                return False
    return len(over) == 2 and total <= MOST
