"""A thousand random nests, each with random steps: legality by two judges. A legal step must leave the interpreter's
result and that of compiled code as they were; a step that the dependences forbid is carried out all the same, and most
of the time some input shows why it was forbidden.

The nests and steps are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time (`make fuzz`).
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pytest

from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.analysis.effort import together
from loopwright.analysis.facts import Facts
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.ir.nodes import For, Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.ir.walk import loops
from loopwright.recipe import grid_totals
from loopwright.recipe.gpu import gpu_recipe
from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget
from loopwright.steps.bind import Bind
from loopwright.steps.complete import Complete
from loopwright.steps.overrun import Overrun
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.promote import Promote
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule
from loopwright.steps.split import Split
from loopwright.steps.stage import Stage
from loopwright.steps.step import Step, order_needed
from loopwright.steps.vectorize import Vectorize

from .blocks import block, calls
from .choices import Choices
from .grids import Grid, in_one_block, on_emulated, on_grid
from .nests import arguments, nest, witnesses
from .schedules import (
    Outcome,
    Rejected,
    Tally,
    alike,
    executable,
    guard_holds,
    interpreted,
    kind_of,
    outcome,
    random_step,
    rejections,
)
from .ways import eagerly

SHARDS = 4
NESTS = 250  # of each shard
RECIPES = 100  # of each shard
GRIDS = 60  # of each shard
BLOCKS = 40
COMPLETED = 60
STEPS = 7
CALLS = 3
WITNESSES = 6  # calls that may show why a step is forbidden
COMPILED = 8  # one nest in so many
PATIENCE = 3_000_000  # of isl's operations, where marks are judged again
RIGHTLY = 0.6  # of the forbidden steps, so many change the result on one of the WITNESSES
# Of 2**18 lanes that begin with nothing, the interpreter takes seconds.
FEW_LANES = replace(grid_totals.LANES, default=1 << 10)
NO_ORDER = ("an iteration would run more than once", "not every iteration would run")
"""What the judge says of a draft that it cannot see through: a loop with a jump in it was taken apart."""


class Found(AssertionError):
    """A nest on which something is wrong."""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


def check_nests(seeds: Iterable[int], cache: Path) -> Tally:
    """Check one after the other; Found for the first that fails."""
    tally = Tally()
    for seed in seeds:
        try:
            check_nest(seed, tally, cache)
        except Exception as error:
            raise Found(f"seed {seed}: {type(error).__name__}: {error}\n{nest(seed)}") from error
    return tally


def report(tally: Tally) -> None:
    """What pytest shows with -rP: where the judge may be too careful."""
    for counts in (tally.counts, tally.careful):
        print("\n".join(f"{count:5} {what}" for what, count in sorted(counts.items())))
    print("\n".join(tally.examples.values()))


def test_there_are_a_thousand_nests_and_they_are_the_same_in_every_run() -> None:
    assert SHARDS * NESTS >= 1000
    text = "".join(nest(seed) for seed in range(50))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "dd5ce9a4c33da254"


@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_schedules(shard: int, cache: Path) -> None:
    tally = check_nests(range(shard * NESTS, (shard + 1) * NESTS), cache)
    report(tally)
    counts = tally.counts
    assert counts["changed"] > 0.45 * NESTS
    assert counts["compiled"] > 0.35 * NESTS / COMPILED  # one in COMPILED is drawn
    assert counts["call compared"] > 1.9 * NESTS
    rightly, not_seen = counts["forbidden, rightly"], counts["forbidden, no difference seen"]
    assert rightly > RIGHTLY * (rightly + not_seen), tally.careful


@pytest.mark.parametrize("shard", range(2))
def test_what_the_recipe_makes_of_random_nests(shard: int, cache: Path) -> None:
    """The default recipe, on a machine with hardly any cache, so that nothing is too small for it."""
    restructured = 0
    for seed in range(shard * RECIPES, (shard + 1) * RECIPES):
        first = parse_kernel(nest(seed))
        strict = seed % 2 == 0
        found = recipe(first, analyse(first), strict, CpuTarget(l2_bytes=1))
        if len(found.decisions) == sum(isinstance(step, Parallelize | Vectorize) for step in found.schedule):
            continue
        restructured += 1
        given = [arguments(first, seed, number) for number in range(CALLS)]
        right = [outcome(interpreted(first), call) for call in given]
        steps = list(found.schedule)
        check_interpreter(first, found.kernel, found.facts, steps, given, right, strict, Tally())
        if seed % COMPILED == 0:
            check_compiled(first, found.kernel, found.facts, given, right, strict, seed, cache)
    assert restructured > RECIPES / 10


@pytest.mark.parametrize("shard", range(2))
def test_random_grids(shard: int, cache: Path) -> None:
    """Loops become blocks and threads, by random steps and by the recipe for a GPU, and an emulated one runs them."""
    tally = Tally()
    for seed in range(shard * GRIDS, (shard + 1) * GRIDS):
        check_grid(seed, tally, cache)
    report(tally)
    assert tally.counts["on the GPU"] > GRIDS / 4
    assert tally.counts["call on the GPU"] > GRIDS / 2


def test_random_blocks(cache: Path) -> None:
    """Threads of a block hand values on to one another: there is a barrier wherever one is needed."""
    tally = Tally()
    for seed in range(BLOCKS):
        check_block(seed, tally, cache)
    report(tally)
    assert tally.counts["on the GPU"] > BLOCKS / 2
    assert tally.counts["call on the GPU"] > BLOCKS


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ", "").isdecimal(), reason="LOOPWRIGHT_FUZZ=n runs n nests")
def test_more_random_grids(cache: Path) -> None:
    tally, start = Tally(), random.randrange(10**6, 10**9)
    for seed in range(start, start + int(os.environ["LOOPWRIGHT_FUZZ"]) // 20):
        check_grid(seed, tally, cache)
        check_block(seed, tally, cache)
    report(tally)


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ", "").isdecimal(), reason="LOOPWRIGHT_FUZZ=n runs n nests")
def test_more_random_schedules(cache: Path) -> None:
    start = random.randrange(10**6, 10**9)
    report(check_nests(range(start, start + int(os.environ["LOOPWRIGHT_FUZZ"]) // 10), cache))


def test_stretches_that_are_made_whole() -> None:
    """Loops cut into stretches of constant length with a test inside, and what is kept or staged in them."""
    tally, taken = Tally(), Counter[str]()
    for seed in range(COMPLETED):
        choices, first = Choices(seed), parse_kernel(nest(seed))
        given = [arguments(first, seed, number) for number in range(CALLS)]
        right = [outcome(interpreted(first), call) for call in given]
        kernel, facts, steps = first, analyse(first), list[Step]()
        for kind in (Split, Split, Complete, Complete, Promote, Promote, Stage, Overrun):
            names, arrays = [*loops(kernel)], [one.name for one in kernel.arrays]
            every: list[Step] = [Split(name, 3) for name in names] if kind is Split else []
            every += [Complete((name,)) for name in names] if kind is Complete else []
            every += [Promote(array, name, True) for array in arrays for name in names] if kind is Promote else []
            every += (
                [Stage(array, name, 2, 3, fill=True) for array in arrays for name in names] if kind is Stage else []
            )
            every += [Overrun(name) for name in names] if kind is Overrun else []
            legal = [step for step in every if step.illegal(kernel, facts, True) is None]
            if legal:
                steps.append(choices.pick(legal))
                kernel, facts = apply_schedule(kernel, facts, (steps[-1],), True)
                taken[kind.name] += 1
                check_interpreter(first, kernel, facts, steps, given, right, True, tally)
    assert taken["complete"] > COMPLETED // 2 and taken["promote"] > COMPLETED // 10, taken


def check_nest(seed: int, tally: Tally, cache: Path | None) -> None:
    """Take steps one after the other as long as they are legal, and compare after each of them."""
    choices = Choices(seed)
    text = nest(seed)
    first = parse_kernel(text)
    verify(first)
    strict = choices.chance(50)
    kernel, facts = first, analyse(first)
    given = [arguments(first, seed, number) for number in range(CALLS)]
    right = [outcome(interpreted(first), call) for call in given]
    taken: list[Step] = []
    for _ in range(STEPS):
        with rejections() as forbidden:
            step = random_step(choices, kernel, facts, strict)
            if step is None:
                continue
            assert parse_schedule(str(step)) == (step,)
            forbidden.clear()
            legal = step.illegal(kernel, facts, strict) is None
        tally.counts[f"{'legal' if legal else 'illegal'} {step.name}"] += 1
        if legal:
            kernel, facts = apply_schedule(kernel, facts, (step,), strict)
            taken.append(step)
            check_interpreter(first, kernel, facts, taken, given, right, strict, tally)
        for one in forbidden:
            confront(one, step, seed, strict, tally)
    if taken:
        check_marks(kernel, strict, tally)
        tally.counts["changed"] += 1
        if cache is not None and seed % COMPILED == 0:
            check_compiled(first, kernel, facts, given, right, strict, seed, cache)
            tally.counts["compiled"] += 1


def check_interpreter(
    first: Kernel, kernel: Kernel, facts: Facts, taken: list[Step], given: list[list[object]],
    right: list[Outcome], strict: bool, tally: Tally,
) -> None:  # fmt: skip
    """The kernel is well formed, its text parses back, and it computes what it did before."""
    verify(kernel)
    assert parse_kernel(print_kernel(kernel)) == kernel
    for call, wanted in zip(given, right, strict=True):
        if not guard_holds(kernel, facts.guard, call) or (wanted.inexact and not strict):
            tally.counts["call left out"] += 1
            continue
        got = outcome(interpreted(kernel), call)
        tally.counts["call compared"] += 1
        tally.counts["call compared that fails"] += wanted.error != ""
        assert alike(wanted, got), (
            f"{print_schedule(tuple(taken))} (strict={strict}) changes the result\n{print_kernel(first)}"
            f"{print_kernel(kernel)}{call}\nbefore {wanted}\nafter {got}"
        )


def check_grid(seed: int, tally: Tally, cache: Path) -> None:
    """A nest on an emulated GPU: what it leaves is what the interpreter left of the nest as it was written."""
    choices = Choices(seed)
    first = parse_kernel(nest(seed))
    strict = choices.chance(50)
    facts = analyse(first)
    if choices.chance(30):
        with mock.patch.object(grid_totals, "LANES", FEW_LANES):
            found = gpu_recipe(first, facts, strict)
        after: Grid = found.kernel, found.facts, list(found.schedule)
    else:
        after = on_grid(choices, first, facts, strict)
    given = [arguments(first, seed, number) for number in range(CALLS)]
    check_emulated(first, after, given, strict, seed, tally, cache)


def check_block(seed: int, tally: Tally, cache: Path) -> None:
    """What the threads of a block hand on to one another arrives."""
    first = parse_kernel(block(seed))
    verify(first)
    after = in_one_block(Choices(seed), first, analyse(first))
    check_emulated(first, after, calls(seed), True, seed, tally, cache)


def check_emulated(
    first: Kernel, after: Grid, given: list[list[object]], strict: bool, seed: int, tally: Tally, cache: Path
) -> None:
    """The interpreter and an emulated GPU agree on the kernel after steps, if some of its loops are bound."""
    kernel, facts, taken = after
    if not any(isinstance(step, Bind) for step in taken):
        return
    try:
        right = [outcome(interpreted(first), call) for call in given]
        check_interpreter(first, kernel, facts, taken, given, right, strict, tally)
        check_marks(kernel, strict, tally)
        try:
            entry = on_emulated(kernel, facts, strict, cache, seed % 3)
        except NotOnGpu as why:
            tally.careful[f"not on a GPU: {kind_of(str(why))}"] += 1
            return
        tally.counts["on the GPU"] += 1
        for call, wanted in zip(given, right, strict=True):
            if not guard_holds(kernel, facts.guard, call) or (wanted.inexact and not strict):
                continue
            tally.counts["call on the GPU"] += 1
            got = outcome(lambda own: entry.run(tuple(own)), call)
            assert alike(wanted, got), f"{call}\n{wanted}\n{got}"
    except Exception as error:
        steps = print_schedule(tuple(taken))
        text = f"{print_kernel(first)}{print_kernel(kernel)}"
        raise Found(f"seed {seed}, {steps}, strict={strict}: {error}\n{text}") from error


def check_marks(kernel: Kernel, strict: bool, tally: Tally) -> None:
    """What is marked to run in parallel or in lanes may still do so, after whatever came later. (What sorts iterations
    is marked as such, and keeps its order. Of chunks that a `scan` has made, the step itself knows that they do.)"""
    in_order = ("sequential", "sorted")
    marked = [loop for loop in loops(kernel).values() if isinstance(loop, For) and loop.run not in in_order]
    with together(PATIENCE):  # a kernel after steps is harder to judge than the one before, for which this was proven
        facts = analyse(kernel) if marked else None
        for loop in marked:
            assert facts is not None
            why = order_needed(facts.loops[loop.name], loop.asserted, strict)
            if why is not None and "within the budget" in why.reason:
                tally.careful["a mark is too hard to judge again"] += 1
            else:
                assert why is None, f"'{loop.name}' runs {loop.run}: {why}\n{print_kernel(kernel)}"


def check_compiled(
    first: Kernel, kernel: Kernel, facts: Facts, given: list[list[object]], right: list[Outcome],
    strict: bool, seed: int, cache: Path,
) -> None:  # fmt: skip
    """Compiled code agrees, with threads where loops are marked so."""
    with eagerly():
        entry = compiled(kernel, cache, facts, check_all=False, strict=strict, threads=2)
    for call, wanted in zip(given, right, strict=True):
        if not guard_holds(kernel, facts.guard, call) or (wanted.inexact and not strict):
            continue
        got = outcome(lambda own: entry.run(tuple(own)), call)
        assert alike(wanted, got), f"seed {seed}, strict={strict}\n{print_kernel(kernel)}{call}\n{wanted}\n{got}"


def confront(rejected: Rejected, step: Step, seed: int, strict: bool, tally: Tally) -> None:
    """Carry out what was forbidden, and see whether it matters."""
    if rejected.reason in NO_ORDER:
        tally.counts["forbidden, and not for the order"] += 1
        return
    after = executable(rejected)
    if after is None:
        tally.counts["forbidden, no kernel"] += 1
        return
    before, other = interpreted(rejected.kernel), interpreted(after)
    for number in range(WITNESSES):
        call = witnesses(rejected.kernel, seed, number)
        wanted = outcome(before, call)
        if not wanted.error and not alike(wanted, outcome(other, call)):
            tally.counts["forbidden, rightly"] += 1
            return
    tally.counts["forbidden, no difference seen"] += 1
    kind = f"{step.name}: {kind_of(rejected.reason)}"
    tally.careful[kind] += 1
    tally.examples[f"{kind} #{tally.careful[kind]}"] = f"seed {seed} {step} strict={strict}: {rejected.reason}"
