"""How far each access moves in memory with every loop around it: what the choice of a loop order rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.analysis.effort import LOCK
from loopwright.analysis.trace import Access, Trace, traced
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


def walks(kernel: Kernel) -> tuple[AccessStrides, ...]:
    """Every access of a kernel, in the order of the text."""
    with LOCK:
        notes = traced(kernel)
        arrays = {param.name: param for param in kernel.params if isinstance(param, ArrayParam)}
        return tuple(_walk(notes, access, arrays.get(access.array)) for access in notes.accesses)


def _walk(notes: Trace, access: Access, param: ArrayParam | None) -> AccessStrides:
    strides = {name: _stride(notes, access, param, name) for name in access.stack if name in notes.loops}
    return AccessStrides(access.node, access.stmt, strides)


def _stride(notes: Trace, access: Access, param: ArrayParam | None, name: str) -> int | None:
    note = notes.loops[name]
    layout = "C" if param is None else param.layout
    pairs = len(access.index) - 2 if param is not None and param.is_pairs else -1
    total = 0
    unit = {"C": len(access.index) - 1, "last": len(access.index) - 1, "F": 0, "first": 0}.get(layout, -1)
    for axis, index in enumerate(access.index):
        if any(name in s.birth and s is not note.symbol and s.role == "opaque" for s in index.symbols):
            return None
        coefficient = index.coefficient(note.symbol) * (note.step or 1)
        if coefficient:
            total += coefficient if axis == unit else 2 * coefficient if axis == pairs else FAR
    return total
