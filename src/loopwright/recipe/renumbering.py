"""What index arrays count gets numbers near those of its neighbours while a loop over time runs (`renumber`): for
meshes and graphs whose numbering has nothing to do with who neighbours whom.

Whether that pays is a question of the numbers in the arrays, of sizes, and of how often the loop runs, so that the code
itself decides, in three tests of which each is far cheaper than what it spares: sizes; some rows of the index array;
and a search of a small part (steps/numbering.py). A loop that may end early is left alone, as nobody knows how often it
runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from loopwright.analysis.facts import Facts
from loopwright.analysis.trace import escapes
from loopwright.ir.nodes import Body, Break, For, Kernel, Load, Var
from loopwright.ir.queries import accesses, contains, names_assigned
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import statements, subexpressions
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule
from loopwright.recipe.target import CpuTarget
from loopwright.steps.numbering import elements_of
from loopwright.steps.renumber import Renumber
from loopwright.steps.step import Step

WHY = "where '{}' leads far through memory, arrays lie in the order of a search among neighbours while '{}' runs"
EACH_THREAD = 8
"""A loop has to run so often for each core: the search is the work of one thread, and what it spares that of all."""
LEAST = 16
"""A loop has to run so often in any case."""


def among_neighbours(partial: PartialSchedule, target: CpuTarget) -> None:
    """Renumber what index arrays count while outermost loops run."""
    for loop in list(_over_time(partial.kernel)):
        for table in _tables(partial.kernel, (loop,)):
            times = LEAST + EACH_THREAD * target.cores
            step = Renumber(table, loop.name, beyond=target.l2_bytes, times=times)
            if not step.has_neighbours(partial.kernel, partial.present_facts(), partial.strict):
                continue
            try:
                partial.take(step, why(step), anew=True)
            except NotTaken:
                continue
            partial.begin_again()
            break


def among_clusters(kernel: Kernel, facts: Facts, strict: bool) -> Renumber | None:
    """The step that does it with an order that all threads of a GPU find together, for the first outermost loop where
    one is legal."""
    for loop in _over_time(kernel):
        for table in _tables(kernel, (loop,)):
            step = Renumber(table, loop.name, clusters=True)
            if step.has_neighbours(kernel, facts, strict) and step.illegal(kernel, facts, strict) is None:
                return step
    return None


def may_count(kernel: Kernel) -> bool:
    """Whether some loop over time may go through what an index array counts, at a glance."""
    return any(next(_tables(kernel, (loop,)), None) is not None for loop in _over_time(kernel))


def _over_time(kernel: Kernel) -> Iterator[For]:
    for loop in kernel.body:
        if isinstance(loop, For) and contains(loop.body, For) and not _ends_early(loop):
            yield loop


def why(step: Step) -> str:
    """Why it is taken."""
    return WHY.format(user_name(step.array), user_name(step.loop)) if isinstance(step, Renumber) else ""


def _ends_early(loop: For) -> bool:
    jumps = any(isinstance(stmt, Break) and stmt.loop == loop.name for stmt in statements(loop.body))
    return jumps or bool(escapes(loop))


def _tables(kernel: Kernel, inside: Body) -> Iterator[str]:
    """Arrays of whole numbers whose elements are subscripts of others, each once, at a glance."""
    whole = {name for name, (element, _) in elements_of(kernel).items() if element.is_integer}
    assigned, found = names_assigned(inside), dict[str, None]()
    scalars = {part.name for node in accesses(inside) for index in node.index for part in subexpressions(index, Var)}
    for node in accesses(inside):
        for index in node.index:
            found |= dict.fromkeys(load.array for load in subexpressions(index, Load))
    if scalars & assigned:
        for stmt in statements(inside):
            name = getattr(stmt, "name", "")
            value = getattr(stmt, "value", None)
            if name in scalars & assigned and isinstance(value, Load):
                found[value.array] = None
    return iter([name for name in found if name in whole])
