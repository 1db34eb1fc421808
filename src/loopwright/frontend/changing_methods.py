"""Whether what is called of an object may write to its fields, from the text of its methods."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from loopwright.errors import KernelError
from loopwright.frontend.object_class import ObjectClass
from loopwright.frontend.parse import parameters_of, parse
from loopwright.frontend.scopes import all_nodes
from loopwright.frontend.written import written_parameters


def is_changed_by_method(tree: ast.FunctionDef, name: str, classes: Sequence[ObjectClass]) -> bool:
    """Whether a function may write to an object that it has under a name, by a method or a property of it or of one
    that it holds. Handing the object on, to a helper or another name, counts as that."""
    waiting, seen = [(tree, name)], set[str]()
    while waiting:
        tree, name = waiting.pop()
        if _hands_on(tree, name):
            return True
        for called in {node.attr for node in all_nodes(tree) if isinstance(node, ast.Attribute)} - seen:
            seen.add(called)
            for function in (one.methods.get(called) or one.properties.get(called) for one in classes):
                if function is None:
                    continue
                try:
                    plain, definition = parse(function)
                except KernelError:
                    return True
                own = parameters_of(definition.tree)
                if not own or own[0].arg in written_parameters(plain, definition.tree):
                    return True
                waiting.append((definition.tree, own[0].arg))
    return False


def _hands_on(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a name stands anywhere but before the name of an attribute."""
    nodes = all_nodes(tree)
    read = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    return any(isinstance(node, ast.Name) and node.id == name and id(node) not in read for node in nodes)
