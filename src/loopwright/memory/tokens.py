"""What tells one call from another whose arrays are all in a GPU's memory, in as little time as possible.

A token says everything of an argument that the code was chosen by and finds it by; numbers are told apart by type only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from loopwright.memory.device_array import DeviceArray
from loopwright.memory.host_array import HostArray

Token = Callable[[Any], Hashable]


def tokens_of(arguments: Sequence[object]) -> tuple[Hashable, ...] | None:
    """One token for each argument; None where some argument is neither a number nor an array that only GPUs reach."""
    found: list[Hashable] = []
    others = False
    for value in arguments:
        kind = type(value)
        token = _KINDS.get(kind)
        if token is None:
            token = _KINDS[kind] = _of_kind(kind)
        one = token(value)
        if one is None:
            return None
        others = others or token is _of_torch
        found.append(one)
    if others:
        found.append(_torch_stream())
    return tuple(found)


def _torch_stream() -> int:
    """PyTorch's current stream, the same for all tensors of a call: to ask for it takes longer than all else."""
    torch: Any = sys.modules["torch"]
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if raw is None:
        return int(torch.cuda.current_stream().cuda_stream)
    return int(raw(torch.cuda.current_device()))


def _of_kind(kind: type) -> Token:
    if kind in (bool, int, float):
        return type
    if issubclass(kind, HostArray):
        return _of_anything
    if issubclass(kind, DeviceArray):
        return _of_device_array
    match kind.__module__.split(".")[0], kind.__name__:
        case ("cupy", "ndarray"):
            return _of_cupy
        case ("torch", "Tensor" | "Parameter"):
            return _of_torch
    return _of_anything


def _of_device_array(value: DeviceArray) -> Hashable:
    value.used()
    return value.token


def _of_cupy(value: Any) -> Hashable:
    stream = sys.modules["cupy"].cuda.get_current_stream().ptr
    return value.data.ptr, value.shape, value.strides, value.dtype, stream


def _of_torch(value: Any) -> Hashable:
    if not value.is_cuda or value.requires_grad:
        return None
    return value.data_ptr(), value.shape, value.stride(), value.dtype


def _of_anything(value: object) -> Hashable:
    return None


_KINDS: dict[type, Token] = {}
