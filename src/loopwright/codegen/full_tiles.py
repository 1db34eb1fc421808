"""Launches with whole tiles only: sizes are multiples of tiles, and arrays are aligned. Most launches of a product are
such. They have a kernel of their own, without the text for all other tiles: that is most of the text, and compilers
take their time for it. The kernel for any tiles is compiled when the first launch needs it.

It owns what has to hold: the tests on which the text of a kernel branches, said of all blocks and of all iterations at
once, so that the host can ask before it starts the kernel. A test that cannot be said so stays in the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from loopwright.analysis.prefetch import rounds_of
from loopwright.codegen.function import Writer
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import Assign, Body, Checked, Compare, Const, Expr, For, If, Load
from loopwright.ir.queries import names_in
from loopwright.ir.walk import statements, subexpressions
from loopwright.steps.nest import step_of

MOST_ROUNDS = 1 << 30
"""As many iterations as the steady part of a loop does at most (lw_rounds in loopwright.cuh)."""
FLAG = "lw_even"
"""In the text of a kernel: whether it is the one for whole tiles only; in the host's, whether that is to run."""


@dataclass
class Even:
    """Of one kernel. blocks: its loops over blocks; loops: all those inside of it, by name; inside: these names, and
    those of scalars that it sets: what the host does not know. Found while the text is written: tests, which hold for
    all whole tiles, and aligned, C texts which the host understands too."""

    blocks: tuple[For, ...]
    loops: dict[str, For]
    inside: frozenset[str]
    tests: dict[Compare, None] = field(default_factory=dict)
    aligned: dict[str, None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is anything that whole tiles need not ask."""
        return bool(self.tests or self.aligned)

    def asks(self, tests: Sequence[Expr]) -> bool:
        """Whether all of these can be asked before the launch; then they will be."""
        found = [test for test in tests if isinstance(test, Compare) and self._is_said(test)]
        if not tests or len(found) < len(tests):
            return False
        self.tests |= dict.fromkeys(found)
        return True

    def _is_said(self, test: Compare) -> bool:
        if test.op != "le" or any(isinstance(part, Load | Checked) for part in subexpressions(test)):
            return False
        moving = names_in(test.left) & self.inside
        known = not names_in(test.right) & self.inside and all(coefficient(test.left, name) == 1 for name in moving)
        return known and all(name in self.loops and self._is_counted(self.loops[name]) for name in moving)

    def _is_counted(self, loop: For) -> bool:
        """Whether the host can tell the last value of a loop's variable: its bounds are known before the launch."""
        bounds = (loop.lower, loop.upper)
        known = not any(names_in(one) & self.inside for one in bounds)
        known &= not any(isinstance(part, Load | Checked) for one in bounds for part in subexpressions(one))
        return known and isinstance(loop.step, Const) and loop.step.value >= 1

    def condition(self, w: Writer) -> str:
        """C text of the host: whether all of it holds. It stands where lw_lower and lw_trip tell of the blocks."""
        used = {name for test in self.tests for name in names_in(test.left) & self.inside}
        before, renamed = w.function.renamed, dict(w.function.renamed)
        parts = []
        for loop in (self.loops[name] for name in sorted(used)):
            start, trip = w.text(loop.lower), f"lw_trip({w.text(loop.lower)}, {w.text(loop.upper)}, {step_of(loop)})"
            if loop in self.blocks:
                start, trip = f"lw_lower_{loop.run[-1]}", f"lw_trip_{loop.run[-1]}"
            else:
                parts.append(f"{trip} <= {MOST_ROUNDS}")
            renamed[loop.name] = f"({start} + ({trip} - 1) * {step_of(loop)})"
        w.function.renamed = renamed
        parts += (w.text(test) for test in self.tests)
        w.function.renamed = before
        return " && ".join((*parts, *self.aligned))


def even_of(blocks: Sequence[For], body: Body) -> Even | None:
    """Before the text of a kernel is written; None where a kernel for whole tiles only would spare little: without
    tiles that arrive ahead, and others beside the whole ones."""
    inside = [*blocks, *statements(body)]
    if not any(_has_ends(stmt) for stmt in inside if isinstance(stmt, For)):
        return None
    loops = {stmt.name: stmt for stmt in inside if isinstance(stmt, For)}
    return Even(tuple(blocks), loops, frozenset(loops) | {one.name for one in inside if isinstance(one, Assign)})


def _has_ends(loop: For) -> bool:
    found = rounds_of(loop)
    return not isinstance(found, str) and any(isinstance(stmt, If) and stmt.otherwise for stmt in found.copies)


def or_even(text: str, even: Even | None, tests: Iterable[Expr] = (), aligned: Iterable[str] = ()) -> str:
    """The condition `text`, which says that all of these hold, as the kernel for whole tiles only knows it too."""
    asked, texts = tuple(tests), tuple(aligned)
    if even is None or (asked and not even.asks(asked)) or not (asked or texts):
        return text
    even.aligned |= dict.fromkeys(texts)
    return f"{text} || {FLAG}"
