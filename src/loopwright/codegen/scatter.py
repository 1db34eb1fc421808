"""Updates of any elements by many threads at once (histograms, sums by key): atomic operations, and where threads of a
block do many of them, in copies that the block has in shared memory, which it adds to the array in the end.

Where an update takes several attempts, because the GPU has no such operation on shared memory, a small target has
several copies, up to one for each thread of a warp, element by element side by side: threads that update the same
element then hardly ever meet. A thread looks up what it updates for several iterations at once, so that the loads
overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from loopwright.analysis.facts import Reduction
from loopwright.analysis.reductions import addend, combined, identity, updates_of
from loopwright.codegen.bound_nest import BoundNest, rounds_of_threads
from loopwright.codegen.c_text import MEMORY_TYPE, literal
from loopwright.codegen.decisions import CodegenInput
from loopwright.codegen.gpu_writer import ATOMIC, GpuWriter
from loopwright.codegen.interleave import Iteration, about, read_ahead
from loopwright.codegen.lowered import AtomicUpdates, Lowering, PrivatisedUpdates, UpdatesAhead, UpdatesInRegisters
from loopwright.codegen.safepoints import operations_in, spend
from loopwright.codegen.statements import write_body
from loopwright.codegen.thread_reduction import number_in_block
from loopwright.codegen.updates_in_registers import parts_bytes
from loopwright.ir.code import AtomicOperation, CodeLine, SharedArray
from loopwright.ir.nodes import Assign, Binary, Body, Cast, Checked, Const, Expr, For, Load, Store, Var
from loopwright.ir.queries import has, names_assigned, names_in
from loopwright.ir.types import INT32, INT64, UINT64, Scalar
from loopwright.ir.walk import expressions, own_expressions, statements, subexpressions
from loopwright.steps.extent import extent_of
from loopwright.steps.grids import shared_bytes
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, band_of, has_threads

ROUNDS = 8  # so many iterations of each thread are worth a copy
SHARE = 4  # updates for each element of all copies at least: these have to be emptied and put together
AHEAD = 8  # iterations that a thread looks ahead
LEAST = 64  # bytes of copies at least
MOST_COPIED = 4  # arrays of which a block has copies at the same time
BLOCKS = 1024  # blocks with copies at most: each goes on to further parts, and empties its copies and adds them up once


def atomic_updates(nest: BoundNest, given: CodegenInput) -> Iterator[AtomicUpdates]:
    """The arrays whose elements the loops that are bound to blocks or threads all update."""
    found: dict[str, Reduction] = {}
    for loop in (*nest.blocks, *(one for one in statements(nest.body, For) if one.run in THREADS)):
        reductions = given.facts.loops[loop.name].reductions
        found |= {reduction.target: reduction for reduction in reductions if reduction.kind != "scalar"}
    for name, reduction in found.items():
        yield AtomicUpdates(nest.loop.name, name, reduction)


def _updated_by(band: Sequence[For], given: CodegenInput) -> list[str]:
    """The arrays whose elements several iterations of these loops update, of those that they write. Others may be
    updated elsewhere in the grid: what sets them to zero, or scales them, writes to the array itself."""
    known = [given.facts.loops[loop.name] for loop in band if loop.name in given.facts.loops]
    targets = {one.target for found in known for one in found.reductions if one.kind != "scalar"}
    return [name for name in _stored(band[-1].body) if name in targets]


# ---- copies -----------------------------------------------------------------------------------------------------


def privatised_updates(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[PrivatisedUpdates]:
    """The nests that threads share, of which a block should have copies of the arrays that they update, in what is left
    of its shared memory."""
    found = list(_worth_copies(nest, before, given))
    most = given.facts.gpu.shared_bytes
    held = before.every(UpdatesInRegisters)
    left = most - shared_bytes(given.kernel, given.facts, nest.loop) if found else 0
    left -= sum(parts_bytes(nest, given.arrays[one.array].element, given) for one in held)
    for band, updates, rounds in found:
        room = min(left, most * 2 // 3)  # several blocks of a multiprocessor still fit
        if room // len(updates) >= LEAST:
            left -= -(-room // 16) * 16
            yield from _in_equal_numbers([_privatised(band, one, rounds, room, given) for one in updates], room)


def _in_equal_numbers(copies: list[PrivatisedUpdates], room: int) -> Iterator[PrivatisedUpdates]:
    """Arrays that are updated together mostly have as many elements: each gets room for the same number."""
    if len(copies) == 1:
        yield from copies
        return
    count = room // sum(one.element.size_bytes for one in copies)
    for one in copies:
        yield replace(one, size_bytes=count * one.element.size_bytes // 16 * 16)


def _worth_copies(
    nest: BoundNest, before: Lowering, given: CodegenInput
) -> Iterator[tuple[list[For], list[AtomicUpdates], int]]:
    """The nests that threads share and that update few arrays often enough; how many iterations each thread has."""
    shared = [one for one in statements(nest.body, For) if one.run in THREADS]
    parts = {id(inner) for one in shared for inner in statements(one.body)}
    for one in nest.together():
        # Of a loop that only some threads of a block come to, these cannot wait for the others.
        if not isinstance(loop := one.stmt, For) or loop.run not in THREADS or id(loop) in parts:
            continue
        band = band_of(loop)
        body, rounds = band[-1].body, rounds_of_threads(band)
        if rounds < ROUNDS or any(map(has_threads, body)):
            continue
        held = {(one.array, one.index) for one in before.every(UpdatesInRegisters) if one.loop == loop.name}
        names = dict.fromkeys(one.array for one in statements(body, Store) if (one.array, one.index) not in held)
        updates = [
            found
            for name in _updated_by(band, given)
            if name in names and (found := before.of(AtomicUpdates, name)) is not None
        ]
        fitting = [one for one in updates if given.arrays[one.array].layout == "C" and one.array not in nest.local]
        if 0 < len(fitting) <= MOST_COPIED:
            yield band, fitting, rounds


def _privatised(
    band: Sequence[For], found: AtomicUpdates, rounds: int, room: int, given: CodegenInput
) -> PrivatisedUpdates:
    loop, array, iterations = band[0], given.arrays[found.array], prod(map(_iterations, band))
    each = _each(found, band[-1].body, array.element) if array.element in (INT64, UINT64) else None
    row = _leading(band, found.array, given)
    if each is None or iterations * each > INT32.maximum:
        return PrivatisedUpdates(loop.name, found, array.element, room, rounds, INT32.maximum, row)
    return PrivatisedUpdates(loop.name, found, INT32, room, rounds, INT32.maximum // (iterations * each), row)


def _leading(band: Sequence[For], array: str, given: CodegenInput) -> tuple[Expr, ...]:
    """The indices along the first axes that are the same in all accesses of a nest; at least one axis is left."""
    body = band[-1].body
    accesses: list[Load | Store] = [one for one in expressions(body, Load) if one.array == array]
    accesses += [one for one in statements(body, Store) if one.array == array]
    changing = {loop.name for loop in band} | names_assigned(body) | {one.name for one in statements(body, For)}
    found: list[Expr] = []
    for axis, expr in enumerate(accesses[0].index[:-1]):
        bounds = [given.facts.bounds_of(one)[axis] for one in accesses]
        is_inside = all(one.kind == "proven" and not one.may_be_negative for one in bounds)
        same = all(one.index[axis] == expr for one in accesses)
        if not (is_inside and same) or has(expr, Load, Checked) or names_in(expr) & changing:
            break
        found.append(expr)
    return tuple(found)


def _stored(body: Body) -> dict[str, None]:
    return dict.fromkeys(stmt.array for stmt in statements(body, Store))


def _iterations(loop: For) -> int:
    """How many iterations a loop has at most; more than can be counted in 32 bits, where that is not known."""
    extent = extent_of(loop)
    return -(-extent // step_of(loop)) if extent else INT32.maximum + 1


def _each(found: AtomicUpdates, body: Body, element: Scalar) -> int | None:
    """What an iteration adds to an integer at most, at least 1, where these are constants: what all threads of a block
    add is then counted in 32 bits, whose additions are faster. None where that is not known."""
    if found.reduction.op != "add":
        return None
    sizes = [_size(addend(update, element)) for update in updates_of(body, found.array, element)]
    return None if None in sizes else max(1, sum(size or 0 for size in sizes))


def _size(value: Expr | None) -> int | None:
    """What a sum of constants amounts to at most; None for anything else."""
    match value:
        case Const():
            return abs(int(value.value))
        case Cast(operand=Const(value=known), type=kind) if kind.minimum <= known <= kind.maximum:
            return abs(int(known))
        case Binary(op="add" | "sub"):
            left, right = _size(value.left), _size(value.right)
            return None if left is None or right is None else left + right
    return None


@contextmanager
def copied(
    copy: PrivatisedUpdates, number_of: int, size: tuple[int, int, int], shared: list[SharedArray], w: GpuWriter
) -> Iterator[None]:
    """Lines around a nest that the threads of a block share: within, it updates copies of the array. number_of: of the
    copies of this nest, as each has C names of its own."""
    shift, lane, all_lanes = (f"{one}_{number_of}" if number_of else one for one in ("lw_shift", "lw_lane", "lw_lanes"))
    array, op = w.arrays[copy.array], copy.updates.reduction.op
    # Copies of a small target, as a power of two: integers of 32 bits are added and compared at once.
    lanes = (
        w.facts.gpu.warp.bit_length() - 1 if copy.element.is_float or copy.element.size_bytes > INT32.size_bytes else 0
    )
    threads, number = prod(size), number_in_block(size)
    memory = MEMORY_TYPE[copy.element.name]
    pointer = w.fresh("lw_copy", f"{memory} *")
    shared.append(SharedArray(pointer, memory, copy.most))
    w.function.scoped.add(pointer)
    none = literal(identity(op, copy.element).value, copy.element)
    count = f"(int)({count_of(copy, w)})"
    places = f"{count} << {shift}" if lanes else count
    if lanes:
        w.line(f"int {shift} = {lanes};")
        with w.repeat(f"{shift} && {places} > {min(copy.most, threads * copy.rounds // SHARE)}"):
            w.line(f"--{shift};")
        w.line(f"const int {all_lanes} = (1 << {shift}) - 1, {lane} = ({number}) & {all_lanes};")
    w.barrier()  # an iteration before may still be adding its copies up
    with w.loop(f"int lw_i = {number}; lw_i < {places}; lw_i += {threads}"):
        w.line(f"{pointer}[lw_i] = {none};")
    w.barrier()
    after = f" << {shift} | {lane}" if lanes else ""
    first = ""
    if copy.leading:
        first = w.fresh("lw_row", "int64_t")
        index = (*(w.text(one) for one in copy.leading), *["0"] * (array.rank - len(copy.leading)))
        w.line(f"const int64_t {first} = {replace(array, on_device=False).place_of(index)};")
    w.arrays[copy.array] = replace(array, pointer=pointer, element=copy.element, after=after, settled=len(copy.leading))
    yield
    w.arrays[copy.array] = array
    w.barrier()
    with w.loop(f"int lw_i = {number}; lw_i < {count}; lw_i += {threads}"):
        if lanes:
            w.line(f"{memory} lw_mine = {none};")
            with w.loop(f"int lw_k = 0; lw_k <= {all_lanes}; ++lw_k"):  # neighbours begin in banks of their own
                w.line(f"const {memory} lw_other = {pointer}[lw_i << {shift} | ((lw_k + {lane}) & {all_lanes})];")
                with about(Iteration(0, {"lw.mine": "lw_mine", "lw.other": "lw_other"}), w):
                    both = combined(op, Var("lw.mine", copy.element), Var("lw.other", copy.element))
                    w.line(f"lw_mine = {w.text(both)};")
        else:
            w.line(f"const {memory} lw_mine = {pointer}[lw_i];")
        mine = f"({array.memory_type})lw_mine"
        place = f"{first} + lw_i" if first else "lw_i"
        w.only(f"lw_mine != {none}", AtomicOperation(ATOMIC[op], w.use(array.pointer), place, mine))


def count_of(copy: PrivatisedUpdates, w: GpuWriter) -> str:
    """C text of the number of elements that a copy has."""
    axes = range(len(copy.leading), w.arrays[copy.array].rank)
    return " * ".join(w.size(copy.array, axis) for axis in axes) or "1"


def fits(copy: PrivatisedUpdates, w: GpuWriter) -> str:
    """C text: whether a block's copy has room for all elements."""
    return f"{count_of(copy, w)} <= {copy.most}"


# ---- updates ----------------------------------------------------------------------------------------------------


def updates_ahead(nest: BoundNest, before: Lowering, given: CodegenInput) -> Iterator[UpdatesAhead]:
    """The loops that threads share and that do nothing but set scalars, write elements, and update some that only data
    tells, upwards, often enough."""
    for one in nest.together():
        if isinstance(one.stmt, For) and one.stmt.run in THREADS:
            loop = band_of(one.stmt)[-1]
            plain = all(isinstance(stmt, Assign | Store) for stmt in loop.body) and step_of(loop) > 0
            updating = plain and any(before.of(AtomicUpdates, name) for name in _updated_by((loop,), given))
            if updating and rounds_of_threads((loop,)) >= AHEAD:
                yield UpdatesAhead(loop.name, AHEAD)


def write_updates(loop: For, start: str, stride: int, w: GpuWriter) -> None:
    """A thread's iterations of such a loop: every `stride`-th from `start` on, up to lw_upper."""
    variable = w.names.of(loop.name)
    items = [Iteration(number, {loop.name: f"lw_at_{number}"}) for number in range(AHEAD)]
    w.line(f"int64_t lw_at = {start};")
    left = f"(uint64_t)lw_upper - (uint64_t)lw_at > {(AHEAD - 1) * stride}"
    head = f"; lw_at < lw_upper && {left}; lw_at += {AHEAD * stride}"
    with w.loop(head, loop.name, part="unrolled", at_once=AHEAD):
        spend(AHEAD * max(1, operations_in(loop.body)), w)
        for item in items:
            w.line(f"const int64_t lw_at_{item.number} = lw_at + {item.number * stride};")
        held = frozenset(_stored(loop.body))
        targets = frozenset(one.target for one in w.facts.loops[loop.name].reductions)
        rest = read_ahead(loop.body, items, w, targets, held)
        if not _at_once(rest, items, w):
            for item in items:
                with about(item, w):
                    write_body(rest, w)
    head = f"; lw_at < lw_upper; lw_at += {stride}"
    with w.loop(head, loop.name, unroll=1, part="remainder", at_once=AHEAD):
        w.line(f"const int64_t {variable} = lw_at;")
        w.function.scoped.add(variable)
        write_body(loop.body, w)
        w.function.scoped.discard(variable)


def _at_once(rest: Body, items: Sequence[Iteration], w: GpuWriter) -> bool:
    """Write updates with one test of all of their indices, where no index and no value needs what is not read yet."""
    for stmt in rest:
        if not isinstance(stmt, Store) or w.lowering.of(AtomicUpdates, stmt.array) is None:
            return False
        loads = [part for own in own_expressions(stmt) for part in subexpressions(own, Load)]
        if any(one.array != stmt.array and (one.array, one.index) not in items[0].replaced for one in loads):
            return False
    updates: list[AtomicOperation | CodeLine | None] = []
    with w.testing_at_once():
        for item in items:
            with about(item, w):
                updates += [w.updated(stmt) for stmt in rest if isinstance(stmt, Store)]
    for update in updates:
        assert update is not None  # `bind` sees to it
        w.add(update)
    return True
