"""What `choice/remap.py` asks about a kernel before the iterations of its loops are put in order: which steps would do
that, and, for the arguments of a call, what its inspectors measure on some of the warps. It needs the compiler's
analysis, so that whoever makes a kernel hands it in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from loopwright.analysis.path_inspector import PathInspector, path_inspector
from loopwright.choice.base import Measured
from loopwright.choice.remap import Inspected
from loopwright.cost.divergence import SECTOR_BYTES, WARP, branch_cost, loop_cost, transactions
from loopwright.devices.gpus import gpu_of
from loopwright.ir.interp import interpret, window
from loopwright.ir.nodes import Kernel
from loopwright.ir.queries import arrays_loaded, arrays_stored
from loopwright.memory.device_array import version_of
from loopwright.memory.offload import copies_on_host
from loopwright.predict.remapped import KEY_BYTES, ORDER_BYTES, RemapMeasures
from loopwright.recipe.order_of_keys import may_be_irregular, may_have_another, redirections
from loopwright.recipe.renumbering import among_clusters
from loopwright.specialisation import Specialisation
from loopwright.steps.redirect import Redirect
from loopwright.steps.renumber import Renumber
from loopwright.steps.schedule import print_schedule
from loopwright.tuning.group_inspection import GroupInspection
from loopwright.tuning.number_inspection import LONGER_NS, numbers_inspected
from loopwright.tuning.sampled_iterations import is_quick, sample_of

ROOM = 4
"""So many times the memory of an order, and of the keys that find it, has to be free."""


def remapping_of(code: Measured) -> RemapInspection | GroupInspection | None:
    """Of code that finds its arrays on a GPU, or runs on a CPU; None where a glance at its loops says that it has no
    other order."""
    assert isinstance(code, Specialisation)
    if not code.compilation.on_gpu:
        return GroupInspection(code) if may_be_irregular(code.written) else None
    return RemapInspection(code) if code.takes_device_arrays and may_have_another(code.written) else None


class RemapInspection:
    """See choice.remap.Remapping."""

    def __init__(self, one: Specialisation) -> None:
        self._one = one

    @cached_property
    def steps(self) -> str:
        """See Remapping."""
        found = self._one.analysed
        strict = self._one.compilation.semantics.strict
        steps = redirections(found.written, found.facts, strict)
        if steps and len(self._inspectors(steps)) == len(steps):
            return print_schedule(steps)
        return "" if steps or self._renumbering is None else str(self._renumbering)

    @cached_property
    def _renumbering(self) -> Renumber | None:
        found = self._one.analysed
        return among_clusters(found.written, found.facts, self._one.compilation.semantics.strict)

    def _inspectors(self, steps: Collection[object]) -> list[PathInspector]:
        found = self._one.analysed
        inspectors = [
            path_inspector(found.written, found.facts, step.loop, sampled=True)
            for step in steps
            if isinstance(step, Redirect)
        ]
        return [one for one in inspectors if isinstance(one, PathInspector) and is_quick(one)]

    @cached_property
    def _loops(self) -> list[PathInspector]:
        found = self._one.analysed
        return self._inspectors(redirections(found.written, found.facts, self._one.compilation.semantics.strict))

    def inspect(self, arguments: tuple[object, ...]) -> Inspected | None:
        """See Remapping. None where little of the GPU's memory is left, too: an order takes some."""
        kernel = self._one.analysed.written
        if self.steps.startswith(Renumber.name) and self._renumbering is not None:
            gpu = gpu_of(self._one.compilation.device)
            measures = numbers_inspected(self._one.analysed, self._renumbering, arguments, gpu)
            return None if measures is None else Inspected(measures, None, LONGER_NS)
        deciding = frozenset().union(*(one.vector.arrays for one in self._loops))
        places = {param.name: param.argument for param in kernel.arrays}
        versions = tuple(version_of(arguments[places[name]]) for name in sorted(deciding & places.keys()))
        lasts = deciding <= places.keys() - set(arrays_stored(kernel.body)) and "unknown" not in versions
        read = {places[name] for one in self._loops for name in arrays_loaded(one.kernel.body) if name in places}
        given = copies_on_host(arguments, read)
        parts = [_measures(one, kernel, given) for one in self._loops]
        if not parts or any(part is None for part in parts):
            return None
        gpu, wanted = gpu_of(self._one.compilation.device), ROOM * (KEY_BYTES + ORDER_BYTES)
        if gpu is None or gpu.free_bytes() < wanted * sum(part.iterations for part in parts if part is not None):
            return None
        footprint = sum(one.nbytes for one in arguments if isinstance(one, np.ndarray))
        measures = _together([part for part in parts if part is not None], footprint)
        return Inspected(measures, versions if lasts else None)


def _measures(found: PathInspector, kernel: Kernel, arguments: tuple[object, ...]) -> RemapMeasures | None:
    """Of one loop in a call, with the work and the bytes of all its iterations, as the sample tells."""
    count = int(cast(Any, interpret(found.length, arguments)))
    if count < WARP:
        return None
    sample = sample_of(count)
    rows = np.zeros((len(sample), found.columns), np.int64)
    interpret(found.kernel, (*arguments, rows, sample))
    order = np.argsort(rows[:, -1], kind="stable")
    of_all = count / len(sample)
    work, touched = (
        [of_all * measure(found, each, kernel, arguments) for each in (rows, rows[order])]
        for measure in (_work, _touched)
    )
    keys = sum(_bytes_of(kernel, arguments, name) for name in found.vector.arrays)
    return RemapMeasures(count, work[0], work[1], touched[0], touched[1], min(keys, 64.0 * count), 0.0)


def _work(found: PathInspector, rows: NDArray[Any], kernel: Kernel, arguments: tuple[object, ...]) -> float:
    """What the warps do that these rows are of, neighbours in the order of the rows."""
    columns = {entry.scalar: rows[:, k] for k, entry in enumerate(found.vector.known)}
    work = found.vector.work
    total = work.fixed * (len(rows) // WARP)
    for part in work.parts:
        values = columns[part.scalar]
        reached = np.ones(len(rows), bool)
        for scalar, taken in part.under:
            reached &= columns[scalar] == taken
        if part.second is None:
            total += part.first * loop_cost(np.where(reached, values, 0))
        else:
            total += branch_cost(values != 0, reached, part.first, part.second)
    return total


def _touched(found: PathInspector, rows: NDArray[Any], kernel: Kernel, arguments: tuple[object, ...]) -> float:
    """The bytes of the sectors that these warps touch. A regular access in an inner loop, which the path vector leaves
    out, counts as one of those that are known, on average."""
    params = {param.name: param for param in kernel.arrays}
    column, sectors, seen = len(found.vector.known), 0, set()
    left_out: set[tuple[str, str]] = set()
    for one in found.vector.references:
        index = rows[:, column : column + len(one.index)]
        column += len(one.index)
        if one.array not in params or (one.array, one.text) in seen:
            continue
        if not one.index:
            left_out |= set() if one.arrays else {(one.array, one.text)}
            continue
        seen.add((one.array, one.text))
        array = window(params[one.array], cast(Any, arguments[params[one.array].argument]))
        addresses = (index * np.array(_strides(array), np.int64)).sum(axis=1)
        addresses -= min(int(addresses.min(initial=0)), 0)
        addresses[(index < 0).any(axis=1)] = -1
        sectors += transactions(addresses, array.itemsize)
    return float(sectors * SECTOR_BYTES) * (1.0 + len(left_out - seen) / max(1, len(seen)))


def _strides(array: NDArray[Any]) -> tuple[int, ...]:
    """Those of a dense array of this shape: what stands for it on the host may have none."""
    return tuple(array.itemsize * int(np.prod(array.shape[axis + 1 :], dtype=np.int64)) for axis in range(array.ndim))


def _bytes_of(kernel: Kernel, arguments: tuple[object, ...], name: str) -> float:
    places: Mapping[str, int] = {param.name: param.argument for param in kernel.arrays}
    value = arguments[places[name]] if name in places else None
    return float(value.nbytes) if isinstance(value, np.ndarray) else 0.0


def _together(parts: list[RemapMeasures], footprint: float) -> RemapMeasures:
    """Of all loops of a call."""
    return RemapMeasures(
        sum(part.iterations for part in parts),
        sum(part.before for part in parts),
        sum(part.after for part in parts),
        sum(part.touched_before for part in parts),
        sum(part.touched_after for part in parts),
        sum(part.key_bytes for part in parts),
        footprint,
    )
