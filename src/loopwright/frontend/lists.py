"""Lists of numbers, of tuples of numbers, of lists and of arrays: `append`, `pop`, an index, a loop.

A list is an array of its own with more room than most lists need, of which the system only gives what is used, and a
count of its elements. Lists of tuples have an array for each place in the tuple; lists of lists and of arrays hold
numbers, and rows.py says of what.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.frontend import rows
from loopwright.frontend.chosen_texts import meets_texts, note_texts, number_of_text
from loopwright.frontend.context import Context, NotYet, Restart
from loopwright.frontend.convert import as_index, in_type
from loopwright.frontend.elementwise import check, materialised, nest
from loopwright.frontend.given_elements import refuse_other_kind
from loopwright.frontend.list_lengths import keeps_length
from loopwright.frontend.list_uses import changes_deeper, changes_inner
from loopwright.frontend.named_tuples import flattened, note_class, of_class
from loopwright.frontend.promote import NumberType
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import (
    Along,
    Array,
    ArrayLike,
    Character,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    RowTable,
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
from loopwright.ir.nodes import RESERVED, Allocate, Assign, Binary, Checked, Compare, Const, Expr, Store, Var
from loopwright.ir.types import INT64

GIVEN = "given"
"""How the key of a list of the caller's begins."""
ROOM = RESERVED
"""Elements that a list has room for: a gigabyte of addresses for numbers of 64 bits."""


def new_list(cx: Context, items: Sequence[Value], node: ast.expr, times: Expr | None = None) -> ListValue:
    """A list with these elements, `times` times over."""
    key = (*cx.frame.path, "list", id(node))
    name = cx.target_names.get(id(node), "")
    inner_changes = name and any(changes_inner(one, name) for one in own_nodes(cx.frame.tree))
    if inner_changes or (name and changes_deeper(cx.frame.tree, name)):
        cx.session.deep_lists.add(key)
    if key not in cx.session.made_texts and keeps_length(cx, name, items, node):
        return _of_one_length(cx, key, name, items, node, times)
    length = _new_length(cx, name, node)
    cx.emit(Assign(length, ZERO, at=cx.at(node)))
    is_text = key in cx.session.made_texts
    result = _of_kind(cx, ListValue((), Var(length, INT64), key, is_open=True, is_text=is_text), node)
    if times is None:
        written = node.elts if isinstance(node, ast.List) and len(node.elts) == len(items) else None
        for k, item in enumerate(items):
            if written is not None:
                rows.refuse_shared(cx, name, item, written[k], node)
            result = append(cx, result, item, node)
        return result
    if len(items) != 1:
        raise cx.error(node, "only a list with one element can be repeated", remedy="write a loop that appends")
    inner = items[0].items if isinstance(items[0], Items) and not items[0].is_list else ()
    if rows.is_deep(items[0]) or any(map(rows.is_held, inner)):
        raise cx.error(node, "a list of such lists, or of tuples with arrays or lists, cannot be repeated",
                       remedy="write a loop that appends")  # fmt: skip
    check(cx, Compare("le", times, Const(ROOM, INT64)), "memory", node)
    result = grown(cx, result, items[0], node)
    if result.rows is not None:  # one list, so many times over
        number = Number(number_of(cx, result, items[0], node), weak=True)
        numbers = replace(result, rows=None)
        nest(cx, (as_size(times),), lambda index: put(cx, numbers, index[0], number, node), node)
    elif result.parts:
        nest(cx, (as_size(times),), lambda index: put(cx, result, index[0], items[0], node), node)
    cx.emit(Assign(length, Binary("max", times, ZERO), at=cx.at(node)))
    return result


def _new_length(cx: Context, name: str, node: ast.AST) -> str:
    length = cx.new_name(cx.frame.prefix + (name or "list") + ".length")
    cx.natural.add(length)
    cx.bounds[length] = Const(ROOM, INT64)
    return length


def _of_one_length(
    cx: Context, key: tuple[object, ...], name: str, items: Sequence[Value], node: ast.expr, times: Expr | None
) -> ListValue:
    """A list that keeps its length has no more room than it needs: a thread may have one of its own."""
    length: Expr = Const(len(items), INT64)
    if isinstance(times, Const):
        length = Const(max(0, int(times.value)), INT64)
    elif times is not None:
        length = Binary("max", times, ZERO)
    if times is not None:
        check(cx, Compare("le", times, Const(ROOM, INT64)), "memory", node)
    room = length
    if not isinstance(length, Const):
        counted = _new_length(cx, name, node)
        cx.emit(Assign(counted, length, at=cx.at(node)))
        length = Var(counted, INT64)
    result = _of_kind(cx, ListValue((), length, key), node, cx.frame.prefix + name, room)
    for item in items:
        result = grown(cx, result, item, node)
    if not result.parts:
        return result  # in the next round
    if times is None:
        for k, item in enumerate(items):
            put(cx, result, Const(k, INT64), item, node)
    else:
        nest(cx, (as_size(length),), lambda index: put(cx, result, index[0], items[0], node), node)
    return result


def _of_kind(cx: Context, value: ListValue, node: ast.AST, named: str = "", room: Expr | None = None) -> ListValue:
    """The list with arrays for what is known to be appended to it, from the rounds before this one."""
    count, room = cx.session.types.of(value.key), room or Const(ROOM, INT64)
    if not isinstance(count, int):
        return value
    if count < 0:
        name = cx.new_name(value.length.name.removesuffix(".length"))  # type: ignore[union-attr]
        cx.emit(Allocate(name, INT64, (Const(ROOM, INT64),), None, at=cx.at(node)))
        numbers = as_view(Array(name, INT64, (Literal(ROOM),), weak=True))
        table = rows.new_table(cx, (*value.key, "row"), count, name, node)
        cx.lists[value.key] = replace(value, parts=(numbers,), rows=table)
        return cx.lists[value.key]
    arrays: list[View] = []
    columns: list[RowTable | bool | None] = []
    for k in range(max(count, 1)):
        kind = cx.session.types.of((*value.key, k))
        columns.append(cx.session.text_names.get((*value.key, k)) if count else None)
        if isinstance(kind, int) and kind < 0:
            kind = NumberType(INT64, weak=True)
            columns[-1] = _table_of_column(cx, value, k, node)
        if not isinstance(kind, NumberType):
            return value
        name = cx.new_name(named or value.length.name.removesuffix(".length"))  # type: ignore[union-attr]
        cx.emit(Allocate(name, kind.type, (room,), None, at=cx.at(node)))
        arrays.append(as_view(Array(name, kind.type, (as_size(room),), weak=kind.weak)))
    holds_lists = cx.session.types.of((*value.key, "inner")) == 1
    cx.lists[value.key] = replace(value, parts=tuple(arrays), is_tuple=count > 0, holds_lists=holds_lists,
                                  columns=tuple(columns) if any(one is not None for one in columns) else (),
                                  kind=cx.session.named.get(value.key),
                                  holds_texts=value.key in cx.session.text_names)  # fmt: skip
    return cx.lists[value.key]


def _table_of_column(cx: Context, value: ListValue, place: int, node: ast.AST) -> RowTable:
    """Where the lists or arrays stand that the tuples of a list have in a place."""
    kind = cx.session.types.of((*value.key, place))
    assert isinstance(kind, int)
    return rows.new_table(cx, (*value.key, place, "row"), kind, value.length.name.removesuffix(".length"), node)  # type: ignore[union-attr]


def grown(cx: Context, value: ListValue, item: Value, node: ast.AST) -> ListValue:
    """Note the type of an element; the list as far as its arrays are known."""
    item = flattened(item)
    if meets_texts(cx, item) and value.home is None and value.key[0] != GIVEN:
        note_texts(cx, value.key, item)
        item = number_of_text(cx, item, node)
    elif value.key in cx.session.text_names:
        raise cx.error(node, f"a list of texts gets {describe(item)} here")
    items = item.items if isinstance(item, Items) else (item,)
    refuse_change_in_dict(cx, value, node)
    if value.key[0] == GIVEN:
        refuse_other_kind(cx, value, item, items, node)
        return value
    is_plain = bool(items) and all(map(_is_number, items))
    if isinstance(item, Items) and item.is_list and (value.home is not None or not is_plain):
        cx.session.deep_lists.add(value.key)
    kind = rows.kind_of(cx, value.key, item)
    if kind is not None:
        return _with_row(cx, value, item, kind, node)
    is_tuple = isinstance(item, Items) and not item.is_list and value.home is None
    if not all(isinstance(one, Literal | Number) or (is_tuple and _may_be_item(cx, one)) for one in items):
        raise cx.error(node, f"a list of {describe(item)} is outside the language", remedy=_instead_of(item, items))
    count = len(items) if isinstance(item, Items) else 0
    note_class(cx, value.key, item.kind if isinstance(item, Items) else None, node, "list")
    if isinstance(item, Items) and item.is_list is not None:
        inner = int(item.is_list)
        if cx.session.types.assign((*value.key, "inner"), inner) != inner:
            raise cx.error(node, "the elements of a list are lists or tuples here, and not both")
    if cx.session.types.assign(value.key, count) != count:
        if isinstance(item, Items) and item.is_list and value.key not in cx.session.deep_lists:  # of other lengths
            cx.session.deep_lists.add(value.key)
            raise Restart
        raise cx.error(node, "the elements of a list are of one kind here: numbers, or tuples of one length")
    for k, one in enumerate(items):
        _note_item(cx, (*value.key, k), one, node)
    return cx.lists.get(value.key, value) if value.home is None else value


def _is_number(value: Value) -> bool:
    return isinstance(value, Literal | Number)


def _may_be_item(cx: Context, one: Value) -> bool:
    """Whether a tuple in a list may have it among its items, beside numbers."""
    return meets_texts(cx, one) or is_array(one) or isinstance(one, ListValue)


def _note_item(cx: Context, key: tuple[object, ...], one: Value, node: ast.AST) -> None:
    """Note what is in a place of the tuples of a list."""
    if meets_texts(cx, one):
        note_texts(cx, key, one)
        one = number_of_text(cx, one, node)
    elif key in cx.session.text_names and key[:-1] not in cx.session.text_names:
        raise cx.error(node, f"the tuples in a list have a text in one place, and {describe(one)} is there here")
    if isinstance(one, Literal | Number):
        if cx.session.types.assign(key, one.number_type) is None:
            raise cx.error(node, "the elements of a list have no type in common")
        return
    kind = rows.kind_of(cx, key, one)
    assert kind is not None
    _with_row(cx, ListValue((), ZERO, key), one, kind, node)


def refuse_change_in_dict(cx: Context, value: ListValue, node: ast.AST) -> None:
    """Raise KernelError for a list in a dict of the caller's, which would not see the change."""
    if value.home is not None and value.home[0].key[:-2] in cx.given_tables:
        raise cx.error(node, "a list in a dict of the caller's is changed", "the caller would not see the change",
                       "make a dict in the kernel, and return it")  # fmt: skip


def _instead_of(item: Value, items: Sequence[Value]) -> str:
    """What to put into a list, where it cannot be this one, which is made of these."""
    if isinstance(item, Fixed) and item.value is None:
        return "begin with [], or with a value of the type that the others have: the elements of a list have one type"
    if any(isinstance(one, Items) and not one.is_list for one in items):
        return "put numbers into the inner tuple: ((a, b), c)"
    return "use an array with one more axis"


def _with_row(cx: Context, value: ListValue, item: Value, kind: int, node: ast.AST) -> ListValue:
    """Note that a list has such a list or array among its elements; the list as far as its arrays are known."""
    if isinstance(item, ListValue) and item.holds_texts:
        raise cx.error(node, "a list of lists of texts is outside the language", remedy="keep the lists apart")
    has_lists = isinstance(item, Items) and any(isinstance(one, Items) and one.is_list for one in item.items)
    if isinstance(item, ListValue) and (item.holds_lists or item.columns):
        raise cx.error(node, "a list of such lists is outside the language", remedy="append their elements one by one")
    if cx.session.types.assign(value.key, kind) != kind:
        known = cx.session.types.of(value.key)
        if kind == rows.LISTS and isinstance(known, int) and known > 0 and value.key not in cx.session.deep_lists:
            cx.session.deep_lists.add(value.key)
            raise Restart
        raise cx.error(node, "the elements of a list are of one kind here: numbers, tuples of one length, lists, or "
                       "arrays of one number of axes")  # fmt: skip
    inner = (*value.key, "row")
    if has_lists:
        cx.session.deep_lists.add(inner)
    rows.note(cx, inner, item, node)
    if isinstance(item, Items):
        for one in item.items:
            grown(cx, ListValue((), ZERO, inner), one, node)
    elif isinstance(item, ListValue) and item.key != inner:
        item = cx.lists.get(item.key, item) if item.home is None else item
        if item.key in cx.session.named:
            note_class(cx, inner, cx.session.named[item.key], node, "list")
        _note_kinds(cx, item, inner, node)
    return cx.lists.get(value.key, value)


def _note_kinds(cx: Context, item: ListValue, inner: tuple[object, ...], node: ast.AST) -> None:
    """Note that the lists in a list have elements as this one does. inner: their key."""
    own = item.key
    for note in (None, *range(len(item.parts))):
        kind_of_part = cx.session.types.of(own if note is None else (*own, note))
        if kind_of_part is None and item.parts and item.rows is None:  # a slice, or a list of the caller's
            kind_of_part = _kind_of_part(item, note)
        key = inner if note is None else (*inner, note)
        noted = None if kind_of_part is None else cx.session.types.assign(key, kind_of_part)
        if kind_of_part is not None and noted is None:
            raise cx.error(node, "the lists in a list have elements of one kind here")
    if item.rows is not None and item.rows.holds_arrays:
        for part in item.rows.parts:
            cx.session.types.assign((*inner, "row"), 0)
            cx.session.types.assign((*inner, "row", 0), NumberType(part.element, weak=False))
    elif item.rows is not None:
        _note_kinds(cx, ListValue(item.rows.parts, ZERO, item.rows.key, item.rows.is_tuple, rows=item.rows.rows),
                    (*inner, "row"), node)  # fmt: skip


def _kind_of_part(value: ListValue, place: int | None) -> NumberType | int:
    """The type of the numbers in a place of its tuples; None: how many places these have."""
    if place is None:
        return len(value.parts) if value.is_tuple else 0
    return NumberType(value.parts[place].element, value.parts[place].array.weak)


def number_of(cx: Context, value: ListValue, item: Value, node: ast.AST) -> Expr:
    """The number of a list or an array among the rows of a list, which gets a copy of it unless it has it."""
    table = value.rows
    assert table is not None
    if isinstance(item, ListValue) and item.home is not None and item.home[0].key == table.key:
        return item.home[1]
    shape: Sequence[Size]
    if isinstance(item, Items):
        number = rows.new_row(cx, table, [Literal(len(item.items))], None, node)
        made = rows.row_at(cx, table, number, node)
        assert isinstance(made, ListValue)
        if made.parts:
            for k, one in enumerate(item.items):
                put(cx, made, Const(k, INT64), one, node)
        return number
    if isinstance(item, ListValue):
        item = cx.lists.get(item.key, item) if item.home is None else item
        shape = [as_size(length_now(cx, item, node))]
        parts: Sequence[ArrayLike] = item.parts
    else:
        assert isinstance(item, ArrayLike)
        shape, parts = item.shape, [item]

    def element(k: int) -> Callable[[Sequence[Expr]], Value]:
        if table.rows is not None:
            assert isinstance(item, ListValue)
            holder, rows_of = ListValue((), ZERO, (), rows=table.rows), item
            return lambda index: Number(number_of(cx, holder, items_at(cx, rows_of, index[0], node), node), weak=True)
        return lambda index: element_at(cx, parts[k], index, node)

    return rows.new_row(cx, table, shape, [element(k) for k in range(len(parts))], node)


def append(cx: Context, value: ListValue, item: Value, node: ast.AST) -> ListValue:
    """`list.append(item)`."""
    value = opened(cx, grown(cx, value, item, node), node)
    if not value.parts:
        return value  # in the next round
    if value.home is not None:
        rows.make_room(cx, *value.home, node)
        length: Expr = cx.temporary(value.length, cx.at(node))
    else:
        length = value.length
        check(cx, Compare("lt", length, Const(ROOM, INT64)), "memory", node)
    put(cx, value, length, item, node)
    set_length(cx, value, Binary("add", length, ONE), node)
    return value


def set_length(cx: Context, value: ListValue, length: Expr, node: ast.AST) -> None:
    """Give a list that can grow another length."""
    if value.home is not None:
        rows.set_size(cx, *value.home, length, node)
        return
    assert isinstance(value.length, Var)
    cx.emit(Assign(value.length.name, length, at=cx.at(node)))


def opened(cx: Context, value: ListValue, node: ast.AST) -> ListValue:
    """The list. Raises KernelError where it cannot grow."""
    refuse_change_in_dict(cx, value, node)
    if not value.is_open and value.key[0] == GIVEN and value.parts and value.parts[0].array.name in cx.arguments:
        raise cx.error(
            node, "a list of the caller's keeps its length", "its elements may change, but none are added or removed",
            "make a list of your own, x = list(x), and return it",
        )  # fmt: skip
    if not value.is_open:
        raise cx.error(
            node, "this list cannot grow", "it is the caller's, part of another list, or made by a comprehension",
            "begin with [] and append",
        )  # fmt: skip
    return value


def put(cx: Context, value: ListValue, place: Expr, item: Value, node: ast.AST) -> None:
    """Write an element at a place that is known to be in range."""
    if value.rows is not None:
        item = Number(number_of(cx, value, item, node), weak=True)
    if value.holds_texts and not isinstance(item, Literal | Number):
        item = number_of_text(cx, item, node)
    item = flattened(item)
    items = item.items if isinstance(item, Items) else (item,)
    if value.columns:
        items = tuple(_in_column(cx, column, one, node) for column, one in zip(value.columns, items, strict=True))
    for part, one in zip(value.parts, items, strict=True):
        assert isinstance(one, Literal | Number)
        converted = in_type(cx, one, NumberType(part.element, part.array.weak), node)
        cx.emit(Store(part.array.name, place_of(part, [place]), converted, at=cx.at(node)))


def _in_column(cx: Context, column: RowTable | bool | None, one: Value, node: ast.AST) -> Value:
    """The number that is kept for what is in a place of a tuple."""
    if isinstance(column, RowTable):
        return Number(number_of(cx, ListValue((), ZERO, (), rows=column), one, node), weak=True)
    return one if column is None or isinstance(one, Literal | Number) else number_of_text(cx, one, node)


def _out_of_column(cx: Context, column: RowTable | bool | None, number: Value, node: ast.AST) -> Value:
    if column is None or not isinstance(number, Number):
        return number
    if isinstance(column, RowTable):
        return rows.row_at(cx, column, cx.once(number.expr, cx.at(node)), node)
    return Character(cx.temporary(number.expr, cx.at(node)), column)


def known(cx: Context, value: ListValue, node: ast.AST) -> ListValue:
    """The list with its arrays. Raises NotYet where nothing is known of its elements."""
    value = cx.lists.get(value.key, value) if value.home is None else value
    if not value.parts:
        raise NotYet("nothing is appended to this list", cx.at(node), remedy="append its elements")
    return value


def size_of_list(cx: Context, value: ListValue) -> Number:
    """`len(list)`, as it is now."""
    return Number(value.length, weak=True)


def items_at(cx: Context, value: ListValue, place: Expr, node: ast.AST) -> Value:
    """The element at a place that is known to be in range."""
    value = known(cx, value, node)
    if value.rows is not None:
        number = element_at(cx, value.parts[0], [place], node)
        assert isinstance(number, Number)
        return rows.row_at(cx, value.rows, cx.once(number.expr, cx.at(node)), node)
    found: tuple[Value, ...] = tuple(element_at(cx, part, [place], node) for part in value.parts)
    if value.holds_texts:
        assert isinstance(found[0], Number)
        return Character(cx.temporary(found[0].expr, cx.at(node)), cx.session.text_names.get(value.key, True))
    if value.columns:
        found = tuple(_out_of_column(cx, column, one, node) for column, one in zip(value.columns, found, strict=True))
    return of_class(found, value.kind, value.holds_lists) if value.is_tuple else found[0]


def unpacked(cx: Context, value: ListValue, count: int, node: ast.AST) -> Items:
    """The elements of a list for `count` names; another number of them is an error of the run."""
    value = known(cx, value, node)
    same = Compare("eq", value.length, Const(count, INT64))
    cx.temporary(Checked(Const(0, INT64), same, "unpack", at=cx.at(node)), cx.at(node))
    return Items(tuple(items_at(cx, value, Const(k, INT64), node) for k in range(count)))


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
        length, key = size_of(parts[0].shape[0]), (*value.key, id(node))
        if value.key in cx.session.text_names:
            cx.session.text_names[key] = cx.session.text_names[value.key]
        return replace(value, parts=parts, length=length, is_open=False, key=key, home=None)
    place = in_range(cx, as_index(cx, index, node), size, node)
    return items_at(cx, value, place, node)


def assign_item(cx: Context, value: ListValue, index: Value, item: Value, node: ast.expr) -> None:
    """`list[index] = item`."""
    value = grown(cx, value, item, node)
    if not value.parts:
        return
    place = in_range(cx, as_index(cx, index, node), as_size(length_now(cx, value, node)), node)
    put(cx, value, place, item, node)


def elements_of(cx: Context, value: ListValue, node: ast.AST, of_texts: bool = False) -> tuple[View, ...]:
    """For each place of its tuples, the elements as they are now. of_texts: texts may be told by their numbers."""
    value = known(cx, value, node)
    if (value.holds_texts or value.columns) and not of_texts:
        what = "of tuples with arrays, lists or texts" if value.columns else "of texts"
        raise cx.error(node, f"this takes no list {what}", remedy="write a loop")
    size = as_size(length_now(cx, value, node))
    return tuple(replace(part, shape=(size,)) for part in value.parts)


def as_elements(cx: Context, value: ListValue, node: ast.AST, weak: bool = False) -> View:
    """The elements as an array, as `np.array(list)` has them. `weak`: Python's numbers stay what they are. Raises
    KernelError for tuples."""
    value = known(cx, value, node)
    if value.rows is not None:
        raise cx.error(node, "this takes no list of lists or arrays", remedy="write a loop, or np.array(list)")
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


def _append_number(cx: Context, value: ListValue, number: Value, node: ast.AST) -> None:
    assert isinstance(value.length, Var)
    check(cx, Compare("lt", value.length, Const(ROOM, INT64)), "memory", node)
    put(cx, value, value.length, number, node)
    set_length(cx, value, Binary("add", value.length, ONE), node)


def extend(cx: Context, value: ListValue, other: Value, node: ast.AST) -> None:
    """`value += other` of a list. Raises KernelError for what cannot be gone over."""
    if isinstance(other, Items):
        for one in [kept_item(cx, one, node) for one in other.items]:
            append(cx, value, one, node)
        return
    size: Size
    item: Callable[[Expr], Value]
    if (
        isinstance(other, ListValue)
        and other.holds_rows
        and other.key != value.key
        and (other.rows is None or other.rows.key != (*value.key, "row"))
    ):
        raise cx.error(node, "a list of lists cannot be extended by another one", "its elements would be copies",
                       "append them one by one")  # fmt: skip
    if isinstance(other, ListValue) and other.rows is not None:
        numbers = replace(value, rows=None)
        size, item = as_size(length_now(cx, other, node)), lambda k: element_at(cx, other.parts[0], [k], node)
        nest(cx, (size,), lambda index: _append_number(cx, numbers, item(index[0]), node), node)
        return
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
