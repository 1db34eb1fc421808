"""Random kernels that are hard to analyse: quotients and remainders inside one another, large numbers, deep nests, many
accesses, strides known only at run time, bounds of every form. They run in no time, and mostly to their end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from .arguments import Cells, Numbers, Recipe, make

NUMBERS = (
    2,
    3,
    4,
    5,
    7,
    8,
    10,
    16,
    31,
    64,
    100,
    127,
    128,
    1000,
    1004,
    1013,
    1024,
    1920,
    4095,
    4096,
    65537,
    2**31,
    10**12,
)
SMALL = (1, 2, 3, 4)
SCALARS = {"n": 12, "m": 9, "s": 5, "t": 3}
VECTORS = {"a": 144, "b": 60, "c": 12}
LARGEST = 2**62


@dataclass(frozen=True)
class Hard:
    """source: the function `kernel`."""

    source: str

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """What calls are made of."""
        vectors = (Cells(name, "float64", (size,)) for name, size in VECTORS.items())
        others = Cells("g", "float64", (12, 9)), Cells("p", "int64", (40,), "index", bound=9)
        return (*vectors, *others, *(Numbers(name, str(value)) for name, value in SCALARS.items()))

    def arguments(self) -> list[object]:
        """Fresh arguments of a call."""
        return make(self.recipes).arguments


@dataclass(frozen=True)
class Term:
    """A whole number in Python's text, and between which values it is."""

    text: str
    low: int
    high: int


def hard(seed: int) -> Hard:
    """The program of a seed."""
    return Hard(_Writer(Random(seed)).program())


@dataclass
class _Writer:
    random: Random
    lines: list[str] = field(default_factory=list)
    names: list[Term] = field(default_factory=list)
    count: int = 0

    def program(self) -> str:
        self.names = [Term(name, value, value) for name, value in SCALARS.items()]
        form: Callable[[], None] = self.random.choice((self._deep, self._many, self._usual, self._usual, self._strided))
        form()
        if self.random.random() < 0.3:
            form()
        head = f"def kernel({', '.join([*VECTORS, 'g', 'p', *SCALARS])}):"
        return "\n".join([head, "    w = 0.0", *self.lines, "    return w"]) + "\n"

    # ---- nests --------------------------------------------------------------------------------------------------

    def _deep(self) -> None:
        self._nest(self.random.randint(4, 10), self.random.randint(1, 3))

    def _many(self) -> None:
        self._nest(self.random.randint(1, 2), self.random.randint(10, 40))

    def _usual(self) -> None:
        self._nest(self.random.randint(1, 3), self.random.randint(1, 4))

    def _strided(self) -> None:
        """Arrays that are laid out by hand."""
        depth = len(self.lines)
        i, j = self._loop("n", 1), self._loop("m", 2)
        for _ in range(self.random.randint(1, 4)):
            forms = (f"{i} * m + {j}", f"{j} * n + {i}", f"{i} * (m + 1) + {j}", f"({i} * m + {j}) * s // s",
                     f"{i} * m + {j} + {self.random.choice(SMALL)}",
                     f"({j} * n + {i}) % {self.random.choice(NUMBERS)}")  # fmt: skip
            store, load = self.random.choice(forms), self.random.choice(forms)
            self.lines.append(f"{'    ' * 3}a[{store}] = b[({load}) % 60] + 1.0")
        del self.names[len(SCALARS) :]
        assert len(self.lines) > depth

    def _loop(self, bound: str, depth: int) -> str:
        name = self._name()
        self.lines.append(f"{'    ' * depth}for {name} in range({bound}):")
        self.names.append(Term(name, 0, SCALARS[bound] - 1))
        return name

    def _name(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def _nest(self, depth: int, statements: int) -> None:
        known = len(self.names)
        for level in range(depth):
            self.lines.append(f"{'    ' * (level + 1)}{self._range(short=depth > 2)}")
            if self.random.random() < 0.15:
                self._statement(level + 2)
        for _ in range(statements):
            self._statement(depth + 1)
        del self.names[known:]

    def _range(self, short: bool) -> str:
        name, some, other = self._name(), self._term(1), self.random.choice(self.names)
        k = self.random.choice(SMALL[:2] if short else (3, 7, 12))
        forms: tuple[tuple[str, int, int], ...] = (
            (f"range({k})", 0, k - 1),
            (f"range({k} - 1, -1, -1)", 0, k - 1),
            (f"range({other.text}, {other.text} + {k})", other.low, other.high + k),
            (f"range(max(0, {other.text} - 1), min(n, {other.text} + {k}))", 0, 12),
            (f"range(min({k}, {some.text}))", 0, k - 1),
            (f"range(({some.text}) % {k + 1})", 0, k),
            (f"range(0, {3 * k}, 3)", 0, 3 * k),
            (f"range({other.text} + {2 * k}, {other.text}, -2)", other.low, other.high + 2 * k),
        )
        if not short:
            forms += (
                ("range(n // 2)", 0, 5),
                ("range(n)", 0, 11),
                ("range(m - 1, 0, -1)", 0, 8),
                ("range(1, n - 1)", 1, 10),
            )
        text, low, high = self.random.choice(forms)
        self.names.append(Term(name, low, high))
        return f"for {name} in {text}:"

    # ---- statements ---------------------------------------------------------------------------------------------

    def _statement(self, depth: int) -> None:
        indent = "    " * depth
        if self.random.random() < 0.2:
            some, other = self._term(2), self._term(1)
            self.lines.append(f"{indent}if {some.text} {self.random.choice(('<', '>=', '=='))} {other.text}:")
            indent += "    "
        store, load = self._element(), self._element()
        forms = (
            f"{store} = {load} + 1.0",
            f"{store} += {load}",
            f"w += {load}",
            f"{store} = 1.0",
            f"{store} = {load} * 2.0",
        )
        self.lines.append(indent + self.random.choice(forms))

    def _element(self) -> str:
        if self.random.random() < 0.2:
            return f"g[{self._index(12)}, {self._index(9)}]"
        name = self.random.choice(list(VECTORS))
        if self.random.random() < 0.05:
            return f"{name}[p[{self._index(40)}]]"
        return f"{name}[{self._index(VECTORS[name])}]"

    def _index(self, size: int) -> str:
        term = self._term(self.random.choice((0, 1, 1, 2, 3, 4)))
        if term.low >= 0 and term.high < size and self.random.random() < 0.7:
            return term.text
        bound = {12: "n", 9: "m"}.get(size, str(size))
        return f"({term.text}) % {bound}"

    # ---- whole numbers ------------------------------------------------------------------------------------------

    def _term(self, depth: int) -> Term:
        if depth == 0 or self.random.random() < 0.15:
            loops = self.names[len(SCALARS) :]
            return self.random.choice(loops if loops and self.random.random() < 0.8 else self.names)
        left = self._term(depth - 1)
        number = self.random.choice(NUMBERS)
        ends: tuple[int, ...]
        match self.random.choice(("+", "-", "+k", "*k", "*k", "//", "%", "%", "%", "*s", "min", "max", "%s", "//s")):
            case "+":
                right = self._term(depth - 1)
                text, ends = f"({left.text} + {right.text})", (left.low + right.low, left.high + right.high)
            case "-":
                right = self._term(depth - 1)
                text, ends = f"({left.text} - {right.text})", (left.low - right.high, left.high - right.low)
            case "+k":
                text, ends = f"({left.text} + {number})", (left.low + number, left.high + number)
            case "*k":
                text, ends = f"{number} * {left.text}", (left.low * number, left.high * number)
            case "//":
                text, ends = f"({left.text} // {number})", (left.low // number, left.high // number)
            case "%":
                text, ends = f"({left.text} % {number})", (0, number - 1)
            case "*s":
                name, value = self.random.choice(list(SCALARS.items()))
                text, ends = f"({left.text} * {name})", (left.low * value, left.high * value)
            case "%s":
                name, value = self.random.choice(list(SCALARS.items()))
                text, ends = f"({left.text} % {name})", (0, value - 1)
            case "//s":
                name, value = self.random.choice(list(SCALARS.items()))
                text, ends = f"({left.text} // {name})", (left.low // value, left.high // value)
            case word:
                right = self._term(depth - 1)
                pick = min if word == "min" else max
                text = f"{word}({left.text}, {right.text})"
                ends = pick(left.low, right.low), pick(left.high, right.high)
        if max(map(abs, ends)) > LARGEST:
            return left
        return Term(text, min(ends), max(ends))
