"""Kernels with the schedule of a machine with threads, run as C on one thread and on several, against the interpreter,
and the text of small ones."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import numpy as np

from codegen.execution import compiled
from devices.handmade import HEADER
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.codegen.gpu import generate_gpu
from loopwright.codegen.openmp import generate
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel
from loopwright.recipe.marks import marks
from loopwright.steps.schedule import apply_schedule, parse_schedule, print_schedule

N = 20011  # enough work for several threads, and a prime: no stretch divides it
RANDOM = np.random.default_rng(20)


def small(*shape: int, dtype: str = "float64") -> Any:
    """Small whole numbers: sums of them are exact in any order."""
    return RANDOM.integers(-9, 10, shape).astype(dtype)


def check(text: str, arguments: list[Any], cache: Path, schedule: str, strict: bool = False) -> str:
    """Run on 1 and 4 threads, compare with the interpreter, and give the C text."""
    kernel = parse_kernel(text)
    facts = analyse(kernel)
    steps = marks(kernel, facts, strict)
    assert print_schedule(steps) == schedule
    scheduled, _ = apply_schedule(kernel, facts, steps, strict)
    expected = copy.deepcopy(arguments)
    result = interpret(kernel, expected)
    for threads in (1, 4):
        own = copy.deepcopy(arguments)
        entry = compiled(scheduled, cache, facts, check_all=False, strict=strict, threads=threads)
        got = entry.run(tuple(own))
        np.testing.assert_array_equal(np.array(got, dtype=object), np.array(result, dtype=object))
        for mine, right in zip(own, expected, strict=True):
            np.testing.assert_array_equal(mine, right)
    return entry.payload.program.text


def host_text(
    text: str, steps: str = "", strict: bool = False, check_all: bool = False, deterministic: bool = False
) -> str:
    """The C of a kernel after a schedule, without the header; all blanks are single ones."""
    kernel, facts = after(text, steps, strict)
    found = generate(kernel, facts, check_all, strict, deterministic).text
    return re.sub(r"\s+", " ", found.removeprefix(HEADER))


def grid_text(text: str, steps: str, strict: bool = False) -> str:
    """The CUDA of a kernel after a schedule; all blanks are single ones."""
    kernel, facts = after(text, steps, strict)
    device = generate_gpu(kernel, facts, strict).device
    assert device is not None
    return re.sub(r"\s+", " ", device.text)


def after(text: str, steps: str, strict: bool) -> tuple[Kernel, Facts]:
    """A kernel and its facts after a schedule."""
    kernel = parse_kernel(text)
    return apply_schedule(kernel, analyse(kernel), parse_schedule(steps), strict)
