"""How often each loop and statement of a kernel runs where the sizes are numbers: by walking through its loops, a few
iterations of each standing for all of them.

Of a loop whose variable decides nothing about what runs inside, one iteration does. Of every other one the first and
the last stand for themselves, as edges of tiles and borders do, and three or four for all between them, with weights
that make sums of polynomials of the variable up to the third degree exact: the sides of triangles and pyramids come out
right, and bounds that are made of pieces (diagonals of tiles over time) within some parts of a hundred. What data
decides is assumed, and said to be.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from loopwright.analysis.integers import KnownIntegers, value_of
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Return,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.walk import own_expressions, statements, subexpressions

ASSUMED_TRIPS = 16
"""Iterations of a loop whose number only data tells."""
FEW = 6
"""Iterations that are all walked through."""
MOST_VISITS = 2000
"""Loops entered on the way; beyond, only the middle iteration of inner ones is looked at."""
OUTER = 3
"""Loops around one another of which the edges are looked at in any case: blocks, and rounds of tiles in them."""


@dataclass(frozen=True, slots=True)
class Frequencies:
    """Of one call. entries: how often each loop is come to; iterations: how often its body runs; by the loop's name.
    statements: how often each statement runs, by the identity (`id`) of the node. around: the loop around each, '' for
    none. lengths: how often a loop is come to with so many iterations, where that is known. assumed: loops whose
    iterations, or conditions (by the loop around them) whose outcome, only data tells."""

    entries: Mapping[str, float]
    iterations: Mapping[str, float]
    statements: Mapping[int, float]
    around: Mapping[str, str]
    lengths: Mapping[str, Mapping[int, float]]
    assumed: tuple[str, ...]

    def trips(self, loop: str) -> float:
        """Iterations for each time that the loop is come to, on average; 0 where it never is."""
        entries = self.entries.get(loop, 0.0)
        return self.iterations[loop] / entries if entries else 0.0

    def reached(self, loop: str) -> float:
        """How often the loop is come to for each iteration of the one around it (of the call, where there is none)."""
        outer = self.around[loop]
        iterations = self.iterations[outer] if outer else 1.0
        return self.entries[loop] / iterations if iterations else 0.0


def frequencies(kernel: Kernel, sizes: Mapping[str, int]) -> Frequencies:
    """How often everything runs. sizes: by the names of symbols, as in `coalescing.KnownSizes`."""
    walk = _Walk(KnownIntegers.of(kernel, sizes))
    walk.body(kernel.body, 1.0, "")
    return Frequencies(walk.entries, walk.iterations, walk.runs, walk.around, walk.lengths, tuple(walk.assumed))


@dataclass(slots=True)
class _Walk:
    values: KnownIntegers
    entries: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, float] = field(default_factory=dict)
    runs: dict[int, float] = field(default_factory=dict)
    around: dict[str, str] = field(default_factory=dict)
    lengths: dict[str, dict[int, float]] = field(default_factory=dict)
    assumed: dict[str, None] = field(default_factory=dict)
    deciding: dict[int, frozenset[str]] = field(default_factory=dict)
    visits: int = 0
    depth: int = 0

    def body(self, body: Body, weight: float, loop: str) -> None:
        """Walk through statements that run so often."""
        for stmt in body:
            self._statement(stmt, weight, loop)

    def _statement(self, stmt: Stmt, weight: float, loop: str) -> None:
        self.runs[id(stmt)] = self.runs.get(id(stmt), 0.0) + weight
        match stmt:
            case Assign():
                self.values.assign(stmt)
            case Allocate():
                self.values.allocate(stmt)
            case For():
                self._for(stmt, weight, loop)
            case While():
                self.values.forget(stmt.body)
                self._enter(stmt.name, loop, weight, weight * ASSUMED_TRIPS)
                self.assumed[stmt.name] = None
                self.body(stmt.body, weight * ASSUMED_TRIPS, stmt.name)
                self.values.forget(stmt.body)
            case If():
                self._if(stmt, weight, loop)
            case Block():
                self.body(stmt.body, weight, loop)
            case Break() | Continue() | Leave() | Return():
                if loop:
                    self.assumed[loop] = None  # as if they were never come to
            case Store():
                pass
            case _:
                assert_never(stmt)

    def _if(self, stmt: If, weight: float, loop: str) -> None:
        taken = value_of(stmt.condition, self.values)
        if taken is not None:
            self.body(stmt.then if taken else stmt.otherwise, weight, loop)
            self._unseen(stmt.otherwise if taken else stmt.then, loop)
            return
        self.assumed[loop] = None
        self.body(stmt.then, weight / 2, loop)
        self.values.forget(stmt.then)
        self.body(stmt.otherwise, weight / 2, loop)
        self.values.forget((*stmt.then, *stmt.otherwise))

    def _unseen(self, body: Body, loop: str) -> None:
        """Note the loops of a branch that is not taken: they run no times, so far."""
        for stmt in body:
            self.runs.setdefault(id(stmt), 0.0)
            if isinstance(stmt, For | While):
                self._enter(stmt.name, loop, 0.0, 0.0)
                self._unseen(stmt.body, stmt.name)
            elif isinstance(stmt, If):
                self._unseen((*stmt.then, *stmt.otherwise), loop)
            elif isinstance(stmt, Block):
                self._unseen(stmt.body, loop)

    def _enter(self, name: str, around: str, entries: float, iterations: float) -> None:
        self.around.setdefault(name, around)
        self.entries[name] = self.entries.get(name, 0.0) + entries
        self.iterations[name] = self.iterations.get(name, 0.0) + iterations

    def _for(self, stmt: For, weight: float, loop: str) -> None:
        turns = self.values.turns(stmt)
        self.visits += 1
        if turns is None:
            self.assumed[stmt.name] = None
            self._enter(stmt.name, loop, weight, weight * ASSUMED_TRIPS)
            self.values.numbers[stmt.name] = None
            self.body(stmt.body, weight * ASSUMED_TRIPS, stmt.name)
            return
        self._enter(stmt.name, loop, weight, weight * len(turns))
        lengths = self.lengths.setdefault(stmt.name, {})
        lengths[len(turns)] = lengths.get(len(turns), 0.0) + weight
        if not turns:
            self._unseen(stmt.body, stmt.name)
            return
        self.depth += 1
        for turn, times in self._chosen(stmt, turns):
            self.values.numbers[stmt.name] = turn
            self.body(stmt.body, weight * times, stmt.name)
        self.depth -= 1

    def _chosen(self, stmt: For, turns: range) -> Iterator[tuple[int, float]]:
        """The iterations that stand for all, each with how many it stands for."""
        count = len(turns)
        if stmt.name not in self._deciding(stmt) or (self.visits > MOST_VISITS and self.depth > OUTER):
            yield turns[count // 2], float(count)
        elif count <= FEW:
            yield from ((turn, 1.0) for turn in turns)
        else:
            yield turns[0], 1.0
            for place, times in _representatives(count - 2):
                yield turns[1 + place], times
            yield turns[-1], 1.0

    def _deciding(self, loop: For) -> frozenset[str]:
        """The variables and scalars that decide what runs inside a loop, and how often."""
        if id(loop) not in self.deciding:
            inside = list(statements(loop.body))
            names = set()
            even = [stmt for stmt in inside if isinstance(stmt, For) and _is_even(stmt)]
            for stmt in inside:
                if isinstance(stmt, For | If | While) and not any(stmt is one for one in even):
                    names |= _names(own_expressions(stmt))
            assigns = [stmt for stmt in inside if isinstance(stmt, Assign) and not stmt.value.type.is_float]
            allocates = [stmt for stmt in inside if isinstance(stmt, Allocate)]
            before = -1
            while before != len(names):
                before = len(names)
                for stretch in even:  # where it begins matters only where its variable does
                    names |= _names(own_expressions(stretch)) if stretch.name in names else set()
                for one in assigns:
                    names |= _names((one.value,)) if one.name in names else set()
                for made in allocates:
                    names |= _names(made.shape) if made.array in names else set()
            self.deciding[id(loop)] = frozenset(names)
        return self.deciding[id(loop)]


def _is_even(loop: For) -> bool:
    """Whether a loop has as many iterations wherever it begins."""
    upper = loop.upper
    if not isinstance(loop.step, Const):
        return False
    return (
        isinstance(upper, Binary) and upper.op == "add" and upper.left == loop.lower and isinstance(upper.right, Const)
    )


def _representatives(count: int) -> Iterator[tuple[int, float]]:
    """Numbers below `count`, which is 5 at least, and weights: two far from the middle m, the others next to it.
    The sums of weight, and of weight times (number - m)**2, are those of all numbers; odd powers vanish by symmetry."""
    near = 0 if count % 2 else 1  # in halves from the middle, as all that follows
    far = near + 2 * max(1, round((0.6**0.5 * count - near) / 2))
    squares = count * (count * count - 1) / 3
    outer = (squares - count * near * near) / (2 * (far * far - near * near))
    inner = count / 2 - outer
    for distance, times in ((far, outer), (near, inner)):
        for sign in (-1, 1):
            yield (count - 1 + sign * distance) // 2, times


def _names(exprs: tuple[Expr, ...]) -> set[str]:
    parts = [part for expr in exprs for part in subexpressions(expr)]
    return {part.name if isinstance(part, Var) else part.array for part in parts if isinstance(part, Var | Dim)}
