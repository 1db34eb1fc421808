"""The step `hold`: keep all elements of an array that a loop touches in a local array while it runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.local_arrays import never_meet
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
    """What a loop touches of an array in one place. uses: the accesses; anchors: along each axis what boxes are counted
    from; read: boxes of which no one is in another one, those that are written among them; written: the latter."""

    uses: tuple[Load | Store, ...]
    anchors: tuple[Expr, ...]
    read: tuple[tuple[Side, ...], ...]
    written: tuple[tuple[Side, ...], ...]

    @property
    def element(self) -> Scalar:
        """The type of what it holds."""
        first = self.uses[0]
        return first.value.type if isinstance(first, Store) else first.type

    @property
    def shape(self) -> tuple[int, ...]:
        """How many elements there are along each axis."""
        return tuple(last - first for first, last in self.around)

    @property
    def starts(self) -> tuple[Expr, ...]:
        """Where they begin."""
        return tuple(plus(anchor, first) for anchor, (first, _) in zip(self.anchors, self.around, strict=True))

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
    other loops, `stage` what is only read). The elements have to be a box of constant size, or several, as tiles of a
    matrix, of which what one has is not read in another: then each has a local array. On a GPU, threads of a block
    share these in their shared memory; `pad 1` makes rows longer, so that a column or a diagonal lies in several banks.
    `hold a i`:

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
        size = sum(prod(one.shape) * one.element.size_bytes for one in found)
        if size > CACHE_BYTES:
            return Rejection(f"the array would take {size} bytes; the limit is {CACHE_BYTES}")
        ours = [id(use) for one in found if one.written for use in one.uses]
        rest = [id(use) for one in found if not one.written for use in one.uses]
        # What is copied back are whole boxes: of two that are written, one might undo the other.
        is_alone = sum(bool(one.written) for one in found) < 2
        stack = list(loops_around(kernel, loop))
        if not is_alone or (ours and rest and not never_meet(kernel, ours, rest, stack, facts.known)):
            return Rejection(f"'{self.loop}' touches boxes of '{self.array}' whose distance is not known")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        loop = the_loop(kernel, self.loop)
        found = self._held(kernel, loop)
        assert not isinstance(found, Rejection)
        taken = names_of(kernel)
        locals_: dict[tuple[Expr, ...], tuple[str, TouchedBoxes]] = {}
        made: list[Stmt] = []
        before: list[Stmt] = []
        behind: list[Stmt] = []
        for boxes in found:
            local = fresh(f"{self.array}.h", taken)
            taken |= {local}
            locals_ |= {use.index: (local, boxes) for use in boxes.uses}
            *outer, row = boxes.shape
            made.append(Allocate(local, boxes.element, tuple(map(number, (*outer, row + self.pad))), None))
            before += _copies(self.array, local, boxes, False, taken)
            behind += _copies(self.array, local, boxes, True, taken)

        def load(expr: Expr) -> Expr:
            if not isinstance(expr, Load) or expr.array != self.array:
                return expr
            local, boxes = locals_[expr.index]
            return replace(expr, array=local, index=_place(expr.index, boxes))

        def store(stmt: Stmt) -> Body:
            if not isinstance(stmt, Store) or stmt.array != self.array:
                return (stmt,)
            local, boxes = locals_[stmt.index]
            return (replace(stmt, array=local, index=_place(stmt.index, boxes)),)

        changed = rewrite_body((loop,), store, load)
        return finished(with_statement(kernel, loop, (*made, *before, *changed, *behind)), kernel)

    def _held(self, kernel: Kernel, loop: For) -> tuple[TouchedBoxes, ...] | Rejection:
        """What lies a known distance apart, together."""
        (pointed,) = substituted((loop,), _points(kernel, loop))
        assert isinstance(pointed, For)
        inside = {stmt.name: stmt for stmt in statements((pointed,), For)}
        fixed = names_assigned(loop.body)
        uses = list(zip(_uses(loop, self.array), _uses(pointed, self.array), strict=True))
        if not uses:
            return Rejection(f"'{self.loop}' does not use '{self.array}'")
        places: list[tuple[tuple[Expr, ...], list[tuple[Load | Store, tuple[Side, ...]]]]] = []
        try:
            for use, there in uses:
                sides = [_sides(axis, inside, fixed) for axis in there.index]
                anchors = tuple(start for start, _ in sides)
                at = next((at for at, _ in places if _are_near(anchors, at)), None)
                if at is None:
                    places.append((at := anchors, []))
                box = tuple(map(_from, sides, at))
                next(found for known, found in places if known is at).append((use, box))
        except _Unknown as why:
            return Rejection(f"what '{self.loop}' touches of '{self.array}' is no box of constant size: {why}")
        return tuple(
            TouchedBoxes(
                tuple(use for use, _ in found),
                anchors,
                _largest(box for _, box in found),
                _largest(box for use, box in found if isinstance(use, Store)),
            )
            for anchors, found in places
        )

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


def _are_near(some: tuple[Expr, ...], others: tuple[Expr, ...]) -> bool:
    """Whether the distance of two places is known along each axis."""
    return all(apart(one, other) is not None for one, other in zip(some, others, strict=True))


def _from(side: tuple[Expr, int], anchor: Expr) -> Side:
    start, count = side
    first = apart(start, anchor)
    assert first is not None
    return first, first + count


def _place(index: tuple[Expr, ...], boxes: TouchedBoxes) -> tuple[Expr, ...]:
    return tuple(_apart(axis, start) for axis, start in zip(index, boxes.starts, strict=True))


def _copies(array: str, local: str, boxes: TouchedBoxes, back: bool, taken: set[str]) -> Iterator[Stmt]:
    """Loops that fill the local array, or those that bring back what is written."""
    for box in boxes.written if back else boxes.read:
        names: list[str] = []
        for _ in box:
            names.append(fresh(f"{local}.{'w' if back else 'r'}", taken))
            taken.add(names[-1])
        index = tuple(map(variable, names))
        there = _place(index, boxes)
        body: Stmt = Store(local, there, Load(array, index, boxes.element))
        if back:
            body = Store(array, index, Load(local, there, boxes.element))
        for axis in reversed(range(len(box))):
            first, last = (plus(boxes.anchors[axis], side) for side in box[axis])
            lower, upper = most(number(0), first), least(Dim(array, axis), last)
            body = For(names[axis], lower, upper, number(1), (body,))
        yield body


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
