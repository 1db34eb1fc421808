"""The step `hold`: keep all elements of an array that a loop touches in a local array while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.ir.linear import apart, least, minus, most, number, parted, plus, variable
from loopwright.ir.nodes import (
    Allocate,
    Body,
    Break,
    Checked,
    Continue,
    Dim,
    Expr,
    For,
    Kernel,
    Leave,
    Load,
    Return,
    Stmt,
    Store,
    Var,
    While,
)
from loopwright.ir.queries import arrays_stored, contains, names_assigned, names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import expressions, loops, own_expressions, rewrite_body, statements, subexpressions
from loopwright.steps.draft import finished, fresh, names_of, substituted, with_statement
from loopwright.steps.extent import ends_of, extent_of, loops_around, marked, starts_of
from loopwright.steps.grammar import From1
from loopwright.steps.nest import missing, overlapping, step_of, the_loop
from loopwright.steps.pack import CACHE_BYTES
from loopwright.steps.step import Rejection, Step

Side = tuple[int, int]
"""Along an axis the first element of a box, counted from an anchor, and the one after the last."""


@dataclass(frozen=True, slots=True)
class TouchedBoxes:
    """What a loop touches of an array. anchors: along each axis what boxes are counted from; read: boxes of which no
    one is in another one, those that are written among them; written: the latter."""

    element: Scalar
    anchors: tuple[Expr, ...]
    read: tuple[tuple[Side, ...], ...]
    written: tuple[tuple[Side, ...], ...]

    @property
    def around(self) -> tuple[Side, ...]:
        """The box in which all of them are."""
        axes = zip(*self.read, strict=True)
        return tuple((min(first for first, _ in sides), max(last for _, last in sides)) for sides in axes)


class _Unknown(Exception):
    """Why a box is not known."""


@dataclass(frozen=True, slots=True)
class Hold(Step):
    """Copy the elements of an array that a loop reads or writes into a local array before it, have it use these, and
    copy those that it writes back: neighbours of an element, too (`promote` keeps one element for each iteration of
    other loops, `stage` what is only read). Along each axis the elements have to be a box of constant size. On a GPU,
    threads of a block then share it in their shared memory; `pad 1` makes its rows longer, so that a column or a
    diagonal lies in several banks. `hold a i`:

    for i.o in 1 .. n step 8:
        for i in i.o .. min(i.o + 8, n):
            a[i] = a[i] + a[i - 1]
    ->
    for i.o in 1 .. n step 8:
        allocate a.h: float64[9]
        for a.h.r in max(0, i.o) .. min(size(a, 0), i.o + 8):
            a.h[a.h.r - (i.o - 1)] = a[a.h.r]
        for a.h.r.1 in max(0, i.o - 1) .. min(size(a, 0), i.o + 7):
            a.h[a.h.r.1 - (i.o - 1)] = a[a.h.r.1]
        for i in i.o .. min(i.o + 8, n):
            a.h[i - (i.o - 1)] = a.h[i - (i.o - 1)] + a.h[i - 1 - (i.o - 1)]
        for a.h.w in max(0, i.o) .. min(size(a, 0), i.o + 8):
            a[a.h.w] = a.h[a.h.w - (i.o - 1)]
    """

    name: ClassVar[str] = "hold"
    grammar: ClassVar[str] = "ARRAY LOOP [pad ELEMENTS]"
    array: str
    loop: str
    pad: From1 = 0

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := missing(kernel, (self.loop,)) or overlapping(kernel)) is not None:
            return rejection
        loop = the_loop(kernel, self.loop)
        if (rejection := marked((loop,))) is not None:
            return rejection
        if contains((loop,), While, Break, Continue, Leave, Return) or contains(loop.body, Allocate):
            return Rejection(f"'{self.loop}' may be left, or makes arrays")
        parts = [*expressions((loop,)), *statements((loop,))]
        checks = [one for one in parts if isinstance(one, Load | Store | Checked)]
        if any(bounds.kind == "checked" for one in checks for bounds in facts.bounds_of(one)):
            return Rejection(f"an error may end '{self.loop}' in the middle, before '{self.array}' is up to date")
        if any(bounds.may_be_negative for one in _uses(loop, self.array) for bounds in facts.bounds_of(one)):
            return Rejection(f"an index of '{self.array}' may count from the end")
        found = self._held(kernel, loop)
        if isinstance(found, Rejection):
            return found
        size = prod(last - first for first, last in found.around) * found.element.size_bytes
        if size > CACHE_BYTES:
            return Rejection(f"the array would take {size} bytes; the limit is {CACHE_BYTES}")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        found = self._held(kernel, loop)
        assert isinstance(found, TouchedBoxes)
        taken = names_of(kernel)
        local = fresh(f"{self.array}.h", taken)
        taken |= {local}
        starts = [plus(anchor, first) for anchor, (first, _) in zip(found.anchors, found.around, strict=True)]

        def place(index: tuple[Expr, ...]) -> tuple[Expr, ...]:
            return tuple(_apart(axis, start) for axis, start in zip(index, starts, strict=True))

        def load(expr: Expr) -> Expr:
            is_it = isinstance(expr, Load) and expr.array == self.array
            return replace(expr, array=local, index=place(expr.index)) if is_it and isinstance(expr, Load) else expr

        def store(stmt: Stmt) -> Body:
            if isinstance(stmt, Store) and stmt.array == self.array:
                return (replace(stmt, array=local, index=place(stmt.index)),)
            return (stmt,)

        def copies(boxes: Iterable[tuple[Side, ...]], suffix: str) -> Iterator[Stmt]:
            for box in boxes:
                names = [fresh(f"{local}.{suffix}", taken)]
                taken.add(names[0])
                while len(names) < len(box):
                    names.append(fresh(f"{local}.{suffix}", taken))
                    taken.add(names[-1])
                index = tuple(map(variable, names))
                there = place(index)
                body: Stmt = Store(local, there, Load(self.array, index, found.element))
                if suffix == "w":
                    body = Store(self.array, index, Load(local, there, found.element))
                for axis in reversed(range(len(box))):
                    first, last = (plus(found.anchors[axis], side) for side in box[axis])
                    lower, upper = most(number(0), first), least(Dim(self.array, axis), last)
                    body = For(names[axis], lower, upper, number(1), (body,))
                yield body

        *outer, row = (last - first for first, last in found.around)
        shape = tuple(map(number, (*outer, row + self.pad)))
        made = Allocate(local, found.element, shape, None)
        changed = rewrite_body((loop,), store, load)
        new = (made, *copies(found.read, "r"), *changed, *copies(found.written, "w"))
        return finished(with_statement(kernel, loop, new), kernel)

    def _held(self, kernel: Kernel, loop: For) -> TouchedBoxes | Rejection:
        (loop,) = substituted((loop,), _points(kernel, loop))  # type: ignore[assignment]
        inside = {stmt.name: stmt for stmt in (loop, *statements(loop.body, For)) if isinstance(stmt, For)}
        fixed = names_assigned(loop.body)
        try:
            uses = [(one, [_sides(axis, inside, fixed) for axis in one.index]) for one in _uses(loop, self.array)]
            if not uses:
                return Rejection(f"'{self.loop}' does not use '{self.array}'")
            anchors = tuple(start for start, _ in uses[0][1])
            boxes = [(one, tuple(map(_from, sides, anchors))) for one, sides in uses]
        except _Unknown as why:
            return Rejection(f"what '{self.loop}' touches of '{self.array}' is no box of constant size: {why}")
        written = _largest(box for one, box in boxes if isinstance(one, Store))
        first = uses[0][0]
        element = first.value.type if isinstance(first, Store) else first.type
        return TouchedBoxes(element, anchors, _largest(box for _, box in boxes), written)

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        return (
            cls(array, name)
            for name, loop in loops(kernel).items()
            if isinstance(loop, For)
            for array in sorted(arrays_stored(loop.body))
        )


def _points(kernel: Kernel, loop: For) -> dict[str, Expr]:
    """The loops around one that have one iteration, and which one that is."""
    outer = loops_around(kernel, loop).values()
    return {one.name: one.lower for one in outer if 0 < (extent_of(one) or 0) <= step_of(one)}


def _uses(loop: For, array: str) -> list[Load | Store]:
    parts: list[Load | Store] = [one for one in statements(loop.body, Store) if one.array == array]
    own = (expr for stmt in (loop, *statements(loop.body)) for expr in own_expressions(stmt))
    return parts + [one for expr in own for one in subexpressions(expr, Load) if one.array == array]


def _sides(index: Expr, inside: dict[str, For], fixed: set[str]) -> tuple[Expr, int]:
    """Where the elements of an axis begin, outside of the loop, and how many there are. Raises _Unknown."""
    base, more = parted(index)
    if base is None or not names_in(base) & (inside.keys() | fixed):
        _known_outside(index)
        return index, 1
    if not isinstance(base, Var) or base.name not in inside:
        raise _Unknown("an index is more than a loop and a number")
    start, count = _stretch(inside[base.name], inside, fixed)
    return plus(start, more), count


def _known_outside(expr: Expr) -> None:
    if any(subexpressions(expr, Load, Checked)):
        raise _Unknown("an index is read from an array")


def _stretch(loop: For, inside: dict[str, For], fixed: set[str]) -> tuple[Expr, int]:
    """Where a loop begins at the earliest, and how many iterations it has then. Raises _Unknown."""
    if step_of(loop) != 1:
        raise _Unknown(f"'{loop.name}' does not count by ones")
    starts = [plus(start, more) for start, more in _limits(starts_of(loop), inside, fixed, last=False)]
    ends = [plus(end, more) for end, more in _limits(ends_of(loop), inside, fixed, last=True)]
    found = [(count, start) for start in starts for end in ends if (count := apart(end, start)) is not None]
    counts = [count for count, _ in found if count > 0]
    if not counts:
        raise _Unknown(f"'{loop.name}' has no constant number of iterations")
    return next((start, count) for count, start in found if count == min(counts))


def _limits(ends: tuple[Expr, ...], inside: dict[str, For], fixed: set[str], last: bool) -> Iterator[tuple[Expr, int]]:
    """Ends of a loop, of which each holds by itself, in what is known outside. last: the upper ones."""
    for end in ends:
        base, more = parted(end)
        if not names_in(end) & (inside.keys() | fixed):
            if not any(subexpressions(end, Load, Checked)):
                yield end, 0
        elif isinstance(base, Var) and base.name in inside:
            start, count = _stretch(inside[base.name], inside, fixed)
            yield start, more + (count - 1 if last else 0)


def _from(side: tuple[Expr, int], anchor: Expr) -> Side:
    start, count = side
    first = apart(start, anchor)
    if first is None:
        raise _Unknown("accesses lie in boxes whose distance is not known")
    return first, first + count


def _largest(boxes: Iterable[tuple[Side, ...]]) -> tuple[tuple[Side, ...], ...]:
    """Those that are in no other one."""
    found = list(dict.fromkeys(boxes))
    return tuple(one for one in found if not any(one != other and _is_in(one, other) for other in found))


def _is_in(one: tuple[Side, ...], other: tuple[Side, ...]) -> bool:
    return all(first >= low and last <= high for (first, last), (low, high) in zip(one, other, strict=True))


def _apart(index: Expr, start: Expr) -> Expr:
    """How far an index is from a start."""
    known = apart(index, start)
    return minus(index, start) if known is None else number(known)
