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


def declare(partials: Iterable[PartialResult], w: Writer) -> None:
    """Declare their variables, with nothing in them."""
    for one in partials:
        w.line(f"{VALUE_TYPE[one.scalar.name]} {one.variable} = {identity(one.reduction.op, one.scalar)};")


def put_into(target: str, one: PartialResult, w: Writer) -> None:
    """Add a partial result to a target (C text)."""
    w.line(f"{target} = {combine(one.reduction.op, one.scalar, target, one.variable)};")


def one_by_one(partials: tuple[PartialResult, ...], w: Writer) -> Callable[[], None] | None:
    """What begins an iteration of a loop of few that adds up in order (LW_ONE_BY_ONE): where results are rounded, there
    is nothing in it for vector registers."""
    is_rounded = any(one.scalar.is_float and one.reduction.op in ("add", "mul") for one in partials)
    return partial(w.line, "LW_ONE_BY_ONE;") if is_rounded else None
