"""What a function's text is read as: `q = [x] if c else []` as an `if` with an assignment in each branch, since a list
has memory of its own and a name for it on every path."""

from __future__ import annotations

import ast
import copy
from functools import lru_cache


@lru_cache(maxsize=1024)
def rewritten(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it is read as it stands. The same object each time."""
    if not any(_chooses_lists(node) for node in ast.walk(tree)):
        return tree
    result = _Choices().visit(copy.deepcopy(tree))
    assert isinstance(result, ast.FunctionDef)
    return ast.fix_missing_locations(result)


def _chooses_lists(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.IfExp() as chosen):
            return _has_list(chosen)
        case _:
            return False


def _has_list(node: ast.expr) -> bool:
    match node:
        case ast.IfExp(body=first, orelse=second):
            return _has_list(first) or _has_list(second)
        case ast.Call(func=ast.Name(id="list")):
            return True
        case _:
            return isinstance(node, ast.List | ast.ListComp)


class _Choices(ast.NodeTransformer):
    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if not _chooses_lists(node):
            return node
        chosen, target = node.value, node.targets[0]
        assert isinstance(chosen, ast.IfExp)
        branches = [
            self.visit(ast.copy_location(ast.Assign([copy.deepcopy(target)], one), node))
            for one in (chosen.body, chosen.orelse)
        ]
        return ast.copy_location(ast.If(chosen.test, [branches[0]], [branches[1]]), node)
