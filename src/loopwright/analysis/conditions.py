"""isl sets from text whose conditions are plain comparisons of sums, as most are: they are put together here, in a
tenth of the time in which isl reads a text. Everything else is left to isl; the sets are the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from loopwright.analysis import isl
from loopwright.analysis.effort import kept

COMPARISON = re.compile(r"(\()?([^()<>=!]+)(?(1)\)) (<=|>=|<|>|=) (\()?([^()<>=!]+)(?(4)\))")
NAME = re.compile(r"[A-Za-z_]\w*")
SMALL = 2**31


@dataclass(frozen=True, slots=True)
class Comparison:
    """The sum of `terms` and a number is zero, or where it is no equation, not negative."""

    terms: tuple[tuple[str, int], ...]
    constant: int
    is_equation: bool


def set_of(text: str, names: tuple[str, ...], dims: tuple[str, ...] = ()) -> isl.Set:
    """The points `dims` for which a condition holds; `names` are parameters."""
    comparisons = comparisons_in(text)
    known = tuple(dict.fromkeys(names))
    if comparisons is None or not {name for one in comparisons for name, _ in one.terms} <= {*known, *dims}:
        point = f"[{','.join(dims)}]" if dims else ""
        return isl.Set(f"[{','.join(known)}] -> {{ {point} : {text} }}")
    return points_of(comparisons, known, dims)


def points_of(comparisons: Sequence[Comparison], names: tuple[str, ...], dims: tuple[str, ...] = ()) -> isl.Set:
    """The points `dims` for which all comparisons hold; `names` are parameters, and different from one another."""
    places = {name: place for place, name in enumerate((*names, *dims))}
    numbers = _IslNumbers()
    equations = _rows([one for one in comparisons if one.is_equation], places, numbers)
    others = _rows(_strictest(one for one in comparisons if not one.is_equation), places, numbers)
    kind = isl.dim_type
    columns = kind.param, kind.set, kind.div, kind.cst
    return isl.BasicSet.from_constraint_matrices(_space(names, dims), equations, others, *columns).to_set()


def _strictest(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Of those that count the same names as often, the one that says most. (isl would find that out, too, but leave the
    others in another order than where they come one by one.)"""
    found: dict[frozenset[tuple[str, int]], Comparison] = {}
    for one in comparisons:
        known = found.setdefault(frozenset(one.terms), one)
        if one.constant < known.constant:
            found[frozenset(one.terms)] = one
    return list(found.values())


class _IslNumbers(dict[int, "isl.Val"]):
    """isl's numbers, each made once."""

    def __missing__(self, number: int) -> isl.Val:
        made = self[number] = isl.Val.int_from_si(isl.DEFAULT_CONTEXT, number)
        return made


def _rows(comparisons: Sequence[Comparison], places: Mapping[str, int], numbers: _IslNumbers) -> isl.Mat:
    """A row for each comparison: how often it counts each name, and its number."""
    width = len(places) + 1
    rows = isl.Mat.alloc(isl.DEFAULT_CONTEXT, 0, width).insert_zero_rows(0, len(comparisons))
    for number, one in enumerate(comparisons):
        for name, factor in one.terms:
            rows = rows.set_element_val(number, places[name], numbers[factor])
        if one.constant:
            rows = rows.set_element_val(number, width - 1, numbers[one.constant])
    return rows


def _space(names: tuple[str, ...], dims: tuple[str, ...]) -> isl.Space:
    return kept(("space", names, dims), lambda: _space_anew(names, dims))


def _space_anew(names: tuple[str, ...], dims: tuple[str, ...]) -> isl.Space:
    context = isl.DEFAULT_CONTEXT
    if dims:
        space = isl.Space.set_alloc(context, len(names), len(dims))
    else:
        space = isl.Space.params_alloc(context, len(names))
    for place, name in enumerate(names):
        space = space.set_dim_name(isl.dim_type.param, place, name)
    for place, name in enumerate(dims):
        space = space.set_dim_name(isl.dim_type.set, place, name)
    return space


@lru_cache(maxsize=8192)
def comparisons_in(text: str) -> tuple[Comparison, ...] | None:
    """The comparisons that all have to hold; None where the text says more than that, or nothing of any name."""
    if text == "true":
        return ()
    if text.startswith("((") and text.endswith("))"):
        text = text[1:-1]  # several, in brackets
    found = [_comparison(part) for part in text.split(" and ")]
    return None if None in found else tuple(one for one in found if one is not None)


def _comparison(text: str) -> Comparison | None:
    parts = COMPARISON.fullmatch(text)
    if parts is None:
        return None
    left, sign, right = _sum(parts[2]), parts[3], _sum(parts[5])
    if left is None or right is None:
        return None
    greater, less = (right, left) if sign in ("<", "<=") else (left, right)
    total = dict(greater)
    for name, factor in less.items():
        total[name] = total.get(name, 0) - factor
    constant = total.pop("", 0) - (sign in ("<", ">"))
    terms = tuple((name, factor) for name, factor in total.items() if factor)
    if gcd(*(factor for _, factor in terms)) != 1 or max(abs(constant), *(abs(factor) for _, factor in terms)) >= SMALL:
        return None  # isl simplifies these
    return Comparison(terms, constant, sign == "=")


def _sum(text: str) -> dict[str, int] | None:
    """How often each name counts in a sum, and under "" the number in it; None where it is another thing."""
    total: dict[str, int] = {}
    for term in text.split(" + "):
        factor, _, name = term.rpartition("*")
        if factor == "" and name.removeprefix("-").isdecimal():
            factor, name = name, ""
        elif factor == "" and name.startswith("-"):
            factor, name = "-1", name[1:]
        factor = factor or "1"
        if not factor.removeprefix("-").isdecimal() or (name and NAME.fullmatch(name) is None):
            return None
        total[name] = total.get(name, 0) + int(factor)
    return total
