"""From a kernel to code for its parallel regions on one device, and to what makes a call of them: the interpreter does
what is between the regions, and hands each of these to whoever performs (runtime/shared_call.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from loopwright import compiler
from loopwright.analysis.facts import ReductionOp
from loopwright.analysis.reductions import identity
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.compiler import Analysed, Regions
from loopwright.cost.iteration_work import iteration_work
from loopwright.devices.base import Executable
from loopwright.errors import ScheduleError
from loopwright.ir.interp import Performer, State, evaluation, execution, prepare_with
from loopwright.ir.nodes import For, Kernel, ScalarParam
from loopwright.ir.program import Program
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.ir.variant import Compilation
from loopwright.ir.verify import VerifyError
from loopwright.memory.placing import values_of
from loopwright.memory.region_call import PartialArray, Performs, RegionCode, RegionProgram
from loopwright.recipe.parallel_regions import CutRegion, ParallelRegions
from loopwright.steps.nest import step_of

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
    codes = tuple(_code(regions, key, wanted, load) for key in regions.analysed)
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


def _code(regions: Regions, key: int, wanted: Compilation, load: Load) -> RegionCode | None:
    one, cut, program = regions.analysed[key], regions.cut, _program(regions, key, wanted)
    if program is None:
        return None
    executable = load(one, program)
    several = _several(one.written, cut.regions[key])
    stored = arrays_stored(one.written.body) - _own_arrays(cut, key)
    written = {param.argument for param in one.written.arrays if param.name in stored} - several.keys()
    reached = {position: some for position, some in one.reach.items() if position not in several}
    return RegionCode(executable, reached, frozenset(written), several, partial(_work, one.written))


def _work(kernel: Kernel, given: Sequence[object], iterations: range) -> Callable[[range], float] | None:
    """See RegionCode. The last two numbers of the kernel are the first iteration and the one behind the last."""
    last = max(param.argument for param in kernel.params if isinstance(param, ScalarParam))
    return iteration_work(kernel, values_of(given), (f"v{last - 1}", f"v{last}"), iterations)


def _program(regions: Regions, key: int, wanted: Compilation) -> Program | None:
    """The program of a region, generated for the first device of a kind; None where a GPU cannot run it."""
    if key not in regions.programs:
        try:  # it does not wait: other devices are started meanwhile
            regions.programs[key] = compiler.program_of(regions.analysed[key], wanted, waits=False)
        except NotOnGpu:
            regions.programs[key] = None
    return regions.programs[key]


def _several(kernel: Kernel, region: CutRegion) -> dict[int, PartialArray]:
    """The arrays of which there are several, by position."""
    totals = region.totals.arrays if region.totals is not None else {}
    found: dict[int, PartialArray] = {}
    for param in kernel.arrays:
        dtype = param.element.dtype
        if param.name in totals:
            found[param.argument] = PartialArray(dtype)
        elif (op := region.added.get(param.name)) is not None:
            found[param.argument] = PartialArray(dtype, partial(_update, op), identity(op, param.element).value)
    return found


def _update(op: ReductionOp, array: Any, other: Any) -> None:
    """Update the elements of an array by those of another one, as `analysis.reductions.combined` says."""
    if op in ("min", "max") or (op in ("minimum", "maximum", "fmin", "fmax") and array.dtype.kind != "f"):
        np.copyto(array, other, where=other < array if "min" in op else other > array)
    else:
        _UFUNCS[op](array, other, out=array)


_UFUNCS: dict[ReductionOp, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fmin": np.fmin,
    "fmax": np.fmax,
}


def _last_writers(cut: ParallelRegions) -> tuple[frozenset[int], ...]:
    """For each region, the positions of arrays that only it writes, once in a call; none where parts add up something,
    which would be lost with a device whose other results have come home."""
    once = {id(stmt) for stmt in cut.written.body}
    found: list[frozenset[int]] = []
    stored = {key: arrays_stored((region.stmt,)) for key, region in cut.regions.items()}
    for key, region in cut.regions.items():
        others = {name for other, arrays in stored.items() if other != key for name in arrays}
        adds_up = region.added or region.totals is not None
        own = stored[key] - others if key in once and not adds_up else set()
        found.append(frozenset(param.argument for param in region.kernel.arrays if param.name in own))
    return tuple(found)


def _run(cut: ParallelRegions) -> Callable[[Sequence[object], Performs], object]:
    others = {key: _performer(number, region, cut) for number, (key, region) in enumerate(cut.regions.items())}
    return prepare_with(cut.written, others)


def _performer(number: int, region: CutRegion, cut: ParallelRegions) -> Performer:
    numbers, made = cut.numbers, cut.made
    iterations = None if region.loop is None else _range_of(region.loop)
    totals = region.totals
    before, after = map(execution, ((), ()) if totals is None else (totals.before, totals.after))
    names = {cut.written.results_from + len(numbers) + 2 + k: name for k, name in enumerate(made)}

    def perform(state: State, performs: Performs) -> None:
        before(state)
        values = [state.get(name, 0) for name in numbers]
        arrays = [state.get(name) for name in made]
        parts = performs.region(number, None if iterations is None else iterations(state), values, arrays)
        for part in parts:
            state.update({names[position]: array for position, array in part.items()})
            after(state)
            for position in part:
                del state[names[position]]

    return perform


def _range_of(loop: For) -> Callable[[State], range]:
    """The numbers by which parts of a loop are told apart: see CutRegion."""
    lower, upper, step = evaluation(loop.lower), evaluation(loop.upper), step_of(loop)

    def found(state: State) -> range:
        first, last = int(lower(state)), int(upper(state))
        return range(first, max(first, last)) if step == 1 else range(len(range(first, last, step)))

    return found
