"""Scatter reductions by owner: every thread looks at all updates, and applies those to its own part of the target. So
each element gets its updates in the order of the loop, from one thread: the same bits in every run, on any number of
threads. It needs no copies of the target, and what a thread touches is the smaller the more threads there are.

Atomics are not used: for floats their order, and so the result, would differ from run to run; for integers they were
slower than this at every size and number of threads that was measured (2, 4 and 16 threads).
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.codegen.decisions import Owned
from loopwright.codegen.function import Function, Writer
from loopwright.codegen.loops import write_sequential
from loopwright.codegen.safepoints import operations_in, spend
from loopwright.codegen.statements import write_body
from loopwright.codegen.versions import FROM, TO, bound_named, tests_of, write_both
from loopwright.ir.nodes import For
from loopwright.ir.queries import types_assigned

BLOCK = 6  # neighbouring elements with one owner, as a power of two
STRIP = 1024  # updates that are looked at before those of one's own are applied


def write_owner(loop: For, owned: Owned, w: Writer) -> Function:
    """The function of one owner: all iterations, those updates that belong to lw_thread."""
    outer = w.function
    part = Function(w.names.fresh(f"lw_own_{w.names.of(loop.name)}"))
    w.function = part
    for name in types_assigned(loop.body):
        w.own(w.names.of(name))
    w.types |= dict.fromkeys(("lw_lower", "lw_count", "lw_thread", "lw_team_size"), "int64_t")
    lower, count = w.use("lw_lower"), w.use("lw_count")
    w.line(f"const int64_t {FROM} = {lower}, {TO} = {lower} + {count};")
    entry = w.decided.versions.get(loop.name)
    if entry is None:
        _write_strips(loop, owned, w)
    else:
        write_both(
            tests_of(entry, loop, w), entry.inside, FROM, f"({TO} - 1)", w, loop,
            lambda: _write_strips(loop, owned, w), lambda: _write_alone(loop, w),
        )  # fmt: skip
    w.function = outer
    w.finish(part)
    return part


def _is_mine(owned: Owned, w: Writer) -> str:
    """Whether a thread has to do with an update: it is its own, or it fails, which the update itself finds out."""
    array, size = w.arrays[owned.array], w.size(owned.array, 0)
    # Neighbours in memory have one owner; beyond that owners alternate, since often a part of a target is busiest.
    shift = BLOCK if array.rank == 1 or array.layout in ("F", "first") else 0
    thread, team = w.use("lw_thread"), w.use("lw_team_size")
    return (
        f"({{ int64_t lw_x = {w.text(owned.index)}; lw_x += lw_x < 0 ? {size} : 0; "
        f"(lw_owner(lw_x >> {shift}, {team}) == {thread}) | ((uint64_t)lw_x >= (uint64_t){size}); }})"
    )


def _write_strips(loop: For, owned: Owned, w: Writer) -> None:
    variable = w.names.of(loop.name)
    count = w.use("lw_count")
    w.function.scoped.add(variable)
    # Counted from 0, because the variable itself might run over.
    with w.loop(f"int64_t lw_strip = 0; lw_strip < {count}; lw_strip += {STRIP}"):
        w.line(f"int16_t lw_mine[{STRIP + 1}];")
        w.line(f"const int64_t lw_length = {count} - lw_strip < {STRIP} ? {count} - lw_strip : {STRIP};")
        w.line("int64_t lw_found = 0;")
        spend(STRIP * operations_in(loop.body), w)
        with w.loop("int64_t lw_k = 0; lw_k < lw_length; ++lw_k"):
            w.line(f"const int64_t {variable} = {FROM} + lw_strip + lw_k;")
            w.line("lw_mine[lw_found] = (int16_t)lw_k;")
            w.line(f"lw_found += {_is_mine(owned, w)};")
        with w.loop("int64_t lw_k = 0; lw_k < lw_found; ++lw_k", loop.name):
            w.line(f"const int64_t {variable} = {FROM} + lw_strip + lw_mine[lw_k];")
            write_body(loop.body, w)
    w.function.scoped.discard(variable)


def _write_alone(loop: For, w: Writer) -> None:
    """Where an index cannot be read ahead without checks: the first owner applies all updates, in order."""
    with w.branch(f"{w.use('lw_thread')} == 0"):
        write_sequential(replace(loop, lower=bound_named(FROM, w), upper=bound_named(TO, w)), w)
