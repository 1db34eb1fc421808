"""Running the inspector of an irregular loop for a call, on the CPU, so that nobody's arrays change."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from loopwright.analysis.analyse import analyse
from loopwright.analysis.path_inspector import PathInspector
from loopwright.config import options
from loopwright.errors import DeviceError
from loopwright.ir.interp import interpret, prepare
from loopwright.ir.variant import Compilation
from loopwright.memory.device_array import base_of
from loopwright.memory.on_device import is_on_device
from loopwright.runtime.dispatch import Dispatch
from loopwright.specialisation import Specialisation, specialise_kernel
from loopwright.toolchain.cc import find_compiler


def inspected(found: PathInspector, arguments: tuple[object, ...]) -> NDArray[Any]:
    """A row for each iteration of the loop, as `PathInspector` says. arguments: of the call; those in a GPU's memory
    are copied to the host. Raises what the call itself would raise before the loop, and DeviceError for an array in a
    GPU's memory that another library has lent."""
    written = {param.argument for param in found.kernel.arrays if param.name in found.written}
    given = tuple(on_host(value, position in written) for position, value in enumerate(arguments))
    again = tuple(on_host(value, position in written) for position, value in enumerate(given))
    length = int(cast(Any, interpret(found.length, again)))
    rows = np.zeros((length, found.columns), np.int64)
    facts = analyse(found.kernel)
    names = [f"a{position}" for position in range(len(given))] + ["paths"]

    def compiled(wanted: Compilation) -> Specialisation:
        return specialise_kernel(found.kernel, facts, wanted)

    with options(device="cpu", schedule="", variant="", checks="auto", store="off") as config:
        if find_compiler(config.tools) is None:
            prepare(found.kernel)((*given, rows))
        else:
            changed = [names[position] for position in sorted({*written, len(given)})]
            Dispatch(found.kernel.name, names, {}, changed, compiled).call(*given, rows)
    return rows


def on_host(value: object, copied: bool) -> object:
    """An argument whose elements the CPU reaches; a copy where the inspector writes to it."""
    if is_on_device(value):
        base = base_of(value)
        if base is None:
            raise DeviceError("an array of another library lies in a GPU's memory, where only its kernels look")
        return base.numpy()
    return value.copy(order="K") if copied and isinstance(value, np.ndarray) else value
