"""Sets and dicts of numbers and of tuples of integers, with numbers, tuples of numbers, lists or arrays as values.

They are arrays; what is done with them is in table_functions.py. Lists and arrays in a dict are numbers, as in a list:
see rows.py. Keys come in CPython's order: of a dict that in which they were put in, of a set that of its table.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.frontend import rows, table_functions
from loopwright.frontend.context import Context, NotYet
from loopwright.frontend.convert import as_number, count_of, in_type
from loopwright.frontend.elementwise import nest
from loopwright.frontend.inline import run_written
from loopwright.frontend.lists import append, grown, items_at, kept_item, new_list, number_of
from loopwright.frontend.promote import NumberType
from loopwright.frontend.values import (
    Array,
    Character,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    TableValue,
    Value,
    View,
    describe,
)
from loopwright.frontend.views import as_size, as_view, element_at, is_array, place_of
from loopwright.ir.nodes import RESERVED, Allocate, Compare, Const, Expr, Load, Store
from loopwright.ir.types import INT8, INT32, INT64, Scalar

Numbers = tuple[Literal | Number, ...]


def new_table(cx: Context, is_dict: bool, node: ast.AST, number: int = 0) -> TableValue:
    """An empty set or dict. `number` tells several at one node apart."""
    key = (*cx.frame.path, "table", id(node), number)
    name = cx.new_name(cx.frame.prefix + cx.target_names.get(id(node), "dict" if is_dict else "set"))
    head = Array(f"{name}.head", INT64, (Literal(table_functions.HEAD),))
    cx.names.add(head.name)
    cx.emit(Allocate(head.name, INT64, (Const(table_functions.HEAD, INT64),), Const(0, INT64), at=cx.at(node)))
    table = TableValue((), (), None, None, head, key, is_dict)
    keys = _columns(cx, (*key, "key"), f"{name}.key", node)
    values = _columns(cx, (*key, "value"), f"{name}.value", node) if is_dict else ()
    if keys is None or values is None:
        return table
    state = _reserved(cx, f"{name}.state", INT8, node)
    slots = _reserved(cx, f"{name}.slots", INT32, node) if is_dict else None
    counts = [cx.session.types.of((*key, part)) for part in ("key", "value")]
    has_tuples = [isinstance(count, int) and count > 0 for count in counts]
    inner = None
    if isinstance(counts[1], int) and counts[1] < 0:
        inner = rows.new_table(cx, (*key, "value", "row"), counts[1], f"{name}.value", node)
    table = replace(table, keys=keys, values=values, state=state, slots=slots, has_tuple_keys=has_tuples[0],
                    has_tuple_values=has_tuples[1], rows=inner)  # fmt: skip
    cx.hash_tables[key] = table
    clear(cx, table, node)
    return table


def _columns(cx: Context, key: tuple[object, ...], name: str, node: ast.AST) -> tuple[View, ...] | None:
    """Arrays for what is known to be kept there, from the rounds before this one."""
    count = cx.session.types.of(key)
    if not isinstance(count, int):
        return None
    found = []
    if count < 0:  # the numbers of lists or arrays
        return (as_view(replace(_reserved(cx, name, INT64, node), weak=True)),)
    for k in range(max(count, 1)):
        kind = cx.session.types.of((*key, k))
        if not isinstance(kind, NumberType):
            return None
        array = _reserved(cx, f"{name}.{k}" if count else name, kind.type, node)
        found.append(as_view(replace(array, weak=kind.weak)))
    return tuple(found)


def _reserved(cx: Context, name: str, element: Scalar, node: ast.AST) -> Array:
    name = cx.new_name(name)
    cx.emit(Allocate(name, element, (Const(RESERVED, INT64),), None, at=cx.at(node)))
    return Array(name, element, (Literal(RESERVED),))


def known(cx: Context, table: TableValue, node: ast.AST) -> TableValue:
    """The table with its arrays. Raises NotYet where nothing is known of what it holds."""
    found = cx.hash_tables.get(table.key)
    if found is None:
        raise NotYet(f"nothing is put into this {'dict' if table.is_dict else 'set'}", cx.at(node),
                     remedy="add its items")  # fmt: skip
    return replace(found, shows=table.shows)


def _numbers(cx: Context, item: Value, what: str, node: ast.AST) -> Numbers:
    """The numbers of a key or a value. Raises KernelError for anything else."""
    items = item.items if isinstance(item, Items) else (item,)
    numbers = tuple(one for one in items if isinstance(one, Literal | Number))
    if len(numbers) < len(items):
        is_text = any(isinstance(one, Character) or isinstance(getattr(one, "value", None), str) for one in items)
        remedy = "use numbers, such as ord(c)" if is_text else "use numbers, or tuples of numbers"
        raise cx.error(node, f"a {what} that is {describe(item)} is outside the language", remedy=remedy)
    return numbers


def _noted(cx: Context, key: tuple[object, ...], item: Value, what: str, node: ast.AST) -> Numbers:
    """Note the types of a key or value; its numbers."""
    numbers = _numbers(cx, item, what, node)
    if isinstance(item, Items) and item.kind is not None:
        raise cx.error(node, f"a {what} that is an object of the class '{item.kind.__name__}' is outside the language",
                       remedy="use a tuple")  # fmt: skip
    count = len(item.items) if isinstance(item, Items) else 0
    if cx.session.types.assign(key, count) != count:
        raise cx.error(node, f"each {what} is of one kind here: a number, or a tuple of one length")
    for k, one in enumerate(numbers):
        if count and what == "key" and one.number_type.type.is_float:
            raise cx.error(node, "a key that is a tuple with a float in it is outside the language",
                           remedy="use integers")  # fmt: skip
        if cx.session.types.assign((*key, k), one.number_type) is None:
            raise cx.error(node, f"each {what} has a type of its own", "no type holds all of them")
    return numbers


def _holder(table: TableValue) -> ListValue:
    """The list of what a dict has as values."""
    return ListValue(table.values, Const(0, INT64), (*table.key, "value"), rows=table.rows)


def refuse_shared(
    cx: Context, owner: str, table: TableValue, value: Value, value_node: ast.expr, node: ast.AST
) -> None:
    """Raise KernelError for a list or an array that is put into the dict `owner` (`''`: that has no name yet), where it
    may show that it is a copy."""
    if rows.is_slice_of_list(value, value_node):
        return
    is_list = isinstance(value, ListValue) or (isinstance(value, Items) and bool(value.is_list))
    if isinstance(value_node, ast.ListComp) and is_array(value):
        raise cx.error(value_node, "a comprehension as a value of a dict is outside the language",
                       remedy="give the list a name, and append to it")  # fmt: skip
    if not (is_list or is_array(value)) or (isinstance(value_node, ast.List) and not rows.is_deep(value)):
        return
    if not owner:
        raise cx.error(value_node, "a list or an array in a new dict would be a copy",
                       remedy="begin with an empty dict, and put it in: d[k] = x")  # fmt: skip
    rows.refuse_shared(cx, owner, value, value_node, node, _holder(table))


def _stored(cx: Context, columns: Sequence[View], items: Numbers, node: ast.AST) -> tuple[Number, ...]:
    """Numbers in the types of the columns that they are to stand in, computed now."""
    kinds = [NumberType(part.element, part.array.weak) for part in columns]
    return tuple(
        Number(cx.once(in_type(cx, one, kind, node), cx.at(node)), weak=True)
        for one, kind in zip(items, kinds, strict=True)
    )


def writable(columns: Sequence[View]) -> Items:
    """Columns to be written: whether their numbers are Python's does not matter then."""
    return Items(tuple(replace(part, array=replace(part.array, weak=False)) for part in columns))


def kind_of(table: TableValue) -> Fixed:
    """How its keys are hashed."""
    return Fixed("tuple" if table.has_tuple_keys else "float" if table.keys[0].element.is_float else "int")


def parts_of(table: TableValue) -> list[Value]:
    """What the functions take that look for a key."""
    assert table.state is not None
    slots: list[Value] = [] if table.slots is None else [table.slots]
    return [writable(table.keys), table.state, *slots, table.head]


def _sought(cx: Context, table: TableValue, key: Value, node: ast.AST) -> list[Value]:
    """A key that is looked for, and how it is hashed."""
    items = key.items if isinstance(key, Items) else (key,)
    if isinstance(key, Items) != table.has_tuple_keys or len(items) != len(table.keys):
        raise cx.error(node, "each key is of one kind here: a number, or a tuple of one length")
    numbers = [as_number(cx, one, node, "a key is a number here, or a tuple of integers") for one in items]
    is_float = any(one.number_type.type.is_float for one in numbers)
    if is_float and table.has_tuple_keys:
        raise cx.error(node, "a key that is a tuple with a float in it is outside the language", remedy="use integers")
    kind = kind_of(table) if table.has_tuple_keys else Fixed("float" if is_float else "int")
    return [Items(tuple(kept_item(cx, one, node) for one in numbers)), kind]


def written(cx: Context, function: Callable[..., object], table: TableValue, key: Value, node: ast.AST) -> Value:
    """What one of the functions that look for a key gives."""
    table = known(cx, table, node)
    return run_written(cx, function, [*parts_of(table), *_sought(cx, table, key, node)], node)


# ---- what is asked ---------------------------------------------------------------------------------------------


def size_of_table(table: TableValue) -> Number:
    """`len(table)`."""
    return Number(count_of(table), weak=True)


def contains(cx: Context, table: TableValue, key: Value, node: ast.AST) -> Value:
    """`key in table`."""
    if table.key not in cx.hash_tables:  # in the next round
        return Number(Compare("ne", count_of(table), Const(0, INT64)), weak=True)
    function = table_functions.is_in_dict if table.is_dict else table_functions.is_in_set
    found = as_number(cx, written(cx, function, table, key, node), node)
    assert isinstance(found, Number)
    return Number(found.expr, weak=True)


def elements(
    cx: Context, table: TableValue, node: ast.AST
) -> tuple[Number, Callable[[Context, Expr], Value], Callable[[Context], object]]:
    """How many items a loop goes over, which one it meets at a position, and what it asks at its end: whether keys came
    or went."""
    table = known(cx, table, node)
    assert table.state is not None
    function = table_functions.entries_in_order if table.is_dict else table_functions.slots_in_order
    order = run_written(cx, function, [table.state, table.head], node)
    assert isinstance(order, Array)
    size = cx.temporary(size_of_table(table).expr, cx.at(node))
    cx.natural.add(size.name)
    changes = cx.temporary(Load(table.head.name, (Const(table_functions.CHANGES, INT64),), INT64), cx.at(node))

    def check(cx: Context, number: int = 0) -> None:
        run_written(cx, table_functions.check_unchanged, [table.head, Number(changes, weak=True)], node, number)

    def item(cx: Context, k: Expr) -> Value:
        check(cx, 1)
        place = cx.temporary(Load(order.name, (k,), INT64), cx.at(node))
        return item_at(cx, table, place, node)

    return Number(size, weak=True), item, check


def item_at(cx: Context, table: TableValue, place: Expr, node: ast.AST) -> Value:
    """What a table shows of the entry at a place."""
    if table.shows == "items":
        first = item_at(cx, replace(table, shows="keys"), place, node)
        return Items((first, item_at(cx, replace(table, shows="values"), place, node)))
    is_key = table.shows == "keys"
    if table.rows is not None and not is_key:
        number = as_number(cx, element_at(cx, table.values[0], [place], node), node)
        assert isinstance(number, Number)
        return rows.row_at(cx, table.rows, cx.once(number.expr, cx.at(node)), node)
    found = tuple(element_at(cx, part, [place], node) for part in (table.keys if is_key else table.values))
    return Items(found) if (table.has_tuple_keys if is_key else table.has_tuple_values) else found[0]


def as_list(cx: Context, table: TableValue, node: ast.AST) -> ListValue:
    """A list of what a loop over the table gives."""
    size, item, _ = elements(cx, table, node)
    key = cx.session.calls.setdefault(
        (id(node), f"list of {table.shows} of {table.key}", 0), ast.Call(ast.Name("list"), [], [])
    )
    result = new_list(cx, [], key)

    def write(index: list[Expr]) -> None:
        append(cx, result, item(cx, index[0]), node)

    nest(cx, (as_size(size.expr),), write, node)
    return cx.lists.get(result.key, result)


# ---- what is changed -------------------------------------------------------------------------------------------


def given_table(
    cx: Context, keys: Array | ListValue, values: Array | ListValue, node: ast.AST, may_change: bool
) -> TableValue:
    """A dict of the caller's, from its keys and values."""
    table = new_table(cx, True, node)

    def item(of: Array | ListValue, index: list[Expr]) -> Value:
        return items_at(cx, of, index[0], node) if isinstance(of, ListValue) else element_at(cx, of, index, node)

    def write(index: list[Expr]) -> None:
        set_item(cx, table, item(keys, index), item(values, index), node)

    size = as_size(keys.length) if isinstance(keys, ListValue) else keys.shape[0]
    nest(cx, (size,), write, node)
    if not may_change:
        cx.given_tables.add(table.key)
    return table


def _refuse_given(cx: Context, table: TableValue, node: ast.AST) -> None:
    if table.key in cx.given_tables:
        raise cx.error(node, "a dict of the caller's is changed", "the caller would not see the change",
                       "make a dict in the kernel, and return it")  # fmt: skip


def clear(cx: Context, table: TableValue, node: ast.AST) -> None:
    """`table.clear()`."""
    _refuse_given(cx, table, node)
    if table.key not in cx.hash_tables:  # nothing is put in, or that is in the next round
        return
    table = known(cx, table, node)
    assert table.state is not None
    if table.slots is not None:
        run_written(cx, table_functions.empty_dict, [table.slots, table.head], node)
    else:
        run_written(cx, table_functions.empty_set, [table.state, table.head], node)


def add_key(cx: Context, table: TableValue, key: Value, node: ast.AST, number: int = 0) -> None:
    """`set.add(key)`."""
    numbers = _noted(cx, (*table.key, "key"), key, "key", node)
    found = cx.hash_tables.get(table.key)
    if found is not None:
        stored = Items(_stored(cx, found.keys, numbers, node))
        run_written(cx, table_functions.add_to_set, [*parts_of(found), stored, kind_of(found)], node, number)


def set_item(cx: Context, table: TableValue, key: Value, value: Value, node: ast.AST) -> None:
    """`dict[key] = value`."""
    keys = _noted(cx, (*table.key, "key"), key, "key", node)
    values = _value_numbers(cx, table, value, node)
    found = cx.hash_tables.get(table.key)
    if found is None:
        return  # in the next round
    stored = _stored(cx, found.values, values, node)
    place = entry_for(cx, found, keys, node)
    for part, one in zip(found.values, stored, strict=True):
        cx.emit(Store(part.array.name, place_of(part, [place]), one.expr, at=cx.at(node)))


def _value_numbers(cx: Context, table: TableValue, value: Value, node: ast.AST) -> Numbers:
    """Note the types of a value; its numbers, and of a list or an array that of its copy."""
    holder = _holder(table)
    if isinstance(value, Items) and value.is_list:
        cx.session.deep_lists.add(holder.key)
    if rows.kind_of(cx, holder.key, value) is None:
        return _noted(cx, holder.key, value, "value", node)
    if isinstance(value, ListValue) and value.rows is not None:
        raise cx.error(node, "a dict of lists of lists is outside the language", remedy="use a list of tuples")
    grown(cx, holder, value, node)
    found = cx.hash_tables.get(table.key)
    if found is None:
        return ()
    return (Number(cx.once(number_of(cx, _holder(found), value, node), cx.at(node)), weak=True),)


def entry_for(cx: Context, table: TableValue, key: Numbers, node: ast.AST) -> Expr:
    """The place of the entry with a key, a new one if need be."""
    _refuse_given(cx, table, node)
    first, *rest = parts_of(table)
    stored = Items(_stored(cx, table.keys, key, node))
    given = [first, writable(table.values), *rest, stored, kind_of(table)]
    place = as_number(cx, run_written(cx, table_functions.entry_for, given, node), node)
    assert isinstance(place, Number)
    return cx.temporary(place.expr, cx.at(node))


def get_item(cx: Context, table: TableValue, key: Value, node: ast.AST) -> Value:
    """`dict[key]`."""
    if not table.is_dict:
        raise cx.error(node, "a set has no elements to index", remedy="write: key in s")
    if table.key not in cx.hash_tables:
        _numbers(cx, key, "key", node)
    table = known(cx, table, node)
    place = as_number(cx, written(cx, table_functions.known_entry, table, key, node), node)
    assert isinstance(place, Number)
    return _value_at(cx, table, cx.temporary(place.expr, cx.at(node)), node)


def _value_at(cx: Context, table: TableValue, place: Expr, node: ast.AST) -> Value:
    return kept_item(cx, item_at(cx, replace(table, shows="values"), place, node), node)


def delete_key(cx: Context, table: TableValue, key: Value, node: ast.AST) -> Value:
    """`del dict[key]`; gives the value, as `dict.pop(key)` does."""
    _refuse_given(cx, table, node)
    table = known(cx, table, node)
    place = as_number(cx, written(cx, table_functions.known_entry, table, key, node), node)
    assert isinstance(place, Number) and table.state is not None
    entry = Number(cx.temporary(place.expr, cx.at(node)), weak=True)
    value = _value_at(cx, table, entry.expr, node)
    run_written(cx, table_functions.delete_entry, [table.state, table.head, entry], node)
    return value
