"""Names that stand for one set or dict now and for another one later: `seen = set()` in a loop that goes on with it.

Such a name has a table of its own, into which each that it is given is copied, slot by slot, so that its order is the
same. That is right where nobody else goes on using what it is given; everything else is refused.
"""

from __future__ import annotations

import ast

from loopwright.frontend import table_functions
from loopwright.frontend.array_names import list_copy_shows
from loopwright.frontend.context import Context
from loopwright.frontend.infer import Key
from loopwright.frontend.inline import run_written
from loopwright.frontend.promote import NumberType
from loopwright.frontend.tables import clear, new_table, writable
from loopwright.frontend.values import Items, TableValue, Value

_OWN = -1  # the number of the table of a variable, among those at one node


def store_table(cx: Context, key: Key, name: str, value: TableValue, node: ast.AST, value_node: ast.AST) -> None:
    """`name = table`. Raises KernelError where the table has another name that is used later."""
    what = "dict" if value.is_dict else "set"
    own = cx.table_variables.get(key)
    if key in cx.session.optional:
        raise cx.error(node, f"'{name}' is a {what} here, and None elsewhere",
                       remedy="begin with an empty one, and a bool that says so")  # fmt: skip
    if value.shows != "keys" or (own is not None and own.is_dict != value.is_dict) or _has_rows(cx, value):
        raise cx.error(node, f"'{name}' stands for several dicts that hold lists or arrays, or for dicts and sets",
                       remedy="use another name for each")  # fmt: skip
    is_of_helper = value.key[:-3] not in {frame.path for frame in cx.active}  # which has returned, and forgets it
    is_new = value.key[-2] == id(value_node) or is_of_helper
    if not is_new and (not isinstance(value_node, ast.Name) or _shows(cx, name, value, node, value_node)):
        raise cx.error(
            node,
            f"'{name}' is assigned a {what} that another name still refers to",
            f"a name that stands for several {what}s keeps its own {what}",
            f"write {name} = x.copy(), or make the other {what} again before each use",
        )
    if own is None:
        outer, cx.body, depth, cx.depth = cx.body, cx.prologue, cx.depth, 0
        cx.target_names[id(node)] = name
        cx.table_variables[key] = own = new_table(cx, value.is_dict, node, _OWN)
        cx.body, cx.depth = outer, depth
    if value.key != own.key:
        _copy(cx, own, value, node)


def kept_table(cx: Context, name: str, value: TableValue, node: ast.AST, value_node: ast.AST) -> TableValue:
    """The table that a name stands for: of one that is given other items when its own name is assigned, a copy. Raises
    KernelError where that would show."""
    if all(value.key != one.key for one in cx.table_variables.values()):
        return value
    if not isinstance(value_node, ast.Name) or value.shows != "keys" or _shows(cx, name, value, node, value_node):
        what = "dict" if value.is_dict else "set"
        raise cx.error(
            node, f"'{name}' is another name for a {what} that is assigned again", remedy="copy it, with .copy()"
        )
    result = new_table(cx, value.is_dict, node, _OWN)
    _copy(cx, result, value, node)
    return cx.hash_tables.get(result.key, result)


def _shows(cx: Context, name: str, value: TableValue, node: ast.AST, value_node: ast.Name) -> bool:
    """Whether somebody would notice that a name gets a copy."""
    return value.key in cx.given_tables or list_copy_shows(cx.frame, name, value_node, node)


def _has_rows(cx: Context, value: TableValue) -> bool:
    kind = cx.session.types.of((*value.key, "value"))
    return isinstance(kind, int) and kind < 0


def _copy(cx: Context, own: TableValue, value: TableValue, node: ast.AST) -> None:
    """Have a table hold what another one holds."""
    if not all(_noted(cx, (*own.key, part), (*value.key, part), node) for part in ("key", "value")[: 1 + own.is_dict]):
        clear(cx, own, node)  # nothing is ever put into the other one
        return
    mine, other = cx.hash_tables.get(own.key), cx.hash_tables.get(value.key)
    if mine is None or other is None:
        return  # in the next round
    assert mine.state is not None and other.state is not None
    columns = [Items((*writable(one.keys).items, *writable(one.values).items)) for one in (mine, other)]
    if mine.slots is None or other.slots is None:
        given: list[Value] = [columns[0], mine.state, mine.head, columns[1], other.state, other.head]
        run_written(cx, table_functions.copy_set, given, node)
    else:
        given = [columns[0], mine.state, mine.slots, mine.head, columns[1], other.state, other.slots, other.head]
        run_written(cx, table_functions.copy_dict, given, node)


def _noted(cx: Context, own: Key, other: Key, node: ast.AST) -> bool:
    """Note that a column holds what another one holds. False where nothing is known of that one."""
    types = cx.session.types
    count = types.of(other)
    if not isinstance(count, int):
        return False
    if types.assign(own, count) != count:
        raise cx.error(node, "each key, and each value, is of one kind here: a number, or a tuple of one length")
    for k in range(max(count, 1)):
        kind = types.of((*other, k))
        if not isinstance(kind, NumberType):
            return False
        if types.assign((*own, k), kind) is None:
            raise cx.error(node, "the keys or the values have types of their own", "no type holds all of them")
    return True
