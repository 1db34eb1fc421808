"""Random programs in which sets and dicts begin anew under their names, and texts grow."""

from __future__ import annotations

import random

from .container_programs import ContainerWriter, container_program
from .programs import Program


class AnewWriter(ContainerWriter):
    """As ContainerWriter. There is one text, `t`, beside the containers."""

    def __init__(self, some: random.Random) -> None:
        super().__init__(some)
        self.lines.append(f"    t = {some.choice(['', 'a', 'ab'])!r}")

    def number(self, depth: int = 2) -> str:
        if self.chance(8):
            return self.random.choice(
                ["len(t)", "(1 if t == 'ab' else 2)", "(3 if 'c' in t else 4)", "(5 if t else 6)"]
            )
        return super().number(depth)

    def statement(self) -> None:
        self.random.choice([super().statement, super().statement, super().statement, self.anew, self.text])()

    def anew(self) -> None:
        """A set or a dict for another one, under its name."""
        x, one, other = self.of("set", "dict"), self.number(1), self.number(1)
        if x is None:
            return
        if x in self.names["dict"]:
            ways = ["{}", f"{{{one}: {other}}}", f"{{v: v + {one} for v in {x}}}", f"{{v: w for v, w in {x}.items()}}"]
        else:
            ways = [
                "set()",
                f"{{{one}, {other}}}",
                f"{{v * 3 % 17 for v in {x}}}",
                f"set({self.iterated()})",
                f"{x}.copy()",
            ]
            ways += [f"{x} {self.random.choice('|&-')} {y}" for y in self.names["set"]]
        self.line(f"{x} = {self.random.choice(ways)}")

    def text(self) -> None:
        c = f"'abc'[abs({self.number(1)}) % 3]"
        ways = [f"t += {c}", f"t = {c} + t", "t = t + 'xy'", f"t = t[{self.random.choice(['1:', ':3', '::-1'])}]"]
        ways += [f"t += '-' * ({self.number(1)} % 4)", "t = ''", f"t = {c} + t + {c}"]
        self.line(self.random.choice(ways))
        self.line("t = t[:20]")


def anew_program(seed: int) -> Program:
    """The same one for the same seed."""
    return container_program(seed, AnewWriter, ", t")
