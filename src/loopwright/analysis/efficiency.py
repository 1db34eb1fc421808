"""Memory efficiency and activity factor: the two numbers by which a layout is chosen (Leo; Farooqui and others, 2014,
section 2.2). Memory efficiency is the part of the bytes that memory moves which somebody has asked for; activity factor
the part of a warp's lanes that work. From addresses, and, where subscripts are affine, from the text of loops alone.

What the text tells is per iteration of a loop, on a CPU: of the lines that accesses touch as they go along it, how many
bytes are used. It knows no capacity: what one iteration touches, the next one still has; what another loop touches is
moved again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from loopwright.analysis.coalescing import rates_along
from loopwright.analysis.effort import LOCK
from loopwright.analysis.trace import Access, LoopNote, Trace, traced
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.nodes import Body, For, Kernel
from loopwright.ir.queries import accesses
from loopwright.ir.walk import statements

LINE, SECTOR = 64, 32
"""Bytes that a CPU moves at once, and a GPU."""
TURNS = 64
"""Iterations of a loop that are looked at."""
USUAL = 1000
"""What a size or a number of iterations is taken to be that only a call tells."""
ORIGIN = 1 << 10
"""Where indices are taken to begin: none that is counted down from there is negative."""

# ---- from addresses ---------------------------------------------------------------------------------------------


def transactions(addresses: Iterable[int], width: int, segment: int = SECTOR) -> int:
    """In how many segments of memory, of so many bytes each, these elements of `width` bytes lie."""
    return len({place for start in addresses for place in range(start // segment, (start + width - 1) // segment + 1)})


def memory_efficiency(groups: Iterable[Sequence[int]], width: int, segment: int = SECTOR) -> float:
    """The part of the moved bytes that is used, where each group of addresses, of a warp or half of one, is served
    together; 1.0 where nothing is moved."""
    used = moved = 0
    for addresses in groups:
        used += len({start + byte for start in addresses for byte in range(width)})
        moved += segment * transactions(addresses, width, segment)
    return used / moved if moved else 1.0


def transaction_efficiency(groups: Iterable[Sequence[int]], width: int, segment: int = SECTOR) -> float:
    """The least number of transactions that groups of addresses need, over how many they take: the paper's count of
    base addresses (figure 8), which asks for half a segment in one transaction as it asks for a whole one."""
    least = made = 0
    for addresses in groups:
        least += -(-len({start + byte for start in addresses for byte in range(width)}) // segment)
        made += transactions(addresses, width, segment)
    return least / made if made else 1.0


def activity_factor(active: Iterable[int], lanes: int = 32) -> float:
    """The part of the lanes that work, of how many do in each instruction that a warp issues; 1.0 where it issues
    none."""
    found = list(active)
    return sum(found) / (lanes * len(found)) if found else 1.0


# ---- from the text ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ElementPlaces:
    """Where the elements of an array of the kernel lie, of `element` bytes each.

    of: what it is reported as: the array, or the array of records that it is a field of. memory: what lies in one piece
    has one name. sizes: of its axes, the last one of an array of records, in another layout than it was given in,
    counting components. begin: where indices of its axes are taken to begin. tail: sizes of the axes of a field; first:
    its first component. record: bytes from one record to the next as they were given, else 0; offset: bytes from there
    to the field. columns: what the components of a plain array are, where it is laid out as records of these."""

    of: str
    memory: str
    element: int
    layout: DataLayout
    sizes: tuple[int, ...]
    begin: tuple[int, ...]
    is_field: bool = False
    tail: tuple[int, ...] = ()
    first: int = 0
    record: int = 0
    offset: int = 0
    columns: tuple[int, ...] = ()

    def address(self, index: Sequence[int]) -> int:
        """The byte of its memory where an element begins, with indices that begin where they may."""
        own = len(self.begin)
        at = [start + one for start, one in zip(self.begin, index, strict=False)]
        component = self.columns.index(index[own]) if self.columns else 0
        for place, size in zip(index[own:], self.tail, strict=False):
            component = component * size + place % size
        if self.record:
            place = DataLayout("aos").place(at, self.sizes)
            return place * self.record + self.offset + component * self.element
        if self.is_field:
            at.append(self.first + component)
        return self.layout.place(at, self.sizes) * self.element


@dataclass(frozen=True, slots=True)
class ArrayUse:
    """used, moved: bytes per pass of the loops that were asked about, in units that are the same for all arrays of one
    answer. by_data: part of what is moved that data decides about."""

    array: str
    used: float
    moved: float
    by_data: float = 0.0

    @property
    def efficiency(self) -> float:
        """The part of the moved bytes that is used."""
        return min(1.0, self.used / self.moved) if self.moved else 1.0


def array_uses(
    kernel: Kernel, inside: Body, places: Mapping[str, ElementPlaces], segment: int = LINE
) -> dict[str, ArrayUse]:
    """Of each array that a part of the kernel uses, and that has a place, by what it is part of, each time that the
    part runs. A line that is written is moved twice."""
    nodes = {id(node) for node in accesses(inside)}
    within = {loop.name for loop in statements(inside, For)}
    with LOCK:
        notes = traced(kernel)
        streams: dict[tuple[object, ...], list[_Stream]] = {}
        for access in notes.accesses:
            if id(access.node) in nodes and access.array in places:
                one = _stream(notes, access, places[access.array], within)
                streams.setdefault((one.place.of, one.loop, one.along, one.at), []).append(one)
    found: dict[str, ArrayUse] = {}
    for group in streams.values():
        used, moved = _moved(group, segment)
        one, times = group[0], max(each.times for each in group)
        before = found.get(one.place.of, ArrayUse(one.place.of, 0.0, 0.0))
        by_data = before.by_data + (times * moved if one.along is None else 0.0)
        found[one.place.of] = replace(
            before, used=before.used + times * used, moved=before.moved + times * moved, by_data=by_data
        )
    return found


@dataclass(frozen=True, slots=True)
class _Stream:
    """An access along the innermost loop in whose iterations it moves. along: by how much each index does, None where
    data decides; at: what else is in its indices; offsets: constants in them. times: iterations in a pass."""

    place: ElementPlaces
    loop: str
    along: tuple[int, ...] | None
    at: object
    offsets: tuple[int, ...]
    times: float
    is_write: bool


def _stream(notes: Trace, access: Access, place: ElementPlaces, within: Container[str]) -> _Stream:
    loops = [notes.loops[name] for name in access.stack if name in notes.loops and name in within]
    offsets = tuple(form.constant for form in access.index)
    at = tuple(tuple((symbol.number, count) for symbol, count in form.terms) for form in access.index)
    for depth in range(len(loops) - 1, -1, -1):
        rates = rates_along(notes, access, loops[depth])
        if not any(rates):
            continue
        times = prod(_turns(one) for one in loops[: depth + 1])
        along = None if any(isinstance(rate, str) for rate in rates) else tuple(r for r in rates if isinstance(r, int))
        return _Stream(place, loops[depth].loop.name, along, at, offsets, times, access.is_write)
    return _Stream(place, "", (0,) * len(offsets), at, offsets, 1.0, access.is_write)


def _turns(note: LoopNote) -> float:
    if note.step and note.lower.is_constant and note.upper.is_constant:
        return float(len(range(note.lower.constant, note.upper.constant, note.step)))
    return float(USUAL)


def _moved(group: Sequence[_Stream], segment: int) -> tuple[float, float]:
    """Bytes that accesses which go along together use in an iteration, and what is moved for them."""
    turns = 1 if group[0].along is None else TURNS
    bytes_used, lines = _Touched(), _Touched()
    for one in group:
        rates, place = one.along or (0,) * len(one.offsets), one.place
        its_bytes, its_lines = (found[place.memory, one.is_write] for found in (bytes_used, lines))
        for turn in range(turns):
            start = place.address([first + turn * rate for first, rate in zip(one.offsets, rates, strict=True)])
            last = start + place.element
            its_bytes.update(range(start, last))
            its_lines.update(range(start // segment, -(-last // segment)))
    return bytes_used.count() / turns, lines.count() * segment / turns


class _Touched(defaultdict[tuple[str, bool], set[int]]):
    """Numbers of bytes or lines, by the memory and whether they are written."""

    def __init__(self) -> None:
        super().__init__(set)

    def count(self) -> int:
        """How many there are, with those that are written twice."""
        written = sum(len(found) for (_, is_write), found in self.items() if is_write)
        return written + sum(len(self[one, False] | self[one, True]) for one in {one for one, _ in self})
