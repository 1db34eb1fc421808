"""From a kernel to code for its parallel regions on one device, and to what makes a call of them: the interpreter does
what is between the regions, and hands each of these to whoever performs (runtime/shared_call.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loopwright import compiler
from loopwright.analysis.reach import reach
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.compiler import Analysed, Regions
from loopwright.devices.base import Executable
from loopwright.errors import ScheduleError
from loopwright.ir.interp import Performer, State, evaluation, prepare_with
from loopwright.ir.nodes import For
from loopwright.ir.program import Program
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.ir.variant import Compilation
from loopwright.ir.verify import VerifyError
from loopwright.memory.region_call import Performs, RegionCode, RegionProgram
from loopwright.recipe.parallel_regions import CutRegion, ParallelRegions

Load = Callable[[Analysed, Program], Executable]


def regions(found: Analysed, wanted: Compilation) -> Regions | None:
    """The regions of a kernel, analysed for a device; None where devices could not share any."""
    try:
        return compiler.analysed_regions(found, wanted)
    except (ScheduleError, VerifyError):
        return None


def region_program(found: Analysed, regions: Regions, wanted: Compilation, load: Load) -> RegionProgram:
    """What is loaded for the regions of a kernel. load: gives that for a program of an analysed region. Raises
    CompilerError."""
    cut = regions.cut
    codes = tuple(_code(one, wanted, load, _own_arrays(cut, key)) for key, one in regions.analysed.items())
    first = found.written.results_from
    numbers = len(cut.numbers) + 2
    names = {param.argument: param.name for param in found.written.arrays}
    names |= {first + numbers + k: name for k, name in enumerate(cut.made)}
    results = len(found.written.results)
    return RegionProgram(codes, first, numbers, names, results, _last_writers(cut), _run(cut))


def _own_arrays(cut: ParallelRegions, key: int) -> frozenset[str]:
    """The local arrays of the call that only this region is about, which it does once: what its parts leave in them
    nobody reads, so each device has its own."""
    if all(id(stmt) != key for stmt in cut.written.body):
        return frozenset()
    others = tuple(region.stmt for other, region in cut.regions.items() if other != key)
    used = arrays_loaded(others) | arrays_stored(others)
    return frozenset(cut.made[len(cut.written.results) :]) - used


def _code(one: Analysed, wanted: Compilation, load: Load, own: frozenset[str]) -> RegionCode | None:
    try:
        executable = load(one, compiler.program_of(one, wanted, waits=False))  # other devices are started meanwhile
    except NotOnGpu:
        return None
    stored = arrays_stored(one.written.body)
    written = frozenset(param.argument for param in one.written.arrays if param.name in stored - own)
    return RegionCode(executable, reach(one.written, one.facts, one.recipe.kernel, one.recipe.facts), written)


def _last_writers(cut: ParallelRegions) -> tuple[frozenset[int], ...]:
    """For each region, the positions of arrays that only it writes, once in a call."""
    once = {id(stmt) for stmt in cut.written.body}
    found: list[frozenset[int]] = []
    stored = {key: arrays_stored((region.stmt,)) for key, region in cut.regions.items()}
    for key, region in cut.regions.items():
        others = {name for other, arrays in stored.items() if other != key for name in arrays}
        own = stored[key] - others if key in once else set()
        found.append(frozenset(param.argument for param in region.kernel.arrays if param.name in own))
    return tuple(found)


def _run(cut: ParallelRegions) -> Callable[[Sequence[object], Performs], object]:
    others = {key: _performer(number, region, cut) for number, (key, region) in enumerate(cut.regions.items())}
    return prepare_with(cut.written, others)


def _performer(number: int, region: CutRegion, cut: ParallelRegions) -> Performer:
    numbers, made = cut.numbers, cut.made
    iterations = None if region.loop is None else _range_of(region.loop)

    def perform(state: State, performs: Performs) -> None:
        values = [state.get(name, 0) for name in numbers]
        arrays = [state.get(name) for name in made]
        performs.region(number, None if iterations is None else iterations(state), values, arrays)

    return perform


def _range_of(loop: For) -> Callable[[State], range]:
    lower, upper = evaluation(loop.lower), evaluation(loop.upper)
    return lambda state: range(int(lower(state)), max(int(lower(state)), int(upper(state))))
