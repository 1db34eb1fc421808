"""Which loops run in lanes of vector registers: innermost ones whose iterations need no order."""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import (
    NONE,
    Accesses,
    CodegenInput,
    LoopLowering,
    ParallelRegion,
    PartialResult,
    VectorLanes,
)
from loopwright.codegen.gathers import looks_up
from loopwright.codegen.loop_versions import is_short
from loopwright.codegen.parallel_regions import partials_of
from loopwright.codegen.reduce import simd_operator
from loopwright.ir.nodes import Allocate, For, While
from loopwright.ir.queries import arrays_stored, contains
from loopwright.ir.walk import statements


def fill_lanes(given: CodegenInput, lowering: LoopLowering) -> LoopLowering:
    """Lanes for loops that cannot fail in the middle, and whose partial results lanes can keep apart."""
    found: dict[str, VectorLanes] = {}
    for loop in statements(given.kernel.body, For):
        test, region = lowering.versions.get(loop.name), lowering.regions.get(loop.name)
        freed = NONE if test is None else test.inside
        ahead = lowering.inspections.get(loop.name)
        unchecked = freed if ahead is None else freed | ahead.inside
        if (loop.run == "vector" or region is not None) and _are_possible(loop, given, unchecked):
            lanes = _of_vector(loop, given, freed) if region is None else _of_stretch(loop, region, given)
            same_bits = given.strict or given.deterministic or contains(loop.body, For)
            found |= {} if lanes is None else {loop.name: replace(lanes, vector_functions=not same_bits)}
    looked_up = frozenset(
        name for name in found if not contains(given.loops[name].body, For) and looks_up(given.loops[name])
    )
    return replace(lowering, lanes={n: lanes for n, lanes in found.items() if n not in looked_up}, looked_up=looked_up)


def _are_possible(loop: For, given: CodegenInput, freed: Accesses) -> bool:
    # A local array that each iteration has for itself is one piece of memory for all lanes.
    own = given.facts.loops[loop.name].private
    shared = contains(loop.body, Allocate) or not arrays_stored(loop.body).isdisjoint(own)
    return not (shared or contains(loop.body, While) or given.may_fail(loop.body, freed))


def _of_vector(loop: For, given: CodegenInput, freed: Accesses) -> VectorLanes | None:
    if not given.facts.loops[loop.name].reductions:
        return VectorLanes()
    partials = partials_of(loop, given, freed)
    return None if partials is None or is_short(loop) else _with_sums(loop, partials, given)


def _of_stretch(loop: For, region: ParallelRegion, given: CodegenInput) -> VectorLanes | None:
    """Those of a loop whose iterations threads share, if it is an innermost one."""
    facts = given.facts.loops[loop.name]
    if contains(loop.body, For):
        return None
    if not facts.reductions:
        return VectorLanes() if facts.verdict == "parallel" and not facts.alike else None
    inexact = any(not partial.reduction.exact or partial.scalar.is_float for partial in region.partials)
    if len(region.partials) != len(facts.reductions) or (given.strict and inexact):
        return None
    return _with_sums(loop, region.partials, given)


def _with_sums(loop: For, partials: tuple[PartialResult, ...], given: CodegenInput) -> VectorLanes | None:
    """None where OpenMP has no operator for one of them."""
    if any(simd_operator(partial.reduction, partial.scalar) is None for partial in partials):
        return None
    facts = given.facts.loops[loop.name]
    private = tuple(name for name in facts.private if name in given.scalars and name not in facts.last)
    return VectorLanes(partials, private, tuple(name for name in facts.last if name in given.scalars))
