"""Random programs of array code with complex numbers: what array_programs.py writes, with a fourth kind, "c"."""

from __future__ import annotations

from .array_expressions import ONE, Name, Shape, Size
from .array_programs import Writer


class ComplexWriter(Writer):
    """Writes one program."""

    ARGUMENTS = "cccfi"

    def cat(self) -> str:
        return self.random.choice("ccccfib")

    def literal(self, cat: str) -> str:
        if cat != "c":
            return super().literal(cat)
        return self.random.choice(["1j", "(1 + 2j)", "-0.5j", "(2 - 1j)", "complex(p, 1)", "2.0"])

    def atom(self, cat: str, shape: Shape) -> str:
        if cat != "c":
            return super().atom(cat, shape)
        found = self.views(cat, shape)
        if found and self.chance(92):
            return self.random.choice(found)
        sizes = ", ".join(self.size(size) for size in shape)
        made = [f"np.zeros(({sizes},), dtype=complex)", f"np.ones(({sizes},), np.complex64)"]
        made += [f"np.full(({sizes},), {self.random.choice(['1j', '(1 - 2j)'])})", f"np.zeros(({sizes},)) * 1j"]
        if len(shape) == 1:
            made += [f"np.array([{self.literal('c')} * q + 1j for q in range({sizes})])", f"np.arange({sizes}) * 1j"]
        return self.random.choice(made)

    def elementwise(self, cat: str, shape: Shape, depth: int) -> str:
        some, full, part = self.random, self.array, self.operand
        if cat == "f" and self.chance(50):
            x = full("c", shape, depth - 1)
            return some.choice([f"np.abs({x})", f"({x}).real", f"({x}).imag", f"np.real({x})", f"abs({x})"])
        if cat == "b" and self.chance(30):
            sides = full("c", shape, depth - 1), part(some.choice("cf"), shape, depth - 1)
            return f"({sides[0]} {some.choice(['==', '!='])} {sides[1]})"
        if cat != "c":
            return super().elementwise(cat, shape, depth)
        x = full("c", shape, depth - 1)
        if self.chance(35):
            one = [f"-{x}", f"{x} ** 2", f"({x}).conj()", f"np.conjugate({x})", f"np.exp({x} * 0.1)", f"np.sqrt({x})"]
            two = [f"np.square({x})", f"({x} + 20) ** 3", f"np.sin({x} * 0.1)", f"np.log({x} + 20j)", f"+{x}"]
            return f"({some.choice(one + two)})"
        op = some.choice(["+", "-", "*", "+", "-", "*", "/"])
        sides = [x, part(some.choice("ccfi"), shape, depth - 1)]
        if op == "/" and self.chance(70):
            sides[1] = f"({sides[1]} + (20 + 3j))"
        else:
            some.shuffle(sides)
        return f"({sides[0]} {op} {sides[1]})"

    def reduction(self, cat: str, shape: Shape, depth: int) -> str:
        if cat != "c" or len(shape) == 3:
            return super().reduction(cat, shape, depth)
        axis = self.random.randint(0, len(shape))
        extra: Size = self.random.choice([("n", 0), ("m", 0), ("", 3)])
        if ONE in shape and self.chance(60):
            axis = shape.index(ONE)
            x = self.array(cat, tuple(extra if k == axis else size for k, size in enumerate(shape)), depth - 1)
            return f"np.{self.random.choice(['sum', 'mean', 'prod'])}({x}, axis={axis}, keepdims=True)"
        x = self.array(cat, (*shape[:axis], extra, *shape[axis:]), depth - 1)
        return f"np.{self.random.choice(['sum', 'sum', 'mean', 'prod'])}({x}, axis={axis})"

    def method(self, cat: str, shape: Shape, depth: int) -> str:
        if cat != "c":
            return super().method(cat, shape, depth)
        x = self.array(self.random.choice("cccfi"), shape, depth - 1)
        return f"({x}).astype({self.random.choice(['np.complex64', 'np.complex128', 'complex'])})"

    def vector(self, cat: str, shape: Shape, depth: int) -> str:
        if cat != "c":
            return super().vector(cat, shape, depth)
        [size], some = shape, self.random
        inner = some.choice([("n", 0), ("m", 0)])
        ways = [
            f"np.cumsum({self.array(cat, shape, depth - 1)})",
            f"({self.array(cat, (size, inner), depth - 1)} @ {self.array('f', (inner,), depth - 1)})",
            f"({self.array(cat, (size, inner), depth - 1)} @ {self.array(cat, (inner,), depth - 1)})",
        ]
        return some.choice(ways)

    def scalar(self, cat: str, depth: int) -> str:
        if cat == "f" and depth > 0 and self.chance(30):
            return f"{self.random.choice(['abs', 'np.real', 'np.imag'])}({self.scalar('c', depth - 1)})"
        if cat != "c" or depth <= 0 or self.chance(40):
            return super().scalar(cat, min(depth, 0) if cat == "c" else depth)
        arrays = [one for one in self.names if one.cat == "c"]
        if arrays and self.chance(40):
            one = self.random.choice(arrays)
            return f"{one.text}[{', '.join(self.index(size) for size in one.shape)}]"
        return f"({self.array('c', self.shape()[:2], depth - 1)}).{self.random.choice(['sum', 'mean'])}()"

    def fill(self) -> None:
        found = self.target()
        if found is None:
            return
        text, cat, _ = found
        text = text.removesuffix("[:]")
        if cat == "c" and self.chance(50):
            self.line(f"{text}.{self.random.choice(['real', 'imag'])}[:] = {self.scalar('f', 1)}")
        elif cat == "c" and self.chance(50):
            self.line(f"{text}.{self.random.choice(['real', 'imag'])} *= 2")
        else:
            self.line(f"{text}.fill({self.scalar(cat, 1)})")

    def name_array(self) -> None:
        complexes = [one for one in self.names if one.cat == "c"]
        if not complexes or not self.chance(20):
            super().name_array()
            return
        one, name = self.random.choice(complexes), self.new("v")
        self.line(f"{name} = {one.text}.{self.random.choice(['real', 'imag'])}")
        self.names.append(Name(name, "f", one.shape, one.writable))

    def shifted(self) -> None:
        hidden = [one for one in self.names if one.cat == "c"]
        self.names[:], kept = [one for one in self.names if one.cat != "c"], list(self.names)
        super().shifted()
        self.names[:] = kept if hidden else self.names
