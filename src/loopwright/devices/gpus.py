"""Which GPU a device option means: the first one that CUDA's driver shows, or the emulated one. Each is made once."""

from __future__ import annotations

import functools

from loopwright.config import Config
from loopwright.devices.cuda import find_gpus, why_none
from loopwright.devices.emulated import EmulatedGpu
from loopwright.devices.gpu import Gpu
from loopwright.ir.gpu_target import CUDA, GpuTarget


def gpu_of(device: str) -> Gpu | None:
    """The GPU that a device of an option or a Variant is, None where there is none (`why_no_gpu` tells why)."""
    if device == "emulated":
        return _emulated()
    found = find_gpus()
    return found[0] if found else None


def target_of(device: str) -> GpuTarget:
    """What that GPU allows; what every GPU does, where there is none."""
    gpu = gpu_of(device)
    return CUDA if gpu is None else gpu.limits.target


def why_no_gpu() -> str:
    """Why there is no GPU, and what to do about it, for people."""
    return why_none()


def devices_for(config: Config) -> tuple[str, ...]:
    """The devices that a call under these options may run on."""
    if config.device in ("cuda", "emulated"):
        return (config.device,)
    if config.device == "auto" and gpu_of("cuda") is not None:
        return ("cpu", "cuda")
    return ("cpu",)


@functools.cache
def _emulated() -> Gpu:
    return EmulatedGpu()
