"""`Plan`: who runs which box of a kernel's iterations with which Variant, and which data moves for that. A value with a
text that reads back; whoever calls makes one, an executor runs it (runtime/execute.py, memory/parts.py).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

from loopwright.ir.variant import Variant

Box = tuple[range, ...]
"""Indices along each axis, or iterations of each loop, outermost first."""

_SHARE = r"(?P<box>all|-?\d+:-?\d+(, -?\d+:-?\d+)*) on (?P<variant>.+)"
_NAMES = r"(?:may read (?P<reads>[^;]+?))?(?:(?:; |^)may write (?P<writes>[^;]+))?"
_MOVE = r"  (?P<way>in|out) (?P<array>[^\s\[\]]+)\[(?P<box>[^\]]*)\]"


class Move(NamedTuple):
    """A box of an array that is copied: `in`, to where a share runs, before it does, or `out`, to where the caller sees
    it, afterwards. array: a parameter's name, or `return.0` for the first array that the call makes."""

    way: Literal["in", "out"]
    array: str
    box: Box

    def __str__(self) -> str:
        return f"{self.way} {self.array}[{_text(self.box)}]"


class Share(NamedTuple):
    """What one device runs: iterations of the outermost loops, () for all there are, with the moves for them."""

    variant: Variant
    box: Box = ()
    moves: tuple[Move, ...] = ()

    def __str__(self) -> str:
        first = f"{_text(self.box) or 'all'} on {self.variant}"
        return "\n  ".join([first, *map(str, self.moves)])


class Plan(NamedTuple):
    """Shares in the order in which they begin; what they write lies apart. A line for each of them, and one for each
    move:

        may read a, b; may write b
        0:256 on cuda: recipe
          in a[0:258, 0:1000]
          out b[1:257, 0:1000]

    reads, writes: the parameters whose arrays the call may read and write, wherever they are: after it, the version of
    an array that it may write is another one (memory/device_array.py)."""

    shares: tuple[Share, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    def __str__(self) -> str:
        found = [
            f"may {way} {', '.join(names)}" for way, names in (("read", self.reads), ("write", self.writes)) if names
        ]
        return "\n".join([*(["; ".join(found)] if found else []), *map(str, self.shares)])

    @classmethod
    def parse(cls, text: str) -> Plan:
        """Raises ValueError where this is no plan's text."""
        shares: list[Share] = []
        named: dict[str, tuple[str, ...]] = {}
        for line in text.splitlines() or [""]:
            if line and not shares and not named and (found := re.fullmatch(_NAMES, line)):
                named = {way: tuple(names.split(", ")) for way, names in found.groupdict().items() if names}
            elif (found := re.fullmatch(_MOVE, line)) and shares:
                move = Move(cast(Literal["in", "out"], found["way"]), found["array"], _box(found["box"]))
                shares[-1] = shares[-1]._replace(moves=(*shares[-1].moves, move))
            elif found := re.fullmatch(_SHARE, line):
                box = "" if found["box"] == "all" else found["box"]
                shares.append(Share(Variant.parse(found["variant"]), _box(box)))
            else:
                raise ValueError(f"a plan has lines such as 'all on cpu 2: recipe', not {line!r}")
        return cls(tuple(shares), **named)


def whole(variant: Variant, moves: Sequence[Move] = ()) -> Plan:
    """The plan of a call that one device makes by itself."""
    return Plan((Share(variant, (), tuple(moves)),))


def _text(box: Box) -> str:
    return ", ".join(f"{one.start}:{one.stop}" for one in box)


def _box(text: str) -> Box:
    ends = (one.split(":") for one in text.split(", ") if one)
    return tuple(range(int(first), int(last)) for first, last in ends)
