"""isl's syntax trees as our own loops around the statements of a kernel.

It owns names and numbers: which new loop has the name of the user's loop, and what each of the user's loop variables is
worth at a statement (`i = i.s - t`: a draft, see `steps/draft.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from loopwright.analysis import isl
from loopwright.analysis.order import Scene
from loopwright.ir.linear import plus
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    BinaryOp,
    Body,
    Cast,
    Compare,
    CompareOp,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Logical,
    ScalarParam,
    Select,
    Unary,
    Var,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import INT64

NODE: Any = isl.Later("ast_node_type")
OP: Any = isl.Later("ast_expr_op_type")


@cache
def _arithmetic() -> dict[object, BinaryOp]:
    return {
        OP.add: "add", OP.sub: "sub", OP.mul: "mul", OP.min: "min", OP.max: "max", OP.div: "floordiv",
        OP.fdiv_q: "floordiv", OP.pdiv_q: "floordiv", OP.pdiv_r: "mod", OP.zdiv_r: "mod",
    }  # fmt: skip


@cache
def _comparisons() -> dict[object, CompareOp]:
    return {OP.eq: "eq", OP.le: "le", OP.lt: "lt", OP.ge: "ge", OP.gt: "gt"}


class NotInOurWords(Exception):
    """Something in isl's tree that our loops cannot say."""


def body_of(tree: isl.AstNode, scene: Scene, taken: set[str]) -> Body:
    """The loops of a syntax tree. Marks in it say what the loops right below are called after. taken: names that no
    new loop may have. Raises NotInOurWords."""
    writer = _Writer(scene, set(taken), arguments_of(scene))
    return writer.body(tree, "r", {})


def arguments_of(scene: Scene) -> dict[str, Expr]:
    """What the parameters of isl's sets are in the kernel: sizes and scalar arguments that it does not change."""
    kernel = scene.kernel
    changed = names_assigned(kernel.body)
    found: dict[str, Expr] = {}
    for symbol in scene.notes.state.table.symbols:
        position, axis = symbol.source
        if symbol.role == "size":
            found[symbol.name] = Dim(_array_at(kernel, position), axis)
        elif symbol.role == "scalar":
            param = next(one for one in kernel.params if isinstance(one, ScalarParam) and one.argument == position)
            value: Expr = Var(param.name, param.type)
            if param.name not in changed:
                found[symbol.name] = value if param.type == INT64 else Cast(value, INT64)
    return found


def _array_at(kernel: Kernel, position: int) -> str:
    return next(one.name for one in kernel.params if isinstance(one, ArrayParam) and one.argument == position)


@dataclass
class _Writer:
    scene: Scene
    taken: set[str]
    arguments: Mapping[str, Expr]
    kept: set[str] = field(default_factory=set)  # names of the user's loops that a new loop has by now

    def body(self, node: isl.AstNode, mark: str, values: Mapping[str, Expr]) -> Body:
        kind = node.get_type()
        if kind == NODE.mark:
            return self.body(node.mark_get_node(), node.mark_get_id().get_name(), values)
        if kind == NODE.block:
            children = node.block_get_children()
            parts = (self.body(children.get_at(k), mark, values) for k in range(children.n_ast_node()))
            return tuple(stmt for part in parts for stmt in part)
        if kind == NODE.for_:
            return self._for(node, mark, values)
        if kind == NODE.if_:
            condition = self.expr(node.if_get_cond(), values)
            then = self.body(node.if_get_then_node(), mark, values)
            otherwise = self.body(node.if_get_else_node(), mark, values) if node.if_has_else_node() else ()
            return (If(condition, then, otherwise),)
        if kind == NODE.user:
            return self._statement(node, values)
        raise NotInOurWords

    def _for(self, node: isl.AstNode, mark: str, values: Mapping[str, Expr]) -> Body:
        iterator = node.for_get_iterator().id_get_id().get_name()
        lower = self.expr(node.for_get_init(), values)
        if node.for_is_degenerate():
            return self.body(node.for_get_body(), mark, {**values, iterator: lower})
        condition = node.for_get_cond()
        is_strict = condition.op_get_type() == OP.lt
        if not is_strict and condition.op_get_type() != OP.le:
            raise NotInOurWords
        step = self.expr(node.for_get_inc(), values)
        upper = self.expr(condition.op_get_arg(1), values)
        name = self._name(node, iterator, mark)
        inside = self.body(node.for_get_body(), mark, {**values, iterator: Var(name, INT64)})
        return (For(name, lower, upper if is_strict else _more(upper, 1), step, inside),)

    def _name(self, node: isl.AstNode, iterator: str, mark: str) -> str:
        """The user's name, for a loop that simply is the user's for all its statements; else one made of it."""
        is_whole = mark in self.scene.notes.loops
        if is_whole and mark not in self.kept and all(_is(arg, iterator) for arg in self._values_of(node, mark)):
            self.kept.add(mark)
            return mark
        wanted = f"{mark}.s" if is_whole else mark
        name, count = wanted, 0
        while name in self.taken:
            count += 1
            name = f"{wanted}.{count}"
        self.taken.add(name)
        return name

    def _values_of(self, node: isl.AstNode, loop: str) -> Iterator[isl.AstExpr]:
        """What a loop variable of the user's is worth at each statement inside."""
        for call in _calls(node.for_get_body()):
            leaf = self.scene.leaves[_number(call)]
            for k, note in enumerate(leaf.loops):
                if note.loop.name == loop:
                    yield call.op_get_arg(k + 1)

    def _statement(self, node: isl.AstNode, values: Mapping[str, Expr]) -> Body:
        call = node.user_get_expr()
        leaf = self.scene.leaves[_number(call)]
        named = ((note.loop.name, self.expr(call.op_get_arg(k + 1), values)) for k, note in enumerate(leaf.loops))
        return (*(Assign(name, value) for name, value in named if value != Var(name, INT64)), leaf.stmt)

    def expr(self, expr: isl.AstExpr, values: Mapping[str, Expr]) -> Expr:
        kind = expr.get_type()
        if kind == isl.ast_expr_type.int:
            return Const(int(expr.get_val().to_python()), INT64)
        if kind == isl.ast_expr_type.id:
            name = expr.id_get_id().get_name()
            found = values.get(name) or self.arguments.get(name)
            if found is None:
                raise NotInOurWords
            return found
        op = expr.op_get_type()
        parts = [self.expr(expr.op_get_arg(k), values) for k in range(expr.op_get_n_arg())]
        if op in _arithmetic():
            total = parts[0]
            for part in parts[1:]:
                total = _sum_of(total, part) if op == OP.add else Binary(_arithmetic()[op], total, part)
            return total
        if op in _comparisons():
            return Compare(_comparisons()[op], parts[0], parts[1])
        if op in (OP.and_, OP.and_then, OP.or_, OP.or_else):
            return Logical("and" if op in (OP.and_, OP.and_then) else "or", parts[0], parts[1])
        if op in (OP.cond, OP.select):
            return Select(parts[0], parts[1], parts[2])
        if op == OP.minus:
            return Unary("neg", parts[0])
        raise NotInOurWords


def _sum_of(left: Expr, right: Expr) -> Expr:
    """left + right, written as a difference where one begins with a minus."""
    match left:
        case Unary(op="neg"):
            return Binary("sub", right, left.operand)
        case Binary(op="mul", left=Const() as factor) if int(factor.value) < 0:
            return Binary("sub", right, Binary("mul", Const(-int(factor.value), INT64), left.right))
    return Binary("add", left, right)


def _number(call: isl.AstExpr) -> int:
    return int(call.op_get_arg(0).id_get_id().get_name()[1:])


def _is(expr: isl.AstExpr, iterator: str) -> bool:
    return bool(expr.get_type() == isl.ast_expr_type.id and expr.id_get_id().get_name() == iterator)


def _calls(node: isl.AstNode) -> Iterator[isl.AstExpr]:
    """The statements inside, as calls of their instances."""
    kind = node.get_type()
    if kind == NODE.user:
        yield node.user_get_expr()
    elif kind == NODE.mark:
        yield from _calls(node.mark_get_node())
    elif kind == NODE.for_:
        yield from _calls(node.for_get_body())
    elif kind == NODE.if_:
        yield from _calls(node.if_get_then_node())
        if node.if_has_else_node():
            yield from _calls(node.if_get_else_node())
    elif kind == NODE.block:
        children = node.block_get_children()
        for k in range(children.n_ast_node()):
            yield from _calls(children.get_at(k))


def _more(expr: Expr, count: int) -> Expr:
    """expr + count, inside minima: each bound stays one that the analysis knows."""
    match expr:
        case Binary(op="min" | "max"):
            return Binary(expr.op, _more(expr.left, count), _more(expr.right, count))
        case _:
            return plus(expr, count)
