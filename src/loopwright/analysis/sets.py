"""isl sets from formulas. It owns the order of isl's parameters: by the depth of birth, so that what varies inside a
loop is always the tail of the list and leaves by one projection."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from typing import TypeVar

from loopwright.analysis import isl
from loopwright.analysis.affine import Formula, Symbol, closure
from loopwright.analysis.conditions import Comparison, comparisons_in, points_of, set_of
from loopwright.analysis.effort import Effort, TooHard, laborious, remember, remembered


def ordered(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Symbols and all they rest on: outer before inner; within one depth sizes, scalars and the loop's own variable
    come first."""
    return sorted(closure(symbols), key=lambda s: (len(s.birth), s.role == "opaque", s.number))


def build(formulas: Sequence[Formula], dims: Sequence[str] = (), points: Sequence[Formula] = ()) -> isl.Set:
    """The points `dims` for which all formulas hold; every symbol is a parameter, with its rule. Only `points` speak
    of the dims. Each formula is parsed once, and the same points are made once: both take isl more time than questions
    about them."""
    symbols = ordered(symbol for formula in (*formulas, *points) for symbol in formula.symbols)
    if any(symbol.laborious for symbol in symbols):
        laborious()
    _refuse_chains(symbols)
    rules = (Formula(symbol.rule, (symbol, *symbol.uses)) for symbol in symbols if symbol.rule)
    conditions = tuple((formula.text, _names(formula)) for formula in dict.fromkeys((*rules, *formulas)))
    names = tuple(symbol.name for symbol in symbols)
    return _built(names, conditions, tuple(dims), tuple((formula.text, _names(formula)) for formula in points))


MOST_IN_CHAIN = 4
"""How many quotients may be inside one another."""

MOST_CHOICES = 10
"""How many minima, maxima, and remainders by a value known only at run time, may be in one question."""


def question(*groups: Sequence[Formula]) -> Hashable:
    """What groups of formulas say, in words that other kernels with the same nest share: a key for what is found out
    about them. Says what kind of question that is, as `build` does."""
    symbols = ordered(symbol for formulas in groups for formula in formulas for symbol in formula.symbols)
    if any(symbol.laborious for symbol in symbols):
        laborious()
    texts = tuple(tuple(formula.text for formula in formulas) for formulas in groups)
    return texts, tuple((symbol.name, symbol.rule) for symbol in symbols)


def _refuse_chains(symbols: Sequence[Symbol]) -> None:
    """Raises TooHard for more than isl could take in, whatever it may take: numbers grow with each quotient of a
    quotient, and each choice may double the number of pieces."""
    if not any(symbol.role == "opaque" for symbol in symbols):
        return
    depth: dict[Symbol, int] = {}
    for symbol in sorted(symbols, key=attrgetter("number")):  # what a rule uses is older
        depth[symbol] = max((depth.get(use, 0) for use in symbol.uses), default=0) + symbol.laborious
    choices = sum(" or " in symbol.rule for symbol in symbols)
    if max(depth.values(), default=0) > MOST_IN_CHAIN or choices > MOST_CHOICES:
        raise TooHard


Points = TypeVar("Points", bound="isl.Set | isl.Map")

Named = tuple[str, tuple[str, ...]]
"""The text of a formula and the names of its symbols."""


def _built(
    names: tuple[str, ...], conditions: tuple[Named, ...], dims: tuple[str, ...], points: tuple[Named, ...]
) -> isl.Set:
    key = (names, conditions, dims, points)
    found: isl.Set | None = remembered(key)
    if found is None:
        found = _anew(names, conditions, dims, points)
        remember(key, found)
    return found


def _anew(
    names: tuple[str, ...], conditions: tuple[Named, ...], dims: tuple[str, ...], points: tuple[Named, ...]
) -> isl.Set:
    """Plain comparisons are one set from the beginning. What else there is comes afterwards, conditions with quotients
    and choices last: beside a quotient isl takes some ten times as long to add any other condition."""
    rows, others = list[Comparison](), list[Named]()
    for one in conditions:
        plain = comparisons_in(one[0])
        if plain is None:
            others.append(one)
        else:
            rows += plain
    slow = tuple(one for one in others if _is_slow(one[0]))
    further = [_all_of(some) for some in (tuple(one for one in others if one not in slow), slow) if some]
    known = tuple(dict.fromkeys(names))
    if not dims:
        return _within(points_of(rows, known), further)
    used = tuple(dict.fromkeys(name for _, own in points for name in own))
    where = " and ".join(text for text, _ in points) or "true"
    inside = comparisons_in(where)
    if inside is None:
        return parsed(where, used, dims).intersect_params(_within(points_of(rows, known), further))
    found = points_of((*rows, *inside), tuple(dict.fromkeys((*used, *known))), dims)
    for one in further:
        found = found.intersect_params(one)
    return found


def _within(points: isl.Set, others: Sequence[isl.Set]) -> isl.Set:
    for one in others:
        points = points.intersect(one)
    return points


def _is_slow(text: str) -> bool:
    """Whether a formula has a quotient or a choice."""
    return " mod " in text or " or " in text or text.lstrip("0123456789").startswith("*q")


def _all_of(conditions: tuple[Named, ...]) -> isl.Set:
    """Where all conditions hold. Questions about one nest begin with the same ones, those of its outer loops: each such
    beginning is made once."""
    known = len(conditions)
    while known and remembered(conditions[:known]) is None:
        known -= 1
    result: isl.Set = remembered(conditions[:known]) if known else parsed("true", (), ())
    for number in range(known, len(conditions)):
        text, own = conditions[number]
        result = result.intersect(parsed(text, own, ()))
        remember(conditions[: number + 1], result)
    return result


def _names(formula: Formula) -> tuple[str, ...]:
    return tuple(symbol.name for symbol in formula.symbols)


def parsed(text: str, names: tuple[str, ...], dims: tuple[str, ...] = ()) -> isl.Set:
    """A set from the text of its condition, parsed once."""
    key = (text, names, dims)
    found: isl.Set | None = remembered(key)
    if found is None:
        found = set_of(text, names, dims)
        remember(key, found)
    return found


BRIEF = 3_000
"""How many of isl's operations one call of isl may take that goes over quotients."""


def minus(points: isl.Set, others: isl.Set) -> isl.Set:
    """The points that are not among others. Raises TooHard."""
    with brief(points.union(others)):
        return points.subtract(others)


def outside_of(points: isl.Set) -> isl.Set:
    """All other points. Raises TooHard."""
    with brief(points):
        return points.complement()


def brief(points: isl.Set, most: int = BRIEF) -> AbstractContextManager[None]:
    """For one call of isl about some points. With quotients, isl may go a long way over numbers that get ever longer,
    each operation a hundred times as long as others: where there are any, raises TooHard soon."""
    return Effort(most, most).bounded() if has_divisions(points) else nullcontext()


def simpler(points: isl.Set, given: isl.Set) -> isl.Set:
    """The points in fewer words, given that others than some do not matter; as they are, where that is too hard."""
    try:
        with brief(points):
            return points.gist(given)
    except TooHard:
        if not has_divisions(points):
            raise
        return points


def has_divisions(points: isl.Set) -> bool:
    """Whether some part is told by quotients or remainders."""
    return any(part.dim(isl.dim_type.div) > 0 for part in points.get_basic_sets())


def only(points: isl.Set, keep: Iterable[str]) -> isl.Set:
    """The set with every other parameter projected out."""
    kept = set(keep)
    return without(points, {name for name in parameters(points) if name not in kept})


def without(points: Points, names: Collection[str]) -> Points:
    """The set or map with some parameters projected out."""
    key = ("without", id(points), frozenset(names))
    known: tuple[Points, Points] | None = remembered(key)
    if known is None:
        known = points, _without(points, names)  # which keeps its identity its own
        remember(key, known)
    return known[1]


def _without(points: Points, names: Collection[str]) -> Points:
    """Neighbours are projected out at once; all in their own order, whatever that of the names: another one may cost
    isl a thousand times as much."""
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


def parameters(points: isl.Set | isl.Map) -> list[str]:
    """The names of a set's parameters, in order."""
    return [points.get_dim_name(isl.dim_type.param, k) or "" for k in range(points.dim(isl.dim_type.param))]


def renamed(points: isl.Set, old: str, new: str) -> isl.Set:
    """The set with one parameter under another name."""
    position = points.find_dim_by_name(isl.dim_type.param, old)
    return points if position < 0 else points.set_dim_name(isl.dim_type.param, position, new)
