"""The default recipe: from facts alone, without any measurement, to a schedule with a reason for each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from loopwright.analysis.facts import Facts
from loopwright.ir.launch_bound import LaunchBound
from loopwright.ir.nodes import Kernel
from loopwright.recipe.carried_elements import elements_carried
from loopwright.recipe.chequered import chequered
from loopwright.recipe.code_hoisting import hoisted
from loopwright.recipe.constant_sizes import with_constant_sizes
from loopwright.recipe.index_set_splitting import apart_at_points
from loopwright.recipe.interchange import along_rows, in_order
from loopwright.recipe.layouts import in_layouts
from loopwright.recipe.loop_fusion import loops_fused
from loopwright.recipe.loop_partitioning import without_conditions
from loopwright.recipe.loop_reversal import upwards
from loopwright.recipe.marks import LANES, LEVEL, marks
from loopwright.recipe.maximal_distribution import products_apart
from loopwright.recipe.modulo_unrolling import by_remainders
from loopwright.recipe.partial_schedule import NotTaken, PartialSchedule, ReasonedStep
from loopwright.recipe.recurrences import side_by_side
from loopwright.recipe.register_blocking import in_registers
from loopwright.recipe.renumbering import among_neighbours
from loopwright.recipe.rounds_together import rounds_together
from loopwright.recipe.run_time_inspection import inspected
from loopwright.recipe.shape import shaped
from loopwright.recipe.short_loops import in_full
from loopwright.recipe.short_rows import short_rows
from loopwright.recipe.target import CpuTarget
from loopwright.recipe.time_tiling import across_time, on_diagonals
from loopwright.recipe.triangular_depth import in_blocks
from loopwright.recipe.tunable import Choices, Tunable, UnfitError
from loopwright.recipe.unroll_and_jam import rows_side_by_side
from loopwright.recipe.windows import counted_from_zero, windows_side_by_side
from loopwright.steps.schedule import Schedule

RESTRUCTURED = Tunable(
    "what the recipe does",
    1,
    (0, 1),
    "what the facts promise a gain from, or loops as they are written",
    leads=True,
    words=("nothing", "everything"),
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The decisions in the order of their steps, the kernel after all of them, and what is proven of it. For a GPU,
    alone: loops that need no order, but run in one thread, by name, and why; not_on_gpu: why all is better off on the
    CPU for that, '' where it is not; launch_bounds: for which calls the CPU is done sooner than the launches."""

    decisions: tuple[ReasonedStep, ...]
    kernel: Kernel
    facts: Facts
    alone: Mapping[str, str] = field(default_factory=dict)
    not_on_gpu: str = ""
    launch_bounds: tuple[LaunchBound, ...] = ()

    @property
    def schedule(self) -> Schedule:
        """The steps alone."""
        return tuple(decision.step for decision in self.decisions)


def recipe(
    kernel: Kernel,
    facts: Facts,
    strict: bool,
    target: CpuTarget | None,
    choices: Choices | None = None,
    records: Mapping[int, int] | None = None,
    may_remap: bool = False,
) -> Recipe:
    """What to do with a kernel on a machine; without a `target` its loops are not changed, only marked. choices: other
    numbers than the defaults, and a place for what is asked for; with them, raises UnfitError where they do not fit.
    records: how many bytes the records of each argument have, where arrays may have other layouts for a while.
    may_remap: what index arrays count may have another numbering for a while."""
    partial = PartialSchedule(kernel, facts, strict, kernel, choices=choices)
    if target is not None and not kernel.overlap:
        if records is not None:
            # Before all else: what loops cost depends on where their data lies.
            in_layouts(partial, records)
        if may_remap:
            # Likewise, and what it makes of a nest are two.
            among_neighbours(partial, target)
        if partial.number(RESTRUCTURED):
            if target.cores > 1:
                inspected(partial)
            _restructured(partial, target)
        try:
            shaped(partial)
        except NotTaken as step:
            raise UnfitError(f"'{step}' is not legal there") from None
    return _marked(partial)


def _restructured(partial: PartialSchedule, target: CpuTarget) -> None:
    # First of all, as it looks at nests as a whole; where one is all of the kernel, little is left for the others.
    with_constant_sizes(partial)
    short_rows(partial)
    # What needs an order for odd sizes only has one for odd sizes only.
    chequered(partial)
    counted_from_zero(partial)
    told = len(partial.decisions)
    across_time(partial, target)
    if len(partial.decisions) > told and len(partial.written.body) == 1:
        along_rows(partial)  # the version for small arrays and few sweeps
        return
    # Before loops are told apart by what they hold: neighbours that go along the same elements are one.
    loops_fused(partial)
    # What is the same in many iterations first: it stands beside products.
    hoisted(partial)
    # Products first that share a nest with other statements: what follows looks for nests that are one product.
    products_apart(partial)
    # Before loops get their order: what the rows of a block have in common is a nest of its own then.
    in_blocks(partial)
    # Cheap lines first: blocks are chosen for the loop order that is left.
    is_new = in_order(partial)
    side_by_side(partial)
    windows_side_by_side(partial, extremes=True)
    in_registers(partial, target)
    # What is no product.
    windows_side_by_side(partial)
    rows_side_by_side(partial)
    # Then what is still tied: cuts triple the loops, so that nothing else should come after them.
    if not is_new:  # else what was tied in the old order is no guide
        apart_at_points(partial)
    if len(partial.decisions) == told:
        on_diagonals(partial, target)
    in_full(partial)
    without_conditions(partial)
    by_remainders(partial)
    # Whatever loop is innermost by now.
    upwards(partial)
    # What its iterations hand on: it stands beside what other steps look for.
    elements_carried(partial)
    # A mark: nothing is restructured any more.
    rounds_together(partial, target)


def _marked(partial: PartialSchedule) -> Recipe:
    """The plan with how its loops run."""
    facts = partial.present_facts()
    numbers = partial.number(LEVEL), bool(partial.number(LANES))
    for step in marks(partial.kernel, facts, partial.strict, *numbers, partial.few):
        partial.kernel = step.apply(partial.kernel)
        partial.decisions.append(ReasonedStep(step, ""))
    return Recipe(tuple(partial.decisions), partial.kernel, facts)
