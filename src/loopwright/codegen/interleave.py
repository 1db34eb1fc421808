"""Several iterations of a thread at once: first all that can be read ahead is read, stage by stage, so that many loads
are under way before anything waits for one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from loopwright.analysis.row_pointers import stages
from loopwright.codegen.c_text import VALUE_TYPE
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.ir.nodes import Body, Expr, Load, Var
from loopwright.ir.types import INT64


@dataclass
class Iteration:
    """One of the iterations that a thread works on at once: C names that stand for scalars, and for elements."""

    number: int
    renamed: dict[str, str]
    replaced: dict[tuple[str, tuple[Expr, ...]], str] = field(default_factory=dict)


@contextmanager
def about(item: Iteration, w: GpuWriter) -> Iterator[None]:
    """Within the block, text is about one iteration."""
    outer = w.function.renamed, w.function.replaced
    w.function.renamed, w.function.replaced = outer[0] | item.renamed, outer[1] | item.replaced
    yield
    w.function.renamed, w.function.replaced = outer


def read_ahead(
    body: Body,
    items: Sequence[Iteration],
    w: GpuWriter,
    targets: frozenset[str],
    held: frozenset[str] = frozenset(),
    along: str = "",
) -> Body:
    """Lines that read, for all items, what straight code reads in any case, and set the scalars that it sets once, but
    for `targets`; nothing of the arrays in `held`, which may change meanwhile. along: a loop no two iterations of which
    read the same element where the index is its variable. What is left to do for each item."""
    found, rest = stages(body, targets, held)
    reads = 0
    for stage in found:
        for item in items:
            with about(item, w):
                for stmt in stage.scalars:
                    name = f"{w.names.of(stmt.name)}{item.number}"
                    w.line(f"const {VALUE_TYPE[stmt.value.type.name]} {name} = {w.text(stmt.value)};")
                    w.function.renamed[stmt.name] = item.renamed[stmt.name] = name
        _read(stage.loads, items, reads, along, w)
        reads += len(stage.loads)
    return rest


def _read(loads: Sequence[Load], items: Sequence[Iteration], reads: int, along: str, w: GpuWriter) -> None:
    """Read elements for all items; `reads` were read before."""
    texts: dict[tuple[int, int], str] = {}
    with w.testing_at_once():
        for number, load in enumerate(loads):
            for item in items:
                with about(item, w):
                    texts[number, item.number] = w.element(load)
    for (number, at), text in texts.items():
        load = loads[number]
        if Var(along, INT64) in load.index:
            text = f"LW_PASSING({text})"  # what is read again and again stays in the caches then
        name = f"lw_read_{reads + number}_{at}"
        w.line(f"const {w.arrays[load.array].memory_type} {name} = {text};")
        items[at].replaced[load.array, load.index] = name
