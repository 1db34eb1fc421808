"""What one thread of the device runs between the grids, and the scalars that the host needs of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from loopwright.analysis.scalars import flow
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.c_text import VALUE_TYPE, literal
from loopwright.codegen.device_scalars import DeviceScalars
from loopwright.codegen.function import Function
from loopwright.codegen.gpu_writer import GpuWriter, any_may_fail
from loopwright.codegen.most_work import Amount, most_work
from loopwright.codegen.safepoints import ask_where_long
from loopwright.codegen.statements import write_body
from loopwright.ir.nodes import (
    Body,
    Const,
    Kernel,
    Store,
    Var,
)
from loopwright.ir.queries import names_assigned
from loopwright.ir.walk import own_expressions, statements, subexpressions

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


def handed_over(body: Body, w: GpuWriter, wanted: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """The scalars that statements set and others read, or that are wanted."""
    return [name for name in sorted(names_assigned(body)) if name in wanted or _is_read_elsewhere(w.kernel, body, name)]


def declare_own(body: Body, handed: Collection[str], w: GpuWriter) -> None:
    """Declare the scalars that statements set before they read them, and that nobody else needs."""
    for name in sorted(names_assigned(body) - flow(body).exposed - set(handed)):
        w.own(w.names.of(name))


class Handed(NamedTuple):
    """A scalar that a kernel puts where a pointer, a parameter, says. where: `out` is for the host, which waits;
    `shown` for the host, should it look; `kept` for the device."""

    pointer: str
    name: str
    where: Literal["out", "shown", "kept"]


def write_handed(names: Sequence[str], w: GpuWriter, only: str = "") -> list[Handed]:
    """On the device: put scalars where others find them. only: a condition."""
    handed: list[Handed] = []
    for name in names:
        for where in _places(name, w.kept.found):
            pointer = w.fresh(f"lw_{where}_{w.names.of(name)}", f"LW_GLOBAL({VALUE_TYPE[w.scalars[name].name]})")
            w.only(only, f"{w.use(pointer)}[0] = {w.use(w.names.of(name))};", axes="xyz" if only else "")
            handed.append(Handed(pointer, name, where))
    return handed


def _places(name: str, kept: DeviceScalars) -> tuple[Literal["out", "shown", "kept"], ...]:
    if name not in kept.names:
        return ("out",)
    return ("kept", "shown") if name in kept.seen else ("kept",)


@contextmanager
def fetched(handed: Sequence[Handed], w: GpuWriter) -> Iterator[dict[str, str]]:
    """Around the start of a kernel on the host, which is given these pointers: what they hold afterwards."""
    awaited = [one for one in handed if one.where == "out"]
    kept = [one for one in handed if one.where == "kept"]
    with w.block():
        for number, one in enumerate(awaited):
            w.line(f"char *{one.pointer} = {w.room('lw_slots')} + {8 * number};")
        w.slots = max(w.slots, len(awaited))
        for one in handed:
            place = w.kept.place_of(one.name) if one.where != "out" else 0
            if one.where == "shown":
                w.line(f"char *{one.pointer} = {w.room('lw_shown')} + {8 * place};")
            elif one.where == "kept":
                first = f"{w.room('lw_kept_scalars')} + {16 * place}"
                w.line(f"char *{one.pointer} = {first} + ({w.keep(one.name)} == {first} ? 8 : 0);")
        yield {one.pointer: one.pointer for one in handed}
        for one in awaited:
            value = w.use(w.names.of(one.name))
            w.fetches = True
            w.launched(f"gpu->fetch(gpu, &{value}, {one.pointer}, sizeof {value})")
            w.waits = not w.function.depth
        for one in kept:
            w.line(f"{w.keep(one.name)} = {one.pointer};")
        if awaited and any_may_fail(w):
            w.stop_after_failure()
    w.kept.stale |= {one.name for one in kept}
    w.kept.latest |= {one.name for one in kept}


def _is_read_elsewhere(kernel: Kernel, body: Body, name: str) -> bool:
    inside = {id(stmt) for stmt in statements(body)}
    return any(
        isinstance(part, Var) and part.name == name
        for stmt in statements(kernel.body)
        if id(stmt) not in inside
        for expr in own_expressions(stmt)
        for part in subexpressions(expr)
    )


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
