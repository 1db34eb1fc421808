"""What of a program's CUDA text is compiled, together with what else, and under which header. It reads the text by its
lines; what they mean is codegen's.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from importlib import resources

from loopwright.ir.program import DeviceText

ENTRY = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\([^)]*\) )?(\w+)\(')
ASKING = ("_asks32", "_asks64", "_askseven")
"""Endings of kernels that ask whether to stop, where there are others that do not."""
DEVICE_HEADER = (resources.files("loopwright.codegen") / "loopwright.cuh").read_text()


def complete(text: DeviceText) -> DeviceText:
    """A device text with the header that it needs, as CUDA's compiler wants it."""
    return replace(text, text=DEVICE_HEADER + "#line 1\n" + text.text)


def of_width(text: DeviceText, bits: int) -> DeviceText:
    """The text with no kernels but those for any tiles whose distances between elements have so many bits, 32 or 64;
    where there are some that ask and some that do not, the latter."""
    return only(text, [name for name in text.kernels if not name.endswith((f"_{96 - bits}", "_even", *ASKING))])


def only(text: DeviceText, kernels: Collection[str]) -> DeviceText:
    """The text without all other kernels; all lines stay where they are."""
    lines = (
        "" if (found := ENTRY.match(line)) is not None and found[1] not in kernels else line
        for line in text.text.split("\n")
    )
    return replace(text, text="\n".join(lines), kernels=tuple(name for name in text.kernels if name in kernels))


def compiled_first(text: DeviceText) -> tuple[str, ...]:
    """The kernels that any call is likely to need."""
    late = _either(text)
    return tuple(name for name in text.kernels if name not in late and not name.endswith(("_64", *ASKING)))


def compiled_with(text: DeviceText, kernel: str) -> tuple[str, ...]:
    """The kernels that are compiled together with one, where a launch needs it."""
    if kernel in _either(text) or kernel.endswith(ASKING):
        return (kernel,)
    far = tuple(name for name in text.kernels if name.endswith("_64"))
    return far if kernel in far else compiled_first(text)


def _either(text: DeviceText) -> set[str]:
    """Kernels for whole tiles only, and their like for any tiles: few calls need both, and compilers take long."""
    parts = [name.removesuffix("_even") for name in text.kernels if name.endswith("_even")]
    return {f"{name}_{version}" for name in parts for version in ("32", "even")}
