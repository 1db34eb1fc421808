"""How far loops run, read from their bounds: ends of a minimum, constant numbers of iterations, remainders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import gcd

from loopwright.ir.by_identity import by_identity
from loopwright.ir.linear import Linear, apart, linear, minus, parted
from loopwright.ir.nodes import Binary, Body, Const, Dim, Expr, For, Kernel, Stmt, Var
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, expressions, own_expressions, statements, subexpressions
from loopwright.steps.step import Rejection

Residues = Mapping[Expr, int]


def ends_of(loop: For) -> tuple[Expr, ...]:
    """The operands of the minimum (maximum, where the loop counts down) that is a loop's end; or just the end."""
    assert isinstance(loop.step, Const)
    return operands(loop.upper, "min" if int(loop.step.value) > 0 else "max")


def operands(expr: Expr, op: str) -> tuple[Expr, ...]:
    """What a minimum or a maximum is of; the expression alone where it is none."""
    if isinstance(expr, Binary) and expr.op == op:
        return (*operands(expr.left, op), *operands(expr.right, op))
    return (expr,)


def starts_of(loop: For) -> tuple[Expr, ...]:
    """The operands of the maximum (minimum, where the loop counts down) that is a loop's start; or just the start."""
    assert isinstance(loop.step, Const)
    return operands(loop.lower, "max" if int(loop.step.value) > 0 else "min")


@by_identity
def stretch_of(loop: For) -> tuple[Expr, Expr] | None:
    """The start and the end of a loop that lie a constant distance from one another, where there are others too."""
    starts, ends = starts_of(loop), ends_of(loop)
    whole = [(start, end) for start in starts for end in ends if apart(end, start) is not None]
    return whole[0] if whole and len(starts) + len(ends) > 2 else None


@by_identity
def is_point(loop: For) -> bool:
    """Whether a loop has one iteration at most, as between two cuts."""
    lower, upper = stretch_of(loop) or (loop.lower, loop.upper)
    return apart(upper, lower) == 1


def extent_of(loop: For) -> int | None:
    """A constant that the values of a loop's variable stay below, counted from its start: of `i` in
    `i.o .. min(i.o + 8, n)` and of `max(i.o, 1) .. i.o + 8` it is 8. None where no constant is to be seen; 0 where the
    loop counts down."""
    if not isinstance(loop.step, Const) or int(loop.step.value) == 0:
        return None
    if int(loop.step.value) < 0:
        return 0
    pairs = [(start, end) for start in starts_of(loop) for end in ends_of(loop)]
    known = [distance for start, end in pairs if (distance := apart(end, start)) is not None]
    return max(0, min(known)) if known else None


@by_identity
def trip_of(loop: For) -> int | None:
    """The number of iterations where it is constant (and the bounds do not wrap)."""
    if not isinstance(loop.step, Const) or not loop.step.value:
        return None
    distance = apart(loop.upper, loop.lower)
    return None if distance is None else len(range(0, distance, int(loop.step.value)))


def most_trips_of(loop: For) -> int | None:
    """A constant that the number of iterations does not exceed, as that of a slice of 16 elements that may end before;
    None where none is to be seen."""
    if not isinstance(loop.step, Const) or int(loop.step.value) <= 0:
        return trip_of(loop)
    distance = _most_above(loop.upper, loop.lower)
    return None if distance is None else len(range(0, distance, int(loop.step.value)))


def most_trips_within(loop: For, around: Iterable[For]) -> int | None:
    """The same where loops around it go between constants: 3 for `range(p, 3)` inside of `for p in range(3)`."""
    if (known := most_trips_of(loop)) is not None or not isinstance(loop.step, Const) or not loop.step.value:
        return known
    step, counts = int(loop.step.value), {one.name: one for one in around}
    first, last = (loop.lower, loop.upper) if step > 0 else (loop.upper, loop.lower)
    distance = _greatest(linear(minus(last, first)), counts)
    return None if distance is None else len(range(0, distance, abs(step)))


def _greatest(sum_: Linear, around: Mapping[str, For]) -> int | None:
    """The most that a sum of variables of loops between constants comes to; None where it has others."""
    total = sum_.constant
    for term, count in sum_.terms:
        loop = around.get(term.name) if isinstance(term, Var) else None
        if loop is None or not all(isinstance(one, Const) for one in (loop.lower, loop.upper, loop.step)):
            return None
        lower, upper, step = (int(one.value) for one in (loop.lower, loop.upper, loop.step) if isinstance(one, Const))
        values = range(lower, upper, step) if step else ()
        if not values:
            return 0
        total += count * (max(values[0], values[-1]) if count > 0 else min(values[0], values[-1]))
    return total


def _most_above(expr: Expr, base: Expr) -> int | None:
    """How far above another an expression is at most, where a constant is to be seen."""
    if (distance := apart(expr, base)) is not None:
        return distance
    if isinstance(base, Binary) and base.op == "max":  # it lies above both
        found = [one for one in (_most_above(expr, base.left), _most_above(expr, base.right)) if one is not None]
        return min(found, default=None)
    match expr:
        case Binary(op="min", left=left, right=right):
            found = [one for one in (_most_above(left, base), _most_above(right, base)) if one is not None]
            return min(found, default=None)
        case Binary(op="max", left=left, right=right):
            a, b = _most_above(left, base), _most_above(right, base)
            return None if a is None or b is None else max(a, b)
        case Binary(op="add" | "sub", left=Binary(op="min" | "max") as ends):
            moved = [replace(expr, left=end) for end in (ends.left, ends.right)]
            return _most_above(replace(ends, left=moved[0], right=moved[1]), base)
    return None


def surely_runs(loop: For, around: Mapping[str, For]) -> bool:
    """Whether a loop has an iteration each time it is reached: a constant number of them, or a stretch of another
    loop, which starts where that one stands and ends nowhere before that one's end."""
    trip = trip_of(loop)
    if trip is not None:
        return trip > 0
    outer = around.get(loop.lower.name) if isinstance(loop.lower, Var) else None
    if outer is None or not isinstance(loop.step, Const) or not isinstance(outer.step, Const):
        return False
    step, stretch = int(loop.step.value), int(outer.step.value)
    if step * stretch <= 0:
        return False
    # At v every end e of the outer loop has v < e, and v + stretch does too unless it wraps, which the guard forbids.
    return all(end in ends_of(outer) or (apart(end, loop.lower) or 0) * step > 0 for end in ends_of(loop))


def never_above(expr: Expr, point: Expr, loops: Mapping[str, For]) -> bool:
    """Whether a loop's variable, or a constant more than it, is at most so much wherever that loop runs: `k + 1` inside
    `k in k.o .. min(k.o + 32, n)` is never above `k.o + 32`."""
    loop, more = _counted(expr, loops)
    if loop is None:
        return False
    last = [(end, more - 1) for end in ends_of(loop)] if _is_up(loop) else [(start, more) for start in starts_of(loop)]
    return any((room := apart(point, one)) is not None and room >= least for one, least in last)


def never_below(expr: Expr, point: Expr, loops: Mapping[str, For]) -> bool:
    """Likewise, whether it is at least so much: `k` inside `k in k.o .. n` is never below `k.o`."""
    loop, more = _counted(expr, loops)
    if loop is None:
        return False
    first = [(start, more) for start in starts_of(loop)] if _is_up(loop) else [(end, more + 1) for end in ends_of(loop)]
    return any((room := apart(one, point)) is not None and room >= -least for one, least in first)


def _counted(expr: Expr, loops: Mapping[str, For]) -> tuple[For | None, int]:
    """The loop whose variable it is but for a constant, and this; None where there is none with a constant step."""
    base, more = parted(expr)
    loop = loops.get(base.name) if isinstance(base, Var) else None
    counts = loop is not None and isinstance(loop.step, Const) and int(loop.step.value) != 0
    return (loop if counts else None), more


def _is_up(loop: For) -> bool:
    return isinstance(loop.step, Const) and int(loop.step.value) > 0


def around(kernel: Kernel, inner: Stmt) -> tuple[Stmt, ...]:
    """The statements around a statement, outermost first."""

    def find(body: Body) -> tuple[Stmt, ...] | None:
        for stmt in body:
            if stmt is inner:
                return ()
            for part in bodies(stmt):
                path = find(part)
                if path is not None:
                    return (stmt, *path)
        return None

    return find(kernel.body) or ()


def loops_around(kernel: Kernel, inner: Stmt) -> dict[str, For]:
    """The `for` loops around a statement by name, outermost first."""
    return {stmt.name: stmt for stmt in around(kernel, inner) if isinstance(stmt, For)}


def marked(stmts: Body) -> Rejection | None:
    """Why a loop here cannot be changed any more: the steps that say how loops run come last."""
    for stmt in statements(stmts, For):
        if stmt.run != "sequential":
            return Rejection(f"'{stmt.name}' is marked {stmt.run} already: such marks come last in a schedule")
    return None


def used_outside(kernel: Kernel, inside: Body, arrays: frozenset[str]) -> str | None:
    """One of these arrays that statements elsewhere in the kernel use."""
    ours = {id(stmt) for stmt in statements(inside)}
    for stmt in statements(kernel.body):
        if id(stmt) in ours:
            continue
        names = {getattr(part, "array", None) for own in own_expressions(stmt) for part in subexpressions(own)}
        found = arrays & (names | {getattr(stmt, "array", None)})
        if found:
            return min(found)
    return None


# ---- remainders ------------------------------------------------------------------------------------------------


def residue(expr: Expr, modulus: int, known: Residues) -> int | None:
    """What an expression leaves when divided by the modulus, from what names leave. Sums may wrap at 2**64, so that
    they say something of powers of two only."""
    if expr in known:
        return known[expr] % modulus
    if isinstance(expr, Const) and expr.type == INT64:
        return int(expr.value) % modulus
    if isinstance(expr, Binary) and expr.op in ("add", "sub", "mul") and modulus & (modulus - 1) == 0:
        left, right = residue(expr.left, modulus, known), residue(expr.right, modulus, known)
        if expr.op == "mul" and 0 in (left, right):
            return 0
        if left is None or right is None:
            return None
        return {"add": left + right, "sub": left - right, "mul": left * right}[expr.op] % modulus
    return None


def ends_needed(loop: For, outer: Mapping[str, For], size: Expr, modulus: int) -> tuple[Expr, ...]:
    """The ends of a loop that count where `size` is divisible by the modulus: of `i.o .. min(i.o + 8, n)` within
    `0 .. n step 8` only the first, since `i.o < n` and both are divisible by 8."""
    ends = ends_of(loop)
    start, whole = loop.lower, stretch_of(loop)
    stretches = outer.get(start.name) if isinstance(start, Var) else None
    if whole is None or stretches is None or not isinstance(stretches.step, Const):
        return ends
    length = int(stretches.step.value)
    if length <= 0 or apart(whole[1], start) != length:
        return ends

    def left(expr: Expr) -> int | None:
        return residue(expr, length, _known(outer, size, modulus, length))

    limits = {end for end in ends_of(stretches) if left(end) is not None and left(end) == left(start)}
    return tuple(end for end in ends if end not in limits)


def _known(outer: Mapping[str, For], size: Expr, modulus: int, length: int) -> dict[Expr, int]:
    known: dict[Expr, int] = {size: 0} if modulus and gcd(modulus, length) == length else {}
    for name, loop in outer.items():
        if isinstance(loop.step, Const) and int(loop.step.value) % length == 0:
            start = residue(loop.lower, length, known)
            if start is not None:
                known[Var(name, INT64)] = start
    return known


def sizes_read(body: Body) -> set[Dim]:
    """The sizes that a body reads."""
    return set(expressions(body, Dim))
