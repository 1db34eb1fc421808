"""C text of partial results: the variables that keep them, and what stands for a target meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.decisions import PartialResult
from loopwright.codegen.function import Writer
from loopwright.codegen.reduce import combine, identity
from loopwright.ir.nodes import For, Load, While
from loopwright.ir.queries import contains
from loopwright.ir.walk import expressions


def named(partials: tuple[PartialResult, ...], w: Writer) -> tuple[PartialResult, ...]:
    """Partial results with variables that keep them."""
    targets = (w.names.of(one.reduction.target) for one in partials)
    variables = (w.names.fresh(f"{target}sum") for target in targets)
    return tuple(replace(one, variable=variable) for one, variable in zip(partials, variables, strict=True))


@contextmanager
def standing_in(partials: tuple[PartialResult, ...], w: Writer) -> Iterator[None]:
    """Inside, the targets of the reductions mean the partial results; after it, what they meant before (which may be
    the partial result of a loop further out)."""
    part = w.function
    before = part.renamed, part.replaced
    part.renamed, part.replaced = dict(part.renamed), dict(part.replaced)
    for one in partials:
        part.scoped.add(one.variable)
        if one.store is None:
            part.renamed[one.reduction.target] = one.variable
        else:
            part.replaced[one.store.array, one.store.index] = one.variable
    yield
    part.renamed, part.replaced = before


def target_of(one: PartialResult, w: Writer) -> str:
    """C text of what a partial result is finally put into."""
    return w.variable(one.reduction.target) if one.store is None else w.element(one.store)


def type_of(one: PartialResult, loop: For) -> str:
    """The C type of its variable. Whether anything holds is kept in a number as wide as what the loop reads: C
    compilers do not make code for whole registers of a bool."""
    if one.scalar.kind != "bool" or one.reduction.op not in ("and", "or", "xor") or contains(loop.body, For, While):
        return VALUE_TYPE[one.scalar.name]
    bits = (8 if part.type.kind == "bool" else part.type.bits for part in expressions(loop.body, Load))
    return f"uint{max(bits, default=64)}_t"


def declare(partials: Iterable[PartialResult], loop: For, w: Writer) -> None:
    """Declare their variables, with nothing in them."""
    for one in partials:
        w.line(f"{type_of(one, loop)} {one.variable} = {identity(one.reduction.op, one.scalar)};")


def put_into(target: str, one: PartialResult, w: Writer) -> None:
    """Add a partial result to a target (C text)."""
    w.line(f"{target} = {combine(one.reduction.op, one.scalar, target, one.variable)};")


def one_by_one(partials: tuple[PartialResult, ...], w: Writer) -> Callable[[], None] | None:
    """What begins an iteration of a loop of few that adds up in order (LW_ONE_BY_ONE): where results are rounded, there
    is nothing in it for vector registers."""
    is_rounded = any(one.scalar.is_float and one.reduction.op in ("add", "mul") for one in partials)
    return partial(w.line, "LW_ONE_BY_ONE;") if is_rounded else None
