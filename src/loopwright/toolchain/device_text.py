"""What of a program's CUDA text is compiled, together with what else, and under which header."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from loopwright.ir.code import KernelEntry
from loopwright.ir.program import DeviceText

MANY = 24
"""Of so many kernels a call needs half at most, and alone each takes CUDA's compiler twice as long as among others."""

DEVICE_HEADER = (Path(__file__).parents[1] / "codegen" / "loopwright.cuh").read_text()


def complete(text: DeviceText) -> DeviceText:
    """A device text with the header that it needs, as CUDA's compiler wants it."""
    return replace(text, text=DEVICE_HEADER + "#line 1\n" + text.text)


def of_width(text: DeviceText, bits: int) -> DeviceText:
    """The text with no kernels but those for any tiles whose distances between elements have so many bits, 32 or 64;
    where there are some that ask and some that do not, the latter."""
    chosen = (one for one in _entries(text) if one.bits == bits and not one.even and not one.asks)
    return only(text, [one.name for one in chosen])


def only(text: DeviceText, kernels: Collection[str]) -> DeviceText:
    """The text without all other kernels; all lines stay where they are."""
    lines = text.text.split("\n")
    for entry in _entries(text):
        if entry.name not in kernels:
            lines[entry.line - 1] = ""
    return replace(text, text="\n".join(lines), kernels=tuple(name for name in text.kernels if name in kernels))


def likely(text: DeviceText) -> tuple[str, ...]:
    """The kernels that any call is likely to need, as far as the text tells."""
    late = _either(text) | {one.name for one in _entries(text) if one.bits == 64 or one.asks}
    return tuple(name for name in text.kernels if name not in late)


def compiled_first(text: DeviceText) -> tuple[str, ...]:
    """The kernels that are compiled before the first call: the likely ones. Many of them are versions for other sizes,
    of which a call needs few: then none."""
    first = likely(text)
    return first if len(first) <= MANY else ()


def compiled_with(text: DeviceText, kernel: str) -> tuple[str, ...]:
    """The kernels that are compiled together with one, where a launch needs it."""
    if kernel in _either(text) | {one.name for one in _entries(text) if one.asks} or len(likely(text)) > MANY:
        return (kernel,)
    far = tuple(one.name for one in _entries(text) if one.bits == 64 and not one.asks)
    return far if kernel in far else compiled_first(text)


def _entries(text: DeviceText) -> list[KernelEntry]:
    return [entry for function in text.functions for entry in function.entries]


def _either(text: DeviceText) -> set[str]:
    """Kernels for whole tiles only, and their like for any tiles: few calls need both, and compilers take long."""
    parts = [function.entries for function in text.functions if any(one.even for one in function.entries)]
    return {one.name for entries in parts for one in entries if one.bits == 32}
