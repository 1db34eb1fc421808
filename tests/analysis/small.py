"""A small reader of Python text for these tests: integers and float64 only, no promotion but int to float."""

from __future__ import annotations

import ast
import textwrap

from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Block,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Location,
    Logical,
    Return,
    ReturnedScalar,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.types import BOOL, BY_NAME, FLOAT64, INT64, Scalar

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor", ast.LShift: "shl", ast.RShift: "shr", ast.Pow: "pow",
}  # fmt: skip
COMPARE = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
CALLS = ("maximum", "minimum", "fmin", "fmax", "sqrt", "exp")


def kernel(text: str, **overrides: object) -> Kernel:
    """A Kernel from `def f(a: "float64[2]", n: "int64"): ...`. Each loop is named by its variable, which must occur
    once. `checked(value, condition)` is a Checked; `with block:` a Block that `leave()` ends."""
    return _Reader(textwrap.dedent(text)).kernel(overrides)


class _Reader:
    def __init__(self, text: str) -> None:
        self.function = ast.parse(text).body[0]
        assert isinstance(self.function, ast.FunctionDef)
        self.types: dict[str, Scalar] = {}
        self.elements: dict[str, Scalar] = {}
        self.params: list[ScalarParam | ArrayParam] = []
        self.returned: tuple[ReturnedScalar, ...] | None = None
        self.loops: list[str] = []
        self.whiles = 0

    def kernel(self, overrides: dict[str, object]) -> Kernel:
        for position, arg in enumerate(self.function.args.args):
            assert isinstance(arg.annotation, ast.Constant)
            name, _, rank = arg.annotation.value.partition("[")
            if rank:
                self.elements[arg.arg] = BY_NAME[name]
                self.params.append(ArrayParam(arg.arg, BY_NAME[name], position, int(rank[:-1])))
            else:
                self.types[arg.arg] = BY_NAME[name]
                self.params.append(ScalarParam(arg.arg, BY_NAME[name], position))
        body = self.body(self.function.body)
        return Kernel("f", tuple(self.params), body, returned=self.returned, **overrides)  # type: ignore[arg-type]

    def body(self, stmts: list[ast.stmt]) -> tuple[Stmt, ...]:
        return tuple(self.stmt(stmt) for stmt in stmts if not isinstance(stmt, ast.Pass))

    def at(self, node: ast.AST) -> Location:
        return Location("small.py", node.lineno, node.col_offset, node.end_col_offset)  # type: ignore[attr-defined]

    def stmt(self, stmt: ast.stmt) -> Stmt:
        match stmt:
            case ast.Assign(targets=[target], value=value):
                return self.assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                source = ast.copy_location(ast.BinOp(_loaded(target), op, value), stmt)
                return self.assign(target, ast.fix_missing_locations(source))
            case ast.For(target=ast.Name(id=name), iter=ast.Call(args=bounds)):
                values = [self.expr(bound) for bound in bounds]
                if len(values) == 1:
                    values.insert(0, Const(0, INT64))
                if len(values) == 2:
                    values.append(Const(1, INT64))
                self.types[name] = INT64
                self.loops.append(name)
                inner = self.body(stmt.body)
                self.loops.pop()
                return For(name, *values, inner, at=self.at(stmt))
            case ast.While(test=test):
                self.whiles += 1
                name = f"while{self.whiles}"
                self.loops.append(name)
                inner = self.body(stmt.body)
                self.loops.pop()
                return While(name, self.expr(test), inner, at=self.at(stmt))
            case ast.If(test=test):
                return If(self.expr(test), self.body(stmt.body), self.body(stmt.orelse), at=self.at(stmt))
            case ast.With(items=[ast.withitem(context_expr=ast.Name(id=name))]):
                return Block(name, self.body(stmt.body))
            case ast.Expr(value=ast.Call(func=ast.Name(id="leave"), args=[ast.Name(id=name)])):
                return Leave(name)
            case ast.Break():
                return Break(self.loops[-1])
            case ast.Continue():
                return Continue(self.loops[-1])
            case ast.Return(value=value):
                if value is None:
                    return Return()
                result = self.expr(value)
                self.returned = (ReturnedScalar(result.type, True),)
                return Return((result,))
        raise AssertionError(ast.unparse(stmt))

    def assign(self, target: ast.expr, value: ast.expr) -> Stmt:
        if isinstance(target, ast.Subscript):
            name = target.value.id  # type: ignore[attr-defined]
            result = self.to(self.expr(value), self.elements[name])
            return Store(name, self.index(target), result, at=self.at(target))
        assert isinstance(target, ast.Name)
        if isinstance(value, ast.Call) and ast.unparse(value.func) in ("zeros", "empty"):
            self.elements[target.id] = FLOAT64
            fill = Const(0.0, FLOAT64) if ast.unparse(value.func) == "zeros" else None
            return Allocate(target.id, FLOAT64, tuple(self.expr(arg) for arg in value.args), fill, at=self.at(value))
        result = self.expr(value)
        self.types.setdefault(target.id, result.type)
        return Assign(target.id, self.to(result, self.types[target.id]), at=self.at(target))

    def index(self, node: ast.Subscript) -> tuple[Expr, ...]:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return tuple(self.to(self.expr(part), INT64) for part in parts)

    def to(self, value: Expr, type_: Scalar) -> Expr:
        if value.type == type_:
            return value
        if isinstance(value, Const):
            return Const(float(value.value) if type_.is_float else int(value.value), type_)
        return Cast(value, type_)

    def pair(self, left: ast.expr, right: ast.expr) -> tuple[Expr, Expr]:
        a, b = self.expr(left), self.expr(right)
        if a.type == b.type:
            return a, b
        if isinstance(a, Const) and a.type == INT64:
            return self.to(a, b.type), b
        if isinstance(b, Const) and b.type == INT64:
            return a, self.to(b, a.type)
        wide = FLOAT64 if a.type.is_float or b.type.is_float else max(a.type, b.type, key=lambda t: t.size_bytes)
        return self.to(a, wide), self.to(b, wide)

    def expr(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=bool() as value):
                return Const(value, BOOL)
            case ast.Constant(value=int() as value):
                return Const(value, INT64)
            case ast.Constant(value=float() as value):
                return Const(value, FLOAT64)
            case ast.Name(id=name):
                return Var(name, self.types[name])
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=k)):
                return Dim(name, k)
            case ast.Subscript(value=ast.Name(id=name)):
                return Load(name, self.index(node), self.elements[name], at=self.at(node))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.expr(operand)
                return Const(-value.value, value.type) if isinstance(value, Const) else Unary("neg", value)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Unary("not", self.expr(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return Binary(BINARY[type(op)], *self.pair(left, right))  # type: ignore[arg-type]
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return Compare(COMPARE[type(op)], *self.pair(left, right))  # type: ignore[arg-type]
            case ast.BoolOp(op=op, values=values):
                total = self.expr(values[0])
                for value in values[1:]:
                    total = Logical("and" if isinstance(op, ast.And) else "or", total, self.expr(value))
                return total
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Select(self.expr(test), *self.pair(body, orelse))
            case ast.Call(func=ast.Name(id=name), args=args):
                return self.call(node, name, args)
        raise AssertionError(ast.unparse(node))

    def call(self, node: ast.Call, name: str, args: list[ast.expr]) -> Expr:
        if name == "len":
            return Dim(args[0].id, 0)  # type: ignore[attr-defined]
        if name in ("min", "max"):
            return Binary(name, *self.pair(*args))  # type: ignore[arg-type]
        if name in BY_NAME:
            return Cast(self.expr(args[0]), BY_NAME[name])
        if name == "checked":
            return Checked(self.expr(args[0]), self.expr(args[1]), "zero_division", at=self.at(node))
        if name == "abs":
            return Unary("abs", self.expr(args[0]))
        assert name in CALLS, name
        values = self.pair(*args) if len(args) == 2 else (self.expr(args[0]),)
        return Call(name, tuple(self.to(v, FLOAT64) for v in values), FLOAT64)  # type: ignore[arg-type]


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body
