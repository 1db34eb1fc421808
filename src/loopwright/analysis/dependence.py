"""Which accesses of one loop touch the same element in different iterations.

For one loop its own variable is the point in question, what varies inside an iteration is projected out, and all
else is a parameter. Two accesses conflict where their elements meet for two values of the variable that differ. An
answer of none is certain; a conflict is certain only where both accesses are exact.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula, Symbol, combine, constant, disjunction, relate
from loopwright.analysis.effort import kept, laborious
from loopwright.analysis.proof import Proof
from loopwright.analysis.sets import brief, build, minus, only, ordered, parsed, renamed, without
from loopwright.analysis.trace import Access, LoopNote
from loopwright.ir.nodes import Const

Kind = Literal["RAW", "WAR", "WAW"]
OTHER = "other"
"""The name of the loop's variable in the second of two iterations."""


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two accesses, in the order in which they run, that touch one element in different iterations. distance: the
    number of iterations between them where it is constant; least: the least such number. certain: neither access is
    only a possibility."""

    first: Access
    second: Access
    kind: Kind
    distance: int | None
    least: int | None
    certain: bool


Layout = tuple[tuple[Affine, ...] | None, ...]
"""For each axis of an array the radices of its digits, None where the index is taken whole."""


Multiples = dict[str, str]
"""Names of the products of a loop's variable and something that stays the same in it, with those of these factors."""


@dataclass(slots=True)
class Elements:
    """The elements that accesses touch, as isl sets, each made once."""

    proof: Proof
    whole: dict[tuple[int, Layout], isl.Set] = field(default_factory=dict)
    multiples: dict[str, Multiples] = field(default_factory=dict)
    inside: dict[tuple[int, str, Layout], isl.Set] = field(default_factory=dict)

    def layout(self, accesses: Sequence[Access]) -> Layout:
        """How accesses of one array can be compared: by digits where all of them have the same radices."""
        axes = range(len(accesses[0].index))
        return tuple(self._radices([access.number for access in accesses], axis) for axis in axes)

    def _radices(self, numbers: Sequence[int], axis: int) -> tuple[Affine, ...] | None:
        digits = [self.proof.digits.get((number, axis)) for number in numbers]
        found = {None if one is None else (one.radices, one.slope) for one in digits}
        same = found.pop() if len(found) == 1 else None
        return None if same is None else same[0]

    def of(self, access: Access, note: LoopNote, layout: Layout) -> isl.Set:
        """The elements as a set with the loop's variable and what is fixed around the loop as parameters."""
        key = (access.number, note.loop.name, layout)
        if key in self.inside:
            self.whole_of(access, layout)  # which says what kind of question that is
        else:
            varying = {s.name for s in ordered(symbols_of(access)) if note.loop.name in s.birth} - {note.symbol.name}
            self.inside[key] = without(self.whole_of(access, layout), varying - self.multiples_of(note).keys())
        return self.inside[key]

    def multiples_of(self, note: LoopNote) -> Multiples:
        """They are to different iterations what the loop's variable is: apart, by the other factor at least. So are
        products of the variable of a loop inside that only goes on from one iteration to the next. Raises TooHard."""
        name, notes = note.loop.name, self.proof.notes
        if name not in self.multiples:
            found: Multiples = {}
            products = [symbol for symbol in notes.state.table.symbols if len(symbol.factors) == 2]
            for product, (one, other) in ((symbol, symbol.factors) for symbol in products if name in symbol.birth):
                for moving, factor in ((one, other), (other, one)):
                    inner = notes.loops.get(moving.birth[-1]) if moving.role == "loop" else None
                    if inner is None or name not in moving.birth or name in factor.birth:
                        continue
                    if inner is note or (note.step > 0 and goes_on(note, inner)):
                        found[product.name] = factor.name
            self.multiples[name] = found
        return self.multiples[name]

    def whole_of(self, access: Access, layout: Layout) -> isl.Set:
        """The elements with every symbol as a parameter."""
        key = (access.number, layout)
        if key in self.whole and any(symbol.laborious for symbol in ordered(symbols_of(access))):
            laborious()
        if key not in self.whole:
            formulas = [f for axis, radices in enumerate(layout) for f in self._element(access, axis, bool(radices))]
            dims = [f"e{k}" for k in range(len(formulas))]
            named = [Formula(f.text.replace("@", dim), f.symbols) for f, dim in zip(formulas, dims, strict=True)]
            self.whole[key] = build(access.where, dims, named)
        return self.whole[key]

    def _element(self, access: Access, axis: int, by_digits: bool) -> Iterator[Formula]:
        """Where an access is along one axis, `@`: one formula, or one for each digit."""
        index, size = access.index[axis], access.sizes[axis]
        bounds = self.proof.bounds[id(access.node)][axis]
        if by_digits:
            yield from (_is(digit) for digit in self.proof.digits[access.number, axis].digits)
        elif isinstance(access.node.index[axis], Const) and index.constant < 0:
            yield _is(combine(index, size))
        elif bounds.kind == "proven" or not bounds.may_be_negative:
            yield _is(index)
        else:
            from_start = _all((_is(index), relate(index, ">=", constant(0))))
            from_end = _all((_is(combine(index, size)), relate(index, "<", constant(0))))
            yield disjunction([from_start, from_end])


def _is(index: Affine) -> Formula:
    return Formula(f"@ = {index.text()}", index.symbols)


def _all(formulas: Sequence[Formula]) -> Formula:
    text = "(" + " and ".join(formula.text for formula in formulas) + ")"
    return Formula(text, tuple(symbol for formula in formulas for symbol in formula.symbols))


def symbols_of(access: Access) -> list[Symbol]:
    """The symbols of an access's conditions and indices, and of the sizes it may count from."""
    symbols = [s for formula in access.where for s in formula.symbols]
    return symbols + [s for form in (*access.index, *access.sizes) for s in form.symbols]


def carried(elements: Elements, note: LoopNote, accesses: Sequence[Access]) -> bool:
    """Whether some write of one array, and some other access of it, may meet in two iterations of the loop."""
    layout = elements.layout(accesses)
    if any(radices is None and _moves_along(elements, note, accesses, axis) for axis, radices in enumerate(layout)):
        return False
    written = {id(one): one for access in accesses if access.is_write for one in (elements.of(access, note, layout),)}
    read = {id(one): one for access in accesses if not access.is_write for one in (elements.of(access, note, layout),)}
    everything = [*(written | read).values()]  # each once: several accesses are of the same elements
    writes = everything[: len(written)]
    multiples = elements.multiples_of(note)

    def met() -> tuple[list[isl.Set], bool]:
        return everything, any(_meets(note, multiples, here, everything[k + 1 :]) for k, here in enumerate(writes))

    return kept(("carried", len(writes), *(written | read), *_told(note, multiples)), met)[1]


def _meets(note: LoopNote, multiples: Multiples, here: isl.Set, others: Sequence[isl.Set]) -> bool:
    """Whether elements are touched here in two iterations, in whatever order, or here in one and by others in another
    one, whichever comes first."""
    if not _meet_later(note, multiples, here, here).is_empty():
        return True
    return bool(others) and not _meet(note, multiples, here, _union(others)).is_empty()


def _meet_later(note: LoopNote, multiples: Multiples, here: isl.Set, there: isl.Set) -> isl.Set:
    """What is touched here and in a later iteration there: found once, whoever asks first."""
    key = "later", id(here), id(there), *_told(note, multiples)
    return kept(key, lambda: (here, there, _meet(note, multiples, here, there, later=True)))[2]


def _told(note: LoopNote, multiples: Multiples) -> tuple[Hashable, ...]:
    """All that `_meet` asks of a loop: kernels that share it, and the sets of what it touches, share the answers. Who
    keeps one keeps the sets too, so that their identities stay their own."""
    return note.symbol.name, note.step, note.stride.text(), *multiples.items()


def _moves_along(elements: Elements, note: LoopNote, accesses: Sequence[Access], axis: int) -> bool:
    """Whether in each iteration all accesses are at one and the same place of an axis, another one in each: where a
    multiple of the loop's variable, and else only what has one value around the loop, is the index of all of them."""
    index = accesses[0].index[axis]
    if not index.coefficient(note.symbol) or any(access.index[axis] != index for access in accesses):
        return False
    if any(note.loop.name in symbol.birth for symbol in index.symbols if symbol is not note.symbol):
        return False
    bounds = (elements.proof.bounds[id(access.node)][axis] for access in accesses)
    return all(one.kind == "proven" or not one.may_be_negative for one in bounds)


def apart(elements: Elements, note: LoopNote, some: Sequence[Access], others: Sequence[Access]) -> bool:
    """Whether no element is touched by both groups, in whatever iterations of the loop."""
    x = {note.symbol.name, *elements.multiples_of(note)}
    layout = elements.layout([*some, *others])
    first = _union([without(elements.of(access, note, layout), x) for access in some])
    second = _union([without(elements.of(access, note, layout), x) for access in others])
    return bool(first.intersect(second).is_empty())


def _union(sets: Sequence[isl.Set]) -> isl.Set:
    total = sets[0]
    for part in sets[1:]:
        total = total.union(part)
    return total


def _meet(note: LoopNote, multiples: Multiples, here: isl.Set, there: isl.Set, later: bool = False) -> isl.Set:
    """The elements that `here` touches at the loop's variable and `there` in another iteration, a later one if so
    asked."""
    known = {*here.get_var_names(isl.dim_type.param)} & {*there.get_var_names(isl.dim_type.param)}
    moving = {name: factor for name, factor in multiples.items() if name in known}
    other = renamed(there, note.symbol.name, OTHER)
    for name in moving:
        other = renamed(other, name, f"{OTHER}_{name}")
    return here.intersect_params(_two_iterations(note, moving, later)).intersect(other)


def _two_iterations(note: LoopNote, multiples: Multiples, later: bool) -> isl.Set:
    """The loop's variable in two iterations, and its multiples. Where the step is known only at run time, they are a
    step apart."""
    x, step, ways = note.symbol.name, note.stride.text(), []
    for sign, word in ((1, ">"), (-1, "<")):
        if note.step * sign < 0:
            continue
        known, gap = ("", "1") if note.step else (f"{step} {word} 0 and ", f"{sign}*({step})")
        for way in (sign,) if later else (1, -1):
            apart = [_apart(name, factor, way) for name, factor in multiples.items()]
            ways.append(" and ".join([f"{known}{way}*({OTHER} - {x}) >= {gap}", *apart]))
    names = [x, OTHER, *(symbol.name for symbol in note.stride.symbols)]
    names += [one for name, factor in multiples.items() for one in (name, f"{OTHER}_{name}", factor)]
    return parsed(" or ".join(f"({way})" for way in ways), tuple(dict.fromkeys(names)))


def _apart(name: str, factor: str, way: int) -> str:
    """What the difference of a loop's variable between two iterations, with this sign, says of that of a multiple."""
    moved = f"{way}*({OTHER}_{name} - {name})"
    signs = ((">", f">= {factor}"), ("<", f"<= {factor}"), ("=", "= 0"))
    return "(" + " or ".join(f"({factor} {sign} 0 and {moved} {far})" for sign, far in signs) + ")"


def goes_on(note: LoopNote, inner: LoopNote) -> bool:
    """Whether the variable of a loop inside another one only ever grows from one iteration of that to the next. Raises
    TooHard."""
    where = (*inner.where, *inner.domain)
    symbols = ordered([inner.symbol, *(s for formula in where for s in formula.symbols)])
    varying = {s.name for s in symbols if note.loop.name in s.birth} - {note.symbol.name}
    here, there = (
        without(build(where, ["e0"], [Formula(f"e0 {sign} {inner.symbol.name}", (inner.symbol,))]), varying)
        for sign in ("<=", "=")
    )
    return bool(_meet(note, {}, here, there, later=True).is_empty())


KINDS: tuple[Kind, ...] = ("RAW", "WAR", "WAW")

Pair = tuple[int, Access, Access]
"""Two accesses, with the place of the pair among all pairs."""


def meetings(elements: Elements, note: LoopNote, accesses: Sequence[Access]) -> Iterator[Meeting]:
    """Every pair of accesses of one array that meet, certain ones first, then flow, then the others; what is nearest
    first. They are looked for one by one: the first is the reason that people are told, and the others do not matter
    then."""
    pairs: dict[tuple[bool, Kind], list[Pair]] = {(sure, kind): [] for sure in (True, False) for kind in KINDS}
    sure = [is_certain(access, note) for access in accesses]
    both = product(zip(accesses, sure, strict=True), repeat=2)
    for place, ((first, one), (second, other)) in enumerate(both):
        if first.is_write or second.is_write:
            pairs[one and other, _kind(first, second)].append((place, first, second))
    common = _Common(elements, note, elements.layout(accesses))
    for kind in KINDS:
        yield from common.meetings(pairs[True, kind], True, pairs[False, kind])
    for kind in KINDS:
        yield from common.meetings(sorted(pairs[False, kind], key=lambda pair: pair[0]), False, [])


_Met = tuple["isl.Set", int | None, int | None]
"""What two accesses have in common, and the least and the greatest number of iterations between them."""


@dataclass(slots=True)
class _Common:
    """What accesses of an array have in common in two iterations of a loop, the later one second: found once for all
    accesses of the same elements. met: with how far apart the iterations are, None where they have nothing in
    common."""

    elements: Elements
    note: LoopNote
    layout: Layout
    met: dict[tuple[int, int], _Met | None] = field(default_factory=dict)

    def meetings(self, pairs: Sequence[Pair], certain: bool, uncertain: list[Pair]) -> Iterator[Meeting]:
        """Those of pairs of one kind. certain: they meet in any case if they are not `uncertain`, to which those that
        may meet by chance are added."""
        found: list[Meeting] = []
        for pair in pairs:
            _, first, second = pair
            if (met := self._of(first, second)) is None:
                continue
            common, least, most = met
            if certain and _by_chance(self.elements, self.note, (first, second), common):
                uncertain.append(pair)
                continue
            distance = least if least == most else None
            meeting = Meeting(first, second, _kind(first, second), distance, least, certain)
            if distance == 1:  # nothing is nearer
                yield meeting
            else:
                found.append(meeting)
        yield from sorted(found, key=lambda meeting: (meeting.distance is None, meeting.least or 0))

    def _of(self, first: Access, second: Access) -> _Met | None:
        here, there = (self.elements.of(access, self.note, self.layout) for access in (first, second))
        key = id(here), id(there)  # which the elements keep
        if key not in self.met:
            multiples = self.elements.multiples_of(self.note)
            told = "met", *key, *_told(self.note, multiples)
            self.met[key] = kept(told, lambda: self._met(here, there, multiples))[2]
        return self.met[key]

    def _met(self, here: isl.Set, there: isl.Set, multiples: Multiples) -> tuple[isl.Set, isl.Set, _Met | None]:
        common = _meet_later(self.note, multiples, here, there)
        return here, there, None if common.is_empty() else (common, *_distances(self.note, common))


def _kind(first: Access, second: Access) -> Kind:
    if first.is_write:
        return "WAW" if second.is_write else "RAW"
    return "WAR"


def is_certain(access: Access, note: LoopNote) -> bool:
    """Whether an access happens just where its conditions hold, with nothing open that varies in the loop."""
    varying = (s for s in ordered(symbols_of(access)) if note.loop.name in s.birth)
    return access.exact and not any(s.loose for s in varying)


def _by_chance(elements: Elements, note: LoopNote, pair: tuple[Access, Access], common: isl.Set) -> bool:
    """Whether the two meet for some values known only at run time, and not for others that leave the loop several
    iterations."""
    symbols = [s for access in pair for s in ordered(symbols_of(access))]
    chance = {s.name for s in symbols if s.loose and note.loop.name not in s.birth}
    if not chance:
        return False
    layout = elements.layout(pair)
    x = note.symbol.name
    multiples = elements.multiples_of(note)
    here, there = (without(elements.of(access, note, layout), multiples).params() for access in pair)
    several = here.intersect(renamed(there, x, OTHER)).intersect(parsed(f"{x} != {OTHER}", (x, OTHER)))
    return not minus(only(several, chance), only(common.params(), chance)).is_empty()


def _distances(note: LoopNote, common: isl.Set) -> tuple[int | None, int | None]:
    """The least and the greatest number of iterations between the two, None where there is none."""
    x = note.symbol.name
    if not note.step:
        return None, None
    sign = 1 if note.step > 0 else -1
    domain = parsed(f"d = {sign}*({OTHER} - {x})", (x, OTHER), ("d",))
    points = domain.intersect_params(common.params()).project_out_all_params()
    with brief(points):
        ends = (points.dim_min_val(0), points.dim_max_val(0))  # infinite where there is no end
    least, most = (end.to_python() // abs(note.step) if end.is_int() else None for end in ends)
    return least, most
