"""Kernels on the emulated GPU: random loops become blocks and threads, and what runs there is compared."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import cast

from loopwright.analysis.facts import Facts
from loopwright.analysis.reach import reach
from loopwright.codegen.gpu import generate_gpu
from loopwright.config import Config
from loopwright.devices.base import returns_of
from loopwright.devices.cpu import load
from loopwright.devices.emulated import EmulatedGpu
from loopwright.ir.nodes import For, Kernel, Run, Store
from loopwright.ir.walk import loops, statements
from loopwright.memory.offload import OffloadEntry, on_gpu
from loopwright.steps.bind import Bind
from loopwright.steps.fission import Fission
from loopwright.steps.guard import Guard
from loopwright.steps.reorder import Reorder
from loopwright.steps.schedule import apply_schedule
from loopwright.steps.split import Split
from loopwright.steps.step import Step
from loopwright.steps.threads import BLOCKS, THREADS
from loopwright.steps.tile import Tile
from loopwright.toolchain.cc import build

from .choices import Choices
from .schedules import random_step

BEFORE: tuple[type[Step], ...] = (Split, Split, Tile, Guard, Guard, Reorder, Fission)
"""What makes loops for a grid."""

Grid = tuple[Kernel, Facts, list[Step]]
"""A kernel after steps, what is known of it, and the steps."""


def on_emulated(kernel: Kernel, facts: Facts, strict: bool, cache: Path, seed: int = 0) -> OffloadEntry:
    """The kernel as something to call with `run(arguments)`; seed: the order in which blocks and threads take turns.
    Raises NotOnGpu."""
    program = generate_gpu(kernel, facts, strict)
    assert program.device is not None
    config, gpu = Config(cache=cache, device="emulated", strict=strict, compiler_flags=("-O1",)), _gpu(seed)
    host = load(build(program.text, program.flags, config), program)
    stored = {stmt.array for stmt in statements(kernel.body) if isinstance(stmt, Store)}
    written = frozenset(array.argument for array in kernel.arrays if array.name in stored)
    executable = on_gpu(host, gpu, gpu.module(program.device, config), written, reach(kernel, facts, kernel, facts))
    returns = returns_of(kernel)
    return OffloadEntry(
        entry=executable.entry, guard=executable.guard, threads=1, parallel=False, returns=returns.shape,
        values=returns.values, constants=(), fresh=None, fail=executable.failure,
        guard_failed=lambda _arguments, _originals: "guard failed", payload=executable,
    )  # fmt: skip


@functools.cache
def _gpu(seed: int) -> EmulatedGpu:
    return EmulatedGpu(seed=seed)


def on_grid(choices: Choices, kernel: Kernel, facts: Facts, strict: bool) -> Grid:
    """The kernel after random legal steps, the last of which bind loops, in any order, as many as chance will have."""
    taken: list[Step] = []

    def take(step: Step | None) -> None:
        nonlocal kernel, facts
        if step is not None and step.illegal(kernel, facts, strict) is None:
            kernel, facts = apply_schedule(kernel, facts, (step,), strict)
            taken.append(step)

    for _ in range(choices.number(0, 4)):
        take(random_step(choices, kernel, facts, strict, (choices.pick(BEFORE),)))
    names = [name for name, loop in loops(kernel).items() if isinstance(loop, For)]
    names.sort(key=lambda _: choices.number(0, 99))
    for name in names:
        if choices.chance(85):
            for _ in range(3):
                if not any(isinstance(step, Bind) and step.loop == name for step in taken):
                    take(random_bind(choices, name))
    return kernel, facts, taken


def in_one_block(choices: Choices, kernel: Kernel, facts: Facts) -> Grid:
    """A kernel of blocks.py whose blocks and threads work together: hardly a loop for threads is left in order."""
    taken: list[Step] = []
    for name in loops(kernel):
        axis = choices.weighted(((8, "thread.x"), (1, "thread.y")))
        step = Bind(name, "block.x") if name == "i" else Bind(name, cast(Run, axis), choices.pick((2, 3, 4, 8, 8, 8)))
        if name[0] in "ij" and choices.chance(95) and step.illegal(kernel, facts, True) is None:
            kernel, facts = apply_schedule(kernel, facts, (step,), True)
            taken.append(step)
    return kernel, facts, taken


def random_bind(choices: Choices, loop: str) -> Bind:
    """Blocks or threads along some axis, mostly x; few threads, so that loops of a few iterations fill several."""
    kind = choices.pick((BLOCKS, THREADS))
    axis = cast(Run, choices.weighted(((3, kind[0]), (2, kind[1]), (1, kind[2]))))
    threads = choices.pick((0, 1, 2, 3, 4, 7, 32)) if kind is THREADS else 0
    return Bind(loop, axis, threads)
