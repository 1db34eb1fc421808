"""What a proof of bounds is made of: conditions on sizes and scalar arguments, adopted one by one into the guard.

A condition is adopted where it leaves the loops around its place room to run; values that are not known before the
call never enter one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula
from loopwright.analysis.condition_text import as_text
from loopwright.analysis.effort import Effort, remember, remembered
from loopwright.analysis.facts import Bounds, Condition
from loopwright.analysis.sets import build, has_divisions, only, ordered, outside_of, parsed, question, renamed, simpler
from loopwright.analysis.trace import LoopNote, Trace

ROOM = 4
"""A guard must let every loop have this many iterations, or its accesses are checked in the code instead."""

MOST_CHOICES = 16
"""Of so many conditions, each of which would do, one is looked for that leaves the loops room."""

MOST_PIECES = 4
"""A guard that is a choice of more than this many conditions is not worth its time and its text."""


@dataclass(frozen=True, slots=True)
class Digits:
    """An index as a number of several digits: ((d0 * r1 + d1) * r2 + d2), each digit but the first within its radix,
    and the first not negative: different digits are different elements. slope: where there are two digits, by how much
    each row is longer than the one before, as those of a triangle are: d0 * r1 + slope * d0 * (d0 - 1) / 2 + d1, and d1
    is within r1 + slope * d0."""

    digits: tuple[Affine, ...]
    radices: tuple[Affine, ...]
    slope: int = 0


@dataclass(slots=True)
class Proof:
    """Bounds found so far. `allowed`: the parameter values for which every proven access is within bounds; `products`:
    further conditions, in C and in words, that isl cannot hold. `relied`: the outermost loops (None: no loop) of the
    places that rely on them. `digits`: by the number of an access and the axis. `wanted`: the parameters that decide
    whether a certain access is out of bounds. `on_data`: some condition rests on what values data may
    have. `given`: the calls that the guard of the kernel lets pass which this one was made of by steps."""

    notes: Trace
    names: Mapping[str, str]
    given: isl.Set | None = None
    allowed: isl.Set = field(default_factory=lambda: isl.Set("{ : }"))
    products: dict[Condition, str] = field(default_factory=dict)
    bounds: dict[int, tuple[Bounds, ...]] = field(default_factory=dict)
    digits: dict[tuple[int, int], Digits] = field(default_factory=dict)
    known: dict[object, Bounds] = field(default_factory=dict)
    rooms: dict[tuple[str, ...], isl.Set] = field(default_factory=dict)
    effort: Effort = field(default_factory=Effort)
    relied: set[str | None] = field(default_factory=set)
    wanted: set[str] = field(default_factory=set)
    on_data: bool = False


def context_of(notes: Trace) -> isl.Set:
    """What is always true of the parameters: sizes are never negative, scalars are within their types."""
    symbols = tuple(s for s in notes.state.table.symbols if s.role in ("size", "scalar"))
    return build((Formula("true", symbols),))


def _conditions(
    proof: Proof, where: tuple[Formula, ...], outside: Sequence[Formula], reached: tuple[Formula, ...]
) -> list[isl.Set]:
    """For each way to be outside, the condition that it never happens: in the simplest form that says the same
    wherever `reached` holds, or a stronger one where that is not simple."""
    context = context_of(proof.notes)
    key = ("conditions", id(context), question(where, outside, reached))
    known: tuple[isl.Set, list[isl.Set]] | None = remembered(key)
    if known is None:
        known = context, _conditions_within(context, where, outside, reached)  # which keeps its identity its own
        remember(key, known)
    return known[1]


def _conditions_within(
    context: isl.Set, where: tuple[Formula, ...], outside: Sequence[Formula], reached: tuple[Formula, ...]
) -> list[isl.Set]:
    found: list[isl.Set] = []
    happens = None
    for formula in outside:
        violation = guardable((*where, formula))
        if violation.is_empty():
            continue
        if happens is None:
            happens = guardable(reached).intersect(context)
        simple = simpler(violation, happens).coalesce()
        if simple.n_basic_set() > MOST_PIECES or has_divisions(simple):
            rough = violation.remove_divs().unshifted_simple_hull().to_set().gist(happens.remove_divs())
            condition = _never(rough, context)
            # To be outside for odd sizes only is no reason to ask for size 0.
            if condition.intersect(_ample(condition)).is_empty() and simple.n_basic_set() <= MOST_PIECES:
                condition = _never(simple, context)
            found.append(condition)
        else:
            found.append(_never(simple, context))
    return found


def _never(violation: isl.Set, context: isl.Set) -> isl.Set:
    return simpler(outside_of(violation), context).coalesce().drop_unused_params()


def _by_loops(proof: Proof, stack: tuple[str, ...], where: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """What holds at a place in every call that reaches the loops around it. Conditions of branches that the sizes
    decide are no part of it: a version for one size must not ask for that size."""
    sizes = _of_sizes(proof, stack, where)
    return tuple(formula for formula in where if formula not in sizes)


def _of_sizes(proof: Proof, stack: tuple[str, ...], where: tuple[Formula, ...]) -> list[Formula]:
    """Conditions of the branches around a place that the sizes decide."""
    loops = [formula for name in stack if name in proof.notes.loops for formula in proof.notes.loops[name].domain]
    return [f for f in where if f not in loops and all(s.role in ("size", "scalar") for s in f.symbols)]


def adopt(
    proof: Proof,
    stack: tuple[str, ...],
    where: tuple[Formula, ...],
    outside: Sequence[Formula],
    hopeless: bool = False,
    on_data: bool = False,
) -> str | None:
    """Make it part of the guard that a place is never outside, and say so in words; None where that would leave the
    loops no room. `hopeless`: being outside is an error in any case, so that room does not matter. `on_data`: where the
    place is depends on data."""
    if hopeless:
        context = context_of(proof.notes)
        conditions = [simpler(outside_of(guardable((*where, formula))), context).coalesce() for formula in outside]
    else:
        # Versions for one size must not ask for that size in every call; but where that takes too many words, they do.
        reached = dict.fromkeys((_by_loops(proof, stack, where), where))
        for known in reached:
            conditions = _conditions(proof, where, outside, known)
            if not conditions or proof.allowed.intersect(_all(conditions)).coalesce().n_basic_set() <= MOST_PIECES:
                break
    if not conditions or _is_given(proof, where, conditions):
        return ""
    if proof.notes.state.guard == "none" or (on_data and proof.notes.state.guard == "sizes"):
        return None
    condition = _all(conditions)
    room = context_of(proof.notes) if hopeless else room_of(proof, stack)
    parts = [part.to_set() for part in condition.get_basic_sets()]
    likely = [part for part in parts if not part.intersect(_ample(part)).is_empty()]
    usual = [_any(likely)] if 0 < len(likely) < len(parts) else []
    scarce, here = None, guardable(_of_sizes(proof, stack, where))
    for choice in islice((condition, *usual, *parts), MOST_CHOICES):
        if choice.intersect(_usual(choice)).is_empty():  # an index of type uint32 is always below 2**32: what a guard!
            continue
        if not hopeless and choice.intersect(_inhabited(proof, choice)).is_empty():  # it would fail in every call
            continue
        if on_data and choice.intersect(here).is_empty():  # calls for another version, and never for this one
            continue
        allowed = proof.allowed.intersect(choice).coalesce()
        if allowed.n_basic_set() <= MOST_PIECES and not allowed.intersect(room).is_empty():
            if not allowed.intersect(_ample(allowed)).is_empty():
                proof.on_data |= on_data
                return _adopted(proof, stack, choice, allowed)
            # Arrays of a negative size are empty, and nothing is outside of them: most calls are not like that. Where
            # the steps of a loop are not known, it reaches fewer elements than its bounds say; where a place is made of
            # values that the analysis does not know, such as products, the condition asks for too much.
            is_exact = all(symbol.role != "opaque" for formula in outside for symbol in formula.symbols)
            if is_exact and all(proof.notes.loops[name].step for name in stack if name in proof.notes.loops):
                scarce = scarce or (choice, allowed)
    if scarce is None:
        return None
    proof.on_data |= on_data
    return _adopted(proof, stack, *scarce)


def _is_given(proof: Proof, where: tuple[Formula, ...], conditions: Sequence[isl.Set]) -> bool:
    """Whether calls that reach a place are known to meet conditions."""
    if proof.given is None:
        return False
    here = proof.given.intersect(guardable(where))
    return all(here.is_subset(condition) for condition in conditions)


def _any(conditions: Sequence[isl.Set]) -> isl.Set:
    found = conditions[0]
    for other in conditions[1:]:
        found = found.union(other)
    return found.coalesce()


def _adopted(proof: Proof, stack: tuple[str, ...], choice: isl.Set, allowed: isl.Set) -> str:
    if has_divisions(allowed):
        as_text(allowed, proof.names)  # where it is too hard to write down, that has to show here
    proof.allowed = allowed
    proof.relied.add(stack[0] if stack else None)
    return as_text(choice, proof.names)


def _ample(among: isl.Set) -> isl.Set:
    """All sizes and whole arguments are as large as the loops' room."""
    names = tuple(among.get_var_names(isl.dim_type.param))
    return parsed(" and ".join(f"{name} >= {ROOM}" for name in names) or "true", names)


def _usual(among: isl.Set) -> isl.Set:
    """No array has about 2**31 elements along an axis, or more."""
    names = tuple(among.get_var_names(isl.dim_type.param))
    return parsed(" and ".join(f"{name} < {(1 << 31) - (1 << 10)}" for name in names) or "true", names)


def _inhabited(proof: Proof, among: isl.Set) -> isl.Set:
    """No array has an axis of size 0."""
    sizes = {s.name for s in proof.notes.state.table.symbols if s.role == "size"}
    names = tuple(among.get_var_names(isl.dim_type.param))
    return parsed(" and ".join(f"{name} >= 1" for name in names if name in sizes) or "true", names)


def _all(conditions: Sequence[isl.Set]) -> isl.Set:
    total = conditions[0]
    for other in conditions[1:]:
        total = total.intersect(other)
    return total


def guardable(formulas: Sequence[Formula]) -> isl.Set:
    """The sizes and scalar arguments for which the formulas can hold at once."""
    symbols = ordered(symbol for formula in formulas for symbol in formula.symbols)
    return only(build(formulas), [s.name for s in symbols if s.role in ("size", "scalar")])


def room_of(proof: Proof, stack: tuple[str, ...]) -> isl.Set:
    """The parameters for which every loop around a place has ROOM iterations (fewer where it never can)."""
    if stack in proof.rooms:
        return proof.rooms[stack]
    if not stack:
        return context_of(proof.notes)
    result = room_of(proof, stack[:-1])
    if stack[-1] in proof.notes.loops:
        around = [proof.notes.loops[name] for name in stack if name in proof.notes.loops]
        domain = [formula for loop in around for formula in loop.domain]
        note = around[-1]
        key = ("room", id(result), note.symbol.name, abs(note.step), question(domain))
        known: tuple[isl.Set, isl.Set] | None = remembered(key)
        if known is None:
            known = result, _room_in(result, note, domain)  # which keeps its identity its own
            remember(key, known)
        result = known[1]
    proof.rooms[stack] = result
    return result


def _room_in(outer: isl.Set, note: LoopNote, domain: Sequence[Formula]) -> isl.Set:
    """Room for a loop too, where there is room for those around it; `domain`: what holds of all of them."""
    x = note.symbol.name
    fixed = [s.name for s in ordered(s for f in domain for s in f.symbols) if s.role in ("size", "scalar")]
    one = only(build(domain), [*fixed, x])
    far = isl.Set(f"[{x}, far] -> {{ : far >= {x} + {(ROOM - 1) * max(1, abs(note.step))} }}")
    both = outer.intersect(only(one.intersect(renamed(one, x, "far")).intersect(far), fixed))
    return outer if both.is_empty() else both
