"""What a kernel of a grid needs of a GPU, in one line each: threads, registers, memory, and how much of it fits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from loopwright.codegen.gpu import complete
from loopwright.codegen.program import DeviceText
from loopwright.config import Config
from loopwright.cost.occupancy import occupancy
from loopwright.devices.gpu import Gpu
from loopwright.errors import CompilerError
from loopwright.toolchain.cubin import KernelResources
from loopwright.toolchain.nvrtc import build, find_nvrtc

THREADS = re.compile(r"__launch_bounds__\((\d+)\) (\w+)_32\(")


def grid_lines(text: DeviceText, gpu: Gpu, config: Config) -> tuple[str, ...]:
    """One line for each kernel, in the order of the text; where NVRTC is missing, its threads alone."""
    resources: dict[str, KernelResources] = {}
    if find_nvrtc() is not None:
        try:
            resources = dict(build(complete(text), gpu.limits.capability, config).kernels)
        except CompilerError as error:
            return (f"CUDA: {str(error).splitlines()[0]}",)
    return tuple(_lines(text, resources, gpu))


def _lines(text: DeviceText, resources: dict[str, KernelResources], gpu: Gpu) -> Iterator[str]:
    for threads, name in THREADS.findall(text.text):
        found = resources.get(f"{name}_32")
        one = f"kernel {name.removeprefix('lw_').rstrip('_')}: {threads} thread{'s' if threads != '1' else ''} a block"
        if found is None:
            yield one
            continue
        fits = occupancy(int(threads), found.registers, found.shared_bytes, gpu.limits)
        shared = f", {found.shared_bytes / 1024:.1f} KiB shared" if found.shared_bytes else ""
        spills = f", {found.spill_store_bytes} bytes spilled" if found.spill_store_bytes else ""
        yield (
            f"{one}, {found.registers} registers each{shared}{spills}; {fits.blocks} blocks a multiprocessor, "
            f"{fits.fraction:.0%} of its threads ({fits.limiter} limit it)"
        )
