"""The text form read back: `parse_kernel(print_kernel(kernel)) == kernel`. The grammar is in `ir/text.py`.

It refuses what it cannot read, by line; whether the kernel is well formed is for `ir/verify.py` to say.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import NoReturn, TypeVar, cast, get_args

from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Asserted,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    CheckKind,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Function,
    GuardKind,
    If,
    Kernel,
    Layout,
    Leave,
    Load,
    Logical,
    Original,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    Run,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.printing import BINARY_SIGNS, BIT_OR, COMPARE_SIGNS, SUFFIXES
from loopwright.ir.tokens import TextError, Token, TokenKind, fault, tokens
from loopwright.ir.types import BITS, BOOL, BY_NAME, FLOAT64, INT64, Scalar

__all__ = ["TextError", "parse_kernel"]

_T = TypeVar("_T")
_BINARY = {sign: (op, binds) for op, (sign, binds) in BINARY_SIGNS.items() if op != "pow"}
_COMPARE = {sign: op for op, sign in COMPARE_SIGNS.items()}
_SUFFIXED = {suffix: type for type, suffix in SUFFIXES.items()}
_TESTS = ("isnan", "isinf", "isfinite", "signbit")


def parse_kernel(text: str) -> Kernel:
    """The kernel that a text describes. Raises TextError."""
    reader = _Parser(list(tokens(text)))
    kernel = reader.kernel()
    reader.take("end")
    return kernel


class _Parser:
    """Recursive descent over the tokens. `scalars` and `arrays` are the types of the names met so far."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens, self.position = found, 0
        self.scalars: dict[str, Scalar] = {}
        self.arrays: dict[str, Scalar] = {}

    # ---- tokens -----------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def refuse(self, wanted: str) -> NoReturn:
        token = self.peek()
        raise fault(f"{wanted} is wanted here, not {token.text or token.kind!r}", token.line)

    def at(self, *texts: str) -> bool:
        """A sign, keyword or word of the text form stands here."""
        token = self.peek()
        quoted = token.kind == "name" and keyword.iskeyword(token.text)
        return token.kind in ("sign", "word", "name") and token.text in texts and not quoted

    def take(self, kind: TokenKind) -> str:
        token = self.peek()
        if token.kind != kind:
            self.refuse(kind)
        self.position += 1
        return token.text

    def skip(self, text: str) -> bool:
        """Go past a sign or word if it stands here."""
        found = self.at(text)
        self.position += found
        return found

    def expect(self, text: str) -> None:
        if not self.skip(text):
            self.refuse(f"'{text}'")

    def names_something(self) -> bool:
        """Two names in a row: `allocate t`, `block f`, which no assignment begins with."""
        return self.peek().kind == "name" and self.peek(1).kind == "name"

    def separated(self, end: str, item: Callable[[], _T]) -> tuple[_T, ...]:
        """`item, item end`, a comma before the end allowed; goes past the end."""
        items: list[_T] = []
        while not self.skip(end):
            items.append(item())
            if not self.at(end):
                self.expect(",")
        return tuple(items)

    def whole(self) -> int:
        text = self.take("number")
        if not text.isdigit():
            self.position -= 1
            self.refuse("a whole number")
        return int(text)

    def type(self) -> Scalar:
        if self.peek().kind != "name" or self.peek().text not in BY_NAME:
            self.refuse("a type")
        return BY_NAME[self.take("name")]

    # ---- the kernel -------------------------------------------------------------------------------------------

    def kernel(self) -> Kernel:
        self.expect("kernel")
        name = self.take("name")
        self.expect("(")
        params: list[ScalarParam | ArrayParam] = []
        self.separated(")", lambda: params.append(self.param(len(params))))
        returned, returns_tuple = self.returned() if self.skip("->") else (None, False)
        packing = self.packing() if self.skip("packed") else ()
        self.expect(":")
        self.take("newline")
        self.take("indent")
        overlap = self.peek(1).kind == "newline" and self.skip("overlap")
        if overlap:
            self.take("newline")
        guard: GuardKind = "all"
        if self.peek(1).text in get_args(GuardKind) and self.skip("guard"):
            guard = cast(GuardKind, self.take("name"))
            self.take("newline")
        arguments = self.whole() if self.peek(1).kind == "number" and self.skip("arguments") else 0
        if arguments:
            self.take("newline")
        results: list[ResultArray] = []
        while self.names_something() and self.skip("result"):
            results.append(ResultArray(*self.made()))
            self.take("newline")
        while self.names_something() and self.skip("var"):
            local = self.take("name")
            self.expect(":")
            self.scalars[local] = self.type()
            self.take("newline")
        body = self.rest_of_body()
        made = tuple(params), body, tuple(results), returned, returns_tuple, packing
        return Kernel(name, *made, overlap, arguments, guard)

    def param(self, position: int) -> ScalarParam | ArrayParam:
        name = self.take("name")
        self.expect(":")
        type = self.type()
        if not self.skip("["):
            self.scalars[name] = type
            return ScalarParam(name, type, self.argument(position))
        self.arrays[name] = type
        rank = self.whole()
        self.expect("]")
        if not self.at(*get_args(Layout)):
            self.refuse("a layout")
        layout = cast(Layout, self.take("name"))
        aligned = not self.skip("unaligned")
        argument = self.argument(position)
        offset = self.whole() if self.skip("offset") else 0
        tail: list[tuple[int, int]] = []
        while self.skip("tail"):
            size = self.whole()
            self.expect(":")
            tail.append((size, self.signed()))
        return ArrayParam(name, type, argument, rank, layout, aligned, offset, tuple(tail))

    def argument(self, position: int) -> int:
        return self.whole() if self.skip("argument") else position

    def signed(self) -> int:
        return -self.whole() if self.skip("-") else self.whole()

    def packing(self) -> tuple[tuple[str, int], ...]:
        self.expect("(")
        return self.separated(")", self.packed)

    def packed(self) -> tuple[str, int]:
        kind = self.take("string") if self.peek().kind == "string" else self.take("name")
        return kind, self.whole()

    def returned(self) -> tuple[tuple[ReturnedScalar | ReturnedArray, ...], bool]:
        if self.skip("tuple"):
            self.expect("(")
            return self.separated(")", self.returned_part), True
        parts = [self.returned_part()]
        while self.skip(","):
            parts.append(self.returned_part())
        return tuple(parts), False

    def returned_part(self) -> ReturnedScalar | ReturnedArray:
        if self.skip("array"):
            return ReturnedArray(self.take("name"))
        python = self.skip("python")
        return ReturnedScalar(self.type(), python)

    def made(self) -> tuple[str, Scalar, tuple[Expr, ...], Const | None]:
        """`name: element[shape] = fill`, of a result or a local array."""
        name = self.take("name")
        self.expect(":")
        element = self.arrays[name] = self.type()
        self.expect("[")
        shape = self.separated("]", self.expr)
        fill = self.expr() if self.skip("=") else None
        if fill is not None and not isinstance(fill, Const):
            self.refuse("a literal before")
        return name, element, shape, fill

    # ---- statements -------------------------------------------------------------------------------------------

    def body(self) -> Body:
        self.expect(":")
        self.take("newline")
        self.take("indent")
        return self.rest_of_body()

    def rest_of_body(self) -> Body:
        found: list[Stmt] = []
        while self.peek().kind not in ("dedent", "end"):
            if self.skip("pass"):
                self.take("newline")
            else:
                found.append(self.stmt())
        self.take("dedent")
        return tuple(found)

    def stmt(self) -> Stmt:
        if self.skip("for"):
            return self.for_loop()
        if self.skip("if"):
            return self.branch()
        if self.skip("while"):
            condition = self.expr()
            self.expect("named")
            return While(self.take("name"), condition, self.body())
        if self.names_something() and self.skip("block"):
            return Block(self.take("name"), self.body())
        found = self.simple_stmt()
        self.take("newline")
        return found

    def simple_stmt(self) -> Stmt:
        if self.skip("return"):
            return Return(() if self.peek().kind == "newline" else self.exprs())
        if self.skip("break"):
            return Break(self.take("name"))
        if self.skip("continue"):
            return Continue(self.take("name"))
        if self.names_something() and self.skip("leave"):
            return Leave(self.take("name"))
        if self.names_something() and self.skip("allocate"):
            return Allocate(*self.made(), self.skip("double"), self.original())
        if self.peek().kind != "name":
            self.refuse("a statement")
        name = self.take("name")
        if self.skip("["):
            index = self.separated("]", self.expr)
            self.expect("=")
            return Store(name, index, self.expr())
        self.expect("=")
        return Assign(name, self.expr())

    def original(self) -> Original | None:
        if not self.skip("for"):
            return None
        array, axes = self.take("name"), [self.whole()]
        while self.peek().kind == "number":
            axes.append(self.whole())
        return Original(array, tuple(axes))

    def for_loop(self) -> For:
        name = self.take("name")
        self.scalars[name] = INT64
        self.expect("in")
        lower = self.expr()
        self.expect("..")
        upper = self.expr()
        step = self.expr() if self.skip("step") else Const(1, INT64)
        asserted: Asserted = "independent" if self.skip("independent") else self.skip("asserted")
        run = cast(Run, self.take("name") if self.at(*get_args(Run)) else "sequential")
        threads = self.whole() if self.peek().kind == "number" else 0
        return For(name, lower, upper, step, self.body(), asserted, run, threads)

    def branch(self) -> If:
        condition, then = self.expr(), self.body()
        if self.skip("elif"):
            return If(condition, then, (self.branch(),))
        return If(condition, then, self.body() if self.skip("else") else ())

    # ---- expressions ------------------------------------------------------------------------------------------

    def exprs(self) -> tuple[Expr, ...]:
        found = [self.expr()]
        while self.skip(","):
            found.append(self.expr())
        return tuple(found)

    def expr(self) -> Expr:
        value = self.any_of()
        if not self.skip("if"):
            return value
        condition = self.any_of()
        self.expect("else")
        return Select(condition, value, self.any_of())

    def any_of(self) -> Expr:
        left = self.all_of()
        while self.skip("or"):
            left = Logical("or", left, self.all_of())
        return left

    def all_of(self) -> Expr:
        left = self.negated()
        while self.skip("and"):
            left = Logical("and", left, self.negated())
        return left

    def negated(self) -> Expr:
        if self.skip("not"):
            return Unary("not", self.negated())
        left = self.infix(BIT_OR)
        if not self.at(*_COMPARE):
            return left
        op = _COMPARE[self.take("sign")]
        return Compare(op, left, self.infix(BIT_OR))

    def infix(self, least: int) -> Expr:
        """Operators that bind at least as tightly as `least`, which all associate to the left (`**` is `power`'s)."""
        left = self.signed_expr()
        while self.peek().kind == "sign" and self.peek().text in _BINARY:
            op, binds = _BINARY[self.peek().text]
            if binds < least:
                break
            self.take("sign")
            left = Binary(op, left, self.infix(binds + 1))
        return left

    def signed_expr(self) -> Expr:
        if self.skip("~"):
            return Unary("invert", self.signed_expr())
        if not self.skip("-"):
            return self.power()
        if self.peek().kind == "number":
            return self.number("-")
        return Unary("neg", self.signed_expr())

    def power(self) -> Expr:
        base = self.primary()
        return Binary("pow", base, self.signed_expr()) if self.skip("**") else base

    def number(self, sign: str = "") -> Const:
        text = self.take("number")
        suffix = next((s for s in _SUFFIXED if text.endswith(s)), "")
        digits = sign + text.removesuffix(suffix)
        is_float = "." in digits or "e" in digits
        type = _SUFFIXED[suffix] if suffix else FLOAT64 if is_float else INT64
        return Const(float(digits) if type.is_float else int(digits), type)

    def primary(self) -> Expr:
        if self.peek().kind == "number":
            return self.number()
        if self.at("True", "False"):
            return Const(self.take("word") == "True", BOOL)
        if self.skip("("):
            inner = self.expr()
            self.expect(")")
            return inner
        if self.peek().kind != "name":
            self.refuse("an expression")
        name, line = self.take("name"), self.peek().line
        if self.skip("("):
            return self.call(name)
        if self.skip("["):
            if name not in self.arrays:
                raise fault(f"no array {name!r} is known here", line)
            return Load(name, self.separated("]", self.expr), self.arrays[name])
        if name not in self.scalars:
            raise fault(f"the type of {name!r} is not known here", line)
        return Var(name, self.scalars[name])

    def call(self, name: str) -> Expr:
        """What `name(` begins."""
        if name == "size":
            array = self.take("name")
            self.expect(",")
            axis = self.whole()
            self.expect(")")
            return Dim(array, axis)
        if name == "checked":
            value = self.expr()
            self.expect(",")
            condition = self.expr()
            self.expect(",")
            if not self.at(*get_args(CheckKind)):
                self.refuse("a kind of check")
            kind = cast(CheckKind, self.take("name"))
            raised, second = "", None
            if kind == "raised":
                self.expect(",")
                raised = self.take("string")
                second = self.expr() if self.skip(",") else None
            self.expect(")")
            return Checked(value, condition, kind, raised, second)
        if name in BY_NAME and self.peek().kind == "string":
            value_text = self.take("string")
            self.expect(")")
            return Const(float(value_text), BY_NAME[name])
        return self.function(name, self.separated(")", self.expr))

    def function(self, name: str, arguments: tuple[Expr, ...]) -> Expr:
        match name, arguments:
            case "min" | "max", (left, right):
                return Binary("min" if name == "min" else "max", left, right)
            case "abs", (operand,):
                return Unary("abs", operand)
            case _, (operand,) if name in BY_NAME:
                return Cast(operand, BY_NAME[name])
            case _, (first, *_) if name in get_args(Function):
                of = BOOL if name in _TESTS else BITS[first.type.name] if name == "bits" else first.type
                return Call(cast(Function, name), arguments, of)
            case _:
                raise fault(f"{name!r} of {len(arguments)} values is no function", self.peek().line)
