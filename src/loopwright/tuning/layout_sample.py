"""What part of the moved bytes a call uses, counted: for arrays about whose elements data decides, where the text of
loops says nothing. The interpreter runs some iterations of each loop, from the middle of it, and notes which elements
are touched; one trace then tells what each layout would move, through a cache of the usual size.

Arguments stay as they are: what is written is kept aside. A trace is of few iterations, so that what happens later, or
to elements far apart, is not in it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from loopwright.analysis.efficiency import LINE, ArrayUse, ElementPlaces
from loopwright.errors import LoopwrightError
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.interp import prepare, window
from loopwright.ir.linear import minus, most, number, plus, times
from loopwright.ir.nodes import ArrayParam, Binary, Body, Const, Expr, For, Kernel, Stmt, Store, While
from loopwright.ir.queries import contains, fresh, names_of
from loopwright.ir.types import INT64
from loopwright.ir.walk import bodies, loops, with_bodies
from loopwright.recipe.layouts import places_of

PASSES = 2
"""Of the loop that is asked about, where it holds others."""
ITERATIONS = 1500
"""Of all loops in it together, each time it starts one."""
MOST_TOUCHES = 60_000
CACHE_BYTES = 512 << 10
"""Of the cache that data has to come into."""


@dataclass(frozen=True, slots=True)
class LayoutSample:
    """Touched elements, in order: the array's name, the indices, whether it is written. An empty name: another nest
    begins, and what was touched before is gone from a small cache."""

    kernel: Kernel
    inside: Body
    touches: tuple[tuple[str, tuple[int, ...], bool], ...]
    shapes: Mapping[str, tuple[int, ...]]
    records: Mapping[int, int]

    def uses(self, layouts: Mapping[str, DataLayout] | None = None) -> dict[str, ArrayUse]:
        """Of each array, those in `layouts` in these: bytes that were used and moved. A line that is written is moved
        twice."""
        places = {
            name: _real(place, self.shapes[name])
            for name, place in places_of(self.kernel, self.inside, self.records, layouts).items()
            if name in self.shapes
        }
        cache = _Cache(CACHE_BYTES // LINE)
        for name, index, is_write in self.touches:
            if not name:
                cache.flush()
            elif (place := places.get(name)) is not None:
                cache.touch(place, index, is_write)
        cache.flush()
        return {array: ArrayUse(array, used, moved) for array, (used, moved) in cache.totals.items()}


def _real(place: ElementPlaces, shape: Sequence[int]) -> ElementPlaces:
    own = len(place.begin)
    return replace(place, sizes=(*shape[:own], *place.sizes[own:]), begin=(0,) * own)


@dataclass(slots=True)
class _Cache:
    """Lines, the one that was touched last at the end. Of each: which of its bytes were touched, and written, since it
    came."""

    capacity: int
    lines: OrderedDict[tuple[str, str, int], list[int]] = field(default_factory=OrderedDict)
    totals: dict[str, tuple[float, float]] = field(default_factory=dict)

    def touch(self, place: ElementPlaces, index: Sequence[int], is_write: bool) -> None:
        start = place.address(index)
        for line in range(start // LINE, (start + place.element - 1) // LINE + 1):
            key = (place.of, place.memory, line)
            held = self.lines.pop(key, None) or [0, 0]
            first, last = max(start - line * LINE, 0), min(start + place.element - line * LINE, LINE)
            mask = (1 << last) - (1 << first)
            held[0] |= mask
            held[1] |= mask if is_write else 0
            self.lines[key] = held
        while len(self.lines) > self.capacity:
            self._leaves(*self.lines.popitem(last=False))

    def flush(self) -> None:
        while self.lines:
            self._leaves(*self.lines.popitem())

    def _leaves(self, key: tuple[str, str, int], held: list[int]) -> None:
        used, moved = self.totals.get(key[0], (0.0, 0.0))
        touched, written = (mask.bit_count() for mask in held)
        self.totals[key[0]] = used + touched + written, moved + LINE + (LINE if written else 0)


# ---- the trace --------------------------------------------------------------------------------------------------


class _EnoughError(Exception):
    pass


class _Watched:
    """An array whose elements are noted as they are read and written; what is written is kept here."""

    def __init__(self, name: str, array: Any, touches: list[tuple[str, tuple[int, ...], bool]]) -> None:
        self.shape = array.shape
        self._name, self._array, self._touches = name, array, touches
        self._written: dict[tuple[int, ...], Any] = {}

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        index = self._note(place, False)
        found = self._written.get(index)
        return self._array[index] if found is None else found

    def __setitem__(self, place: tuple[Any, ...], value: Any) -> None:
        self._written[self._note(place, True)] = self._array.dtype.type(value)

    def _note(self, place: tuple[Any, ...], is_write: bool) -> tuple[int, ...]:
        index = tuple(int(at) + (size if at < 0 else 0) for at, size in zip(place, self.shape, strict=True))
        if any(not 0 <= at < size for at, size in zip(index, self.shape, strict=True)):
            raise IndexError
        self._touches.append((self._name, index, is_write))
        if len(self._touches) > MOST_TOUCHES:
            raise _EnoughError
        return index


def layout_sample(kernel: Kernel, loop: str, arguments: Sequence[object], records: Mapping[int, int]) -> LayoutSample:
    """A trace of some passes of a loop, in a call with these arguments. records: bytes of a record, by argument. What
    fails ends it: as much as there is then."""
    found = loops(kernel)[loop]
    arrays = {param.name: window(param, _array(arguments[param.argument])) for param in kernel.arrays}
    changed, mark = _few(kernel, found, sum(one.nbytes for one in arrays.values()) > CACHE_BYTES)
    touches: list[tuple[str, tuple[int, ...], bool]] = []

    def watched(name: str, array: Any) -> Any:
        return _Watched("" if name == mark else name, array, touches)

    with suppress(_EnoughError, LoopwrightError, ArithmeticError, ValueError, IndexError):
        prepare(changed, watched)((*arguments, np.zeros(1, np.int64)))
    shapes = {name: one.shape for name, one in arrays.items()}
    return LayoutSample(kernel, found.body, tuple(touches), shapes, records)


def _array(value: object) -> np.ndarray[Any, Any]:
    assert isinstance(value, np.ndarray)
    return value


def _few(kernel: Kernel, outer: For | While, apart: bool) -> tuple[Kernel, str]:
    """The kernel with few iterations of each loop, and the name of an array that is written where a nest of the loop
    ends: whatever it touched is to be fetched again, where it does not fit. apart: whether that is so."""
    mark = fresh("mark", names_of(kernel))
    position = kernel.results_from

    def body(stmts: Body, depth: int, inside: bool) -> Body:
        return tuple(one for stmt in stmts for one in changed(stmt, depth, inside))

    def changed(stmt: Stmt, depth: int, inside: bool) -> Iterator[Stmt]:
        here = inside or stmt is outer
        deeper = depth + (here and stmt is not outer and isinstance(stmt, For | While))
        new = with_bodies(stmt, tuple(body(one, deeper, here) for one in bodies(stmt)))
        if isinstance(new, For):
            share = int(ITERATIONS ** (1 / max(1, _depth(stmt) + depth))) if here else ITERATIONS
            again = stmt is outer and contains(stmt.body, For, While)
            new = _middle(new, PASSES if again else max(4, share))
        yield new
        if apart and inside and depth == 0 and isinstance(stmt, For | While):
            yield Store(mark, (number(0),), number(0))

    param = ArrayParam(mark, INT64, position, 1)
    new = replace(kernel, body=body(kernel.body, 0, False), params=(*kernel.params, param), arguments=position + 1)
    return new, mark


def _depth(stmt: Stmt) -> int:
    """How many loops stand in one another there, itself included."""
    below = max((_depth(one) for body in bodies(stmt) for one in body), default=0)
    return below + isinstance(stmt, For | While)


def _middle(loop: For, count: int) -> For:
    """The loop with so many iterations at most, of those in the middle; the first ones, where it holds loops."""
    if not isinstance(loop.step, Const) or int(loop.step.value) < 1:
        return loop
    step = int(loop.step.value)
    skipped: Expr = number(0)
    if not contains(loop.body, For, While):
        trips = Binary("floordiv", minus(loop.upper, loop.lower), number(step))
        skipped = most(Binary("floordiv", Binary("sub", trips, number(count)), number(2)), number(0))
    lower = plus(loop.lower, times(skipped, step))
    upper = Binary("min", loop.upper, plus(lower, count * step))
    return replace(loop, lower=lower, upper=upper, run="sequential")
