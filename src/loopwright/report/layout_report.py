"""What `kernel.layouts` returns: of each array that an outermost loop uses, the fraction of the moved bytes that is
used as it lies and in other layouts, counted in some iterations of a call. Frozen values with a text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.analysis.efficiency import ArrayUse
from loopwright.ir.data_layout import DataLayout
from loopwright.ir.nodes import Body, For, Kernel, While
from loopwright.ir.queries import accesses_by_array
from loopwright.ir.user_text import user_name
from loopwright.steps.shadows import array_of, members_of, shadows_of
from loopwright.steps.step import Rejection
from loopwright.tuning.layout_sample import LayoutSample, layout_sample
from loopwright.tuning.path_inspection import on_host


@dataclass(frozen=True, slots=True)
class LayoutRow:
    """An array in a layout, '' as it lies. efficiency: the part of the moved bytes that is used; moved: bytes, over
    those that are moved as it lies."""

    array: str
    layout: str
    efficiency: float
    moved: float


@dataclass(frozen=True, slots=True)
class LoopLayouts:
    """Of one outermost loop. touches: elements that were counted."""

    loop: str
    line: int
    touches: int
    rows: tuple[LayoutRow, ...]

    def of(self, array: str) -> dict[str, LayoutRow]:
        """The rows of an array, by layout."""
        return {row.layout: row for row in self.rows if row.array == array}


@dataclass(frozen=True, slots=True)
class LayoutReport:
    """All loops of a call."""

    kernel: str
    loops: tuple[LoopLayouts, ...]

    def __str__(self) -> str:
        return "\n".join([f"{self.kernel}: the fraction of the moved bytes that is used", *self._lines()])

    def _lines(self) -> Iterator[str]:
        for loop in self.loops:
            yield f"  loop {user_name(loop.loop)} (line {loop.line}): {loop.touches} accesses counted"
            width = max((len(row.array) for row in loop.rows), default=0)
            for row in loop.rows:
                name = row.array if not row.layout else ""
                more = f", {row.moved:.2f} of the bytes" if row.layout else ""
                yield f"    {name:{width}}  {row.layout or 'as it is':12}  {100 * row.efficiency:3.0f} %{more}"


def layout_report(kernel: Kernel, arguments: tuple[object, ...], records: Mapping[int, int]) -> LayoutReport:
    """Of a call with these arguments, which stay as they are. kernel: as the user wrote it; records: bytes of a record,
    by argument."""
    arguments = tuple(on_host(value, copied=False) for value in arguments)
    found = []
    for stmt in kernel.body:
        if isinstance(stmt, For | While):
            sample = layout_sample(kernel, stmt.name, arguments, records)
            line = stmt.at.line if stmt.at is not None else 0
            rows = tuple(_rows(kernel, stmt.body, sample))
            found.append(LoopLayouts(stmt.name, line, sum(bool(one[0]) for one in sample.touches), rows))
    return LayoutReport(kernel.name, tuple(found))


def _rows(kernel: Kernel, inside: Body, sample: LayoutSample) -> Iterator[LayoutRow]:
    given = sample.uses()
    for array in dict.fromkeys(array_of(kernel, name) for name in accesses_by_array(inside)):
        if (use := given.get(array)) is None:
            continue
        yield _row(array, "", use, use)
        for layout in _others(kernel, inside, array):
            if (other := sample.uses({array: layout}).get(array)) is not None:
                yield _row(array, str(layout), other, use)


def _row(array: str, layout: str, use: ArrayUse, given: ArrayUse) -> LayoutRow:
    return LayoutRow(array, layout, use.efficiency, use.moved / given.moved if given.moved else 1.0)


def _others(kernel: Kernel, inside: Body, array: str) -> tuple[DataLayout, ...]:
    """The layouts that are worth a look."""
    members = members_of(kernel, array)
    if isinstance(members, Rejection):
        return ()
    records = (DataLayout("soa"), DataLayout("aos"), DataLayout("aosoa", (8,)))
    if members[0].name != array:
        return records
    if members[0].rank < 2:
        return ()
    shadows = shadows_of(kernel, array, inside, records[0])
    turned = DataLayout("order", tuple(reversed(range(members[0].rank))))
    is_record = not isinstance(shadows, Rejection) and shadows[0].is_record
    return (*records, turned) if is_record else (turned,)
