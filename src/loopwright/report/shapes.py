"""The sizes of a call in words: which array has which, instead of a row of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from loopwright.errors import LoopwrightError
from loopwright.ir.nodes import ArrayParam, Kernel
from loopwright.ir.parse import parse_kernel
from loopwright.report.explain import signature_text

Axes = tuple[tuple[str, int], ...]
"""Arguments in order: the name of each and how many axes it has, 0 for an integer."""


def axes_of(kernel: Kernel) -> Axes:
    """Of the arguments that a Shape has sizes of."""
    found: dict[int, tuple[str, int]] = {}
    for param in kernel.params:
        name = param.name.partition(".")[0]
        if isinstance(param, ArrayParam):
            found.setdefault(param.argument, (name, param.rank - len(param.tail)))
        elif param.type.kind in ("int", "uint"):
            found.setdefault(param.argument, (name, 0))
    return tuple(found[argument] for argument in sorted(found))


def axes_in(signature: str) -> Axes:
    """The same of a kernel without its body as text, as stores keep it; () for any other text."""
    try:
        return axes_of(parse_kernel(signature))
    except (LoopwrightError, ValueError, LookupError, TypeError, RecursionError):
        return ()


def types_in(signature: str) -> str:
    """`smooth(a: float64[:, :], b: float64[:, :])` of a kernel without its body as text; any other text as it is."""
    try:
        return signature_text(parse_kernel(signature))
    except (LoopwrightError, ValueError, LookupError, TypeError, RecursionError):
        return signature


def sizes_words(sizes: Sequence[int], axes: Axes = ()) -> str:
    """`c, a and b 300 x 300`, `a 4000, n = 7`; where axes tell nothing, the numbers, equal ones once: `6 times 300`."""
    if not sizes:
        return "no sizes"
    if sum(max(rank, 1) for _, rank in axes) != len(sizes):
        runs = [(size, len(list(several))) for size, several in groupby(sizes)]
        return ", ".join(f"{many} times {size}" if many > 2 else " x ".join([str(size)] * many) for size, many in runs)
    left = list(sizes)
    told: list[tuple[str, str]] = []
    for name, rank in axes:
        mine, left = left[: max(rank, 1)], left[max(rank, 1) :]
        told.append((name, " x ".join(map(str, mine)) if rank else f"= {mine[0]}"))
    groups = [([name for name, _ in several], text) for text, several in groupby(told, key=lambda one: one[1])]
    return ", ".join(f"{_joined(names)} {text}" for names, text in groups)


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
