"""What a warp touches in memory with each access of a grid: how far apart neighbouring threads are, how many sectors of
global memory that is against the least that the bytes need, and how often a bank of shared memory is asked at once.

It looks at the first warp of a block, all of whose threads work, with arrays that begin at a sector. What data decides
it calls so. It knows nothing about caches: a sector that another warp needs too counts for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from loopwright.analysis.affine import Affine, combine
from loopwright.analysis.effort import LOCK
from loopwright.analysis.trace import Access, LoopNote, Trace, traced
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.linear import linear
from loopwright.ir.nodes import ArrayParam, Body, Expr, Kernel, Load, Location, Store, Var
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import Scalar
from loopwright.ir.walk import children, expressions, statements

FAR = 1 << 40
"""Bytes between elements whose distance is not known, but is a row of an array at least."""

Apart = int | Literal["data", "unknown"]
"""Bytes; or that an array decides; or that it is not the same for all threads."""


@dataclass(frozen=True, slots=True)
class KnownSizes:
    """What is known of a call. sizes: by the names of symbols (`s0_1`: axis 1 of argument 0; `v2`: argument 2).
    strides: bytes, by argument."""

    sizes: Mapping[str, int]
    strides: Mapping[int, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class WarpAccess:
    """One access. apart: bytes between neighbouring threads. bytes: what one thread touches at once, several elements
    where they lie side by side. threads: how many of the warp take part. sectors, least: of global memory, for the warp
    (0 where it is not known); conflicts: how many different words of one bank of shared memory are wanted at once, 1
    for none (0 where it is global memory, or not known)."""

    node: Load | Store
    memory: Literal["global", "shared"]
    apart: Apart
    bytes: int
    threads: int
    sectors: int
    least: int
    conflicts: int

    @property
    def at(self) -> Location | None:
        """Where the user wrote it."""
        return self.node.at


def warp_accesses(
    kernel: Kernel,
    inside: Body,
    block: tuple[int, int, int],
    shared: frozenset[str],
    own: frozenset[str],
    shape: KnownSizes,
    gpu: GpuTarget = CUDA,
) -> tuple[WarpAccess, ...]:
    """Every access of `inside`, the part of the kernel that is one grid, in the order of the text. block: threads along
    x, y and z; shared: arrays in shared memory; own: those of single threads, which are left out."""
    nodes = {id(node) for node in (*expressions(inside), *statements(inside)) if isinstance(node, Load | Store)}
    params = {param.name: param for param in kernel.arrays}
    with LOCK:
        notes = traced(kernel)
        result: list[WarpAccess] = []
        for access in notes.accesses:
            if id(access.node) in nodes and access.array not in own:
                element = _element(notes, access, params)
                strides = byte_strides(access, params.get(access.array), element, shape)
                memory: Literal["global", "shared"] = "shared" if access.array in shared else "global"
                result.append(_Warp(notes, access, block, strides, element.size_bytes, gpu).touched(memory))
        return tuple(result)


def _element(notes: Trace, access: Access, params: Mapping[str, ArrayParam]) -> Scalar:
    if access.array in params:
        return params[access.array].element
    return access.node.type if isinstance(access.node, Load) else access.node.value.type


def byte_strides(
    access: Access, param: ArrayParam | None, element: Scalar, shape: KnownSizes
) -> tuple[int | None, ...]:
    """Bytes from one element to the next along each axis of the array, None where only a call tells."""
    rank = len(access.sizes)
    layout = "C" if param is None else param.layout
    if param is not None and layout not in ("C", "F"):
        outer = rank - len(param.tail)
        given: tuple[int | None, ...] = shape.strides.get(param.argument, (None,) * outer)
        if len(given) != outer:
            given = (None,) * outer
        if not param.tail and outer:
            unit = {"last": outer - 1, "first": 0}.get(layout)
            given = tuple(element.size_bytes if axis == unit else one for axis, one in enumerate(given))
        return (*given, *(stride for _, stride in param.tail))
    result: list[int | None] = [None] * rank
    distance: int | None = element.size_bytes
    for axis in range(rank) if layout == "F" else reversed(range(rank)):
        result[axis] = distance
        size = number(access.sizes[axis], shape.sizes)
        distance = None if distance is None or size is None else distance * size
    return tuple(result)


def number(form: Affine, sizes: Mapping[str, int]) -> int | None:
    """The value of a form in a call; None where it has symbols whose value is not known."""
    if any(symbol.name not in sizes for symbol in form.symbols):
        return None
    return form.constant + sum(c * sizes[symbol.name] for symbol, c in form.terms)


@dataclass(frozen=True, slots=True)
class _Warp:
    """The first warp of a block, at one access."""

    notes: Trace
    access: Access
    block: tuple[int, int, int]
    strides: Sequence[int | None]
    element: int
    gpu: GpuTarget

    def touched(self, memory: Literal["global", "shared"]) -> WarpAccess:
        together = self._side_by_side() * self.element
        lanes = self._lanes()
        axes = [axis for axis in range(3) if len({lane[axis] for lane in lanes}) > 1]
        rates = {axis: self._rate(axis) for axis in axes}
        apart: Apart = next(iter(rates.values()), 0)
        unknown = next((rate for rate in rates.values() if isinstance(rate, str)), None)
        if unknown is not None:
            return WarpAccess(self.access.node, memory, unknown, together, len(lanes), 0, 0, 0)
        starts = [sum(rate * lane[axis] for axis, rate in rates.items() if isinstance(rate, int)) for lane in lanes]
        if memory == "shared":
            conflicts = _conflicts(starts, together, self.gpu)
            return WarpAccess(self.access.node, memory, apart, together, len(lanes), 0, 0, conflicts)
        sectors, least = _sectors(starts, together, self.element, self.gpu.sector)
        return WarpAccess(self.access.node, memory, apart, together, len(lanes), sectors, least, 0)

    def _lanes(self) -> list[tuple[int, int, int]]:
        """The coordinates of the threads that take part: along an axis that no loop shares out only the first does,
        except outside of all such loops, where every thread loads for itself."""
        x, y, z = self.block
        first = [(t % x, t // x % y, t // (x * y)) for t in range(min(self.gpu.warp, x * y * z))]
        loops = {"xyz".index(note.loop.run[-1]): note for note in self._thread_loops()}
        if not loops:
            return first if isinstance(self.access.node, Load) else first[:1]
        most = [self._sharing(loops[axis], size) if axis in loops else 1 for axis, size in enumerate(self.block)]
        return [lane for lane in first if all(place < limit for place, limit in zip(lane, most, strict=True))]

    def _sharing(self, note: LoopNote, size: int) -> int:
        """Among how many threads a loop is shared out."""
        if note.loop.threads:
            return note.loop.threads
        trip = _trip(note)
        return size if trip is None else min(size, trip)

    def _thread_loops(self) -> list[LoopNote]:
        around = (self.notes.loops.get(name) for name in self.access.stack)
        return [note for note in around if note is not None and note.loop.run.startswith("thread.")]

    def _rate(self, axis: int) -> Apart:
        """Bytes from one thread to the next along an axis."""
        note = next((one for one in self._thread_loops() if one.loop.run[-1] == "xyz"[axis]), None)
        return 0 if note is None else self._along(note)

    def _along(self, note: LoopNote) -> Apart:
        """Bytes from one iteration of a loop to the next."""
        total = 0
        for rate, stride in zip(rates_along(self.notes, self.access, note), self.strides, strict=True):
            if isinstance(rate, str):
                return rate
            if rate:
                total += rate * (FAR if stride is None else stride)
        return total

    def _side_by_side(self) -> int:
        """How many elements a thread touches that lie side by side and fit into one load: by a loop inside that is
        written out."""
        for name in reversed(self.access.stack):
            note = self.notes.loops.get(name)
            if note is None or note.loop.run not in ("sequential", "vector"):
                break
            trip = _trip(note)
            if trip is None or not 1 < trip <= 16:
                break
            along = self._along(note)
            if isinstance(along, int) and abs(along) == self.element:
                return max(
                    count for count in (4, 2, 1) if trip % count == 0 and count * self.element <= self.gpu.widest
                )
            if along != 0:
                break
        return 1


def rates_along(notes: Trace, access: Access, note: LoopNote) -> tuple[Apart, ...]:
    """How much each index of an access grows from one iteration of a loop to the next."""
    found: list[Apart] = []
    for expr, index in zip(access.node.index, access.index, strict=True):
        rate = _rate_of(notes, index, note)
        found.append(_rate_in(notes, expr, note) if isinstance(rate, str) else rate)
    return tuple(found)


def _trip(note: LoopNote) -> int | None:
    """The iterations of a loop where their number is constant."""
    distance = combine(note.upper, note.lower, -1)
    return len(range(0, distance.constant, note.step)) if distance.is_constant and note.step else None


def _rate_of(notes: Trace, form: Affine, of: LoopNote) -> Apart:
    """How much a form grows from one iteration of a loop to the next, while loops inside it stand at the same turn."""
    total = 0
    for symbol, c in form.terms:
        if symbol is of.symbol:
            total += c * of.step
        elif symbol.role == "loop" and of.loop.name in symbol.birth[:-1]:
            inner = notes.loops[symbol.birth[-1]]
            rate = _rate_of(notes, inner.lower, of)
            if isinstance(rate, str):
                rate = _rate_in(notes, inner.loop.lower, of)
            if isinstance(rate, str):
                return rate
            total += c * rate
        elif symbol.role == "opaque" and of.loop.name in symbol.birth:
            return "data" if symbol.data else "unknown"
    return total


def _rate_in(notes: Trace, expr: Expr, of: LoopNote) -> Apart:
    """The same of an expression that has no form, such as the sum of a loaded value and a loop's variable."""
    total = 0
    for term, count in linear(expr, converted=True).terms:
        rate = _rate_of_term(notes, term, of)
        if isinstance(rate, str):
            return rate
        total += count * rate
    return total


def _rate_of_term(notes: Trace, term: Expr, of: LoopNote) -> Apart:
    if isinstance(term, Var):
        if term.name == of.loop.name:
            return of.step
        if term.name in notes.loops:
            inner = notes.loops[term.name]
            return _rate_in(notes, inner.loop.lower, of) if of.loop.name in inner.stack else 0
        return "unknown" if term.name in names_assigned(of.loop.body) else 0
    rates = [_rate_in(notes, operand, of) for operand in children(term)]
    if not any(rates):
        return 0
    return "data" if isinstance(term, Load) else next((rate for rate in rates if isinstance(rate, str)), "unknown")


def _sectors(starts: Sequence[int], width: int, element: int, sector: int) -> tuple[int, int]:
    """Sectors of memory, and the least number that could hold as many different bytes."""
    origin = min(starts)
    touched = {(start - origin + byte) // sector for start in starts for byte in range(0, width, element)}
    different = {start + byte for start in starts for byte in range(0, width, element)}
    return len(touched), -(-len(different) * element // sector)


def _conflicts(starts: Sequence[int], width: int, gpu: GpuTarget) -> int:
    """How many different words of one bank are wanted at once: by a whole warp, by half of it for 8 bytes a thread, by
    a quarter for 16."""
    bank = gpu.bank_bytes
    at_once = gpu.warp * bank // max(bank, width)
    worst = 1
    for first in range(0, len(starts), at_once):
        wanted: dict[int, set[int]] = {}
        for start in starts[first : first + at_once]:
            for word in range(start // bank, (start + width - 1) // bank + 1):
                wanted.setdefault(word % gpu.banks, set()).add(word)
        worst = max(worst, *(len(words) for words in wanted.values()))
    return worst
