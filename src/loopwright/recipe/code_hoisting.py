"""Sums that iterations of a loop around them all compute alike: the norm of each vector, computed again for each pair
of vectors, or the mean of a template for each place where it is looked for. Each is computed once, before the nest
(loop-invariant code motion); what is left in the nest is often a product then."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.nodes import For
from loopwright.ir.queries import names_assigned
from loopwright.ir.user_text import user_name
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import trip_of
from loopwright.steps.forward import Forward
from loopwright.steps.hoist import Hoist, moved_out, path_to

FEW = 4
"""Iterations of a loop: what so few compute is not worth an array; nor is what so few compute again."""


def hoisted(partial: PartialSchedule) -> None:
    """Compute sums before the loops that do not change them."""
    before, tried = partial.kernel, set[Hoist]()
    while (step := next((one for one in _wanted(partial) if one not in tried), None)) is not None:
        tried |= {step, Hoist(step.scalar, step.loop, guarded=True)}
        why = f"'{user_name(step.scalar)}' is the same in many iterations of '{user_name(step.loop)}'"
        guarded = Hoist(step.scalar, step.loop, guarded=True)
        allowed = next((one for one in (step, guarded) if partial.allows(one)), None)
        if allowed is not None:
            partial.take(allowed, why, anew=True)
            read = Forward(step.scalar)
            if partial.allows(read):
                partial.take(
                    read, f"nothing but loops stands around what reads '{user_name(step.scalar)}' then", anew=True
                )
    if partial.kernel is not before:
        partial.begin_again()  # what was one nest is several


def _wanted(partial: PartialSchedule) -> Iterator[Hoist]:
    """Sums of innermost loops, and loops before which they can be computed, the outermost ones first."""
    for chain in partial.chains():
        for name in sorted(names_assigned(chain[-1].body)):
            for at in range(len(chain) - 1):
                path = path_to(chain[at], name)
                if path is not None and path == chain[at:][: len(path)]:
                    inner = chain[at + len(path) :]
                    if _is_worth_it(path, inner, name):
                        yield Hoist(name, chain[at].name)


def _is_worth_it(path: Chain, inner: Chain, name: str) -> bool:
    """Whether many iterations compute the same, and each of them for long. inner: the loops that do."""
    if not inner or all(map(_has_few, inner)):
        return False
    moved = moved_out(path, name)
    return any(loop.name not in moved.over and not _has_few(loop) for loop in path)


def _has_few(loop: For) -> bool:
    trip = trip_of(loop)
    return trip is not None and trip <= FEW
