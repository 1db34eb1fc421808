"""Random programs of NumPy-style array code: slices, views, broadcasting, reductions, masks, arrays of indices.

Sizes are kept as symbols while a program is written, so that most operands fit; some do not, and then the class of
the exception is what must agree. Each program is called with several sizes, layouts and overlaps.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

Size = tuple[str, int]
"""`(symbol, offset)`: ("n", -1) is n - 1, ("", 3) is 3, ("nh", 0) is half of n, rounded up."""
Shape = tuple[Size, ...]
ONE: Size = ("", 1)
ELEMENTS = {
    "f": ("float64", "float64", "float32"),
    "i": ("int64", "int64", "int32", "uint8"),
    "c": ("complex128", "complex128", "complex64"),
}
STRETCHED = 30
STRETCHING: list[tuple[int, int]] = []
LAYOUTS = ("C", "C", "C", "F", "reversed", "strided", "inner")
PRELUDE = "import numpy as np\n\n"
HELPERS = {
    "scale": "def scale(x, k):\n    x *= k\n",
    "shift": "def shift(x):\n    x[1:] = x[:-1]\n",
    "blend": "def blend(x, y):\n    x[:] = x + y\n    return x.sum()\n",
    "total": "def total(x):\n    return x.sum()\n",
    "middle": "def middle(x):\n    return x[1:-1]\n",
    "both": "def both(x, y):\n    x = x + y\n    return x, y\n",
}


@dataclass
class Name:
    """A variable: cat is "f", "i", "b" or "c"; own: an array of the function's own (else an argument or a view)."""

    text: str
    cat: str
    shape: Shape
    writable: bool = True
    argument: bool = False


@dataclass
class Expressions:
    """Writes the expressions of one program. loops: names of loop variables and what they stay below."""

    random: random.Random
    names: list[Name] = field(default_factory=list)
    scalars: list[tuple[str, str]] = field(default_factory=list)
    loops: list[tuple[str, Size]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    helpers: set[str] = field(default_factory=set)
    level: int = 1
    fresh: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self.level + text)

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent

    def new(self, prefix: str = "t") -> str:
        self.fresh += 1
        return f"{prefix}{self.fresh}"

    # ---- sizes and indices ----

    def size(self, size: Size) -> str:
        symbol, offset = size
        if not symbol:
            return str(offset)
        if symbol.startswith("?"):
            return f"len({symbol[1:]})" if not offset else f"len({symbol[1:]}) {offset}"
        base = f"({symbol[0]} + 1) // 2" if symbol.endswith("h") else symbol
        if self.chance(30) and not symbol.endswith("h"):
            known = [
                (one.text, k) for one in self.names if one.argument for k, s in enumerate(one.shape) if s == (symbol, 0)
            ]
            if known:
                name, axis = self.random.choice(known)
                base = f"{name}.shape[{axis}]" if axis or self.chance(60) else f"len({name})"
        return base if not offset else f"{base} {'+' if offset > 0 else '-'} {abs(offset)}"

    def index(self, size: Size) -> str:
        """An index, mostly in range."""
        fitting = [name for name, below in self.loops if below == size]
        if fitting and self.chance(60):
            return self.random.choice(fitting)
        if self.chance(4):
            return self.random.choice(["3", "-4", "p"])
        if size[0]:
            return self.random.choice(["0", "-1", "0", "-1", "1", "p % 2"])
        return str(self.random.randrange(-size[1], size[1])) if size[1] else "0"

    # ---- arrays ----

    def shape(self) -> Shape:
        rank = self.random.choice([1, 1, 1, 2, 2, 3])
        choices: list[Size] = [("n", 0), ("n", 0), ("m", 0), ("n", -1), ("", 3)]
        return tuple(self.random.choice(choices) for _ in range(rank))

    def part(self, own: Size, wanted: Size) -> str | None:
        """A slice that takes so many of an axis."""
        some = self.random
        if own == wanted:
            return some.choice([":", ":", ":", ":", "::-1", "-9:", ":9", "::1"])
        if own[0] == wanted[0] and wanted[1] < own[1]:
            less = own[1] - wanted[1]
            first = some.randint(0, less)
            if not own[0]:
                return f"{first}:{first + wanted[1]}"
            last = less - first
            if self.chance(20) and not first:
                return f"-{last + 1}::-1" if last else "::-1"
            return f"{first or ''}:{f'-{last}' if last else ''}"
        if wanted == (own[0] + "h", 0) and not own[1]:
            return some.choice(["::2", "::-2"]) if self.chance(70) else "0::2"
        if wanted == ONE and self.chance(STRETCHED):
            return some.choice(["0:1", "-1:", ":1"])
        return None

    def views(self, cat: str, shape: Shape, writable: bool = False) -> list[str]:
        """Texts that give an array of this shape out of one that there is."""
        found = []
        for one in self.names:
            if one.cat != cat or (writable and not one.writable):
                continue
            text = self.view(one, shape)
            if text is not None:
                found.append(text)
        return found

    def view(self, one: Name, shape: Shape) -> str | None:
        own, some = one.shape, self.random
        if own == shape and self.chance(8):
            sizes = ", ".join(self.size(size) for size in shape)
            return f"{one.text}.reshape({sizes})" if self.chance(50) else f"{one.text}.ravel().reshape(({sizes},))"
        if len(shape) == 1 and own == (*shape, ONE):
            return f"{one.text}.reshape(-1)"
        if own == shape and self.chance(60):
            return one.text
        if len(own) == 2 and own[::-1] == shape and (own[0] != own[1] or self.chance(30)):
            return f"{one.text}.T"
        if len(own) == len(shape) + 1:
            axis = some.randrange(len(own))
            rest = (*own[:axis], *own[axis + 1 :])
            parts = [self.part(a, b) for a, b in zip(rest, shape, strict=True)]
            if None in parts:
                return None
            parts.insert(axis, self.index(own[axis]))
            if all(part == ":" for part in parts[axis + 1 :]) and self.chance(60):
                parts = parts[: axis + 1]
            elif all(part == ":" for part in parts[:axis]) and axis and self.chance(50):
                parts = ["...", *parts[axis:]]
            return f"{one.text}[{', '.join(parts)}]"  # type: ignore[arg-type]
        if len(own) == len(shape):
            parts = [self.part(a, b) for a, b in zip(own, shape, strict=True)]
            return None if None in parts else f"{one.text}[{', '.join(parts)}]"  # type: ignore[arg-type]
        if len(own) == len(shape) - 1 and ONE in shape:
            axis = shape.index(ONE)
            rest = (*shape[:axis], *shape[axis + 1 :])
            parts = [self.part(a, b) for a, b in zip(own, rest, strict=True)]
            if None in parts:
                return None
            parts.insert(axis, some.choice(["None", "np.newaxis"]))
            return f"{one.text}[{', '.join(parts)}]"  # type: ignore[arg-type]
        return None

    def atom(self, cat: str, shape: Shape) -> str:
        found = self.views(cat, shape)
        if found and self.chance(92):
            return self.random.choice(found)
        sizes = [self.size(size) for size in shape]
        text = sizes[0] if len(sizes) == 1 else f"({', '.join(sizes)})"
        dtype = {"f": "np.float64", "i": "np.int64", "b": "np.bool_"}[cat]
        made = [
            f"np.zeros({text}, dtype={dtype})",
            f"np.ones({text}, {dtype})",
            f"np.full({text}, {self.literal(cat)})",
        ]
        if len(shape) == 1 and cat == "i":
            made += [f"np.arange({text})"] * 3
        if len(shape) == 1 and cat == "f":
            made += [
                f"np.linspace(0.0, 1.0, {text})",
                f"np.arange({text}) * 0.5",
                f"np.array([{self.literal('f')} * q for q in range({text})])",
            ]
        return self.random.choice(made)

    def literal(self, cat: str) -> str:
        some = self.random
        if cat == "f":
            return some.choice(["0.5", "2.0", "-1.5", "3.0"])
        return some.choice(["1", "2", "3", "-2", "0", "7"]) if cat == "i" else some.choice(["True", "False"])

    def operand(self, cat: str, shape: Shape, depth: int) -> str:
        """Something that is broadcast to this shape."""
        if self.chance(15):
            return self.scalar(cat, depth - 1)
        if self.chance(20) and len(shape) > 1:
            return self.array(cat, shape[self.random.randint(1, len(shape) - 1) :], depth)
        if self.chance(15):
            shape = tuple(ONE if self.chance(50) else size for size in shape)
        return self.array(cat, shape, depth)

    def array(self, cat: str, shape: Shape, depth: int) -> str:
        """An expression of this shape."""
        if depth <= 0 or self.chance(25):
            return self.atom(cat, shape)
        some = self.random
        if self.chance(55):
            return self.elementwise(cat, shape, depth)
        ways = [self.reduction, self.gather, self.choice, self.method]
        if len(shape) == 1:
            ways += [self.vector, self.vector]
        if len(shape) == 2:
            ways += [self.matrix]
        return some.choice(ways)(cat, shape, depth)

    def elementwise(self, cat: str, shape: Shape, depth: int) -> str:
        some = self.random
        other = some.choice(["f", "i", "i"])
        full, part = self.array, self.operand
        a, b = (full, part) if self.chance(50) else (part, full)
        if cat == "b":
            kind = some.randrange(4)
            if kind == 0:
                return f"({a('b', shape, depth - 1)} {some.choice('&|^')} {b('b', shape, depth - 1)})"
            if kind == 1:
                return (
                    f"~{full('b', shape, depth - 1)}" if self.chance(50) else f"np.isnan({full('f', shape, depth - 1)})"
                )
            return f"({a(other, shape, depth - 1)} {some.choice(['<', '>=', '==', '!='])} {b(other, shape, depth - 1)})"
        if self.chance(25):
            x = full(cat, shape, depth - 1)
            one = [
                f"-{x}",
                f"np.abs({x})",
                f"{x} ** 2",
                f"np.maximum({x}, {part(cat, shape, depth - 1)})",
                f"np.minimum({x}, {part(cat, shape, depth - 1)})",
                f"np.clip({x}, {self.literal(cat)}, {self.literal(cat)})",
            ]
            if cat == "f":
                one += [f"np.sqrt(np.abs({x}))", f"np.floor({x})", f"np.round({x})", f"np.exp(-np.abs({x}))"]
            return f"({some.choice(one)})"
        if cat == "f":
            op = some.choice(["+", "-", "*", "+", "-", "*", "/"])
            cats = ["f", some.choice("ffi")]
            some.shuffle(cats)
            return f"({a(cats[0], shape, depth - 1)} {op} {b(cats[1], shape, depth - 1)})"
        op = some.choice(["+", "-", "*", "+", "-", "*", "&", "|", "//", "%"])
        return f"({a('i', shape, depth - 1)} {op} {b('i', shape, depth - 1)})"

    def reduction(self, cat: str, shape: Shape, depth: int) -> str:
        axis = self.random.randint(0, len(shape))
        if len(shape) == 3:
            return self.atom(cat, shape)
        extra: Size = self.random.choice([("n", 0), ("m", 0), ("", 3)])
        keep = len(shape) > 0 and ONE in shape and self.chance(60)
        if keep:
            axis = shape.index(ONE)
            inner = tuple(extra if k == axis else size for k, size in enumerate(shape))
        else:
            inner = (*shape[:axis], extra, *shape[axis:])
        sign = axis - len(inner) if self.chance(30) else axis
        more = f", axis={sign}" + (", keepdims=True" if keep else "")
        if cat == "b":
            x = self.array("b", inner, depth - 1)
            return f"np.{self.random.choice(['any', 'all'])}({x}{more})"
        if cat == "i" and self.chance(40) and not keep:
            return f"np.{self.random.choice(['argmax', 'argmin'])}({self.array(self.random.choice('fi'), inner, depth - 1)}{more})"  # noqa: E501
        x = self.array(cat, inner, depth - 1)
        names = ["sum", "sum", "max", "min", "prod"] + (["mean", "std", "var"] if cat == "f" else [])
        name = self.random.choice(names)
        if name in ("std", "var") and self.chance(40):
            more += ", ddof=1"
        return f"{x}.{name}({more[2:]})" if x.replace("_", "").isalnum() else f"np.{name}({x}{more})"

    def gather(self, cat: str, shape: Shape, depth: int) -> str:
        sources = [one for one in self.names if one.cat == cat and len(one.shape) == len(shape)]
        axis = self.random.randrange(len(shape))
        fitting = [
            one
            for one in sources
            if all(a == b for k, (a, b) in enumerate(zip(one.shape, shape, strict=True)) if k != axis)
        ]
        if not fitting:
            return self.atom(cat, shape)
        one = self.random.choice(fitting)
        index = self.array("i", (shape[axis],), depth - 1)
        return f"{one.text}[{':, ' * axis}{index} % 2]" if self.chance(80) else f"{one.text}[{':, ' * axis}{index}]"

    def choice(self, cat: str, shape: Shape, depth: int) -> str:
        return (
            f"np.where({self.array('b', shape, depth - 1)}, {self.operand(cat, shape, depth - 1)}, "
            f"{self.operand(cat, shape, depth - 1)})"
        )

    def method(self, cat: str, shape: Shape, depth: int) -> str:
        x = self.array(cat, shape, depth - 1)
        if self.chance(50):
            return f"({x}).copy()"
        dtype = {"f": "np.float32" if self.chance(50) else "np.float64", "i": "np.int32", "b": "np.bool_"}[cat]
        return f"({x}).astype({dtype})"

    def vector(self, cat: str, shape: Shape, depth: int) -> str:
        [size], some = shape, self.random
        symbol, offset = size
        kind = some.randrange(9)
        if kind == 0 and cat != "b":
            return f"np.cumsum({self.array(cat, shape, depth - 1)})"
        if kind == 1 and cat != "b" and symbol and offset < 0:
            return f"np.diff({self.array(cat, ((symbol, offset + 1),), depth - 1)})"
        if kind == 2 and cat != "b":
            return f"np.sort({self.array(cat, shape, depth - 1)})"
        if kind == 3 and symbol:
            a, b = self.array(cat, ((symbol, offset - 1),), depth - 1), self.array(cat, (ONE,), depth - 1)
            return f"np.concatenate(({a}, {b}))" if self.chance(50) else f"np.concatenate(({b}, {a}))"
        if kind == 4 and cat == "i":
            return f"np.searchsorted(np.sort({self.array('f', self.shape()[:1], depth - 1)}), {self.array('f', shape, depth - 1)})"  # noqa: E501
        if kind == 5 and cat == "i":
            return "np.argsort(" + self.array("i", shape, depth - 1) + f" * 16 + np.arange({self.size(size)}))"
        if kind == 6 and cat != "b":
            inner = some.choice([("n", 0), ("m", 0)])
            return f"({self.array(cat, (size, inner), depth - 1)} @ {self.array(cat, (inner,), depth - 1)})"
        if kind == 7 and cat == "f":
            k, over = self.new("k"), self.array("f", shape, depth - 1)
            return f"np.array([{k} * {self.literal('f')} for {k} in {over}])"
        return self.atom(cat, shape)

    def matrix(self, cat: str, shape: Shape, depth: int) -> str:
        rows, columns = shape
        some = self.random
        if cat == "b":
            return self.atom(cat, shape)
        kind = some.randrange(3)
        if kind == 0:
            return f"np.outer({self.array(cat, (rows,), depth - 1)}, {self.array(cat, (columns,), depth - 1)})"
        if kind == 1:
            inner: Size = some.choice([("n", 0), ("m", 0), ("", 3)])
            return f"({self.array(cat, (rows, inner), depth - 1)} @ {self.array(cat, (inner, columns), depth - 1)})"
        if rows == ("", 3):
            return f"np.stack(({', '.join(self.array(cat, (columns,), depth - 2) for _ in range(3))}))"
        if columns == ("", 3):
            return f"np.stack(({', '.join(self.array(cat, (rows,), depth - 2) for _ in range(3))}), axis=1)"
        return f"({self.array(cat, (columns, rows), depth - 1)}).T"

    # ---- numbers ----

    def scalar(self, cat: str, depth: int) -> str:
        some = self.random
        known = [name for name, own in self.scalars if own == cat]
        if depth <= 0 or self.chance(40):
            return some.choice(known) if known and self.chance(60) else self.literal(cat)
        if self.chance(30):
            arrays = [one for one in self.names if one.cat == cat]
            if arrays:
                one = some.choice(arrays)
                return f"{one.text}[{', '.join(self.index(size) for size in one.shape)}]"
        x = self.array(cat, self.shape()[:2], depth - 1)
        if cat == "b":
            return f"({x}).{some.choice(['any', 'all'])}()"
        if cat == "i" and self.chance(40):
            return some.choice(
                [
                    f"np.argmax({x})",
                    f"np.argmin({x})",
                    f"np.sum({self.array('b', self.shape()[:2], depth - 1)})",
                    f"np.count_nonzero({x})",
                    f"len({self.array('f', (some.choice([('n', 0), ('m', -1)]),), 0)})",
                ]
            )
        names = ["sum", "max", "min"] + (["mean", "std"] if cat == "f" else [])
        return f"np.{some.choice(names)}({x})" if self.chance(60) else f"({x}).{some.choice(names)}()"
