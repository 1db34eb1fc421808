"""Kernel and Facts to a program for a GPU: the host's C text, which knows sizes and starts kernels, and the device's
CUDA text, which touches arrays.

A loop that is bound to blocks or threads becomes a kernel of the grid. What stands around such loops stays on the host:
loops over time are repeated launches. Everything else that touches an array runs in one thread of the device, between
launches; scalars that it sets and others need are fetched. What cannot be parted so is refused (`NotOnGpu`), and the
CPU runs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from loopwright.analysis.facts import Facts
from loopwright.codegen.counting_sort import write_sorted
from loopwright.codegen.device_scalars import device_scalars
from loopwright.codegen.gpu_writer import GpuWriter, NotOnGpu, any_may_fail
from loopwright.codegen.grid import write_grid
from loopwright.codegen.lasting_orders import lasting_orders, sorts_of
from loopwright.codegen.merge_path import write_balanced
from loopwright.codegen.off_gpu import write_off_gpu
from loopwright.codegen.one_thread import write_fill, write_one_thread
from loopwright.codegen.openmp import HEADER, entry_function, guard_function
from loopwright.codegen.print_c import print_unit
from loopwright.codegen.rounded_products import rounds_products
from loopwright.codegen.safepoints import operations_in, spend
from loopwright.codegen.statements import write
from loopwright.codegen.unrolling import unroll_on_device
from loopwright.codegen.updates_in_registers import at_the_end
from loopwright.ir.code import TranslationUnit
from loopwright.ir.launch_bound import LaunchBound
from loopwright.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Return,
    Run,
    Stmt,
    Var,
    While,
)
from loopwright.ir.program import DeviceText, Program
from loopwright.ir.queries import arrays_stored, has, names_assigned, names_read
from loopwright.ir.walk import own_expressions, statements, with_own_expressions
from loopwright.steps.grids import is_bound, is_host, launches, not_on_gpu

WRITERS: dict[Run, Callable[[For, GpuWriter], None]] = {
    "balanced": write_balanced,
    "sorted": write_sorted,
    "off_gpu": write_off_gpu,
}
"""Of loops that are no grid of threads for iterations."""


def generate_gpu(
    kernel: Kernel, facts: Facts, strict: bool, waits: bool = True, launch_bounds: tuple[LaunchBound, ...] = ()
) -> Program:
    """The two texts of a kernel some of whose loops are bound. Facts must be those of this kernel's own nodes. waits:
    for the last kernels, where one may find something wrong; else the caller looks for that. Raises NotOnGpu."""
    if kernel.overlap:
        raise NotOnGpu("arguments overlap in memory")
    if (rejection := not_on_gpu(kernel, facts)) is not None:
        raise NotOnGpu(rejection.reason)
    w = GpuWriter(kernel, facts, strict)
    w.orders, w.begins = lasting_orders(kernel), {one.begins for one in sorts_of(kernel)}
    w.kept.found = device_scalars(kernel)
    w.decided = unroll_on_device(w.given)
    w.write_loop = partial(_host_loop, w=w)
    w.around_loop = partial(at_the_end, w=w)
    for name in w.locals:
        w.own(w.names.of(name))
    main = w.function
    _host_body(kernel.body, w)
    if w.checks and waits:
        w.stop_after_failure()
    main.code, body = [], main.code
    _slots(w)
    main.code += body
    w.finish(main)
    guard = "lw_guard" if facts.guard.c_text or launch_bounds else ""
    given = {"gpu": "call->gpu", "lw_failed": "call->device_failure", "lw_small": _small(w), "watch": "call->watch"}
    given |= {"lw_kept": "call->kept"}
    given |= {"lw_stopped": "call->gpu->stopped", "lw_ticket": "call->gpu->ticket(call->gpu)"}
    functions = (*w.finished, *([guard_function(facts, launch_bounds)] if guard else []), entry_function(w, given))
    waits = w.waits and (any_may_fail(w) or not _returns_early(kernel.body))
    kept = tuple(_positions(kernel, one.arguments) for one in w.orders)
    text = "\n".join(w.device) + "\n"
    rounds_twice = strict or rounds_products(kernel)
    device = DeviceText(text, tuple(w.kernels), rounds_twice, w.checks, waits, w.fetches, tuple(w.functions), kept)
    return Program(
        print_unit(TranslationUnit(HEADER, functions)),
        "lw_entry",
        guard,
        tuple(w.sites),
        tuple(w.parallel),
        ("-ffp-contract=off",),
        device=device,
        on_data=bool(guard) and facts.guard.on_data,
        launch_bounds=launch_bounds,
    )


def _positions(kernel: Kernel, names: frozenset[str]) -> tuple[int, ...]:
    return tuple(sorted({param.argument for param in kernel.params if param.name in names}))


def _returns_early(body: Body) -> bool:
    """Whether there is a way out before the end."""
    return any(stmt is not body[-1] for stmt in statements(body, Return))


# ---- what runs where --------------------------------------------------------------------------------------------


def _host_body(body: Body, w: GpuWriter) -> None:
    group: list[Stmt] = []

    def flush() -> None:
        if group:
            w.kept.depth = w.function.depth
            write_one_thread(tuple(group), w)
            group.clear()

    for stmt in body:
        if (number := _finds_order(stmt, w)) is not None:
            flush()
            with w.branch(f"!{w.use('lw_kept')}[{number}].known"), _perhaps(w):
                if launches(stmt) or is_host(stmt):
                    _host_statement(stmt, w)
                else:
                    write_one_thread((stmt,), w)
            if isinstance(stmt, For) and stmt.run == "sorted":
                kept = f"{w.use('lw_kept')}[{number}]"
                w.line(f"{kept}.found += !{kept}.known, {kept}.known = 1;")
            continue
        if not launches(stmt) and (not is_host(stmt) or id(stmt) in w.kept.found.moved):
            group.append(stmt)
            continue
        flush()
        _host_statement(stmt, w)
    flush()


def _finds_order(stmt: Stmt, w: GpuWriter) -> int | None:
    """The number of the lasting order that a statement serves to find, and nothing else."""
    for number, one in enumerate(w.orders):
        match stmt:
            case Allocate() if stmt.array in (one.keys, one.begins):
                return number
            case For() if one.begins in arrays_stored((stmt,)) or arrays_stored((stmt,)) == {one.keys}:
                return number
            case _:
                pass
    return None


def _host_statement(stmt: Stmt, w: GpuWriter) -> None:
    w.kept.depth = w.function.depth
    if is_bound(stmt):
        assert isinstance(stmt, For)
        WRITERS.get(stmt.run, write_grid)(stmt, w)
        return
    if isinstance(stmt, Allocate):
        _allocate(stmt, w)
        return
    stmt = _without_loads(stmt, w)
    match stmt:
        case Return() if any_may_fail(w):
            with w.block():
                w.stop_after_failure()
                write(stmt, w)
        case If():
            with w.branch(w.text(stmt.condition)), _perhaps(w):
                _host_body(stmt.then, w)
            with w.otherwise(), _perhaps(w):  # what is stale behind the first branch may be so behind both
                _host_body(stmt.otherwise, w)
        case While():
            with _repeatedly(stmt.body, w), w.repeat(w.text(stmt.condition)):
                spend(max(1, operations_in(stmt.body)), w)
                _host_body(stmt.body, w)
        case For():
            write(stmt, w)
        case _:
            for name in sorted(w.kept.stale & names_read((stmt,))):
                w.variable(name)
            write(stmt, w)
            w.set_by_host(names_assigned((stmt,)))


@contextmanager
def _perhaps(w: GpuWriter) -> Iterator[None]:
    """Within, what is written may not run: what was stale before may still be so."""
    before = set(w.kept.stale)
    yield
    w.kept.stale |= before
    w.kept.latest.clear()


@contextmanager
def _repeatedly(body: Body, w: GpuWriter) -> Iterator[None]:
    """Within, what is written runs several times, or not at all."""
    w.kept.stale |= w.kept.found.names & names_assigned(body)
    with _perhaps(w):
        w.kept.latest.clear()
        yield


def _host_loop(loop: For, w: GpuWriter) -> None:
    variable = w.names.of(loop.name)
    lower, upper, step = (w.text(bound) for bound in (loop.lower, loop.upper, loop.step))
    w.function.scoped.add(variable)
    begin = f"const int64_t lw_lower = {lower}, lw_step = {step}, lw_count = lw_trip(lw_lower, {upper}, lw_step);"
    head = "int64_t lw_k = 0; lw_k < lw_count; ++lw_k"
    with w.block():
        w.line(begin)
        with _repeatedly(loop.body, w), w.loop(head, loop.name):
            w.line(f"const int64_t {variable} = lw_lower + lw_k * lw_step;")
            spend(max(1, operations_in(loop.body)), w)
            _host_body(loop.body, w)
    w.function.scoped.discard(variable)


def _without_loads(stmt: Stmt, w: GpuWriter) -> Stmt:
    """The statement with values in place of its own expressions that read arrays: the device evaluates these before."""
    values: list[Expr] = []
    first: list[Stmt] = []
    for expr in own_expressions(stmt):
        if has(expr, Load):
            name = w.new_scalar("value", expr.type)
            first.append(Assign(name, expr))
            expr = Var(name, expr.type)
        values.append(expr)
    if first:
        write_one_thread(tuple(first), w, {one.name for one in first if isinstance(one, Assign)})
    return with_own_expressions(stmt, tuple(values))


# ---- memory -----------------------------------------------------------------------------------------------------


def _allocate(stmt: Allocate, w: GpuWriter) -> None:
    """A local array of the host's part: device memory, given back at the end of the call."""
    array = w.arrays[stmt.array]
    w.use("failure")
    pointer = w.declare(array.pointer)
    for identifier, expr in zip(array.sizes, stmt.shape, strict=True):
        if not identifier[0].isdigit():
            w.line(f"{w.declare(identifier)} = {w.text(expr)};")
    is_of_step = stmt.at is None  # then nothing that the user has written could fail
    memory = w.site("device_memory" if is_of_step else "memory", stmt.array, 0, stmt.at)
    count = w.declare(w.fresh(f"lw_count_{pointer}", "int64_t"))
    for axis in (axis for axis in array.sizes if not axis[0].isdigit()):
        if is_of_step:
            w.only(f"{axis} < 0", f"{axis} = 0;")
        else:
            w.fail(w.site("negative_size", stmt.array, 0, stmt.at), axis, condition=f"{axis} < 0")
    zero = " || ".join(f"{axis} == 0" for axis in array.sizes) or "0"
    overflow = " || ".join(f"__builtin_mul_overflow({count}, {axis}, &{count})" for axis in array.sizes) or "0"
    size, gpu = array.element.size_bytes, w.use("gpu")
    w.line(f"{count} = 1;")
    w.only(zero, f"{count} = 0;")
    with w.otherwise():
        w.fail(memory, condition=f"{overflow} || {count} > (INT64_MAX / {size})")
    w.line(f"{w.use('lw_small')} &= {count} < INT32_MAX / 2;")
    kept = next((k for k, one in enumerate(w.orders) if one.order == stmt.array), None)
    if kept is not None:
        w.line(f"{pointer} = lw_keep({gpu}, &{w.use('lw_kept')}[{kept}], {count});")
        w.fail(memory, count, condition=f"!{pointer}")
        return
    w.only(pointer, f"gpu->release({gpu}, {pointer});")
    w.line(f"{pointer} = gpu->allocate(gpu, {count} * {size} + 1);")
    w.fail(memory, count, condition=f"!{pointer}")
    if pointer not in w.function.buffers:
        w.function.buffers.append(pointer)
    if stmt.fill is None or stmt.array in w.begins:
        return
    if not stmt.fill.value and str(stmt.fill.value) != "-0.0":
        w.launched(f"gpu->clear(gpu, {pointer}, {count} * {size})")
    else:
        write_fill(array, stmt.fill, count, w)


def _slots(w: GpuWriter) -> None:
    """Lines for room for scalars that the device hands to the host."""
    if w.slots:
        site = w.site("memory", "", 0, None)
        w.line(f"lw_slots = {w.use('gpu')}->visible(gpu, {8 * w.slots});")
        w.fail(site, f"{w.slots}", condition="!lw_slots")
        w.function.buffers.append("lw_slots")
    if count := w.kept.count:
        site = w.site("memory", "", 0, None)
        w.line(f"{w.room('lw_kept_scalars')} = {w.use('gpu')}->allocate(gpu, {16 * count});")
        w.fail(site, f"{count}", condition="!lw_kept_scalars")
        w.function.buffers.append("lw_kept_scalars")


# ---- the entry --------------------------------------------------------------------------------------------------


def _small(w: GpuWriter) -> str:
    """C text: whether 32 bits are enough for the distance between any two elements (bytes, for arrays of records)."""
    tests = []
    for array in w.arrays.values():
        if array.slot is not None:
            unit = 1 if array.bytes else array.element.size_bytes
            shape = f"call->shape[{array.slot}], call->strides[{array.slot}]"
            own = array.rank if not array.bytes else sum(not size[0].isdigit() for size in array.sizes)
            tests.append(f"lw_is_small({own}, {shape}, {unit})")
    return " && ".join(dict.fromkeys(tests)) or "1"
