"""A schedule: a sequence of steps, and its text, which is log line, golden file and replay format at once."""

from __future__ import annotations

from dataclasses import replace

from loopwright.analysis.analyse import analyse_restructured
from loopwright.analysis.facts import Facts
from loopwright.errors import ScheduleError
from loopwright.ir.nodes import For, Kernel, Location, Run, Stmt
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops, rewrite_body
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.catalogue import STEPS
from loopwright.steps.grids import unrunnable
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.step import Rejection, Step
from loopwright.steps.vectorize import Vectorize

Schedule = tuple[Step, ...]
RUNS: tuple[Run, ...] = (
    "parallel", "vector", "block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z", "balanced", "entries",
    "sorted", "lockstep", "off_gpu", "sequential",
)  # fmt: skip


def print_schedule(schedule: Schedule) -> str:
    """`parallelize i; vectorize j`; the empty schedule is the empty text."""
    return "; ".join(str(step) for step in schedule)


def parse_schedule(text: str) -> Schedule:
    """The steps of a schedule's text. Raises ScheduleError with the position of the fault."""
    if "{" in text:
        raise ScheduleError(
            "this schedule leaves numbers open", text, text.index("{"), "one of them; or tune, which tries them all"
        )
    by_name = {step.name: step for step in STEPS}
    schedule: list[Step] = []
    position = 0
    for part in text.split(";"):
        words = tuple(part.split())
        start = position + len(part) - len(part.lstrip())
        position += len(part) + 1
        if not words:
            continue
        kind = by_name.get(words[0])
        if kind is None:
            raise ScheduleError(f"no step '{words[0]}'", text, start, f"one of {', '.join(sorted(by_name))}")
        try:
            schedule.append(kind.parse(words[1:]))
        except ValueError as error:
            raise ScheduleError(f"'{part.strip()}' does not parse", text, start, str(error)) from None
    return tuple(schedule)


def apply_schedule(kernel: Kernel, facts: Facts, schedule: Schedule, strict: bool) -> tuple[Kernel, Facts]:
    """The kernel after every step, and what is known of it. After a step that changed more than how a loop runs,
    everything is proven anew, on the new kernel. Raises ScheduleError naming the first step that is not legal, its
    position in the schedule's text, and why."""
    for number, step in enumerate(schedule):
        rejection = step.illegal(kernel, facts, strict)
        if rejection is not None:
            raise _not_legal(schedule, number, rejection)
        after = step.applied(kernel, facts)
        if not isinstance(step, Parallelize | Vectorize | Balance | Bind):
            verify(after)
            facts = analyse_restructured(after, facts)
        kernel = after
    return kernel, facts


def check_grids(kernel: Kernel, facts: Facts, schedule: Schedule) -> None:
    """Raises ScheduleError where a schedule leaves a grid that cannot run: the last step that binds a loop of it is not
    legal. kernel, facts: after the schedule."""
    for number, step in reversed(list(enumerate(schedule))):
        if isinstance(step, Bind) and (rejection := unrunnable(kernel, facts, (step.loop,))) is not None:
            raise _not_legal(schedule, number, rejection)


def _not_legal(schedule: Schedule, number: int, rejection: Rejection) -> ScheduleError:
    position = len(print_schedule(schedule[:number])) + (2 if number else 0)
    return ScheduleError(f"'{schedule[number]}' is not legal: {rejection.reason}", print_schedule(schedule), position)


def as_run(written: Kernel, scheduled: Kernel) -> Kernel:
    """The kernel as it was written, each loop marked with how the loops run that were made of it: the first of `RUNS`
    that one of them does. They are known by the place in the user's source, which steps keep."""
    runs: dict[Location | str, set[Run]] = {}
    for name, loop in loops(scheduled).items():
        if isinstance(loop, For):
            runs.setdefault(loop.at or name, set()).add(loop.run)

    def mark(stmt: Stmt) -> tuple[Stmt, ...]:
        if not isinstance(stmt, For):
            return (stmt,)
        found = runs.get(stmt.at or stmt.name, set())
        run: Run = next((one for one in RUNS if one in found), "sequential")
        return (stmt if run == stmt.run else replace(stmt, run=run),)

    return replace(written, body=rewrite_body(written.body, stmt=mark))
