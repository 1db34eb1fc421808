"""The types of the generator: what CPython and NumPy make of an expression. NumPy itself is asked, by a sample run.

It shares nothing with the front end's inference, which these programs are to judge.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np

INTEGERS = ("int64", "int32", "int8", "int16", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float64", "float32")
ELEMENTS = ("float64", "int64", "int32", "float32", "bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64")


@dataclass(frozen=True)
class Kind:
    """`weak`: a Python bool, int or float (then named bool, int64, float64); else a NumPy scalar."""

    name: str
    weak: bool = False

    @property
    def is_float(self) -> bool:
        return self.name in FLOATS

    @property
    def is_bool(self) -> bool:
        return self.name == "bool"

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def cast(self) -> str:
        """The text of the function that makes this kind of another."""
        if self.weak:
            return {"bool": "bool", "int64": "int", "float64": "float"}[self.name]
        return "np.bool_" if self.is_bool else f"np.{self.name}"


WEAK_INT = Kind("int64", weak=True)
WEAK_FLOAT = Kind("float64", weak=True)
WEAK_BOOL = Kind("bool", weak=True)
WEAK = (WEAK_INT, WEAK_FLOAT, WEAK_BOOL)
INDEX = Kind("int64")
STRONG = tuple(Kind(name) for name in ELEMENTS)
LIMIT = 2**40
"""No weak integer of a program is ever larger: CPython's do not wrap, ours do."""


@dataclass(frozen=True)
class Term:
    """The text of an expression (in brackets where it has operators), its kind, and (weak integers only) bounds of
    its value over all calls."""

    text: str
    kind: Kind
    low: int = -LIMIT
    high: int = LIMIT

    def __post_init__(self) -> None:
        if self.kind.is_bool:
            object.__setattr__(self, "low", 0)
            object.__setattr__(self, "high", 1)

    def never_zero(self) -> bool:
        return self.low > 0 or self.high < 0

    def magnitude(self) -> int:
        return max(abs(self.low), abs(self.high))


def sample(kind: Kind) -> object:
    """A value of this kind: one."""
    if kind.weak:
        return {"bool": True, "int64": 1, "float64": 1.0}[kind.name]
    return np.dtype(kind.name).type(1)


def kind_of_value(value: object) -> Kind | None:
    """The kind of a Python or NumPy scalar, or None where the language has no such type (float16, complex)."""
    if isinstance(value, np.generic):
        return Kind(value.dtype.name) if value.dtype.name in ELEMENTS else None
    for python, kind in ((bool, WEAK_BOOL), (int, WEAK_INT), (float, WEAK_FLOAT)):
        if type(value) is python:
            return kind
    return None


@cache
def result(template: str, *kinds: Kind) -> Kind | None:
    """The kind of an expression such as `{} + {}` over operands of these kinds; None where NumPy refuses it."""
    names = [f"operand{position}" for position in range(len(kinds))]
    values = {name: sample(kind) for name, kind in zip(names, kinds, strict=True)}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return kind_of_value(eval(template.format(*names), {"np": np, "math": math}, values))
        except (TypeError, ValueError, OverflowError):
            return None


def range_of(kind: Kind) -> tuple[int, int]:
    """The least and greatest value of an integer or bool kind."""
    if kind.is_bool:
        return 0, 1
    info = np.iinfo(kind.name)
    return int(info.min), int(info.max)


def fits(term: Term, kind: Kind) -> bool:
    """Whether every value of a weak integer term is a value of the integer kind."""
    low, high = range_of(kind)
    return low <= term.low and term.high <= high


def within_limit(text: str, low: int, high: int) -> Term:
    """A weak integer term: reduced modulo a small prime where its values could grow too large."""
    if max(abs(low), abs(high)) <= LIMIT:
        return Term(text, WEAK_INT, low, high)
    return Term(f"({text} % 97)", WEAK_INT, 0, 96)


def clamped(term: Term, unsigned: bool) -> str:
    """The text of a float term that is finite and small, so that it has an integer value everywhere."""
    return f"np.fmin(np.fmax({term.text}, {0.0 if unsigned else -100.0}), 100.0)"


def to_weak_int(term: Term) -> Term:
    """`int(term)`, kept small."""
    if term.kind == WEAK_INT:
        return term
    if term.kind.is_float:
        return Term(f"int({clamped(term, unsigned=False)})", WEAK_INT, -100, 100)
    low, high = range_of(term.kind)
    if term.kind.name == "uint64":
        return Term(f"int({term.text} % 97)", WEAK_INT, 0, 96)
    return within_limit(f"int({term.text})", low, high)


def coerced(term: Term, kind: Kind) -> Term:
    """The term as a value of another kind, through a cast that CPython and NumPy define for all its values."""
    if term.kind == kind:
        return term
    if kind == WEAK_INT:
        return to_weak_int(term)
    if kind.is_integer:
        if term.kind.is_float:
            return Term(f"{kind.cast}({clamped(term, kind.name.startswith('u'))})", kind)
        if term.kind == WEAK_INT and not fits(term, kind):
            return Term(f"{kind.cast}({term.text} % 100)", kind)
    return Term(f"{kind.cast}({term.text})", kind)


def storable(term: Term, element: str) -> Term:
    """The term, cast where NumPy would refuse to store it, or where the value that it stores is undefined.

    NumPy stores a wider NumPy integer into an unsigned array by wrapping, but refuses it in a signed one where
    it does not fit; so it is cast here."""
    kind = Kind(element)
    if kind.is_bool or kind.is_float or term.kind.is_bool:
        return term
    if term.kind.is_float:
        return Term(clamped(term, element.startswith("u")), Kind("float64"))
    if term.kind == WEAK_INT:
        return term if fits(term, kind) else Term(f"({term.text} % 100)", WEAK_INT, 0, 99)
    if element.startswith("u") or np.can_cast(term.kind.name, element):
        return term
    return coerced(term, kind)
