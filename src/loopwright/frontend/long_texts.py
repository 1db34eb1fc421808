"""Long texts of the caller's: an array of codes, which the kernel reads as a text that the run makes (made_texts.py).
Shorter ones are constants of the code, with which more can be done."""

from __future__ import annotations

import ast

from loopwright.frontend.scopes import all_nodes

METHODS = frozenset({"startswith", "endswith", "count", "find"})
"""What can be asked of a text whose characters the run finds."""
_SHOWS = frozenset({"print", "float", "str", "repr"})


def is_sequence(tree: ast.FunctionDef, name: str) -> bool:
    """Whether a function asks only of a parameter what it could of any sequence of characters."""
    for node in all_nodes(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=found), attr=attribute) if found == name:
                if attribute not in METHODS:
                    return False
            case ast.FormattedValue(value=ast.Name(id=found)) if found == name:
                return False
            case ast.Call(func=ast.Name(id=called), args=arguments) if called in _SHOWS:
                if any(isinstance(one, ast.Name) and one.id == name for one in arguments):
                    return False
            case _:
                pass
    return True
