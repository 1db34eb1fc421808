"""Random programs of NumPy-style array code: their statements, and the calls that they are judged by."""

from __future__ import annotations

import random

from .arguments import Cells, Numbers, Recipe
from .array_expressions import ELEMENTS, HELPERS, LAYOUTS, PRELUDE, STRETCHING, Expressions, Name, Shape, Size
from .programs import Program


class Writer(Expressions):
    """Writes one program."""

    ARGUMENTS = "fffii"
    """The kinds of its arrays, as often as they are to come."""

    def block(self, count: int) -> None:
        """So many statements; the names that they make end with the block."""
        before = len(self.names), len(self.scalars)
        for _ in range(count):
            self.statement()
        del self.names[before[0] :], self.scalars[before[1] :]

    def statement(self) -> None:
        ways = [self.name_array] * 4 + [self.name_again] * 2 + [self.update] * 2 + [self.store] * 5 + [self.masked] * 2
        ways += [
            self.bounded,
            self.bounded,
            self.shifted,
            self.shifted,
            self.out,
            self.chain,
            self.tuple_loop,
            self.nested,
        ]
        ways += [self.indexed] * 2 + [self.name_scalar, self.swap, self.helper, self.helper, self.fill]
        if self.level < 3:
            ways += [self.countdown, self.early, self.branch, self.loop, self.loop, self.loop_over, self.guard]
        self.random.choice(ways)()

    def cat(self) -> str:
        return self.random.choice("fffiib")

    def name_array(self) -> None:
        cat, shape = self.cat(), self.shape()
        if self.chance(40):  # a view
            one = self.random.choice(self.names)
            shapes = [
                tuple((s, o - 1) if s and self.chance(40) else (s, o) for s, o in one.shape),
                one.shape[1:],
                one.shape[::-1],
                tuple((s + "h", 0) if s in ("n", "m") and not o and self.chance(50) else (s, o) for s, o in one.shape),
            ]
            shape = self.random.choice([shape for shape in shapes if shape])
            text = self.view(one, shape)
            if text is not None:
                name = self.new("v")
                self.line(f"{name} = {text}")
                self.names.append(Name(name, one.cat, shape, one.writable))
                return
        text, name = self.array(cat, shape, 3), self.new()
        self.line(f"{name} = {text}")
        self.names.append(Name(name, cat, shape))

    def name_again(self) -> None:
        one = self.random.choice(self.names)
        self.line(f"{one.text} = {self.array(one.cat, one.shape, 2)}")

    def update(self) -> None:
        known = [one for one in self.names if one.writable and one.cat != "b"]
        if known:
            one = self.random.choice(known)
            self.line(f"{one.text} {self.random.choice(['+=', '-=', '*='])} {self.operand(one.cat, one.shape, 2)}")

    def target(self) -> tuple[str, str, Shape] | None:
        known = [one for one in self.names if one.writable]
        if not known:
            return None
        one = self.random.choice(known)
        shape: Shape = tuple((s, o - 1) if s and self.chance(40) else (s, o) for s, o in one.shape)
        if len(shape) > 1 and self.chance(40):
            shape = shape[1:] if self.chance(50) else shape[:-1]
        text = self.view(one, shape)
        if text is None:
            return None
        return (f"{text}[:]" if text == one.text or text.endswith((")", ".T")) else text), one.cat, shape

    def store(self) -> None:
        found = self.target()
        if found is None:
            return
        text, cat, shape = found
        if ".T" in text or text.endswith(".T"):
            text += "[:]"
        op = self.random.choice(["=", "=", "=", "+=", "-=", "*="]) if cat != "b" else "="
        self.line(f"{text} {op} {self.operand(cat, shape, 2)}")

    def masked(self) -> None:
        known = [one for one in self.names if one.writable and one.cat != "b"]
        if not known:
            return
        one = self.random.choice(known)
        shape = one.shape[: self.random.randint(1, len(one.shape))]
        kind = self.random.randrange(4)
        if kind < 2:
            mask = self.array("b", shape, 2)
            op = self.random.choice(["=", "=", "+=", "*="])
            self.line(f"{one.text}[{mask}] {op} {self.scalar(one.cat, 1)}")
        elif kind == 2:
            mask = self.new("m")
            self.line(f"{mask} = {self.array('b', one.shape, 2)}")
            self.line(
                f"{one.text}[{mask}] = {self.random.choice([one.text, self.atom(one.cat, one.shape)])}[{mask}]{self.random.choice(['', ' + 1', ' * 2'])}"  # noqa: E501
            )
        else:
            name = self.new("c")
            self.line(f"{name} = {one.text}[{self.array('b', one.shape, 2)}]")
            self.names.append(Name(name, one.cat, (("?" + name, 0),)))

    def indexed(self) -> None:
        known = [one for one in self.names if one.writable]
        if not known:
            return
        one = self.random.choice(known)
        axis = self.random.randrange(len(one.shape))
        size: Size = self.random.choice([one.shape[axis], ("", 3), ("m", 0)])
        index = f"{self.array('i', (size,), 1)}" + (" % 2" if self.chance(85) else "")
        value = (*one.shape[:axis], size, *one.shape[axis + 1 :])
        op = "=" if one.cat == "b" or self.chance(60) else "+="
        self.line(f"{one.text}[{':, ' * axis}{index}] {op} {self.operand(one.cat, value, 1)}")

    def name_scalar(self) -> None:
        cat = self.cat()
        text, name = self.scalar(cat, 2), self.new("s")
        self.line(f"{name} = {text}")
        self.scalars.append((name, cat))

    def swap(self) -> None:
        one = self.random.choice(self.names)
        same = [other for other in self.names if other.shape == one.shape and other.cat == one.cat and other is not one]
        if same and self.chance(60):
            other = self.random.choice(same)
            self.line(f"{one.text}, {other.text} = {other.text}, {one.text}")
        elif one.writable:
            i, j = self.index(one.shape[0]), self.index(one.shape[0])
            copy = ".copy()" if len(one.shape) > 1 and self.chance(60) else ""
            self.line(f"{one.text}[{i}], {one.text}[{j}] = {one.text}[{j}]{copy}, {one.text}[{i}]{copy}")

    def helper(self) -> None:
        name = self.random.choice(sorted(HELPERS))
        found = self.target()
        if found is None or found[1] == "b":
            return
        text, cat, shape = found
        text = text.removesuffix("[:]") if self.chance(70) else text
        self.helpers.add(name)
        match name:
            case "scale":
                self.line(f"scale({text}, {self.scalar(cat, 1)})")
            case "shift":
                self.line(f"shift({text})")
            case "blend" | "total":
                result = self.new("s")
                second = f", {self.array(cat, shape, 1)}" if name == "blend" else ""
                self.line(f"{result} = {name}({text}{second})")
                self.scalars.append((result, cat))
            case "middle":
                result = self.new("v")
                first = shape[0]
                self.line(f"{result} = middle({text})")
                self.names.append(Name(result, cat, ((first[0], first[1] - 2), *shape[1:])))
            case "both":
                a, b = self.new(), self.new()
                self.line(f"{a}, {b} = both({text}, {self.array(cat, shape, 1)})")
                self.names.append(Name(a, cat, shape))
                self.names.append(Name(b, cat, shape))

    def fill(self) -> None:
        found = self.target()
        if found is not None:
            text, cat, shape = found
            text = text.removesuffix("[:]")
            if len(shape) == 1 and self.chance(50):
                self.line(f"{text}.sort()")
            else:
                self.line(f"{text}.fill({self.scalar(cat, 1)})")

    def branch(self) -> None:
        self.line(
            f"if {self.scalar('b', 1) if self.chance(40) else self.random.choice(['p > 1', 'n > 2', 'p == 0', 'n > m'])}:"  # noqa: E501
        )
        self.inside(self.random.randint(1, 2))
        if self.chance(50):
            self.line("else:")
            self.inside(1)

    def inside(self, count: int) -> None:
        self.level += 1
        self.block(count)
        self.line("pass")
        self.level -= 1

    def loop(self) -> None:
        name, size = self.new("i"), self.random.choice([("n", 0), ("m", 0), ("n", -1), ("", 2)])
        self.line(f"for {name} in range({self.size(size)}):")
        self.loops.append((name, size))
        self.scalars.append((name, "i"))
        self.inside(self.random.randint(1, 2))
        self.loops.pop()
        self.scalars.remove((name, "i"))

    def loop_over(self) -> None:
        cat, shape = self.random.choice("fi"), self.shape()[:2]
        over, item = self.atom(cat, shape), self.new("x")
        total = self.new("s")
        self.line(f"{total} = {'0.0' if cat == 'f' else '0'}")
        index = ""
        match self.random.randrange(3):
            case 0:
                self.line(f"for {item} in {over}:")
            case 1:
                index = self.new("i")
                self.line(f"for {index}, {item} in enumerate({over}):")
            case _:
                other = self.new("x")
                self.line(f"for {item}, {other} in zip({over}, {self.atom(cat, self.shape()[:1])}):")
        added = (self.names, Name(item, cat, shape[1:])) if len(shape) > 1 else (self.scalars, (item, cat))
        added[0].append(added[1])  # type: ignore[attr-defined]
        if index:
            self.loops.append((index, shape[0]))
        self.level += 1
        self.line(f"{total} += {item}" if len(shape) == 1 else f"{total} += {item}.sum()")
        self.level -= 1
        self.inside(1)
        if index:
            self.loops.pop()
        added[0].remove(added[1])  # type: ignore[attr-defined]
        self.scalars.append((total, cat))

    def guard(self) -> None:
        condition = self.random.choice(["n < 0", "p > 90", f"not {self.scalar('b', 1)}", "m > n + 1"])
        if self.chance(50):
            self.line(f"assert not ({condition})")
        else:
            self.line(f"if {condition}:")
            self.line(f"    raise {self.random.choice(['ValueError', 'RuntimeError', 'IndexError'])}('no')")

    def bound(self) -> str:
        known = [name for name, _ in self.loops]
        some = self.random
        return some.choice(
            [*known, "", "", "p", "-p", "p - 2", "n - p", "m", "-m", "n + 3", "-n - 2", "1", "-2", "n // 2", "p * 2"]
        )

    def bounded(self) -> None:
        """A view whose bounds are computed while it runs; a view of that."""
        one = self.random.choice(self.names)
        axis = self.random.randrange(len(one.shape))
        step = self.random.choice(["", "", "", ":-1", ":2", ":-2"])
        name = self.new("w")
        self.line(f"{name} = {one.text}[{':, ' * axis}{self.bound()}:{self.bound()}{step}]")
        if axis:
            return self.scalars.append((f"{name}.shape[{axis}]", "i"))
        self.names.append(Name(name, one.cat, (("?" + name, 0), *one.shape[1:]), one.writable))
        return None

    def shifted(self) -> None:
        """An array that is written where it is read, some places further."""
        known = [one for one in self.names if one.writable and one.cat != "b"]
        if not known:
            return
        one = self.random.choice(known)
        k = self.random.choice(["p", "p", "1", "2", *[name for name, _ in self.loops]])
        size = self.size(one.shape[0])
        front, back = f"{one.text}[:{size} - {k}]", f"{one.text}[{k}:]"
        turned = f"{one.text}[::-1]"
        to, by = self.random.choice(
            [(front, back), (back, front), (back, front), (f"{one.text}[:]", turned), (turned, one.text)]
        )
        value = self.random.choice(
            [by, f"{by} + {by}", f"np.maximum({to}, {by})", f"{by} - {to}", f"np.where({by} > 1, {by}, {to})"]
        )
        self.line(f"{to} {self.random.choice(['=', '=', '=', '+=', '-='])} {value}")

    def out(self) -> None:
        found = self.target()
        if found is None or found[1] != "f":
            return
        text, cat, shape = found
        text = text.removesuffix("[:]")
        self.line(
            f"np.{self.random.choice(['add', 'multiply', 'maximum'])}({self.array(cat, shape, 1)}, {self.array(cat, shape, 1)}, out={text})"  # noqa: E501
        )

    def chain(self) -> None:
        cat, shape = self.cat(), self.shape()
        a, b = self.new(), self.new()
        self.line(f"{a} = {b} = {self.array(cat, shape, 2)}")
        self.names += [Name(a, cat, shape), Name(b, cat, shape)]

    def tuple_loop(self) -> None:
        one = self.random.choice(self.names)
        same = [other for other in self.names if other.shape == one.shape and other.cat == one.cat]
        other, item = self.random.choice(same), self.new("r")
        self.line(f"for {item} in ({one.text}, {other.text}):")
        self.names.append(Name(item, one.cat, one.shape, one.writable and other.writable))
        self.inside(1)
        self.names.pop()

    def nested(self) -> None:
        if self.level > 1:
            return
        name, (one,) = self.new("f"), self.random.choices(self.names)
        self.line(f"def {name}(z):")
        self.level += 1
        self.names.append(Name("z", one.cat, one.shape, one.writable))
        if self.chance(50) and one.writable and one.cat != "b":
            self.line(f"z[{self.index(one.shape[0])}] += {self.literal(one.cat)}")
        self.line(f"return {self.array(one.cat, one.shape, 2)}")
        self.names.pop()
        self.level -= 1
        result = self.new()
        self.line(f"{result} = {name}({one.text})")
        self.names.append(Name(result, one.cat, one.shape))

    def countdown(self) -> None:
        name = self.new("k")
        self.line(f"{name} = {self.random.choice(['n', 'm', '3'])}")
        self.line(f"while {name} > {self.random.choice(['0', '1', 'p'])}:")
        self.scalars.append((name, "i"))
        self.level += 1
        self.line(f"{name} -= {self.random.choice(['1', '2'])}")
        self.level -= 1
        self.inside(1)

    def early(self) -> None:
        if self.loops and self.chance(50):
            self.line(f"if {self.scalar('b', 1)}:")
            self.line(f"    {self.random.choice(['break', 'continue'])}")

    def returned(self) -> None:
        values = []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            cat = self.cat()
            if self.chance(30):
                values.append(self.scalar(cat, 2))
            elif self.chance(60):
                values.append(self.random.choice([one.text for one in self.names]))
            else:
                values.append(self.array(cat, self.shape(), 2))
        if len(values) == 3 and self.chance(50):
            values = [f"({values[0]}, {values[1]})", values[2]]
        self.line(f"return {', '.join(values)}")


def program(seed: int, made_by: type[Writer] = Writer) -> Program:
    """A program of array code; the same one for the same seed."""
    writer = made_by(random.Random(f"arrays {seed}"))
    some = writer.random
    shapes: list[Shape] = [
        (("n", 0),),
        (("n", 0),),
        (("n", 0), ("m", 0)),
        (("n", 0), ("n", 0)),
        (("m", 0),),
        (("n", 0), ("m", 0), ("", 3)),
    ]
    cells: list[tuple[str, str, Shape]] = []
    for name in "abcd"[: some.randint(2, 4)]:
        cat = some.choice(made_by.ARGUMENTS) if name != "d" else "b"
        shape = some.choice(shapes)
        element = some.choice(ELEMENTS[cat]) if cat != "b" else "bool"
        cells.append((name, element, shape))
        writer.names.append(Name(name, cat, shape, argument=True))
    writer.scalars += [("p", "i"), ("n", "i"), ("q", "f")]
    for _ in range(some.randint(2, 6)):
        writer.statement()
    writer.returned()
    helpers = "\n".join(HELPERS[name] for name in sorted(writer.helpers))
    head = f"def kernel({', '.join([*(name for name, _, _ in cells), 'n', 'm', 'p', 'q'])}):\n"
    source = PRELUDE + helpers + ("\n\n" if helpers else "") + head + "\n".join(writer.lines) + "\n"
    calls = tuple(_call(some, cells, number) for number in range(3))
    return Program(source, calls, frozenset(), False)


def _call(some: random.Random, cells: list[tuple[str, str, Shape]], number: int) -> tuple[Recipe, ...]:
    n, m = (
        some.choice([(4, 3), (5, 5), (3, 4)])
        if number == 0
        else some.choice([(4, 3), (2, 3), (3, 2), (2, 2), (0, 2), (5, 0), *STRETCHING])
    )
    sizes = {"n": n, "m": m, "": 0}
    recipes: list[Recipe] = []
    for position, (name, element, symbols) in enumerate(cells):
        shape = tuple(sizes[symbol] + offset for symbol, offset in symbols)
        before = [k for k, (_, kind, own) in enumerate(cells[:position]) if (kind, own) == (element, symbols)]
        if before and number and some.random() < 0.4:
            first = before[0]
            how = some.choice(["same", "reversed"])
            recipes.append(Cells(name, element, shape, same_as=first, how=how))
            continue
        values = "special" if element.startswith("float") and some.random() < 0.15 else "small"
        layout = some.choice(LAYOUTS) if number else "C"
        if 0 in shape:
            layout = "C"
        recipes.append(
            Cells(name, element, shape, values, some.randrange(1, 1000), layout=layout, read_only=some.random() < 0.06)
        )
    recipes += [
        Numbers("n", str(n)),
        Numbers("m", str(m)),
        Numbers("p", str(some.randrange(4))),
        Numbers("q", some.choice(["0.5", "-2.0", "3.0"])),
    ]
    return tuple(recipes)
