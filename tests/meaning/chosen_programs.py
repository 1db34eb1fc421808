"""Random programs of array code in which conditional expressions choose between arrays that are written, or read while
the arrays change."""

from __future__ import annotations

from .array_expressions import Name
from .array_programs import Writer

CONDITIONS = ("p > 1", "n > 2", "p == 0", "n > m", "p % 2 == 0")


class ChoosingWriter(Writer):
    """Writes one program."""

    def statement(self) -> None:
        if self.chance(35):
            self.chosen()
        else:
            super().statement()

    def chosen(self) -> None:
        one = self.random.choice(self.names)
        same = [other for other in self.names if (other.shape, other.cat) == (one.shape, one.cat) and other is not one]
        if not same or one.cat == "b":
            super().statement()
            return
        other, condition = self.random.choice(same), self.random.choice(CONDITIONS)
        writable = one.writable and other.writable
        choice = f"{one.text} if {condition} else {other.text}"
        value = self.operand(one.cat, one.shape, 1)
        match self.random.randrange(6):
            case 0 if writable:
                self.line(f"({choice})[:] {self.random.choice(['=', '+=', '*='])} {value}")
            case 1 if writable:
                self.line(f"({choice})[{self.index(one.shape[0])}] = {self.scalar(one.cat, 1)}")
            case 2 if writable:
                a, b = self.new("u"), self.new("u")
                self.line(f"{a}, {b} = ({one.text}, {other.text}) if {condition} else ({other.text}, {one.text})")
                self.line(f"{a}[:] = {b} {self.random.choice(['+', '-', '*'])} {value}")
                self.line(f"{b}[{self.index(one.shape[0])}] = {self.scalar(one.cat, 1)}")
            case 3 if writable:
                name = self.new("u")
                self.line(f"{name} = {choice}")
                self.line(f"{name}[{self.index(one.shape[0])}] = {self.scalar(one.cat, 1)}")
            case 4:
                name = self.new("s")
                self.line(f"{name} = ({choice}).sum()")
                self.scalars.append((name, "f" if one.cat == "f" else "i"))
            case _:
                name = self.new("c")
                self.line(f"{name} = ({choice}) + {value}")
                self.names.append(Name(name, one.cat, one.shape))
