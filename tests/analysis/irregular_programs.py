"""Random loops whose branches, trip counts and subscripts depend on data, as Python text that kernels are made of and
that `analysis.small` reads too: no iteration touches what another one writes."""

from __future__ import annotations

import random

import numpy as np

HEAD = 'def f(a: "float64[1]", p: "int64[1]", q: "int64[1]", b: "float64[1]", c: "float64[1]", n: "int64"):\n'
START = ("0", "1", "n - n")
STEPS = ("", "", "", ", 2", ", 3")
ARRAYS = ("a", "p", "q", "b", "c")


def irregular_program(seed: int) -> str:
    """The text of a function with one loop over `i`, in which `b` and `c` are written."""
    maker = _Maker(random.Random(seed))
    step = maker.choose(("", "", ", 1, -1")) if seed % 5 == 0 else ""
    bounds = "n - 1, -1, -1" if step else f"{maker.choose(START)}, n"
    body = maker.body(2, depth=0)
    return HEAD + f"    for i in range({bounds}):\n        s = 0.0\n        m = 0\n{body}        b[i] = b[i] + s\n"


def arguments_of(seed: int, n: int) -> tuple[object, ...]:
    """Arguments with which no access leaves its array: small whole numbers, NaN and infinities among the floats."""
    draw = np.random.default_rng(seed)
    a = draw.integers(-4, 5, n + 3).astype(float)
    a[draw.random(n + 3) < 0.15] = np.nan
    a[draw.random(n + 3) < 0.05] = np.inf
    p, q = (draw.integers(0, n + 1, n + 3) for _ in range(2))
    b, c = (draw.integers(-4, 5, n + 3).astype(float) for _ in range(2))
    return a, p, q, b, c, n


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.loops = 0

    def choose(self, among: tuple[str, ...]) -> str:
        """One of them."""
        return self.source.choice(among)

    def index(self) -> str:
        """A subscript of an array that is only read."""
        return self.choose(("i", "i", "i + 1", "p[i]", "q[p[i]]", "m", "m", "abs(m) % (n + 1)"))

    def condition(self) -> str:
        """A condition, mostly of data."""
        one = self.choose(
            (f"a[{self.index()}] > 1.0", f"not (a[{self.index()}] > 0.0)", f"q[{self.index()}] % 3 == 1", "i % 2 == 0",
             "m > 2", "s > 1.0", "c[i] > 0.0")
        )  # fmt: skip
        return f"{one} {self.choose(('and', 'or'))} {self.condition()}" if self.source.random() < 0.25 else one

    def body(self, level: int, depth: int) -> str:
        """Some statements; depth: how many inner loops are around."""
        return "".join(self.statement(level, depth) for _ in range(self.source.randint(1, 3)))

    def statement(self, level: int, depth: int) -> str:
        """One statement with what it holds."""
        pad = "    " * level
        kind = self.source.randrange(10 if level < 5 else 4)
        match kind:
            case 0:
                return f"{pad}s = s + a[{self.index()}]\n"
            case 1:
                return f"{pad}m = p[{self.index()}]\n"
            case 2:
                return f"{pad}m = min(p[i] + {self.source.randint(0, 2)}, n) if {self.condition()} else q[i]\n"
            case 3:
                return f"{pad}c[i] = c[i] + 1.0\n"
            case 4 | 5:
                other = f"{pad}else:\n{self.body(level + 1, depth)}" if self.source.random() < 0.5 else ""
                return f"{pad}if {self.condition()}:\n{self.body(level + 1, depth)}{other}"
            case 6 if not depth:
                return f"{pad}if {self.condition()}:\n{pad}    continue\n"
            case 7 | 8 if depth < 2:
                return self.loop(level, depth)
            case 9 if depth < 2:
                inner = self.body(level + 1, depth + 1)
                return f"{pad}while s > 2.0 and s < 9.0:\n{pad}    s = s - 1.0\n{inner}{pad}    s = -1.0\n"
        return f"{pad}s = s + 1.0\n"

    def loop(self, level: int, depth: int) -> str:
        """An inner loop."""
        pad, name = "    " * level, f"k{self.loops}"
        self.loops += 1
        bounds = self.choose(("p[i], q[i]", "p[i]", "m", "q[i], p[i], -1", "0, m + 1", "0, 3", "i, n"))
        step = self.choose(STEPS) if bounds.count(",") == 1 else ""
        return f"{pad}for {name} in range({bounds}{step}):\n{self.body(level + 1, depth + 1)}"
