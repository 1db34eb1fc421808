"""Parts of arrays: slices, new axes, axes in another order. They are views, as NumPy's are: nothing is copied."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeGuard

from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Elementwise,
    Fixed,
    Items,
    Literal,
    Mixed,
    Number,
    Place,
    Records,
    SliceIndex,
    Value,
    View,
)
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Load,
    Location,
    Select,
    Unary,
    Var,
)
from loopwright.ir.types import BOOL, INT64
from loopwright.ir.walk import subexpressions

Size = Literal | Number
ZERO, ONE = Const(0, INT64), Const(1, INT64)


def is_array(value: Value | None) -> TypeGuard[ArrayLike]:
    """Whether a value has elements that NumPy computes with one by one."""
    return isinstance(value, View | Elementwise) or (isinstance(value, Array) and bool(value.shape))


def as_view(array: Array) -> View:
    """The same part of an array, told axis by axis."""
    places = (*array.index, *(Along(k, ZERO, ONE) for k in range(len(array.shape))))
    return View(replace(array, index=()), places, array.shape)


def add(left: Expr, right: Expr) -> Expr:
    """left + right, constants folded."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(int(left.value) + int(right.value), INT64)
    if left == ZERO:
        return right
    if isinstance(right, Const):
        if right.value == 0:
            return left
        if isinstance(left, Binary) and left.op in ("add", "sub") and isinstance(left.right, Const):
            known = int(left.right.value) if left.op == "add" else -int(left.right.value)
            return add(left.left, Const(known + int(right.value), INT64))
        if int(right.value) < 0:
            return Binary("sub", left, Const(-int(right.value), INT64))
    return Binary("add", left, right)


def subtract(left: Expr, right: Expr) -> Expr:
    """left - right, constants folded."""
    if isinstance(right, Const):
        return add(left, Const(-int(right.value), INT64))
    if left == right:
        return ZERO
    if isinstance(left, Binary) and left.op in ("add", "sub") and isinstance(left.right, Const) and left.left == right:
        return Const(int(left.right.value) if left.op == "add" else -int(left.right.value), INT64)
    if isinstance(right, Binary) and right.op in ("add", "sub") and isinstance(right.right, Const):
        known = int(right.right.value) if right.op == "add" else -int(right.right.value)
        return add(subtract(left, right.left), Const(-known, INT64))
    if isinstance(left, Binary) and left.op == "add" and left.left == right:  # (k + w) - k
        return left.right
    return Binary("sub", left, right)


def multiply(left: Expr, right: Expr) -> Expr:
    """left * right, constants folded."""
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(int(left.value) * int(right.value), INT64)
    if right == ONE:
        return left
    if left == ONE:
        return right
    return ZERO if ZERO in (left, right) else Binary("mul", left, right)


def size_of(size: Size) -> Expr:
    """A size as it is kept: below 0 where an axis has no elements."""
    return Const(int(size.value), INT64) if isinstance(size, Literal) else size.expr


def as_size(expr: Expr) -> Size:
    """A size, known now where it is a constant."""
    return Literal(int(expr.value)) if isinstance(expr, Const) else Number(expr, weak=True)


def clipped(cx: Context, size: Size) -> Size:
    """A size as the user may see it: 0 where an axis has no elements."""
    expr = size_of(size)
    if isinstance(expr, Const):
        return Literal(max(int(expr.value), 0))
    return size if never_negative(cx, expr) else Number(Binary("max", expr, ZERO), weak=True)


def shape_of(cx: Context, array: ArrayLike | Records) -> tuple[Size, ...]:
    """The sizes of an array as the user may see them; those of memory are never below 0."""
    if isinstance(array, Array | Records):
        return array.shape
    return tuple(clipped(cx, size) for size in array.shape)


def never_negative(cx: Context, expr: Expr) -> bool:
    """Whether an int64 is known to be 0 or more, from how it is made."""
    match expr:
        case Const(value=value):
            return int(value) >= 0
        case Dim():
            return True
        case Var(name=name):
            return name in cx.natural
        case Binary(op="add" | "mul" | "floordiv" | "min", left=left, right=right):
            return never_negative(cx, left) and never_negative(cx, right)
        case Binary(op="max", left=left, right=right):
            return never_negative(cx, left) or never_negative(cx, right)
        case Binary(op="mod", right=Const(value=value)):
            return int(value) > 0
        case Binary(op="sub", right=Const()):
            return (least := known_least(cx, expr)) is not None and least >= 0
        case _:
            return False


def known_least(cx: Context, expr: Expr) -> int | None:
    """What an int64 is known not to be below."""
    match expr:
        case Const(value=value):
            return int(value)
        case Var(name=name) if name in cx.least:
            return cx.least[name]
        case Binary(op="add" | "sub" as op, left=left, right=Const(value=value)):
            least = known_least(cx, left)
            return None if least is None else least + (int(value) if op == "add" else -int(value))
        case _:
            return 0 if never_negative(cx, expr) else None


def at_most_one(cx: Context, size: Expr) -> bool:
    """Whether a size is known to be 1 or less, from how it is made: `a[:1]`, `a[i:i + 1]`, `a[-1:]`."""
    most = _most(cx, size)
    return most is not None and most <= 1


def _most(cx: Context, expr: Expr) -> int | None:
    """What an int64 is known not to be above."""
    match expr:
        case Const(value=value):
            return int(value)
        case Var(name=name):
            return _most(cx, cx.bounds[name]) if name in cx.bounds else None
        case Binary(op="min", left=left, right=right):
            return min((one for one in (_most(cx, left), _most(cx, right)) if one is not None), default=None)
        case Binary(op="max", left=left, right=right):
            most, other = _most(cx, left), _most(cx, right)
            return None if most is None or other is None else max(most, other)
        case Binary(op="floordiv", left=left, right=Const(value=value)) if int(value) > 0:
            most = _most(cx, left)
            return None if most is None else most // int(value)
        case Binary(op="add" | "sub" as op, left=left, right=Const(value=value)):
            most = _most(cx, left)
            return None if most is None else most + (int(value) if op == "add" else -int(value))
        case Binary(op="sub", left=left, right=Binary(op="max", left=x, right=y)):
            return _least(subtract(left, x), subtract(left, y))
        case Binary(op="sub", left=Binary(op="min", left=x, right=y), right=right):
            return _least(subtract(x, right), subtract(y, right))
        case _:
            return None


def _least(*exprs: Expr) -> int | None:
    return min((int(one.value) for one in exprs if isinstance(one, Const)), default=None)


# ---- subscripts -----------------------------------------------------------------------------------------------


def is_plain(indices: Sequence[Value]) -> bool:
    """Whether all indices are numbers, so that they choose from the first axes."""
    return all(isinstance(index, Literal | Number) for index in indices)


def expanded(cx: Context, rank: int, indices: Sequence[Value], at: ast.AST) -> list[Value]:
    """The indices with `...` written out. Raises KernelError for too many of them."""
    taken = sum(_axes_taken(index) for index in indices)
    if taken > rank:
        axes = "1 axis" if rank == 1 else f"{rank} axes"
        raise cx.error(at, f"too many indices: {taken} for {axes}")
    rest: list[Value] = [SliceIndex(None, None, None)] * (rank - taken)
    places = [k for k, index in enumerate(indices) if isinstance(index, Fixed) and index.value is ...]
    if len(places) > 1:
        raise cx.error(at, "an index has one '...' only")
    if not places:
        return [*indices, *rest]
    return [*indices[: places[0]], *rest, *indices[places[0] + 1 :]]


def _axes_taken(index: Value) -> int:
    if isinstance(index, Fixed) and (index.value is None or index.value is ...):
        return 0
    if is_array(index) and isinstance(index, ArrayLike) and index.element.kind == "bool":
        return len(index.shape)
    return 1


def sliced(cx: Context, base: View, indices: Sequence[Value], nodes: Sequence[ast.expr], at: ast.AST) -> View:
    """`base[indices]` for numbers, slices and None, one for each axis of the base."""
    chosen: list[Expr | Along] = []  # for each axis of the base
    shape: list[Size] = []
    axis = 0
    for k, index in enumerate(indices):
        place = nodes[k] if k < len(nodes) else at
        if isinstance(index, Fixed) and index.value is None:
            shape.append(Literal(1))
            continue
        size = base.shape[axis]
        axis += 1
        match index:
            case SliceIndex():
                start, step, count = slice_of(cx, index, size, place)
                chosen.append(Along(len(shape), start, step))
                shape.append(count)
            case _:
                chosen.append(in_range(cx, as_index(cx, index, place), size, place))
    places = [moved(part, lambda along: _through(along, chosen[along.axis])) for part in base.places]
    return View(base.array, tuple(places), tuple(shape))


def _through(part: Along, choice: Expr | Along) -> Expr | Along:
    """Where a place of a view's view is in the array."""
    if isinstance(choice, Along):
        return Along(choice.axis, add(part.start, multiply(choice.start, part.step)), multiply(choice.step, part.step))
    return add(part.start, multiply(choice, part.step))


def in_range(cx: Context, index: Expr, size: Size, node: ast.AST) -> Expr:
    """An index of a view as a number from 0 on. One that is out of range is an error now, or of the run."""
    end = size_of(size)
    if isinstance(index, Const) and int(index.value) >= 0 and isinstance(size, Literal) and index.value < size.value:
        return index
    index = cx.once(index, cx.at(node))
    if isinstance(index, Const):
        value = int(index.value)
        position = index if value >= 0 else add(end, index)
        inside: Expr = Compare("gt", end, Const(value if value >= 0 else -value - 1, INT64))
    else:
        position = index if never_negative(cx, index) else Select(Compare("lt", index, ZERO), add(end, index), index)
        low = Compare("ge", index, Unary("neg", end))
        inside = Compare("lt", index, end)
        if not never_negative(cx, index):
            inside = Binary("and", low, inside)
    tested = Checked(position, inside, "index", at=cx.at(node))
    return _tested_before(cx, tested) or cx.temporary(tested, cx.at(node))


def _tested_before(cx: Context, tested: Checked) -> Var | None:
    """The same index where it was tested in this body before: what `a[i] += row` reads and writes is one place then."""
    if not all(part.name in cx.stable for part in subexpressions(tested, Var)):
        return None
    same = (stmt for stmt in cx.body if isinstance(stmt, Assign) and stmt.name in cx.stable and stmt.value == tested)
    return next((Var(stmt.name, INT64) for stmt in same), None)


def slice_of(cx: Context, index: SliceIndex, size: Size, node: ast.AST) -> tuple[Expr, Expr, Size]:
    """Where a slice begins, its step, and how many elements it has, as Python counts them."""
    step = _constant(cx, index.step, node)
    end = size_of(size)
    if isinstance(step, Expr):
        return _slice_by(cx, index, step, end, node)
    if step < 0:
        start = _bound(cx, index.lower, end, subtract(end, ONE), node, most=subtract(end, ONE))
        stop = _bound(cx, index.upper, end, Const(-1, INT64), node, least=Const(-1, INT64))
        return start, Const(step, INT64), as_size(_steps(subtract(start, stop), -step))
    start = _bound(cx, index.lower, end, ZERO, node, least=ZERO)
    stop = _bound(cx, index.upper, end, end, node, most=end)
    return start, Const(step, INT64), as_size(_steps(subtract(stop, start), step))


def _steps(span: Expr, step: int | Expr) -> Expr:
    """How many steps fit into a span, 0 or less where it is empty."""
    if isinstance(step, Expr):
        return Binary("floordiv", add(span, subtract(step, ONE)), step)
    if step == 1:
        return span
    more = add(span, Const(step - 1, INT64))
    if isinstance(more, Const):
        return Const(int(more.value) // step, INT64)
    return Binary("floordiv", more, Const(step, INT64))


def _slice_by(cx: Context, index: SliceIndex, step: Expr, end: Expr, node: ast.AST) -> tuple[Expr, Expr, Size]:
    """The same for a step that the code computes: from the first or from the last element on."""
    at = cx.at(node)
    if never_negative(cx, step):
        start = _bound(cx, index.lower, end, ZERO, node, least=ZERO)
        stop = _bound(cx, index.upper, end, end, node, most=end)
        return start, step, _counted(cx, _steps(subtract(stop, start), step), end, at)
    back = Compare("lt", step, ZERO)
    least = cx.temporary(Select(back, Const(-1, INT64), ZERO), at)
    most = cx.temporary(Select(back, subtract(end, ONE), end), at)

    def bound(value: Value | None, otherwise: Expr) -> Expr:
        if value is None or (isinstance(value, Fixed) and value.value is None):
            return otherwise
        given = cx.once(as_index(cx, value, node, "a bound of a slice"), at)
        place = Select(Compare("lt", given, ZERO), add(end, given), given)
        return cx.temporary(Binary("min", Binary("max", place, least), most), at)

    start, stop = bound(index.lower, Select(back, most, least)), bound(index.upper, Select(back, least, most))
    span = Select(back, subtract(start, stop), subtract(stop, start))
    return cx.temporary(start, at), step, _counted(cx, _steps(span, Unary("abs", step)), end, at)


def _counted(cx: Context, count: Expr, most: Expr, at: Location) -> Size:
    result = cx.temporary(count, at)
    cx.bounds[result.name] = most
    return Number(result, weak=True)


def _constant(cx: Context, step: Value | None, node: ast.AST) -> int | Expr:
    """The step of a slice: one that is known, or what computes it."""
    match step:
        case None | Fixed(value=None):
            return 1
        case Literal(value=bool()):
            raise cx.error(node, "a step must be an integer")
        case Literal(value=int() as known) if known:
            return known
        case Literal(value=0):
            raise cx.error(node, "slice step cannot be zero")
        case _:
            found = cx.once(as_index(cx, step, node, "the step of a slice"), cx.at(node))
            if isinstance(found, Const):
                return _constant(cx, Literal(int(found.value)), node)
            zero = "ValueError: slice step cannot be zero"
            tested = Checked(found, Compare("ne", found, ZERO), "raised", zero, at=cx.at(node))
            result = cx.temporary(tested, cx.at(node))
            if never_negative(cx, found):
                cx.natural.add(result.name)
            return result


def _bound(
    cx: Context, value: Value | None, end: Expr, otherwise: Expr, node: ast.AST,
    *, least: Expr | None = None, most: Expr | None = None,
) -> Expr:  # fmt: skip
    """A bound of a slice as a position, kept within the array at one end: beyond the other, the slice is empty, and its
    size below 0 says so."""
    if value is None or (isinstance(value, Fixed) and value.value is None):
        return otherwise
    index = as_index(cx, value, node, "a bound of a slice")
    if not isinstance(index, Const):
        index = cx.once(index, cx.at(node))
    if never_negative(cx, index):
        return index if most is None else _extreme("min", index, most)
    if isinstance(index, Const):
        return add(end, index) if least is None else _extreme("max", add(end, index), least)
    position: Expr = Select(Compare("lt", index, ZERO), add(end, index), index)
    position = position if least is None else Binary("max", position, least)
    position = position if most is None else Binary("min", position, most)
    result = cx.temporary(position, cx.at(node))
    if least is not None:
        cx.natural.add(result.name)
    if most is not None:
        cx.bounds[result.name] = most
    return result


def _extreme(op: str, left: Expr, right: Expr) -> Expr:
    if left == right:
        return left
    if isinstance(left, Const) and isinstance(right, Const):
        return Const((min if op == "min" else max)(int(left.value), int(right.value)), INT64)
    gap = subtract(left, right)
    if isinstance(gap, Const):
        return left if (int(gap.value) < 0) == (op == "min") else right
    return Binary(op, left, right)  # type: ignore[arg-type]


def steady(cx: Context, array: ArrayLike, node: ast.AST) -> ArrayLike:
    """The same array, with indices that may be evaluated any number of times."""
    at = cx.at(node)
    match array:
        case Array(index=index):
            return replace(array, index=tuple(cx.once(expr, at) for expr in index))
        case View(places=places):
            return replace(array, places=tuple(cx.once(p, at) if isinstance(p, Expr) else p for p in places))
        case Elementwise():
            return array


# ---- elements -------------------------------------------------------------------------------------------------


def element_at(cx: Context, array: ArrayLike, index: Sequence[Expr], node: ast.AST) -> Literal | Number:
    """The element at an index that is known to be in range."""
    match array:
        case Elementwise():
            return array.at(cx, index)
        case Array():
            array = as_view(array)
    place = place_of(array, index)
    return Number(Load(array.array.name, place, array.element, at=cx.at(node)), array.array.weak)


def place_of(view: View, index: Sequence[Expr]) -> tuple[Expr, ...]:
    """Where an element of a view is in its array."""
    places = [moved(part, lambda along: _at(along, index[along.axis])) for part in view.places]
    return tuple(place for place in places if isinstance(place, Expr))


def _at(along: Along, index: Expr) -> Expr:
    return add(multiply(index, along.step), along.start)


def moved(place: Place, how: Callable[[Along], Expr | Along]) -> Place:
    """A place of a view with each axis as `how` has it: another axis, or an index."""
    match place:
        case Along():
            return how(place)
        case Mixed():
            return _folded(replace(place, parts=tuple(how(p) if isinstance(p, Along) else p for p in place.parts)))
        case _:
            return place


def _folded(mixed: Mixed) -> Place:
    """A number where no axis is left."""
    exprs = [part for part in mixed.parts if isinstance(part, Expr)]
    if len(exprs) < len(mixed.parts):
        return mixed
    total: Expr = ZERO
    for expr in exprs:
        total = add(total, expr)
    if mixed.divide != ONE:
        total = Binary("floordiv", total, mixed.divide)
    if mixed.modulo is not None:
        total = Binary("mod", total, mixed.modulo)
    return add(multiply(total, mixed.step), mixed.start)


def size_of_all(sizes: Sequence[Size]) -> Expr:
    """How many elements an array of these sizes has."""
    result: Expr = ONE
    for size in sizes:
        result = multiply(result, size_of(size))
    return result


def reshaped_view(cx: Context, array: View, shape: Sequence[Size]) -> View | None:
    """The elements of a view in C order in another shape; None where NumPy copies them."""
    weights = [size_of_all(shape[k + 1 :]) for k in range(len(shape))]
    axes = [Along(k, ZERO, weight) for k, weight in enumerate(weights)]
    if len(array.shape) == 1:
        return View(array.array, tuple(_spread(place, axes) for place in array.places), tuple(shape))
    if (flat := _flat_place(array)) is not None:
        spread = tuple(replace(flat, parts=tuple(axes)) if place is flat else place for place in array.places)
        return View(array.array, spread, tuple(shape))
    if not _is_contiguous(cx, array):
        return None
    places: list[Place] = []
    for place in array.places:
        if not isinstance(place, Along):
            places.append(place)
            continue
        divide = size_of_all(array.shape[place.axis + 1 :])
        modulo = size_of(array.shape[place.axis]) if place.axis else None
        places.append(Mixed(tuple(axes), divide, modulo, place.start, place.step))
    return View(array.array, tuple(places), tuple(shape))


def _spread(place: Place, axes: Sequence[Along]) -> Place:
    """A place of a view of one axis, with that axis made of several."""
    match place:
        case Along(start=start, step=step):
            if len(axes) == 1:
                return place
            return Mixed(tuple(axes), ONE, None, start, step)
        case Mixed(parts=parts):
            spread: list[Expr | Along] = []
            for part in parts:
                if isinstance(part, Along):
                    spread += [part.start, *(replace(one, step=multiply(one.step, part.step)) for one in axes)]
                else:
                    spread.append(part)
            return replace(place, parts=tuple(spread))
        case _:
            return place


def _flat_place(array: View) -> Mixed | None:
    """The place of a view that is one axis of an array in another shape, if it is one."""
    found = [place for place in array.places if not isinstance(place, Expr)]
    weights = [size_of_all(array.shape[k + 1 :]) for k in range(len(array.shape))]
    axes = tuple(Along(k, ZERO, weight) for k, weight in enumerate(weights))
    if len(found) != 1 or not isinstance(found[0], Mixed) or found[0].parts != axes:
        return None
    return found[0] if found[0].divide == ONE and found[0].modulo is None else None


def _is_contiguous(cx: Context, array: View) -> bool:
    """Whether a view's elements lie one after another in memory, in C order."""
    if array.array.name not in cx.allocations:
        params = [one for one in cx.parameters.values() if isinstance(one, ArrayParam)]
        if not any(one.name == array.array.name and one.layout == "C" and not one.tail for one in params):
            return False
    axes = [place for place in array.places if not isinstance(place, Expr)]
    if list(array.places[len(array.places) - len(axes) :]) != axes or len(axes) != len(array.shape):
        return False
    for k, place in enumerate(axes):
        if not isinstance(place, Along) or place.axis != k or place.step != ONE:
            return False
        size = array.array.sizes[len(array.places) - len(axes) + k]
        if k and (place.start != ZERO or array.shape[k] != size):
            return False
    return True


def unravelled(number: Expr, shape: Sequence[Size]) -> list[Expr]:
    """The index of an element that is at a number, in C order."""
    if len(shape) == 1:
        return [number]
    result: list[Expr] = []
    for size in reversed(shape[1:]):
        result.append(Binary("mod", number, size_of(size)))
        number = Binary("floordiv", number, size_of(size))
    return [number, *reversed(result)]


def transposed(cx: Context, array: View, order: Sequence[int]) -> View:
    """The view with axis `order[k]` of the array as its axis k."""
    where = {axis: k for k, axis in enumerate(order)}
    places = tuple(moved(part, lambda along: replace(along, axis=where[along.axis])) for part in array.places)
    return View(array.array, places, tuple(array.shape[axis] for axis in order))


def rows_of(cx: Context, array: ArrayLike, index: Expr, node: ast.AST) -> Value:
    """`array[index]` for an index that is known to be in range: an element, or what is left of the array."""
    if len(array.shape) == 1:
        return element_at(cx, array, [index], node)
    if isinstance(array, Array):
        return replace(array, index=(*array.index, index))
    if isinstance(array, View):

        def inside(along: Along) -> Expr | Along:
            return replace(along, axis=along.axis - 1) if along.axis else _at(along, index)

        places = tuple(moved(part, inside) for part in array.places)
        return View(array.array, places, array.shape[1:])
    inner = array

    def at(cx: Context, rest: Sequence[Expr]) -> Literal | Number:
        return inner.at(cx, (index, *rest))

    return Elementwise(array.shape[1:], array.element, at, array.reads)


def items_of(cx: Context, array: ArrayLike, count: int, node: ast.AST) -> Items:
    """`x, y, z = array`. A size that is another one is an error of the run: code that never runs may say so."""
    size = array.shape[0]
    known = int(size.value) if isinstance(size, Literal) else None
    if known is not None and known < 1:
        raise cx.error(node, f"{known} values cannot be unpacked into {count} names")
    if known != count:
        same = Compare("eq", size_of(size), Const(count, INT64)) if known is None else Const(False, BOOL)
        cx.temporary(Checked(Const(0, INT64), same, "unpack", at=cx.at(node)), cx.at(node))
    last = count - 1 if known is None else known - 1
    return Items(tuple(rows_of(cx, array, Const(min(k, last), INT64), node) for k in range(count)))
