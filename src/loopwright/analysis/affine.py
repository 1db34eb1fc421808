"""Symbols and linear forms over them, as text for isl. It owns ranges of values: no form may leave its machine type.

A symbol stands for one whole number that is fixed in one execution of a place in the program: a loop variable, the
size of an axis, a scalar argument, or anything else (opaque: a loaded value, a product, a minimum) about which only
its `rule` is known. What a symbol depends on is told by `birth`: the loops in whose iterations it may differ.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from math import prod
from operator import attrgetter
from typing import Literal, NamedTuple

from loopwright.ir.types import Scalar

Interval = tuple[int, int]
Role = Literal["loop", "size", "scalar", "opaque"]

LEVELS = (63, 48, 31, 28, 20)
"""Assumptions about sizes and scalar arguments, in bits: the first is none at all, the others cost a test per call.
The third keeps products of two of them within int64, the fourth some times as much, and the last products of three."""

MAX_COEFFICIENT = 4096
MAX_CONSTANT = 2**40
MOST_BASES = 6  # symbols of a form with products whose corners are tried
NO_LETTER = re.compile(r"[^A-Za-z0-9]")
LONG = re.compile(r"\bmod\b|^\d+\*q|\d{11}")


@lru_cache(maxsize=4096)
def _makes_long(rule: str) -> bool:
    return LONG.search(rule) is not None


@lru_cache(maxsize=1024)
def _identifier(name: str) -> str:
    return NO_LETTER.sub("_", name)


@dataclass(slots=True, eq=False)  # never changed, but not frozen: many are made, which takes five times as long
class Symbol:
    """name: an identifier of isl and C. birth: the loops, outermost first, in whose iterations it may differ.
    intervals: its least and greatest value under each of LEVELS. roots: the arguments that the intervals rest on.
    rule: a condition that always holds, over `uses`; loose: it leaves the value open, so that the symbol may stand for
    more values than it has. data: depends on array elements or on a while loop's progress; loads: on array elements.
    factors: for a product. pairs_of: for x * (x - 1) / 2, this x. source: where the value of a size or scalar comes
    from."""

    number: int
    name: str
    role: Role
    birth: tuple[str, ...]
    intervals: tuple[Interval, ...]
    roots: frozenset[Symbol] = frozenset()
    rule: str = ""
    uses: tuple[Symbol, ...] = ()
    loose: bool = False
    data: bool = False
    loads: bool = False
    factors: tuple[Symbol, ...] = ()
    source: tuple[int, int] = (-1, 0)
    pairs_of: Symbol | None = None

    @property
    def laborious(self) -> bool:
        """Whether its rule makes isl's numbers long: a remainder, a quotient, a range beyond those of 32 bits."""
        return bool(self.rule) and self.role == "opaque" and _makes_long(self.rule)


class Affine(NamedTuple):  # as formulas are: no class is made, compared and hashed more often
    """sum(coefficient * symbol) + constant, symbols in the order of their numbers, no coefficient zero."""

    terms: tuple[tuple[Symbol, int], ...]
    constant: int

    @property
    def symbols(self) -> tuple[Symbol, ...]:
        """The symbols with a coefficient."""
        return tuple([symbol for symbol, _ in self.terms])

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return not self.terms

    @property
    def data(self) -> bool:
        """Whether some symbol depends on data."""
        return any(symbol.data for symbol, _ in self.terms)

    @property
    def birth(self) -> tuple[str, ...]:
        """The loops in whose iterations the value may differ."""
        return longest(symbol.birth for symbol, _ in self.terms)

    def coefficient(self, symbol: Symbol) -> int:
        """How often a symbol is counted."""
        return next((c for s, c in self.terms if s is symbol), 0)

    def text(self) -> str:
        """The form in isl's syntax, in brackets."""
        parts = [f"{c}*{s.name}" if c != 1 else s.name for s, c in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return "(" + " + ".join(parts) + ")"

    def interval(self, level: int) -> Interval:
        """The least and the greatest value under one of LEVELS."""
        low = high = self.constant
        has_products = False
        for symbol, c in self.terms:
            a, b = symbol.intervals[level]
            low += c * (a if c > 0 else b)
            high += c * (b if c > 0 else a)
            has_products = has_products or bool(symbol.factors)
        if has_products and (corners := self._corners(level)) is not None:
            return max(low, corners[0]), min(high, corners[1])
        return low, high

    def _corners(self, level: int) -> Interval | None:
        """The same of a form with products, where two of them share a factor: `a*x + (255 - a)*y` is 255*y - a*y + a*x,
        and no more than 255*255. In each symbol alone it is linear, so that its ends are at corners of the box of all
        symbols. None where there are too many corners, or it is not linear."""
        monomials = [(symbol.factors or (symbol,), c) for symbol, c in self.terms]
        bases = {
            base: number for number, base in enumerate(dict.fromkeys(s for factors, _ in monomials for s in factors))
        }
        if sum(len(factors) for factors, _ in monomials) == len(bases) or len(bases) > MOST_BASES:
            return None
        if any(len(set(factors)) < len(factors) for factors, _ in monomials):
            return None
        places = [([bases[symbol] for symbol in factors], c) for factors, c in monomials]
        values = [
            sum((c * prod(corner[place] for place in factors) for factors, c in places), self.constant)
            for corner in product(*(base.intervals[level] for base in bases))
        ]
        return min(values), max(values)


End = tuple[Literal["<=", ">="], Affine]
"""What a value is at most, or at least."""


class Formula(NamedTuple):
    """A condition in isl's syntax over `symbols`."""

    text: str
    symbols: tuple[Symbol, ...]


def longest(births: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The deepest of several births, which are all beginnings of one stack of loops."""
    return max(births, key=len, default=())


def constant(value: int) -> Affine:
    """The form of a number."""
    return Affine((), value)


def of_symbol(symbol: Symbol) -> Affine:
    """The form of a symbol alone."""
    return Affine(((symbol, 1),), 0)


def combine(left: Affine, right: Affine, factor: int = 1) -> Affine:
    """left + factor * right."""
    if not right.terms:
        return Affine(left.terms, left.constant + factor * right.constant)
    total = dict(left.terms)
    for symbol, c in right.terms:
        total[symbol] = total.get(symbol, 0) + factor * c
    terms = tuple(sorted(((s, c) for s, c in total.items() if c), key=lambda term: term[0].number))
    return Affine(terms, left.constant + factor * right.constant)


def scale(form: Affine, factor: int) -> Affine:
    """factor * form."""
    return combine(constant(0), form, factor)


def conjunction(formulas: Sequence[Formula]) -> Formula:
    """All of them; true where there are none."""
    return _join(formulas, " and ", "true")


def disjunction(formulas: Sequence[Formula]) -> Formula:
    """Any of them; false where there are none."""
    return _join(formulas, " or ", "false")


def _join(formulas: Sequence[Formula], word: str, empty: str) -> Formula:
    if len(formulas) == 1:
        return formulas[0]
    text = "(" + word.join(formula.text for formula in formulas) + ")" if formulas else empty
    return Formula(text, tuple(dict.fromkeys(s for formula in formulas for s in formula.symbols)))


def relate(left: Affine, sign: str, right: Affine) -> Formula:
    """`left sign right`, sign one of isl's = != < <= > >=."""
    return Formula(f"{left.text()} {sign} {right.text()}", tuple(dict.fromkeys(left.symbols + right.symbols)))


def closure(symbols: Iterable[Symbol]) -> tuple[Symbol, ...]:
    """The symbols and all that their rules use, in the order of their numbers."""
    found = set(symbols)
    waiting = [use for symbol in found for use in symbol.uses]
    while waiting:
        symbol = waiting.pop()
        if symbol not in found:
            found.add(symbol)
            waiting.extend(symbol.uses)
    return tuple(sorted(found, key=attrgetter("number")))


@dataclass(slots=True)
class SymbolTable:
    """The symbols of one kernel. Opaque symbols are hash-consed: one key, one symbol. `demands`: the level that an
    argument must keep to, for all the forms made so far to be free of overflow. `counts`: how many names there are of
    each kind in each loop. `ends`: of loops' variables; `quotients`: of those by a divisor known only at run time,
    which is positive, what is divided, and the divisor. A name says no more than the innermost loop of the birth and
    this number, so that in kernels that share a nest its symbols have the same names, and questions about it the same
    text."""

    symbols: list[Symbol] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    by_key: dict[Hashable, Symbol] = field(default_factory=dict)
    demands: dict[Symbol, int] = field(default_factory=dict)
    ends: dict[Symbol, tuple[Affine, Sequence[Affine]]] = field(default_factory=dict)
    quotients: dict[Symbol, tuple[Affine, Affine]] = field(default_factory=dict)

    def argument(
        self, role: Literal["size", "scalar"], position: int, axis: int, type_: Scalar, positive: bool = False
    ) -> Symbol:
        """The size of an axis of an argument, or a scalar argument. positive: the guard asks for that."""
        key = (role, position, axis)
        if key not in self.by_key:
            low, high = (0, type_.maximum) if role == "size" else (type_.minimum, type_.maximum)
            low = 1 if positive else low
            intervals = [(low, high)]
            intervals += [(max(low, -(2**bits)), min(high, 2**bits)) for bits in LEVELS[1:]]
            name = f"s{position}_{axis}" if role == "size" else f"v{position}"
            self.by_key[key] = self._new(
                name, role, (), tuple(intervals), rule=_range_rule(name, intervals[0]), source=(position, axis)
            )
        return self.by_key[key]

    def loop(
        self, birth: tuple[str, ...], lower: Affine, upper: Affine, step: int, below: Sequence[Affine] = ()
    ) -> Symbol:
        """The variable of a loop, born in it. A step of 0 stands for one of unknown sign. below: the variable is less
        than each of these, where the step is positive."""
        ends = [(lower.interval(level), upper.interval(level)) for level in range(len(LEVELS))]
        if step > 0:
            intervals = [(a[0], max(a[0], b[1] - 1)) for a, b in ends]
        elif step < 0:
            intervals = [(min(a[1], b[0] + 1), a[1]) for a, b in ends]
        else:
            intervals = [(min(a[0], b[0]), max(a[1], b[1])) for a, b in ends]
        roots = roots_of((lower, upper))
        data = lower.data or upper.data
        loads = any(s.loads for s in lower.symbols + upper.symbols)
        symbol = self._new(self._named("i", birth), "loop", birth, tuple(intervals), roots, data=data, loads=loads)
        if step > 0:
            self.ends[symbol] = lower, below or (upper,)
        return symbol

    def fresh(self, type_: Scalar, birth: tuple[str, ...], least: int | None = None) -> Symbol:
        """A value about which nothing but its type (and `least`) is known."""
        low = type_.minimum if least is None else least
        high = type_.maximum if not type_.is_float else 0
        name = self._named("q", birth)
        intervals = ((low, high),) * len(LEVELS)
        rule = _range_rule(name, (low, high))
        return self._new(name, "opaque", birth, intervals, rule=rule, loose=True, data=True)

    def within(
        self,
        intervals: tuple[Interval, ...],
        birth: tuple[str, ...],
        roots: frozenset[Symbol],
        ends: tuple[End, ...] = (),
    ) -> Symbol:
        """A value about which nothing but its range is known: an interval for each level of its roots, and `ends`."""
        name = self._named("q", birth)
        parts = [_range_rule(name, intervals[0]), *(f"{name} {sign} {end.text()}" for sign, end in ends)]
        rule = " and ".join(part for part in parts if part)
        uses = tuple(dict.fromkeys(symbol for _, end in ends for symbol in end.symbols))
        return self._new(name, "opaque", birth, intervals, roots, rule=rule, uses=uses, loose=True, data=True)

    def opaque(
        self, key: Hashable, parts: Iterable[Affine], interval: Interval, birth: tuple[str, ...], loads: bool
    ) -> Symbol:
        """The value of an expression over `parts`, the same symbol for the same key."""
        if key not in self.by_key:
            symbols = [symbol for part in parts for symbol in part.symbols]
            birth = longest([birth, *(symbol.birth for symbol in symbols)])
            name = self._named("q", birth)
            self.by_key[key] = self._new(
                name,
                "opaque",
                birth,
                (interval,) * len(LEVELS),
                rule=_range_rule(name, interval),
                loose=True,
                data=loads or any(symbol.data for symbol in symbols),
                loads=loads or any(symbol.loads for symbol in symbols),
            )
        return self.by_key[key]

    def defined(
        self, key: Hashable, uses: Sequence[Symbol], rule: str, intervals: Sequence[Interval], loose: bool = False
    ) -> Symbol:
        """A value fixed (or where `loose`, limited) by a condition, in which `@` stands for it."""
        if key not in self.by_key:
            birth = longest(symbol.birth for symbol in uses)
            name = self._named("q", birth)
            self.by_key[key] = self._new(
                name,
                "opaque",
                birth,
                tuple(intervals),
                frozenset().union(*(_roots(symbol) for symbol in uses)),
                rule=rule.replace("@", name),
                uses=tuple(uses),
                loose=loose,
                data=any(symbol.data for symbol in uses),
                loads=any(symbol.loads for symbol in uses),
            )
        return self.by_key[key]

    def quotient(self, form: Affine, divisor: Affine) -> Symbol:
        """The quotient, rounded down, of a form by a positive one that is known only at run time: no further from zero
        than what is divided."""
        key = ("quotient", form, divisor)
        if key not in self.by_key:
            spans = [form.interval(level) for level in range(len(LEVELS))]
            intervals = [(min(low, 0), max(high, 0)) for low, high in spans]
            rule = f"@ >= 0 and @ <= {form.text()}" if spans[0][0] >= 0 else ""
            found = self.defined(key, (*form.symbols, *divisor.symbols), rule, intervals, loose=True)
            self.quotients[found] = form, divisor
        return self.by_key[key]

    def triangle(self, base: Symbol) -> Symbol:
        """base * (base - 1) / 2: how many pairs there are of so many things."""
        key = ("triangle", base)
        if key not in self.by_key:
            ends = [[end * (end - 1) // 2 for end in span] for span in base.intervals]
            intervals = [(min(span) if base.intervals[k][0] > 0 else 0, max(span)) for k, span in enumerate(ends)]
            found = self.defined(key, (base,), "@ >= 0", intervals, loose=True)
            self.by_key[key] = self.symbols[found.number] = replace(found, pairs_of=base)
        return self.by_key[key]

    def product(self, factors: tuple[Symbol, ...]) -> Symbol:
        """The product of two or three symbols, of which isl knows no more than what it is at most where one of them
        counts as often as the other goes into something."""
        key = ("product", factors)
        if key not in self.by_key:
            limits = list(self._limits(*factors)) if len(factors) == 2 else []
            intervals = self._spans(factors, limits)
            birth = longest(symbol.birth for symbol in factors)
            name = self._named("q", birth)
            below = [f"{times}*{name} <= {most.text()}" for times, most in limits]
            self.by_key[key] = self._new(
                name,
                "opaque",
                birth,
                intervals,
                frozenset().union(*(_roots(symbol) for symbol in factors), roots_of(most for _, most in limits)),
                rule=" and ".join([f"{name} >= 0"] * (intervals[0][0] >= 0) + below),
                uses=tuple(symbol for _, most in limits for symbol in most.symbols),
                loose=True,
                data=any(symbol.data for symbol in factors),
                loads=any(symbol.loads for symbol in factors),
                factors=factors,
            )
        return self.by_key[key]

    def _spans(self, factors: tuple[Symbol, ...], limits: Sequence[tuple[int, Affine]]) -> tuple[Interval, ...]:
        """The ranges of a product; of three factors two may have less as a product than by themselves."""
        parts = [factors]
        if len(factors) == 3:
            pairs = [(factors[1:], 0), ((factors[0], factors[2]), 1), (factors[:2], 2)]
            parts += [(factors[other], self.product(pair)) for pair, other in pairs if any(self._limits(*pair))]
        spans: list[Interval] = []
        for level in range(len(LEVELS)):
            low, high = -(1 << 256), 1 << 256
            for part in parts:
                span = part[0].intervals[level]
                for factor in part[1:]:
                    ends = [a * b for a in span for b in factor.intervals[level]]
                    span = min(ends), max(ends)
                low, high = max(low, span[0]), min(high, span[1])
            for times, most in limits:
                low, high = max(low, 0), min(high, max(0, most.interval(level)[1] // times))
            spans.append((low, high))
        return tuple(spans)

    def _limits(self, one: Symbol, other: Symbol) -> Iterator[tuple[int, Affine]]:
        """Numbers, and what the product of two is at most, times each number: where one of them counts as often as this
        many times the other goes into something."""
        for counter, factor in ((one, other), (other, one)):
            lower, below = self.ends.get(counter, (constant(-1), ()))
            for end in below if lower.interval(0)[0] >= 0 else ():
                if [times for _, times in end.terms] != [1] or end.symbols[0] not in self.quotients:
                    continue
                form, divisor = self.quotients[end.symbols[0]]
                if not divisor.constant and divisor.symbols == (factor,) and divisor.terms[0][1] > 0:
                    yield divisor.terms[0][1], combine(form, divisor, end.constant - 1)

    def fits(self, form: Affine, low: int, high: int) -> bool:
        """Whether the form stays within low..high, perhaps with arguments kept to a level, which is then noted."""
        if abs(form.constant) > MAX_CONSTANT or any(abs(c) > MAX_COEFFICIENT for _, c in form.terms):
            return False
        for level in range(len(LEVELS)):
            a, b = form.interval(level)
            if low <= a and b <= high:
                self._demand(roots_of((form,)), level)
                return True
        return False

    def _demand(self, roots: Iterable[Symbol], level: int) -> None:
        for root in roots:
            if root.intervals[level] != root.intervals[0]:
                self.demands[root] = max(level, self.demands.get(root, 0))

    def _named(self, kind: str, birth: tuple[str, ...]) -> str:
        """A new name for a symbol."""
        name = f"{kind}{_identifier(birth[-1])}_" if birth else kind
        count = self.counts[name] = self.counts.get(name, 0) + 1
        return f"{name}{count}"

    def _new(
        self,
        name: str,
        role: Role,
        birth: tuple[str, ...],
        intervals: tuple[Interval, ...],
        roots: frozenset[Symbol] = frozenset(),
        *,
        rule: str = "",
        uses: tuple[Symbol, ...] = (),
        loose: bool = False,
        data: bool = False,
        loads: bool = False,
        factors: tuple[Symbol, ...] = (),
        source: tuple[int, int] = (-1, 0),
    ) -> Symbol:
        symbol = Symbol(
            len(self.symbols), name, role, birth, intervals, roots, rule, uses, loose, data, loads, factors, source
        )
        self.symbols.append(symbol)
        return symbol


def roots_of(forms: Iterable[Affine]) -> frozenset[Symbol]:
    """The arguments on whose ranges the intervals of forms rest."""
    return frozenset().union(*[_roots(symbol) for form in forms for symbol, _ in form.terms])


def _roots(symbol: Symbol) -> frozenset[Symbol]:
    return frozenset((symbol,)) if symbol.role in ("size", "scalar") else symbol.roots


def _range_rule(name: str, interval: Interval) -> str:
    """The part of a range that says something: bounds as far out as a 64-bit type's only cost isl time."""
    low, high = interval
    parts = [f"{name} >= {low}"] if abs(low) <= MAX_CONSTANT else []
    parts += [f"{name} <= {high}"] if abs(high) <= MAX_CONSTANT else []
    return " and ".join(parts)
