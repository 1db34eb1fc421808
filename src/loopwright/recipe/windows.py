"""Windows: loops that go over the same number of neighbours of each iteration of a loop around them, such as the pixels
around a pixel. Counted from 0, what lies in the window of the next iteration is one element further, and all that knows
sums, products and short loops finds them there. Where such a window gives several results, or asks conditions, the
iterations of a stretch go through it side by side: each neighbour for all of them, before the next one (outer-loop
vectorisation; Nuzman and Zaks 2008)."""

from __future__ import annotations

from collections.abc import Iterable

from loopwright.ir.linear import linear, minus, number, variable
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Binary,
    Block,
    Break,
    Checked,
    Continue,
    For,
    If,
    Leave,
    Load,
    Return,
    Store,
    While,
)
from loopwright.ir.queries import arrays_loaded, contains, has, names_in
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.distribution import isolate
from loopwright.recipe.partial_schedule import Chain, NotTaken, PartialSchedule
from loopwright.recipe.scalar_expansion import handed_on
from loopwright.recipe.shape import short_loops
from loopwright.recipe.tunable import Tunable
from loopwright.steps.expand import Expand
from loopwright.steps.extent import operands, trip_of
from loopwright.steps.guard import Guard, distributed
from loopwright.steps.normalize import Normalize
from loopwright.steps.reorder import Reorder
from loopwright.steps.skew import Skew
from loopwright.steps.split import Split

NEIGHBOURS = Tunable(
    "windows side by side",
    64,
    (0, 32, 64, 128, 256),
    "iterations that go through a window together: some vector registers, whose results stay in the first cache",
)

MOST_RESULTS = 6
"""Scalars that a window gives, with an element for each iteration: all are loaded and stored for each neighbour."""

NOT_PLAIN = (Allocate, Block, Break, Continue, Leave, Return, While)

LEAST_MASKED = 4
"""Bytes of an element that a vector can leave out, with AVX2 as well."""

WIDEST = 64
"""Iterations of a window's innermost loop, where one knows: a longer one fills vector registers by itself."""


def counted_from_zero(partial: PartialSchedule) -> None:
    """Count the iterations of windows from 0, where a loop around them needs no order."""
    before = partial.kernel
    for name, loop in list(loops(partial.kernel).items()):
        if not isinstance(loop, For) or not _is_free(partial, loop):
            continue
        for one in list(_windows(loop)):
            with partial.together():
                why = f"the window of '{user_name(one)}' is the same for each '{user_name(name)}'"
                partial.take(Normalize(one), why)
    if partial.kernel is not before:
        partial.begin_again()  # what is proven of the loops that have come in their place


def _windows(loop: For) -> Iterable[str]:
    """The loops in another one that begin where it is, and go equally far from there."""
    for one in statements(loop.body, For):
        bounds = (one.lower, one.upper)
        if any(has(bound, Load, Checked) for bound in bounds) or not all(loop.name in names_in(b) for b in bounds):
            continue
        if loop.name not in names_in(linear(Binary("sub", one.upper, one.lower)).expr):
            yield one.name


def _is_free(partial: PartialSchedule, loop: For) -> bool:
    return partial.verdict(loop) in ("parallel", "reduction")


def windows_side_by_side(partial: PartialSchedule, extremes: bool = False) -> None:
    """Let stretches of iterations go through their windows together. extremes: only through those that keep the least
    or the greatest: in blocks of registers they gain little with AVX-512, and lose with AVX2."""
    for chain in partial.chains():
        if any(loop.name in partial.few for loop in chain) or (extremes and not _keeps_extremes(chain[-1])):
            continue
        if len(chain) > 1 and (clamped := _clamped(partial, chain)) is not None:
            with partial.together(), partial.in_nest(chain):
                _side_by_side(partial, clamped.name, _without_ends(partial, clamped, chain[-1]))
            continue
        around = next((loop for loop in reversed(chain[:-1]) if _gains(partial, chain, loop)), None)
        if around is not None:
            with partial.together(), partial.in_nest(chain):
                _side_by_side(partial, around.name, chain[-1].name)


def _keeps_extremes(loop: For) -> bool:
    return all(
        isinstance(stmt, Assign) and isinstance(stmt.value, Binary) and stmt.value.op in ("min", "max")
        for stmt in loop.body
    )


def _clamped(partial: PartialSchedule, chain: Chain) -> For | None:
    """The loop around an innermost one that is its window but for the ends of what there is, as in
    `range(max(0, x - r), min(n, x + r + 1))`."""
    inner = chain[-1]
    if any(has(bound, Load, Checked) for bound in (inner.lower, inner.upper)) or not _has_masks(partial, inner):
        return None
    for around in chain[: -1 if contains(inner.body, If) else -2]:  # a single loop fills registers where it is long
        apart = [distributed(minus(bound, variable(around.name))) for bound in (inner.lower, inner.upper)]
        ends = operands(apart[0], "max"), operands(apart[1], "min")
        if all({around.name in names_in(one) for one in parts} == {False, True} for parts in ends):
            return around
    return None


def _has_masks(partial: PartialSchedule, inner: For) -> bool:
    """Whether vectors can leave elements out that they read in a loop."""
    elements = {array.name: array.element for array in partial.kernel.arrays}
    read = arrays_loaded(inner.body)
    return all(name in elements and elements[name].size_bytes >= LEAST_MASKED for name in read)


def _without_ends(partial: PartialSchedule, around: For, inner: For) -> str:
    """Make the window as wide everywhere, with a test inside; its innermost loop as it is then. Raises NotTaken."""
    why = f"the window of '{user_name(inner.name)}' is as wide for each '{user_name(around.name)}', but for the ends"
    before = set(loops(partial.kernel))
    partial.take(Skew(around.name, inner.name, -1), why)
    (new,) = set(loops(partial.kernel)) - before
    partial.take(Guard(new, around.name), why, anew=True)
    partial.begin_again()
    chain = partial.around(new)
    if not _gains(partial, chain, next(loop for loop in chain if loop.name == around.name)):
        raise NotTaken
    return new


def _gains(partial: PartialSchedule, chain: Chain, around: For) -> bool:
    """Whether lanes that go along a loop find what they need side by side in the windows of its iterations, which have
    several results, or conditions, and are not written out."""
    window = chain[chain.index(around) + 1 :]
    if not _is_free(partial, around) or around.step != number(1) or sum(isinstance(s, For) for s in around.body) != 1:
        return False
    if any(len(outer.body) != 1 for outer in window[:-1]) or set(short_loops(chain)) >= {one.name for one in window}:
        return False
    if (trip_of(window[-1]) or 0) > WIDEST or contains(around.body, *NOT_PLAIN) or contains(window[0].body, Store):
        return False
    if len(window) == 1 and not contains(window[0].body, If):
        return False
    inside = {id(stmt) for stmt in statements(window[0].body)}
    accesses = [walk for walk in partial.walks() if id(walk.stmt) in inside]
    strides = {walk.strides.get(around.name) for walk in accesses}
    slides = any(walk.strides.get(around.name) == walk.strides.get(window[-1].name) == 1 for walk in accesses)
    return slides and strides <= {0, 1}


def _side_by_side(partial: PartialSchedule, around: str, inner: str) -> None:
    length = partial.number(NEIGHBOURS)
    if not length:
        raise NotTaken("one by one")
    why = f"{length} iterations of '{user_name(around)}' go through their windows side by side"
    partial.take(Split(around, length), why)
    scalars = handed_on(partial, partial.around(around)[-1])
    if len(scalars) > MOST_RESULTS:
        raise NotTaken
    for scalar in scalars:
        partial.take(Expand(scalar, (around,)), why)
    band = isolate(partial, inner, around, why)
    partial.take(Reorder((*band[1:], band[0])), why, anew=True)
