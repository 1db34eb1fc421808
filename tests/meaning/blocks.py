"""Random kernels for the blocks of a grid, as IR text: phases in which threads hand values on to one another through
local arrays of the block and through the block's own row of an argument, with loops, branches and jumps in between."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .choices import Choices

WIDTH = 8
ARRAYS = ("t", "u", "a", "b")
"""Two of each block, and two arguments, of which each block has a row."""


@dataclass
class _Writer:
    choices: Choices
    lines: list[str] = field(default_factory=list)
    loops: int = 0

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def loop(self) -> str:
        self.loops += 1
        return f"k{self.loops}"


def block(seed: int) -> str:
    """The text of the kernel of a seed: the loop `i` is for blocks, the loops `j1`, `j2`, ... are for threads."""
    w = _Writer(Choices(seed))
    w.line(1, "for i in 0 .. n:")
    w.line(2, "s = 1.0")
    for name in "tu":
        w.line(2, f"allocate {name}: float64[{WIDTH}] = {w.choices.number(0, 2)}.0")
    _phases(w, 2, ["i", "m"])
    header = "kernel block(a: float64[2] C, b: float64[2] C, n: int64, m: int64):"
    return "\n".join([header, "    var s: float64", *w.lines]) + "\n"


def _phases(w: _Writer, depth: int, scope: list[str], loop: str = "") -> None:
    count = w.choices.number(1, 3 if depth > 2 else 5)
    for number in range(count):
        kinds = [(6, _threads), (1, _alone), (1, _scalar)]
        kinds += [(2, _repeated), (1, _branch)] if depth < 4 else []
        w.choices.weighted(kinds)(w, depth, scope)
        if loop and number < count - 1 and w.choices.chance(20):
            w.line(depth, f"if {_condition(w, scope)}:")
            w.line(depth + 1, f"{w.choices.pick(('continue', 'break'))} {loop}")


def _threads(w: _Writer, depth: int, scope: list[str]) -> None:
    """A loop for threads; what it reads of the array that it writes, it reads where it writes."""
    j = w.loop().replace("k", "j")
    w.line(depth, f"for {j} in 0 .. {w.choices.pick((WIDTH, WIDTH, WIDTH - 1, 'm'))}:")
    place = w.choices.pick((j, f"{WIDTH - 1} - {j}"))
    for _ in range(w.choices.weighted(((3, 1), (1, 2)))):
        target = w.choices.pick(ARRAYS)
        other = w.choices.pick([name for name in ARRAYS if name != target])
        value = _at(other, w.choices.pick((j, f"{WIDTH - 1} - {j}", "0", "m")))
        new = w.choices.pick((value, f"{_at(target, place)} + {value}", f"s + {value}"))
        w.line(depth + 1, f"{_at(target, place)} = {new}")


def _alone(w: _Writer, depth: int, scope: list[str]) -> None:
    one, other = w.choices.pick(ARRAYS), w.choices.pick(ARRAYS)
    w.line(depth, f"{_at(one, str(w.choices.number(0, 7)))} = {_at(other, str(w.choices.number(0, 7)))} + 1.0")


def _scalar(w: _Writer, depth: int, scope: list[str]) -> None:
    w.line(depth, f"s = {_at(w.choices.pick(ARRAYS), str(w.choices.number(0, 7)))}")


def _repeated(w: _Writer, depth: int, scope: list[str]) -> None:
    k = w.loop()
    w.line(depth, f"for {k} in 0 .. {w.choices.pick(('m', 'm - 1', '2', 'i'))}:")
    _phases(w, depth + 1, [*scope, k], k)


def _branch(w: _Writer, depth: int, scope: list[str]) -> None:
    w.line(depth, f"if {_condition(w, scope)}:")
    _phases(w, depth + 1, scope)
    if w.choices.chance(40):
        w.line(depth, "else:")
        _phases(w, depth + 1, scope)


def _condition(w: _Writer, scope: list[str]) -> str:
    if w.choices.chance(30):
        return f"{_at(w.choices.pick(ARRAYS), str(w.choices.number(0, 7)))} > 1.0"
    return f"{w.choices.pick(scope)} > {w.choices.number(0, 2)}"


def _at(array: str, index: str) -> str:
    return f"{array}[{index}]" if array in "tu" else f"{array}[i, {index}]"


def calls(seed: int) -> list[list[object]]:
    """The arguments of its calls; n and m, last, are small, and 0 in one of them."""
    random = np.random.default_rng(seed)
    sizes = ((3, 0), (2, 1), (3, 2), (1, 3))
    return [[*random.integers(-4, 4, (2, 4, WIDTH)).astype(float), n, m] for n, m in sizes]
