"""Arithmetic with whole arrays: NumPy's broadcasting, loops that write an array, arrays made of expressions.

An expression of arrays is one loop nest, written where its elements go to; nothing in between is stored. Where the
target is read at other places than it is written, NumPy's answer needs an array of its own, and gets one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

from loopwright.frontend.arrays import refuse_read_only
from loopwright.frontend.complex_pairs import is_nonzero
from loopwright.frontend.context import Context
from loopwright.frontend.convert import stored
from loopwright.frontend.operators import binary_operation, root
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Elementwise,
    Items,
    Literal,
    Number,
    Value,
    View,
    describe,
)
from loopwright.frontend.views import (
    ONE,
    ZERO,
    Size,
    as_size,
    as_view,
    at_most_one,
    clipped,
    element_at,
    in_range,
    is_array,
    place_of,
    size_of,
    steady,
)
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Binary,
    BinaryOp,
    Checked,
    Compare,
    Const,
    Expr,
    For,
    Load,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.walk import expressions, statements

Scalars = Callable[..., Value]
_INDICES = "ijklmn"


def any_array(*values: Value) -> bool:
    """Whether some operand is an array, so that the operation is done for each element."""
    return any(is_array(value) for value in values)


def map_elements(cx: Context, function: Scalars, values: Sequence[Value], node: ast.AST) -> Elementwise:
    """`function` of each element of the operands, which are broadcast; it is given the context and numbers."""
    held = [steady(cx, value, node) if isinstance(value, ArrayLike) and is_array(value) else _held(cx, value, node)
            for value in values]  # fmt: skip
    arrays = [value for value in held if isinstance(value, ArrayLike)]
    shape = broadcast(cx, [array.shape for array in arrays], node)
    for array in arrays:
        _test_constant_indices(cx, array, node)
    readers = [reader(cx, value, len(shape), node) for value in held]

    def at(cx: Context, index: Sequence[Expr]) -> Literal | Number:
        result = function(cx, *(read(cx, index) for read in readers))
        assert isinstance(result, Literal | Number)
        return result

    reads = frozenset().union(*(reads_of(array) for array in arrays))
    return made(cx, shape, at, reads)


def _test_constant_indices(cx: Context, array: ArrayLike, node: ast.AST) -> None:
    """A row such as `a[0]` that does not exist is an error even where none of its elements is read, as there are none.
    In a loop that is not told: the test would stand between it and the loops over the elements."""
    looping = any(" " not in one for frame in cx.active for one in frame.loops)  # others are written out
    if isinstance(array, Array) and not looping:
        for index, size in zip(array.index, array.sizes, strict=False):
            if isinstance(index, Const):
                in_range(cx, index, size, node)


def binary(cx: Context, op: BinaryOp, left: Value, right: Value, node: ast.AST) -> Value:
    """`left op right`, for each element where one of them is an array."""
    if op == "pow" and is_array(left) and left.element.is_float and right == Literal(0.5):
        return map_elements(cx, lambda cx, a: root(cx, a, node), [left], node)
    if any_array(left, right):
        return map_elements(cx, lambda cx, a, b: binary_operation(cx, op, a, b, node), [left, right], node)
    return binary_operation(cx, op, left, right, node)


def made(
    cx: Context, shape: tuple[Size, ...], at: Callable[[Context, Sequence[Expr]], Literal | Number],
    reads: frozenset[str],
) -> Elementwise:  # fmt: skip
    """An array of computed elements; its type is that of any element."""
    with cx.inner_body():
        sample = at(cx, [Var(f"?{k}", INT64) for k in range(len(shape))])
    return Elementwise(shape, sample.number_type.type, at, reads)


def reads_of(array: ArrayLike) -> frozenset[str]:
    """The names of the arrays that elements are read from."""
    match array:
        case Elementwise():
            return array.reads
        case View():
            return frozenset({array.array.name})
        case Array():
            return frozenset({array.name})


def _held(cx: Context, value: Value, node: ast.AST) -> Value:
    """An operand that is no array, computed once."""
    if isinstance(value, Number):
        expr = value.expr if cx.is_stable(value.expr) else cx.temporary(value.expr, cx.at(node))
        return Number(expr, value.weak)
    if isinstance(value, Array):  # of rank 0
        return Number(cx.temporary(Load(value.name, value.index, value.element, at=cx.at(node)), cx.at(node)), False)
    if isinstance(value, Literal):
        return value
    raise cx.error(node, "an array and something that is no number", f"this is {describe(value)}")


def reader(
    cx: Context, value: Value, rank: int, node: ast.AST
) -> Callable[[Context, Sequence[Expr]], Literal | Number]:
    """What gives an operand's element at an index of an array of `rank` axes that it is broadcast to."""
    if isinstance(value, ArrayLike):
        array, first = value, rank - len(value.shape)
        stretched = [at_most_one(cx, size_of(size)) for size in array.shape]

        def read(cx: Context, index: Sequence[Expr]) -> Literal | Number:
            own = [ZERO if one else part for part, one in zip(index[first:], stretched, strict=True)]
            number = element_at(cx, array, own, node)
            if isinstance(number, Literal):
                return number
            return replace(number, weak=False)

        return read
    assert isinstance(value, Literal | Number)
    number = value
    return lambda cx, index: number


def broadcast(cx: Context, shapes: Sequence[Sequence[Size]], node: ast.AST) -> tuple[Size, ...]:
    """The shape that arrays have together. Sizes that must agree and may not are compared when the code runs."""
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(*[Literal(1)] * (rank - len(shape)), *shape) for shape in shapes]
    return tuple(reduce(lambda a, b: _same_size(cx, a, b, node), sizes) for sizes in zip(*padded, strict=True))


def _same_size(cx: Context, left: Size, right: Size, node: ast.AST) -> Size:
    if left == right or right == Literal(1):
        return left
    if left == Literal(1):
        return right
    few, other = (left, right) if at_most_one(cx, size_of(left)) else (right, left)
    if at_most_one(cx, size_of(few)):
        if at_most_one(cx, size_of(other)):
            return as_size(Binary("min", size_of(few), size_of(other)))
        _require_stretched(cx, few, other, node)
        return other
    require_same(cx, left, right, node)
    return left if isinstance(left, Literal) else right if isinstance(right, Literal) else left


def _require_stretched(cx: Context, few: Size, size: Size, node: ast.AST) -> None:
    """Test that an axis of at most one element has one, or as many as it is stretched to."""
    a, b = (size_of(clipped(cx, one)) for one in (few, size))
    check(cx, Binary("or", Compare("eq", a, ONE), Compare("eq", a, b)), "shape", node)


def require_same(cx: Context, left: Size, right: Size, node: ast.AST, is_mask: bool = False) -> None:
    """Test that two sizes agree: now where they are known, else when the code runs. is_mask: `right` is a mask's."""
    a, b = (size_of(clipped(cx, size)) for size in (left, right))
    if a == b:
        return
    if isinstance(a, Const) and isinstance(b, Const):
        problem = "IndexError: boolean index did not match"
        if not is_mask:
            problem = "ValueError: operands could not be broadcast together"
        raise cx.error(node, f"operands of sizes {a.value} and {b.value} do not go together",
                       f"NumPy raises {problem}")  # fmt: skip
    same: Expr = Compare("eq", a, b)
    if is_mask and cx.catching:  # NumPy takes one without elements for any axis
        same = Binary("or", Compare("eq", b, ZERO), same)
    check(cx, same, "index" if is_mask else "shape", node)


def check(cx: Context, condition: Expr, kind: str, node: ast.AST) -> None:
    """End the call with an error where a condition does not hold."""
    at = cx.at(node)
    cx.temporary(Checked(Const(0, INT64), condition, kind, at=at), at)  # type: ignore[arg-type]


# ---- loop nests -----------------------------------------------------------------------------------------------


def nest(cx: Context, shape: Sequence[Size], body: Callable[[list[Expr]], None], node: ast.AST) -> None:
    """Loops over all elements of a shape, none over an axis of size 1; `body` writes what is done for an index."""
    long = [size for size in shape if size != Literal(1)]
    names = [cx.new_name(_INDICES[k % len(_INDICES)]) for k in range(len(long))]
    cx.stable.update(names)
    cx.natural.update(names)
    with cx.inner_body(nested=bool(names)) as inner:
        rest = iter(names)
        body([ZERO if size == Literal(1) else Var(next(rest), INT64) for size in shape])
    statements: list[Stmt] = inner
    for name, size in zip(reversed(names), reversed(long), strict=True):
        statements = [For(name, ZERO, size_of(size), ONE, tuple(statements), at=cx.at(node))]
    cx.body += statements


def assign_elements(cx: Context, target: View, value: Value, at: ast.AST, value_node: ast.AST) -> None:
    """`target[...] = value`, for a number or for an array that is broadcast to the target's shape."""
    refuse_read_only(cx, target.array, at)
    steady_target = steady(cx, target, at)
    assert isinstance(steady_target, View)
    target = steady_target
    value = steady(cx, value, value_node) if is_array(value) else _held(cx, value, value_node)
    source = value if isinstance(value, ArrayLike) else None
    if source is not None:
        source = _without_leading_ones(cx, source, len(target.shape), value_node)
        value = source
        for own, given in zip(target.shape[len(target.shape) - len(source.shape) :], source.shape, strict=True):
            if given == Literal(1):
                continue
            if given != own and at_most_one(cx, size_of(given)) and not at_most_one(cx, size_of(own)):
                _require_stretched(cx, given, own, value_node)
            else:
                require_same(cx, own, given, value_node)
    read = reader(cx, value, len(target.shape), value_node)
    start = len(cx.body)
    before = set(cx.names)
    nest(cx, target.shape, lambda index: store_element(cx, target, index, read(cx, index), at, value_node), at)
    if source is not None and meets_itself(cx, target, cx.body[start:]):
        del cx.body[start:]
        cx.names = before
        copy = as_view(materialised(cx, source, value_node))
        read = reader(cx, copy, len(target.shape), value_node)
        nest(cx, target.shape, lambda index: store_element(cx, target, index, read(cx, index), at, value_node), at)


def _without_leading_ones(cx: Context, source: ArrayLike, rank: int, node: ast.AST) -> ArrayLike:
    """An array of no more axes than its target has: NumPy leaves out leading ones of size 1."""
    extra = len(source.shape) - rank
    if extra <= 0:
        return source
    for size in source.shape[:extra]:
        require_same(cx, size, Literal(1), node)
    inner = source
    return Elementwise(
        source.shape[extra:], source.element,
        lambda cx, index: element_at(cx, inner, [*[ZERO] * extra, *index], node), reads_of(source),
    )  # fmt: skip


def store_element(
    cx: Context, target: View, index: Sequence[Expr], value: Literal | Number, at: ast.AST, value_node: ast.AST
) -> None:
    """Write an element of a target, converted to its type."""
    converted = stored(cx, value, target.element, value_node)
    cx.emit(Store(target.array.name, place_of(target, index), converted, at=cx.at(at)))


def meets_itself(cx: Context, target: View, written: Sequence[Stmt]) -> bool:
    """Whether these loops read what they write, at other places than where they write it at the time."""
    stores = [stmt for stmt in _stores(written) if stmt.array == target.array.name]
    places = {stmt.index for stmt in stores}
    shared = cx.session.signature.overlap and _is_argument(cx, target.array.name)
    changing = {loop.name for loop in statements(tuple(written), For)} | names_assigned(tuple(written))
    for load in expressions(tuple(written), Load):
        if load.array == target.array.name and (
            len(places) != 1 or not all(_is_there_or_never(load.index, place, changing) for place in places)
        ):
            return True
        if shared and load.array != target.array.name and _is_argument(cx, load.array):
            return True
    return False


def _is_there_or_never(read: Sequence[Expr], written: Sequence[Expr], changing: set[str]) -> bool:
    """Whether an iteration reads the element that it writes, or else elements that none writes: rows that stay the same
    meanwhile are one and the same, or have nothing in common (`a[i] -= f * a[k]`)."""

    def stays(place: Expr) -> bool:
        return not has(place, Load) and not names_in(place) & changing

    return all(mine == its or (stays(mine) and stays(its)) for mine, its in zip(read, written, strict=True))


def may_meet(cx: Context, target: View, source: ArrayLike) -> bool:
    """Whether writing the target may change elements that the source reads."""
    name, reads = target.array.name, reads_of(source)
    if name in reads:
        return True
    shared = cx.session.signature.overlap and _is_argument(cx, name)
    return shared and any(_is_argument(cx, read) for read in reads)


def _is_argument(cx: Context, name: str) -> bool:
    known = cx.parameters.values()
    return any(isinstance(param, ArrayParam) and param.name == name for param in known)


def _stores(statements: Sequence[Stmt]) -> list[Store]:
    found: list[Store] = []
    for stmt in statements:
        if isinstance(stmt, Store):
            found.append(stmt)
        for inner in ("body", "then", "otherwise"):
            found += _stores(getattr(stmt, inner, ()))
    return found


# ---- arrays of their own --------------------------------------------------------------------------------------


def new_array(
    cx: Context, shape: Sequence[Size], element: Scalar, node: ast.AST, hint: str = "", fill: Const | None = None
) -> Array:
    """A fresh local array."""
    sizes = tuple(_kept_size(cx, clipped(cx, size), node) for size in shape)
    name = cx.new_name(cx.frame.prefix + (hint or cx.target_names.get(id(node), "array")))
    statement = Allocate(name, element, tuple(size_of(size) for size in sizes), fill, at=cx.at(node))
    cx.emit(statement)
    cx.allocations[name] = (statement, cx.depth)
    cx.made_in[name] = cx.scopes
    return Array(name, element, sizes)


def _kept_size(cx: Context, size: Size, node: ast.AST) -> Size:
    """A size that can be read as long as its array."""
    if isinstance(size, Literal):
        return size
    kept = cx.once(size.expr, cx.at(node))
    if isinstance(kept, Var) and kept is not size.expr:
        cx.bounds.setdefault(kept.name, size.expr)
    return Number(kept, weak=True)


def materialised(cx: Context, value: ArrayLike, node: ast.AST, element: Scalar | None = None) -> Array:
    """A fresh array with the elements of another one, or of an expression. C order."""
    value = steady(cx, value, node)
    result = new_array(cx, value.shape, element or value.element, node)
    target = as_view(result)
    nest(
        cx, result.shape,
        lambda index: store_element(cx, target, index, element_at(cx, value, index, node), node, node), node,
    )  # fmt: skip
    return result


def kept_array(cx: Context, value: Value, node: ast.AST) -> Value:
    """A value that a name can stand for: an expression of arrays is computed into an array of its own."""
    if isinstance(value, Elementwise):
        return materialised(cx, value, node)
    if isinstance(value, Items):
        return replace(value, items=tuple(kept_array(cx, item, node) for item in value.items))
    return value


def as_bool(cx: Context, number: Literal | Number) -> Expr:
    """An element as a condition."""
    if isinstance(number, Literal):
        return Const(bool(number.value), BOOL)
    return is_nonzero(number.expr)
