"""What one thread of the device runs between the grids."""

from __future__ import annotations

from collections.abc import Collection

from loopwright.analysis.scalars import flow
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.c_text import literal
from loopwright.codegen.function import Function
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.handed_scalars import fetched, handed_over, write_handed
from loopwright.codegen.most_work import Amount, most_work
from loopwright.codegen.safepoints import ask_where_long
from loopwright.codegen.statements import write_body
from loopwright.ir.nodes import (
    Body,
    Const,
    Store,
)
from loopwright.ir.queries import names_assigned

FILL_THREADS = 256
WAVES = 16
"""Where each thread does less than one part in so many of what a launch may do, the end of a launch costs little."""


def write_one_thread(body: Body, w: GpuWriter, wanted: frozenset[str] | set[str] = frozenset()) -> None:
    """Statements that one thread of the device runs, and the scalars that others need of it, or that are wanted."""
    part = Function(w.names.fresh("lw_single"), on_device=True)
    handed = handed_over(body, w, wanted)
    work = most_work((), body, (), w)
    ask_where_long(part, work, w)
    with w.on_device(part):
        declare_own(body, handed, w)
        write_body(body, w)
        given = write_handed(handed, w)
    w.finish_kernel(part, 1, body)
    with fetched(given, w) as own:
        each = write_each(part, work, w)
        w.start(part, ("1", "1", "1"), (1, 1, 1), own, each)


def write_each(part: Function, work: Amount, w: GpuWriter, threads: str = "") -> str:
    """Lines of the host for what a thread does at most, and whether the kernel with questions is to run, where there is
    one without; the C text of the former. threads: C text of how many there are, a double. Where all of them are too
    many for one launch and each does much, questions cost less than the end of each launch, when few blocks run."""
    if isinstance(work, str):
        w.line(f"const double lw_each = {work};")
    if part.both:
        most = f"(double){w.use('gpu')}->patience"
        split = f" || (lw_each > {most} / {WAVES} && lw_each * {threads} > {most} * LW_ABREAST)" if threads else ""
        w.line(f"const bool lw_asks = lw_each > {most}{split};")
    return "lw_each" if isinstance(work, str) else str(work or 0.0)


def declare_own(body: Body, handed: Collection[str], w: GpuWriter) -> None:
    """Declare the scalars that statements set before they read them, and that nobody else needs."""
    for name in sorted(names_assigned(body) - flow(body).exposed - set(handed)):
        w.own(w.names.of(name))


def write_fill(array: ArrayText, fill: Const, count: str, w: GpuWriter) -> None:
    """A kernel that gives every element of an array one value, and its start."""
    part = Function(w.names.fresh(f"lw_fill_{array.pointer}"), on_device=True, asks=False)
    w.types["lw_count"] = "int64_t"
    with w.on_device(part):
        w.line(f"const int64_t lw_i = (int64_t)blockIdx.x * {FILL_THREADS} + threadIdx.x;")
        value = literal(fill.value, fill.type)
        w.only(f"lw_i < {w.use('lw_count')}", f"{w.use(array.pointer)}[lw_i] = {value};")
    w.finish_kernel(part, FILL_THREADS, (Store(array.name, (), fill),))
    with w.branch(count):  # a grid of no blocks is refused
        w.line(f"const int64_t lw_count = {count};")
        w.start(part, (f"(lw_count + {FILL_THREADS - 1}) / {FILL_THREADS}", "1", "1"), (FILL_THREADS, 1, 1),
                {"lw_count": "lw_count"})  # fmt: skip
