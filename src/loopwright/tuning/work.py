"""What a kernel has to do, from its analysis: the `WorkForm` that predictions are made with."""

from __future__ import annotations

from collections.abc import Mapping

from loopwright.analysis.counts import Polynomial, trip_counts
from loopwright.analysis.facts import Facts
from loopwright.analysis.footprint import footprint
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.row_pointers import pointer_arrays
from loopwright.ir.nodes import For, Kernel, Stmt
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.ir.signature import ArrayArgument, ScalarArgument, Signature
from loopwright.ir.walk import loops, statements
from loopwright.profile.work_form import Term, WorkForm


def places_of(signature: Signature) -> dict[str, int]:
    """For sizes and integer arguments, named as analysis names them, the place in `Shape.sizes`."""
    found: dict[str, int] = {}
    for position, argument in enumerate(signature.arguments):
        if isinstance(argument, ArrayArgument):
            found |= {f"s{position}_{axis}": len(found) + axis for axis in range(argument.rank)}
        elif isinstance(argument, ScalarArgument) and argument.type.kind in ("int", "uint"):
            found[f"v{position}"] = len(found)
    return found


def work_form(kernel: Kernel, facts: Facts, signature: Signature) -> WorkForm:
    """Of a kernel as it was written. What depends on data is None."""
    places = places_of(signature)
    by_text = {text: places[name] for name, text in reversed(parameter_texts(kernel).items()) if name in places}
    counts = trip_counts(kernel)  # of `for` loops: how often a `while` loop runs is up to data
    innermost = [name for name, loop in loops(kernel).items() if not _inner(loop.body)]
    touched = footprint(kernel)
    stored = arrays_stored(kernel.body)
    loaded = arrays_loaded(kernel.body)
    sizes = {array.name: array.element.size_bytes for array in kernel.arrays}
    arrays = [name for name in touched if name in sizes]

    def terms(polynomials: list[tuple[Polynomial | None, int]]) -> tuple[Term, ...] | None:
        return _sum(polynomials, by_text)

    def bytes_of(names: set[str]) -> tuple[Term, ...] | None:
        return terms([(touched[name], sizes[name]) for name in arrays if name in names])

    return WorkForm(
        terms([(counts.get(name), 1) for name in innermost]),
        terms([(counts.get(name), 1) for name in _parallel(kernel, facts)]),
        bytes_of(set(arrays)),
        bytes_of(loaded),
        bytes_of(stored),
        row_pointers(kernel),
    )


def sequential_places(form: WorkForm, facts: Facts, signature: Signature) -> frozenset[int]:
    """The places in `Shape.sizes` of what decides how much each parallel iteration does, and not how many there are,
    with all that has to grow along, as the guard compares the two. None where these cannot be told from the others, and
    where accesses are checked one by one: nobody knows what has to grow along then."""
    if any(bounds.kind != "proven" for found in facts.bounds.values() for bounds in found):
        return frozenset()
    units, found = _places(form.units), _places(form.iterations)
    if not units:
        return frozenset()
    found -= units
    places = places_of(signature)
    compared = [names for condition in facts.guard.conditions for names in condition.compared]
    together = [{places[name] for name in names if name in places} for names in compared]
    count = -1
    while count < len(found):
        count = len(found)
        found |= {place for some in together if some & found for place in some}
    return frozenset() if found & units else frozenset(found)


def _places(terms: tuple[Term, ...] | None) -> set[int]:
    return {place for _, factors in terms or () for place, _ in factors}


def row_pointers(kernel: Kernel) -> tuple[int, ...]:
    """The positions of arguments that say where rows begin."""
    arrays = pointer_arrays(kernel)
    return tuple(array.argument for array in kernel.arrays if array.name in arrays)


def _inner(body: tuple[Stmt, ...]) -> list[For]:
    return list(statements(body, For))


def _parallel(kernel: Kernel, facts: Facts) -> list[str]:
    """For each outermost loop, the innermost one of the parallel loops that stand around one another from there on."""
    found: list[str] = []
    for stmt in kernel.body:
        chain = ""
        while isinstance(stmt, For) and stmt.name in facts.loops and facts.loops[stmt.name].verdict == "parallel":
            chain = stmt.name
            inner = [one for one in stmt.body if isinstance(one, For)]
            if len(inner) != 1:
                break
            stmt = inner[0]
        if chain:
            found.append(chain)
    return found


def _sum(polynomials: list[tuple[Polynomial | None, int]], by_text: Mapping[str, int]) -> tuple[Term, ...] | None:
    """All of them together, each so many times."""
    found: dict[tuple[tuple[int, int], ...], float] = {}
    for polynomial, times in polynomials:
        if polynomial is None or any(name not in by_text for name in polynomial.names):
            return None
        for powers, coefficient in polynomial.terms.items():
            factors = tuple((by_text[n], p) for n, p in zip(polynomial.names, powers, strict=True) if p)
            found[factors] = found.get(factors, 0.0) + times * float(coefficient)
    return tuple((coefficient, factors) for factors, coefficient in found.items() if coefficient)
