"""What a function's text is read as: `q = [x] if c else []` as an `if` with an assignment in each branch, since a list
has memory of its own and a name for it on every path; and `u, v = v, u` in the middle of a loop at its end, where it
costs nothing (renaming.py), with the names in between exchanged."""

from __future__ import annotations

import ast
import copy
from functools import lru_cache


@lru_cache(maxsize=1024)
def rewritten(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it is read as it stands. The same object each time."""
    if not any(_chooses_lists(node) or _exchange(node) is not None for node in ast.walk(tree)):
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


def _exchange(node: ast.AST) -> tuple[int, dict[str, str]] | None:
    """Where a loop exchanges names, with statements behind it that could stand before, and which name stands for what
    another one did; None for all else."""
    if not isinstance(node, ast.For) or node.orelse or any(isinstance(part, _JUMPS) for part in ast.walk(node)):
        return None
    for place, statement in enumerate(node.body[:-1]):
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                left = [one.id for one in targets if isinstance(one, ast.Name)]
                right = [one.id for one in values if isinstance(one, ast.Name)]
                is_whole = len(left) == len(targets) and len(right) == len(values) and len({*left}) == len(left)
                if is_whole and sorted(left) == sorted(right) and not _gives(node.body[place + 1 :], left):
                    return place, dict(zip(left, right, strict=True))
    return None


_JUMPS = (ast.Break, ast.Continue, ast.Return, ast.FunctionDef, ast.Lambda, ast.Yield)


def _gives(statements: list[ast.stmt], names: list[str]) -> bool:
    """Whether statements give one of these names another value."""
    parts = (part for statement in statements for part in ast.walk(statement) if isinstance(part, ast.Name))
    return any(part.id in names and not isinstance(part.ctx, ast.Load) for part in parts)


class _Choices(ast.NodeTransformer):
    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        found = _exchange(node)
        if found is None:
            return node
        place, names = found
        between = node.body[place + 1 :]
        for part in (part for statement in between for part in ast.walk(statement)):
            if isinstance(part, ast.Name):
                part.id = names.get(part.id, part.id)
        node.body = [*node.body[:place], *between, node.body[place]]
        return node

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
