"""The instructions of the kernels in a cubin, one by one, with the lines of the CUDA text that they were made for and
the places that they jump to. Read from what nvdisasm prints, which is optional: without it there are none."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

from loopwright.config import Tools
from loopwright.errors import warn_once
from loopwright.toolchain.cc import ANYWHERE, run_compiler
from loopwright.toolchain.store import find, keep, key_of

ABI = "1"  # of the way the store is filled: raise it when that changes
DISASSEMBLY = "nvdisasm.out"
OPTIONS = ("-gi", "-c")
DISASSEMBLE_TIMEOUT_S = 60.0
_BYTES: Mapping[str, int] = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}

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


def bytes_moved(opcode: str) -> int:
    """What a load or store moves for one thread; LDSM and STSM move one 4-byte register for each 8x8 matrix."""
    parts = opcode.split(".")
    if parts[0] in ("LDSM", "STSM"):
        return 4 * next((int(part) for part in parts if part in ("2", "4")), 1)
    return next((_BYTES[part] for part in parts if part in _BYTES), 4)


def instructions(path: Path, config: Tools) -> dict[str, tuple[Instruction, ...]] | None:
    """Those of each kernel in the cubin at `path`, by name, padding left out; a kernel's functions follow it. None
    where nvdisasm is missing, and, after a warning, where it cannot read the cubin. That takes some 0.4 s, so what
    nvdisasm says is kept in the cache."""
    program = find_nvdisasm()
    if program is None:
        return None
    key = _key_of_disassembly(program, path.read_bytes())
    kept = find(config.cache, key)
    if kept is not None:
        return parse_listing(kept.contents[DISASSEMBLY].decode())
    timeout_s = min(DISASSEMBLE_TIMEOUT_S, config.compile_timeout_s)
    code, output = run_compiler((str(program), *OPTIONS, str(path.absolute())), ANYWHERE, timeout_s)
    found = parse_listing(output) if code == 0 else None
    if found is None:
        says = (output.strip().splitlines() or [f"it ended with code {code}"])[0][:200]
        warn_once(
            f"nvdisasm {program}",
            f"{program} cannot read a cubin ({says}), so instructions are not counted. To install one that can: "
            'pip install "loopwright[cuda]"',
        )
        return None
    keep(config.cache, key, partial(_write, output), config.cache_size)
    return found


@cache
def find_nvdisasm() -> Path | None:
    """NVIDIA's disassembler: of the wheel nvidia-cuda-nvdisasm, else on the PATH; looked for once per process."""
    spec = find_spec("nvidia")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("*/bin/nvdisasm*"), reverse=True):
            if path.stem == "nvdisasm" and os.access(path, os.X_OK):
                return path
    found = shutil.which("nvdisasm")
    return Path(found) if found else None


def _key_of_disassembly(program: Path, cubin: bytes) -> str:
    told = program.stat()
    digest = hashlib.sha256(cubin).hexdigest()
    return key_of(
        (ABI, "disassembly", " ".join(OPTIONS), digest, ascii(str(program)), str(told.st_size), str(told.st_mtime_ns))
    )


def _write(output: str, folder: Path) -> None:
    (folder / DISASSEMBLY).write_text(output, encoding="utf-8")


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
