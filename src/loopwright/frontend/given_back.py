"""Dicts of the caller's that a function changes, and lists whose length it changes: it returns them beside its result,
and the caller's get what they hold then. A call that ends with an exception leaves them as they were.

They hold numbers or tuples of numbers. Those of a function that calls itself, or gives the name something else, are
only read.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loopwright.errors import ArgumentValueError
from loopwright.frontend.packed import KeysAndValues, Packed
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.scopes import all_nodes

if TYPE_CHECKING:
    from loopwright.frontend.capture import Source
    from loopwright.frontend.structured import Structure

CHANGED = ("keys", "values")
"""The names of the parts of a dict that is changed, where these are lists."""
EMPTY = Packed("keys", (), 0, may_change=True)
"""A dict without items that is changed: what is put in tells its types."""
EMPTY_LIST = Packed("numbers", (), 0, may_change=True, grows=True)
_ADDING = ("append", "extend", "insert")
_LENGTHS = (*_ADDING, "pop", "remove", "clear")


def as_changed(source: Source, name: str, structure: Structure, value: object) -> Structure:
    """The structure of an argument, where it is a dict that the function changes, or a list that may grow."""
    if type(value) is list or (isinstance(value, list) and type(value).__module__.startswith("loopwright.")):
        is_of_numbers = isinstance(structure, Packed) and structure.holds in ("numbers", "tuples")
        if not is_of_numbers or not _changes_length(source, name) or not _may_change(source, name):
            return structure
        assert isinstance(structure, Packed)
        return replace(structure, grows=True) if value or not _changes_length(source, name, _ADDING) else EMPTY_LIST
    if not isinstance(value, dict) or name not in source.written or not _may_change(source, name):
        return structure
    if not value:
        return EMPTY
    match structure:
        case Packed(holds="keys"):
            return replace(structure, may_change=True)
        case _ if getattr(structure, "kind", None) is KeysAndValues:
            parts = structure.parts  # type: ignore[union-attr]
            are_numbers = all(isinstance(one, Packed) and one.holds in ("numbers", "tuples") for one in parts)
            return replace(structure, names=CHANGED) if are_numbers else structure  # type: ignore[type-var]
        case _:
            return structure


def is_changed(structure: Structure) -> bool:
    """Whether it is that of a dict that is given back."""
    if isinstance(structure, Packed):
        return structure.grows or (structure.holds == "keys" and structure.may_change)
    return getattr(structure, "kind", None) is KeysAndValues and structure.names == CHANGED  # type: ignore[union-attr]


def _may_change(source: Source, name: str) -> bool:
    for node in all_nodes(source.definition.tree):
        match node:
            case ast.Name(id=found, ctx=ast.Store() | ast.Del()) if found == name:
                return False
            case ast.Call(func=ast.Name(id=found)) if found == source.definition.tree.name:
                return False
    return True


def _changes_length(source: Source, name: str, methods: Sequence[str] = _LENGTHS) -> bool:
    """Whether the text of a function gives a list another length, by one of these methods or by `del`."""
    for node in all_nodes(source.definition.tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=method)) if found == name:
                if method in methods:
                    return True
            case ast.Subscript(value=ast.Name(id=found), ctx=ast.Del()) if found == name and methods == _LENGTHS:
                return True
            case _:
                pass
    return False


def returning(source: Source, structures: Mapping[str, Structure]) -> Source:
    """The function as one that returns the dicts that it changes, behind its result."""
    names = _names(source, structures)
    if not names:
        return source
    tree = copy.deepcopy(source.definition.tree)
    _Returning(tree, names).visit(tree)
    tree.body = [*_copies(tree, structures), *tree.body]
    last = ast.copy_location(ast.Return(_beside(None, names)), tree.body[-1])
    tree.body.append(ast.fix_missing_locations(last))
    return replace(source, definition=replace(source.definition, tree=tree))


def _copies(tree: ast.FunctionDef, structures: Mapping[str, Structure]) -> Iterator[ast.stmt]:
    """What gives the function lists of its own."""
    for parameter in parameters_of(tree):
        structure = structures.get(parameter.arg)
        if isinstance(structure, Packed) and structure.grows:
            old = ast.Name(parameter.arg, ast.Load())
            own = ast.Call(ast.Name("list", ast.Load()), [old], []) if structure.arrays else ast.List([], ast.Load())
            made = ast.Assign([ast.Name(parameter.arg, ast.Store())], own)
            yield ast.fix_missing_locations(ast.copy_location(made, parameter))


class _Returning(ast.NodeTransformer):
    """Has each `return` of a function return more."""

    def __init__(self, tree: ast.FunctionDef, names: Sequence[str]) -> None:
        self.tree, self.names = tree, names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self.generic_visit(node) if node is self.tree else node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        return ast.fix_missing_locations(ast.copy_location(ast.Return(_beside(node.value, self.names)), node))


def _beside(value: ast.expr | None, names: Sequence[str]) -> ast.Tuple:
    return ast.Tuple([value or ast.Constant(None), *(ast.Name(name, ast.Load()) for name in names)], ast.Load())


def _names(source: Source, structures: Mapping[str, Structure]) -> list[str]:
    names = (parameter.arg for parameter in parameters_of(source.definition.tree))
    return [name for name in names if is_changed(structures.get(name))]


def to_give_back(source: Source, given: Sequence[object]) -> list[dict[Any, Any] | list[Any]]:
    """The dicts and lists among what is given that the call gives others. Raises ArgumentValueError for one that is
    given twice."""
    names = [parameter.arg for parameter in parameters_of(source.definition.tree)]
    found = []
    for value, name in zip(given, names, strict=False):
        if is_changed(source.structures.get(name)):
            assert isinstance(value, dict | list)
            if sum(one is value for one in _inner(given)) > 1:
                what = "dict" if isinstance(value, dict) else "list"
                raise ArgumentValueError(
                    f"argument '{name}': this {what} is changed, and given twice\n  try: pass a copy of it"
                )
            found.append(value)
    return found


def _inner(values: object) -> Iterator[object]:
    for one in values if isinstance(values, list | tuple) else ():
        yield one
        yield from _inner(one)


def put_back(values: Sequence[dict[Any, Any] | list[Any]], results: Any) -> object:
    """Give the dicts and lists what the call returned beside its result, which it gives. Keys stay the objects that
    they were."""
    result, *changed = results
    for value, new in zip(values, changed, strict=True):
        if isinstance(value, list):
            value[:] = new
            continue
        keys = dict(zip(value, value, strict=True))
        value.clear()
        value.update((keys.get(key, key), one) for key, one in new.items())
    return result
