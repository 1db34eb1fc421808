"""Sums that iterations of a loop around them all compute alike: the norm of each vector, computed again for each pair
of vectors, or the mean of a template for each place where it is looked for; and dear functions, as the sine of each
angle for each pixel. Each is computed once, before the nest (loop-invariant code motion); what is left in the nest is
often a product then."""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.ir.dear_invariants import is_dear
from loopwright.ir.nodes import Assign, For
from loopwright.ir.queries import names_assigned, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import subexpressions
from loopwright.recipe.partial_schedule import Chain, PartialSchedule
from loopwright.steps.extent import trip_of
from loopwright.steps.forward import Forward
from loopwright.steps.hoist import Hoist, moved_out, path_to

FEW = 4
"""Iterations of a loop: what so few compute is not worth an array; nor is what so few compute again."""


def hoisted(partial: PartialSchedule, on_gpu: bool = False) -> None:
    """Compute sums and dear functions before the loops that do not change them."""
    before, tried = partial.kernel, set[Hoist]()
    while (step := next((one for one in _wanted(partial, on_gpu) if one not in tried), None)) is not None:
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


def _wanted(partial: PartialSchedule, on_gpu: bool) -> Iterator[Hoist]:
    """Sums of innermost loops and dear functions, and loops before which they can be computed, the outermost ones
    first. Where each thread of a GPU has one element of memory, functions are hidden behind that."""
    for chain in partial.chains():
        for name in sorted(names_assigned(chain[-1].body)):
            for at in range(len(chain) - 1):
                path = path_to(chain[at], name)
                if path is not None and path == chain[at:][: len(path)]:
                    inner = chain[at + len(path) :]
                    counts = not inner and not (on_gpu and partial.verdict(chain[-1]) == "parallel")
                    if _is_worth_it(path, inner, name, counts):
                        yield Hoist(name, chain[at].name)


def _is_worth_it(path: Chain, inner: Chain, name: str, dear_counts: bool) -> bool:
    """Whether many iterations compute the same, and each of them for long. inner: the loops that do;
    dear_counts: whether a dear function is worth it without any."""
    if all(map(_has_few, inner)) and not (dear_counts and _sets_dear(path[-1], name)):
        return False
    moved = moved_out(path, name)
    return any(loop.name not in moved.over and not _has_few(loop) for loop in path)


def _sets_dear(loop: For, name: str) -> bool:
    """Whether a loop sets a scalar to what takes long to compute, and differs in each of its iterations."""
    values = [stmt.value for stmt in loop.body if isinstance(stmt, Assign) and stmt.name == name]
    is_its = len(values) == 1 and loop.name in names_in(values[0])
    return is_its and any(is_dear(part) for part in subexpressions(values[0]))


def _has_few(loop: For) -> bool:
    trip = trip_of(loop)
    return trip is not None and trip <= FEW
