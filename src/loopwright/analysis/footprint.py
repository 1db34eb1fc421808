"""How many elements of each array a call touches, as polynomials in the sizes."""

from __future__ import annotations

from loopwright.analysis.bounds import prove
from loopwright.analysis.counts import LIMIT, Polynomial, counted
from loopwright.analysis.dependence import Elements
from loopwright.analysis.effort import LOCK, Effort, TooHard, together
from loopwright.analysis.sets import ordered
from loopwright.analysis.trace import Access, trace
from loopwright.ir.nodes import Kernel


@together()
def footprint(kernel: Kernel) -> dict[str, Polynomial | None]:
    """For each array the number of its elements that are read or written, where the Guard holds; None where that
    depends on data, or is no polynomial of the sizes (from size 8 on)."""
    with LOCK:
        notes = trace(kernel)
        proof = prove(kernel, notes)
        groups: dict[str, list[Access]] = {}
        for access in notes.accesses:
            groups.setdefault(access.array, []).append(access)
        elements = Elements(proof)
        return {array: _touched(elements, accesses) for array, accesses in groups.items()}


def _touched(elements: Elements, accesses: list[Access]) -> Polynomial | None:
    layout = elements.layout(accesses)
    for access in accesses:
        symbols = [s for formula in access.where for s in formula.symbols]
        for axis, radices in enumerate(layout):
            forms = elements.proof.digits[access.number, axis].digits if radices else (access.index[axis],)
            symbols += [s for form in forms for s in form.symbols]
        if not access.exact or any(s.loose or s.data for s in ordered(symbols)):
            return None
    try:
        with Effort(LIMIT).bounded():
            total = elements.whole_of(accesses[0], layout)
            for access in accesses[1:]:
                total = total.union(elements.whole_of(access, layout))
            total = total.coalesce()
    except TooHard:
        return None
    return counted(total, elements.proof.names, max(1, sum(len(radices or ()) + 1 for radices in layout)))
