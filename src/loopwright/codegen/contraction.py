"""Products that stay out of fused multiply-adds, in loops that need their order. In `s = s + a[i] * b[c[i]]` each
addition waits for the one before, the products for nothing. Fused, each iteration takes as long as a multiply-add, four
cycles where an addition alone takes two or three; apart, the product is there when the sum is. Where the product itself
waits, `s = a[i] + s * b[i]`, fused is faster: one result less on the way round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.recurrent_scalars import returning
from loopwright.ir.linear import apart
from loopwright.ir.nodes import Assign, Binary, Body, Const, Expr, For, Load, Logical, Select, Store, Var, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import children, own_expressions, rewrite_expr, statements, subexpressions


def keep_products_apart(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of innermost loops without lanes. A loop of constant length is written out, by the C compiler, and what is
    around it may get lanes then: what the compiler knows nothing of would forbid them."""
    if given.strict:
        return lowering  # nothing is fused
    found: set[int] = set()
    for loop in statements(given.kernel.body, For):
        is_written_out = isinstance(loop.lower, Const) and isinstance(loop.upper, Const)
        is_written_out = is_written_out or given.constant_trip(loop) is not None
        if loop.name not in lowering.lanes and not is_written_out and not contains(loop.body, For, While):
            found |= {id(product) for product in _products(loop)}
    return replace(lowering, apart=frozenset(found))


def _products(loop: For) -> Iterator[Binary]:
    """What is added to, or subtracted from, a value that the iteration before has made, and does not wait for that."""
    late = _late(loop)
    if late.names or late.loads:
        for stmt in loop.body:
            if isinstance(stmt, Assign | Store):
                for expr in own_expressions(stmt):
                    for one in _always(expr):
                        yield from _added(one, late)


def _always(expr: Expr) -> Iterator[Binary]:
    """The operations that every iteration does: those of one side only, kept apart, could not be done without a jump,
    which costs more whenever it is guessed wrong."""
    if isinstance(expr, Select | Logical):
        return
    if isinstance(expr, Binary):
        yield expr
    for child in children(expr):
        yield from _always(child)


def _added(expr: Binary, late: Late) -> Iterator[Binary]:
    if expr.op not in ("add", "sub") or not expr.type.is_float:
        return
    for product, other in ((expr.left, expr.right), (expr.right, expr.left)):
        if isinstance(product, Binary) and product.op == "mul" and not late.waits(product) and late.waits(other):
            yield product


@dataclass(frozen=True, slots=True)
class Late:
    """What waits for the iteration before: scalars by name, elements by the identity of the nodes that read them."""

    names: frozenset[str] = frozenset()
    loads: frozenset[int] = frozenset()

    def waits(self, expr: Expr) -> bool:
        """Whether an expression needs any of that."""
        return any(
            (isinstance(part, Var) and part.name in self.names) or (isinstance(part, Load) and id(part) in self.loads)
            for part in subexpressions(expr)
        )


def _late(loop: For) -> Late:
    """Of plain recurrences: of a scalar, or from one element to its neighbour, which no compiler puts into lanes. And
    what is computed from that on the way."""
    loads = list(_loads(loop.body))
    stores = [one for one in statements(loop.body, Store) if one.value.type.is_float]
    late = Late(
        frozenset(returning(loop.body, lambda kind: kind.is_float)),
        frozenset(id(one) for one in loads if any(_follows(one, store, loop) for store in stores)),
    )
    for stmt in statements(loop.body, Assign, Store):
        if not stmt.value.type.is_float or not late.waits(stmt.value):
            continue
        if isinstance(stmt, Assign):
            late = replace(late, names=late.names | {stmt.name})
        else:
            same = {id(one) for one in loads if (one.array, one.index) == (stmt.array, stmt.index)}
            late = replace(late, loads=late.loads | same)
    return late


def _loads(body: Body) -> Iterator[Load]:
    for stmt in statements(body):
        for expr in own_expressions(stmt):
            yield from subexpressions(expr, Load)


def _follows(load: Load, store: Store, loop: For) -> bool:
    """Whether a load reads what the iteration before has stored."""
    if load.array != store.array or load.index == store.index or not isinstance(loop.step, Const):
        return False  # the same element in every iteration, or one of this iteration
    step = loop.step
    before = [rewrite_expr(one, lambda part: _before(part, loop.name, step)) for one in store.index]
    return all(apart(one, stored) == 0 for one, stored in zip(load.index, before, strict=True))


def _before(part: Expr, name: str, step: Const) -> Expr:
    return Binary("sub", part, step) if isinstance(part, Var) and part.name == name else part
