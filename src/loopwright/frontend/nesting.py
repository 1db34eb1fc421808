"""The error about a function whose expressions or statements are inside one another too deeply for Python's own stack,
on which all passes go down into them."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from loopwright.errors import KernelError
from loopwright.frontend.parse import Definition

REMEDY = "give parts of it names, in statements of their own; or raise sys.setrecursionlimit before the first call"


@contextmanager
def stack_of_python(error: Callable[[], KernelError]) -> Iterator[None]:
    """Raises the error where the block goes deeper than Python's stack may be."""
    try:
        yield
    except RecursionError:
        raise error() from None


def too_deep(definition: Definition) -> KernelError:
    """The error at the deepest place of a function."""
    depth, statement = 0, definition.tree.body[0]
    waiting: list[tuple[ast.AST, int, ast.stmt]] = [(stmt, 1, stmt) for stmt in definition.tree.body]
    while waiting:
        node, level, around = waiting.pop()
        around = node if isinstance(node, ast.stmt) else around
        if level > depth:
            depth, statement = level, around
        waiting += [(child, level + 1, around) for child in ast.iter_child_nodes(node)]
    return KernelError("this is nested too deeply", definition.at(statement), _why(depth), REMEDY)


def _why(depth: int) -> str:
    """What is too deep for what."""
    return f"{depth} levels, for which Python's stack of {sys.getrecursionlimit()} calls is too small"
