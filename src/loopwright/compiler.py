"""From a function and the types of a call to code: the whole pipeline as one straight line, each pass with the reason
for its place. It decides nothing itself and keeps nothing.

`LOOPWRIGHT_DEBUG` prints what passes do; `LOOPWRIGHT_DUMP=folder` keeps the IR after each pass that changed it.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loopwright.analysis.analyse import analyse, analyse_restructured
from loopwright.analysis.effort import FOR_GPU, FOR_PARTS, FOR_STEP, TOTAL, together
from loopwright.analysis.facts import NOTHING_PROVEN, Facts
from loopwright.analysis.reach import ReachWhenAsked, iterations_of
from loopwright.codegen.openmp import generate
from loopwright.config import Tools
from loopwright.deferred import deferred
from loopwright.errors import KernelError, warn_once
from loopwright.frontend.capture import Source
from loopwright.frontend.lower import lower
from loopwright.frontend.nesting import REMEDY, stack_of_python, too_deep
from loopwright.frontend.outside import Outside
from loopwright.garbage import no_collections
from loopwright.ir.boxes import Box, Reach
from loopwright.ir.captured import CapturedConstant
from loopwright.ir.chained_updates import one_name_for_updates
from loopwright.ir.compare_exchanges import extremes_of_exchanges
from loopwright.ir.congruential import draws_from_the_first
from loopwright.ir.constant_tables import loops_over_tables_written_out
from loopwright.ir.counted_whiles import whiles_that_count
from loopwright.ir.dear_invariants import dear_invariants_named
from loopwright.ir.early_returns import without_early_returns
from loopwright.ir.flat_loops import flat_loops_as_nests
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.guarded_extremes import guards_of_extremes_apart
from loopwright.ir.induction import counters_as_functions
from loopwright.ir.kept_values import values_of_places
from loopwright.ir.loops_from_multiples import loops_from_zero
from loopwright.ir.nodes import Kernel
from loopwright.ir.perfect_nests import perfect_nests
from loopwright.ir.program import Program
from loopwright.ir.repeated_checks import without_repeated_checks
from loopwright.ir.repeated_copies import copies_made_once
from loopwright.ir.repeated_loops import without_repeated_loops
from loopwright.ir.simplify import simplify
from loopwright.ir.text import print_kernel
from loopwright.ir.unit_axes import without_unit_axes
from loopwright.ir.value_ranges import decided_by_ranges
from loopwright.ir.variant import PLAIN, Compilation
from loopwright.ir.verify import verify
from loopwright.ir.wrap_around import computed_again
from loopwright.ir.written_out_whiles import whiles_written_out
from loopwright.recipe.layouts import told
from loopwright.recipe.order_of_keys import why_first
from loopwright.recipe.partial_schedule import ReasonedStep
from loopwright.recipe.recipe import Recipe, recipe
from loopwright.recipe.target import CpuTarget
from loopwright.steps.relayout import Relayout
from loopwright.steps.schedule import apply_schedule, check_grids, parse_schedule, print_schedule
from loopwright.toolchain.machine import cache_bytes, vector_registers

if TYPE_CHECKING:
    from loopwright.codegen import gpu as codegen_gpu
    from loopwright.codegen import gpu_writer
    from loopwright.recipe import gpu as recipe_gpu
    from loopwright.recipe import in_parts, parallel_regions
    from loopwright.recipe.parallel_regions import ParallelRegions
    from loopwright.search import ranges as search_ranges
    from loopwright.search import space
    from loopwright.search.ranges import Ranges
    from loopwright.search.space import Device, Space
else:  # what a first call on the CPU does without
    codegen_gpu = deferred("loopwright.codegen.gpu")
    gpu_writer = deferred("loopwright.codegen.gpu_writer")
    recipe_gpu = deferred("loopwright.recipe.gpu")
    in_parts = deferred("loopwright.recipe.in_parts")
    parallel_regions = deferred("loopwright.recipe.parallel_regions")
    search_ranges = deferred("loopwright.search.ranges")
    space = deferred("loopwright.search.space")

ASKED_FOR = "asked for"
"""Why a step of a given schedule is taken."""


@dataclass(frozen=True)
class Analysed:
    """A kernel for one kind of call, with what is known of it, before any code. `written` and `facts`: as the user
    wrote it; `recipe`: what is done with it, and the kernel after that. `seconds`: how long all passes took."""

    written: Kernel
    facts: Facts
    recipe: Recipe
    constants: tuple[CapturedConstant, ...]
    seconds: float

    @cached_property
    def reach(self) -> Mapping[int, Reach]:
        """Which part of each array a call uses, as `analysis.reach.reach` says: the same on every GPU."""
        return ReachWhenAsked(self.written, self.facts, self.recipe.kernel, self.recipe.facts)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the front end made of a function for one kind of call: all that the interpreter needs. `passes`: so far;
    `seconds`: how long they took."""

    written: Kernel
    constants: tuple[CapturedConstant, ...]
    passes: Passes
    seconds: float


class Regions(NamedTuple):
    """A kernel cut into parallel regions, and each of them for a device, by the same keys. programs: what was generated
    of them so far, the same for all devices of a kind; None where a GPU cannot run it."""

    cut: ParallelRegions
    analysed: dict[int, Analysed]
    programs: dict[int, Program | None]


@no_collections()
def analysed(source: Source, wanted: Compilation, outside: Outside | None = None, gpu: GpuTarget = CUDA) -> Analysed:
    """All passes up to the schedule. `outside`: as `lower` takes it. gpu: what it may run on. Raises KernelError where
    the function is outside the language."""
    with together(_total(wanted)), stack_of_python(lambda: too_deep(source.definition)):
        return _analysed(_read(source, wanted, outside), wanted, gpu)


@no_collections()
def read(source: Source, wanted: Compilation, outside: Outside | None = None) -> Reading:
    """The passes before the first that proves anything. Raises KernelError as `analysed` does."""
    with stack_of_python(lambda: too_deep(source.definition)):
        return _read(source, wanted, outside)


@no_collections()
def analysed_further(source: Source, reading: Reading, wanted: Compilation) -> Analysed:
    """The passes up to the schedule, of what was read of this source. Raises ScheduleError."""
    with together(_total(wanted)), stack_of_python(lambda: too_deep(source.definition)):
        return _analysed(reading, wanted, CUDA)


def _total(wanted: Compilation) -> int:
    """How much work isl may have with a kernel; each step that a user asks for may take some more."""
    return (FOR_GPU if wanted.on_gpu else TOTAL) + FOR_STEP * _step_count(wanted.steps or wanted.first)


def _step_count(steps: str) -> int:
    return steps.count(";") + 1 if steps else 0


def _read(source: Source, wanted: Compilation, outside: Outside | None) -> Reading:
    started = time.perf_counter()
    # First the types: everything after this works on a kernel without Python in it.
    lowered = lower(source, wanted.signature, outside, wanted.semantics.narrowing_raises)
    verify(lowered.kernel)
    passes = Passes(lowered.kernel, wanted.tools)
    # Before analysis: constants and dead branches out of the way leave more that is affine.
    kernel = passes.after("simplify", simplify(lowered.kernel))
    # Nearly all that is known of loops is known of those that count.
    kernel = passes.after("counted whiles", whiles_that_count(kernel))
    # Windows at a place inside an array have as many elements each time.
    kernel = passes.after("value ranges", simplify(decided_by_ranges(kernel)))
    # Where a loop begins at a product, how often it runs would be one of two products.
    kernel = passes.after("loops from multiples", loops_from_zero(kernel))
    # A `while` keeps what is around it from lanes; what it goes through are constants then.
    kernel = passes.after("written-out whiles", simplify(whiles_written_out(kernel)))
    # What may fail stays where it is, and with it what stands around it.
    kernel = passes.after("repeated checks", without_repeated_checks(kernel))
    # Indices that are looked up in a table would leave nothing to be proven.
    kernel = passes.after("constant tables", simplify(loops_over_tables_written_out(kernel)))
    # Arrays with one element are no arrays; what is left is alike where it computes the same.
    kernel = passes.after("unit axes", without_unit_axes(kernel))
    # Copies that are there already stand between the loops of a step and those of the next one.
    kernel = passes.after("repeated copies", copies_made_once(kernel))
    kernel = passes.after("repeated loops", without_repeated_loops(kernel))
    # Divisions in indices would leave little to be proven.
    kernel = passes.after("flat loops", flat_loops_as_nests(kernel))
    # What is read again at a place that data tell would leave nothing to be proven either.
    kernel = passes.after("kept values", values_of_places(kernel))
    # Nor of what counters point at.
    kernel = passes.after("induction", counters_as_functions(kernel))
    # What stands between two loops keeps them from being tiled.
    kernel = passes.after("perfect nests", perfect_nests(kernel))
    # A sum under two names is none.
    kernel = passes.after("chained updates", one_name_for_updates(kernel))
    # Nor is an extreme one behind another condition.
    kernel = passes.after("guarded extremes", guards_of_extremes_apart(kernel, wanted.on_gpu))
    # Data would decide a jump that two instructions save, and that keeps what is around it from lanes.
    kernel = passes.after("compare-exchanges", extremes_of_exchanges(kernel))
    # Counters are gone: what else ties iterations, and need not.
    kernel = passes.after("wrap around", computed_again(kernel, places=wanted.on_gpu))
    # And what the next one waits for.
    kernel = passes.after("congruential draws", draws_from_the_first(kernel))
    # What has a name can be computed before the loops that do not change it.
    kernel = passes.after("dear invariants", dear_invariants_named(kernel))
    if wanted.on_gpu:
        # A thread cannot end what the host runs.
        kernel = passes.after("early returns", without_early_returns(kernel))
    if wanted.semantics.checks in ("data", "unguarded"):
        kernel = replace(kernel, guard="sizes" if wanted.semantics.checks == "data" else "none")
    return Reading(kernel, lowered.constants, passes, time.perf_counter() - started)


def _analysed(reading: Reading, wanted: Compilation, gpu: GpuTarget) -> Analysed:
    started, kernel = time.perf_counter(), reading.written
    # On the kernel as it was written: it is what the user is told about, and what the recipe decides from.
    facts = replace(analyse(kernel), gpu=gpu)
    # Last, from facts alone.
    found = scheduled(kernel, facts, wanted)
    reading.passes.after("schedule", found.kernel)
    if "schedule" in wanted.tools.debug:
        say(f"{kernel.name}: {print_schedule(found.schedule) or 'sequential'}")
    return Analysed(kernel, facts, found, reading.constants, reading.seconds + time.perf_counter() - started)


@no_collections()
@together(FOR_PARTS)
def analysed_in_parts(found: Analysed, wanted: Compilation) -> tuple[Analysed, Box] | None:
    """The same for some iterations of the outermost loop only, and which there are; None where it has no such loop.
    Raises ScheduleError where the schedule that is asked for does not fit."""
    loop = in_parts.outermost(found.written, found.facts)
    iterations = None if loop is None else iterations_of(found.written, loop)
    if loop is None or iterations is None:
        return None
    started = time.perf_counter()
    kernel = in_parts.in_parts(found.written, loop)
    verify(kernel)
    # What is proven of all iterations holds of some: the guard is the same.
    facts = analyse_restructured(kernel, found.facts)
    made = replace(scheduled(kernel, facts, wanted), launch_bounds=())  # the whole call is no such one
    return Analysed(kernel, facts, made, found.constants, time.perf_counter() - started), iterations


@no_collections()
@together(FOR_PARTS)
def analysed_regions(found: Analysed, wanted: Compilation) -> Regions | None:
    """The parallel regions of a kernel, each analysed for a device; None where it has none that could be cut. Raises
    ScheduleError where the schedule that is asked for does not fit."""
    cut = parallel_regions.parallel_regions(found.written, found.facts, wanted.semantics.strict)
    if cut is None:
        return None
    regions: dict[int, Analysed] = {}
    for place, region in cut.regions.items():
        started = time.perf_counter()
        verify(region.kernel)
        facts = analyse_restructured(region.kernel, found.facts)
        if not _only_on_numbers(facts, found):
            return None
        made = replace(scheduled(region.kernel, facts, wanted), launch_bounds=())  # others run what is around it
        regions[place] = Analysed(region.kernel, facts, made, found.constants, time.perf_counter() - started)
    return Regions(cut, regions, {})


FARTHEST = 2**48
"""Larger sizes than this are those of views only, which repeat elements."""


def _only_on_numbers(facts: Facts, whole: Analysed) -> bool:
    """Whether what has to hold for a region has to for the whole kernel too, but for ranges of the numbers that it is
    given in the middle of the call, and for sizes that no array has, which its own guard tests."""
    new = set(facts.guard.conditions) - set(whole.facts.guard.conditions)
    known = {name for name, _ in whole.facts.guard.parameters}
    return all(
        len(names) == 1 and (names[0] not in known or one.c_text == f"{names[0]} <= {FARTHEST}")
        for one in new
        for names in one.compared
    )


@together(FOR_GPU)
def scheduled(kernel: Kernel, facts: Facts, wanted: Compilation) -> Recipe:
    """The schedule that is asked for, or the one that the facts suggest. With every access checked nothing is
    proven, so nothing is reordered. Raises ScheduleError where a step that is asked for is not legal."""
    strict = wanted.semantics.strict
    if wanted.semantics.checks == "all":
        return Recipe((), kernel, facts)
    if wanted.steps:
        steps = parse_schedule(wanted.steps)
        after, proven = apply_schedule(kernel, facts, steps, strict)
        if wanted.on_gpu:
            check_grids(after, proven, steps)
        return Recipe(tuple(ReasonedStep(step, ASKED_FOR) for step in steps), after, proven)
    first = parse_schedule(wanted.first) if wanted.first else ()
    after, proven = apply_schedule(kernel, facts, first, strict)  # what is wrong is told at the user's line
    if wanted.on_gpu:
        return recipe_gpu.gpu_recipe(kernel, facts, strict, first=first)
    target = None if wanted.schedule == PLAIN else target_of_machine(wanted.tools)
    found = recipe(after, proven, strict, target, records=_records(wanted), may_remap=wanted.tools.remap == "auto")
    reasons = [
        (isinstance(step, Relayout) and told(kernel, step, wanted.signature.record_bytes)) or why_first(step)
        for step in first
    ]
    return replace(found, decisions=(*map(ReasonedStep, first, reasons), *found.decisions))


def _records(wanted: Compilation) -> Mapping[int, int] | None:
    """How many bytes the records of each argument have, where their layout may be chosen."""
    return wanted.signature.record_bytes if wanted.tools.layout == "auto" else None


def target_of_machine(tools: Tools) -> CpuTarget:
    """This machine, as far as its description goes, and the compiler may use it."""
    vector_bytes, registers = vector_registers(tools.compiler_flags)
    usual, sizes = CpuTarget(), cache_bytes()
    return CpuTarget(
        vector_bytes,
        registers,
        sizes.get(1, usual.l1_bytes),
        sizes.get(2, usual.l2_bytes),
        sizes.get(max(sizes, default=3), usual.l3_bytes),
        os.cpu_count() or usual.cores,
    )


@no_collections()
def space_for(
    found: Analysed,
    wanted: Compilation,
    ranges: Ranges | None = None,
    device: Device | None = None,
    most: int | None = None,
) -> Space:
    """The variants of an analysed kernel for tuning: those that a schedule with ranges stands for, or those that the
    recipe makes with other numbers. device: by default the one that is asked for. most: of its points (space.MOST)."""
    if ranges is not None:
        return search_ranges.space_of_ranges(ranges, found.written, found.facts, wanted.semantics.strict)
    chosen: Device = device or ("cuda" if wanted.on_gpu else "cpu")
    return space.space_of(
        found.written,
        found.facts,
        wanted.semantics.strict,
        chosen,
        target_of_machine(wanted.tools),
        most or space.MOST,
        records=_records(wanted),
        may_remap=wanted.tools.remap == "auto",
    )


@no_collections()
def program_of(found: Analysed, wanted: Compilation, waits: bool = True) -> Program:
    """The program of an analysed kernel. waits: see generate_gpu. Raises NotOnGpu."""
    kernel, facts, meaning = found.recipe.kernel, found.recipe.facts, wanted.semantics
    with (
        together(_total(wanted)),
        stack_of_python(lambda: KernelError(f"'{kernel.name}' is nested too deeply", remedy=REMEDY)),
    ):
        if wanted.on_gpu:
            if found.recipe.not_on_gpu:
                raise gpu_writer.NotOnGpu(found.recipe.not_on_gpu)
            program = codegen_gpu.generate_gpu(kernel, facts, meaning.strict, waits, found.recipe.launch_bounds)
        else:
            program = generate(kernel, facts, meaning.checks == "all", meaning.strict, meaning.deterministic)
    if "source" in wanted.tools.debug:
        say(program.text)
    return program


@no_collections()
def checked_program_of(reading: Reading, wanted: Compilation) -> Program:
    """The program with every access checked: it relies on no proof, and runs its loops as they are written."""
    kernel, meaning = reading.written, wanted.semantics
    with stack_of_python(lambda: KernelError(f"'{kernel.name}' is nested too deeply", remedy=REMEDY)):
        return generate(kernel, NOTHING_PROVEN, True, meaning.strict, meaning.deterministic)


def say(text: str) -> None:
    """A line of debugging output."""
    print(f"loopwright: {text}", file=sys.stderr)


class Passes:
    """Notes what each pass changed: numbered files in the folder `dump`, lines where 'passes' is debugged."""

    def __init__(self, kernel: Kernel, tools: Tools) -> None:
        self._kernel, self._tools, self._count = kernel, tools, 0
        self._note("lower")

    def after(self, name: str, kernel: Kernel) -> Kernel:
        """The kernel, noted if the pass changed it."""
        if kernel is not self._kernel:
            self._kernel = kernel
            self._note(name)
        return kernel

    def _note(self, name: str) -> None:
        if "passes" in self._tools.debug:
            say(f"{self._kernel.name} after {name}:\n{print_kernel(self._kernel)}")
        folder = self._tools.dump
        if folder is not None:
            plain = re.sub(r"\W", "_", self._kernel.name)
            try:
                folder.mkdir(parents=True, exist_ok=True)
                Path(folder, f"{plain}.{self._count}.{name}.txt").write_text(print_kernel(self._kernel))
            except OSError as error:
                warn_once(f"dump {folder}", f"LOOPWRIGHT_DUMP: nothing can be written to {folder} ({error.strerror})")
        self._count += 1
