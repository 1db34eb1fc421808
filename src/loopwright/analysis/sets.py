"""isl sets from formulas. It owns the order of isl's parameters: by the depth of birth, so that what varies inside a
loop is always the tail of the list and leaves by one projection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import RLock

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, Symbol, closure

LOCK = RLock()
"""Held by whoever asks isl anything: its one context counts operations, and is not made for several threads."""


class TooHard(Exception):
    """A question took isl more work than it is worth."""


@dataclass(slots=True)
class Effort:
    """How many of isl's operations (some 10 million a second) one question may take: less after each failure, so
    that a kernel full of hard questions is not slow either. Counted in operations, so that answers are the same on
    every machine."""

    limit: int = 500_000
    least: int = 20_000

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Raises TooHard where the block takes more than the limit."""
        context = isl.DEFAULT_CONTEXT
        context.reset_operations()
        context.set_max_operations(self.limit)
        try:
            yield
            spent = _is_spent()  # then some answers may be wrong: not every function of isl tells
        except Exception:
            spent = _is_spent()  # then everything fails, with any message
            if not spent:
                raise
        finally:
            context.set_max_operations(0)
        if spent:
            self.limit = max(self.least, self.limit // 2)
            raise TooHard


def _is_spent() -> bool:
    """Whether the limit is reached: nothing can be allocated any more."""
    try:
        isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0)
    except isl.Error:
        return True
    return False


def ordered(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Symbols and all they rest on: outer before inner; within one depth sizes, scalars and the loop's own variable
    come first."""
    return sorted(closure(symbols), key=lambda s: (len(s.birth), s.role == "opaque", s.number))


def build(formulas: Sequence[Formula], dims: Sequence[str] = (), points: Sequence[Formula] = ()) -> isl.Set:
    """The points `dims` for which all formulas hold; every symbol is a parameter, with its rule. Only `points` speak
    of the dims. Each formula is parsed once, and the same points are made once: both take isl more time than questions
    about them."""
    symbols = ordered(symbol for formula in (*formulas, *points) for symbol in formula.symbols)
    rules = (Formula(symbol.rule, (symbol, *symbol.uses)) for symbol in symbols if symbol.rule)
    conditions = tuple((formula.text, _names(formula)) for formula in dict.fromkeys((*rules, *formulas)))
    names = tuple(symbol.name for symbol in symbols)
    return _built(names, conditions, tuple(dims), tuple((formula.text, _names(formula)) for formula in points))


Named = tuple[str, tuple[str, ...]]
"""The text of a formula and the names of its symbols."""


@lru_cache(maxsize=2048)
def _built(
    names: tuple[str, ...], conditions: tuple[Named, ...], dims: tuple[str, ...], points: tuple[Named, ...]
) -> isl.Set:
    if not dims:
        result = parsed("true", names, ())
        for text, own in conditions:
            result = result.intersect(parsed(text, own, ()))
        return result
    inside = parsed("true", (), dims).intersect_params(_built(names, conditions, (), ()))
    for text, own in points:
        inside = inside.intersect(parsed(text, own, dims))
    return inside


def _names(formula: Formula) -> tuple[str, ...]:
    return tuple(symbol.name for symbol in formula.symbols)


@lru_cache(maxsize=8192)
def parsed(text: str, names: tuple[str, ...], dims: tuple[str, ...] = ()) -> isl.Set:
    """A set from the text of its condition, parsed once."""
    point = f"[{','.join(dims)}]" if dims else ""
    return isl.Set(f"[{','.join(dict.fromkeys(names))}] -> {{ {point} : {text} }}")


def only(points: isl.Set, keep: Iterable[str]) -> isl.Set:
    """The set with every other parameter projected out."""
    kept = set(keep)
    return without(points, {name for name in parameters(points) if name not in kept})


def without(points: isl.Set, names: Collection[str]) -> isl.Set:
    """The set with some parameters projected out, neighbours at once."""
    known = parameters(points)
    position = len(known)
    while position > 0:
        end = position
        while position > 0 and known[position - 1] in names:
            position -= 1
        if end > position:
            points = points.project_out(isl.dim_type.param, position, end - position)
        position -= 1
    return points


def parameters(points: isl.Set) -> list[str]:
    """The names of a set's parameters, in order."""
    return [points.get_dim_name(isl.dim_type.param, k) or "" for k in range(points.dim(isl.dim_type.param))]


def renamed(points: isl.Set, old: str, new: str) -> isl.Set:
    """The set with one parameter under another name."""
    position = points.find_dim_by_name(isl.dim_type.param, old)
    return points if position < 0 else points.set_dim_name(isl.dim_type.param, position, new)
