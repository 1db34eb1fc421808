"""Which GPU a device option means: the one of this number that CUDA's driver shows, or an emulated one. Each is made
once."""

from __future__ import annotations

import functools

from loopwright.config import Config
from loopwright.devices.cuda import find_gpus, why_none
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpu import Gpu
from loopwright.ir.gpu_target import CUDA, GpuTarget
from loopwright.ir.variant import is_gpu, kind_of, number_of


def gpu_of(device: str) -> Gpu | None:
    """The GPU that a device of an option or a Variant is, None where there is none (`why_no_gpu` tells why)."""
    number = number_of(device)
    if kind_of(device) == "emulated":
        return _emulated(number)
    found = find_gpus()
    return found[number] if number < len(found) else None


def target_of(device: str) -> GpuTarget:
    """What that GPU allows; what every GPU does, where there is none."""
    gpu = gpu_of(device)
    return CUDA if gpu is None else gpu.limits.target


def why_no_gpu(device: str = "cuda") -> str:
    """Why there is no such GPU, and what to do about it, for people."""
    found = len(find_gpus())
    if found and number_of(device) >= found:
        return f"there is no GPU {number_of(device)}: GPUs here have the numbers 0 to {found - 1}"
    return why_none()


def devices_for(config: Config) -> tuple[str, ...]:
    """The devices that a call under these options may run on."""
    if is_gpu(config.device):
        return (config.device,)
    if config.device == "auto" and gpu_of("cuda") is not None:
        return ("cpu", "cuda")
    return ("cpu",)


@functools.cache
def _emulated(number: int) -> Gpu:
    return EmulatedGpu(number=number)
