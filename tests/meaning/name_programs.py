"""Random programs in which arrays have several names: aliases, views, containers of arrays, exchanges, helpers that
write to their arguments and hand them on, and closures. What is written under one name must show under all of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .arguments import Cells, Numbers, Recipe
from .programs import Program

HEADER = """from typing import NamedTuple

import numpy as np


class Pair(NamedTuple):
    x: np.ndarray
    y: np.ndarray


def put(x, k):
    x[k % 4] += 7


def pick(x, y, k):
    return x if k > 1 else y


def early(x, y, k):
    if k > 2:
        return x
    y.fill(3)
    return y


def kept(x, y):
    x[1] = y[2]
    return x


def turned(x, y):
    return y, x


def tail(x):
    return x[1:]


def row(m, k):
    return m[k % 4]


def steps(u, v, k):
    for _ in range(k):
        v[1:] = u[:-1] + 1
        u, v = v, u
    return u


def all_of(x):
    for r in x:
        r[1] += 2


def total(x):
    s = 0
    for r in x:
        s += r.sum() + r[1]
    return s


"""
LAYOUTS = ("C", "C", "C", "F", "reversed", "strided")
KEYS = ("x", "y")


@dataclass
class Names:
    """The names in sight: of vectors of 4 elements, of shorter ones, of 4 x 4 matrices, and of what holds vectors."""

    vectors: list[str] = field(default_factory=list)
    short: list[str] = field(default_factory=list)
    matrices: list[str] = field(default_factory=list)
    tuples: list[str] = field(default_factory=list)
    lists: list[str] = field(default_factory=list)
    dicts: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    writers: list[str] = field(default_factory=list)

    def copy(self) -> Names:
        return Names(**{kind: list(names) for kind, names in vars(self).items()})


class NameWriter:
    """Writes one program."""

    def __init__(self, some: random.Random) -> None:
        self.random = some
        self.lines: list[str] = []
        self.level = 1
        self.made = 0
        self.names = Names(vectors=["a", "b", "c"], matrices=["m", "w"])
        self.scalars = ["n", "p", "1", "2"]
        self.columns = some.randrange(2) == 0

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    def new(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    # ---- expressions ---------------------------------------------------------------------------------------------

    def place(self) -> str:
        """An index that is in range."""
        return self.random.choice(["0", "1", "2", "-1", "n % 4", "p % 4"])

    def condition(self) -> str:
        return self.random.choice(["n > 2", "p > 3", "p % 2 == 0", "n == 1", f"{self.vector(0)}[{self.place()}] > 2"])

    def number(self) -> str:
        some = self.random
        x = self.vector(1)
        return some.choice(
            [some.choice(self.scalars), f"{x}[{self.place()}]", f"{x}[1] + 1", f"{x}.sum()", str(some.randint(3, 9)),
             f"{x}.max()", f"{some.choice(self.names.matrices)}[1, {self.place()}]"]
        )  # fmt: skip

    def vector(self, depth: int = 2) -> str:
        """An array of 4 elements that others may share."""
        some, names = self.random, self.names
        if depth == 0 or self.chance(55):
            return some.choice(names.vectors)
        m, k, x = some.choice(names.matrices), self.place(), self.vector(depth - 1)
        ways = [f"{m}[{k}]", f"{x}[::-1]", f"row({m}, {k})"]
        ways += [f"{m}[:, {k}]", f"{m}.T[{k}]"] if self.columns else []
        ways += [f"({x} if {self.condition()} else {self.vector(0)})", f"pick({x}, {self.vector(0)}, {k})"]
        ways += [f"early({x}, {self.vector(0)}, {k})", f"kept({x}, {self.vector(0)})"]
        held = [f"{t}[{some.randrange(2)}]" for t in (*names.tuples, *names.lists)]
        held += [f"{t}[{some.choice(['-1', '0', 'n % 2'])}]" for t in names.lists]
        held += [f'{d}["{some.choice(KEYS)}"]' for d in names.dicts] + [f"{q}.{some.choice(KEYS)}" for q in names.pairs]
        return some.choice(held if held and self.chance(50) else ways)

    def fresh(self) -> str:
        """A new array of 4 elements."""
        x, y = self.vector(1), self.vector(1)
        ways = [f"{x} + {self.number()}", f"{x}.copy()", f"{x} * 2 - {y}", "np.arange(4)", f"np.maximum({x}, {y})"]
        ways += [f"np.where({x} > 2, {x}, {y})", f"steps({x}.copy(), {y}.copy(), 3)", "np.zeros_like(a)"]
        return self.random.choice(ways)

    def short(self) -> str:
        x, m = self.vector(1), self.random.choice(self.names.matrices)
        ways = [f"{x}[1:]", f"{x}[:2]", f"{x}[::2]", f"{m}[1, 2:]", f"{m}.reshape(2, 8)[1, 3:6]", f"tail({x})"]
        ways += [f"{m}.ravel()[2:6]", f"{m}[1:].reshape(-1)[:5]", *self.names.short]
        return self.random.choice(ways)

    def matrix(self) -> str:
        m = self.random.choice(self.names.matrices)
        ways = [m, f"{m}[::-1]", f"{m}.reshape(4, 4)", f"{m}.copy()", f"{m} + 1"]
        ways += [f"{m}.T", f"{m}[:, ::-1]"] if self.columns else []
        if len(self.names.matrices) > 1:
            ways.append(f"({m} if {self.condition()} else {self.random.choice(self.names.matrices)})")
        return self.random.choice(ways)

    def written(self) -> str:
        return self.random.choice([self.vector(), self.vector(), self.short()])

    # ---- statements ----------------------------------------------------------------------------------------------

    def block(self, count: int) -> None:
        """So many statements; the names that they make end with the block."""
        kept = self.names.copy()
        self.level += 1
        for _ in range(count):
            self.statement()
        self.line(f"p += {self.random.choice([self.number(), '1'])}")
        self.level -= 1
        self.names = kept

    def statement(self) -> None:
        ways = [self.bind] * 5 + [self.write] * 7 + [self.hold] * 4 + [self.read] * 2 + [self.both] * 2
        ways += [self.change_list] * 2 + [self.nested, self.exchange]
        if self.level < 4:
            ways += [self.loop] * 3 + [self.branch] * 2 + [self.over_rows] * 3 + [self.exchanges] * 3
        self.random.choice(ways)()

    def bind(self) -> None:
        """A name for an array, a new one or one that had another."""
        some, names = self.random, self.names
        kind = some.choice(["vectors", "vectors", "vectors", "short", "matrices"])
        known = getattr(names, kind)
        text = {"vectors": self.fresh() if self.chance(25) else self.vector(), "short": self.short(),
                "matrices": self.matrix()}[kind]  # fmt: skip
        again = known and kind != "short" and self.chance(40)
        name = some.choice(known) if again else self.new({"vectors": "u", "short": "s", "matrices": "q"}[kind])
        self.line(f"{name} = {text}")
        if name not in known:
            known.append(name)

    def write(self) -> None:
        some = self.random
        x, y, k, e = self.written(), self.vector(), self.place(), self.number()
        if x.endswith("]") or "(" not in x or x.startswith("("):
            at = f"{x}[{some.choice(['0', '1', '-1'])}]"
        else:
            at = f"{self.vector(0)}[{k}]"
        y = f"({y} + 0)" if self.columns else y  # NumPy reads what it has just overwritten where strides differ
        full, m = self.vector(), some.choice(self.names.matrices)
        name = some.choice(self.names.vectors + self.names.short + self.names.matrices)
        ways = [f"{at} = {e}", f"{at} += {e}", f"{full}[:] = {y}", f"{full}[:] = {self.fresh()}", f"{name} += 1"]
        ways += [f"{name} *= 2", f"{x}.fill({e})", f"{x}.sort()", f"np.copyto({full}, {y})", f"{full}[1:] = {y}[:-1]"]
        ways += [f"np.add({full}, {y}, out={full})", f"np.maximum({y}, 2, {full})", f"{full}[{y} > 3] = {e}"]
        ways += [f"put({full}, {k})"]
        ways += [f"{full}[:-1] += {full}[1:]", f"all_of({m})", f"{m}[{k}] = {y}", f"{m}[:, {k}] += {y}"]
        ways += [f"{m}[1:, 1] = {y}[1:]", f"{m}.fill({e})", f"{m}.T[:] = {m}", f"{m}[1:] -= {m}[:-1]"]
        ways += [f"all_of(({full}, {y}))", f"steps({full}, {y}, {k})", f"{full}[[0, 2]] = {y}[:2]", f"{m}.sort(axis=0)"]
        self.line(some.choice(ways))

    def both(self) -> None:
        """Values that are computed before several targets get them, and expressions that write as they go."""
        x, y, k, z = self.vector(1), self.vector(1), self.place(), self.vector(0)
        ways = [f"{x}[0], {y}[1] = {y}[1], {x}[0]", f"{x}[:], {y}[:] = {y} + 0, {x} + 0", f"{z}[:] = {z}[::-1] + {x}"]
        ways += [f"p += kept({x}, {y}).sum() + {z}[1]", f"p += {z}[1] + kept({x}, {y})[1] * {z}[1]"]
        ways += [f"p += early({x}, {y}, {k})[0] - {y}[0]", f"p += total([{x}, {y}]) + total(({y}, {x}))"]
        ways += [f"{x}[{k}], p = p, {x}[{k}]"]
        self.line(self.random.choice([one for one in ways if not one.startswith(("pick", "early", "kept", "row"))]))

    def read(self) -> None:
        x, names = self.written(), self.names
        held = [f"total({one})" for one in (*names.tuples, *names.lists, *names.matrices)]
        self.line(f"p += {self.random.choice([f'{x}.sum()', f'{x}[0] * 3 + {x}[-1]', *held])}")

    def hold(self) -> None:
        """A container of arrays, or arrays out of one."""
        some, names, x, y = self.random, self.names, self.vector(), self.vector(1)
        match some.randrange(8):
            case 0:
                self.add("tuples", "t", f"({x}, {y})")
            case 1 | 2:
                m = some.choice(names.matrices)
                ways = [f"[{x}, {y}]", f"[{x}, {y}]", f"list({m})", f"[r for r in {m}]", f"[{x}, {y}] * 2"]
                ways += [f"[r for r in ({x}, {y})]", *(f"{one}[::-1]" for one in names.lists), f"list(({x}, {y}))"]
                ways += [f"{one} + [{x}]" for one in names.lists] + [f"sorted({m}, key=lambda r: r[1])"]
                self.add("lists", "l", some.choice(ways))
            case 3:
                self.add("dicts", "d", f'{{"x": {x}, "y": {y}}}')
            case 4:
                self.add("pairs", "q", some.choice([f"Pair({x}, {y})", f"Pair(y={x}, x={y})"]))
            case 5 if names.pairs:
                self.add("pairs", "q", f"{some.choice(names.pairs)}._replace({some.choice(KEYS)}={x})")
            case _:
                held = [
                    *names.tuples,
                    *names.pairs,
                    f"turned({x}, {y})",
                    f"({x}, {y})",
                    f"{some.choice(names.matrices)}[:2]",
                ]
                one, other = self.new("u"), self.new("u")
                self.line(f"{one}, {other} = {some.choice(held)}")
                names.vectors += [one, other]

    def add(self, kind: str, letter: str, text: str) -> None:
        name = self.new(letter)
        self.line(f"{name} = {text}")
        if kind == "lists" and self.chance(50):
            self.line(f"{name}.append({self.vector()})")
        getattr(self.names, kind).append(name)

    def change_list(self) -> None:
        some, names, x = self.random, self.names, self.vector()
        if not names.lists and self.chance(50):
            self.add("lists", "l", some.choice([f"[{x}, {self.vector()}]", f"[{self.fresh()}, {self.fresh()}]"]))
            return
        ways = [f"{one}[{some.choice(['0', '1', '-1'])}] = {x}" for one in names.lists]
        ways += [f"{one}.append({x})" for one in names.lists] + [f"{one}.reverse()" for one in names.lists]
        ways += [f"{one}[0], {one}[1] = {one}[1], {one}[0]" for one in names.lists]
        ways += [f'{one}["{some.choice(KEYS)}"] = {x}' for one in names.dicts]
        ways += [f"{one}[1][2] = {self.number()}" for one in (*names.lists, *names.tuples)]
        ways += [f"{one}.{some.choice(KEYS)}[1] += {self.number()}" for one in names.pairs]
        ways += [f'{one}["x"] += 1' for one in names.dicts] + [f"{one}[0] += 1" for one in names.lists]
        self.line(some.choice(ways or [f"{x}[1:].fill(4)"]))

    def nested(self) -> None:
        """A closure, and a call of it."""
        x, name, names = self.random.choice(self.names.vectors), self.new("f"), self.names
        if names.writers and self.chance(60):
            self.line(f"{self.random.choice(names.writers)}({self.place()})")
            return
        self.line(f"def {name}(k):")
        self.line(self.random.choice([f"    {x}[k] += 5", f"    put({x}, k)", f"    {x}.fill(k)"]))
        self.line(f"{name}({self.place()})")
        names.writers.append(name)

    def exchange(self) -> None:
        one, other = self.random.sample(sorted({*self.names.vectors}), 2)
        self.line(self.random.choice([f"{one}, {other} = {other}, {one}", f"{one}, {other} = turned({one}, {other})"]))

    def exchanges(self) -> None:
        """A loop that exchanges names."""
        some, names = self.random, self.names
        pool = names.matrices if self.chance(15) else names.vectors
        if self.chance(50):
            made = [self.new("u") for _ in range(2)]
            for name in made:
                self.line(f"{name} = {some.choice(pool)}{some.choice(['', '.copy()', '.copy()', '[::-1]', ' + 1'])}")
            pool += made
        count = some.choice([2, 2, 2, 3]) if len({*pool}) > 2 else 2
        known = [*dict.fromkeys(pool)]
        swapped = some.sample(known[-3:] if self.chance(50) else known, count)
        swap = f"{', '.join(swapped)} = {', '.join([*swapped[1:], swapped[0]])}"
        one, other = swapped[:2]
        inside = [f"{other}[1:] = {one}[:-1] + 1", f"{other}[:] = {one} + p", f"{one}[0] += 2", f"{one}.fill(p)"]
        inside += [f"{one} += {other}", f"np.add({one}, 1, out={other})", f"p += ({one}[1] + {other}[0]).sum() % 9"]
        inside += [f"put({one}, 1)", f"{other}[:] = {one}", f"all_of(({one}, {other}))"]
        step = self.new("k")
        head, last = f"for {step} in range(n):", ""
        if self.chance(35):
            self.line(f"{step} = 0")
            head, last = f"while {step} < n:", f"{step} += 1"
        self.line(head)
        body = some.sample(inside, some.randint(1, 2))
        body.insert(some.choice([0, len(body), len(body)]), swap)
        body += [last] * bool(last)
        for text in body:
            self.line(f"    {text}")
        if self.chance(15):
            self.line(f"    if {self.condition()}:")
            self.line("        break")
        if self.chance(30):
            self.block(1)

    def loop(self) -> None:
        some, step = self.random, self.new("i")
        if self.chance(75):
            self.line(f"for {step} in range({some.choice(['n', '2', '3'])}):")
        else:
            self.line(f"{step} = 0")
            self.line(f"while {step} < n:")
            self.line(f"    {step} += 1")
        kept = list(self.scalars)
        self.scalars.append(step)
        if self.chance(15):
            self.line(f"    if {self.condition()}:")
            self.line(f"        {some.choice(['break', 'continue'])}")
        self.block(some.randint(1, 3))
        self.scalars = kept

    def branch(self) -> None:
        self.line(f"if {self.condition()}:")
        self.block(self.random.randint(1, 2))
        if self.chance(40):
            self.line("else:")
            self.block(self.random.randint(1, 2))

    def over_rows(self) -> None:
        """A loop over arrays."""
        some, names, r, other = self.random, self.names, self.new("r"), self.new("r")
        m, x, y, step = some.choice(names.matrices), self.vector(1), self.vector(1), self.new("i")
        sources = [
            m,
            m,
            *[f"{m}.T"] * self.columns,
            f"{m}[1:]",
            f"({x}, {y})",
            f"[{x}, {y}]",
            *names.lists,
            *names.tuples,
            f"list({m})",
        ]
        sources += [f"reversed({m})", f"{m}[::-1]", *(f"{d}.values()" for d in names.dicts), *names.pairs]
        heads = [(f"for {r} in {some.choice(sources)}:", [r])] * 4
        heads += [(f"for {step}, {r} in enumerate({some.choice(sources)}):", [r])]
        heads += [(f"for {r}, {other} in zip({some.choice(sources)}, {some.choice(sources)}):", [r, other])]
        head, made = some.choice(heads)
        self.line(head)
        kept = self.names.copy()
        self.names.vectors += made * 2
        self.names.lists = [one for one in kept.lists if one not in head]  # it would grow for ever
        self.level += 1
        ways = [
            f"{r}[0] = p",
            f"{r} += 1",
            f"p += {r}[1]",
            f"{r}[:] = {self.vector(1)} + 0",
            f"{r}.sort()",
            f"put({r}, 1)",
        ]
        ways += [f"{some.choice(self.names.vectors)}[1] += {r}[2]", f"{r}.fill({self.number()})"]
        self.line(some.choice(ways))
        self.level -= 1
        if self.chance(60):
            self.block(1)
        self.names = kept

    def returned(self) -> str:
        some, names = self.random, self.names
        arrays = some.sample(names.vectors, min(len(names.vectors), 2)) + names.matrices[-1:]
        arrays += [f"{one}.sum()" for one in names.short] + [f"total({one})" for one in (*names.lists, *names.tuples)]
        arrays += [f"{d}['x'].sum()" for d in names.dicts] + [f"{q}.y.sum()" for q in names.pairs]
        return ", ".join(["p", *arrays])


def name_program(seed: int) -> Program:
    """A program over names of arrays; the same one for the same seed."""
    writer = NameWriter(random.Random(f"names {seed}"))
    some = writer.random
    count = some.choice([2, 2, 3, 3, 4, 5])
    for number in range(count):
        writer.statement()
        if number == 1 and writer.chance(10):
            x, y = some.sample(writer.names.vectors, 2)
            writer.line(f"if {writer.condition()}:")
            writer.line(f"    return p, {x}, {y}[0]")
    writer.line(f"return {writer.returned()}")
    source = HEADER + "def kernel(a, b, c, m, w, n, p):\n" + "\n".join(writer.lines) + "\n"
    return Program(source, tuple(_call(some, number) for number in range(3)), frozenset(), exact=True)


def _call(some: random.Random, number: int) -> tuple[Recipe, ...]:
    others = some.randrange(3) == 0

    def cells(name: str, *shape: int) -> Cells:
        layout = some.choice(LAYOUTS) if number == 2 and others else "C"
        return Cells(name, "int64", shape, seed=some.randrange(1, 10**6), layout=layout)

    arrays = [cells("a", 4), cells("b", 4), cells("c", 4), cells("m", 4, 4), cells("w", 4, 4)]
    if number == 2 and some.randrange(6) == 0:
        arrays[1] = Cells("b", "int64", (4,), same_as=0, how=some.choice(["same", "reversed"]))
    return (*arrays, Numbers("n", str(some.choice([0, 1, 2, 3, 4, 5]))), Numbers("p", str(some.randint(0, 6))))
