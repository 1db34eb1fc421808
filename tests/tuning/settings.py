"""Calls of small kernels, saved as whoever tunes saves them for the processes that measure."""

from __future__ import annotations

from pathlib import Path

import loopwright as lw
from loopwright.config import current
from loopwright.ir.text import print_kernel
from loopwright.ir.variant import PLAIN, Variant
from loopwright.tuning.arguments import save, write
from loopwright.tuning.jobs import Setting, Trial


@lw.kernel
def scaled(y, x, a):
    total = 0.0
    for i in range(len(y)):
        y[i] += a * x[i]
        total += x[i]
    return total


def setting_of(kernel: lw.LoopKernel, folder: Path, *arguments: object) -> Setting:
    """A call whose first argument is written; the reference is the loop as it is written, on one thread."""
    one = kernel.specialise(*arguments)
    path = folder / "arguments"
    write(save(arguments), path)
    names = tuple(f"p{k}" for k in range(len(arguments)))
    text = print_kernel(one.analysed.written)
    return Setting(text, names, (0,), one.signature, current(), str(path), Variant("cpu", PLAIN, 1))


def trial(schedule: str, threads: int = 1, **changes: bool) -> Trial:
    """One on the CPU, for 50 ms."""
    return Trial(Variant("cpu", schedule, threads), 50_000_000, **changes)
