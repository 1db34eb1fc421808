"""The methods of sets and dicts, their literals and comprehensions, `set(...)`, `dict()`, and `| & -` of sets."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from loopwright.frontend import table_functions
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_number, in_type, negated, truth
from loopwright.frontend.elementwise import nest
from loopwright.frontend.inline import run_written
from loopwright.frontend.iteration import sequence_of, write_generators
from loopwright.frontend.operands import operands
from loopwright.frontend.operators import common_type
from loopwright.frontend.tables import (
    add_key,
    clear,
    contains,
    delete_key,
    elements,
    get_item,
    item_at,
    kind_of,
    known,
    new_table,
    parts_of,
    refuse_shared,
    set_item,
    size_of_table,
    written,
)
from loopwright.frontend.values import (
    Fixed,
    Items,
    Number,
    Shows,
    TableValue,
    Value,
    describe,
    from_object,
)
from loopwright.frontend.views import as_size
from loopwright.ir.nodes import BinaryOp, Compare, Const, Expr, If, Select
from loopwright.ir.types import BOOL, INT64

Method = Callable[[Context, TableValue, Arguments], Value]


def method_of_table(cx: Context, table: TableValue, call: Arguments) -> Value:
    """`set.add(x)`, `dict.get(k, 0)` and the like."""
    methods = _OF_DICTS if table.is_dict else _OF_SETS
    if call.name not in methods:
        raise cx.error(call.node, f"'.{call.name}()' of {describe(table)} is outside the language",
                       remedy=f"there are {', '.join(sorted(methods))}")  # fmt: skip
    return methods[call.name](cx, table, call)


def _key_and(cx: Context, call: Arguments, count: int) -> list[Value]:
    call.expect(cx, 1, count)
    return list(call.values)


# ---- sets -------------------------------------------------------------------------------------------------------


def _add(cx: Context, table: TableValue, call: Arguments) -> Value:
    (key,) = _key_and(cx, call, 1)
    add_key(cx, table, key, call.node)
    return Fixed(None)


def _discard(cx: Context, table: TableValue, call: Arguments) -> Value:
    (key,) = _key_and(cx, call, 1)
    written(cx, table_functions.discard_from_set, table, key, call.node)
    return Fixed(None)


def _remove(cx: Context, table: TableValue, call: Arguments) -> Value:
    (key,) = _key_and(cx, call, 1)
    written(cx, table_functions.remove_from_set, table, key, call.node)
    return Fixed(None)


def _clear(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    clear(cx, table, call.node)
    return Fixed(None)


def _pop_from_set(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    table = known(cx, table, call.node)
    assert table.state is not None
    slot = as_number(cx, run_written(cx, table_functions.slot_to_pop, [table.state, table.head], call.node), call.node)
    assert isinstance(slot, Number)
    place = cx.temporary(slot.expr, cx.at(call.node))
    return _kept_key(cx, table, place, call.node)


def _kept_key(cx: Context, table: TableValue, place: Expr, node: ast.AST) -> Value:
    found = item_at(cx, table, place, node)
    items = found.items if isinstance(found, Items) else (found,)
    kept = tuple(Number(cx.temporary(one.expr, cx.at(node)), one.weak) for one in items if isinstance(one, Number))
    return Items(kept) if isinstance(found, Items) else kept[0]


def _update(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 1)
    update(cx, table, call.node.args[0], call.values[0], call.node)
    return Fixed(None)


def update(cx: Context, table: TableValue, argument: ast.expr, value: Value | None, node: ast.AST) -> None:
    """Put all items of something that can be gone over into a set."""
    if isinstance(value, TableValue):
        _merge(cx, table, value, node)
        return
    sequence = sequence_of(cx, argument)
    if sequence.fixed is not None:
        for number, item in enumerate(sequence.fixed):
            add_key(cx, table, item, node, number)
        return

    def write(index: list[Expr]) -> None:
        add_key(cx, table, sequence.item(cx, index[0]), node)

    nest(cx, (sequence.size,), write, node)


def _merge(cx: Context, table: TableValue, other: TableValue, node: ast.AST) -> None:
    """Put all keys of a set or a dict into a set, as CPython does it: its own change nothing, not even its order."""
    if table.key == other.key:
        return
    size, item, _ = elements(cx, other, node)

    def write(index: list[Expr]) -> None:
        add_key(cx, table, item(cx, index[0]), node)

    with cx.inner_body() as added:
        nest(cx, (as_size(size.expr),), write, node)
    found, other = cx.hash_tables.get(table.key), known(cx, other, node)
    condition: Expr = Const(True, BOOL)
    if found is not None:
        run_written(cx, table_functions.make_room, [*parts_of(found), kind_of(found), size], node)
        if not other.is_dict:
            parts = [*parts_of(found), *parts_of(other)]
            took = truth(cx, run_written(cx, table_functions.takes_layout, parts, node), node)
            assert not isinstance(took, bool)
            condition = negated(took)
    cx.emit(If(condition, tuple(added), at=cx.at(node)))


def _copy(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    result = new_table(cx, False, call.node)
    _merge(cx, result, table, call.node)
    return result


def set_operation(cx: Context, op: BinaryOp, left: TableValue, right: TableValue, node: ast.AST) -> Value:
    """`left | right`, `left & right`, `left - right`. Raises KernelError for other operators."""
    if op not in ("or", "and", "sub") or left.is_dict or right.is_dict:
        raise cx.error(node, f"this operator between {describe(left)} and {describe(right)} is outside the language")
    result = new_table(cx, False, node)
    if op == "or":
        _merge(cx, result, left, node)
        _merge(cx, result, right, _other(cx, node))
    elif op == "sub":
        _keep(cx, result, left, right, node, wanted=False)
    else:
        swaps = Compare("gt", size_of_table(right).expr, size_of_table(left).expr)
        with cx.inner_body() as first:
            _keep(cx, result, left, right, _other(cx, node), wanted=True)
        with cx.inner_body() as second:
            _keep(cx, result, right, left, node, wanted=True)
        cx.emit(If(swaps, tuple(first), tuple(second), at=cx.at(node)))
    return cx.hash_tables.get(result.key, result)


def _other(cx: Context, node: ast.AST) -> ast.AST:
    """Another node at the same place: what is read there has variables of its own."""
    call = ast.copy_location(ast.Call(ast.Name("set"), [], []), node)
    return cx.session.calls.setdefault((id(node), "other", 0), call)


def _keep(
    cx: Context, result: TableValue, gone_over: TableValue, asked: TableValue, node: ast.AST, wanted: bool
) -> None:
    """Put those keys of one set into another that a third one has, or has not."""
    size, item, _ = elements(cx, gone_over, node)

    def write(index: list[Expr]) -> None:
        key = item(cx, index[0])
        found = truth(cx, contains(cx, asked, key, node), node)
        assert not isinstance(found, bool)
        with cx.inner_body() as then:
            add_key(cx, result, key, node)
        cx.emit(If(found if wanted else negated(found), tuple(then), at=cx.at(node)))

    nest(cx, (as_size(size.expr),), write, node)


# ---- dicts ------------------------------------------------------------------------------------------------------


def _get(cx: Context, table: TableValue, call: Arguments) -> Value:
    given = _key_and(cx, call, 2)
    if len(given) == 2 and table.key not in cx.hash_tables:  # in the next round
        return given[1]
    return _found_or(cx, known(cx, table, call.node), given, call)[1]


def _found_or(cx: Context, table: TableValue, given: list[Value], call: Arguments) -> tuple[Expr, Value]:
    """The place of a key, or a number below 0; and its value, or what is given instead."""
    node = call.node
    if table.rows is not None:
        raise cx.error(node, f"'.{call.name}()' with a default, of a dict of lists or arrays, is outside the language",
                       remedy="write: if k in d")  # fmt: skip
    if len(given) < 2 or (isinstance(given[1], Fixed) and given[1].value is None):
        raise cx.error(node, f"'.{call.name}()' may give None here", remedy="give a number as default for missing keys")
    number = as_number(cx, written(cx, table_functions.entry_of, table, given[0], node), node)
    assert isinstance(number, Number)
    place = cx.temporary(number.expr, cx.at(node))
    is_there = Compare("ge", place, Const(0, INT64))
    found, other = item_at(cx, replace(table, shows="values"), place, node), given[1]
    if isinstance(found, Items) != isinstance(other, Items):
        raise cx.error(node, f"{describe(other)} instead of {describe(found)} is outside the language")
    firsts = found.items if isinstance(found, Items) else (found,)
    seconds = other.items if isinstance(other, Items) else (other,)
    chosen = []
    for a, b in zip(firsts, seconds, strict=True):
        x, y = as_number(cx, a, node), as_number(cx, b, node)
        kind = common_type(cx, [x, y], node)
        either = Select(is_there, in_type(cx, x, kind, node), in_type(cx, y, kind, node))
        chosen.append(Number(cx.temporary(either, cx.at(node)), kind.weak))
    return place, Items(tuple(chosen)) if isinstance(found, Items) else chosen[0]


def _pop_from_dict(cx: Context, table: TableValue, call: Arguments) -> Value:
    given = _key_and(cx, call, 2)
    if len(given) == 1:
        return delete_key(cx, table, given[0], call.node)
    table = known(cx, table, call.node)
    assert table.state is not None
    place, value = _found_or(cx, table, given, call)
    with cx.inner_body() as then:
        entry = Number(place, weak=True)
        run_written(cx, table_functions.delete_entry, [table.state, table.head, entry], call.node)
    cx.emit(If(Compare("ge", place, Const(0, INT64)), tuple(then), at=cx.at(call.node)))
    return value


def _setdefault(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 2)
    key, value = call.values
    refuse_shared(cx, "", table, value, call.place(1), call.node)
    if table.key not in cx.hash_tables:
        set_item(cx, table, key, value, call.node)
    found = truth(cx, contains(cx, table, key, call.node), call.node)
    assert not isinstance(found, bool)
    with cx.inner_body() as then:
        set_item(cx, table, key, value, call.node)
    cx.emit(If(negated(found), tuple(then), at=cx.at(call.node)))
    return get_item(cx, table, key, call.node)


def _copy_dict(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 0)
    result = new_table(cx, True, call.node)
    _put_items(cx, result, table, call.node)
    return cx.hash_tables.get(result.key, result)


def _update_dict(cx: Context, table: TableValue, call: Arguments) -> Value:
    call.expect(cx, 1)
    other = call.values[0]
    if not isinstance(other, TableValue) or not other.is_dict:
        raise cx.error(call.node, f"a dict cannot be updated by {describe(other)}", remedy="write a loop")
    if other.key != table.key:
        _put_items(cx, table, other, call.node)
    return Fixed(None)


def _put_items(cx: Context, table: TableValue, other: TableValue, node: ast.AST) -> None:
    """Put all items of a dict into another one. Raises KernelError for lists and arrays, which the two would share."""
    other = known(cx, other, node)
    if other.rows is not None:
        raise cx.error(node, "a dict of lists or arrays cannot be copied", "the two would have them in common",
                       "write a loop that copies them")  # fmt: skip
    size, item, _ = elements(cx, replace(other, shows="items"), node)

    def write(index: list[Expr]) -> None:
        pair = item(cx, index[0])
        assert isinstance(pair, Items)
        set_item(cx, table, pair.items[0], pair.items[1], node)

    nest(cx, (as_size(size.expr),), write, node)


def _combined(op: BinaryOp) -> Method:
    """`left.union(right)` and the like: the operator of any sequence."""

    def method(cx: Context, table: TableValue, call: Arguments) -> Value:
        call.expect(cx, 1)
        other = call.values[0]
        if not isinstance(other, TableValue) or other.is_dict:
            made = new_table(cx, False, call.node.args[0])
            update(cx, made, call.node.args[0], other if isinstance(other, TableValue) else None, call.node.args[0])
            other = cx.hash_tables.get(made.key, made)
        return set_operation(cx, op, table, other, call.node)

    return method


def _shown(what: Shows) -> Method:
    def method(cx: Context, table: TableValue, call: Arguments) -> Value:
        call.expect(cx, 0)
        return replace(table, shows=what)

    return method


_OF_SETS: dict[str, Method] = {
    "add": _add, "discard": _discard, "remove": _remove, "clear": _clear, "pop": _pop_from_set, "update": _update,
    "copy": _copy, "union": _combined("or"), "intersection": _combined("and"), "difference": _combined("sub"),
}  # fmt: skip
_OF_DICTS: dict[str, Method] = {
    "get": _get, "pop": _pop_from_dict, "setdefault": _setdefault, "clear": _clear,
    "copy": _copy_dict, "update": _update_dict,
    "keys": _shown("keys"), "values": _shown("values"), "items": _shown("items"),
}  # fmt: skip


# ---- how they are made ------------------------------------------------------------------------------------------


def set_literal(cx: Context, node: ast.Set) -> TableValue:
    """`{a, b}`. Three or more constants are a constant set in CPython, of which this one is a copy."""
    result = new_table(cx, False, node)
    is_constant = len(node.elts) > 2 and all(isinstance(_operand(part), ast.Constant) for part in node.elts)
    values: list[object] = [] if not is_constant else list(frozenset(map(ast.literal_eval, node.elts)))
    first = new_table(cx, False, node, 1) if is_constant else result
    for number, value in enumerate(map(from_object, values) if is_constant else operands(cx, node.elts)):
        add_key(cx, first, value, node, number)
    if is_constant:
        _merge(cx, result, first, _other(cx, node))
    return cx.hash_tables.get(result.key, result)


def _operand(node: ast.expr) -> ast.expr:
    return node.operand if isinstance(node, ast.UnaryOp) else node


def dict_literal(cx: Context, node: ast.Dict) -> TableValue:
    """`{a: b}`."""
    result = new_table(cx, True, node)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            raise cx.error(value, "'**' in a dict is outside the language", remedy="write a loop")
        first, second = operands(cx, [key, value])
        refuse_shared(cx, "", result, second, value, value)
        set_item(cx, result, first, second, key)
    return cx.hash_tables.get(result.key, result)


def table_comprehension(cx: Context, node: ast.SetComp | ast.DictComp) -> TableValue:
    """`{x for ...}`, `{k: v for ...}`."""
    result = new_table(cx, isinstance(node, ast.DictComp), node)

    def innermost() -> None:
        if isinstance(node, ast.DictComp):
            key, value = operands(cx, [node.key, node.value])
            refuse_shared(cx, "", result, value, node.value, node.value)
            set_item(cx, result, key, value, node.key)
        else:
            add_key(cx, result, cx.evaluate(node.elt), node.elt)

    write_generators(cx, node.generators, node, innermost)
    return cx.hash_tables.get(result.key, result)


def _dict_comprehension(argument: ast.expr, node: ast.Call) -> ast.DictComp | None:
    """`dict((k, v) for ...)` as `{k: v for ...}`; None for anything else."""
    match argument:
        case ast.ListComp(elt=ast.Tuple(elts=[key, value])) | ast.GeneratorExp(elt=ast.Tuple(elts=[key, value])):
            return ast.copy_location(ast.DictComp(key, value, argument.generators), node)
        case _:
            return None


def called_table(cx: Context, is_dict: bool, node: ast.Call) -> TableValue:
    """`set()`, `set(sequence)`, `dict()`."""
    if is_dict and len(node.args) == 1 and not node.keywords and (pairs := _dict_comprehension(node.args[0], node)):
        return table_comprehension(cx, cx.session.nodes.setdefault(id(node), pairs))  # type: ignore[arg-type]
    if node.keywords or len(node.args) > (0 if is_dict else 1):
        raise cx.error(node, "this takes one sequence here" if not is_dict else "dict() takes no arguments here",
                       remedy="begin with an empty dict, and add its items")  # fmt: skip
    result = new_table(cx, is_dict, node)
    if node.args:
        argument = node.args[0]
        if isinstance(argument, ast.ListComp | ast.GeneratorExp):
            made = ast.copy_location(ast.SetComp(argument.elt, argument.generators), node)
            return table_comprehension(cx, cx.session.nodes.setdefault(id(node), made))  # type: ignore[arg-type]
        is_table = not isinstance(argument, ast.Call) or isinstance(argument.func, ast.Attribute)
        value = cx.evaluate(argument) if is_table else None
        update(cx, result, argument, value if isinstance(value, TableValue) else None, node)
    return cx.hash_tables.get(result.key, result)
