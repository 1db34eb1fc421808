"""One store of a number that is chosen, in place of a store in each branch: `if a[i] == b[j]: d[j + 1] = p[j] + 1` and
`else: d[j + 1] = max(p[j + 1], d[j])`, as dynamic programming has it. Data decide, so that a jump is guessed wrong as
often as they change, which costs more than both numbers. And the C compiler keeps in a register what it stores at one
place for the next iteration, which stores in two branches would have to fetch from the cache.

Only of whole numbers, in innermost loops that need their order, and where nothing in either branch can fail. An index
may be inside because of the condition itself: it is no matter of data alone then, and the branches stay.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import NONE, Accesses, CodegenInput
from loopwright.ir.nodes import (
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    Expr,
    If,
    Load,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import INT64
from loopwright.ir.walk import children, expressions, statements, subexpressions

MOST_PARTS = 20  # of all numbers and conditions together, beside those of indices
DEEPEST = 3  # conditions one behind the other
_SIMPLE = ("add", "sub", "mul", "and", "or", "xor", "min", "max")


def chosen_store(stmt: Stmt) -> Store | None:
    """The store of a `Select` that does the same as a statement; None for anything else."""
    match stmt:
        case Store(value=Select()):
            return stmt
        case If():
            return _joined(stmt)
        case _:
            return None


def _joined(stmt: If) -> Store | None:
    then, otherwise = _only_store(stmt.then), _only_store(stmt.otherwise)
    if then is None or otherwise is None or (then.array, then.index) != (otherwise.array, otherwise.index):
        return None
    return replace(otherwise, value=Select(stmt.condition, then.value, otherwise.value))


def _only_store(body: Body) -> Store | None:
    if len(body) != 1:
        return None
    return body[0] if isinstance(body[0], Store) else chosen_store(body[0])


def store_of_levels(stmt: If) -> Store | None:
    """One store of numbers that are at hand, in place of a store in each branch: `o[i] = 255 if x[i] > y else 0`. In
    lanes it needs no mask; and where a loop has none after all, the C compiler makes a jump of two stores, and none of
    one. None for anything else."""
    store = _joined(stmt)
    return store if store is not None and _is_at_hand(store.value, DEEPEST) else None


def _is_at_hand(value: Expr, depth: int) -> bool:
    match value:
        case Select(then=then, otherwise=otherwise):
            return depth > 0 and _is_at_hand(then, 0) and _is_at_hand(otherwise, depth - 1)
        case _:
            return isinstance(value, Const | Var)


def is_better_chosen(stmt: Stmt, body: Body, given: CodegenInput, in_order: bool = True) -> bool:
    """Whether a statement in the body of a loop is written so. in_order: whether the loop needs its order. If not, it
    is where a condition has an index to be checked, which keeps the loop from lanes."""
    store = chosen_store(stmt)
    if store is None or store.value.type != INT64 or given.check_all:
        return False
    if _parts(store.value) > MOST_PARTS or (has(store.value, Load) and not is_inside(store, given)):
        return False
    if not in_order and (not isinstance(store.value, Select) or _is_all_inside(store.value.condition, given)):
        return False
    return _is_choice(store.value, _of_elements(body), given)


def _is_all_inside(condition: Expr, given: CodegenInput) -> bool:
    return all(is_inside(load, given) for load in subexpressions(condition, Load))


def _of_elements(body: Body) -> frozenset[str]:
    """The scalars that lines of a body compute from elements, and are no indices there."""
    found: set[str] = set()
    for stmt in body:
        if isinstance(stmt, Assign) and (names_in(stmt.value) & found or any(subexpressions(stmt.value, Load))):
            found.add(stmt.name)
    accesses: list[Load | Store] = [*expressions(body, Load), *statements(body, Store)]
    return frozenset(found.difference(*(names_in(axis) for access in accesses for axis in access.index)))


def _parts(value: Expr) -> int:
    return 1 if isinstance(value, Load) else 1 + sum(map(_parts, children(value)))


def _is_choice(value: Expr, data: frozenset[str], given: CodegenInput, depth: int = 0) -> bool:
    match value:
        case Select(condition=condition, then=then, otherwise=otherwise):
            is_fine = depth < DEEPEST and _is_of_data(condition, data, given, depth > 0) and _is_simple(then, given)
            return is_fine and _is_choice(otherwise, data, given, depth + 1)
        case _:
            return _is_simple(value, given)


def _is_of_data(condition: Expr, data: frozenset[str], given: CodegenInput, is_inner: bool) -> bool:
    """Whether elements are compared, or scalars computed from them, with others or with numbers of the program text:
    that says nothing of indices that are no elements. is_inner: whether it is asked behind another condition, and must
    not fail."""
    match condition:
        case Load():
            return is_inside(condition, given)
        case Unary(op="not", operand=operand):
            return _is_of_data(operand, data, given, is_inner)
        case Compare(left=left, right=right) if names_in(condition) & data:
            return all(names_in(side) <= data and _is_simple(side, given) for side in (left, right))
        case Compare(left=Load(), right=Load()) if not is_inner:
            return True
        case Compare():
            return compares_elements(condition, given)
        case _:
            return False


def compares_elements(condition: Compare, given: CodegenInput) -> bool:
    """Whether a comparison is of an element with another one, or with a number of the program text."""
    sides = (condition.left, condition.right)
    return any(isinstance(side, Load) for side in sides) and all(
        isinstance(side, Const) or (isinstance(side, Load) and is_inside(side, given)) for side in sides
    )


def _is_simple(value: Expr, given: CodegenInput) -> bool:
    """Whether a whole number is computed in a few cycles, and nothing can fail."""
    match value:
        case Const() | Var():
            return value.type == INT64
        case Load():
            return value.type.is_integer and is_inside(value, given)
        case Cast(operand=Load() as inner):
            return value.type == INT64 and _is_simple(inner, given)
        case Binary(op=op, left=left, right=right):
            return op in _SIMPLE and value.type == INT64 and _is_simple(left, given) and _is_simple(right, given)
        case _:
            return False


def is_inside(access: Load | Store, given: CodegenInput, freed: Accesses = NONE) -> bool:
    """Whether an access is proven to be inside, whatever elements are: no scalar of its index may be one; or freed of
    its check."""
    assigned = names_assigned(given.kernel.body)
    for axis, (index, bounds) in enumerate(zip(access.index, given.bounds_of(access), strict=True)):
        if (id(access), axis) in freed:
            continue
        if bounds.kind != "proven" or has(index, Load, Select) or names_in(index) & assigned:
            return False
    return True
