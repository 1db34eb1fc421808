"""A kernel as text, for people and for golden files: what `ir/parse.py` reads back. The grammar is in `ir/text.py`.

It also owns the words of the text form: operator signs and their precedence, type suffixes, how names are quoted.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import assert_never

from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    BinaryOp,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    CompareOp,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Logical,
    Original,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.types import ALL, BOOL, FLOAT64, INT64, Scalar
from loopwright.ir.walk import own_expressions, statements, subexpressions

INDENT = "    "
LINE_LENGTH = 100
PLAIN_NAME = re.compile(r"[^\W\d]\w*(\.\w+)*")

# How tightly each form binds; Python's own order.
SELECT, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND, SHIFT, SUM, PRODUCT, SIGN, POWER, PRIMARY = range(14)

BINARY_SIGNS: dict[BinaryOp, tuple[str, int]] = {
    "or": ("|", BIT_OR), "xor": ("^", BIT_XOR), "and": ("&", BIT_AND), "shl": ("<<", SHIFT), "shr": (">>", SHIFT),
    "add": ("+", SUM), "sub": ("-", SUM), "mul": ("*", PRODUCT), "truediv": ("/", PRODUCT),
    "floordiv": ("//", PRODUCT), "mod": ("%", PRODUCT), "pow": ("**", POWER),
}  # fmt: skip
COMPARE_SIGNS: dict[CompareOp, str] = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
# What a number of another type than int64 and float64 ends with: 1i32, 255u8, 0.5f32.
SUFFIXES: dict[Scalar, str] = {
    scalar: f"{scalar.kind[0]}{scalar.bits}" for scalar in ALL if scalar not in (BOOL, INT64, FLOAT64)
}


def print_name(name: str) -> str:
    """A name as it stands in the text: between backquotes where it is not made of words and dots."""
    if PLAIN_NAME.fullmatch(name) and not keyword.iskeyword(name):
        return name
    return "`" + name.encode("unicode_escape").decode("ascii").replace("`", r"\x60") + "`"


# ---- expressions ----------------------------------------------------------------------------------------------


Written = tuple[str, int]  # a text, and how tightly its outermost form binds
Write = Callable[[Expr], Written]


def print_expr(expr: Expr) -> str:
    """An expression; its types are those of the names in it."""
    return _expr(expr)[0]


def _string(text: str) -> str:
    """A string as it stands in the text: in ASCII, without quotes and ends of lines inside."""
    return "'" + text.encode("unicode_escape").decode("ascii").replace("'", r"\x27") + "'"


def _expr(expr: Expr) -> Written:
    match expr:
        case Const():
            return _const(expr)
        case Var():
            return print_name(expr.name), PRIMARY
        case Dim():
            return f"size({print_name(expr.array)}, {expr.axis})", PRIMARY
        case Load():
            return print_element(expr.array, expr.index), PRIMARY
        case Cast():
            return f"{expr.type}({print_expr(expr.operand)})", PRIMARY
        case Call():
            return f"{expr.function}({_list(expr.arguments)})", PRIMARY
        case Checked():
            raised = f", {_string(expr.raised)}" if expr.kind == "raised" else ""
            second = "" if expr.second is None else f", {print_expr(expr.second)}"
            return f"checked({_list((expr.value, expr.condition))}, {expr.kind}{raised}{second})", PRIMARY
        case Unary() | Binary() | Compare() | Logical() | Select():
            return write_operator(expr, _expr)
    assert_never(expr)


def write_operator(expr: Unary | Binary | Compare | Logical | Select, write: Write) -> Written:
    """An operator in Python's syntax, parenthesised where it must be; `write` writes its operands."""

    def operand(inner: Expr, least: int) -> str:
        text, binds = write(inner)
        return text if binds >= least else f"({text})"

    match expr:
        case Unary(op="abs"):
            return f"abs({operand(expr.operand, SELECT)})", PRIMARY
        case Unary(op="not"):
            return f"not {operand(expr.operand, NOT)}", NOT
        case Unary(op="invert"):
            return f"~{operand(expr.operand, SIGN)}", SIGN
        case Unary():
            text = operand(expr.operand, SIGN)  # -(1) is a negation, -1 a literal
            return (f"-({text})" if text[0].isdigit() else f"-{text}"), SIGN
        case Binary(op="min" | "max"):
            return f"{expr.op}({operand(expr.left, SELECT)}, {operand(expr.right, SELECT)})", PRIMARY
        case Binary(op="pow"):  # the only one that associates to the right
            return f"{operand(expr.left, PRIMARY)} ** {operand(expr.right, SIGN)}", POWER
        case Binary():
            sign, own = BINARY_SIGNS[expr.op]
            return f"{operand(expr.left, own)} {sign} {operand(expr.right, own + 1)}", own
        case Compare():
            return f"{operand(expr.left, BIT_OR)} {COMPARE_SIGNS[expr.op]} {operand(expr.right, BIT_OR)}", COMPARE
        case Logical():
            own = AND if expr.op == "and" else OR
            return f"{operand(expr.left, own)} {expr.op} {operand(expr.right, own + 1)}", own
        case Select():
            sides = (operand(side, OR) for side in (expr.then, expr.condition, expr.otherwise))
            return "{} if {} else {}".format(*sides), SELECT
    assert_never(expr)


def _list(exprs: Iterable[Expr]) -> str:
    return ", ".join(map(print_expr, exprs))


def print_element(array: str, index: tuple[Expr, ...]) -> str:
    """`array[index]`, the target of a Store or a Load."""
    return f"{print_name(array)}[{_list(index)}]"


def _const(const: Const) -> Written:
    value, type = const.value, const.type
    if isinstance(value, bool):
        return str(value), PRIMARY
    if not math.isfinite(value):
        return f"{type}('{value!r}')", PRIMARY
    text = repr(value) + SUFFIXES.get(type, "")
    return text, SIGN if text.startswith("-") else PRIMARY


# ---- statements -----------------------------------------------------------------------------------------------


def print_stmt(stmt: Stmt) -> str:
    """A statement with everything in it, without a newline at the end."""
    return "\n".join(_stmt(stmt))


def _body(body: Body) -> list[str]:
    return [INDENT + line for stmt in body for line in _stmt(stmt)] or [INDENT + "pass"]


def _stmt(stmt: Stmt) -> list[str]:
    match stmt:
        case Assign():
            return [f"{print_name(stmt.name)} = {print_expr(stmt.value)}"]
        case Store():
            return [f"{print_element(stmt.array, stmt.index)} = {print_expr(stmt.value)}"]
        case Allocate():
            return [f"allocate {_made(stmt.array, stmt)}{' double' if stmt.double else ''}{_original(stmt.original)}"]
        case For():
            return [_for_head(stmt), *_body(stmt.body)]
        case While():
            return [f"while {print_expr(stmt.condition)} named {print_name(stmt.name)}:", *_body(stmt.body)]
        case If():
            return _if(stmt)
        case Block():
            return [f"block {print_name(stmt.name)}:", *_body(stmt.body)]
        case Break():
            return [f"break {print_name(stmt.loop)}"]
        case Continue():
            return [f"continue {print_name(stmt.loop)}"]
        case Leave():
            return [f"leave {print_name(stmt.block)}"]
        case Return():
            return [f"return {_list(stmt.values)}".rstrip()]
    assert_never(stmt)


def _made(name: str, made: Allocate | ResultArray) -> str:
    fill = "" if made.fill is None else f" = {print_expr(made.fill)}"
    return f"{print_name(name)}: {made.element}[{_list(made.shape)}]{fill}"


def _original(of: Original | None) -> str:
    return "" if of is None else f" for {print_name(of.array)} {' '.join(map(str, of.axes))}"


def _for_head(loop: For) -> str:
    step = "" if loop.step == Const(1, INT64) else f" step {print_expr(loop.step)}"
    asserted = "independent" if loop.asserted == "independent" else "asserted"
    how = (f" {asserted}" if loop.asserted else "") + ("" if loop.run == "sequential" else f" {loop.run}")
    how += f" {loop.threads}" if loop.threads else ""
    return f"for {print_name(loop.name)} in {print_expr(loop.lower)} .. {print_expr(loop.upper)}{step}{how}:"


def _if(stmt: If) -> list[str]:
    lines = [f"if {print_expr(stmt.condition)}:", *_body(stmt.then)]
    match stmt.otherwise:
        case ():
            return lines
        case (If() as only,):
            first, *rest = _if(only)
            return [*lines, f"el{first}", *rest]
        case _:
            return [*lines, "else:", *_body(stmt.otherwise)]


# ---- kernels --------------------------------------------------------------------------------------------------


def print_kernel(kernel: Kernel) -> str:
    """The whole kernel, ending with a newline."""
    lines = ["overlap"] if kernel.overlap else []
    lines += [] if kernel.guard == "all" else [f"guard {kernel.guard}"]
    lines += [f"arguments {kernel.arguments}"] if kernel.arguments else []
    lines += [f"result {_made(result.name, result)}" for result in kernel.results]
    lines += [f"var {print_name(name)}: {type}" for name, type in _locals(kernel)]
    inside = [*(INDENT + line for line in lines), *_body(kernel.body)]
    return "\n".join([_head(kernel), *inside]) + "\n"


def _head(kernel: Kernel) -> str:
    params = [_param(param, position) for position, param in enumerate(kernel.params)]
    start, end = f"kernel {print_name(kernel.name)}(", f"){_returned(kernel)}:"
    line = start + ", ".join(params) + end
    if len(line) <= LINE_LENGTH:
        return line
    return "\n".join([start, *(f"{INDENT}{INDENT}{param}," for param in params), end])


def _param(param: ScalarParam | ArrayParam, position: int) -> str:
    name = f"{print_name(param.name)}:"
    argument = [] if param.argument == position else [f"argument {param.argument}"]
    match param:
        case ScalarParam():
            words = [str(param.type), *argument]
        case ArrayParam():
            words = [f"{param.element}[{param.rank}]", param.layout]
            words += [*([] if param.aligned else ["unaligned"]), *argument]
            words += [f"offset {param.offset}"] if param.offset else []
            words += [f"tail {size}:{stride}" for size, stride in param.tail]
    return " ".join([name, *words])


def _returned(kernel: Kernel) -> str:
    if kernel.returned is None:
        return ""
    parts = ", ".join(map(_returned_part, kernel.returned))
    packed = ", ".join(f"{_string(kind) if ':' in kind else kind} {number}" for kind, number in kernel.packing)
    packed = f" packed({packed})" if packed else ""
    return (f" -> tuple({parts})" if kernel.returns_tuple else f" -> {parts}") + packed


def _returned_part(part: ReturnedScalar | ReturnedArray) -> str:
    match part:
        case ReturnedScalar():
            return f"python {part.type}" if part.python else str(part.type)
        case ReturnedArray():
            return f"array {print_name(part.name)}"
    assert_never(part)


def _locals(kernel: Kernel) -> Iterator[tuple[str, Scalar]]:
    """The scalar locals in the order of the text, each once, with their types."""
    seen = {param.name for param in kernel.params}
    seen.update(stmt.name for stmt in statements(kernel.body, For))
    for stmt in statements(kernel.body):
        own = [(stmt.name, stmt.value.type)] if isinstance(stmt, Assign) else []
        read = [(e.name, e.type) for expr in own_expressions(stmt) for e in subexpressions(expr, Var)]
        for name, type in (*own, *read):
            if name not in seen:
                seen.add(name)
                yield name, type
