"""The step `relayout`: work on an array in another layout, and convert before and after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.nodes import Allocate, Body, Checked, Dim, Expr, For, Kernel, Load, Return, Store, While
from loopwright.ir.queries import accesses, arrays_loaded, arrays_measured, arrays_stored, contains, names_of
from loopwright.ir.walk import expressions, loops, rewrite_expr, statements
from loopwright.steps.draft import finished, with_statement
from loopwright.steps.extent import marked
from loopwright.steps.nest import overlapping, size_of, too_large
from loopwright.steps.shadows import Shadow, array_of, conversion, members_of, redirected, shadows_of
from loopwright.steps.step import Rejection, Step


@dataclass(frozen=True, slots=True)
class Relayout(Step):
    """Keep an array in another layout while a loop runs, or with no loop named, from its first use in the kernel to its
    last: `soa` a plane for each field, `aos` records with nothing between them, `aosoa 8` tiles of 8 records, `order 1
    0` axis 1 outermost; `pad 4` puts elements that nobody uses at the end of what lies innermost (data layout
    transformation). Of an array of records, only the fields that the loop uses are converted, and only those that it
    writes are converted back. `relayout d in k order 1 0`:

    for k in 0 .. 9:
        for j in 0 .. m:
            for i in 0 .. n:
                d[i, j] = d[i, j] + c[k, j]
    ->
    allocate d.l: float64[size(d, 1), size(d, 0)] for d 1 0
    for d.in0.o in 0 .. size(d, 0) step 16:
        for d.in1.o in 0 .. size(d, 1) step 16:
            for d.in0 in d.in0.o .. min(d.in0.o + 16, size(d, 0)):
                for d.in1 in d.in1.o .. min(d.in1.o + 16, size(d, 1)):
                    d.l[d.in1, d.in0] = d[d.in0, d.in1]
    for k in 0 .. 9:
        for j in 0 .. m:
            for i in 0 .. n:
                d.l[j, i] = d.l[j, i] + c[k, j]
    for d.back0.o in 0 .. size(d, 0) step 16:
        for d.back1.o in 0 .. size(d, 1) step 16:
            for d.back0 in d.back0.o .. min(d.back0.o + 16, size(d, 0)):
                for d.back1 in d.back1.o .. min(d.back1.o + 16, size(d, 1)):
                    d[d.back0, d.back1] = d.l[d.back1, d.back0]
    """

    name: ClassVar[str] = "relayout"
    grammar: ClassVar[str] = "ARRAY [in LOOP] LAYOUT ..."
    array: str
    loop: str = field(default="", kw_only=True)
    words: tuple[str, ...]

    def __post_init__(self) -> None:
        DataLayout.parse(self.words)

    @property
    def layout(self) -> DataLayout:
        """The layout that the words say."""
        return DataLayout.parse(self.words)

    def illegal(self, kernel: Kernel, facts: Facts, strict: bool) -> Rejection | None:
        if (rejection := overlapping(kernel)) is not None:
            return rejection
        inside = self._stretch(kernel)
        if isinstance(inside, Rejection):
            return inside
        shadows = shadows_of(kernel, self.array, inside, self.layout)
        if isinstance(shadows, Rejection):
            return shadows
        return (
            marked(inside)
            or (None if self._own(kernel, inside) else self._seen_outside(inside, shadows, facts))
            or _unsaid(inside, shadows, facts)
            or too_large(kernel, 8 * sum(len(one.members) for one in shadows) + size_of(inside) // 2)
        )

    def _stretch(self, kernel: Kernel) -> Body | Rejection:
        """The statements that work on the new layout: neighbours in one body."""
        if self.loop:
            found = loops(kernel).get(self.loop)
            if found is None:
                there = ", ".join(loops(kernel)) or "none"
                return Rejection(f"there is no loop '{self.loop}' (there are: {there})")
            return (found,)
        members = members_of(kernel, self.array)
        if isinstance(members, Rejection):
            return members
        names = {one.name for one in members}
        body = kernel.body[:-1] if _ends(kernel) else kernel.body
        uses = [at for at, stmt in enumerate(body) if any(node.array in names for node in accesses((stmt,)))]
        return body[uses[0] : uses[-1] + 1] if uses else Rejection(f"'{self.array}' is not used")

    def _seen_outside(self, inside: Body, shadows: tuple[Shadow, ...], facts: Facts) -> Rejection | None:
        """Why an array that is written would not be up to date where somebody sees it."""
        written = arrays_stored(inside)
        if not any(one.name in written for shadow in shadows for one in shadow.members):
            return None
        where = f"'{self.loop}'" if self.loop else "the kernel"
        if any(escapes(stmt) for stmt in inside):
            return Rejection(f"{where} can be left in the middle, before '{self.array}' is up to date")
        for part in (*expressions(inside), *statements(inside)):
            if isinstance(part, Load | Store | Checked) and any(one.kind == "checked" for one in facts.bounds_of(part)):
                return Rejection(f"an error may end {where} in the middle, before '{self.array}' is up to date")
        return None

    def apply(self, kernel: Kernel) -> Kernel:
        inside = self._stretch(kernel)
        assert not isinstance(inside, Rejection)
        shadows = shadows_of(kernel, self.array, inside, self.layout)
        assert not isinstance(shadows, Rejection)
        if (own := self._own(kernel, inside)) is not None:
            return _kept_so(kernel, own, shadows)
        used, written = arrays_loaded(inside) | arrays_stored(inside), arrays_stored(inside)
        taken = names_of(kernel) | {one.name for one in shadows}
        new = (
            *(one.allocate() for one in shadows),
            *conversion(self.array, shadows, used, taken, back=False),
            *redirected(inside, shadows),
            *conversion(self.array, shadows, written, taken, back=True),
        )
        if len(inside) == 1:
            return finished(with_statement(kernel, inside[0], new), kernel)
        at = next(k for k, stmt in enumerate(kernel.body) if stmt is inside[0])
        return finished(replace(kernel, body=(*kernel.body[:at], *new, *kernel.body[at + len(inside) :])), kernel)

    def _own(self, kernel: Kernel, inside: Body) -> Allocate | None:
        """What makes the array, where it is the kernel's own and is used nowhere else: nobody sees another layout."""
        made = [stmt for stmt in kernel.body if isinstance(stmt, Allocate) and stmt.array == self.array]
        everywhere, here = (sum(node.array == self.array for node in accesses(body)) for body in (kernel.body, inside))
        given = {*(param.name for param in kernel.arrays), *(result.name for result in kernel.results)}
        is_its = self.array not in given and everywhere == here
        return made[0] if len(made) == 1 and is_its and inside[0] is not made[0] else None

    @classmethod
    def candidates(cls, kernel: Kernel) -> Iterable[Self]:
        """For loops around loops, and each array in them with more than one axis: planes of records, and the axes the
        other way round."""
        for loop in kernel.body:
            if not isinstance(loop, For | While) or not contains(loop.body, For, While):
                continue
            for array in dict.fromkeys(array_of(kernel, name) for name in sorted(arrays_loaded((loop,)))):
                members = members_of(kernel, array)
                if isinstance(members, Rejection):
                    continue
                if members[0].name != array:
                    yield cls(array, ("soa",), loop=loop.name)
                elif members[0].rank > 1:
                    axes = map(str, reversed(range(members[0].rank)))
                    yield cls(array, ("order", *axes), loop=loop.name)


def _kept_so(kernel: Kernel, own: Allocate, shadows: tuple[Shadow, ...]) -> Kernel:
    """The kernel with one of its own arrays in the new layout from the beginning."""
    (shadow,) = shadows
    body = redirected(kernel.body, shadows)
    at = next(place for place, stmt in enumerate(body) if stmt == own)
    new = replace(shadow.allocate(), fill=own.fill)
    if own.array in arrays_measured(body):
        return finished(replace(kernel, body=(*body[:at], own, new, *body[at + 1 :])), kernel)

    def told(part: Expr) -> Expr:
        return own.shape[part.axis] if isinstance(part, Dim) and part.array == own.array else part

    new = replace(new, shape=tuple(rewrite_expr(size, told) for size in new.shape))
    return finished(replace(kernel, body=(*body[:at], new, *body[at + 1 :])), kernel)


def _ends(kernel: Kernel) -> bool:
    """Whether the last statement returns what the kernel returns."""
    return bool(kernel.body) and isinstance(kernel.body[-1], Return)


def _unsaid(inside: Body, shadows: tuple[Shadow, ...], facts: Facts) -> Rejection | None:
    """Why an index would mean another element, or be found wrong without saying so, in the new layout."""
    places = {member.name: (shadow, member) for shadow in shadows for member in shadow.members}
    for node in accesses(inside):
        if node.array not in places:
            continue
        shadow, member = places[node.array]
        for axis, bounds in enumerate(facts.bounds_of(node)):
            is_plain = bounds.kind == "proven" and not bounds.may_be_negative
            if not is_plain and (axis >= member.rank or not shadow.keeps(axis)):
                what = "may be negative" if bounds.kind == "proven" else "has to be tested while it runs"
                return Rejection(f"index {axis} of '{node.array}' {what}, and '{shadow.layout}' has no such axis")
    return None
