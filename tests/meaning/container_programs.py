"""Random programs over lists, sets and dicts of integers: their statements, and the calls that they are judged by."""

from __future__ import annotations

import random

from .arguments import Cells, Numbers
from .programs import Program


class ContainerWriter:
    """Writes one program. names: the containers in sight, by kind (list, pairs, set, dict). busy: those that a loop
    goes over, which may not change."""

    def __init__(self, some: random.Random) -> None:
        self.random = some
        self.lines: list[str] = []
        self.level = 1
        self.made = 0
        self.names: dict[str, list[str]] = {kind: [] for kind in ("list", "pairs", "set", "dict")}
        self.scalars = ["n", "p"]
        self.busy: list[str] = []
        self.counts = False  # a nested function adds to `p`, as `nonlocal`

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    def new(self, letter: str) -> str:
        self.made += 1
        return f"{letter}{self.made}"

    # ---- expressions ---------------------------------------------------------------------------------------------

    def number(self, depth: int = 2) -> str:
        some = self.random
        if depth == 0 or self.chance(40):
            return some.choice([*self.scalars, str(some.randint(-2, 9)), f"int(a[{some.randint(0, 3)}])"])
        one, other = self.number(depth - 1), self.number(depth - 1)
        ways = [f"({one} + {other})", f"({one} - {other})", f"({one} * 3 % 11)", f"abs({one})", f"min({one}, {other})"]
        ways += [f"more({one})"] * 2 if self.counts else []
        for x in self.names["list"]:
            ways += [f"len({x})", f"sum({x})", f"{x}.count({one})", f"(1 if {one} in {x} else 0)"]
            ways += [f"({x}[{one} % len({x})] if len({x}) > 0 else {other})"]
        for x in self.names["pairs"]:
            ways += [f"len({x})", f"({x}[-1][1] if {x} else {one})"]
        for x in self.names["set"]:
            ways += [f"len({x})", f"sum({x})", f"({other} if {one} in {x} else 0)"]
        for x in self.names["dict"]:
            ways += [
                f"len({x})",
                f"{x}.get({one}, {other})",
                f"({x}[{one}] if {one} in {x} else 7)",
                f"sum({x}.values())",
            ]
        return some.choice(ways)

    def condition(self) -> str:
        op = self.random.choice(["<", ">", "==", "!=", "<="])
        text = f"{self.number(1)} {op} {self.number(1)}"
        kinds = [name for names in self.names.values() for name in names]
        return self.random.choice([text, text, self.random.choice(kinds) if kinds else text])

    def of(self, *kinds: str) -> str | None:
        found = [name for kind in kinds for name in self.names[kind] if name not in self.busy]
        return self.random.choice(found) if found else None

    def iterated(self) -> str:
        known = [*self.names["list"], *self.names["set"], *self.names["dict"], f"range({self.random.randint(0, 5)})"]
        known += [f"sorted({x})" for x in (*self.names["set"], *self.names["list"])]
        known += [f"reversed({x})" for x in self.names["list"]]
        return self.random.choice(known)

    # ---- statements ------------------------------------------------------------------------------------------------

    def block(self, count: int) -> None:
        """So many statements; the names that they make end with the block."""
        kept = {kind: list(names) for kind, names in self.names.items()}
        scalars = list(self.scalars)
        self.level += 1
        self.line(f"p += {self.random.randint(-1, 2)}")
        for _ in range(count):
            self.statement()
        self.level -= 1
        self.names, self.scalars = kept, scalars

    def statement(self) -> None:
        ways = [self.make] * 3 + [self.change_list] * 5 + [self.change_set] * 3 + [self.change_dict] * 4
        ways += [self.scalar, self.scalar, self.change_pairs]
        if self.level < 4:
            ways += [self.loop, self.loop, self.branch, self.drain, self.growing]
        self.random.choice(ways)()

    def make(self) -> None:
        some, one, other = self.random, self.number(1), self.number(1)
        kind = some.choice(["list", "list", "pairs", "set", "dict"])
        source = self.iterated()
        parts = [f"{x}{some.choice(['[1:]', '[::-1]', '[:-1]', '.copy()'])}" for x in self.names["list"]]
        texts = {
            "list": ["[]", f"[{one}, {other}]", f"[v * 2 + {one} for v in {source} if v != {other}]", f"[{one}] * 3",
                     f"list({source})", *parts],
            "pairs": ["[]", f"[({one}, {other})]", f"[(v, v + {one}) for v in {source}]",
                      *(f"sorted({x}.items())" for x in self.names["dict"])],
            "set": ["set()", f"{{{one}, {other}}}", f"{{v % 5 for v in {source}}}", f"set({source})",
                    *(f"{x} {some.choice('|&-')} {y}" for x in self.names["set"] for y in self.names["set"])],
            "dict": ["{}", f"{{{one}: {other}}}", f"{{v: v * {one} for v in {source}}}"],
        }  # fmt: skip
        name, text = self.new(kind[0]), some.choice(texts[kind])
        self.line(f"{name} = {text}")
        firsts = {"[]": f".append({one if kind == 'list' else (one, other)})".replace("'", ""), "set()": f".add({one})",
                  "{}": f"[{one}] = {other}"}  # fmt: skip
        if text in firsts:  # what an empty one holds is told by what is put into it
            self.line(f"{name}{firsts[text]}")
        self.names[kind].append(name)

    def change_list(self) -> None:
        x, one, other = self.of("list"), self.number(), self.number(1)
        if x is None:
            return
        ways = [f"{x}.append({one})"] * 4 + [f"{x}.extend([{one}, {other}])", f"{x} += [{one}]", f"{x}.sort()"]
        ways += [f"{x}.reverse()", f"{x}.insert({other}, {one})", f"{x}.sort(reverse=True)"]
        risky = [f"{x}.pop()", f"{x}.pop(0)", f"{x}[{other} % len({x})] = {one}", f"del {x}[-1]", f"{x}[0] += {one}"]
        risky += [f"{x}.remove({x}[0])", f"p = {x}.pop({other} % len({x}))", f"p = {x}.index({x}[-1])"]
        if self.chance(50):
            self.line(self.random.choice(ways))
        elif self.chance(93):
            self.line(f"if {x}:")
            self.line(f"    {self.random.choice(risky)}")
        else:
            self.line(self.random.choice([f"{x}.pop()", f"{x}.remove({one})", f"p = {x}[{other}]", f"p = min({x})"]))

    def change_pairs(self) -> None:
        x, one, other = self.of("pairs"), self.number(), self.number(1)
        if x is not None:
            ways = [f"{x}.append(({one}, {other}))"] * 3 + [f"{x}.sort()", f"{x}.reverse()"]
            ways += [f"{x}.sort(key=lambda pair: pair[1])"]
            self.line(self.random.choice(ways))

    def change_set(self) -> None:
        x, one = self.of("set"), self.number()
        if x is None:
            return
        ways = [f"{x}.add({one})"] * 4 + [f"{x}.discard({one})", f"{x}.update({self.iterated()})"]
        ways += [f"{x} |= {y}" for y in self.names["set"]]
        if self.chance(5):
            ways = [f"{x}.remove({one})", f"p = {x}.pop()"]
        self.line(self.random.choice(ways))

    def change_dict(self) -> None:
        x, one, other = self.of("dict"), self.number(), self.number(1)
        if x is None:
            return
        ways = [f"{x}[{one}] = {other}"] * 3 + [f"{x}[{other}] = {x}.get({other}, 0) + {one}"] * 2
        ways += [f"p = {x}.pop({one}, {other})", f"p = {x}.setdefault({one}, {other})", f"{x}.clear()"]
        if self.chance(5):
            ways = [f"del {x}[{one}]", f"p = {x}[{one}]", f"{x}[{one}] += 1"]
        self.line(self.random.choice(ways))

    def scalar(self) -> None:
        if self.chance(50):
            self.line(f"p {self.random.choice(['=', '+=', '-='])} {self.number()}")
            return
        value, name = self.number(), self.new("k")
        self.line(f"{name} = {value}")
        self.scalars.append(name)

    def loop(self) -> None:
        some = self.random
        dicts, lists = self.names["dict"], self.names["list"]
        v, w = self.new("v"), self.new("w")
        source = self.iterated()
        heads = [(f"for {v} in {source}:", [v])] * 3
        heads += [(f"for {v}, {w} in {x}.items():", [v, w]) for x in dicts]
        heads += [(f"for {v}, {w} in enumerate({x}):", [v, w]) for x in lists]
        heads += [(f"for {v}, {w} in zip({x}, {y}):", [v, w]) for x in lists for y in lists]
        heads += [(f"for {v}, {w} in {x}:", [v, w]) for x in self.names["pairs"]]
        head, made = some.choice(heads)
        self.line(head)
        before, busy = list(self.scalars), list(self.busy)
        self.busy += [name for names in self.names.values() for name in names if name in head]
        self.scalars += made
        if self.chance(25):
            self.line(f"    if {self.condition()}:")
            self.line(f"        {some.choice(['break', 'continue'])}")
        self.block(some.randint(1, 3))
        self.scalars, self.busy = before, busy

    def branch(self) -> None:
        self.line(f"if {self.condition()}:")
        self.block(self.random.randint(1, 3))
        if self.chance(40):
            self.line("else:")
            self.block(self.random.randint(1, 2))

    def growing(self) -> None:
        """A loop over a list that grows and shrinks meanwhile."""
        x, v, w, some = self.of("list"), self.new("v"), self.new("w"), self.random
        if x is None:
            return
        self.line(some.choice([f"for {v} in {x}:", f"for {v} in {x}:", f"for {w}, {v} in enumerate({x}):"]))
        before, busy = list(self.scalars), list(self.busy)
        self.scalars.append(v)
        self.busy.append(x)
        self.line(f"    if len({x}) < {some.randint(2, 9)}:")
        self.line(f"        {x}.append({self.number(1)})")
        if self.chance(40):
            self.line(f"    if {self.condition()}:")
            self.line(f"        {some.choice(['break', 'continue'])}")
        if self.chance(30):
            self.line(f"    if len({x}) > {some.randint(3, 7)}:")
            self.line(f"        {x}.pop({some.choice(['', '0'])})")
        self.block(some.randint(1, 2))
        self.scalars, self.busy = before, busy

    def drain(self) -> None:
        """A work list, as in a search."""
        x, step = self.of("list"), self.new("k")
        if x is None:
            return
        self.line(f"{step} = 0")
        self.line(f"while {x} and {step} < 9:")
        self.line(f"    {step} += 1")
        taken = self.new("k")
        self.line(f"    {taken} = {x}.pop()")
        before = list(self.scalars)
        self.scalars.append(taken)
        self.block(self.random.randint(1, 3))
        self.scalars = before


def container_program(seed: int, made_by: type[ContainerWriter] = ContainerWriter, more: str = "") -> Program:
    """A program over containers; the same one for the same seed. more: what else it returns."""
    writer = made_by(random.Random(f"containers {seed}"))
    some = writer.random
    if writer.chance(40):
        writer.counts = True
        writer.lines += ["    def more(k):", "        nonlocal p", "        p += k % 7", "        return p - 2"]
    for _ in range(2):
        writer.make()
    for _ in range(some.randint(3, 9)):
        writer.statement()
    returned = ["p", *(name for names in writer.names.values() for name in names)]
    returned += [f"[v for v in {name}]" for name in writer.names["set"]]
    writer.line(f"return {', '.join(returned)}{more}")
    source = "def kernel(a, n, p):\n" + "\n".join(writer.lines) + "\n"
    calls = tuple(
        (Cells("a", "int64", (4,), seed=some.randrange(10**6)), Numbers("n", str(some.randint(0, 6))),
         Numbers("p", str(some.randint(-3, 9))))
        for _ in range(3)
    )  # fmt: skip
    return Program(source, calls, frozenset(), exact=True)
