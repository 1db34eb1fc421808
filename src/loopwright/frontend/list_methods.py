"""The methods of lists, `in`, `del`, `sorted` and `list`; what they do with elements is in list_functions.py."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from loopwright.frontend import list_functions, rows
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.chosen_texts import number_of_text
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, as_number
from loopwright.frontend.elementwise import check, nest
from loopwright.frontend.inline import run_written
from loopwright.frontend.iteration import of_value, refuse_growing, sequence_of, write_generators
from loopwright.frontend.list_uses import changes_inner, owner_of
from loopwright.frontend.lists import (
    append,
    elements_of,
    extend,
    index_list,
    items_at,
    kept_item,
    known,
    length_now,
    new_list,
    opened,
    refuse_change_in_dict,
    set_length,
)
from loopwright.frontend.named_tuples import flattened, objects_differ, of_class
from loopwright.frontend.numpy_functions import number_method
from loopwright.frontend.rows import is_held, is_slice_of_list, refuse_copies, refuse_handed_on, refuse_shared
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import (
    ArrayLike,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    RangeValue,
    SliceIndex,
    TableValue,
    Value,
    View,
)
from loopwright.frontend.variables import freeze
from loopwright.frontend.views import (
    ONE,
    ZERO,
    as_size,
    clipped,
    element_at,
    in_range,
    is_array,
    place_of,
    size_of,
    steady,
)
from loopwright.ir.made_values import form_of
from loopwright.ir.nodes import Binary, Compare, Const, Expr, For, Store, Var
from loopwright.ir.types import INT64

Apply = Callable[[Context, Value, Arguments], Value]
"""Calls a value with arguments."""


def method_of_list(cx: Context, value: ListValue, call: Arguments, apply: Apply) -> Value:
    """`list.append(x)` and the like."""
    node = call.node
    handler = _METHODS.get(call.name)
    match call.name:
        case "append":
            call.expect(cx, 1)
            _refuse_shared(cx, value, call, 0)
            append(cx, value, call.values[0], node)
        case "extend":
            call.expect(cx, 1)
            if isinstance(node.func, ast.Attribute):
                rows.refuse_shared_items(cx, owner_of(node.func.value), call.values[0], call.place(0), node)
            other = call.values[0]
            if isinstance(other, RangeValue | TableValue):
                items = of_value(cx, other, node.args[0])
                nest(cx, (items.size,), lambda index: extend(cx, value, Items((items.item(cx, index[0]),)), node), node)
            else:
                extend(cx, value, other, node)
        case "sort":
            call.expect(cx, 0, keywords=("key", "reverse"))
            sort(cx, value, call, apply)
        case _ if handler is not None:
            return handler(cx, value, call)
        case _:
            raise cx.error(node, f"'.{call.name}()' of a list is outside the language",
                           remedy="use append, pop, insert, remove, sort, an index, or an array")  # fmt: skip
    return Fixed(None)


def _refuse_shared(cx: Context, value: ListValue, call: Arguments, position: int) -> None:
    """Raise KernelError where it shows that a list holds a copy of what is put into it."""
    owner = owner_of(call.node.func.value) if isinstance(call.node.func, ast.Attribute) else ""
    if position < len(call.node.args):
        item = call.node.args[position]
        refuse_shared(cx, owner, call.values[position], item, call.node, value, inside=not owner)


def _writable(cx: Context, value: ListValue, node: ast.AST) -> tuple[View, ...]:
    """For each place of its tuples, the elements as they are now, to be written."""
    refuse_change_in_dict(cx, value, node)
    return tuple(replace(part, array=replace(part.array, weak=False)) for part in elements_of(cx, value, node, True))


def _set_length(cx: Context, value: ListValue, length: Expr, node: ast.AST) -> None:
    set_length(cx, opened(cx, value, node), length, node)


# ---- what changes the number of elements ----------------------------------------------------------------------


def _clear(cx: Context, value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    _set_length(cx, value, ZERO, call.node)
    return Fixed(None)


def _pop(cx: Context, value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 0, 1)
    node = call.node
    value = opened(cx, known(cx, value, node), node)
    check(cx, Compare("gt", value.length, ZERO), "pop", node)
    is_last = not call.values or call.values[0] == Literal(-1)
    place = None if is_last else as_index(cx, call.values[0], call.place(0))
    if place is None:
        _set_length(cx, value, Binary("sub", value.length, ONE), node)
        return kept_item(cx, items_at(cx, value, value.length, node), node)
    place = in_range(cx, place, as_size(length_now(cx, value, node)), node)
    found = kept_item(cx, items_at(cx, value, place, node), node)
    _remove_at(cx, value, place, node)
    return found


def _remove_at(cx: Context, value: ListValue, place: Expr, node: ast.AST) -> None:
    last = cx.once(Binary("sub", value.length, ONE), cx.at(node))
    for part in _writable(cx, value, node):
        _move(cx, part, (place, last), 1, node)
    _set_length(cx, value, Binary("sub", value.length, ONE), node)


def _move(cx: Context, part: View, bounds: tuple[Expr, Expr], step: int, node: ast.AST) -> None:
    """Write each element between two places, the second one not included, over with the one `step` further: the first
    place is the higher one where that is -1. They are known to be inside: the loop tests nothing, and is a move of
    memory."""
    name = cx.new_name("k")
    cx.stable.add(name)
    cx.natural.add(name)
    here, next_one = Var(name, INT64), Binary("add" if step > 0 else "sub", Var(name, INT64), ONE)
    with cx.inner_body() as inner:
        moved = element_at(cx, part, [next_one], node)
        assert isinstance(moved, Number)
        cx.emit(Store(part.array.name, place_of(part, [here]), moved.expr, at=cx.at(node)))
    cx.emit(For(name, *bounds, Const(step, INT64), tuple(inner), at=cx.at(node)))


def delete_item(cx: Context, value: ListValue, index: Value, node: ast.expr) -> None:
    """`del list[index]`."""
    value = opened(cx, known(cx, value, node), node)
    place = in_range(cx, as_index(cx, index, node), as_size(length_now(cx, value, node)), node)
    _remove_at(cx, value, place, node)


def _insert(cx: Context, value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 2)
    _refuse_shared(cx, value, call, 1)
    node = call.node
    index = Number(as_index(cx, call.values[0], call.place(0)), weak=True)
    before = Number(length_now(cx, value, node), weak=True)
    place = freeze(cx, run_written(cx, list_functions.place_to_insert, [before, index], node), cx.at(node))
    assert isinstance(place, Literal | Number)
    first = size_of(place)
    value = append(cx, value, call.values[1], node)
    if value.parts:
        for part in _writable(cx, value, node):
            kept = element_at(cx, part, [before.expr], node)
            assert isinstance(kept, Number)
            held = cx.temporary(kept.expr, cx.at(node))
            _move(cx, part, (before.expr, first), -1, node)
            cx.emit(Store(part.array.name, place_of(part, [first]), held, at=cx.at(node)))
    return Fixed(None)


def _remove(cx: Context, value: ListValue, call: Arguments) -> Value:
    place = as_number(cx, _find(cx, list_functions.known_place, value, call), call.node)
    assert isinstance(place, Number)
    _remove_at(cx, value, cx.once(place.expr, cx.at(call.node)), call.node)
    return Fixed(None)


# ---- what finds elements ----------------------------------------------------------------------------------------


def _find(cx: Context, function: Callable[..., object], value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 1)
    return find(cx, function, value, call.values[0], call.node)


def find(cx: Context, function: Callable[..., object], value: ListValue, item: Value, node: ast.AST) -> Value:
    """What one of list_functions.py says of the elements that equal an item."""
    value = known(cx, value, node)
    if value.rows is not None:
        return _find_row(cx, function, value, item, node)
    parts = Items(elements_of(cx, value, node, of_texts=True))
    if value.holds_texts:
        item = number_of_text(cx, item, node)
    item = flattened(item)
    if form_of(value.kind) != form_of(item.kind if isinstance(item, Items) else None):
        raise cx.error(node, "the elements of this list are of another kind")
    wanted = item if isinstance(item, Items) else Items((item,))
    if value.columns:
        if value.holds_rows:
            raise cx.error(node, "a list of tuples with arrays or lists is not searched here", remedy="write a loop")
        texts = [number_of_text(cx, one, node) if column is not None and not isinstance(one, Literal | Number) else one
                 for one, column in zip(wanted.items, value.columns, strict=False)]  # fmt: skip
        wanted = replace(wanted, items=tuple(texts)) if len(texts) == len(wanted.items) else wanted
    if objects_differ(cx, ast.Eq(), of_class((), value.kind), item, node):
        raise cx.error(node, "the elements of this list are of another class")
    if len(wanted.items) != len(parts.items) or isinstance(item, Items) != value.is_tuple:
        raise cx.error(node, "the elements of this list are of another kind")
    return run_written(cx, function, [parts, wanted], node)


_OF_ROWS: dict[Callable[..., object], Callable[..., object]] = {
    list_functions.known_place: list_functions.known_row, list_functions.is_among: list_functions.is_row_among,
}  # fmt: skip


def _find_row(cx: Context, function: Callable[..., object], value: ListValue, item: Value, node: ast.AST) -> Value:
    """The same of a list of lists of numbers."""
    table, of_rows = value.rows, _OF_ROWS.get(function)
    assert table is not None
    wanted: Value = item
    if isinstance(item, ListValue) and known(cx, item, node).rows is None:
        (wanted, *others) = elements_of(cx, item, node)
    else:
        others = []
    is_list = isinstance(item, ListValue) or (isinstance(item, Items) and bool(item.is_list and item.items))
    if table.holds_arrays or table.is_tuple or len(table.parts) > 1 or others or not is_list or of_rows is None:
        raise cx.error(node, "a list cannot be searched for this", "it holds arrays, or lists, and these of numbers",
                       "write a loop that compares them")  # fmt: skip
    known(cx, ListValue(table.parts, ZERO, table.key), node)
    (numbers,) = elements_of(cx, value, node)
    return run_written(cx, of_rows, [numbers, table.starts, table.sizes[0], table.parts[0], wanted], node)


def lists_equal(cx: Context, left: Value, right: Value, node: ast.AST) -> Value | None:
    """`left == right` of two lists of numbers or of tuples of numbers, of which one at least has elements that the run
    tells; None for anything else."""
    pair: list[ListValue] = []
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Items) and one.is_list is False:  # a tuple is no list
            return Literal(isinstance(other, Items))
        if isinstance(one, Items) and not one.items and isinstance(other, ListValue):
            return Literal(False) if other.is_of_tuple else Number(Compare("eq", other.length, ZERO), weak=True)
    for k, value in enumerate((left, right)):
        if isinstance(value, Items) and value.is_list and value.items:
            value = new_list(cx, value.items, _node_of(cx, node, k))
        if not isinstance(value, ListValue):
            return None
        pair.append(value)
    first, second = (known(cx, one, node) for one in pair)
    if first.is_of_tuple is not second.is_of_tuple:
        return Literal(False)
    if first.holds_rows or second.holds_rows or len(first.parts) != len(second.parts):
        raise cx.error(node, "lists of lists or of arrays are not compared here", remedy="write a loop")
    if first.is_tuple is not second.is_tuple or first.kind is not second.kind:
        raise cx.error(node, "lists of elements of other kinds are not compared here", remedy="write a loop")
    if first.holds_texts is not second.holds_texts or first.columns != second.columns:
        raise cx.error(node, "a list of texts is compared with others only")
    equal: Expr | None = None
    sides = (elements_of(cx, one, node, of_texts=True) for one in (first, second))
    for number, (a, b) in enumerate(zip(*sides, strict=True)):
        found = run_written(cx, list_functions.are_equal, [a, b], node, number)
        assert isinstance(found, Number)
        equal = found.expr if equal is None else Binary("and", equal, cx.once(found.expr, cx.at(node)))
        equal = cx.once(equal, cx.at(node))
    assert equal is not None
    return Number(equal, weak=True)


def _node_of(cx: Context, node: ast.AST, number: int) -> ast.expr:
    """What a list that is made for one side of a comparison is known by."""
    key = (id(node), "side", number)
    if key not in cx.session.calls:
        cx.session.calls[key] = ast.copy_location(ast.Call(ast.Name("list"), [], []), node)
    return cx.session.calls[key]


def is_among(cx: Context, item: Value, value: ListValue, node: ast.AST) -> Value:
    """`item in list`."""
    return find(cx, list_functions.is_among, value, item, node)


def _index(cx: Context, value: ListValue, call: Arguments) -> Value:
    return _find(cx, list_functions.known_place, value, call)


def _count(cx: Context, value: ListValue, call: Arguments) -> Value:
    return _find(cx, list_functions.times_among, value, call)


# ---- what orders and copies elements -----------------------------------------------------------------------------


def sort(cx: Context, value: ListValue, call: Arguments, apply: Apply) -> None:
    """`list.sort(key=..., reverse=...)`."""
    node, key, turned = call.node, call.named.get("key"), call.named.get("reverse", Literal(False))
    if not isinstance(turned, Literal):
        raise cx.error(node, "'reverse' is True or False here, known at compile time")
    value = known(cx, value, node)
    if value.holds_texts:
        raise cx.error(node, "a list of texts has no order here", remedy="sort it where the function is called")
    if turned.value:  # equal elements stay in their order
        _turn_around(cx, value, node)
    parts = _writable(cx, value, node)
    if (value.rows is not None or value.columns) and key is None:
        raise cx.error(
            node,
            "a list of lists, arrays or texts has no order here",
            remedy="give a key, as key=len",
        )
    if key is None:
        objects_differ(cx, ast.Lt(), of_class((), value.kind), of_class((), value.kind), node)
    if key is None or (isinstance(key, Fixed) and key.value is None):
        keys: Sequence[View] = parts
    else:
        keys = _keys(cx, value, key, call, apply)
    if len(parts) == 1 and keys is parts:
        run_written(cx, list_functions.sort_numbers, parts, node)
    else:
        order = run_written(cx, list_functions.order_of, [keys[-1]], node)
        for number in range(len(keys) - 2, -1, -1):
            order = run_written(cx, list_functions.ordered_further, [order, keys[number]], node, number)
        for number, part in enumerate(parts):
            run_written(cx, list_functions.rearrange, [part, order], node, number)
    if turned.value:
        _turn_around(cx, value, node, len(parts))


def _keys(cx: Context, value: ListValue, key: Value, call: Arguments, apply: Apply) -> Sequence[View]:
    """What `key` gives for each element."""
    place = call.node.func if call.node.keywords else call.node
    result = new_list(cx, [], place)
    size = as_size(length_now(cx, value, call.node))

    def write(index: list[Expr]) -> None:
        item = items_at(cx, value, index[0], call.node)
        append(cx, result, apply(cx, key, Arguments(call.node, "key", (item,), {})), place)

    nest(cx, (size,), write, call.node)
    return _writable(cx, cx.lists.get(result.key, result), call.node)


def _turn_around(cx: Context, value: ListValue, node: ast.AST, first: int = 0) -> None:
    for number, part in enumerate(_writable(cx, value, node)):
        run_written(cx, list_functions.turn_around, [part], node, first + number)


def _reverse(cx: Context, value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    _turn_around(cx, value, call.node)
    return Fixed(None)


def copy_of(cx: Context, value: Value, node: ast.expr) -> ListValue:
    """A new list of the elements of a list, an array or a tuple."""
    if isinstance(value, ListValue) and known(cx, value, node).holds_rows:
        return index_list(cx, value, SliceIndex(None, None, None), node)  # type: ignore[return-value]
    result = new_list(cx, [], node)
    extend(cx, result, value, node)
    return cx.lists.get(result.key, result)


def _copy(cx: Context, value: ListValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    if value.columns or (value.rows is not None and value.rows.holds_arrays):
        refuse_handed_on(cx, call.node)  # of a caller's list: the code does not tell that this is one
    return copy_of(cx, value, call.node)


def list_by_operator(cx: Context, left: Value, op: ast.operator, right: Value, node: ast.expr) -> Value | None:
    """`list + list`, `list * n`, `tuple * n`; None for all else."""
    if isinstance(op, ast.Mult):
        if _is_sequence(right):
            left, right = right, left
        if isinstance(left, Items) and not left.is_list and isinstance(right, Literal) and isinstance(right.value, int):
            return Items(left.items * right.value)
        return _repeated(cx, left, right, node) if _is_list(left) and isinstance(right, Literal | Number) else None
    if isinstance(op, ast.Add) and _is_list(left) and _is_list(right):
        result = new_list(cx, [], node)
        for part in (left, right):
            extend(cx, cx.lists.get(result.key, result), part, node)
        return cx.lists.get(result.key, result)
    return None


def _is_list(value: Value) -> bool:
    return isinstance(value, ListValue) or (isinstance(value, Items) and bool(value.is_list))


def _is_sequence(value: Value) -> bool:
    return isinstance(value, ListValue | Items)


def _repeated(cx: Context, value: Value, times: Value, node: ast.expr) -> ListValue:
    """A list with the elements of another one, so many times over."""
    count = cx.once(as_index(cx, times, node, "a number of times"), cx.at(node))
    if isinstance(value, Items) and any(map(is_held, value.items)):
        refuse_handed_on(cx, node)
    if isinstance(value, Items) and len(value.items) == 1:
        return new_list(cx, value.items, node, count)
    name = cx.target_names.get(id(node), "")
    is_changed = bool(name) and any(changes_inner(one, name) for one in own_nodes(cx.frame.tree))
    if is_changed and isinstance(value, Items) and any(map(is_held, value.items)):
        raise cx.error(node, "a list of several lists that change cannot be repeated",
                       "in Python, each of them is in it several times", "write a loop that appends")  # fmt: skip
    result = new_list(cx, [], node)
    nest(cx, (as_size(count),), lambda index: extend(cx, cx.lists.get(result.key, result), value, node), node)
    return cx.lists.get(result.key, result)


def made_list(cx: Context, node: ast.Call) -> ListValue:
    """`list(sequence)`, and what `sorted(sequence)` begins with."""
    if len(node.args) != 1:
        raise cx.error(node, "this takes one sequence here", remedy="write [] for an empty list")
    argument = node.args[0]
    if isinstance(argument, ast.ListComp | ast.GeneratorExp):
        return comprehension_list(cx, argument, node)
    sequence = sequence_of(cx, argument)
    result = new_list(cx, [], node)

    def put_in(item: Value) -> None:
        if is_held(item) or (isinstance(item, Items) and any(map(is_held, item.items))):
            refuse_handed_on(cx, node)
        append(cx, result, item, node)

    def write(index: list[Expr]) -> None:
        put_in(sequence.item(cx, index[0]))

    if sequence.fixed is not None and isinstance(sequence.size, Literal):
        for item in sequence.fixed:
            put_in(item)
    else:
        nest(cx, (sequence.size,), write, node)
        refuse_growing(cx, sequence.size, argument)
    return cx.lists.get(result.key, result)


def listed(cx: Context, array: ArrayLike, call: Arguments) -> ListValue:
    """`a.tolist()` of an array with one axis: a list of Python's numbers."""
    call.expect(cx, 0)
    if len(array.shape) != 1:
        raise cx.error(call.node, "'.tolist()' of an array with several axes is outside the language",
                       remedy="make a list of each row: [row.tolist() for row in a]")  # fmt: skip
    items, result = steady(cx, array, call.node), new_list(cx, [], call.node)

    def write(index: list[Expr]) -> None:
        append(cx, result, number_method(cx, "item", element_at(cx, items, index, call.node), call), call.node)

    nest(cx, (clipped(cx, items.shape[0]),), write, call.node)
    return cx.lists.get(result.key, result)


def mapped(cx: Context, node: ast.Call) -> Value:
    """The items of `map(...)`, where they are used at once: a tuple where each is read, else a list."""
    sequence = sequence_of(cx, node)
    if sequence.fixed is not None and isinstance(sequence.size, Literal):
        return Items(sequence.fixed)
    key = (id(node), "mapped", 0)
    if key not in cx.session.calls:
        made = ast.Call(ast.Name("list"), [node], [])
        cx.session.calls[key] = ast.fix_missing_locations(ast.copy_location(made, node))
    return made_list(cx, cx.session.calls[key])


_NEW = (ast.List, ast.ListComp)
"""What makes a list that nobody else has."""


def comprehension_list(cx: Context, comprehension: ast.ListComp | ast.GeneratorExp, node: ast.expr) -> ListValue:
    """`[x for ... if ... for ...]`, item by item."""
    result = new_list(cx, [], node)
    item, owner = comprehension.elt, cx.target_names.get(id(node), "")

    def write() -> None:
        value = cx.evaluate(item)
        is_list = isinstance(value, ListValue) or (isinstance(value, Items) and bool(value.is_list))
        is_tuple = isinstance(value, Items) and not is_list and any(map(is_held, value.items))
        if owner and (is_list or is_array(value) or is_tuple) and not is_slice_of_list(value, item):
            refuse_copies(cx, owner, comprehension, item)
        elif (
            is_array(value)
            or is_tuple
            or (isinstance(value, ListValue) and not is_slice_of_list(value, item) and not isinstance(item, _NEW))
        ):
            refuse_handed_on(cx, node)
        if isinstance(value, Items) and rows.is_deep(value):
            rows.refuse_shared(cx, owner, value, item, item)
        append(cx, result, value, item)

    write_generators(cx, comprehension.generators, node, write)
    return cx.lists.get(result.key, result)


_METHODS: dict[str, Callable[[Context, ListValue, Arguments], Value]] = {
    "pop": _pop, "clear": _clear, "insert": _insert, "remove": _remove, "index": _index, "count": _count,
    "reverse": _reverse, "copy": _copy,
}  # fmt: skip
