"""Random programs over records and matrices, whose arrays get random layouts while random loops run: the interpreter,
and compiled code, give what the program as it was written gives, to the last bit. A layout that is refused is refused
for a reason; enough of them are not.

The programs are the same in every run; LOOPWRIGHT_FUZZ=n runs n more, others each time (`make fuzz`).
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.execution import compiled
from loopwright.analysis.analyse import analyse
from loopwright.ir.interp import interpret
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel, print_kernel
from loopwright.ir.verify import verify
from loopwright.recipe.recipe import recipe
from loopwright.recipe.target import CpuTarget
from loopwright.steps.schedule import apply_schedule, parse_schedule

from .choices import Choices
from .schedules import LAYOUTS

PROGRAMS = 250
COMPILED = 10  # one program in so many
TYPES = ("float64", "float32", "int64", "int32", "int16", "uint8")
LOOPS = ("k", "i", "j", "i2", "j2")


class Program:
    """One program: the dtype of its records, and its text."""

    def __init__(self, seed: int) -> None:
        choices = self.choices = Choices(seed)
        self.fields = [(f"f{at}", choices.pick(TYPES), choices.chance(15)) for at in range(choices.number(1, 6))]
        layout: list[Any] = [(name, type_, (3,)) if tail else (name, type_) for name, type_, tail in self.fields]
        self.dtype = np.dtype(layout, align=True)
        assert self.dtype.fields is not None
        params = [
            f"p.{name}: {type_}[{1 + tail}] strided argument 0 offset {self.dtype.fields[name][1]}"
            + (f" tail 3:{np.dtype(type_).itemsize}" if tail else "")
            for name, type_, tail in self.fields
        ]
        params += ["d: float64[2] C argument 1", "b: int64[1] C argument 2", "t: int64 argument 3"]
        self.fails = choices.chance(15)
        lines = [f"    {self.outer()}"]
        for number in range(choices.number(1, 3)):
            lines += self.nest(number)
        self.text = f"kernel random({', '.join(params)}):\n" + "\n".join(lines) + "\n"
        self.kernel = parse_kernel(self.text)

    def outer(self) -> str:
        return self.choices.pick(("for k in 0 .. t:", "for k in 0 .. t:", "for k in 0 .. 3:", "for k in 1 .. t + 1:"))

    def nest(self, number: int) -> list[str]:
        choices = self.choices
        i, j = (f"i{number}", f"j{number}")
        lines = [f"        for {i} in {choices.number(0, 1)} .. size(p.{self.fields[0][0]}, 0):"]
        depth = 3
        if choices.chance(40):
            lines.append(f"            for {j} in 0 .. size(d, 1):")
            depth += 1
        else:
            j = "0"
        for _ in range(choices.number(1, 3)):
            lines.append("    " * depth + self.statement(i, j))
        if choices.chance(10):
            lines.append("    " * depth + f"if d[{i}, 0] > 1.0e300:")
            lines.append("    " * depth + f"    break {i if depth == 3 else j}")
        return lines

    def place(self, i: str) -> str:
        forms = [(9, i), (3, f"{i} - 1" if self.fails else i), (1, "0"), (1, "-1" if self.fails else "0")]
        forms.append((2, f"b[{i}]" if self.fails else i))
        return self.choices.weighted(tuple(forms))

    def element(self, i: str, writes: bool = False) -> tuple[str, str]:
        """Text of an element, and its type."""
        if self.choices.chance(25):
            return f"d[{i}, {self.choices.pick(('0', '1'))}]", "float64"
        name, type_, tail = self.choices.pick(self.fields)
        at = i if writes else self.place(i)
        return f"p.{name}[{at}{f', {self.choices.number(0, 2)}' if tail else ''}]", type_

    def statement(self, i: str, j: str) -> str:
        target, type_ = self.element(i, writes=True)
        if j != "0" and self.choices.chance(40):
            target, type_ = f"d[{i}, {j}]", "float64"
        values = [self.element(i) for _ in range(self.choices.number(1, 3))]
        terms = [text if of == type_ else f"{type_}({text})" for text, of in values]
        return f"{target} = {self.choices.pick((' + ', ' - ')).join(terms)}"

    def arguments(self, n: int) -> list[Any]:
        """Arguments of a call, of small whole numbers."""
        draw = np.random.default_rng(n)
        p = np.zeros(n, self.dtype)
        for name, _, _ in self.fields:
            p[name] = draw.integers(0, 5, p[name].shape)
        d = draw.integers(0, 5, (n, 2 + n % 3)).astype(float)
        return [p, d, draw.integers(0, max(n, 1), n), n % 4]

    def schedule(self) -> str:
        """Random layouts for random arrays and loops, and perhaps marks."""
        choices = self.choices
        steps = [
            f"relayout {array}{choices.pick((' in k', ' in k', '', ' in i0'))} {choices.pick(LAYOUTS)}"
            for array in choices.pick((("p",), ("d",), ("p", "d"), ("p", "p")))
        ]
        return "; ".join(steps)


def outcome(kernel: Kernel, arguments: list[Any]) -> tuple[object, ...]:
    """What a run leaves in the arrays, or the error with which it ends."""
    try:
        with np.errstate(all="ignore"):
            interpret(kernel, arguments)
    except lw.LoopwrightError as error:
        return type(error), getattr(error, "array", ""), getattr(error, "index", 0)
    return tuple(one.tobytes() for one in arguments[:3])


def check(seed: int, tally: Counter[str], cache: Path) -> None:
    program = Program(seed)
    facts = analyse(program.kernel)
    text = program.schedule()
    try:
        changed, proven = apply_schedule(program.kernel, facts, parse_schedule(text), True)
    except lw.ScheduleError as error:
        tally[str(error).partition("is not legal: ")[2].split("'")[0].strip() or "refused"] += 1
        return
    tally["legal"] += 1
    verify(changed)
    assert parse_kernel(print_kernel(changed)) == changed
    sizes = (0, 1, 2, 7, 9, 16)
    for n in sizes:
        wanted = outcome(program.kernel, program.arguments(n))
        assert outcome(changed, program.arguments(n)) == wanted, f"{program.text}\n{text}\nn = {n}"
    if seed % COMPILED == 0 and not program.fails:
        made = recipe(changed, proven, True, CpuTarget())
        entry = compiled(made.kernel, cache, made.facts, check_all=False, threads=2)
        for n in sizes[1:]:
            wanted = outcome(program.kernel, program.arguments(n))
            own = program.arguments(n)
            entry.run(tuple(own))
            assert tuple(one.tobytes() for one in own[:3]) == wanted, f"{program.text}\n{text}\nn = {n}"
        tally["compiled"] += 1


def test_results_stay(tmp_path: Path) -> None:
    tally: Counter[str] = Counter()
    more = int(os.environ.get("LOOPWRIGHT_FUZZ", "0"))
    others = random.SystemRandom()
    for seed in [*range(PROGRAMS), *(others.randrange(2**40) for _ in range(more))]:
        check(seed, tally, tmp_path)
    assert tally["legal"] > PROGRAMS // 3 and tally["compiled"] >= 5, tally


@pytest.mark.parametrize("seed", range(0, 40, 5))
def test_by_default_results_stay(seed: int) -> None:
    """The choice that the recipe makes by itself, on records of twice the size that are used."""
    program = Program(seed)
    if program.fails:
        return
    facts = analyse(program.kernel)
    made = recipe(program.kernel, facts, True, CpuTarget(), records={0: 2 * program.dtype.itemsize})
    for n in (1, 7, 16):
        assert outcome(made.kernel, program.arguments(n)) == outcome(program.kernel, program.arguments(n)), program.text
