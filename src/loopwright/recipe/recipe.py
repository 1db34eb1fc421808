"""The default recipe: from facts alone, without any measurement, to a schedule with a reason for each step."""

from __future__ import annotations

from dataclasses import dataclass

from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Kernel
from loopwright.recipe.blocks import in_registers
from loopwright.recipe.lanes import side_by_side
from loopwright.recipe.marks import LANES, LEVEL, marks
from loopwright.recipe.plan import Decision, NotTaken, Plan
from loopwright.recipe.points import apart_at_points
from loopwright.recipe.rows import in_order
from loopwright.recipe.shape import shaped
from loopwright.recipe.target import Target
from loopwright.recipe.time import across_time, on_diagonals
from loopwright.recipe.tunable import Choices, Tunable, UnfitError
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
    """The decisions in the order of their steps, the kernel after all of them, and what is proven of it."""

    decisions: tuple[Decision, ...]
    kernel: Kernel
    facts: Facts

    @property
    def schedule(self) -> Schedule:
        """The steps alone."""
        return tuple(decision.step for decision in self.decisions)


def recipe(kernel: Kernel, facts: Facts, strict: bool, target: Target | None, choices: Choices | None = None) -> Recipe:
    """What to do with a kernel on a machine; without a `target` its loops are not changed, only marked. choices: other
    numbers than the defaults, and a place for what is asked for; with them, raises UnfitError where they do not fit."""
    plan = Plan(kernel, facts, strict, kernel, choices=choices)
    if target is not None and not kernel.overlap:
        if plan.number(RESTRUCTURED):
            _restructured(plan, target)
        try:
            shaped(plan)
        except NotTaken as step:
            raise UnfitError(f"'{step}' is not legal there") from None
    return _marked(plan)


def _restructured(plan: Plan, target: Target) -> None:
    # First of all, as it looks at a kernel as a whole; where it does something, little is left for the others.
    across_time(plan, target)
    if plan.decisions:
        return
    # Cheap lines first: blocks are chosen for the loop order that is left.
    is_new = in_order(plan)
    side_by_side(plan)
    in_registers(plan, target)
    # Then what is still tied: cuts triple the loops, so that nothing else should come after them.
    if not is_new:  # else what was tied in the old order is no guide
        apart_at_points(plan)
    if not plan.decisions:
        on_diagonals(plan, target)


def _marked(plan: Plan) -> Recipe:
    """The plan with how its loops run."""
    facts = plan.present_facts()
    for step in marks(plan.kernel, facts, plan.strict, plan.number(LEVEL), bool(plan.number(LANES))):
        plan.kernel = step.apply(plan.kernel)
        plan.decisions.append(Decision(step, ""))
    return Recipe(tuple(plan.decisions), plan.kernel, facts)
