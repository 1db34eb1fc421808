"""Atomic updates of elements that no iteration moves, as of the grand total beside totals by key: all threads of a
block would meet there in every iteration. Each thread adds up in a scalar of its own instead; these are put together by
shuffles, and one thread updates the element once. A loop inside a thread adds up what it does to one element, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from loopwright.analysis.reductions import addend, identity, updates_of
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.c_text import literal
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import ATOMIC, GpuWriter
from loopwright.codegen.lowered import AtomicUpdates, Lowering, UpdatesAtTheEnd, UpdatesInRegisters
from loopwright.codegen.thread_reduction import ThreadPartial, begin
from loopwright.ir.code import AtomicOperation
from loopwright.ir.nodes import Break, Checked, Compare, Const, Continue, For, Leave, Load, Return, Store, Var
from loopwright.ir.queries import arrays_stored, contains, has, names_assigned, names_in
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements, subexpressions
from loopwright.steps.grids import shared_bytes
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, band_of, has_threads

MOST = 8
"""Elements for which a thread has scalars at the same time."""


@dataclass(frozen=True, slots=True)
class HeldUpdate:
    """store: one of the updates; partial: what the threads have of them."""

    store: Store
    partial: ThreadPartial


def updates_in_registers(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[UpdatesInRegisters]:
    """The elements that the nests which threads share update in each iteration, and their iterations do not move. Of
    the threads in a nest inside another one only some come to it, and cannot wait for the rest."""
    left = given.facts.gpu.shared_bytes - shared_bytes(given.kernel, given.facts, nest.loop)
    shared = [one for one in statements(nest.body, For) if one.run in THREADS]
    parts = {id(inner) for one in shared for inner in statements(one.body)}
    for one in nest.together():
        if not isinstance(loop := one.stmt, For) or loop.run not in THREADS or id(loop) in parts:
            continue
        band = band_of(loop)
        if not any(map(has_threads, band[-1].body)):
            found = {(store.array, store.index): updates for store, updates in _unmoved(band, before, given)}
            for (array, index), updates in list(found.items())[:MOST]:
                left -= parts_bytes(nest, given.arrays[array].element, given)
                if left >= 0:
                    yield UpdatesInRegisters(loop.name, array, index, updates.reduction)


def updates_at_the_end(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[UpdatesAtTheEnd]:
    """The loops inside a thread all of whose iterations update one element, at an index that data may tell: what they
    add up to is one update instead of many."""
    held = {(one.array, one.index) for one in before.every(UpdatesInRegisters)}
    for loop in statements(nest.body, For):
        if (
            loop.run != "sequential"
            or not isinstance(loop.step, Const)
            or contains(loop.body, Break, Continue, Leave, Return)
        ):
            continue
        written = arrays_stored(loop.body)
        moving = {loop.name} | names_assigned(loop.body)
        ends = [part for end in (loop.lower, loop.upper) for part in subexpressions(end, Load, Var)]
        if any((part.name in moving) if isinstance(part, Var) else (part.array in written) for part in ends):
            continue  # afterwards they do not tell whether there was an iteration
        for store in loop.body:
            if not isinstance(store, Store) or (store.array, store.index) in held:
                continue
            updates = before.of(AtomicUpdates, store.array)
            parts = [part for axis in store.index for part in subexpressions(axis)]
            is_moved = any(isinstance(part, Load) and part.array in written for part in parts)
            if updates is None or is_moved or any(names_in(axis) & moving for axis in store.index):
                continue
            alike = [
                one for one in statements(loop.body, Store) if (one.array, one.index) == (store.array, store.index)
            ]
            if len(alike) == 1 and _adds_up(store, updates, given):
                yield UpdatesAtTheEnd(loop.name, store.array, store.index, updates.reduction, step_of(loop) > 0)


@contextmanager
def at_the_end(loop: For, w: GpuWriter) -> Iterator[None]:
    """Around the text of a loop inside a thread."""
    found = [
        one
        for one in w.lowering.every(UpdatesAtTheEnd)
        if one.loop == loop.name and (one.array, one.index) not in w.held
    ]
    for one in found:
        element = w.arrays[one.array].element
        own = w.held[one.array, one.index] = w.new_scalar("sum", element)
        none = identity(one.reduction.op, element)
        w.line(f"{w.variable(own)} = {literal(none.value, none.type)};")
    yield
    for one in found:
        own, array = w.variable(w.held.pop((one.array, one.index))), w.arrays[one.array]
        store = next(
            stmt for stmt in statements(loop.body, Store) if (stmt.array, stmt.index) == (one.array, one.index)
        )
        place = array.place_of(w.index_of(store))
        update = AtomicOperation(ATOMIC[one.reduction.op], w.use(array.pointer), place, own, array.memory_type)
        runs = Compare("lt" if one.positive else "gt", loop.lower, loop.upper)
        w.only(w.text(runs), update)  # of no iterations the index may be wrong


def parts_bytes(nest: BoundNest, element: Scalar, given: CodegenInput) -> int:
    """How much shared memory it takes to put the scalars of a block together, rounded up as arrays are: once with the
    block's copies of other elements, once without."""
    threads, warp = prod(nest.size), given.facts.gpu.warp
    parts = threads if threads % warp else threads // warp
    return 2 * -(-parts * max(4, element.size_bytes) // 16) * 16


def _unmoved(band: Sequence[For], before: Lowering, given: CodegenInput) -> Iterator[tuple[Store, AtomicUpdates]]:
    body = band[-1].body
    moving = {loop.name for loop in band} | names_assigned(body) | {loop.name for loop in statements(body, For)}
    for store in statements(body, Store):
        updates = before.of(AtomicUpdates, store.array)
        if updates is None or updates.reduction.op not in ATOMIC or given.is_checked(store):
            continue
        if any(has(part, Load, Checked) or names_in(part) & moving for part in store.index):
            continue
        if _adds_up(store, updates, given):
            yield store, updates


def _adds_up(store: Store, updates: AtomicUpdates, given: CodegenInput) -> bool:
    """Whether what a store adds to its element can be added up before."""
    element = given.arrays[store.array].element
    values = [addend(one, element) for one in updates_of((store,), store.array, element)]
    is_one = len(values) == 1 and values[0] is not None and updates.reduction.op in ATOMIC
    return is_one and (not element.is_float or updates.reduction.op == "add")


def begin_updates(band: Sequence[For], w: GpuWriter) -> list[HeldUpdate]:
    """Begin the scalars of a nest: until `written_back`, updates of these elements are of the scalars."""
    found: list[HeldUpdate] = []
    for one in w.lowering.every(UpdatesInRegisters):
        if one.loop == band[0].name:
            of = (one.array, one.index)
            store = next(stmt for stmt in statements(band[-1].body, Store) if (stmt.array, stmt.index) == of)
            element = w.arrays[one.array].element
            own = w.new_scalar("held", element)
            held = HeldUpdate(store, ThreadPartial(one.reduction, (one.array,), (own,), (element,)))
            begin(held.partial, w)
            found.append(held)
            w.held[of] = own
    return found


def release(found: Sequence[HeldUpdate], w: GpuWriter) -> None:
    """Updates of these elements are atomic again."""
    for held in found:
        del w.held[held.store.array, held.store.index]


def written_back(held: HeldUpdate, first: str, w: GpuWriter) -> None:
    """Lines that update an element with what all threads together have. first: C text, true for one of them."""
    partial, array = held.partial, w.arrays[held.store.array]
    own, kind = w.variable(partial.own[0]), partial.types[0]
    none = identity(partial.reduction.op, kind)
    place = array.place_of(w.index_of(held.store))
    update = AtomicOperation(ATOMIC[partial.reduction.op], w.use(array.pointer), place, own, array.memory_type)
    w.only(f"{first} && {own} != {literal(none.value, none.type)}", update)
