"""Kernels and schedules to be judged, and what is made of them, without running anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import loopwright as lw
from loopwright.analysis.coalescing import KnownSizes
from loopwright.analysis.facts import Facts
from loopwright.compiler import analysed, program_of
from loopwright.config import current
from loopwright.devices.limits import Limits
from loopwright.frontend.capture import capture
from loopwright.ir.nodes import Kernel
from loopwright.ir.program import DeviceText
from loopwright.ir.variant import compilation_of
from loopwright.runtime.specialise import as_arguments, signature_of

H100 = Limits(capability=(9, 0), multiprocessors=132, memory_bytes=80 << 30)


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def stencil(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def smooth(steps, a, b):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j] + a[i - 1, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i + 1, j] + b[i - 1, j])


def potential(x, y, q, v):
    for i in range(v.shape[0]):
        for j in range(v.shape[1]):
            for k in range(x.shape[0]):
                dx = np.float32(i) - x[k]
                dy = np.float32(j) - y[k]
                v[i, j] += q[k] / np.sqrt(dx * dx + dy * dy)


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * a[i]
    return s


@dataclass(frozen=True)
class Made:
    """A kernel after a schedule, and the sizes of the arguments that it was made for."""

    kernel: Kernel
    facts: Facts
    text: DeviceText | None
    shape: KnownSizes


def made(
    function: Callable[..., object], arguments: tuple[Any, ...], schedule: str = "", device: str = "emulated"
) -> Made:
    """The recipe's schedule where none is given. Arguments are only asked for their sizes."""
    source = capture(function)
    names = [parameter.name for parameter in source.parameters]
    written = [position for position, name in enumerate(names) if name in source.written]
    signature = signature_of(as_arguments(arguments), written, names)
    on_gpu = device == "emulated"
    with lw.options(device=device, schedule=schedule):
        wanted = compilation_of(signature, current())
        found = analysed(source, wanted)
        text = program_of(found, wanted).device if on_gpu else None
    sizes: dict[str, int] = {}
    strides: dict[int, tuple[int, ...]] = {}
    for position, value in enumerate(arguments):
        if isinstance(value, np.ndarray):
            sizes |= {f"s{position}_{axis}": size for axis, size in enumerate(value.shape)}
            strides[position] = value.strides
        else:
            sizes[f"v{position}"] = int(value)
    return Made(found.recipe.kernel, found.recipe.facts, text, KnownSizes(sizes, strides))


def floats(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    """An array of a shape, whose memory is never touched."""
    return np.empty(shape, dtype)
