"""Random small programs in the text that `small` reads: loops, conditions, affine and indirect indices, scalars."""

from __future__ import annotations

import random

HEAD = (
    'def f(a: "float64[1]", b: "float64[2]", c: "float64[1]", x: "int64[1]", u: "uint8[1]", '
    'n: "int64", m: "int64", p: "int32", flag: "bool"):'
)


def program(chance: random.Random) -> str:
    """One function over fixed parameters, of two to four levels of nesting."""
    return "\n".join([HEAD, *_Writer(chance).body(1, 3)]) + "\n"


def affine_program(chance: random.Random) -> str:
    """A nest with affine bounds, conditions and indices, none of them out of bounds where the sizes are at least 100
    and n and m at most 9: whether a loop is parallel can be told exactly."""
    lines = ['def f(a: "float64[1]", b: "float64[2]", n: "int64", m: "int64"):']
    names: list[str] = []

    def form(names: list[str]) -> str:
        parts = [f"{chance.choice((1, 1, 1, -1, 2, -2, 3))} * {name}" for name in names if chance.random() < 0.6]
        return " + ".join([*parts[:2], str(chance.choice((0, 0, 1, -1, 2, 3)))])

    def element() -> str:
        tail = chance.choice(("", "", "", " % 3", " // 2"))
        first = f"40 + ({form(names)}){tail}"
        return f"a[{first}]" if chance.random() < 0.5 else f"b[{first}, 40 + {form(names)}]"

    def condition() -> str:
        return f"{form(names)} {chance.choice(('<', '<=', '==', '!=', '>'))} {chance.choice(('n', 'm', '3', '0'))}"

    for depth in range(1, chance.randint(2, 4)):
        low, high = chance.choice((("0", "n"), ("0", "m"), ("1", "n"), ("0", "5"), ("0", "n - 1")))
        if names and chance.random() < 0.4:
            low, high = chance.choice(((names[-1], "n"), ("0", names[-1]), (f"{names[-1]} + 1", "m")))
        step = chance.choice(("", "", "", ", 2", ", 3"))
        bounds = f"{high} - 1, {low} - 1, -1" if chance.random() < 0.2 else f"{low}, {high}{step}"
        lines.append(f"{'    ' * depth}for i{depth} in range({bounds}):")
        names.append(f"i{depth}")
        pad = "    " * (depth + 1)
        for _ in range(chance.choice((0, 0, 1)) if depth < 3 else 1):
            lines.append(f"{pad}{element()} = {element()}")
    for _ in range(chance.randint(1, 2)):
        here = pad
        if chance.random() < 0.4:
            lines.append(f"{pad}if {condition()}:")
            here = pad + "    "
        lines.append(f"{here}{element()} = {element()} + 1")
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.loops: list[str] = []
        self.count = 0
        self.scalars: list[str] = []
        self.floats: list[str] = []
        self.locals: list[str] = []

    def pick(self, *options: str) -> str:
        return self.chance.choice(options)

    def body(self, depth: int, most: int) -> list[str]:
        lines: list[str] = []
        known = len(self.scalars), len(self.floats), len(self.locals)
        if depth <= 2 and self.chance.random() < 0.25:
            lines += self.local("    " * depth)
        for _ in range(self.chance.randint(1, most)):
            lines += self.stmt(depth)
        del self.scalars[known[0] :], self.floats[known[1] :], self.locals[known[2] :]
        return lines

    def stmt(self, depth: int) -> list[str]:
        pad = "    " * depth
        roll = self.chance.random()
        if len(self.loops) < 3 and (not self.loops or roll < 0.3):
            return self.loop(depth)
        if roll < 0.45 and depth < 6:
            lines = [f"{pad}if {self.condition()}:", *self.body(depth + 1, 2)]
            if self.chance.random() < 0.3:
                lines += [f"{pad}else:", *self.body(depth + 1, 2)]
            return lines
        if roll < 0.55:
            name = f"k{self.count}"
            self.count += 1
            line = f"{pad}{name} = {self.integer()}"
            self.scalars.append(name)
            return [line]
        if roll < 0.62:
            return self.jump(pad)
        if roll < 0.72:
            return self.scalar(pad)
        if roll < 0.75 and self.scalars:
            return [f"{pad}{self.pick(*self.scalars)} = {self.integer()}"]
        target = self.element()
        if roll < 0.87:
            return [f"{pad}{target} = {self.value()}"]
        return [f"{pad}{target} += {self.value()}"]

    def loop(self, depth: int) -> list[str]:
        pad = "    " * depth
        name = f"i{self.count}"
        self.count += 1
        if self.chance.random() < 0.1:
            lines = [f"{pad}{name} = 0", f"{pad}while {name} < {self.pick('n', '3')}:", f"{pad}    {name} += 1"]
            self.scalars.append(name)
            self.loops.append("")
            lines += self.body(depth + 1, 2)
            self.loops.pop()
            return lines
        bounds = self.bounds()
        self.loops.append(name)
        lines = [f"{pad}for {name} in range({bounds}):", *self.body(depth + 1, 3)]
        self.loops.pop()
        return lines

    def bounds(self) -> str:
        top = self.pick("n", "m", "len(a)", "b.shape[0]", "b.shape[1]", "len(c)", "4", "n - 1", "min(n, len(a))", "p")
        low = self.pick("0", "0", "0", "1", "2")
        if self.names() and self.chance.random() < 0.3:
            low, top = self.pick((self.pick(*self.names()), top), (low, self.pick(*self.names())))  # type: ignore
        step = self.pick("1", "1", "1", "1", "2", "3", "-1", "-1", "-2")
        if step.startswith("-"):
            return f"{top} - 1, {low} - 1, {step}"
        return f"{low}, {top}" if step == "1" else f"{low}, {top}, {step}"

    def names(self) -> list[str]:
        return [name for name in self.loops if name]

    def atom(self) -> str:
        names = self.names() + self.scalars
        if names and self.chance.random() < 0.8:
            return self.pick(*names)
        return self.pick("n", "m", "0", "1", "2", "len(a)", "p")

    def integer(self) -> str:
        roll = self.chance.random()
        if roll < 0.45:
            return self.atom()
        if roll < 0.8:
            return f"{self.atom()} {self.pick('+', '-')} {self.pick('1', '1', '2', self.atom())}"
        if roll < 0.86:
            return f"2 * {self.atom()}"
        if roll < 0.93:
            return f"({self.atom()} + {self.atom()}) {self.pick('//', '%')} {self.pick('2', '3')}"
        if roll < 0.96:
            width = self.pick("n", "m", "len(c)", self.atom())
            return f"{self.pick(self.atom(), f'({self.atom()} + 1)')} * {width} + {self.atom()}"
        if roll < 0.98:
            return f"{self.pick('min', 'max')}({self.atom()}, {self.atom()})"
        return self.pick(
            f"abs({self.atom()} - {self.atom()})",
            f"x[{self.atom()}]", f"u[{self.atom()}]", f"{self.atom()} % n", f"({self.atom()} + 1) % m", "n * m",
            f"({self.atom()} if {self.condition()} else {self.atom()})",
        )  # fmt: skip

    def element(self) -> str:
        if self.locals and self.chance.random() < 0.4:
            return f"{self.pick(*self.locals)}[{self.index()}]"
        array = self.pick("a", "a", "b", "b", "c", "x")
        if array == "x":
            return f"x[{self.index()}]"
        return f"b[{self.index()}, {self.index()}]" if array == "b" else f"{array}[{self.index()}]"

    def local(self, pad: str) -> list[str]:
        name = f"t{self.count}"
        self.count += 1
        self.locals.append(name)
        return [f"{pad}{name} = {self.pick('zeros', 'empty')}({self.pick('n', 'len(a)', '4', 'len(c)')})"]

    def index(self) -> str:
        return "-1" if self.chance.random() < 0.03 else self.integer()

    def value(self) -> str:
        roll = self.chance.random()
        if roll < 0.3:
            return self.pick("1", "2")
        if roll < 0.4 and self.floats:
            return self.pick(*self.floats)
        if roll < 0.5:
            return f"({self.element()} if {self.condition()} else 0)"
        return f"{self.element()} {self.pick('+', '-')} {self.pick('1', self.element())}"

    def condition(self) -> str:
        roll = self.chance.random()
        if roll < 0.15:
            return self.pick(f"{self.element()} > 2", "flag", "not flag")
        if roll < 0.3:
            return f"{self.comparison()} {self.pick('and', 'or')} {self.comparison()}"
        return f"not ({self.comparison()})" if roll < 0.4 else self.comparison()

    def comparison(self) -> str:
        return f"{self.integer()} {self.pick('<', '<=', '>', '>=', '==', '!=')} {self.integer()}"

    def jump(self, pad: str) -> list[str]:
        if not self.loops:
            return []
        word = self.pick("continue", "continue", "break", "return")
        return [f"{pad}if {self.condition()}:", f"{pad}    {word}"]

    def scalar(self, pad: str) -> list[str]:
        roll = self.chance.random()
        if self.floats and roll < 0.5:
            name = self.pick(*self.floats)
            return [f"{pad}{name} {self.pick('+=', '+=', '-=', '=')} {self.value()}"]
        name = f"s{self.count}"
        self.count += 1
        line = f"{pad}{name} = 0.0 + {self.value()}"
        self.floats.append(name)
        return [line]
