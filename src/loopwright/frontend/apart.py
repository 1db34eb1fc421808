"""A name that is one thing in one branch and another thing in the other: each branch with what follows it.

`if c: w = a` / `else: w = b` with `w[0] = 1` behind it writes to a or to b. Where a name cannot stand for both, what
follows the `if` is written out once in each branch, and the name has one meaning in each.
"""

from __future__ import annotations

import ast
import copy

_MOST_NODES = 30_000
_MOST_TIMES = 40
_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)


def taken_apart(tree: ast.FunctionDef, name: str) -> ast.FunctionDef | None:
    """The function with whatever follows an `if` that assigns this name, and reads it, in both branches; None where
    there is no such `if`, or the function would be too long."""
    result = copy.copy(tree)
    writer = _TailDuplication(name, min(_MOST_NODES, _MOST_TIMES * _count(tree.body)))
    result.body = writer.block(tree.body)
    return result if writer.changed and writer.room > 0 else None


class _TailDuplication:
    """room: for how many more nodes there is room."""

    def __init__(self, name: str, room: int) -> None:
        self.name, self.room, self.changed = name, room, False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for number, node in enumerate(statements):
            rest = statements[number + 1 :]
            choice = self.choice(node)
            if choice is not None and _has_name(rest, self.name, ast.Load):
                self.changed = True
                result.append(self.with_rest(choice, rest))
                return result
            result.append(self.inside(node))
        return result

    def choice(self, node: ast.stmt) -> ast.If | None:
        """A statement that gives the name one value or another, as an `if`."""
        match node:
            case ast.If() if _has_name([node], self.name, ast.Store):
                return node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(test, first, second)) if name == self.name:
                return ast.copy_location(ast.If(test, [_with_value(node, first)], [_with_value(node, second)]), node)
            case _:
                return None

    def with_rest(self, node: ast.If, rest: list[ast.stmt]) -> ast.If:
        branches: list[list[ast.stmt]] = []
        for branch in (node.body, node.orelse):
            follows = [] if branch and isinstance(branch[-1], _ENDS) else copy.deepcopy(rest)
            self.room -= _count(follows)
            whole = [*branch, *follows] or [ast.copy_location(ast.Pass(), node)]
            branches.append(self.block(whole) if self.room > 0 else whole)
        return ast.copy_location(ast.If(node.test, *branches), node)

    def inside(self, node: ast.stmt) -> ast.stmt:
        """A statement with its bodies taken apart; itself where nothing changes."""
        if not isinstance(node, ast.For | ast.While | ast.If):
            return node
        body, orelse = self.block(node.body), self.block(node.orelse)
        if body == node.body and orelse == node.orelse:
            return node
        result = copy.copy(node)
        result.body, result.orelse = body, orelse
        return result


def _with_value(node: ast.Assign, value: ast.expr) -> ast.stmt:
    return ast.copy_location(ast.Assign(copy.deepcopy(node.targets), value), node)


def _has_name(statements: list[ast.stmt], name: str, context: type[ast.expr_context]) -> bool:
    parts = (part for statement in statements for part in ast.walk(statement))
    return any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, context) for part in parts)


def _count(statements: list[ast.stmt]) -> int:
    return sum(1 for statement in statements for _ in ast.walk(statement))
