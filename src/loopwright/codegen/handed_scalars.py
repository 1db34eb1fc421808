"""Scalars that kernels hand over: to the host, which waits for them, or to other kernels, in device memory
(device_scalars.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from loopwright.analysis.scalars import flow
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.gpu_writer import GpuWriter, any_may_fail
from loopwright.ir.nodes import Body, For, Kernel, Var, While
from loopwright.ir.queries import names_assigned
from loopwright.ir.walk import own_expressions, statements, subexpressions


def handed_over(body: Body, w: GpuWriter, wanted: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """The scalars that statements set and others read, or they themselves when they come again, or that are wanted."""
    own = flow(body).exposed if _comes_again(w.kernel, body) else frozenset()
    return [
        name
        for name in sorted(names_assigned(body))
        if name in wanted or name in own or _is_read_elsewhere(w.kernel, body, name)
    ]


class Handed(NamedTuple):
    """A scalar that a kernel puts where a pointer, a parameter, says. stays: on the device; else the host waits."""

    pointer: str
    name: str
    stays: bool


def write_handed(names: Sequence[str], w: GpuWriter, only: str = "") -> list[Handed]:
    """On the device: put scalars where others find them. only: a condition."""
    handed: list[Handed] = []
    for name in names:
        stays = name in w.kept.found.names
        where = f"lw_{'kept' if stays else 'out'}_{w.names.of(name)}"
        pointer = w.fresh(where, f"LW_GLOBAL({VALUE_TYPE[w.scalars[name].name]})")
        w.only(only, f"{w.use(pointer)}[0] = {w.use(w.names.of(name))};", axes="xyz" if only else "")
        handed.append(Handed(pointer, name, stays))
    return handed


@contextmanager
def fetched(handed: Sequence[Handed], w: GpuWriter) -> Iterator[dict[str, str]]:
    """Around the start of a kernel on the host, which is given these pointers: what they hold afterwards."""
    awaited, kept = [one for one in handed if not one.stays], [one for one in handed if one.stays]
    with w.block():
        for number, one in enumerate(awaited):
            w.line(f"char *{one.pointer} = {w.room('lw_slots')} + {8 * number};")
        w.slots = max(w.slots, len(awaited))
        for one in kept:
            first = f"{w.room('lw_kept_scalars')} + {16 * w.kept.place_of(one.name)}"
            w.line(f"char *{one.pointer} = {first} + ({w.keep(one.name)} == {first} ? 8 : 0);")
        yield {one.pointer: one.pointer for one in handed}
        for one in awaited:
            w.fetch(w.use(w.names.of(one.name)), one.pointer)
            w.waits = not w.function.depth
        for one in kept:
            w.line(f"{w.keep(one.name)} = {one.pointer};")
        if awaited and any_may_fail(w):
            w.stop_after_failure()
    w.kept.stale |= {one.name for one in kept}
    w.kept.latest |= {one.name for one in kept}


def _comes_again(kernel: Kernel, body: Body) -> bool:
    """Whether a loop stands around the statements."""
    around = statements(kernel.body, For, While)
    return any(stmt is body[0] for loop in around for stmt in statements(loop.body))


def _is_read_elsewhere(kernel: Kernel, body: Body, name: str) -> bool:
    inside = {id(stmt) for stmt in statements(body)}
    return any(
        isinstance(part, Var) and part.name == name
        for stmt in statements(kernel.body)
        if id(stmt) not in inside
        for expr in own_expressions(stmt)
        for part in subexpressions(expr)
    )
