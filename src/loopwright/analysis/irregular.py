"""How each access moves through its array: which axes are affine, which go through other arrays, and the stride."""

from __future__ import annotations

from loopwright.analysis.affine import Affine
from loopwright.analysis.facts import AccessFacts
from loopwright.analysis.trace import Access, Trace
from loopwright.analysis.wording import access_text
from loopwright.ir.nodes import ArrayParam, Kernel


def access_facts(kernel: Kernel, notes: Trace) -> tuple[AccessFacts, ...]:
    """One AccessFacts for each Load and Store, in the order of the text."""
    layouts = {param.name: param.layout for param in kernel.params if isinstance(param, ArrayParam)}
    return tuple(
        AccessFacts(
            access.array,
            access_text(access),
            access.is_write,
            tuple(pattern_of(index) for index in access.index),
            _stride(notes, access, layouts.get(access.array, "C")),
            access.node.at,
        )
        for access in notes.accesses
    )


def pattern_of(index: Affine) -> str:
    """'indirect' where the index comes from an array, 'data-dependent' where it rests on data otherwise."""
    if any(symbol.loads for symbol in index.symbols):
        return "indirect"
    return "data-dependent" if index.data else "affine"


def _stride(notes: Trace, access: Access, layout: str) -> str:
    """Elements between two iterations of the innermost loop; '' where that is not constant or not known."""
    note = notes.loops.get(access.stack[-1]) if access.stack else None
    if note is None or layout == "strided":
        return ""
    steps = []
    for index in access.index:
        if any(note.loop.name in s.birth and s is not note.symbol for s in index.symbols):
            return ""
        steps.append(index.coefficient(note.symbol) * (note.step or 1))
    if note.step == 0 and any(steps):
        return ""
    sizes = list(access.sizes)
    if layout in ("F", "first"):
        steps, sizes = steps[::-1], sizes[::-1]
    parts = [_part(step, sizes[axis + 1 :], access.array) for axis, step in enumerate(steps) if step]
    if layout in ("last", "first") and any(steps[:-1]):
        return ""
    return " + ".join(parts) or "0"


def _part(step: int, inner: list[Affine], array: str) -> str:
    """One axis's share: its step times the sizes of the axes inside it."""
    number, names = step, []
    for size in inner:
        if size.is_constant:
            number *= size.constant
        else:
            names.append("row" if len(inner) == 1 else "plane")
    if not names:
        return str(number)
    return names[0] if number == 1 else f"{number} * {names[0]}"
