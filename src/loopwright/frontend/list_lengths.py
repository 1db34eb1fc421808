"""Lists that keep the length they are made with, as `count = [0] * 16` for counts: they need no more room than that."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.frontend.context import Context
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.values import Literal, Number, Value

_ONLY_READ = ("len", "sum", "min", "max", "any", "all", "sorted", "enumerate", "zip", "reversed")


def keeps_length(cx: Context, name: str, items: Sequence[Value], node: ast.expr) -> bool:
    """Whether a list of numbers that a name is given has one length: it has no other name, no other list has its name,
    and its elements are read and written one by one. A name's other uses may all make it longer."""
    if not name or not items or not all(isinstance(one, Literal | Number) for one in items):
        return False
    tree = cx.frame.tree
    given = [one for one in ast.walk(tree) if isinstance(one, ast.Assign) and one.value is node]
    is_its = len(given) == 1 and all(isinstance(one, ast.Name) and one.id == name for one in given[0].targets)
    if not is_its or len(given[0].targets) != 1 or name in {one.arg for one in parameters_of(tree)}:
        return False
    uses = sum(isinstance(one, ast.Name) and one.id == name for one in ast.walk(tree))
    declared = any(name in one.names for one in ast.walk(tree) if isinstance(one, ast.Global | ast.Nonlocal))
    return not declared and uses == 1 + sum(_harmless(one, name) for one in ast.walk(tree))


def _harmless(node: ast.AST, name: str) -> int:
    """How often a node itself uses the list without changing its length, or letting others do so."""
    match node:
        case ast.Subscript(value=ast.Name(id=owner), slice=index, ctx=ast.Load() | ast.Store()) if owner == name:
            return int(not isinstance(index, ast.Slice))
        case ast.Call(func=ast.Name(id=called), args=arguments) if called in _ONLY_READ:
            return sum(isinstance(one, ast.Name) and one.id == name for one in arguments)
        case ast.For(iter=ast.Name(id=owner)) | ast.comprehension(iter=ast.Name(id=owner)):
            return int(owner == name)
        case _:
            return 0


def is_made_anew(loop: ast.For | ast.While, name: str) -> bool:
    """Whether a loop gives a name other lists, which may have other lengths: `x = y.copy()`, `x = [0] + x`."""
    for node in ast.walk(loop):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=owner)],
                value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="copy"), args=[]) | ast.BinOp() as made,
            ) if owner == name:
                if isinstance(made, ast.Call) or any(isinstance(x, ast.List | ast.ListComp) for x in _terms(made)):
                    return True
            case _:
                pass
    return False


def _terms(node: ast.expr) -> list[ast.expr]:
    return [*_terms(node.left), *_terms(node.right)] if isinstance(node, ast.BinOp) else [node]
