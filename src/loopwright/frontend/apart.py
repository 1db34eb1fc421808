"""A name that is one thing in one branch and another thing in the other: each branch with what follows it.

`if c: w = a` / `else: w = b` with `w[0] = 1` behind it writes to a or to b. Where a name cannot stand for both, what
follows the `if` is written out once in each branch, and the name has one meaning in each. An array that is chosen
without a name, `(a if c else b)[0] = 1`, gets one first.
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


Place = tuple[int, int]
"""Line and column where an expression begins."""


def place_of(node: ast.expr) -> Place:
    """Where an expression begins."""
    return node.lineno, node.col_offset


def with_a_name(tree: ast.FunctionDef, place: Place) -> ast.FunctionDef | None:
    """The function where the conditional expression at a place has a name, given just before the statement that it is
    part of; None where it is evaluated under a condition, or several times."""
    name = "chosen"
    while any(getattr(node, "id", getattr(node, "arg", "")) == name for node in ast.walk(tree)):
        name += "_"
    result = copy.copy(tree)
    writer = _Naming(place, name)
    result.body = writer.block(tree.body)
    return result if writer.changed else None


class _Naming:
    """Gives the conditional expression at a place a name."""

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name, self.changed = place, name, False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        return [new for node in statements for new in self.statement(node)]

    def statement(self, node: ast.stmt) -> list[ast.stmt]:
        first = [
            getattr(node, part) for part in ("value", "test", "iter") if isinstance(getattr(node, part, None), ast.expr)
        ]
        if isinstance(node, ast.Assign | ast.AugAssign):
            first += node.targets if isinstance(node, ast.Assign) else [node.target]
        chosen = None if isinstance(node, ast.While) else next(filter(None, map(self.found, first)), None)
        node = self.inside(node)
        if chosen is None or (isinstance(node, ast.Assign) and node.value is chosen and _is_name(node.targets)):
            return [node]
        if not _may_come_first(node, chosen):
            return [node]
        self.changed = True
        given = ast.Assign([ast.copy_location(ast.Name(self.name, ast.Store()), chosen)], chosen)
        new = _with(node, chosen, ast.copy_location(ast.Name(self.name, ast.Load()), chosen))
        return [ast.copy_location(given, node), new]

    def inside(self, node: ast.stmt) -> ast.stmt:
        if not isinstance(node, ast.For | ast.While | ast.If):
            return node
        result = copy.copy(node)
        result.body, result.orelse = self.block(node.body), self.block(node.orelse)
        return result

    def found(self, node: ast.expr) -> ast.expr | None:
        """The conditional expression in an expression that is evaluated once and always."""
        if self.is_it(node):
            return node
        parts: list[ast.expr]
        match node:
            case ast.BoolOp(values=values):
                parts = values[:1]
            case ast.IfExp(test=test):
                parts = [test]
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others[:1]]
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                parts = []
            case _:
                parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
                parts += [part.value for part in getattr(node, "keywords", ())]
        return next(filter(None, map(self.found, parts)), None)

    def is_it(self, node: ast.expr) -> bool:
        """Whether it is the conditional expression, or gives what that one does."""
        if not isinstance(node, ast.IfExp):
            return False
        return place_of(node) == self.place or self.is_it(node.body) or self.is_it(node.orelse)


_HAVE_EFFECTS = (ast.Call, ast.NamedExpr)
_SETTLED = (
    ast.Name, ast.Constant, ast.Compare, ast.BoolOp, ast.UnaryOp, ast.IfExp, ast.expr_context, ast.operator,
    ast.unaryop, ast.cmpop, ast.boolop,
)  # fmt: skip
"""What is the same before and after a call."""


def _may_come_first(node: ast.stmt, chosen: ast.expr) -> bool:
    """Whether a conditional expression gives the same when it is evaluated before all else of its statement."""
    inside = {id(part) for part in ast.walk(chosen)}
    before = [part for part in _evaluated_before(node, chosen) if id(part) not in inside]
    if any(isinstance(part, ast.NamedExpr) for part in before):
        return False
    if any(isinstance(part, _HAVE_EFFECTS) for part in ast.walk(chosen)):
        return all(isinstance(part, ast.Name | ast.Constant) for part in before)
    has_effects = any(isinstance(part, _HAVE_EFFECTS) for part in before)
    return not has_effects or all(isinstance(part, _SETTLED) for part in ast.walk(chosen))


def _evaluated_before(node: ast.stmt, chosen: ast.expr) -> list[ast.expr]:
    """The expressions of a statement that Python evaluates before one of them, which are those to its left, but for
    those around it. Those of an assignment's targets come last."""
    whole: list[ast.expr] = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
    first: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        is_in_value = any(part is chosen for part in ast.walk(node.value))
        whole, first = ([node.value], []) if is_in_value else (node.targets, [node.value])
    parts = [part for one in whole for part in ast.walk(one) if isinstance(part, ast.expr)]
    around = [part for part in parts if any(one is chosen for one in ast.walk(part))]
    later = [part.body for part in around if isinstance(part, ast.IfExp) and part is not chosen]
    apart = {id(part) for part in around}.union(id(part) for one in later for part in ast.walk(one))
    left = [part for part in parts if id(part) not in apart and place_of(part) < place_of(chosen)]
    return [*left, *(part for one in first for part in ast.walk(one) if isinstance(part, ast.expr))]


def _with(node: ast.stmt, old: ast.expr, new: ast.expr) -> ast.stmt:
    """A statement with one expression in place of another one; its bodies stay as they are."""
    result = copy.copy(node)
    for part in ("value", "test", "iter", "target"):
        if isinstance(getattr(node, part, None), ast.expr):
            setattr(result, part, copy.deepcopy(getattr(node, part), {id(old): new}))
    if isinstance(result, ast.Assign):
        result.targets = [copy.deepcopy(target, {id(old): new}) for target in result.targets]
    return result


def _is_name(targets: list[ast.expr]) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name)


class _TailDuplication:
    """room: for how many more nodes there is room."""

    def __init__(self, name: str, room: int) -> None:
        self.name, self.room, self.changed = name, room, False

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for number, node in enumerate(statements):
            rest = statements[number + 1 :]
            choice = self.choice(node)
            if choice is not None and _is_read(rest, self.name):
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
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(test, first, second))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.IfExp(test, first, second))
            ) if name == self.name:
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


def _with_value(node: ast.Assign | ast.AnnAssign, value: ast.expr) -> ast.stmt:
    targets: list[ast.expr] = node.targets if isinstance(node, ast.Assign) else [node.target]
    return ast.copy_location(ast.Assign(copy.deepcopy(targets), value), node)


def _has_name(statements: list[ast.stmt], name: str, context: type[ast.expr_context]) -> bool:
    parts = (part for statement in statements for part in ast.walk(statement))
    return any(isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, context) for part in parts)


def _is_read(statements: list[ast.stmt], name: str) -> bool:
    parts = (part for statement in statements for part in ast.walk(statement))
    updated = (part.target for part in parts if isinstance(part, ast.AugAssign))
    return _has_name(statements, name, ast.Load) or any(isinstance(one, ast.Name) and one.id == name for one in updated)


def _count(statements: list[ast.stmt]) -> int:
    return sum(1 for statement in statements for _ in ast.walk(statement))
