"""Numbers of things along clusters of neighbours: an order that all threads of a GPU find together, where a search from
one thing to the next (`node_order.py`) is the work of one.

A few things are seeds. In each round every other one joins a neighbour's cluster (label propagation), and after some
rounds one in about `FACTOR` clusters is a seed among clusters; so clusters of clusters arise, as in multilevel
partitioning (Karypis and Kumar, 1998). Then all things are sorted by their outermost cluster, within it by the next
one, and so on: a radix sort from the innermost level outwards, whose passes are the loops that a GPU sorts with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from loopwright.analysis.index_space import Neighbours
from loopwright.ir.linear import minus, most, number, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Body,
    Cast,
    Compare,
    Const,
    Expr,
    For,
    If,
    Load,
    Select,
    Stmt,
    Store,
)
from loopwright.ir.types import INT32, INT64, UINT8
from loopwright.steps.node_order import Things, over, with_values
from loopwright.steps.redirect import CLASSES, sorted_loop

FACTOR_BITS = 4
"""One in 2**FACTOR_BITS clusters is a seed of the next level."""
LEVELS = 5
ROUNDS = 8
"""In which clusters of each level grow: those that nothing has reached by then stay alone."""
SPREAD = 2654435761
"""Knuth's multiplicative hashing: which things are seeds has nothing to do with their numbers."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """place: the number of each thing; order: the thing with each number. label: of each thing its cluster, which is
    the number of its seed; joined, joining: of each seed the cluster of the next level, before and after a round."""

    things: Things
    found: Neighbours
    place: str
    order: str
    label: str = field(init=False)
    joined: str = field(init=False)
    joining: str = field(init=False)

    def __post_init__(self) -> None:
        for word in ("label", "joined", "joining"):
            object.__setattr__(self, word, self.things.name(word))

    def numbers(self) -> Body:
        """All loops together. The arrays `place` and `order` are made elsewhere."""
        n = variable(self.things.count)
        level = self.things.name("level")
        local = (Allocate(name, INT32, (n,), None) for name in (self.label, self.joined, self.joining))
        grown = For(
            level,
            number(0),
            number(LEVELS),
            number(1),
            (*self._seeds(variable(level)), self._rounds(), self._joined(), self._sorted()),
        )
        return (*local, self._alone(), grown, self._placed())

    def _over_things(self, word: str, body: Body, name: str = "") -> For:
        return over([name or self.things.name(word)], [variable(self.things.count)], body)

    def _at(self, array: str, index: Expr) -> Expr:
        """An element of an array of labels, as a number that is surely one of a thing."""
        return self.things.within(self.things.at(array, index))

    def _alone(self) -> Stmt:
        """Each thing is a cluster, and they are in their old order."""
        one = self.things.name("a")
        own = Cast(variable(one), INT32)
        return self._over_things(
            "a", (Store(self.label, (variable(one),), own), Store(self.order, (variable(one),), own)), one
        )

    def _seeds(self, level: Expr) -> Body:
        """Which clusters are seeds, by a hash of their numbers: other bits of it at each level."""
        one = self.things.name("c")
        shift = plus(Binary("mul", level, number(FACTOR_BITS)), 8)
        bits = Binary("shr", Binary("mul", variable(one), number(SPREAD)), shift)
        is_seed = Compare("eq", Binary("and", bits, number((1 << FACTOR_BITS) - 1)), number(0))
        chosen = Select(is_seed, Cast(variable(one), INT32), Const(-1, INT32))
        given = tuple(Store(array, (variable(one),), chosen) for array in (self.joined, self.joining))
        return (self._over_things("c", given, one),)

    def _rounds(self) -> Stmt:
        """In each round a cluster that belongs nowhere joins what a neighbour of one of its things belongs to; of
        several the one with the greatest number, so that the result is the same in every run."""
        things = self.things
        one, again, mine, there, best = (things.name(word) for word in ("e", "f", "mine", "there", "best"))
        other = things.at(self.joined, self._at(self.label, variable(there)))
        inner: Body = (*things.told(there, self.found.found), Assign(best, most(variable(best), other)))
        for loop in reversed(self.found.loops):
            inner = (replace(loop, body=inner),)
        greatest = Binary("max", Load(self.joining, (variable(mine),), INT32), Cast(variable(best), INT32))
        looks = (
            Assign(best, number(-1)),
            *with_values(inner, {self.found.loop.name: variable(one)}),
            If(Compare("ge", variable(best), number(0)), (Store(self.joining, (variable(mine),), greatest),)),
        )
        is_free = Compare("lt", Load(self.joined, (variable(mine),), INT32), Const(0, INT32))
        edges = self._over_things("e", (Assign(mine, self._at(self.label, variable(one))), If(is_free, looks)), one)
        kept = Store(self.joined, (variable(again),), Load(self.joining, (variable(again),), INT32))
        return over([things.name("round")], [number(ROUNDS)], (edges, self._over_things("f", (kept,), again)))

    def _joined(self) -> Stmt:
        """Things have the label of what their cluster has joined; one that has joined nothing stays as it is."""
        one = self.things.name("g")
        own = Load(self.label, (variable(one),), INT32)
        new = Load(self.joined, (self._at(self.label, variable(one)),), INT32)
        chosen = Select(Compare("ge", new, Const(0, INT32)), new, own)
        return self._over_things("g", (Store(self.label, (variable(one),), chosen),), one)

    def _sorted(self) -> Stmt:
        """Sort things by their labels, eight bits at a time, the lowest first; equal ones keep their order."""
        things = self.things
        n = variable(things.count)
        digit, keys, places, begins, moved = (things.name(word) for word in ("digit", "key", "d", "begins", "moved"))
        first, second, third = (things.name(word) for word in ("h", "i", "j"))
        shift = Binary("mul", variable(digit), number(8))
        label = things.at(self.label, self._at(self.order, variable(first)))
        key = Cast(Binary("and", Binary("shr", label, shift), number(CLASSES - 1)), UINT8)
        place = things.within(Load(places, (variable(second),), INT64))
        body: Body = (
            Allocate(places, INT64, (n,), None),
            Allocate(keys, UINT8, (n,), None),
            Allocate(moved, INT32, (n,), None),
            Allocate(begins, INT64, (number(CLASSES + 1),), Const(0, INT64)),
            self._over_things("h", (Store(keys, (variable(first),), key),), first),
            sorted_loop(things.name("sorted"), n, keys, places, begins, things.new),
            self._over_things("i", (Store(moved, (variable(second),), Load(self.order, (place,), INT32)),), second),
            self._over_things(
                "j", (Store(self.order, (variable(third),), Load(moved, (variable(third),), INT32)),), third
            ),
        )
        return over([digit], [_digits(n)], body)

    def _placed(self) -> Stmt:
        """Each thing stands in the order once: the loop writes each number to another place."""
        one = self.things.name("k")
        stored = Store(self.place, (self._at(self.order, variable(one)),), Cast(variable(one), INT32))
        return replace(self._over_things("k", (stored,), one), asserted="independent")


def _digits(count: Expr) -> Expr:
    """How many times eight bits the greatest number has."""
    sizes: Sequence[int] = (8, 16, 24)
    total: Expr = number(1)
    for bits in sizes:
        total = plus(total, Cast(Compare("gt", minus(count, 1), number((1 << bits) - 1)), INT64))
    return total
