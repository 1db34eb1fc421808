"""Arrays in another layout while a loop over time runs (`relayout`): taken where most of what is moved is moved in vain
otherwise, and where the loop runs so often that both conversions are paid for.

The model counts bytes between memory and the core: of each array what a pass of the loop moves as it lies now and in
each other layout (`analysis/efficiency.py`), and what conversions move. From these two it follows how often the loop
has to run; that is tested in the code, as only a call tells. Arrays as they are given are the default: what data
decides about, or what a call may find to be small, speaks against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from loopwright.analysis.efficiency import LINE, ORIGIN, USUAL, ArrayUse, ElementPlaces, array_uses
from loopwright.analysis.effort import LOCK
from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import Access, Trace, traced
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.nodes import Body, Const, For, Kernel, Load, Store, While
from loopwright.ir.queries import accesses_by_array, allocations, arrays_stored, contains
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.tunable import Tunable
from loopwright.steps.relayout import Relayout
from loopwright.steps.reorder import Reorder
from loopwright.steps.shadows import Component, array_of, members_of, shadows_of
from loopwright.steps.specialize import Specialize
from loopwright.steps.step import Rejection, Step

UNKNOWN_SIZE = 1 << 12
"""Elements along an axis whose size only a call tells."""
LESS = 0.75
"""Of all that a pass moves, what at most may be left for it to be worth the code."""
MARGIN = 1.5
"""How many times the price of a conversion has to come back."""
LEAST = 3
"""Passes from which on it is done, though fewer might pay: what is left for other calls is a loop, no single pass."""
IN_DOUBT = Tunable(
    "records in another layout",
    0,
    (0, 1),
    "where data decides about other accesses, nobody knows before whether a loop waits for those, or for the records",
    leads=True,
    words=("where they are most of what a pass moves", "wherever that saves bytes"),
)
LONGEST = 1000
"""Passes that a loop is expected to make at most: what pays after more is not taken."""
PLANES = 6
"""Fields that may have a plane each: more streams than that, all at the same place of a page, push one another out of a
small cache. Records of those fields alone have one stream."""


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """A layout for an array while a loop runs, in bytes per pass. before, after: what is used of the array, and what is
    moved; conversion: what both conversions move."""

    array: str
    loop: str
    layout: str
    before: ArrayUse
    after: ArrayUse
    conversion: float

    @property
    def passes(self) -> int:
        """From how many passes on it is expected to pay."""
        gain = self.before.moved - self.after.moved
        return ceil(MARGIN * self.conversion / gain) if gain > 0 else LONGEST + 1

    @property
    def step(self) -> Relayout:
        """The decision as a step."""
        return Relayout(self.array, tuple(self.layout.split()), loop=self.loop)

    def __str__(self) -> str:
        return (
            f"a pass of '{self.loop}' uses {100 * self.before.efficiency:.0f} % of the moved bytes of '{self.array}', "
            f"and {100 * self.after.efficiency:.0f} % in this layout; both conversions move as much as "
            f"{self.conversion / max(self.before.moved, 1.0):.1f} passes"
        )


_Used = Mapping[str, Sequence[Load | Store]]


def places_of(
    kernel: Kernel, inside: Body, records: Mapping[int, int], layouts: Mapping[str, DataLayout] | None = None,
    only: str | None = None,
) -> dict[str, ElementPlaces]:  # fmt: skip
    """Where the arrays that a part of a kernel uses lie, or `only` this one; those in `layouts` in these. records:
    bytes of a record, by argument."""
    found: dict[str, ElementPlaces] = {}
    used = accesses_by_array(inside)
    for array in dict.fromkeys(array_of(kernel, name) for name in used) if only is None else (only,):
        wanted = (layouts or {}).get(array)
        members = members_of(kernel, array)
        if isinstance(members, Rejection):
            continue
        if wanted is None:
            found |= {one.name: _as_given(kernel, used, array, one, records) for one in members if one.name in used}
            continue
        shadows = shadows_of(kernel, array, inside, wanted)
        for shadow in () if isinstance(shadows, Rejection) else shadows:
            for one in shadow.members:
                sizes, begin = _extents(kernel, used, one)
                if shadow.is_record:
                    sizes = (*sizes, shadow.components)
                size = one.element.size_bytes
                found[one.name] = ElementPlaces(
                    array, shadow.name, size, wanted, sizes, begin, shadow.is_record, one.tail, one.first,
                    columns=one.columns,
                )  # fmt: skip
    return found


def _as_given(kernel: Kernel, used: _Used, array: str, one: Component, records: Mapping[int, int]) -> ElementPlaces:
    sizes, begin = _extents(kernel, used, one)
    param = next((param for param in kernel.arrays if param.name == one.name), None)
    size = one.element.size_bytes
    if param is not None and one.name != array:
        fields = [other for other in kernel.arrays if other.argument == param.argument]
        least = max(other.offset + other.element.size_bytes for other in fields)
        record = max(least, records.get(param.argument, 0))
        return ElementPlaces(
            array, array, size, DataLayout("aos"), sizes, begin, True, one.tail, 0, record, param.offset
        )
    layout = DataLayout("aos")
    if param is not None and param.layout in ("F", "first") and one.rank > 1:
        layout = DataLayout("order", tuple(reversed(range(one.rank))))
    return ElementPlaces(array, array, size, layout, sizes, begin)


def _extents(kernel: Kernel, used: _Used, one: Component) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Of each axis how long it is taken to be, and where indices begin. An axis of which only constant indices are used
    is no longer than these ask for."""
    made = allocations(kernel).get(one.name)
    sizes, begin = [UNKNOWN_SIZE] * one.rank, [ORIGIN] * one.rank
    for axis in range(one.rank):
        known = made.shape[axis] if made is not None else None
        indices = [node.index[axis] for node in used.get(one.name, ())]
        constant = [int(index.value) for index in indices if isinstance(index, Const)]
        if isinstance(known, Const):
            sizes[axis], begin[axis] = int(known.value), 0
        elif len(constant) == len(indices) and min(constant) >= 0:
            sizes[axis], begin[axis] = max(constant) + 1, 0
    return tuple(sizes), tuple(begin)


# ---- the choice -------------------------------------------------------------------------------------------------


def choices_of(kernel: Kernel, loop: For | While, records: Mapping[int, int]) -> tuple[LayoutChoice, ...]:
    """For each array of records that a loop uses, the layout in which it moves least, where that is less than now.
    Whether steps are legal is not asked."""
    inside = loop.body
    given = array_uses(kernel, inside, places_of(kernel, inside, records))
    found: list[LayoutChoice] = []
    for array, before in given.items():
        layouts = () if before.by_data else _candidates(kernel, inside, array)
        choices = (_choice(kernel, loop, array, layout, before, records) for layout in layouts)
        best = min(filter(None, choices), key=lambda one: one.after.moved, default=None)
        if best is not None and best.after.moved < before.moved:
            found.append(best)
    return tuple(found)


def _choice(
    kernel: Kernel, loop: For | While, array: str, layout: DataLayout, before: ArrayUse, records: Mapping[int, int]
) -> LayoutChoice | None:
    """None where nothing is known of the array in that layout, as of a local array of constant size."""
    inside = loop.body
    after = array_uses(kernel, inside, places_of(kernel, inside, records, {array: layout}, array)).get(array)
    if after is None:
        return None
    price = _conversion(kernel, inside, array, records, layout)
    return LayoutChoice(array, loop.name, str(layout), before, after, price)


def told(kernel: Kernel, step: Relayout, records: Mapping[int, int]) -> str:
    """What a step brings that is legal, in words; '' where it is for no loop alone."""
    loop = loops(kernel).get(step.loop)
    if loop is None:
        return ""
    before = array_uses(kernel, loop.body, places_of(kernel, loop.body, records))[step.array]
    found = _choice(kernel, loop, step.array, step.layout, before, records)
    return "" if found is None else str(found)


def unused(kernel: Kernel, facts: Facts, strict: bool, records: Mapping[int, int]) -> Iterator[str]:
    """In words, of which arrays of records the outermost loops use little of what is moved, in passes of a loop that
    needs its order, or else once; and why another layout is not taken, or when it would pay."""
    for loop in [stmt for stmt in kernel.body if isinstance(stmt, For | While)]:
        verdict = facts.loops[loop.name].verdict
        again = verdict != "parallel" and contains(loop.body, For, While)
        inside = loop.body if again else (loop,)
        better = {one.array: one for one in choices_of(kernel, loop, records)} if again else {}
        for array, use in array_uses(kernel, inside, places_of(kernel, inside, records)).items():
            members = members_of(kernel, array)
            if isinstance(members, Rejection) or members[0].name == array or use.efficiency > LESS:
                continue
            part = f"{100 * use.efficiency:.0f} % of the moved bytes of '{array}' are used"
            if not again:
                yield f"{part} in '{user_name(loop.name)}'; lw.array keeps each field apart"
                continue
            found = better.get(array)
            if found is None:
                why = "data decides which records, so its layout stays" if use.by_data else "no layout moves less"
            elif (rejection := found.step.illegal(kernel, facts, strict)) is not None:
                why = f"'{found.step}' is not legal: {rejection.reason}"
            else:
                part_later = f"{100 * found.after.efficiency:.0f} % with '{found.step}'"
                why = f"{part_later}, which pays off in {found.passes} passes"
            yield f"{part} in a pass of '{user_name(loop.name)}'; {why}"


def _candidates(kernel: Kernel, inside: Body, array: str) -> Sequence[DataLayout]:
    members = members_of(kernel, array)
    if isinstance(members, Rejection):
        return ()
    used = accesses_by_array(inside)
    members = tuple(one for one in members if one.name in used)
    if members[0].name != array:
        planes = sum(one.count for one in members)
        return (DataLayout("soa"), DataLayout("aos")) if planes <= PLANES else (DataLayout("aos"),)
    indices = [node.index for node in used[array]]
    in_disguise = members[0].rank > 1 and all(isinstance(i[-1], Const) and int(i[-1].value) >= 0 for i in indices)
    return (DataLayout("soa"),) if in_disguise else ()


def _conversion(kernel: Kernel, inside: Body, array: str, records: Mapping[int, int], layout: DataLayout) -> float:
    """Bytes that both conversions move, in the units of `array_uses`: of records as they lie, once in, and twice back;
    of what they become, twice in, and once back. Large arrays are new memory, which the system clears: once more."""
    given = places_of(kernel, inside, records, only=array)
    later = places_of(kernel, inside, records, {array: layout}, array)
    stored = arrays_stored(inside)
    first = given[next(iter(later))]
    count = prod(
        USUAL if size == UNKNOWN_SIZE else size for size in (first.sizes if first.record else first.sizes[:-1])
    )
    total = 0.0
    for names, as_given, as_kept in ((list(later), 1, 3), ([name for name in later if name in stored], 2, 1)):
        if not names:
            continue
        spans = {given[name].offset // LINE for name in names} if first.record else {0}
        lines = min(first.record or first.element * first.sizes[-1], LINE * len(spans))
        kept = sum(later[name].element * (len(later[name].columns) or prod(later[name].tail)) for name in names)
        total += as_given * lines + as_kept * kept
    return total * count


# ---- taking the steps -------------------------------------------------------------------------------------------


def in_layouts(partial: PartialSchedule, records: Mapping[int, int]) -> None:
    """Take the steps for the outermost loops that come back to arrays of records again and again."""
    if partial.kernel.overlap:
        return
    taken = False
    for loop in [stmt for stmt in partial.kernel.body if isinstance(stmt, For) and contains(stmt.body, For, While)]:
        steps = steps_for(partial, loop, records)
        with partial.together():
            for step, why in steps:
                partial.take(step, why, anew=True)
            taken = taken or bool(steps)
    if taken:
        partial.begin_again()


def steps_for(partial: PartialSchedule, loop: For, records: Mapping[int, int]) -> list[tuple[Step, str]]:
    """The steps with which a loop is expected to move less, each of them legal by itself; none where that does not
    pay."""
    kernel, facts = partial.kernel, partial.present_facts()
    if facts.loops[loop.name].verdict == "parallel" or _goes_inside(partial, loop):
        return []
    found = [
        one
        for one in choices_of(kernel, loop, records)
        if one.passes <= LONGEST and _is_whole(kernel, loop.body, one.array)
        if one.step.illegal(kernel, facts, partial.strict) is None
    ]
    given = array_uses(kernel, loop.body, places_of(kernel, loop.body, records))
    moved = sum(one.moved for one in given.values())  # of what data decides about, a line each: such loops wait for it
    saved = sum(one.before.moved - one.after.moved for one in found)
    by_data = sum(one.by_data for one in given.values())
    if not found or moved - by_data - saved > LESS * (moved - by_data):
        return []
    if moved - saved > LESS * moved and not partial.number(IN_DOUBT):
        return []
    passes = max(LEAST, *(one.passes for one in found))
    condition = _runs_often(kernel, loop, passes)
    if condition is None or (isinstance(condition, Step) and condition.illegal(kernel, facts, partial.strict)):
        return []
    why = f"both conversions pay off within {passes} passes of '{loop.name}'"
    version: list[tuple[Step, str]] = [(condition, why)] if isinstance(condition, Step) else []
    return [*version, *((one.step, str(one)) for one in found)]


def _goes_inside(partial: PartialSchedule, loop: For) -> bool:
    """Whether the loop may be the inner one of its nest: then each record is used up before the next one."""
    inner = loop.body[0]
    return len(loop.body) == 1 and isinstance(inner, For) and partial.allows(Reorder((inner.name, loop.name)))


def _is_whole(kernel: Kernel, inside: Body, array: str) -> bool:
    """Whether of an array that is written all records are, but for some at its ends: converting back writes to all of
    them, also to those that another thread may be busy with."""
    members = members_of(kernel, array)
    if isinstance(members, Rejection):
        return False
    stores = {id(node): node for node in statements(inside, Store)}
    with LOCK:
        notes = traced(kernel)
        whole = {
            access.array
            for access in notes.accesses
            if id(access.node) in stores and _goes_over_all(notes, kernel, access)
        }
    return all(one.name in whole for one in members if one.name in arrays_stored(inside))


def _goes_over_all(notes: Trace, kernel: Kernel, access: Access) -> bool:
    param = next((one for one in kernel.arrays if one.name == access.array), None)
    if param is None or not access.exact:
        return param is None
    for axis, form in enumerate(access.index[: param.rank - len(param.tail)]):
        if form.is_constant:
            continue
        symbol, count = form.terms[0]
        note = next((one for one in notes.loops.values() if one.symbol is symbol), None)
        if len(form.terms) != 1 or count != 1 or note is None or note.step != 1 or not note.lower.is_constant:
            return False
        if [(s.role, s.source, c) for s, c in note.upper.terms] != [("size", (param.argument, axis), 1)]:
            return False
    return True


def _runs_often(kernel: Kernel, loop: For, passes: int) -> Specialize | bool | None:
    """The step that gives a loop a version for calls in which it runs so often; True where it always does, None where
    it never does, or where that is not the question of one size."""
    with LOCK:
        note = traced(kernel).loops[loop.name]
    if note.step != 1 or not note.lower.is_constant:
        return None
    least = passes + note.lower.constant - note.upper.constant
    if note.upper.is_constant:
        return True if least <= 0 else None
    (symbol, count), *others = note.upper.terms
    if others or count != 1:
        return None
    position, axis = symbol.source
    names = [one.name for one in kernel.scalars if symbol.role == "scalar" and one.argument == position]
    names += [f"{one.name}.{axis}" for one in kernel.arrays if symbol.role == "size" and one.argument == position]
    return Specialize((names[0],), ">=", max(0, least), loop.name) if names else None
