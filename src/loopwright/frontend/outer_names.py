"""`nonlocal`: the variables of the functions around a nested one, which it assigns.

Only numbers, and tuples of numbers: what a name of arrays or lists means is told from the text of its own function.
"""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context
from loopwright.frontend.refusals import assigns_outside, refuse_statement
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.updates import web_of_update
from loopwright.frontend.values import Items, Literal, Number, Value, describe
from loopwright.frontend.variables import assign_web, key_of_target, store_variable
from loopwright.frontend.webs import Web


def declare_nonlocal(cx: Context, node: ast.Nonlocal) -> None:
    """`nonlocal a, b`. Raises KernelError for a name that is assigned here and belongs to no function of the kernel."""
    free = {} if cx.frame.closure is None else cx.frame.closure.free
    nodes = own_nodes(cx.frame.tree)
    assigned = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    if assigns_outside(node, cx.frame.tree) and not assigned & set(node.names) <= free.keys():
        raise refuse_statement(cx, node)


def own_variable(cx: Context, node: ast.Name | ast.FunctionDef) -> Web:
    """The variable of this function that a `def` or a `:=` assigns. Raises KernelError for one of another function."""
    web = cx.frame.webs.stores.get(id(node))
    if web is None:
        name = node.name if isinstance(node, ast.FunctionDef) else node.id
        raise cx.error(node, f"'{name}' belongs to a function around this one, and is assigned here",
                       "only '=' and 'for' assign such a name", "use another name here")  # fmt: skip
    return web


def assign_name(cx: Context, target: ast.Name, value: Value, value_node: ast.AST) -> None:
    """`name = value`, of this function or of one around it."""
    web = cx.frame.webs.stores.get(id(target))
    if web is not None:
        assign_web(cx, web, value, target, value_node)
    else:
        _assign_outer(cx, target, value, value_node)


def assign_update(cx: Context, target: ast.Name, value: Value, node: ast.AugAssign) -> None:
    """`name += v` of a number: its new value."""
    if target.id in cx.frame.webs.locals:
        assign_web(cx, web_of_update(cx, target), value, target, node)
    else:
        _assign_outer(cx, target, value, node)


def _assign_outer(cx: Context, target: ast.Name, value: Value, value_node: ast.AST) -> None:
    key = key_of_target(cx, target)
    if not _is_of_numbers(value):
        raise cx.error(target, f"'{target.id}' belongs to a function around this one, and is assigned here",
                       f"this is {describe(value)}: only numbers, and tuples of numbers, are assigned from inside",
                       "return it, and assign it where the function is called")  # fmt: skip
    store_variable(cx, key, target.id, value, target, value_node)


def _is_of_numbers(value: Value) -> bool:
    return all(map(_is_of_numbers, value.items)) if isinstance(value, Items) else isinstance(value, Literal | Number)
