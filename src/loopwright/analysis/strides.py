"""How far each access moves in memory with every loop around it: what the choice of a loop order rests on. Quotients,
remainders and ends that indices are clamped to count as what they mostly are: `i // 2` moves by one at most, `i % n`
and `min(i, n - 1)` as `i` does."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from loopwright.analysis.affine import Affine, Symbol
from loopwright.analysis.effort import LOCK
from loopwright.analysis.trace import Access, LoopNote, Trace, traced
from loopwright.ir.nodes import ArrayParam, Kernel, Load, Stmt, Store

FAR = 1 << 40
"""A stride of a row or more: another cache line each time."""


@dataclass(frozen=True, slots=True)
class AccessStrides:
    """One access. `strides`: for each loop around it, elements between two neighbouring iterations of that loop alone:
    0, a small number, FAR, or None where it depends on data. `stmt`: the statement it stands in."""

    node: Load | Store
    stmt: Stmt
    strides: Mapping[str, int | None]

    @property
    def array(self) -> str:
        return self.node.array

    @property
    def is_write(self) -> bool:
        return isinstance(self.node, Store)

    @property
    def size_bytes(self) -> int:
        """Of the element."""
        return self.node.type.size_bytes if isinstance(self.node, Load) else self.node.value.type.size_bytes


def walks(kernel: Kernel) -> tuple[AccessStrides, ...]:
    """Every access of a kernel, in the order of the text."""
    with LOCK:
        notes = traced(kernel)
        arrays = {param.name: param for param in kernel.params if isinstance(param, ArrayParam)}
        origins = {symbol: key for key, symbol in notes.state.table.by_key.items() if symbol.role == "opaque"}
        return tuple(_walk(notes, access, arrays.get(access.array), origins) for access in notes.accesses)


Origins = Mapping[Symbol, Hashable]
"""What symbols that are no form of others were made from, by these."""


def _walk(notes: Trace, access: Access, param: ArrayParam | None, origins: Origins) -> AccessStrides:
    strides = {name: _stride(notes, access, param, name, origins) for name in access.stack if name in notes.loops}
    return AccessStrides(access.node, access.stmt, strides)


def _stride(notes: Trace, access: Access, param: ArrayParam | None, name: str, origins: Origins) -> int | None:
    note = notes.loops[name]
    layout = "C" if param is None else param.layout
    pairs = len(access.index) - 2 if param is not None and param.is_pairs else -1
    total = 0
    unit = {"C": len(access.index) - 1, "last": len(access.index) - 1, "F": 0, "first": 0}.get(layout, -1)
    for axis, index in enumerate(access.index):
        coefficient = _rate(index, note, origins)
        if coefficient is None:
            return None
        if coefficient:
            total += coefficient if axis == unit else 2 * coefficient if axis == pairs else FAR
    return total


def _rate(form: Affine, note: LoopNote, origins: Origins) -> int | None:
    """How far a form moves from one iteration of a loop to the next; None where that depends on data."""
    total = form.coefficient(note.symbol) * (note.step or 1)
    for symbol, times in form.terms:
        if symbol.role == "opaque" and symbol is not note.symbol and note.loop.name in symbol.birth:
            rate = _rate_of(origins.get(symbol), note, origins)
            if rate is None:
                return None
            total += times * rate
    return total


def _rate_of(origin: Hashable, note: LoopNote, origins: Origins) -> int | None:
    """The same of a symbol that was made so."""
    match origin:
        case ("floor", Affine() as form, int(divisor)):
            rate = _rate(form, note, origins)
            return rate if rate is None else _least_away(rate, divisor)
        case ("mod", Affine() as form, _):
            return _rate(form, note, origins)
        case ("min" | "max", Affine() as left, Affine() as right):
            a, b = _rate(left, note, origins), _rate(right, note, origins)
            return None if a is None or b is None else max(a, b, key=abs)
    return None


def _least_away(rate: int, divisor: int) -> int:
    """A rate divided, rounded away from zero."""
    return -(-rate // divisor) if rate > 0 else rate // divisor
