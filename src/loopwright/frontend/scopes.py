"""Whose names are whose: what belongs to a function, and what it reads that does not. From syntax alone, so each tree
is asked once, however often its function is read for other types."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from loopwright.frontend.parse import parameters_of

_Answer = TypeVar("_Answer")
_INNER = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp


def _asked_once(ask: Callable[[ast.FunctionDef], _Answer]) -> Callable[[ast.FunctionDef], _Answer]:
    """Trees do not change; an answer lives as long as its tree."""
    known: WeakKeyDictionary[ast.FunctionDef, _Answer] = WeakKeyDictionary()

    @wraps(ask)
    def answer(tree: ast.FunctionDef) -> _Answer:
        found = known.get(tree)
        if found is None:
            found = known[tree] = ask(tree)
        return found

    return answer


def lambda_definition(node: ast.Lambda) -> ast.FunctionDef:
    """A lambda as a `def` without a name; the same one each time."""
    found: ast.FunctionDef | None = getattr(node, "definition", None)
    if found is None:
        body = ast.copy_location(ast.Return(node.body), node.body)
        found = ast.FunctionDef("lambda", node.args, [body], [], None)
        node.definition = ast.copy_location(found, node)  # type: ignore[attr-defined]
    return found


@_asked_once
def all_nodes(tree: ast.FunctionDef) -> tuple[ast.AST, ...]:
    """Every node of a function, outer ones first."""
    return tuple(ast.walk(tree))


@_asked_once
def own_nodes(tree: ast.FunctionDef) -> tuple[ast.AST, ...]:
    """The nodes of a function's body, in the order of the text, without the inside of nested functions (but with their
    defaults), lambdas and comprehensions."""
    found: list[ast.AST] = []
    waiting: list[ast.AST] = tree.body[::-1]  # type: ignore[assignment]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, ast.FunctionDef):
            waiting += [*filter(None, node.args.kw_defaults), *node.args.defaults][::-1]
        elif not isinstance(node, _INNER):
            waiting += [*ast.iter_child_nodes(node)][::-1]
    return tuple(found)


@_asked_once
def locals_of(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that belong to a function: parameters, and whatever it assigns or defines, but for `nonlocal` ones."""
    names, outside = {parameter.arg for parameter in parameters_of(tree)}, set[str]()
    for node in own_nodes(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.Nonlocal(names=declared):
                outside.update(declared)
            case _:
                pass
    return frozenset(names - outside)


@_asked_once
def assigned_from_inside(tree: ast.FunctionDef) -> frozenset[str]:
    """Those of its names that functions nested in it assign, as `nonlocal`."""
    nested = [node for node in own_nodes(tree) if isinstance(node, ast.FunctionDef)]
    return frozenset().union(*map(_assigned_outside, nested)) & locals_of(tree)


def _assigned_outside(tree: ast.FunctionDef) -> frozenset[str]:
    """The names around a function that it, or one nested in it, assigns."""
    stored = {node.id for node in own_nodes(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    nested = [node for node in own_nodes(tree) if isinstance(node, ast.FunctionDef)]
    return frozenset(stored).union(*map(_assigned_outside, nested)) - locals_of(tree)


@_asked_once
def free_names(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that a function, or one nested in it, reads and that are not its own."""
    names: set[str] = set()
    for node in own_nodes(tree):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names |= free_names(node)
        elif isinstance(node, ast.Lambda):
            names |= free_names(lambda_definition(node))
    return frozenset(names) - locals_of(tree)


@_asked_once
def loop_names(tree: ast.FunctionDef) -> frozenset[str]:
    """Those of its names that a `for` assigns."""
    targets = [node.target for node in own_nodes(tree) if isinstance(node, ast.For)]
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


@_asked_once
def free_through_siblings(tree: ast.FunctionDef) -> Mapping[str, frozenset[str]]:
    """For each function nested directly: its free names, and those of the other nested functions it names."""
    nested: dict[str, set[str]] = {}
    for node in own_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            nested.setdefault(node.name, set()).update(free_names(node))
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
            for target in node.targets:
                nested.setdefault(ast.unparse(target), set()).update(free_names(lambda_definition(node.value)))
    for _ in nested:
        for names in nested.values():
            for other in names & nested.keys():
                names |= nested[other]
    return {name: frozenset(names) for name, names in nested.items()}


@_asked_once
def names_inside(tree: ast.FunctionDef) -> frozenset[str]:
    """Every name that the function, or one nested in it, owns."""
    nested = [node for node in all_nodes(tree) if isinstance(node, ast.FunctionDef)]
    nested += [lambda_definition(node) for node in all_nodes(tree) if isinstance(node, ast.Lambda)]
    return frozenset().union(*map(locals_of, nested))
