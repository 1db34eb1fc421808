"""Plans from a kernel's text, and what a recipe made of them: its steps as text, its reasons, and that it computes the
same in the interpreter, on small whole numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from loopwright.analysis import effort
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import ArrayParam, Kernel
from loopwright.ir.text import print_kernel
from loopwright.ir.verify import verify
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.recipe.tunable import Choices
from loopwright.steps.schedule import print_schedule
from steps.kernels import known

Sizes = tuple[int, int, int]
"""What the letters n, m and l stand for, in that order."""

SIZES: tuple[Sizes, ...] = ((0, 0, 0), (1, 1, 1), (0, 3, 2), (5, 2, 0), (2, 5, 3), (7, 13, 5), (9, 4, 1))

MATMUL_BY_ELEMENTS = """
kernel matmul(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            for k in 0 .. size(a, 1):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""
MATMUL_SHAPES = {"a": "nl", "b": "lm", "c": "nm"}
GEMM = """
kernel gemm(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for i in 0 .. size(c, 0):
        for j in 0 .. size(c, 1):
            c[i, j] = c[i, j] * 3.0
        for k in 0 .. size(a, 1):
            for j.2 in 0 .. size(c, 1):
                c[i, j.2] = c[i, j.2] + a[i, k] * b[k, j.2]
"""
TRMM = """
kernel trmm(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(b, 0):
        for j in 0 .. size(b, 1):
            for k in i + 1 .. size(b, 0):
                b[i, j] = b[i, j] + a[k, i] * b[k, j]
            b[i, j] = 3.0 * b[i, j]
"""
TRMM_SHAPES = {"a": "nn", "b": "nm"}
COLUMN = """
kernel column(a: float64[2] C, b: float64[2] C):
    for j in 0 .. size(a, 1):
        for i in 0 .. size(a, 0):
            b[i, j] = 2.0 * a[i, j]
"""
COLUMN_SHAPES = {"a": "nm", "b": "nm"}
PATHS = """
kernel paths(p: float64[2] C):
    for k in 0 .. size(p, 0):
        for i in 0 .. size(p, 0):
            for j in 0 .. size(p, 0):
                p[i, j] = min(p[i, j], p[i, k] + p[k, j])
"""
PATHS_SHAPES = {"p": "nn"}
JACOBI = """
kernel jacobi(a: float64[2] C, b: float64[2] C, l: int64):
    for t in 0 .. l:
        for i in 1 .. size(a, 0) - 1:
            for j in 1 .. size(a, 1) - 1:
                b[i, j] = a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]
        for i.2 in 1 .. size(a, 0) - 1:
            for j.2 in 1 .. size(a, 1) - 1:
                a[i.2, j.2] = b[i.2, j.2]
"""
JACOBI_SHAPES = {"a": "nm", "b": "nm"}


def plan_of(text: str, strict: bool = False, choices: Choices | None = None) -> PartialSchedule:
    """A plan in which nothing is decided yet."""
    kernel, facts = known(text)
    return PartialSchedule(kernel, facts, strict, kernel, choices=choices)


def planned(
    decide: Callable[[PartialSchedule], None], text: str, strict: bool = False, choices: Choices | None = None
) -> PartialSchedule:
    """The plan after one part of the recipe; its kernel is well formed, and the written one where nothing is taken."""
    with effort.together():  # as in a first call: what was asked about other kernels changes nothing
        partial = plan_of(text, strict, choices)
        decide(partial)
    verify(partial.kernel)
    assert (partial.kernel is partial.written) == (not partial.decisions)
    return partial


def steps(partial: PartialSchedule) -> str:
    """The schedule of a plan so far."""
    return print_schedule(tuple(decision.step for decision in partial.decisions))


def reasons(partial: PartialSchedule) -> list[str]:
    """The reasons of a plan, each once, in order."""
    return list(dict.fromkeys(decision.why for decision in partial.decisions))


def check_same(before: Kernel, after: Kernel, shapes: Mapping[str, str], sizes: tuple[Sizes, ...] = SIZES) -> None:
    """Both kernels do the same to whole numbers, bit for bit. `shapes`: the extents of each array in letters, as in
    {"a": "nl"}; a scalar parameter has the name of its letter."""
    assert after is not before
    for chosen in sizes:
        assert outcome(before, shapes, chosen) == outcome(after, shapes, chosen), (chosen, print_kernel(after))


def outcome(kernel: Kernel, shapes: Mapping[str, str], chosen: Sizes) -> list[object]:
    """What a kernel returns, and its arrays afterwards."""
    value = dict(zip("nml", chosen, strict=True))
    random = np.random.default_rng(chosen)
    arrays = {array.name: _numbers(random, [value[x] for x in shapes[array.name]], array) for array in kernel.arrays}
    result = interpret(kernel, [arrays[p.name] if p.name in arrays else value[p.name] for p in kernel.params])
    return [result, *(array.tobytes() for array in arrays.values())]


def _numbers(random: np.random.Generator, shape: list[int], array: ArrayParam) -> np.ndarray:
    """Small whole numbers, in the array's own element type and layout."""
    values = random.integers(-9, 9, shape).astype(array.element.name)
    return np.asfortranarray(values) if array.layout == "F" else values
