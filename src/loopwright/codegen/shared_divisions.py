"""Divisions of whole numbers that several statements need, done once: `p // w` and `p % w` of a place in a grid, in
each of the four tests of its neighbours. A processor divides for ten cycles or more, and the C compiler does not see
that two such divisions are one: each has a form for small numbers and one for large ones. A remainder of a quotient
that is known is a product and a difference.

A division never fails in C (`ir/nodes.py` says what it gives by zero), so it may also be done a little early.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    BinaryOp,
    Body,
    Call,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    Load,
    Logical,
    Select,
    Stmt,
)
from loopwright.ir.queries import has, settled_by, unsettled_in
from loopwright.ir.walk import bodies, children, own_expressions

Operands = tuple[Expr, Expr]
"""What is divided, and by what."""


def share_divisions(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of every body, quotients before remainders."""
    found: dict[int, tuple[Binary, ...]] = {}
    _find(given.kernel.body, frozenset(), lowering, found)
    return replace(lowering, divisions=found)


def operands_of(expr: Binary) -> Operands | None:
    """The operands of a division that may be kept; None for anything else. The C compiler knows how to divide by a
    constant, and elements of arrays may change meanwhile."""
    if expr.op not in ("floordiv", "mod") or not expr.type.is_integer:
        return None
    both = expr.left, expr.right
    return both if all(not isinstance(one, Const) and _is_simple(one) for one in both) else None


def names_of(operands: Operands) -> set[str]:
    """The scalars and the sizes that a division depends on."""
    return settled_by(operands[0]) | settled_by(operands[1])


def _is_simple(expr: Expr) -> bool:
    return not has(expr, Load, Checked, Call, Select, Compare, Logical)


@dataclass(slots=True)
class _Uses:
    """Where a division is needed: `all` places, of which some are `sure` to be come to; and what of it."""

    all: int = 0
    sure: bool = False
    ops: set[BinaryOp] = field(default_factory=set)

    def add(self, other: _Uses) -> None:
        """Count those of another statement, which control may not come to."""
        self.all += other.all
        self.ops |= other.ops


def _find(body: Body, known: frozenset[Operands], lowering: LoopLowering, found: dict[int, tuple[Binary, ...]]) -> None:
    for place, stmt in enumerate(body):
        known = frozenset(one for one in known if not names_of(one) & _changed_inside(stmt))
        new = {
            one: ops
            for one in _uses(stmt, lowering)
            if one not in known and (ops := _needed(one, body[place:], lowering))
        }
        if new:
            found[id(stmt)] = tuple(Binary(op, *one) for one, ops in new.items() for op in sorted(ops))
        known |= new.keys()
        is_apart = isinstance(stmt, For) and stmt.name in lowering.regions
        for inside in bodies(stmt):
            _find(inside, frozenset() if is_apart else known, lowering, found)
        known = frozenset(one for one in known if not names_of(one) & unsettled_in((stmt,)))


def _changed_inside(stmt: Stmt) -> set[str]:
    """The scalars and sizes that are others in a statement than before it."""
    return set() if isinstance(stmt, Assign | Allocate) else unsettled_in((stmt,))


def _needed(operands: Operands, rest: Body, lowering: LoopLowering) -> set[BinaryOp]:
    """What of a division is needed from here on, if it is more than once, and in this statement or in two of them."""
    names, total, users = names_of(operands), _Uses(), 0
    for stmt in rest:
        if names & _changed_inside(stmt):
            break
        uses = _uses(stmt, lowering).get(operands, _Uses())
        total.sure |= uses.sure and users == 0
        total.add(uses)
        users += bool(uses.all)
        if names & unsettled_in((stmt,)):
            break
    return total.ops if total.all > 1 and (total.sure or users > 1) else set()


def _uses(stmt: Stmt, lowering: LoopLowering) -> dict[Operands, _Uses]:
    """The divisions in a statement, except in what becomes a function of its own."""
    found: dict[Operands, _Uses] = {}
    _count(stmt, True, lowering, found)
    return found


def _count(stmt: Stmt, sure: bool, lowering: LoopLowering, found: dict[Operands, _Uses]) -> None:
    for expr in own_expressions(stmt):
        for part, is_sure in _parts(expr, sure):
            if isinstance(part, Binary) and (operands := operands_of(part)) is not None:
                uses = found.setdefault(operands, _Uses())
                uses.add(_Uses(1, ops={part.op}))
                uses.sure |= is_sure
    if not isinstance(stmt, For) or stmt.name not in lowering.regions:
        for body in bodies(stmt):
            for inner in body:
                _count(inner, False, lowering, found)


def _parts(expr: Expr, sure: bool) -> Iterator[tuple[Expr, bool]]:
    """An expression and all below it, and whether each is always computed."""
    yield expr, sure
    for place, child in enumerate(children(expr)):
        is_lazy = place > 0 and isinstance(expr, Logical | Select | Checked)
        yield from _parts(child, sure and not is_lazy)
