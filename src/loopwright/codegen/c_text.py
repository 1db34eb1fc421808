"""C text of expressions, shared by every code generator that writes C-like text. It knows types and operators; where
arrays lie and which checks an access needs is its caller's business (the `Access` callable)."""

from __future__ import annotations

import math
from functools import reduce
from typing import Protocol, assert_never

from loopwright.codegen.narrow_numbers import compared_in_32_bits, in_32_bits
from loopwright.ir.identities import simpler
from loopwright.ir.nodes import (
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    Load,
    Logical,
    Select,
    Unary,
    Var,
)
from loopwright.ir.types import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT64, Scalar
from loopwright.ir.walk import rewrite_expr, subexpressions

VALUE_TYPE: dict[str, str] = {
    "bool": "bool", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t", "int64": "int64_t",
    "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "float32": "float", "float64": "double",
}  # fmt: skip
MEMORY_TYPE: dict[str, str] = VALUE_TYPE | {"bool": "uint8_t"}

_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_PLAIN = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "and": "&", "or": "|", "xor": "^"}
LIBRARY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "gamma": "tgamma",
            "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip
VECTOR_FUNCTIONS = {
    "exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh",
    "arccosh", "arctanh", "exp2", "expm1", "log2", "log1p", "erf", "erfc", "hypot",
}  # fmt: skip
"""Those that glibc has for vector registers, at most 4 units in the last place off. Not cbrt and log10: cbrt(27.0) is
not 3.0 there, nor log10(1000.0) 3.0."""
_TESTS = ("isnan", "isinf", "isfinite", "signbit")


class Environment(Protocol):
    """What an expression's text needs from the function that it stands in."""

    strict: bool
    vector_functions: bool
    in_lanes: bool

    def stays(self, expr: Expr) -> bool: ...
    def is_near(self, expr: Binary) -> bool: ...
    def reciprocal(self, divisor: Expr) -> str: ...
    def variable(self, name: str) -> str: ...
    def size(self, array: str, axis: int) -> str: ...
    def load(self, node: Load) -> str: ...
    def checked(self, node: Checked) -> str: ...
    def cannot_overflow(self, expr: Expr) -> bool: ...
    def is_apart(self, expr: Expr) -> bool: ...
    def computed(self, expr: Expr) -> str: ...
    def is_compared(self, expr: Expr) -> bool: ...
    def asks_both(self, expr: Logical) -> bool: ...
    def asks_at_once(self, expr: Logical) -> bool: ...
    def in_pairs(self, expr: Logical) -> Expr: ...
    def is_late(self, expr: Expr) -> bool: ...
    def shifts_inside(self, expr: Binary, spare: int = 0) -> bool: ...
    def has_bits(self) -> bool: ...
    def has_short_result(self, expr: Cast) -> bool: ...


def text_of(expr: Expr, env: Environment) -> str:
    """C text with the value of `expr`, in parentheses wherever it is more than a name, a literal or a call."""
    match expr:
        case Const():
            return literal(expr.value, expr.type)
        case Var():
            return env.variable(expr.name)
        case Dim():
            return env.size(expr.array, expr.axis)
        case Load():
            return env.load(expr)
        case Checked():
            return env.checked(expr)
        case Unary():
            return _unary(expr, text_of(expr.operand, env), env)
        case Binary():
            return _binary(expr, env)
        case Compare():
            return _compare(expr, env)
        case Logical() if env.asks_both(expr):
            return f"({text_of(expr.left, env)} {'&' if expr.op == 'and' else '|'} {text_of(expr.right, env)})"
        case Logical() if env.asks_at_once(expr):
            return f"LW_AT_ONCE({text_of(expr.left, env)} & {text_of(expr.right, env)})"
        case Logical() if (pairs := env.in_pairs(expr)) is not expr:
            return text_of(pairs, env)
        case Logical():
            return f"({text_of(expr.left, env)} {'&&' if expr.op == 'and' else '||'} {text_of(expr.right, env)})"
        case Select() if not env.in_lanes and _of_bits(expr):
            return _masked(expr, env)
        case Select() if not env.in_lanes and _of_floats(expr):
            sides = text_of(expr.then, env), text_of(expr.otherwise, env)
            return f"lw_either_{expr.type.name}({text_of(expr.condition, env)}, {', '.join(sides)})"
        case Select() if not env.in_lanes and env.is_compared(expr):
            return compared(expr, env)
        case Select():
            return f"({text_of(expr.condition, env)} ? {text_of(expr.then, env)} : {text_of(expr.otherwise, env)})"
        case Cast(operand=Unary() | Binary() as operand) if (
            env.in_lanes and expr.type.is_float and (narrow := in_32_bits(operand)) is not None
        ):
            return cast(text_of(narrow[0], env), INT32, expr.type)
        case Cast():
            text, source = text_of(expr.operand, env), expr.operand.type
            if (
                env.in_lanes
                and source in (INT64, UINT64)
                and expr.type == FLOAT64
                and not isinstance(expr.operand, Const)
            ):
                return f"lw_double_{source.name}({text})"
            if source.is_float and expr.type.is_integer and env.has_short_result(expr):
                return f"(({VALUE_TYPE[expr.type.name]})LW_SHORT_INTEGER({text}))"
            return cast(text, source, expr.type)
        case Call():
            return _call(expr, [text_of(argument, env) for argument in expr.arguments], env)
    assert_never(expr)


def compared(expr: Select, env: Environment) -> str:
    """A choice by a comparison of floats, without a jump."""
    assert isinstance(expr.condition, Compare)
    operands = text_of(expr.condition.left, env), _COMPARE[expr.condition.op], text_of(expr.condition.right, env)
    sides = text_of(expr.then, env), text_of(expr.otherwise, env)
    return f"LW_COMPARED({', '.join((expr.type.name, *operands, *sides))})"


def _of_bits(expr: Select) -> bool:
    """Whether it chooses between whole numbers of which one is a constant and the other one at hand: gcc jumps there,
    and data decide about that jump."""
    sides = (expr.then, expr.otherwise)
    if not expr.type.is_integer or expr.type.bits < 32 or not all(isinstance(side, Const | Var) for side in sides):
        return False
    return any(isinstance(side, Const) and (side.value == 0 or isinstance(other, Const))
               for side, other in zip(sides, sides[::-1], strict=True))  # fmt: skip


def _of_floats(expr: Select) -> bool:
    """The same of floats that are at hand, where bits of whole numbers decide: these are as good as random."""
    sides = [side.operand if isinstance(side, Unary) and side.op == "neg" else side
             for side in (expr.then, expr.otherwise)]  # fmt: skip
    parts = list(subexpressions(expr.condition))
    whole = all(part.type == BOOL or part.type.is_integer for part in parts)
    bits = any(isinstance(part, Binary) and part.op in ("and", "xor") and part.type != BOOL for part in parts)
    return expr.type.is_float and all(isinstance(side, Const | Var) for side in sides) and whole and bits


def _masked(expr: Select, env: Environment) -> str:
    name, condition = VALUE_TYPE[expr.type.name], text_of(expr.condition, env)
    then, otherwise = expr.then, expr.otherwise
    if isinstance(otherwise, Const) and otherwise.value == 0:
        return f"(-({name})(bool){condition} & {text_of(then, env)})"
    if isinstance(then, Const) and then.value == 0:
        return f"(({name})(bool){condition} - 1 & {text_of(otherwise, env)})"
    assert isinstance(then, Const) and isinstance(otherwise, Const)
    differ = Const(int(then.value) ^ int(otherwise.value), expr.type)
    return f"(-({name})(bool){condition} & {text_of(differ, env)} ^ {text_of(otherwise, env)})"


def _compare(expr: Compare, env: Environment) -> str:
    texts = _narrow(expr.left, expr.right, env)
    if texts is None and env.in_lanes and (sides := compared_in_32_bits(expr, env.stays)) is not None:
        one, other = (
            f"lw_within_int32({text})" if side.type == INT64 else text
            for side in sides
            for text in [text_of(side, env)]
        )
        texts = one, other
    left, right = texts or (text_of(expr.left, env), text_of(expr.right, env))
    return f"({left} {_COMPARE[expr.op]} {right})"


def _narrow(left: Expr, right: Expr, env: Environment) -> tuple[str, str] | None:
    """C texts of two whole numbers to be compared in lanes that are no wider than need be, where one is an element of
    few bits and the other one stays the same in the loop: brought to within what such elements can be, and one more, it
    compares as it does. None for anything else."""
    for element, other, turned in ((left, right, False), (right, left, True)):
        match element:
            case Cast(operand=Load(type=kind) as load, type=to) if to == INT64 and kind.is_integer and kind.bits <= 16:
                if isinstance(other, Const) or not env.stays(other):
                    return None
                wide = "int16" if kind.bits == 8 else "int32"
                texts = f"(({VALUE_TYPE[wide]}){text_of(load, env)})", f"lw_within_{wide}({text_of(other, env)})"
                return texts[::-1] if turned else texts
    return None


def literal(value: bool | int | float, scalar: Scalar) -> str:
    """A C literal of exactly this value and type."""
    if scalar.kind == "bool":
        return "true" if value else "false"
    if scalar.is_integer:
        return _integer(int(value), scalar)
    number = float(value)
    if math.isnan(number) or math.isinf(number):
        name = "NAN" if math.isnan(number) else "INFINITY" if number > 0 else "-INFINITY"
        return f"(({VALUE_TYPE[scalar.name]}){name})"
    text = repr(float(FLOAT32.dtype.type(number)) if scalar == FLOAT32 else number)
    text += "" if any(mark in text for mark in ".en") else ".0"
    text += "f" if scalar == FLOAT32 else ""
    return f"({text})" if text.startswith("-") else text


def _integer(value: int, scalar: Scalar) -> str:
    if scalar.kind == "uint":
        return f"UINT64_C({value})" if scalar.bits == 64 else f"(({VALUE_TYPE[scalar.name]}){value}u)"
    if value == -(1 << 63):
        return "INT64_MIN"
    if scalar.bits == 64:
        return f"{value}L" if value >= 0 else f"(-{-value}L)"
    return f"(({VALUE_TYPE[scalar.name]}){value})"


def _narrowed(text: str, scalar: Scalar) -> str:
    """C computes narrow integers as int: bring the value back into its type, which wraps."""
    if scalar.kind == "bool" or (scalar.is_integer and scalar.bits < 32):
        return f"(({VALUE_TYPE[scalar.name]}){text})"
    return text


def _unary(expr: Unary, operand: str, env: Environment) -> str:
    scalar, name = expr.type, VALUE_TYPE[expr.type.name]
    match expr.op:
        case "not":
            return f"(!{operand})"
        case "invert":
            return f"(!{operand})" if scalar.kind == "bool" else _narrowed(f"(~{operand})", scalar)
        case "neg":
            if scalar.is_float:
                return f"(-{operand})"
            wraps = scalar.kind == "int" and scalar.bits >= 32 and not env.cannot_overflow(expr)
            return f"(({name})(0 - {f'(u{name}){operand}' if wraps else operand}))"
        case "abs":
            if scalar.is_float:
                return f"fabs{'f' if scalar == FLOAT32 else ''}({operand})"
            return operand if scalar.kind != "int" else f"LW_ABS({name}, {operand})"
    assert_never(expr.op)


def _binary(expr: Binary, env: Environment) -> str:
    if expr.op in ("floordiv", "mod") and (known := env.computed(expr)):
        return known
    if expr.op in ("and", "shl") and (bits := _few_bits(expr, env) or _moved_bits(expr, env)):
        return bits
    scalar, name = expr.type, VALUE_TYPE[expr.type.name]
    left, right = text_of(expr.left, env), text_of(expr.right, env)
    match expr.op:
        case "add" | "sub" | "mul" if scalar.kind == "int" and scalar.bits >= 32 and not env.cannot_overflow(expr):
            return f"(({name})((u{name}){left} {_PLAIN[expr.op]} (u{name}){right}))"
        case "mul" if scalar.name == "uint16" and not env.cannot_overflow(expr):  # C would multiply signed ints
            return f"(({name})((uint32_t){left} * (uint32_t){right}))"
        case "sub" if scalar.is_float and isinstance(expr.left, Const) and expr.left.value == 0:
            # gcc makes -x of a literal zero minus an x that it knows not to be -0.0: -0.0 for 0 - 0
            return f"lw_minus_{scalar.name}({left}, {right})"
        case "mul" if env.is_apart(expr):
            return f"lw_apart_{scalar.name}({left} * {right})"
        case "add" | "sub" | "mul" | "truediv" | "and" | "or" | "xor":
            return _narrowed(f"({left} {_PLAIN[expr.op]} {right})", scalar)
        case "floordiv" | "mod":
            return _division(expr, left, right, env)
        case "shr" if env.shifts_inside(expr):
            return _narrowed(f"({left} >> {right})", scalar)
        case "shl" if env.shifts_inside(expr):
            return f"(({name})(({name if scalar.kind == 'uint' else f'u{name}'}){left} << {right}))"
        case "shl" | "shr":
            return f"lw_{expr.op}_{scalar.name}({left}, {right})"
        case "min" | "max":
            if env.is_late(expr):
                return f"lw_late_{expr.op}_{scalar.name}({left}, {right})"
            return f"LW_{expr.op.upper()}({name}, {left}, {right})"
        case "pow":
            return _power(expr, left, right, env)
    assert_never(expr.op)


def _few_bits(expr: Binary, env: Environment) -> str:
    """`(x >> k) & 1` without the copies of the sign that `& 1` would drop: x86 has no such shift of vectors of 64 bits
    before AVX-512. '' for anything else."""
    scalar, name = expr.type, VALUE_TYPE[expr.type.name]
    for shift, mask in ((expr.left, expr.right), (expr.right, expr.left)) if expr.op == "and" else ():
        if not (isinstance(mask, Const) and isinstance(shift, Binary) and shift.op == "shr"):
            continue
        if scalar.kind != "int" or scalar.bits < 32 or int(mask.value) <= 0:
            continue
        number, by = text_of(shift.left, env), text_of(shift.right, env)
        if env.shifts_inside(shift, int(mask.value).bit_length() - 1):
            return f"(({name})((u{name}){number} >> {by}) & {text_of(mask, env)})"
        if mask.value == 1 and env.has_bits():
            return f"lw_bit_{scalar.name}({number}, {by})"
    return ""


def _moved_bits(expr: Binary, env: Environment) -> str:
    """`((x >> 5) & 1) << 10` with one shift. '' for anything else, and of copies of the sign."""
    scalar, name = expr.type, VALUE_TYPE[expr.type.name]
    match expr:
        case Binary(op="shl", left=Binary(op="and", left=Binary(op="shr") as shift, right=Const(value=int() as mask))):
            by, back = (rewrite_expr(one, simpler) for one in (expr.right, shift.right))
        case _:
            return ""
    if scalar.kind != "int" or scalar.bits < 32 or not isinstance(by, Const) or not isinstance(back, Const):
        return ""
    left, right = int(by.value), int(back.value)
    if not 0 <= min(left, right) <= max(left, right) < scalar.bits:
        return ""
    if not 0 < mask < 1 << (scalar.bits - 1 - max(left, right)):
        return ""
    number, kept = text_of(shift.left, env), literal(mask << left, scalar)
    way = "<<" if left > right else ">>"
    return f"(({name})((u{name}){number} {way} {abs(left - right)}) & {kept})"


def _division(expr: Binary, left: str, right: str, env: Environment) -> str:
    divisor = expr.right.value if isinstance(expr.right, Const) else 0
    scalar = expr.type
    if scalar.kind == "int" and isinstance(divisor, int) and divisor > 0 and divisor & (divisor - 1) == 0:
        # Arithmetic shifts and masks round to minus infinity by themselves.
        if expr.op == "floordiv":
            return _narrowed(f"({left} >> {divisor.bit_length() - 1})", scalar)
        return _narrowed(f"({left} & {divisor - 1})", scalar)
    if env.is_late(expr):
        return f"lw_late_mod_{scalar.name}({left}, {right})"
    changes = scalar in (INT64, UINT64) and not isinstance(expr.right, Const) and not env.stays(expr)
    is_near = changes and expr.op == "mod" and env.is_near(expr)
    # A product, such as a key that is hashed, mostly has more bits than a reciprocal is good for.
    is_product = isinstance(expr.left, Binary) and expr.left.op in ("mul", "shl", "pow")
    if changes and not is_near and not is_product and (reciprocal := env.reciprocal(expr.right)):
        return f"lw_known_{expr.op}_{scalar.name}({left}, {right}, {reciprocal})"
    return f"lw_{'near_' if is_near else 'short_' if changes else ''}{expr.op}_{scalar.name}({left}, {right})"


_POWERS = {2: "SQUARE", 3: "CUBE", 5: "FIFTH", 7: "SEVENTH"}
_LARGEST_PRODUCT = 16
"""The exponent up to which a power is a product: the rounding of each factor adds up."""


def _factors(exponent: object) -> list[int]:
    """Powers one after the other that make this one; none where there are no such, or it is no small whole number."""
    if not isinstance(exponent, int | float) or not 2 <= exponent <= _LARGEST_PRODUCT or exponent % 1:
        return []
    left, factors = int(exponent), list[int]()
    for factor in _POWERS:
        while left % factor == 0:
            left //= factor
            factors.append(factor)
    return factors if left == 1 else []


def is_root(expr: Binary) -> bool:
    """Whether a power is a square root, or one by it: these are exact to the last bit, which powers are not always."""
    return expr.op == "pow" and expr.type.is_float and isinstance(expr.right, Const) and expr.right.value in (0.5, -0.5)


def is_vector_function(expr: Expr) -> bool:
    """Whether it is a function of floats, or a power, for which there is one of whole registers where the last bit does
    not count."""
    match expr:
        case Call(function=function):
            return function in VECTOR_FUNCTIONS
        case Binary(op="pow", left=base, right=exponent) if expr.type.is_float:
            is_product = isinstance(exponent, Const) and bool(_factors(exponent.value))
            return not is_product and not is_root(expr) and not (isinstance(base, Const) and base.value == -1)
    return False


def _power(expr: Binary, left: str, right: str, env: Environment) -> str:
    scalar, name = expr.type, VALUE_TYPE[expr.type.name]
    exponent = expr.right.value if isinstance(expr.right, Const) else None
    if (scalar.is_integer or not env.strict) and (factors := _factors(exponent)):
        return reduce(lambda text, factor: f"LW_{_POWERS[factor]}({name}, {text})", factors, left)
    if is_root(expr) and not env.strict:
        root = f"LW_ROOT({name}, {left})"
        return root if exponent == 0.5 else f"(1 / {root})"
    right = f"LW_EXPONENT({name}, {right})" if is_root(expr) else right
    base, count = (expr.left.value if isinstance(expr.left, Const) else None), expr.right
    if base == -1 and scalar == FLOAT64 and isinstance(count, Cast) and count.operand.type.kind == "int":
        return f"(({name})lw_alternating({text_of(count.operand, env)}))"
    if scalar == FLOAT64 and not env.strict and not env.in_lanes and (whole := _whole(count)) is not None:
        return f"lw_whole_power_float64({left}, {text_of(whole, env)})"
    if scalar.is_float:
        text = f"{_of_lanes('pow', scalar, env)}({left}, {right})"
        known = env.computed(expr)
        return f"LW_EARLY({known}, {text})" if known else text
    if base == -1 and scalar.kind == "int":  # the exponent is not negative
        return f"(({name})(1 - 2 * ({right} & 1)))"
    if base == 2:
        return f"lw_shl_{scalar.name}(1, {right})"
    return f"(({name})lw_ipow((uint64_t){left}, (uint64_t){right}))"


def _whole(exponent: Expr) -> Expr | None:
    """The whole number of an exponent that is none but for its type, and changes."""
    is_whole = isinstance(exponent, Cast) and exponent.operand.type.kind == "int"
    return exponent.operand if is_whole and isinstance(exponent, Cast) else None


def cast(text: str, source: Scalar, target: Scalar) -> str:
    """C text that converts a value as the IR's Cast does."""
    if source == target:
        return text
    if target.kind == "bool":
        return f"({text} != 0)"
    name = VALUE_TYPE[target.name]
    if source.is_float and target.is_integer:
        function = "lw_touint" if target.name == "uint64" else "lw_toint"
        return f"(({name}){function}_{source.name}({text}))"
    return f"(({name}){text})"


def failing(text: str, scalar: Scalar) -> str:
    """C text of the two arguments with which a number that cannot be converted is recorded, as
    `program.failed_number` reads them."""
    return f"{bits_of(text, scalar)}, {3 if scalar.is_float else 2 if scalar.kind == 'uint' else 1}"


def bits_of(text: str, scalar: Scalar) -> str:
    """C text of a number in 64 bits: a float's own."""
    return f"lw_bits((double){text})" if scalar.is_float else f"(int64_t){text}"


def _call(expr: Call, arguments: list[str], env: Environment) -> str:
    first = expr.arguments[0].type
    joined = ", ".join(arguments)
    if expr.function in _TESTS:
        return f"({expr.function}({joined}) != 0)"
    if expr.function in ("maximum", "minimum", "fmax", "fmin", "bits"):
        return f"lw_{expr.function}_{first.name}({joined})"
    library = LIBRARY.get(expr.function, expr.function)
    if expr.function == "hypot" and first == FLOAT64 and not env.strict and not env.vector_functions:
        return f"lw_hypot_float64({joined})"
    if expr.function in VECTOR_FUNCTIONS:
        text = f"{_of_lanes(library, first, env)}({joined})"
        known = env.computed(expr)
        return f"LW_EARLY({known}, {text})" if known else text
    return f"{library}{'f' if first == FLOAT32 else ''}({joined})"


def _of_lanes(library: str, scalar: Scalar, env: Environment) -> str:
    """The name of a function of the C library: in a loop for vector registers, where there may be one for those."""
    name = f"{library}f" if scalar == FLOAT32 else library
    return f"LW_VECTOR({name})" if env.vector_functions else name
