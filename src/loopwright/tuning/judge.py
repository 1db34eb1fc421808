"""What is known of a variant without running it, for a call: a function that cost/ pruning asks of each member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.compiler import Analysed, program_of, target_of_machine
from loopwright.config import Config, Device
from loopwright.cost.call_shape import shape_of
from loopwright.cost.cpu import cpu_metrics
from loopwright.cost.gpu import gpu_metrics
from loopwright.cost.metrics import Metrics
from loopwright.devices.gpus import gpu_of
from loopwright.errors import CompilerError
from loopwright.ir.variant import compilation_of
from loopwright.recipe.recipe import Recipe
from loopwright.specialisation import Specialisation

Judge = Callable[[Recipe], Metrics | None]
"""None where nothing is known."""


def judge_on_gpu(one: Specialisation, config: Config, arguments: Sequence[object]) -> Judge | None:
    """By efficiency and utilisation of the compiled code (Ryoo 2008), for a GPU of these options."""
    gpu = gpu_of(config.device)
    if gpu is None:
        return None
    limits = gpu.limits
    shape = shape_of(one.analysed.written, arguments)

    def judge(made: Recipe) -> Metrics | None:
        found = Analysed(one.analysed.written, one.analysed.facts, made, (), 0.0)
        try:
            program = program_of(found, compilation_of(one.signature, config))
            if program.device is None:
                return None
            return gpu_metrics(made.kernel, program.device, limits, shape, config)
        except (NotOnGpu, CompilerError):
            return None

    return judge


def judge_on_cpu(one: Specialisation, config: Config, arguments: Sequence[object]) -> Judge:
    """By the cycles of the instructions, and of the bytes that move between caches (cost/cpu.py)."""
    target, sizes = target_of_machine(config), shape_of(one.analysed.written, arguments).sizes

    def judge(made: Recipe) -> Metrics | None:
        return cpu_metrics(made.kernel, made.facts, target, config.threads, sizes)

    return judge


def judge_for(one: Specialisation, device: str, config: Config, arguments: Sequence[object]) -> Judge | None:
    """Of a device; None where nothing can be known of its variants without running them."""
    if device == "cpu":
        return judge_on_cpu(one, config, arguments)
    return judge_on_gpu(one, replace(config, device=cast(Device, device)), arguments)
