"""Loops that copy their tiles ahead: how often each part of their text runs. `codegen/software_pipeline_text.py` writes
iterations in which all is whole apart, twice (for blocks whose tiles are whole, and for others), and
`codegen/double_buffering.py` what is left.

The kernel has one loop with two branches, for whole tiles and for any; its frequencies tell how many tiles are whole.
The steady part has those but one, as it stops before the last whole tile: the copies for the next one are no longer of
a whole tile, or there are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from loopwright.analysis.frequency import Frequencies
from loopwright.analysis.prefetch import rounds_of
from loopwright.codegen.software_pipeline import is_end, is_shorter
from loopwright.ir.code import Part
from loopwright.ir.nodes import Body, For, If
from loopwright.ir.queries import names_in
from loopwright.ir.walk import statements
from loopwright.steps.limits import terms


@dataclass(frozen=True, slots=True)
class Parts:
    """Of one loop. whole: the part of blocks that take the text for whole tiles. found: how often what is inside the
    loop runs in its prologue, steady part and epilogue, steady as if all blocks took one text."""

    whole: float
    found: Mapping[Part, Frequencies]


def parts_of(loop: For, found: Frequencies, texts: int) -> Parts | None:
    """The parts of a loop that has so many steady texts; None where nothing is known of it."""
    rounds = rounds_of(loop)
    if isinstance(rounds, str) or not found.entries.get(loop.name):
        return None
    copies = [stmt for stmt in rounds.copies if isinstance(stmt, If)]
    branch = _branch(rounds.body, loop)
    tiles = found.trips(loop.name)
    whole_tiles = tiles * _whole_tiles(loop, branch, copies, found)
    of_copies = [min(1.0, _taken(stmt, found) * tiles / whole_tiles) if whole_tiles else 0.0 for stmt in copies]
    whole = _whole_blocks(loop, copies, of_copies)
    steady = max(0.0, whole_tiles - 1)
    taken = steady * (1.0 if texts > 1 else whole)
    count = _Counts(loop, found)
    for stmt, blocks in zip(copies, of_copies, strict=True):
        again = max(0.0, whole_tiles - 1)
        left = max(0.0, blocks * again - taken * (blocks if texts > 1 else 1.0))
        count.runs(stmt.then, _per_visit(stmt.then, loop, found), steady, left, blocks)
        each = max(0.0, tiles - 1 - taken - left)
        count.runs(stmt.otherwise, _per_visit(stmt.otherwise, loop, found), steady, each, 1.0 - blocks)
    for one in rounds.copies:
        if not isinstance(one, If):
            count.runs((one,), tiles, steady, max(0.0, tiles - 1 - taken), 1.0)
    if branch is None:
        count.runs(rounds.body, tiles, steady, tiles - taken)
    elif texts > 1 and is_shorter(branch):
        count.runs(branch.then, whole_tiles, steady, 0.0)
        count.instead(branch, whole_tiles, taken)
    else:
        count.runs(branch.then, whole_tiles, steady, whole_tiles - taken)
        count.runs(branch.otherwise, tiles - whole_tiles, 0.0, tiles - whole_tiles)
    return Parts(whole, count.made(steady, tiles - taken))


def _branch(body: Body, loop: For) -> If | None:
    """The statement that decides whether a tile is whole, where the steady part does not ask."""
    if len(body) != 1 or not isinstance(stmt := body[0], If) or not stmt.otherwise:
        return None
    return stmt if all(is_end(test, loop) for test in terms(stmt.condition)) else None


def _taken(stmt: If, found: Frequencies) -> float:
    """How often the condition holds, of the times that it is asked."""
    asked = found.statements.get(id(stmt), 0.0)
    return found.statements.get(id(stmt.then[0]), 0.0) / asked if asked and stmt.then else 0.0


def _whole_tiles(loop: For, branch: If | None, copies: list[If], found: Frequencies) -> float:
    """The part of iterations whose tiles go on to their ends along the loop."""
    if branch is not None:
        return _taken(branch, found)
    moving = [stmt for stmt in copies if loop.name in names_in(stmt.condition)]
    if not moving:
        return 1.0
    tiles = found.trips(loop.name)
    return max(_taken(stmt, found) for stmt in moving) or max(0.0, tiles - 1) / tiles


def _whole_blocks(loop: For, copies: list[If], of_copies: list[float]) -> float:
    """The part of blocks whose tiles are whole across the loop, as if one axis had nothing to do with another."""
    parts: dict[frozenset[object], float] = {}
    for stmt, part in zip(copies, of_copies, strict=True):
        tests = frozenset(test for test in terms(stmt.condition) if loop.name not in names_in(test))
        parts[tests] = min(part, parts.get(tests, 1.0))
    return prod(part for tests, part in parts.items() if not any(tests < other for other in parts))


def _per_visit(body: Body, loop: For, found: Frequencies) -> float:
    """How often statements run for each time that the loop is come to."""
    return found.statements.get(id(body[0]), 0.0) / found.entries[loop.name] if body else 0.0


@dataclass(frozen=True, slots=True)
class _Scaled:
    entries: dict[str, float]
    iterations: dict[str, float]

    def put(self, name: str, found: Frequencies, times: float) -> None:
        self.entries[name] = found.entries.get(name, 0.0) * times
        self.iterations[name] = found.iterations.get(name, 0.0) * times


class _Counts:
    """Frequencies of the parts, loop by loop."""

    def __init__(self, loop: For, found: Frequencies) -> None:
        self.loop, self.found = loop, found
        self.first = _Scaled(dict(found.entries), dict(found.iterations))
        self.steady = _Scaled(dict(found.entries), dict(found.iterations))
        self.rest = _Scaled(dict(found.entries), dict(found.iterations))

    def runs(self, body: Body, now: float, steady: float, rest: float, first: float = 0.0) -> None:
        """Note that statements, which the kernel runs `now` times for each time that the loop is come to, run so often
        in the parts."""
        for one in _loops(body):
            for scaled, times in ((self.first, first), (self.steady, steady), (self.rest, rest)):
                scaled.put(one.name, self.found, times / now if now else 0.0)

    def instead(self, branch: If, whole: float, steady: float) -> None:
        """Note that in the rest, what stands under `else` does what both branches do but for `steady` of `whole` tiles
        of each time that the loop is come to."""
        left = (whole - steady) / whole if whole else 0.0
        for one, other in zip(_loops(branch.then), _loops(branch.otherwise), strict=True):
            for of, ours in ((self.rest.entries, self.found.entries), (self.rest.iterations, self.found.iterations)):
                of[other.name] = ours.get(one.name, 0.0) * left + ours.get(other.name, 0.0)

    def made(self, steady: float, rest: float) -> Mapping[Part, Frequencies]:
        """The frequencies of the parts; the steady part and the rest have so many iterations."""

        def of(scaled: _Scaled, trips: float) -> Frequencies:
            iterations = scaled.iterations | {self.loop.name: trips * self.found.entries[self.loop.name]}
            return replace(self.found, entries=scaled.entries, iterations=iterations)

        return {"prologue": of(self.first, 1.0), "steady": of(self.steady, steady), "epilogue": of(self.rest, rest)}


def _loops(body: Body) -> Iterator[For]:
    return (stmt for stmt in statements(body, For))
