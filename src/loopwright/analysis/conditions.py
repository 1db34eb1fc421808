"""isl sets from text whose conditions are plain comparisons of sums, as most are: they are put together here, in a
tenth of the time in which isl reads a text. Everything else is left to isl; the sets are the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from loopwright.analysis import isl

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
    known = dict.fromkeys(names)
    if comparisons is None or not all(name in known or name in dims for one in comparisons for name, _ in one.terms):
        point = f"[{','.join(dims)}]" if dims else ""
        return isl.Set(f"[{','.join(known)}] -> {{ {point} : {text} }}")
    space = _space(tuple(known), dims)
    found, local = isl.BasicSet.universe(space), isl.LocalSpace.from_space(space)
    context = isl.DEFAULT_CONTEXT
    places = {name: (isl.dim_type.param, place) for place, name in enumerate(known)}
    places |= {name: (isl.dim_type.set, place) for place, name in enumerate(dims)}
    for one in comparisons:
        equal = isl.Constraint.alloc_equality if one.is_equation else isl.Constraint.alloc_inequality
        row = equal(local).set_constant_val(isl.Val.int_from_si(context, one.constant))
        for name, factor in one.terms:
            row = row.set_coefficient_val(*places[name], isl.Val.int_from_si(context, factor))
        found = found.add_constraint(row)
    return found.to_set()


def _space(names: tuple[str, ...], dims: tuple[str, ...]) -> isl.Space:
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
