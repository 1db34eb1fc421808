"""Random nests of loops that add up, find extremes, and set elements, with statements and conditions between the loops:
for what a GPU's recipe makes of long rows, many columns and the like."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

NAME = "totals"
LENGTHS = {"i": "p.shape[0]", "j": "q.shape[0]", "c": "p.shape[1]"}
NESTS = ("ijc", "ijc", "ic", "jc", "ij")
COLUMNS = (*NESTS, "ci", "ci", "ci", "cji")
"""Of later seeds: also loops over columns, whose rows lie side by side."""
LATER = 100
SIZES = ((9, 20, 75), (3, 70, 66), (33, 34, 35), (1, 9, 130))
"""Of the loops, in their order: some are longer than a warp, or than rows that threads share."""


def total_program(seed: int) -> tuple[str, tuple[int, int, int]]:
    """The text of a function, and the sizes of i, j and c. It reads p[i, c], q[j, c], u[i], v[c] and w[j], and writes
    o[i], z[i, j] and g[i, c]."""
    made = _Writer(random.Random(seed), leaves=seed >= LATER)
    made.nest(made.draw.choice(COLUMNS if made.leaves else NESTS), "", 1, ("s", "b"))
    head = f"def {NAME}(p, q, u, v, w, o, z, g):\n    s = 0.0\n    b = 0.0\n    last = 1\n    at = -1\n"
    return head + "".join(f"{line}\n" for line in made.lines) + "    return s, b, last, at\n", made.draw.choice(SIZES)


@dataclass
class _Writer:
    """ways: how each scalar is updated, always in the same way; leaves: some loops leave a constant, or a place."""

    draw: random.Random
    leaves: bool
    lines: list[str] = field(default_factory=list)
    ways: dict[str, str] = field(default_factory=dict)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def term(self, inside: str) -> str:
        terms = {"ic": ["p[i, c]"] * 3, "jc": ["q[j, c]"] * 3, "i": ["u[i]", "i"], "j": ["w[j]", "j"], "c": ["v[c]"]}
        known = [one for names, texts in terms.items() if set(names) <= set(inside) for one in texts]
        text = self.draw.choice(known)
        if self.draw.random() < 0.5:
            text += f" * {self.draw.choice(known)}"
        return f"abs({text} - {self.draw.choice(known)})" if self.draw.random() < 0.2 else text

    def update(self, scalar: str, value: str) -> str:
        way = self.ways.setdefault(scalar, self.draw.choice(("add", "add", "add", "max", "min")))
        return f"{scalar} += {value}" if way == "add" else f"{scalar} = {way}({scalar}, {value})"

    def nest(self, left: str, around: str, depth: int, live: tuple[str, ...]) -> None:
        """A loop and those inside it; live: the scalars that are there."""
        name, inside, draw = left[0], around + left[0], self.draw
        self.line(depth, f"for {name} in range({LENGTHS[name]}):")
        depth += 1
        if draw.random() < 0.25:
            self.line(depth, f"if {'w[j]' if 'j' in inside else 'p[i, 0]' if 'i' in inside else 'v[c]'} > 0.3:")
            depth += 1
        if len(left) == 1:
            for _ in range(draw.choice((1, 1, 2))):
                self.line(depth, self.update(draw.choice(live), self.term(inside)))
            if draw.random() < 0.25 and {"i", "c"} <= set(inside):
                self.line(depth, f"g[i, c] = {self.term(inside)}")
            return
        own = f"t{name}" if draw.random() < 0.6 else ""
        if own:
            self.line(depth, f"{own} = {draw.choice(('0.0', self.term(inside)))}")
        if draw.random() < 0.3:
            self.line(depth, self.update(draw.choice(live), self.term(inside)))
        for _ in range(draw.choice((1, 1, 1, 2))):
            self.nest(left[1:], inside, depth, (*live, own) if own else live)
        if own and draw.random() < 0.5:
            self.line(depth, self.update(draw.choice(live), own))
        if own and inside in ("i", "ij"):
            self.line(depth, f"{'o[i]' if inside == 'i' else 'z[i, j]'} = {own}")
        if draw.random() < 0.2:
            self.line(depth, self.update(draw.choice(live), self.term(inside)))
        if self.leaves and draw.random() < 0.4:
            self.line(depth, f"last = {draw.choice(('7', '7', name))}")
        if self.leaves and own and draw.random() < 0.3:
            self.line(depth, f"if {own} > b:")
            self.line(depth + 1, f"b = {own}")
            self.line(depth + 1, f"at = {name}")
