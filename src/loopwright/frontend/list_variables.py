"""Names that stand for one list now and for another one later: `frontier = following` at the end of a loop.

Such a name has a list of its own, into which each list that it is given is copied. That is right where nobody else goes
on using what it is given; everything else is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend.array_names import list_copy_shows
from loopwright.frontend.chosen_texts import note_made
from loopwright.frontend.context import Context
from loopwright.frontend.infer import Key
from loopwright.frontend.list_uses import RESIZERS
from loopwright.frontend.lists import GIVEN, extend, new_list
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Items, ListValue, TableValue, Value
from loopwright.frontend.views import ZERO
from loopwright.ir.nodes import Assign, Var


def store_container(
    cx: Context, key: Key, name: str, value: ListValue | TableValue, node: ast.AST, value_node: ast.AST
) -> None:
    """`name = value` of a list, a set or a dict."""
    if isinstance(value, ListValue):
        store_list(cx, key, name, value, node, value_node)
    else:
        cx.store_table_with(cx, key, name, value, node, value_node)


def store_list(cx: Context, key: Key, name: str, value: ListValue, node: ast.AST, value_node: ast.AST) -> None:
    """`name = list`. Raises KernelError where the list has another name that is used later."""
    if key in cx.session.optional:
        raise cx.error(node, f"'{name}' is a list here, and None elsewhere",
                       remedy="begin with an empty list, and a bool that says so")  # fmt: skip
    if value.home is not None or value.holds_rows:
        raise cx.error(node, f"'{name}' stands for several lists that are in lists, or have lists in them",
                       remedy="use another name for each")  # fmt: skip
    is_of_helper = value.key[:-2] not in {frame.path for frame in cx.active}  # which has returned, and forgets it
    is_new = value.key[-1] == id(value_node) or is_of_helper or value.is_text
    if not is_new and not (isinstance(value_node, ast.Name) and _may_be_copied(cx, name, value, node, value_node)):
        raise cx.error(
            node,
            f"'{name}' is assigned a list that another name still refers to",
            "a name that stands for several lists keeps its own list",
            f"write {name} = x.copy(), or make the other list again before each use",
        )
    if key not in cx.list_variables:
        outer, cx.body, depth, cx.depth = cx.body, cx.prologue, cx.depth, 0
        cx.target_names[id(node)] = name
        if value.is_text:
            note_made(cx, (*cx.frame.path, "list", id(node)))
        cx.list_variables[key] = new_list(cx, [], node)  # type: ignore[arg-type]
        cx.body, cx.depth = outer, depth
    own = cx.list_variables[key]
    if value.key == own.key:
        return
    assert isinstance(own.length, Var)
    cx.emit(Assign(own.length.name, ZERO, at=cx.at(node)))
    if cx.session.types.of(value.key) is not None or value.parts:  # else nothing is ever put in
        extend(cx, own, value, node)


def _may_be_copied(cx: Context, name: str, value: ListValue, node: ast.AST, value_node: ast.Name) -> bool:
    """Whether nobody notices that a name gets a copy of the list of another one."""
    if _ends_with(cx.frame.tree, node, value_node):
        return True
    return value.key[0] != GIVEN and not list_copy_shows(cx.frame, name, value_node, node)


def apart_from_targets(
    cx: Context, items: tuple[Value, ...], keys: Sequence[Key | None], places: Sequence[ast.expr]
) -> tuple[Value, ...]:
    """The values of `u, v = v, u`: of lists that an assignment before theirs fills anew, copies."""
    result, filled = list(items), set[object]()
    for k, (item, key) in enumerate(zip(items, keys, strict=True)):
        if isinstance(item, ListValue) and item.key in filled and isinstance(places[k], ast.Name):
            result[k] = _copied(cx, item, places[k])  # type: ignore[arg-type]
        if key is not None and key in cx.list_variables:
            filled.add(cx.list_variables[key].key)
    return tuple(result)


def kept_list(cx: Context, name: str, value: ListValue, node: ast.Name, value_node: ast.AST) -> ListValue:
    """The list that a name stands for: of one that is given other elements when its own name is assigned, a copy.
    Raises KernelError where that would show."""
    if all(value.key != one.key for one in cx.list_variables.values()):
        is_slice = _is_slice(value_node) and not value.is_open and not value.holds_rows
        return _copied(cx, value, node) if is_slice and _may_grow(cx.frame.tree, name) else value
    if not isinstance(value_node, ast.Name) or value.holds_rows or list_copy_shows(cx.frame, name, value_node, node):
        raise cx.error(
            node, f"'{name}' is another name for a list that is assigned again", remedy="copy it, with .copy()"
        )
    return _copied(cx, value, node)


def own_slice(cx: Context, name: str, value: Items, node: ast.Name, value_node: ast.AST) -> Value:
    """What a name stands for that is given part of a list that was just written: a list, where it may get another
    length."""
    is_slice = value.is_list and _is_slice(value_node)
    return _copied(cx, value, node) if is_slice and _may_grow(cx.frame.tree, name) else value


def _is_slice(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def _copied(cx: Context, value: ListValue | Items, node: ast.Name) -> ListValue:
    if isinstance(value, ListValue) and value.is_text:
        note_made(cx, (*cx.frame.path, "list", id(node)))
    result = new_list(cx, [], node)
    extend(cx, result, value, node)
    return cx.lists.get(result.key, result)


_ONLY_READ = ("len", "sum", "min", "max", "enumerate", "zip", "sorted", "reversed", "any", "all")


def _may_grow(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a list of this name may get another length: by a method, an operator, or in what it is passed to."""
    for part in own_nodes(tree):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=changed), attr=method)) if changed == name:
                if method in RESIZERS:
                    return True
            case ast.Call(func=function, args=arguments) if any(
                isinstance(one, ast.Name) and one.id == name for one in arguments
            ):
                if not (isinstance(function, ast.Name) and function.id in _ONLY_READ):
                    return True
            case (
                ast.AugAssign(target=ast.Name(id=changed))
                | ast.Delete(targets=[ast.Subscript(value=ast.Name(id=changed))])
            ):
                if changed == name:
                    return True
            case _:
                pass
    return False


def _ends_with(tree: ast.FunctionDef, target: ast.AST, value: ast.Name) -> bool:
    """Whether a name is assigned in the block of `target = name`, and used nowhere but from there to here."""
    for parent in ast.walk(tree):
        for block in (getattr(parent, "body", None), getattr(parent, "orelse", None)):
            for last, statement in enumerate(block if isinstance(block, list) else []):
                if isinstance(statement, ast.Assign) and target in statement.targets:
                    return _lives_in(tree, block, last, value)  # type: ignore[arg-type]
    return False


def _lives_in(tree: ast.FunctionDef, block: list[ast.stmt], last: int, value: ast.Name) -> bool:
    def uses(statement: ast.AST) -> int:
        return sum(isinstance(part, ast.Name) and part.id == value.id for part in ast.walk(statement))

    def begins(statement: ast.stmt) -> bool:
        return isinstance(statement, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == value.id for target in statement.targets
        )

    first = next((k for k in range(last) if begins(block[k])), last)
    inside = sum(map(uses, block[first : last + 1]))
    return uses(block[last]) == 1 and inside == uses(tree) and first < last and value in own_nodes(tree)
