"""The loops and branches of generated CUDA text, by its lines: what an instruction's line is inside of.

It reads what `codegen` writes, by braces, and no other C: a loop's header and a branch's condition stand on one line,
and end with the brace that opens their body, or (a loop of one statement) with nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

KERNEL = re.compile(r"^static __device__ __forceinline__ void (\w+)\(")
HEADER = re.compile(r"for \(\w+ (\w+) = ([^;]+); ([^;]+); ([^;{]*)\)")
STEADY = re.compile(r"for \(int lw_left = .*; lw_left > 0; --lw_left, (\w+) \+= \d+\)")
SEVERAL = re.compile(r"for \(; lw_at < lw_upper && .*; lw_at \+= (\d+)\)")
LEFT = re.compile(r"for \(; lw_at < lw_upper; lw_at \+= (\d+)\)")
REST = re.compile(r"for \(; (?!lw_at\b)(\w+) < lw_upper; \1 \+= \d+\)")
UNROLL = re.compile(r"#pragma (?:GCC )?unroll(?: (\d+))?$")
VALUE = re.compile(r"const int64_t (\w+) = .*\b(lw_k\w*|lw_round|lw_at)\b")
INTEGER = re.compile(r"(\d+)L?$")
ANY_TILES = re.compile(r"(?!lw_next\b)(\w+) < lw_upper( &&|$)")
FIRST_THREAD = re.compile(r"\s*if \((threadIdx\.x == 0[^()]*)\) [^{]*;$")
"""What one thread does in one statement."""

QUESTION, PLAIN = "LW_STOPS", re.compile(r"!lw_asks|LW_PLAIN\(")
"""Whether a call has to end: a line that hardly counts. What the condition of a loop that stands twice has: for the
first text, which is as without questions."""

Kind = Literal["kernel", "loop", "then", "else"]
Part = Literal["all", "first", "steady", "rest", "several", "left"]


@dataclass(slots=True, eq=False)
class Region:
    """first, last: its lines, from 1 on, the header's too. name: of a loop's variable, as the text calls it. trips: of
    a loop, where the text says how many; unroll: how many iterations the text asks to be written out, 1 where it says
    nothing, 0 for all. part: of a loop whose tiles arrive ahead, which of its iterations these are; a branch with the
    loop's name makes the first tile arrive. at_once: iterations that one of "several" does, of which "left" does the
    others. condition: of a branch."""

    kind: Kind
    first: int
    last: int = 0
    name: str = ""
    trips: int | None = None
    unroll: int = 1
    part: Part = "all"
    at_once: int = 1
    condition: str = ""
    outer: Region | None = None
    inner: list[Region] = field(default_factory=list)

    def around(self) -> Iterator[Region]:
        """Itself, and the regions around it, from the inside to the outside."""
        region: Region | None = self
        while region is not None:
            yield region
            region = region.outer

    @property
    def loop(self) -> Region:
        """The nearest loop around a branch, or the loop or kernel itself."""
        return next(region for region in self.around() if region.kind in ("loop", "kernel"))

    def within(self) -> Iterator[Region]:
        """All regions inside, outer ones first."""
        for region in self.inner:
            yield region
            yield from region.within()

    def at(self, line: int) -> Region:
        """The innermost region that a line is in."""
        for region in self.inner:
            if region.first <= line <= region.last:
                return region.at(line)
        return self


def regions(text: str) -> dict[str, Region]:
    """The kernels of a CUDA text, by the names of the functions that hold their code."""
    lines = text.split("\n")
    found: dict[str, Region] = {}
    for number, line in enumerate(lines, 1):
        if head := KERNEL.match(line):
            found[head[1]] = _Reader(lines).read(number)
    return found


class _Reader:
    """Braces, from the head of a kernel to its end."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.open: list[Region | None] = []
        self.here: Region
        self.closed: Region

    def read(self, first: int) -> Region:
        """The kernel whose head is this line."""
        self.here = kernel = Region("kernel", first)
        self.open.append(kernel)
        for number in range(first + 1, len(self.lines) + 1):
            self._line(number)
            if not self.open:
                break
        kernel.last = kernel.last or len(self.lines)
        return kernel

    def _line(self, number: int) -> None:
        line = self.lines[number - 1]
        for place, sign in enumerate(line):
            if sign == "{":
                self._begin(line[:place].rstrip(), number)
            elif sign == "}":
                self._end(number)
        if alone := FIRST_THREAD.match(line):
            self.here.inner.append(Region("then", number, number, condition=alone[1], outer=self.here))
        if QUESTION in line:
            self.here.inner.append(Region("then", number, number, condition=QUESTION, outer=self.here))
        if _is_loop(line) and not line.rstrip().endswith("{"):
            loop = self._loop(line, number)
            loop.last = number + 1  # of one statement

    def _begin(self, before: str, number: int) -> None:
        if before.endswith("else"):
            region = Region("else", number, condition=self.closed.condition, outer=self.here)
        elif before.endswith(")") and _is_loop(before):
            region = self._loop(before, number)
            self.open.append(region)
            self.here = region
            return
        elif before.endswith(")") and (start := before.rfind("if (")) >= 0:
            region = Region("then", number, condition=before[start + 4 : -1], outer=self.here)
            if first := ANY_TILES.match(region.condition):
                region.name, region.part = first[1], "first"
        else:
            self.open.append(None)
            return
        self.here.inner.append(region)
        self.open.append(region)
        self.here = region

    def _end(self, number: int) -> None:
        region = self.open.pop()
        if region is not None:
            region.last = number
            if region.kind == "then":
                self.closed = region
            if region.outer is not None:
                self.here = region.outer

    def _loop(self, text: str, number: int) -> Region:
        if (head := STEADY.search(text) or REST.search(text)) is not None:
            part: Part = "steady" if "lw_left" in text else "rest"
            self.here.inner.append(Region("loop", number, name=head[1], part=part, outer=self.here))
            return self.here.inner[-1]
        if (head := SEVERAL.search(text) or LEFT.search(text)) is not None:
            return self._of_several(int(head[1]), " && " in text, number)
        head = HEADER.search(text)
        assert head is not None
        name, lower, test = head[1], head[2], head[3]
        first, last = INTEGER.match(lower), re.match(rf"{name} < (\d+)L?$", test)
        region = Region("loop", number, name=name, outer=self.here)
        step = re.match(rf"{name} \+= (\d+)$", head[4])
        if first and last and not step:
            region.trips = max(0, int(last[1]) - int(first[1]))
        elif last and step and "threadIdx" in lower:  # shared out among threads, each beginning at its number
            region.trips = -(-int(last[1]) // int(step[1]))
        if number < len(self.lines) and (value := VALUE.search(self.lines[number])) and value[2] == name:
            region.name = value[1]
        if unroll := UNROLL.search(self.lines[number - 2].strip()):
            region.unroll = int(unroll[1] or 0)
        self.here.inner.append(region)
        return region

    def _of_several(self, step: int, ahead: bool, number: int) -> Region:
        """The two loops of updates that look ahead. The first one has the steps of several iterations, and is told how
        many, and of which loop, by the second."""
        region = Region("loop", number, part="several" if ahead else "left", at_once=step, outer=self.here)
        before = self.here.inner[-1] if self.here.inner else region
        self.here.inner.append(region)
        value = VALUE.search(self.lines[number]) if number < len(self.lines) else None
        if not ahead and value is not None and before.part == "several":
            region.name = before.name = value[1]
            region.at_once = before.at_once = before.at_once // step
        return region


def _is_loop(text: str) -> bool:
    return any(head.search(text) is not None for head in (HEADER, REST, SEVERAL, LEFT))
