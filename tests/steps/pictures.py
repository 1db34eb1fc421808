"""Executes the picture in a step's docstring: the step in backticks, then before -> after in the IR's text form."""

from __future__ import annotations

import inspect
import re
import textwrap

import numpy as np

from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.steps.schedule import apply_schedule, parse_schedule
from loopwright.steps.step import Step
from steps.kernels import known

FRAME = (
    "kernel picture(a: float64[1] C, b: float64[1] C, c: float64[2] C, d: float64[2] C, n: int64, m: int64, "
    "e: int64[1] C, p: float64[2] C):\n"
)


def check_picture(step: type[Step]) -> None:
    """The step in the docstring is legal on the first kernel, gives the second one, and keeps what it computes."""
    lines = inspect.getdoc(step) or ""
    texts = re.findall(r"`([^`]+)`:", lines)
    assert len(texts) == 1, "one step in backticks, with a colon after it"
    picture = lines.partition("`:\n")[2]
    before, after = (textwrap.dedent(side).strip("\n") for side in picture.split("\n->\n"))
    kernel, facts = known(FRAME + textwrap.indent(before, "    ") + "\n")
    (one,) = parse_schedule(texts[0])
    assert type(one) is step
    changed, _ = apply_schedule(kernel, facts, (one,), strict=True)
    verify(changed)
    wanted = parse_kernel(FRAME + textwrap.indent(after, "    ") + "\n")
    assert print_kernel(changed) == print_kernel(wanted)
    assert before != after
    for size in (0, 1, 7, 70):
        assert _outcome(kernel, size) == _outcome(changed, size)


def _outcome(kernel: Kernel, size: int) -> bytes:
    random = np.random.default_rng(size)
    arrays = [random.integers(-9, 9, shape).astype(float) for shape in (size + 80, size + 80)]
    arrays += [random.integers(-9, 9, (size + 80, size + 80)).astype(float) for _ in range(2)]
    numbers = random.integers(-size - 80, size + 80, size + 80)
    pairs = random.integers(-9, 9, (size + 80, 2)).astype(float)
    interpret(kernel, [*arrays, size, size // 2 + 1, numbers, pairs])
    arrays.append(pairs)
    return b"".join(array.tobytes() for array in arrays)
