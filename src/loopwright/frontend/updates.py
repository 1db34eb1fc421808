"""`x += v`: of an array it writes the elements and assigns no name, of a number it assigns one. Which of the two it is
says which assignments belong together, so all is read again where that was not known."""

from __future__ import annotations

import ast

from loopwright.frontend.context import Context, Restart
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.webs import Web


def updates_in_place(cx: Context, target: ast.Name) -> None:
    """Note that an `x += v` is one of an array. Raises Restart where that was not known."""
    mark = (cx.frame.path, id(target))
    if mark in cx.session.of_numbers:
        error = cx.error(target, f"'{target.id}' is an array here and a number elsewhere", remedy="use another name")
        cx.session.mixed.append((error, cx.frame.tree, target.id))
        raise error
    if mark not in cx.session.in_place:
        cx.session.in_place.add(mark)
        raise Restart


def web_of_update(cx: Context, target: ast.Name) -> Web:
    """The variable that an `x += v` of a number assigns. Raises Restart where it was taken for one of an array."""
    web = cx.frame.webs.stores.get(id(target))
    if web is None:
        mark = (cx.frame.path, id(target))
        cx.session.in_place.discard(mark)
        cx.session.of_numbers.add(mark)
        raise Restart
    return web


def takes_updates_in_place(cx: Context, web: Web) -> bool:
    """Of a variable that is assigned an array: whether some `x += v` of it was taken for one of a number until now."""
    marks = {
        (cx.frame.path, id(node.target))
        for node in own_nodes(cx.frame.tree)
        if isinstance(node, ast.AugAssign) and cx.frame.webs.stores.get(id(node.target)) == web
    }
    new = marks - cx.session.in_place - cx.session.of_numbers
    cx.session.in_place |= new
    return bool(new)
