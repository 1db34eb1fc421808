"""Functions under a condition, computed before it: `arctan2(y, x) if r > 0.5 else 0.0`, or the same as `np.where` or as
`if`. The C library has functions for whole vector registers, but none for some lanes of one, so that gcc does not
vectorise a loop with such a condition, or makes one. All lanes compute the function, and choose: that costs a sixth of
what it takes one by one (AVX-512; a fifth with AVX2), and pays where one element in ten needs it.

Of loops in lanes that gcc is sure to vectorise: all elements are neighbours, and of the function's type. Functions
never fail, and what they are given must be there whether the condition holds or not. Where a condition asks for
equality it mostly does not hold, and stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from loopwright.codegen.c_text import VECTOR_FUNCTIONS, is_vector_function
from loopwright.codegen.chosen_stores import is_inside
from loopwright.codegen.decisions import CodegenInput, LoopLowering
from loopwright.codegen.vector_code import is_row
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Call,
    Checked,
    Compare,
    Expr,
    For,
    If,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_in
from loopwright.ir.types import BOOL, Scalar
from loopwright.ir.walk import bodies, children, expressions, own_expressions, statements, subexpressions

IN_LANES = VECTOR_FUNCTIONS | {"sqrt", "floor", "ceil", "trunc", "rint", "maximum", "minimum", "fmax", "fmin", "isnan"}
"""Functions that keep no loop out of its lanes."""
ARITHMETIC = frozenset({"add", "sub", "mul", "truediv", "min", "max", "pow"})
CONDITIONS = frozenset({"and", "or", "xor"})


def compute_early(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Those of every loop in lanes whose functions need not be the C library's to the last bit."""
    found: dict[int, tuple[Expr, ...]] = {}
    for loop in statements(given.kernel.body, For):
        lanes = lowering.lanes.get(loop.name)
        if lanes is not None and lanes.vector_functions and _kind(loop, given) is not None:
            for stmt in loop.body:
                calls = (call for call in _conditional(stmt) if _may_be_early(call, stmt, given))
                if (early := tuple(dict.fromkeys(calls))) or _is_chosen_later(stmt, loop):
                    found[id(stmt)] = early
    return replace(lowering, early=found)


def _is_chosen_later(stmt: Stmt, loop: For) -> bool:
    """Whether a function's value is kept in a scalar that a later choice may not take."""
    if not isinstance(stmt, Assign):
        return False
    if not any(map(is_vector_function, subexpressions(stmt.value))):
        return False
    choices = (one for one in expressions(loop.body, Select) if not _is_rare(one.condition))
    return any(stmt.name in names_in(side) for one in choices for side in (one.then, one.otherwise))


def _conditional(stmt: Stmt) -> Iterator[Expr]:
    """The functions that a statement may not need, those first that others are given the values of."""
    for expr, is_lazy in _parts_of(stmt, False):
        if is_lazy and is_vector_function(expr):
            yield expr


def _parts_of(stmt: Stmt, is_lazy: bool) -> Iterator[tuple[Expr, bool]]:
    """All expressions in a statement, operands first, and whether each is computed under a condition only."""
    for own in own_expressions(stmt):
        yield from _parts(own, is_lazy)
    for body in bodies(stmt):
        for inner in body:
            yield from _parts_of(inner, is_lazy or not (isinstance(stmt, If) and _is_rare(stmt.condition)))


def _parts(expr: Expr, is_lazy: bool) -> Iterator[tuple[Expr, bool]]:
    is_choice = isinstance(expr, Select) and not _is_rare(expr.condition)
    for place, child in enumerate(children(expr)):
        yield from _parts(child, is_lazy or (place > 0 and (is_choice or isinstance(expr, Logical))))
    yield expr, is_lazy


def _is_rare(condition: Expr) -> bool:
    """Whether a condition mostly does not hold, or mostly does: of numbers that are to be equal, or not."""
    return isinstance(condition, Compare) and condition.op in ("eq", "ne")


def _may_be_early(call: Expr, stmt: Stmt, given: CodegenInput) -> bool:
    """Whether a function can be computed before a statement: what it is given is there, and is the same then."""
    if has(call, Checked) or not all(is_inside(load, given) for load in subexpressions(call, Load)):
        return False
    if not isinstance(stmt, If):
        return True
    changed = names_assigned((stmt,)) | arrays_stored((stmt,))
    return not changed & (names_in(call) | {load.array for load in subexpressions(call, Load)})


def _kind(loop: For, given: CodegenInput) -> Scalar | None:
    """The type of all numbers that a loop goes along; None where gcc may have no lanes for what it does."""
    types = {part.type for part in expressions(loop.body, Load)} | {
        one.value.type for one in statements(loop.body, Store)
    }
    if len(types) != 1 or not (kind := types.pop()).is_float:
        return None
    fits = _Fits(loop.name, names_assigned(loop.body), kind, given)
    return kind if all(fits.statement(stmt) for stmt in loop.body) else None


@dataclass(frozen=True, slots=True)
class _Fits:
    """Whether gcc vectorises what an iteration does. variable: of the loop; assigned: scalars that its body sets."""

    variable: str
    assigned: set[str]
    kind: Scalar
    given: CodegenInput

    def statement(self, stmt: Stmt) -> bool:
        match stmt:
            case Assign(value=value):
                return self.expression(value)
            case Store(value=value):
                return is_row(stmt, self.variable, self.kind, self.given) and self.expression(value)
            case If(condition=condition, then=then, otherwise=otherwise):
                return self.expression(condition) and all(self.statement(one) for one in (*then, *otherwise))
            case _:
                return False

    def expression(self, expr: Expr) -> bool:
        if not names_in(expr) & {self.variable, *self.assigned}:
            return not has(expr, Checked) and expr.type in (self.kind, BOOL)
        match expr:
            case Load():
                return is_row(expr, self.variable, self.kind, self.given)
            case Var():
                return expr.name != self.variable and expr.type in (self.kind, BOOL)
            case Call(function=function):
                return function in IN_LANES and all(map(self.expression, children(expr)))
            case Binary(op=op) if op not in (ARITHMETIC if expr.type == self.kind else CONDITIONS):
                return False
            case Unary() | Binary() | Compare() | Logical() | Select():
                return all(map(self.expression, children(expr)))
            case _:
                return False
