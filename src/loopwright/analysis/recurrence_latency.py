"""How long the steps of a recurrence wait for one another: the cycles of the longest path from what one iteration of a
loop hands on to what it hands on itself; and the least time between the beginnings of two iterations (the
recurrence-constrained initiation interval; Rau 1994). The latter is shorter where what waits for a recurrence is no
part of it, such as a sum of its values: nothing waits for that.

Latencies are those of current x86 cores, within a cycle or two; loads are from the first cache.
"""

from __future__ import annotations

from collections.abc import Collection

from loopwright.ir.nodes import Assign, Binary, Body, Call, Cast, Compare, Const, Expr, If, Load, Select, Store, Var
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.ir.walk import children

LOAD, CONVERT, SELECT, COMPARE = 5.0, 5.0, 2.0, 2.0
ADD, MULTIPLY, DIVIDE = 4.0, 4.0, 14.0
INTEGER_MULTIPLY, INTEGER_DIVIDE = 3.0, 20.0
ROOT, FUNCTION, ROUNDING = 18.0, 40.0, 8.0
POWERS_OF_TWO = frozenset(1 << k for k in range(63))
SETTLED = 4
"""Iterations after which every further one takes as long as the longest recurrence, and of which recurrences through
one, two or four of them take a whole number of times."""
CHEAP = frozenset({"floor", "ceil", "trunc", "rint", "copysign", "maximum", "minimum", "fmax", "fmin", "isnan"})


def recurrence_latency(body: Body, carried: Collection[str]) -> float:
    """Cycles per iteration. carried: the scalars that an iteration hands on. Elements of arrays that it stores to are
    handed on, too, where it loads of the same array."""
    arrays = arrays_stored(body)
    ready: dict[str, float] = dict.fromkeys((*carried, *arrays), 0.0)
    _run(body, ready, arrays, 0.0)
    return max((ready[name] for name in (*carried, *arrays)), default=0.0)


def iteration_latency(body: Body) -> float:
    """Cycles from the loads of an iteration to the last of its results."""
    arrays = arrays_stored(body) | arrays_loaded(body)
    ready: dict[str, float] = dict.fromkeys(arrays, 0.0)
    _run(body, ready, arrays, 0.0)
    return max(ready.values(), default=0.0)


def initiation_interval(body: Body, carried: Collection[str]) -> float:
    """Cycles between the beginnings of two iterations, if they wait for nothing else. carried: as above."""
    arrays = arrays_stored(body)
    ready: dict[str, float] = dict.fromkeys((*carried, *arrays), 0.0)
    for _ in range(SETTLED):
        _run(body, ready, arrays, 0.0)
    settled = dict(ready)
    for _ in range(SETTLED):
        _run(body, ready, arrays, 0.0)
    return max(((ready[name] - settled[name]) / SETTLED for name in (*carried, *arrays)), default=0.0)


def _run(body: Body, ready: dict[str, float], arrays: Collection[str], after: float) -> None:
    """When each name's value is there, -1 for what needs nothing of the iteration before. after: when it is known that
    these statements run; they are taken to be computed anyway, and selected."""
    for stmt in body:
        match stmt:
            case Assign():
                ready[stmt.name] = _chosen(_latency(stmt.value, ready, arrays), after)
            case Store():
                ready[stmt.array] = max(ready[stmt.array], _chosen(_latency(stmt.value, ready, arrays), after))
            case If():
                known = _latency(stmt.condition, ready, arrays)
                then, otherwise = dict(ready), dict(ready)
                _run(stmt.then, then, arrays, max(after, known))
                _run(stmt.otherwise, otherwise, arrays, max(after, known))
                for name in {*then, *otherwise}:
                    ready[name] = max(then.get(name, -1.0), otherwise.get(name, -1.0))


def _chosen(value: float, after: float) -> float:
    return max(value, after) + SELECT if after > 0.0 else value


def _latency(expr: Expr, ready: dict[str, float], arrays: Collection[str]) -> float:
    """When the value is there; -1 where it needs nothing of the iteration before."""
    match expr:
        case Var(name=name):
            return ready.get(name, -1.0)
        case Load(array=array):
            first = max((_latency(part, ready, arrays) for part in expr.index), default=-1.0)
            stored = ready[array] if array in arrays else -1.0
            return max(first + LOAD if first >= 0.0 else -1.0, stored)
        case Binary(op="add" | "sub") if expr.type.is_float:  # of a product: one fused instruction
            sides = [_fused(side, ready, arrays) for side in (expr.left, expr.right)]
        case _:
            sides = [_latency(part, ready, arrays) for part in children(expr)]
    begun = max(sides, default=-1.0)
    return begun + _cycles(expr) if begun >= 0.0 else -1.0


def _fused(expr: Expr, ready: dict[str, float], arrays: Collection[str]) -> float:
    if isinstance(expr, Binary) and expr.op == "mul":
        return max(_latency(side, ready, arrays) for side in (expr.left, expr.right))
    return _latency(expr, ready, arrays)


def _cycles(expr: Expr) -> float:
    is_float = expr.type.is_float
    match expr:
        case Binary(op="truediv"):
            return DIVIDE
        case Binary(op="floordiv" | "mod", right=Const(value=by)) if not is_float and by in POWERS_OF_TWO:
            return 1.0  # a shift, or a mask
        case Binary(op="floordiv" | "mod"):
            return DIVIDE + ROUNDING if is_float else INTEGER_DIVIDE
        case Binary(op="pow"):
            return FUNCTION
        case Binary(op="mul"):
            return MULTIPLY if is_float else INTEGER_MULTIPLY
        case Binary():
            return ADD if is_float else 1.0
        case Call(function="sqrt"):
            return ROOT
        case Call(function=function):
            return ROUNDING if function in CHEAP else FUNCTION
        case Compare():
            return COMPARE
        case Select():
            return SELECT
        case Cast():
            return CONVERT if is_float != expr.operand.type.is_float else 1.0
        case _:
            return 1.0
