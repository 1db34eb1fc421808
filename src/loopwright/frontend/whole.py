"""Which parameters a function may take as a whole, row by row or as slices, from its syntax: of their arrays it matters
which axes have one element, as NumPy stretches these."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from loopwright.frontend.parse import parameters_of
from loopwright.frontend.scopes import all_nodes
from loopwright.ir.signature import BY_ELEMENT

_OF_ALL = ("shape", "size", "ndim", "dtype", "itemsize", "nbytes", "strides")


def fewest_indices(tree: ast.FunctionDef) -> dict[str, int]:
    """For each parameter the least number of indices with which it is used; 0: it is used as a whole, or sliced. An
    array with as many axes as that is only used element by element."""
    found = dict.fromkeys((one.arg for one in parameters_of(tree)), BY_ELEMENT)
    above = {id(child): node for node in all_nodes(tree) for child in ast.iter_child_nodes(node)}
    for node in all_nodes(tree):
        if isinstance(node, ast.Name) and node.id in found:
            found[node.id] = min(found[node.id], _indices(node, above))
    return found


def _indices(node: ast.expr, above: dict[int, ast.AST]) -> int:
    count = 0
    while True:
        match above.get(id(node)):
            case ast.Attribute(attr=name) if name in _OF_ALL:
                return BY_ELEMENT
            case ast.Call(func=ast.Name(id="len"), args=[_]) if not count:
                return BY_ELEMENT
            case ast.For(iter=iterated) | ast.comprehension(iter=iterated) if iterated is node:
                return count + 1
            case ast.Subscript(value=value, slice=index) as outer if value is node:
                parts = list(_parts(index))
                if any(_slices(part) for part in parts):
                    return count
                count, node = count + len(parts), outer
            case _:
                return count


def _parts(index: ast.expr) -> Iterator[ast.expr]:
    if isinstance(index, ast.Tuple):
        yield from index.elts
    else:
        yield index


def _slices(part: ast.expr) -> bool:
    return isinstance(part, ast.Slice | ast.Starred) or (isinstance(part, ast.Constant) and part.value in (None, ...))
