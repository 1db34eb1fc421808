"""The least that a part of a kernel has to move between memory and whatever runs it: each element that it reads before
it writes it, once, and each element that it writes, once. As polynomials in the sizes, in bytes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from loopwright.analysis import isl
from loopwright.analysis.bounds import prove
from loopwright.analysis.counts import LIMIT, SMALLEST, Polynomial, counted
from loopwright.analysis.dependence import Elements
from loopwright.analysis.effort import LOCK, Effort, TooHard, together
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.sets import minus, only, ordered
from loopwright.analysis.trace import Access, Trace, trace
from loopwright.ir.nodes import Kernel, Load


@dataclass(frozen=True, slots=True)
class Traffic:
    """parts: polynomials whose sum is the least number of bytes. unknown: arrays that are not in it, because data
    decides which elements are touched. repeated: the loops around for each of whose iterations that much is moved
    again; where there are none, it is for all of them together."""

    parts: tuple[Polynomial, ...]
    unknown: tuple[str, ...]
    repeated: tuple[str, ...]

    def value(self, sizes: Mapping[str, int]) -> int | None:
        """Bytes, given what people call the sizes; None where one is missing, or so small that the polynomials need not
        hold."""
        used = {name for part in self.parts for name in part.names}
        if any(name not in sizes or sizes[name] < SMALLEST for name in used):
            return None
        return int(sum((part.value([sizes[name] for name in part.names]) for part in self.parts), Fraction(0)))


class _Varies(Exception):
    """Which elements are touched is not the same in all iterations of the loops around."""


@together()
def traffic(kernel: Kernel, keys: Collection[object], around: Collection[str] = ()) -> Traffic:
    """Of the accesses with these keys, in a kernel as it was written. around: loops outside, whose every iteration is
    a run of its own."""
    with LOCK:
        notes = trace(kernel)
        chosen = [access for access in notes.accesses if access.node.key in keys]
        inside = {name for access in chosen for name in access.stack}
        own = _CountedAccesses(kernel, notes, chosen, {})
        if around and all(name in notes.loops and name in inside for name in around):
            outer = {notes.loops[name].symbol.name: name for name in around}
            try:
                return replace(own, outer=outer).traffic()
            except _Varies:
                pass
        return own.traffic()


@dataclass(frozen=True, slots=True)
class _CountedAccesses:
    """The accesses to be counted. outer: symbols of loops around, by their names, of which one iteration counts."""

    kernel: Kernel
    notes: Trace
    chosen: list[Access]
    outer: dict[str, str]

    def traffic(self) -> Traffic:
        """Raises _Varies."""
        given = {param.name: param.element for param in self.kernel.arrays}
        given |= {result.name: result.element for result in self.kernel.results}
        groups: dict[str, list[Access]] = {}
        for access in self.chosen:
            if access.array in given:  # others may be kept in registers, or never be there at all
                groups.setdefault(access.array, []).append(access)
        elements = Elements(prove(self.kernel, self.notes))
        parts: list[Polynomial] = []
        unknown: list[str] = []
        for array, accesses in groups.items():
            found = self._moved(elements, accesses)
            if found is None:
                unknown.append(array)
            else:
                parts += [_scaled(one, given[array].size_bytes) for one in found if one.terms]
        return Traffic(tuple(parts), tuple(unknown), tuple(self.outer.values()))

    def _moved(self, elements: Elements, accesses: list[Access]) -> list[Polynomial] | None:
        """How many elements of one array are written, and how many are read before."""
        layout = elements.layout(accesses)
        if not all(_countable(elements, access, layout) for access in accesses):
            return None
        names = parameter_texts(self.kernel)
        degree = max(1, sum(len(radices or ()) + 1 for radices in layout))
        try:
            with Effort(LIMIT).bounded():
                written = self._union([elements.whole_of(one, layout) for one in accesses if one.is_write], names)
                read = self._union([elements.whole_of(one, layout) for one in accesses if not one.is_write], names)
                if read is not None and written is not None and not _updates(accesses):
                    read = minus(read, written)
        except TooHard:
            return None
        counts = [counted(one.coalesce(), names, degree) for one in (written, read) if one is not None]
        return None if any(count is None for count in counts) else [count for count in counts if count is not None]

    def _union(self, sets: list[isl.Set], names: Mapping[str, str]) -> isl.Set | None:
        """All of them, over the parameters that have a name."""
        total: isl.Set | None = None
        for one in sets:
            one = only(one, (*names, *self.outer))
            total = one if total is None else total.union(one)
        if total is None:
            return None
        every = only(total, names)
        if self.outer and not total.is_equal(every.intersect_params(total.params())):
            raise _Varies
        return every


def _updates(accesses: list[Access]) -> bool:
    """Whether every write replaces an element that its own statement has read: then all that is read is read first."""
    loads = [access for access in accesses if isinstance(access.node, Load)]
    return all(
        any(load.stmt is write.stmt and load.index == write.index and load.exact for load in loads)
        for write in accesses
        if write.is_write
    )


def _countable(elements: Elements, access: Access, layout: tuple[object, ...]) -> bool:
    symbols = [s for formula in access.where for s in formula.symbols]
    for axis, radices in enumerate(layout):
        forms = elements.proof.digits[access.number, axis].digits if radices else (access.index[axis],)
        symbols += [s for form in forms for s in form.symbols]
    return access.exact and not any(s.loose or s.data for s in ordered(symbols))


def _scaled(polynomial: Polynomial, factor: int) -> Polynomial:
    return Polynomial(polynomial.names, {powers: factor * c for powers, c in polynomial.terms.items()})
