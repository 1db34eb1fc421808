"""The instructions of the kernels in a cubin, one by one, with the lines of the CUDA text that they were made for and
the places that they jump to. Read from what nvdisasm prints."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from loopwright.config import Config
from loopwright.toolchain.cubin import disassembled

SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
LABEL = re.compile(r"(\.L_\w+):")
LINE = re.compile(r"\s*//## File ")
NUMBER = re.compile(r", line (\d+)")
INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;")
TARGET = re.compile(r"`\((\.L_\w+)\)")
REGISTER = re.compile(r"\bR(\d+)\b")
PREDICATE = re.compile(r"!?U?P\d")


@dataclass(frozen=True, slots=True)
class Instruction:
    """address: in bytes from the kernel's beginning. guard: `@P0` or `@!P0`, where a predicate decides whether it is
    done, or ''. opcode: with modifiers, `LDG.E.128`. lines: of the text, where the cubin tells them: first that of the
    instruction, then those of the calls that it was inlined at, from the inside to the outside. target: the address
    that it names, for jumps and for what prepares one."""

    address: int
    guard: str
    opcode: str
    operands: str
    lines: tuple[int, ...] = ()
    target: int | None = None

    @property
    def name(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.split(".")[0]

    @property
    def registers(self) -> tuple[int, ...]:
        """The numbers of the registers among its operands, in their order."""
        return tuple(map(int, REGISTER.findall(self.operands)))

    @property
    def depends(self) -> bool:
        """Whether a predicate decides if it is done, or if it jumps: `BRA P1, target` does so where P1 is true."""
        return bool(self.guard) or PREDICATE.match(self.operands) is not None


def instructions(path: Path, config: Config) -> dict[str, tuple[Instruction, ...]] | None:
    """Those of each kernel in the cubin at `path`, by name, padding left out; a kernel's functions follow it. None
    where nvdisasm is missing, and, after a warning, where it cannot read the cubin."""
    return disassembled(path, ("-gi", "-c"), parse_listing, config)


def parse_listing(text: str) -> dict[str, tuple[Instruction, ...]] | None:
    """The instructions in what `nvdisasm -gi -c` prints; None where there are none."""
    found: dict[str, tuple[Instruction, ...]] = {}
    listing = _Listing()
    name = ""
    for line in text.splitlines():
        if section := SECTION.match(line):
            found |= {name: listing.resolved()} if name else {}
            name, listing = section[1], _Listing()
        elif name:
            listing.read(line)
    found |= {name: listing.resolved()} if name else {}
    return {name: listed for name, listed in found.items() if listed} or None


class _Listing:
    """One section, as far as it has been read."""

    def __init__(self) -> None:
        self.found: list[tuple[Instruction, str]] = []
        self.labels: dict[str, int] = {}
        self.waiting: list[str] = []
        self.lines: tuple[int, ...] = ()
        self.in_lines = False

    def read(self, line: str) -> None:
        """The next line."""
        if LINE.match(line):
            numbers = [int(number) for number in NUMBER.findall(line)]
            # `line 7 inlined at ..., line 239`, and then once more `line 239`, for the call.
            if not self.in_lines:
                self.lines = ()
            self.lines += tuple(numbers[:1])
            self.in_lines = True
        elif label := LABEL.match(line):
            self.waiting.append(label[1])
        elif parts := INSTRUCTION.match(line):
            address, guard, opcode, operands = int(parts[1], 16), parts[2] or "", parts[3], parts[4]
            self.labels |= dict.fromkeys(self.waiting, address)
            self.waiting.clear()
            self.in_lines = False
            target = TARGET.search(operands)
            one = Instruction(address, guard, opcode, operands, self.lines)
            self.found.append((one, target[1] if target else ""))

    def resolved(self) -> tuple[Instruction, ...]:
        """All of them, jumps with their targets, without the padding behind the last one."""
        while self.found and self.found[-1][0].opcode == "NOP":
            self.found.pop()
        if self.found:
            last, label = self.found[-1]
            if last.name == "BRA" and self.labels.get(label) == last.address:
                self.found.pop()
        return tuple(
            Instruction(one.address, one.guard, one.opcode, one.operands, one.lines, self.labels.get(label))
            for one, label in self.found
        )
