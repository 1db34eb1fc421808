"""`Reach`: what a call does with an array, as boxes of indices whose ends are texts of sizes and scalar arguments.
analysis/reach.py finds it; whoever moves arrays to another memory asks it.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

Value = Callable[[Mapping[str, int]], int]
"""An expression, of the values of its names."""

OPERATIONS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Eq: operator.eq, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip


class Box:
    """A box of indices. `where`: when it is not empty, '' for always; `ends`: the least and the greatest index along
    each axis where it is not: texts in Python's syntax of `s{argument}_{axis}` for sizes and `v{argument}` for
    scalars."""

    def __init__(self, where: str, ends: Sequence[tuple[str, str]]) -> None:
        self.where, self.ends = where, tuple(ends)
        self._values: tuple[Value, tuple[tuple[Value, Value], ...]] | None = None

    def __repr__(self) -> str:
        return f"Box({self.where!r}, {self.ends!r})"

    @property
    def names(self) -> frozenset[str]:
        """The sizes and scalars that decide about it."""
        texts = (self.where or "1", *(text for pair in self.ends for text in pair))
        nodes = (node for text in texts for node in ast.walk(ast.parse(text, mode="eval")))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name)) - {"min", "max"}

    def at(self, values: Mapping[str, int], shape: Sequence[int]) -> tuple[range, ...] | None:
        """The indices along each axis of an array of this shape, for values of sizes and scalars; None for none."""
        if self._values is None:
            self._values = value_of(self.where or "1"), tuple((value_of(a), value_of(b)) for a, b in self.ends)
        where, ends = self._values
        if not where(values):
            return None
        pairs = zip(ends, shape, strict=True)
        found = tuple(range(max(0, a(values)), min(size, b(values) + 1)) for (a, b), size in pairs)
        return found if all(found) else None


def value_of(text: str) -> Value:
    """What a text in Python's syntax says: whole numbers, names, + - * // %, one comparison at a time, and, or, a
    choice, min and max of two. Raises ValueError for anything else."""
    return _value(ast.parse(text, mode="eval").body)


def _value(node: ast.expr) -> Value:
    match node:
        case ast.Constant(value=int() as number):
            return lambda values: number
        case ast.Name(id=name):
            return operator.itemgetter(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _applied(operator.sub, lambda values: 0, _value(operand))
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in OPERATIONS:
            return _applied(OPERATIONS[type(kind)], _value(left), _value(right))
        case ast.Compare(left=left, ops=[kind], comparators=[right]) if type(kind) in OPERATIONS:
            return _applied(OPERATIONS[type(kind)], _value(left), _value(right))
        case ast.BoolOp(op=ast.And(), values=parts):
            return reduce(lambda first, second: lambda values: first(values) and second(values), map(_value, parts))
        case ast.BoolOp(op=ast.Or(), values=parts):
            return reduce(lambda first, second: lambda values: first(values) or second(values), map(_value, parts))
        case ast.IfExp(test=test, body=body, orelse=otherwise):
            asked, then, instead = _value(test), _value(body), _value(otherwise)
            return lambda values: (then if asked(values) else instead)(values)
        case ast.Call(func=ast.Name(id="min" | "max" as name), args=[left, right], keywords=[]):
            return _applied(min if name == "min" else max, _value(left), _value(right))
    raise ValueError(f"no end of a box: {ast.unparse(node)}")


def _applied(operation: Callable[[int, int], int], left: Value, right: Value) -> Value:
    return lambda values: operation(left(values), right(values))


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call does with one array: boxes, None where nothing. Each may be wider than it has to be, so that
    `needed` and `written` may reach beyond `touched`."""

    touched: Box | None
    needed: Box | None
    written: Box | None

    @property
    def names(self) -> frozenset[str]:
        """The sizes and scalars that decide about it."""
        boxes = (self.touched, self.needed, self.written)
        return frozenset[str]().union(*(box.names for box in boxes if box is not None))
