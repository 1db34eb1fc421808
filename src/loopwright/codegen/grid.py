"""The kernels of a grid: loops bound to blocks become the block's number, and the host's lines start as many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from math import prod

from loopwright.codegen.block import Whole
from loopwright.codegen.bound_nest import BoundNest
from loopwright.codegen.full_tiles import condition
from loopwright.codegen.function import Function
from loopwright.codegen.gpu_writer import FLAG, GpuWriter
from loopwright.codegen.handed_scalars import fetched, handed_over, write_handed
from loopwright.codegen.lowered import AtomicUpdates, Lowering, PrivatisedUpdates
from loopwright.codegen.lowering import lower
from loopwright.codegen.most_work import Amount, most_work
from loopwright.codegen.one_thread import declare_own, write_each
from loopwright.codegen.safepoints import ask_where_long, has_questions
from loopwright.codegen.scatter import BLOCKS as PARTED
from loopwright.ir.gpu_target import AXES
from loopwright.ir.nodes import (
    Body,
    For,
    Stmt,
)
from loopwright.ir.queries import names_in
from loopwright.ir.walk import statements
from loopwright.steps.extent import extent_of
from loopwright.steps.nest import step_of
from loopwright.steps.threads import THREADS, has_threads

FIRST = "threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0"


def write_grid(loop: For, w: GpuWriter) -> None:
    """The kernel of a nest whose outermost loop is bound, and its start."""
    nest = BoundNest.of(loop)
    blocks, body, size = nest.blocks, nest.body, nest.size
    w.places = places_of(blocks)
    w.types |= {f"lw_{what}_{place}": "int64_t" for what in ("lower", "trip") for place in w.places.values()}
    w.lowering = lower(nest, w.given)
    part = Function(w.names.fresh(f"lw_grid_{w.names.of(loop.name)}"), on_device=True)
    parts = 0
    updated = {one.array for one in w.lowering.every(AtomicUpdates)}
    work = most_work(blocks, body, updated, w)
    ask_where_long(part, work, w)
    with w.on_device(part):
        part.ends_early = part.asks and (bool(updated) or has_questions(body, w, lambda one: _is_whole(one, body)))
        handed = [] if blocks else handed_over(body, w)
        declare_own(body, handed, w)
        whole = Whole(w, size)
        parts = _parts_of(nest, w)
        if parts:
            whole.each_part = _each_part(blocks[0], w)
        else:
            _start_all(blocks, w)
        whole.body(body)
        given = write_handed(handed, w, FIRST)
    w.finish_kernel(part, size[0] * size[1] * size[2], body, whole.shared, loop=loop.name)
    w.parallel.append(loop.name)
    with fetched(given, w) as own:
        _start_grid(blocks, part, size, own, parts, work, w)
    w.lowering = Lowering()


def _parts_of(nest: BoundNest, w: GpuWriter) -> int:
    """How many iterations of the loop over blocks one block may do at most, where all that a block does are updates in
    copies, of elements that they have in common; 0 elsewhere."""
    if len(nest.body) > 1 or [block.run for block in nest.blocks] != ["block.x"]:
        return 0
    found = w.lowering.of(PrivatisedUpdates, nest.body[0].name) if isinstance(nest.body[0], For) else None
    own = {name for part in found.leading for name in names_in(part)} if found is not None else set[str]()
    return 0 if found is None or nest.blocks[0].name in own else found.parts


def _is_whole(stmt: Stmt, body: Body) -> bool:
    """Whether all threads of a block run a loop together, not only those of one team; or share a short one."""
    shared = [loop for loop in statements(body, For) if loop.run in THREADS]
    for loop in shared:
        if loop is stmt:
            return bool(extent_of(loop))
    return has_threads(stmt) and not any(inner is stmt for loop in shared for inner in statements(loop.body))


def _along(blocks: Sequence[For]) -> dict[str, list[For]]:
    """The loops over blocks by the axis of the grid that they lie along, outermost first."""
    found: dict[str, list[For]] = {}
    for block in blocks:
        found.setdefault(block.run[-1], []).append(block)
    return found


def places_of(blocks: Sequence[For]) -> dict[str, str]:
    """What the names of the bounds of loops over blocks end in: the axis, and which of several along it."""
    return {
        block.name: axis if len(several) == 1 else f"{axis}{number}"
        for axis, several in _along(blocks).items()
        for number, block in enumerate(several)
    }


def _start_all(blocks: Sequence[For], w: GpuWriter) -> None:
    """The lines that set the variables of loops over blocks. Several loops along an axis count blocks together."""
    for axis, several in _along(blocks).items():
        number = f"({w.use(f'lw_base_{axis}')} + (int64_t)blockIdx.{axis})"
        if len(several) == 1:
            w.line(_start_of(several[0], number, w))
            continue
        w.line(f"int64_t lw_rest_{axis} = {number};")
        for block in reversed(several[1:]):
            trip = w.use(f"lw_trip_{w.places[block.name]}")
            w.line(_start_of(block, f"lw_rest_{axis} % {trip}", w))
            w.line(f"lw_rest_{axis} /= {trip};")
        w.line(_start_of(several[0], f"lw_rest_{axis}", w))


def _start_of(block: For, number: str, w: GpuWriter) -> str:
    """The line that sets the variable of a loop over blocks, from the number of an iteration as C text."""
    variable = w.names.of(block.name)
    w.function.scoped.add(variable)
    step = "" if step_of(block) == 1 else f" * {step_of(block)}"
    return f"const int64_t {variable} = {w.use(f'lw_lower_{w.places[block.name]}')} + {number}{step};"


def _each_part(block: For, w: GpuWriter) -> Callable[[], AbstractContextManager[None]]:
    """What opens the loop over the iterations of a loop over blocks that one block does."""
    first = f"{w.use('lw_base_x')} + (int64_t)blockIdx.x"
    head = f"int64_t lw_part = {first}; lw_part < {w.use('lw_end_x')}; lw_part += (int64_t)gridDim.x"
    start = _start_of(block, "lw_part", w)

    @contextmanager
    def each() -> Iterator[None]:
        with w.loop(head, block.name, part="chunks"):
            w.line(start)
            yield

    return each


def _start_grid(
    blocks: Sequence[For],
    part: Function,
    size: Sequence[int],
    own: dict[str, str],
    parts: int,
    work: Amount,
    w: GpuWriter,
) -> None:
    """parts: how many iterations a block may have, 0 where each has one. work: of a thread, in one iteration. Where
    blocks do not ask, few enough of them are started at once."""
    grid = dict.fromkeys(AXES, "1")
    places, along = w.places, _along(blocks)
    for block in blocks:
        place = places[block.name]
        lower, upper = w.text(block.lower), w.text(block.upper)
        w.line(f"const int64_t lw_lower_{place} = {lower}, lw_trip_{place} = lw_trip(lw_lower_{place}, {upper}, "
               f"{step_of(block)});")  # fmt: skip
        own[f"lw_lower_{place}"] = f"lw_lower_{place}"
    for axis, several in along.items():
        own[f"lw_base_{axis}"] = f"lw_base_{axis}"
        if len(several) > 1:
            trips = [f"lw_trip_{places[block.name]}" for block in several]
            w.line(f"const int64_t lw_trip_{axis} = {' * '.join(trips)};")
            own |= {trip: trip for trip in trips[1:]}
    if (full := w.full_tiles) is not None:
        w.line(f"const int64_t {FLAG} = {condition(full, w)};")
    threads = " * ".join([str(float(prod(size))), *(f"(double)lw_trip_{axis}" for axis in along)])
    each = write_each(part, work, w, threads)
    at_once = {axis: str(most) for axis, most in zip(AXES, w.facts.gpu.blocks_along, strict=True)}
    if blocks and w.asks and (part.both or not part.asks):
        room = f"(double){w.use('gpu')}->patience * LW_ABREAST / ({each} * {prod(size)})"
        w.line(f"double lw_space = {f'lw_asks ? 0x1p62 : {room}' if part.both else room};")
        for axis in sorted(along):
            most = f"lw_along(&lw_space, lw_trip_{axis}, {at_once[axis]})"
            most = f"lw_in_rounds({most}, lw_trip_{axis}, {PARTED})" if parts else most
            w.line(f"const int64_t lw_most_{axis} = {most};")
            at_once[axis] = f"lw_most_{axis}"
    with ExitStack() as opened:
        for axis in along:
            most = at_once[axis]
            head = f"int64_t lw_base_{axis} = 0; lw_base_{axis} < lw_trip_{axis}; lw_base_{axis} += {most}"
            opened.enter_context(w.loop(head))
            grid[axis] = f"lw_trip_{axis} - lw_base_{axis} < {most} ? lw_trip_{axis} - lw_base_{axis} : {most}"
            if parts:
                w.line(f"const int64_t lw_number = {grid[axis]}, lw_end_x = lw_base_x + lw_number;")
                own["lw_end_x"] = "lw_end_x"
                grid[axis] = f"LW_MAX(int64_t, LW_MIN(int64_t, lw_number, {PARTED}), (lw_number - 1) / {parts} + 1)"
        work_of_thread = f"{each} * ((lw_number - 1) / lw_grid[0] + 1)" if parts else each
        w.start(part, [grid[axis] for axis in AXES], size, own, work_of_thread)
