"""Lists of lists and lists of arrays: the elements of all that such a list holds stand in one array.

A list of this kind holds numbers, and each is that of a list or an array in a table: what has two places in lists has
two equal numbers, as Python has two references. A list that outgrows its room moves behind all others; arrays stay.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.errors import KernelError
from loopwright.frontend.array_names import comprehension_shows, sharing_shows
from loopwright.frontend.context import Context, NotYet
from loopwright.frontend.convert import in_type
from loopwright.frontend.elementwise import check, nest
from loopwright.frontend.handed_on import copies_show_in
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Items,
    ListValue,
    Literal,
    Mixed,
    Number,
    RowTable,
    Value,
    View,
)
from loopwright.frontend.views import ONE, ZERO, Size, add, as_view, clipped, is_array, multiply, place_of, size_of
from loopwright.ir.nodes import RESERVED, Allocate, Binary, Compare, Const, Expr, If, Load, Select, Store, Unary
from loopwright.ir.types import INT64, Scalar

LISTS = -1
"""How `Session.types` tells a list of lists from one of tuples; -1 - n is one of arrays of n axes."""
_TWO, _FOUR = Const(2, INT64), Const(4, INT64)


def kind_of(cx: Context, key: tuple[object, ...], item: Value) -> int | None:
    """What a list holds that has this element: LISTS, or arrays; None for numbers and tuples."""
    if isinstance(item, ListValue) or (isinstance(item, Items) and item.is_list and key in cx.session.deep_lists):
        return LISTS
    return -1 - len(item.shape) if is_array(item) else None


def _refuse_text(cx: Context, item: Value, node: ast.AST) -> None:
    if isinstance(item, ListValue) and item.is_text:
        raise cx.error(node, "a list of texts that the run makes is outside the language",
                       remedy="make one text, with a character between its parts, and split that later")  # fmt: skip


def note(cx: Context, key: tuple[object, ...], item: Value, node: ast.AST) -> None:
    """Note the types of the elements of a list or array that is put into a list; `key` is the table's."""
    _refuse_text(cx, item, node)
    if isinstance(item, ArrayLike):
        cx.session.types.assign(key, 0)
        joined = cx.session.types.assign((*key, 0), NumberType(item.element, weak=False))
        if not isinstance(joined, NumberType) or joined.type != item.element:
            raise cx.error(node, "the arrays in a list have one type of elements here",
                           f"this one has {item.element}", "convert it with .astype()")  # fmt: skip


def new_table(cx: Context, key: tuple[object, ...], kind: int, name: str, node: ast.AST) -> RowTable:
    """An empty table, with arrays for what is known to be kept there, from the rounds before this one."""

    def made(what: str, element: Scalar, size: int = RESERVED) -> Array:
        full = cx.new_name(f"{name}.{what}")
        fill = None if size == RESERVED else Const(0, element)
        cx.emit(statement := Allocate(full, element, (Const(size, INT64),), fill, at=cx.at(node)))
        cx.allocations[full], cx.made_in[full] = (statement, cx.depth), cx.scopes
        cx.row_arrays.add(full)
        return Array(full, element, (Literal(size),))

    count = cx.session.types.of(key)
    kinds = [cx.session.types.of((*key, k)) for k in range(max(count, 1))] if isinstance(count, int) else []
    known = [one for one in kinds if isinstance(one, NumberType)]
    parts = []
    deeper: RowTable | None = None
    if isinstance(count, int) and count < 0 and kind == LISTS:
        deeper = new_table(cx, (*key, "row"), count, f"{name}.row", node)
        parts = [as_view(replace(made("items", INT64), weak=True))]
    elif len(known) == len(kinds):
        for k, one in enumerate(known):
            array = made(f"items.{k}" if len(known) > 1 else "items", one.type)
            parts.append(as_view(replace(array, weak=one.weak)))
    axes = 1 if kind == LISTS else -1 - kind
    sizes = tuple(made(f"size.{k}" if axes > 1 else "size", INT64) for k in range(axes))
    return RowTable(
        tuple(parts), made("start", INT64), made("room", INT64), sizes, made("head", INT64, 2), key,
        holds_arrays=kind != LISTS, is_tuple=isinstance(count, int) and count > 0, kind=cx.session.named.get(key),
        rows=deeper,
    )  # fmt: skip


def _at(cx: Context, array: Array, place: Expr, node: ast.AST) -> Load:
    return Load(array.name, (place,), INT64, at=cx.at(node))


def _put(cx: Context, array: Array, place: Expr, value: Expr, node: ast.AST) -> None:
    cx.emit(Store(array.name, (place,), value, at=cx.at(node)))


def new_row(
    cx: Context, table: RowTable, shape: Sequence[Size],
    elements: Sequence[Callable[[Sequence[Expr]], Value]] | None, node: ast.AST,
) -> Expr:  # fmt: skip
    """Make a list or an array of this shape; its number. `elements`: for each place of the table's tuples, what gives
    the element at an index."""
    assert table.head is not None
    number = cx.temporary(_at(cx, table.head, ONE, node), cx.at(node))
    start = cx.temporary(_at(cx, table.head, ZERO, node), cx.at(node))
    sizes = [cx.once(size_of(clipped(cx, size)), cx.at(node)) for size in shape]
    count = ONE
    for size in sizes:
        count = multiply(count, size)  # type: ignore[assignment]
    count = cx.once(count, cx.at(node))  # type: ignore[assignment]
    end = cx.temporary(add(start, count), cx.at(node))
    has_room = Binary("and", Compare("le", end, Const(RESERVED, INT64)), Compare("lt", number, Const(RESERVED, INT64)))
    check(cx, has_room, "memory", node)
    _put(cx, table.starts, number, start, node)
    _put(cx, table.rooms, number, count, node)
    for array, size in zip(table.sizes, sizes, strict=True):
        _put(cx, array, number, size, node)
    _put(cx, table.head, ZERO, end, node)
    _put(cx, table.head, ONE, add(number, ONE), node)
    if elements and table.parts:
        laid = [Literal(int(size.value)) if isinstance(size, Const) else Number(size, weak=True) for size in sizes]
        wholes = [laid_out(part, start, laid) for part in table.parts]

        def body(index: list[Expr]) -> None:
            for whole, element in zip(wholes, elements, strict=True):
                one = element(index)
                assert isinstance(one, Literal | Number)
                value = in_type(cx, one, NumberType(whole.element, whole.array.weak), node)
                cx.emit(Store(whole.array.name, place_of(whole, index), value, at=cx.at(node)))

        nest(cx, laid, body, node)
    return number


def laid_out(part: View, start: Expr, shape: Sequence[Size]) -> View:
    """The elements from a place on, as an array of this shape in C order."""
    if len(shape) == 1:
        return View(part.array, (Along(0, start, ONE),), tuple(shape))
    along: list[Along] = []
    step: Expr = ONE
    for axis in reversed(range(len(shape))):
        along.append(Along(axis, ZERO, step))
        step = multiply(step, size_of(shape[axis]))
    return View(part.array, (Mixed(tuple(reversed(along)), ONE, None, start, ONE),), tuple(shape))


def row_at(cx: Context, table: RowTable, number: Expr, node: ast.AST) -> Value:
    """The list or the array of this number."""
    if table.holds_arrays:
        if not table.parts:
            raise NotYet("nothing is put into the lists in this list", cx.at(node), remedy="append their elements")
        (part,) = table.parts
        start = cx.temporary(_at(cx, table.starts, number, node), cx.at(node))
        sizes = [cx.temporary(_at(cx, one, number, node), cx.at(node)) for one in table.sizes]
        cx.natural.update(one.name for one in (start, *sizes))
        cx.bounds.update({one.name: Const(RESERVED, INT64) for one in sizes})
        return laid_out(part, start, [Number(size, weak=True) for size in sizes])
    start_now = _at(cx, table.starts, number, node)
    parts = tuple(View(part.array, (Along(0, start_now, ONE),), part.shape) for part in table.parts)
    length = _at(cx, table.sizes[0], number, node)
    is_open = table.head is not None
    return ListValue(parts, length, table.key, table.is_tuple, is_open, table.rows, (table, number), kind=table.kind)


def make_room(cx: Context, table: RowTable, number: Expr, node: ast.AST) -> None:
    """Room for one more element of a list in a table."""
    at = cx.at(node)
    assert table.head is not None
    count = cx.temporary(_at(cx, table.sizes[0], number, node), at)
    is_full = Compare("ge", count, _at(cx, table.rooms, number, node))
    with cx.inner_body() as full:
        begin = cx.temporary(_at(cx, table.starts, number, node), at)
        used = cx.temporary(_at(cx, table.head, ZERO, node), at)
        is_last = cx.temporary(Compare("eq", add(begin, count), used), at)
        new = cx.temporary(Select(is_last, begin, used), at)
        more = cx.temporary(add(multiply(count, _TWO), _FOUR), at)
        check(cx, Compare("le", add(new, more), Const(RESERVED, INT64)), "memory", node)
        with cx.inner_body() as moving:
            for part in table.parts:
                name, element = part.array.name, part.element

                def move(index: list[Expr], name: str = name, element: Scalar = element) -> None:
                    old = Load(name, (add(index[0], begin),), element, at=at)
                    cx.emit(Store(name, (add(index[0], new),), old, at=at))

                nest(cx, (Number(count, weak=True),), move, node)
        cx.emit(If(Unary("not", is_last), tuple(moving), at=at))
        _put(cx, table.starts, number, new, node)
        _put(cx, table.rooms, number, more, node)
        _put(cx, table.head, ZERO, add(new, more), node)
    cx.emit(If(is_full, tuple(full), at=at))


def set_size(cx: Context, table: RowTable, number: Expr, length: Expr, node: ast.AST) -> None:
    """How many elements a list in a table has now."""
    _put(cx, table.sizes[0], number, length, node)


_NEW = (ast.List, ast.ListComp, ast.Call)


def is_deep(item: Value) -> bool:
    """Whether it is a list with lists or arrays in it."""
    if isinstance(item, Items):
        return bool(item.is_list) and not all(isinstance(one, Literal | Number) for one in item.items)
    return isinstance(item, ListValue) and item.holds_rows


def refuse_shared(
    cx: Context, owner: str, item: Value, item_node: ast.expr, node: ast.AST, into: ListValue | None = None,
    inside: bool = False,
) -> None:  # fmt: skip
    """Raise KernelError for a list or an array that is put into the list `owner`, where it shows that it is a copy. One
    that is in this list (`into`) already is none."""
    _refuse_text(cx, item, node)
    is_written = isinstance(item_node, ast.Tuple | ast.List) and isinstance(item, Items)
    if is_written and len(item_node.elts) == len(item.items):  # type: ignore[attr-defined, union-attr]
        for one, part in zip(item.items, item_node.elts, strict=True):  # type: ignore[attr-defined, union-attr]
            if is_held(one) or isinstance(one, Items):
                refuse_shared(cx, owner, one, part, node, inside=inside or isinstance(item_node, ast.List))
        return
    if not owner and not isinstance(item_node, _NEW) and (inside or is_deep(item)) and is_held(item):
        raise _copied(cx, ast.unparse(node), item_node, node)  # what it is passed to may change it
    if isinstance(item, Items) and not item.is_list:
        if any(map(is_held, item.items)) and sharing_shows(cx.frame, owner, item_node):
            raise cx.error(node, f"'{owner}' holds copies of the arrays in '{ast.unparse(item_node)}' here",
                           "one of the two is changed, and the other one is used after that",
                           "unpack it, and put copies of its arrays in")  # fmt: skip
        return
    place = item.home if isinstance(item, ListValue) else None
    if place is not None and into is not None and place[0].key == (*into.key, "row"):
        return
    if is_slice_of_list(item, item_node):
        return
    if isinstance(item, ListValue) and item.holds_rows and isinstance(item_node, ast.ListComp):
        refuse_copies(cx, owner, item_node, item_node)
        return
    is_list = isinstance(item, Items) and bool(item.is_list)
    if (is_list or isinstance(item, ListValue | Array | View)) and sharing_shows(cx.frame, owner, item_node):
        raise _copied(cx, owner, item_node, node, is_deep(item))
    if not owner and isinstance(node, ast.List) and isinstance(item, Array | View | ListValue):
        refuse_handed_on(cx, node)


def refuse_shared_items(cx: Context, owner: str, items: Value, items_node: ast.expr, node: ast.AST) -> None:
    """The same for what is appended one by one: `x += [y, z]`."""
    written = items_node.elts if isinstance(items_node, ast.List | ast.Tuple) else []
    for k, one in enumerate(items.items if isinstance(items, Items) else ()):
        if is_held(one) or isinstance(one, Items):
            part = written[k] if k < len(written) else items_node
            refuse_shared(cx, owner, one, part, node, inside=not owner)


def is_slice_of_list(item: Value, node: ast.expr) -> bool:
    """Whether it is a slice of a list, which is a list of its own in Python, too."""
    return isinstance(item, ListValue) and isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def is_held(item: Value) -> bool:
    """Whether Python's lists hold a reference to it, and ours a copy: an array or a list."""
    return is_array(item) or isinstance(item, ListValue) or (isinstance(item, Items) and bool(item.is_list))


def refuse_handed_on(cx: Context, made: ast.expr) -> None:
    """The same for a list of arrays or lists that is made of others at once, or has no name."""
    if copies_show_in(cx, made):
        owner = cx.target_names.get(id(made), "")
        raise cx.error(made, f"'{owner or ast.unparse(made)}' holds copies of arrays or lists here",
                       "one of the two is changed, and the other one is used after that",
                       "put copies in: [x.copy() for x in ...]")  # fmt: skip


def refuse_copies(cx: Context, owner: str, made: ast.ListComp | ast.GeneratorExp, node: ast.expr) -> None:
    """The same for what a comprehension puts into the list `owner`."""
    if comprehension_shows(cx.frame, owner, made):
        raise _copied(cx, owner, made.elt, node)


def _copied(cx: Context, owner: str, item: ast.expr, node: ast.AST, deep: bool = False) -> KernelError:
    copied = f"[x.copy() for x in {ast.unparse(item)}]" if deep else f"{ast.unparse(item)}.copy()"
    return cx.error(node, f"'{owner}' holds a copy of '{ast.unparse(item)}' here",
                    "one of the two is changed, and the other one is used after that",
                    f"put a copy in: {copied}")  # fmt: skip
