"""Elements that a condition changes, stored in any case: `if x[i] < a[i]: a[i] = x[i]` in lanes, where each iteration
comes to the element anyway. A store under a mask is slow on many CPUs, and C compilers ask first whether
any lane stores: a jump that the data decide. An iteration that stores its element again as it is harms nobody, as no
other iteration has to do with it. Elements of one or two bytes are read for that: of those there are masked stores only
with AVX-512, and without them all iterations go one by one.

Not where anything could fail, or would be read that is not: then the mask is needed anyway. Of elements that only the
condition leads to, nothing may be known where it is false: held_elements.py.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.certain_accesses import certain_accesses
from loopwright.codegen.chosen_stores import is_inside
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.eager_conditions import is_number, is_simple
from loopwright.ir.nodes import Expr, For, If, Load, Logical, Select, Store, Unary
from loopwright.ir.walk import own_expressions, subexpressions

NARROW = 2  # bytes


def kept_element(stmt: If) -> Store | None:
    """The store that does the same in any case; None for anything else."""
    match stmt:
        case If(then=(Store() as store,), otherwise=()):
            element = Load(store.array, store.index, store.value.type, key=store.key)
            exprs = (stmt.condition, *own_expressions(store))
            for part in (part for expr in exprs for part in subexpressions(expr, Load)):
                if part == element:  # not another one that is equal: of this one it is known whether it is inside
                    return replace(store, value=Select(stmt.condition, store.value, part))
            if element.type.size_bytes <= NARROW:
                return replace(store, value=Select(stmt.condition, store.value, element))
    return None


def _comes_anyway(store: Store, loop: For) -> bool:
    return any((one.array, one.index) == (store.array, store.index) for one in certain_accesses(loop.body))


def keeps_elements(loop: For, given: CodegenInput) -> set[int]:
    """Such statements of a loop in lanes (by their identity)."""
    known = given.facts.loops.get(loop.name)
    if given.check_all or known is None or known.verdict != "parallel":
        return set()
    found = ((stmt, kept_element(stmt)) for stmt in loop.body if isinstance(stmt, If))
    return {
        id(stmt) for stmt, store in found
        if store is not None and _comes_anyway(store, loop) and _is_plain(store, given)
    }  # fmt: skip


def _is_plain(store: Store, given: CodegenInput) -> bool:
    assert isinstance(store.value, Select)
    value = store.value
    return is_inside(store, given) and _cannot_fail(value.condition, given) and is_number(value.then, given)


def _cannot_fail(condition: Expr, given: CodegenInput) -> bool:
    """Whether a condition is of comparisons and flags that are always there."""
    match condition:
        case Logical(left=left, right=right):
            return _cannot_fail(left, given) and _cannot_fail(right, given)
        case Unary(op="not", operand=operand):
            return _cannot_fail(operand, given)
        case Load():
            return is_inside(condition, given)
        case _:
            return is_simple(condition, given)
