"""Lists of numbers, and of tuples of numbers: `append`, `pop`, an index, a loop.

A list is an array of its own with more room than most lists need, of which the system only gives what is used, and a
count of its elements. Lists of tuples have an array for each place in the tuple.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.frontend.context import Context, NotYet
from loopwright.frontend.convert import as_index, in_type
from loopwright.frontend.elementwise import check, materialised, nest
from loopwright.frontend.promote import NumberType
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Items,
    ListValue,
    Literal,
    Number,
    SliceIndex,
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
    element_at,
    in_range,
    is_array,
    place_of,
    size_of,
    sliced,
)
from loopwright.ir.nodes import RESERVED, Allocate, Assign, Binary, Compare, Const, Expr, Store, Var
from loopwright.ir.types import INT64

ROOM = RESERVED
"""Elements that a list has room for: a gigabyte of addresses for numbers of 64 bits."""
RESIZERS = ("append", "pop", "extend", "clear", "insert", "remove")
"""Methods that change how many elements a list has."""
_OF_HEAPS = ("heappush", "heappop", "heapify", "heapreplace", "heappushpop")
_METHODS = (*RESIZERS, "sort", "reverse", "index", "count", "copy")


def is_changed(tree: ast.FunctionDef, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function changes a list of this name, asks what a tuple does not answer, or hands it on."""
    for node in own_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.Name(id=other)) if owner == name:
                if other not in (*seen, name) and is_changed(tree, other, seen | {name}):
                    return True
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.ListComp()) if owner == name:
                return True
            case ast.Assign(value=ast.Name(id=owner), targets=[ast.Name()]) if owner == name:
                return True
            case ast.Delete(targets=targets):
                if any(isinstance(one, ast.Subscript) and ast.unparse(one.value) == name for one in targets):
                    return True
            case ast.Call(func=ast.Attribute(attr=attribute, value=ast.Name(id=owner))) if owner == name:
                if attribute in _METHODS:
                    return True
            case ast.Call(func=ast.Attribute(attr=attribute), args=[ast.Name(id=owner), *_]) if owner == name:
                if attribute in _OF_HEAPS:
                    return True
            case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=owner)) if owner == name:
                return True
            case ast.AugAssign(target=ast.Name(id=owner) | ast.Subscript(value=ast.Name(id=owner))) if owner == name:
                return True
            case ast.Call(func=ast.Name(id=called), args=arguments) if called not in (
                "len",
                "sum",
                "min",
                "max",
                "range",
            ):
                if any(isinstance(one, ast.Name) and one.id == name for one in arguments):
                    return True
            case _:
                pass
    return False


def new_list(cx: Context, items: Sequence[Value], node: ast.expr, times: Expr | None = None) -> ListValue:
    """A list with these elements, `times` times over."""
    key = (*cx.frame.path, "list", id(node))
    length = cx.new_name(cx.frame.prefix + cx.target_names.get(id(node), "list") + ".length")
    cx.emit(Assign(length, ZERO, at=cx.at(node)))
    cx.natural.add(length)
    cx.bounds[length] = Const(ROOM, INT64)
    result = _of_kind(cx, ListValue((), Var(length, INT64), key, is_open=True), node)
    if times is None:
        for item in items:
            result = append(cx, result, item, node)
        return result
    if len(items) != 1:
        raise cx.error(node, "a list that is repeated has one element here", remedy="write a loop that appends")
    room = Compare("le", times, Const(ROOM, INT64))
    check(cx, room, "memory", node)
    result = _grown(cx, result, items[0], node)
    if result.parts:
        nest(cx, (as_size(times),), lambda index: put(cx, result, index[0], items[0], node), node)
    cx.emit(Assign(length, Binary("max", times, ZERO), at=cx.at(node)))
    return result


def _of_kind(cx: Context, value: ListValue, node: ast.AST) -> ListValue:
    """The list with arrays for what is known to be appended to it, from the rounds before this one."""
    count = cx.session.types.of(value.key)
    if not isinstance(count, int):
        return value
    arrays = []
    for k in range(max(count, 1)):
        kind = cx.session.types.of((*value.key, k))
        if not isinstance(kind, NumberType):
            return value
        name = cx.new_name(value.length.name.removesuffix(".length"))  # type: ignore[union-attr]
        cx.emit(Allocate(name, kind.type, (Const(ROOM, INT64),), None, at=cx.at(node)))
        arrays.append(as_view(Array(name, kind.type, (Literal(ROOM),), weak=kind.weak)))
    cx.lists[value.key] = replace(value, parts=tuple(arrays), is_tuple=count > 0)
    return cx.lists[value.key]


def _grown(cx: Context, value: ListValue, item: Value, node: ast.AST) -> ListValue:
    """Note the type of an element; the list as far as its arrays are known."""
    items = item.items if isinstance(item, Items) else (item,)
    if not all(isinstance(one, Literal | Number) for one in items):
        raise cx.error(node, f"a list of {describe(item)} is outside the language",
                       remedy="use an array with one more axis")  # fmt: skip
    count = len(items) if isinstance(item, Items) else 0
    if cx.session.types.assign(value.key, count) != count:
        raise cx.error(node, "the elements of a list are of one kind here: numbers, or tuples of one length")
    for k, one in enumerate(items):
        assert isinstance(one, Literal | Number)
        if cx.session.types.assign((*value.key, k), one.number_type) is None:
            raise cx.error(node, "the elements of a list have no type in common")
    return cx.lists.get(value.key, value)


def append(cx: Context, value: ListValue, item: Value, node: ast.AST) -> ListValue:
    """`list.append(item)`."""
    value = opened(cx, _grown(cx, value, item, node), node)
    length = value.length
    assert isinstance(length, Var)
    if not value.parts:
        return value  # in the next round
    check(cx, Compare("lt", length, Const(ROOM, INT64)), "memory", node)
    put(cx, value, length, item, node)
    cx.emit(Assign(length.name, Binary("add", length, ONE), at=cx.at(node)))
    return value


def opened(cx: Context, value: ListValue, node: ast.AST) -> ListValue:
    """The list. Raises KernelError where it cannot grow."""
    if not value.is_open:
        raise cx.error(node, "this list cannot grow", "it is part of another list, or made by a comprehension",
                       "begin with [] and append")  # fmt: skip
    return value


def put(cx: Context, value: ListValue, place: Expr, item: Value, node: ast.AST) -> None:
    """Write an element at a place that is known to be in range."""
    items = item.items if isinstance(item, Items) else (item,)
    for part, one in zip(value.parts, items, strict=True):
        assert isinstance(one, Literal | Number)
        converted = in_type(cx, one, NumberType(part.element, part.array.weak), node)
        cx.emit(Store(part.array.name, place_of(part, [place]), converted, at=cx.at(node)))


def known(cx: Context, value: ListValue, node: ast.AST) -> ListValue:
    """The list with its arrays. Raises NotYet where nothing is known of its elements."""
    value = cx.lists.get(value.key, value)
    if not value.parts:
        raise NotYet("nothing is appended to this list", cx.at(node), remedy="append what it is to hold")
    return value


def size_of_list(cx: Context, value: ListValue) -> Number:
    """`len(list)`, as it is now."""
    return Number(value.length, weak=True)


def items_at(cx: Context, value: ListValue, place: Expr, node: ast.AST) -> Value:
    """The element at a place that is known to be in range."""
    value = known(cx, value, node)
    found = tuple(element_at(cx, part, [place], node) for part in value.parts)
    return Items(found) if value.is_tuple else found[0]


def length_now(cx: Context, value: ListValue, node: ast.AST) -> Expr:
    """How long the list is now, to be read later too."""
    if isinstance(value.length, Const):
        return value.length
    length = cx.temporary(value.length, cx.at(node))
    cx.natural.add(length.name)
    cx.bounds[length.name] = Const(ROOM, INT64)
    return length


def index_list(cx: Context, value: ListValue, index: Value, node: ast.expr) -> Value:
    """`list[index]`, `list[a:b]`."""
    value = known(cx, value, node)
    size = as_size(length_now(cx, value, node))
    if isinstance(index, SliceIndex):
        chosen = [sliced(cx, replace(part, shape=(size,)), [index], [node], node) for part in value.parts]
        copies = [materialised(cx, part, node) for part in chosen]  # a slice of a list is a list of its own
        parts = tuple(as_view(replace(one, weak=part.array.weak)) for one, part in zip(copies, chosen, strict=True))
        return replace(value, parts=parts, length=size_of(parts[0].shape[0]), is_open=False, key=(*value.key, id(node)))
    place = in_range(cx, as_index(cx, index, node), size, node)
    return items_at(cx, value, place, node)


def assign_item(cx: Context, value: ListValue, index: Value, item: Value, node: ast.expr) -> None:
    """`list[index] = item`."""
    value = _grown(cx, value, item, node)
    if not value.parts:
        return
    place = in_range(cx, as_index(cx, index, node), as_size(length_now(cx, value, node)), node)
    put(cx, value, place, item, node)


def elements_of(cx: Context, value: ListValue, node: ast.AST) -> tuple[View, ...]:
    """For each place of its tuples, the elements as they are now."""
    value = known(cx, value, node)
    size = as_size(length_now(cx, value, node))
    return tuple(replace(part, shape=(size,)) for part in value.parts)


def as_elements(cx: Context, value: ListValue, node: ast.AST, weak: bool = False) -> View:
    """The elements as an array, as `np.array(list)` has them. `weak`: Python's numbers stay what they are. Raises
    KernelError for tuples."""
    value = known(cx, value, node)
    if value.is_tuple:
        raise cx.error(node, "an array of a list of tuples is outside the language",
                       remedy="keep a list for each place of the tuple")  # fmt: skip
    (part,) = elements_of(cx, value, node)
    return part if weak else replace(part, array=replace(part.array, weak=False))


def of_array(cx: Context, array: ArrayLike, weak: bool, key: tuple[object, ...]) -> ListValue:
    """A list of the elements of an array that nobody else writes."""
    view = as_view(array) if isinstance(array, Array) else array
    assert isinstance(view, View)
    if len(view.shape) == 1:
        parts: tuple[View, ...] = (replace(view, array=replace(view.array, weak=weak)),)
        found = ListValue(parts, size_of(view.shape[0]), key)
    else:
        columns = view.shape[1]
        assert isinstance(columns, Literal)
        parts = tuple(
            View(replace(view.array, weak=weak), (Along(0, ZERO, ONE), Const(k, INT64)), view.shape[:1])
            for k in range(int(columns.value))
        )
        found = ListValue(parts, size_of(view.shape[0]), key, is_tuple=True)
    return found


def kept_item(cx: Context, item: Value, node: ast.AST) -> Value:
    """An element, read now."""
    if isinstance(item, Items):
        return replace(item, items=tuple(kept_item(cx, one, node) for one in item.items))
    if not isinstance(item, Number) or cx.is_stable(item.expr):
        return item
    return Number(cx.temporary(item.expr, cx.at(node)), item.weak)


def extend(cx: Context, value: ListValue, other: Value, node: ast.AST) -> None:
    """`value += other` of a list. Raises KernelError for what cannot be gone over."""
    if isinstance(other, Items):
        for one in [kept_item(cx, one, node) for one in other.items]:
            append(cx, value, one, node)
        return
    size: Size
    item: Callable[[Expr], Value]
    if isinstance(other, ListValue):
        size, item = as_size(length_now(cx, other, node)), lambda k: items_at(cx, other, k, node)
    elif is_array(other):
        assert isinstance(other, ArrayLike)
        array = other
        size, item = array.shape[0], lambda k: element_at(cx, array, [k], node)
    else:
        raise cx.error(node, f"a list cannot be extended by {describe(other)}")

    def write(index: list[Expr]) -> None:
        append(cx, value, item(index[0]), node)

    nest(cx, (size,), write, node)
