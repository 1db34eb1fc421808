"""Every operator and conversion over operands at the edges of their types: what Python gives, and what we give.

Expressions that do not raise are evaluated many at a time, in one kernel; where one of them does, one by one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from frontend.judge import define
from loopwright.errors import KernelError
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.interp import prepare
from loopwright.ir.types import ALL
from loopwright.runtime.specialise import signature_of

Run = Callable[..., Any]

PYTHON = ("Python bool", "Python int", "Python float")
NUMPY = tuple(kind.name for kind in ALL)
KINDS = (*PYTHON, *NUMPY)

_WHOLE = (0, -1, 64, 2**53 + 1)  # and the ends of each type
_MORE_WHOLE = (1, 2, 8, -3, 7, 63, 100, 2**53 - 1, 2**53, -(2**53) - 1, 2**63 - 1, -(2**63))
_REAL = (0.0, -0.0, -2.5, 2.0**63, math.inf, math.nan)
_MORE_REAL = (2.5, 2.0**53, 1e300, -math.inf, -1.0, 1.0, 0.5, 2.0**53 + 2, -(2.0**63), 3.0, 5e-324, 0.1)

# Groups of expressions that are read together: one that is refused does not hide the others of another group.
BINARY = {
    "arithmetic": ("x + y", "x - y", "x * y"),
    "division": ("x / y", "x // y", "x % y", "divmod(x, y)[0]", "divmod(x, y)[1]"),
    "power": ("x ** y",),
    "bits": ("x & y", "x | y", "x ^ y", "x << y", "x >> y"),
    "comparisons": ("x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "x in (y, 7)"),
    "one type": ("min(x, y)", "max(x, y)", "x and y", "x if x > y else y"),
}
UNARY = {
    "signs": ("-x", "+x"),
    "invert": ("~x",),
    "truth": ("not x", "bool(x)"),
    "conversions": ("int(x)", "float(x)", "round(x)", "abs(x)"),
    "to NumPy": tuple(f"np.{'bool_' if name == 'bool' else name}(x)" for name in NUMPY),
    "whole": ("math.floor(x)", "math.ceil(x)", "math.trunc(x)"),
    "tests": ("math.isnan(x)", "math.isinf(x)", "math.isfinite(x)"),
    "math": tuple(
        f"math.{name}(x)"
        for name in (
            *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan"),
            *("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "fabs", "degrees", "radians"),
            *("erf", "erfc", "gamma", "lgamma"),
        )
    ),
}
LITERALS = (0, -1, 2, 64, 300, 2**53 + 1, 2**63 - 1, 2**64, True, 0.0, -1.0, 0.5, 2.5, 2.0**53, 2.0**63, math.inf)


@dataclass(frozen=True)
class Case:
    """One expression over certain operands. expected, found: a value, or the class of the exception."""

    text: str
    kinds: tuple[str, ...]
    operands: tuple[Any, ...]
    expected: Any
    found: Any

    def __str__(self) -> str:
        given = ", ".join(map(repr, self.operands))
        return f"{self.text} over {given}: Python {self.expected!r}, here {self.found!r}"


class Refused:
    """What is found where the front end refuses an expression."""


def values(kind: str) -> list[Any]:
    """Operands of a kind."""
    match kind:
        case "Python bool":
            return [False, True]
        case "Python int":
            return [*_WHOLE, *_MORE_WHOLE]
        case "Python float":
            return [*_REAL, *_MORE_REAL]
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return [np.False_, np.True_]
    if dtype.kind == "f":
        return [dtype.type(x) for x in _REAL]
    info = np.iinfo(dtype)
    fitting = [x for x in _WHOLE if info.min <= x <= info.max]
    return [dtype.type(x) for x in dict.fromkeys([*fitting, int(info.min), int(info.max)])]


class Expressions:
    """The functions of expressions, and what we make of them for operands of certain kinds: each made once."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, ...], Run] = {}
        self._ours: dict[tuple[tuple[str, ...], tuple[type, ...]], Run | None] = {}

    def function(self, texts: tuple[str, ...], count: int) -> Run:
        """The plain function that returns a tuple of these expressions."""
        if texts not in self._functions:
            given, file = ", ".join("xy"[:count]), f"edge{len(self._functions)}.py"
            self._functions[texts] = define(f"def f({given}):\n    return {', '.join(texts)},\n", file, math=math)
        return self._functions[texts]

    def ours(self, texts: tuple[str, ...], operands: tuple[Any, ...]) -> Run | None:
        """The same, interpreted; None where it is refused."""
        key = texts, tuple(map(type, operands))
        if key not in self._ours:
            source = _captured(self.function(texts, len(operands)))
            signature = signature_of(operands, [], [one.name for one in source.parameters])
            try:
                self._ours[key] = prepare(lower(source, signature).kernel)
            except KernelError:
                self._ours[key] = None
        return self._ours[key]

    def cases(self, texts: tuple[str, ...], kinds: tuple[str, ...], operands: tuple[Any, ...]) -> Iterator[Case]:
        """The Cases of some expressions in which Python and we differ."""
        if not texts:
            return
        expected, ours = _outcome(self.function(texts, len(operands)), operands), self.ours(texts, operands)
        if ours is not None and isinstance(expected, tuple):
            found = _outcome(lambda *given: ours(given), operands)
            if isinstance(found, tuple):
                for text, own, other in zip(texts, expected, found, strict=True):
                    if not same(own, other):
                        yield Case(text, kinds, operands, own, other)
                return
        if len(texts) > 1:
            for text in texts:
                yield from self.cases((text,), kinds, operands)
        else:
            own = expected if isinstance(expected, type) else expected[0]
            other: Any = Refused if ours is None else _outcome(lambda *given: ours(given), operands)
            other = other if isinstance(other, type) else other[0]
            if not same(own, other):
                yield Case(texts[0], kinds, operands, own, other)


def _sensible(texts: tuple[str, ...], x: Any, y: Any) -> tuple[str, ...]:
    """Without what makes Python busy with an int of thousands of digits."""
    if not isinstance(x, int) or not isinstance(y, int):
        return texts
    power, shift = abs(x) > 1 and y > 200, y > 200
    return tuple(t for t in texts if not (power and ("**" in t or "pow" in t)) and not (shift and "<<" in t))


def _outcome(run: Run, operands: tuple[Any, ...]) -> Any:
    try:
        return run(*operands)
    except Exception as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


def same(own: Any, other: Any) -> bool:
    """Equal in type and to the last bit; NaN equals itself."""
    if type(own) is not type(other):
        return False
    if isinstance(own, tuple):
        return all(map(same, own, other))
    if isinstance(own, np.generic):
        return own.tobytes() == other.tobytes() or bool(own != own and other != other)
    return bool(own is other or repr(own) == repr(other))


def differences() -> Iterator[Case]:
    """All Cases of the table in which Python and we differ."""
    expressions = Expressions()
    for kinds in ((a, b) for a in KINDS for b in KINDS):
        for x in values(kinds[0]):
            for y in values(kinds[1]):
                for texts in BINARY.values():
                    yield from expressions.cases(_sensible(texts, x, y), kinds, (x, y))
    for kind in KINDS:
        for x in values(kind):
            for texts in UNARY.values():
                yield from expressions.cases(texts, (kind,), (x,))


def differences_with_literals() -> Iterator[Case]:
    """The same for operands that stand in the code."""
    expressions = Expressions()
    for kind in (*PYTHON, "uint8", "int64"):
        for literal in LITERALS:
            for texts in BINARY.values():
                for x in values(kind):
                    first, last = _sensible(texts, x, literal), _sensible(texts, literal, x)
                    yield from expressions.cases(_with_literal(first, literal, "y"), (kind,), (x,))
                    yield from expressions.cases(_with_literal(last, literal, "x"), (kind,), (x,))


_captured = cache(capture)


@cache
def _with_literal(texts: tuple[str, ...], literal: float, name: str) -> tuple[str, ...]:
    """The expressions with a number in the place of one name, and `x` for the other one."""
    number = "1e999" if literal == math.inf else repr(literal)
    return tuple(re.sub(r"\by\b", "x", re.sub(rf"\b{name}\b", f"({number})", text)) for text in texts)
