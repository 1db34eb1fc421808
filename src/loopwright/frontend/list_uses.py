"""What a function does to the lists of a name: whether it changes them, or looks for elements in them."""

from __future__ import annotations

import ast

from loopwright.frontend.list_lengths import is_made_anew
from loopwright.frontend.scopes import locals_of, own_nodes

RESIZERS = ("append", "pop", "extend", "clear", "insert", "remove")
"""Methods that change how many elements a list has."""
_IN_PLACE = ("heappush", "heappop", "heapify", "heapreplace", "heappushpop", "shuffle")
_METHODS = (*RESIZERS, "sort", "reverse", "index", "count", "copy")


def is_changed(tree: ast.FunctionDef, name: str, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a function changes a list of this name, asks what a tuple does not answer, or hands it on; or one inside
    it does."""
    for node in own_nodes(tree):
        match node:
            case ast.FunctionDef() if name not in locals_of(node) and is_changed(node, name, seen):
                return True
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.Name(id=other)) if owner == name:
                if other not in (*seen, name) and is_changed(tree, other, seen | {name}):
                    return True
            case ast.Assign(targets=[ast.Name(id=owner)], value=ast.ListComp()) if owner == name:
                return True
            case ast.For() | ast.While() if is_made_anew(node, name):
                return True
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                pairs = [(x.id, y.id) for x, y in zip(targets, values, strict=False)
                         if isinstance(x, ast.Name) and isinstance(y, ast.Name)]  # fmt: skip
                if any(y == name and x not in (*seen, name) and is_changed(tree, x, seen | {name}) for x, y in pairs):
                    return True
            case ast.Assign(value=ast.Name(id=owner), targets=[ast.Name()]) if owner == name:
                return True
            case ast.Delete(targets=targets):
                if any(isinstance(one, ast.Subscript) and ast.unparse(one.value) == name for one in targets):
                    return True
            case ast.Call(func=ast.Attribute(attr=attribute, value=ast.Name(id=owner))) if owner == name:
                if attribute in _METHODS:
                    return True
            case ast.Call(func=ast.Attribute(attr=attribute), args=[ast.Name(id=owner), *_]) if owner == name:
                if attribute in _IN_PLACE:
                    return True
            case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=owner)) if owner == name:
                return True
            case _ if changes_inner(node, name):
                return True
            case ast.AugAssign(target=ast.Name(id=owner) | ast.Subscript(value=ast.Name(id=owner))) if owner == name:
                return True
            case ast.Call(func=ast.Name(id=called), args=arguments) if called not in (
                "len",
                "sum",
                "min",
                "max",
                "range",
            ):
                if any(isinstance(one, ast.Name) and one.id == name for one in arguments):
                    return True
            case _:
                pass
    return False


def is_searched(tree: ast.FunctionDef, name: str) -> bool:
    """Whether some index of this name is no constant."""
    for node in own_nodes(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=owner), slice=index) if owner == name:
                if not isinstance(index, ast.Constant | ast.Slice | ast.UnaryOp):
                    return True
            case _:
                pass
    return False


def changes_inner(node: ast.AST, name: str) -> bool:
    """Whether this changes a list inside the list of this name: `name[i].append(x)`, `name[i][j] = x`."""
    changed = _changed_list(node)
    return isinstance(changed, ast.Subscript) and isinstance(changed.value, ast.Name) and changed.value.id == name


def changes_deeper(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a function changes a list inside one that is in the list of this name: `name[i][j].append(x)`."""
    changed = (one for node in own_nodes(tree) if isinstance(one := _changed_list(node), ast.Subscript))
    return any(isinstance(one.value, ast.Subscript) and owner_of(one) == name for one in changed)


def changes_deep_list(tree: ast.FunctionDef, name: str, parts: list[ast.expr]) -> bool:
    """The same of a list of lists that is made of these."""
    return any(isinstance(one, ast.List | ast.ListComp) for one in parts) and changes_deeper(tree, name)


def _changed_list(node: ast.AST) -> ast.expr | None:
    """The list that this changes."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attribute, value=changed)) if attribute in _METHODS:
            return changed
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=changed):
            return changed
        case ast.AugAssign(target=changed, value=ast.List()):
            return changed
        case _:
            return None


def owner_of(node: ast.AST) -> str:
    """The name of `name[i][j]`, '' where there is none."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
