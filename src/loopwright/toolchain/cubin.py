"""What a cubin says of its kernels: registers, memory, threads, and which instructions they are made of.

The resources come from its ELF sections (`.nv.info`: one record per attribute, as `cuobjdump -elf` prints them), by a
reader of our own; only how much is spilled stands nowhere but in ptxas' log. The instructions come from nvdisasm, which
is optional: without it there is no instruction mix. All counts are static: a loop's body counts once.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import shutil
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from loopwright.config import Tools
from loopwright.errors import CompilerError, warn_once
from loopwright.toolchain.cc import ANYWHERE, run_compiler
from loopwright.toolchain.store import find, keep, key_of

ABI = "1"  # of the way the store is filled: raise it when that changes
DISASSEMBLY = "nvdisasm.out"
ELF_CUDA = 190
FUNCTION, CUDA_ENTRY, NO_BITS = 2, 0x10, 8
RESERVED_SHARED_BYTES = 1024  # in every block's shared memory since sm_90; ptxas does not count it, the ELF does
# Attributes in .nv.info (EIATTR_...) and how their values are stored (EIFMT_...).
MAX_THREADS, FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT, NUM_BARRIERS = 0x05, 0x11, 0x12, 0x2F, 0x4C
SIZED = 4
INSTRUCTION_BYTES = 16  # since sm_70
DISASSEMBLE_TIMEOUT_S = 60.0

InstructionClass = Literal[
    "global_load", "global_store", "shared_load", "shared_store", "local_load", "local_store", "generic_load",
    "generic_store", "constant_load", "async_copy", "atomic", "fp16", "fp32_fma", "fp32", "fp64_fma", "fp64", "tensor",
    "special_function", "integer", "conversion", "move", "predicate", "shuffle", "barrier", "fence", "branch", "other",
]  # fmt: skip

# Opcodes without their modifiers, after "Instruction Set Reference" in NVIDIA's CUDA Binary Utilities. An instruction
# of the uniform datapath (UIADD3) is of the class of its namesake (IADD3).
OPCODES: Mapping[InstructionClass, str] = {
    "global_load": "LDG LDGMC",
    "global_store": "STG",
    "shared_load": "LDS LDSM",
    "shared_store": "STS STSM STAS",
    "local_load": "LDL",
    "local_store": "STL",
    "generic_load": "LD",
    "generic_store": "ST",
    "constant_load": "LDC LDCU",
    "async_copy": "LDGSTS LDGDEPBAR UBLKCP UBLKPF UTMALDG UTMASTG UTMAPF UTMACMDFLUSH",
    "atomic": "ATOM ATOMG ATOMS RED REDG REDAS UBLKRED UTMAREDG",
    "fp16": "HADD2 HADD2_32I HFMA2 HFMA2_32I HMNMX2 HMUL2 HMUL2_32I HSET2 HSETP2",
    "fp32_fma": "FFMA FFMA32I FFMA2",
    "fp32": "FADD FADD32I FADD2 FCHK FMNMX FMNMX3 FMUL FMUL32I FMUL2 FSEL FSET FSETP FSWZADD",
    "fp64_fma": "DFMA",
    "fp64": "DADD DMUL DMNMX DSET DSETP",
    "tensor": "HMMA IMMA DMMA BMMA QMMA OMMA HGMMA IGMMA BGMMA QGMMA UTCHMMA UTCIMMA UTCQMMA UTCOMMA",
    "special_function": "MUFU",
    "integer": (
        "BMSK BREV FLO IABS IADD IADD2 IADD3 IADD32I IDP IDP4A IMAD IMNMX IMUL IMUL32I ISCADD ISCADD32I ISETP LEA CLEA "
        "LOP LOP3 LOP32I POPC SGXT SHF SHL SHR VABSDIFF VABSDIFF4 VHMNMX VIADD VIADDMNMX VIMNMX VIMNMX3"
    ),
    "conversion": "F2F F2FP F2I F2IP FRND I2F I2FP I2I I2IP",
    "move": "MOV MOV32I MOVM PRMT SEL S2R S2UR CS2R R2UR",
    "predicate": "PLOP3 PSETP P2R R2P P2UR R2UP",
    "shuffle": "SHFL VOTE VOTEU MATCH REDUX",
    "barrier": "BAR SYNCS UCGABAR_ARV UCGABAR_WAIT",
    "fence": "MEMBAR FENCE ERRBAR CCTL",
    "branch": (
        "BRA BRX BRXU BREAK BSSY BSYNC BMOV CALL EXIT JMP JMX JMXU KILL NANOSLEEP RET RPCMOV WARPSYNC WARPSYNCALL YIELD"
    ),
}
_CLASS_OF: Mapping[str, InstructionClass] = {
    opcode: kind for kind, opcodes in OPCODES.items() for opcode in opcodes.split()
}
_BYTES: Mapping[str, int] = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16, "256": 32}
_WITH_WIDTH = ("global", "shared", "local", "generic")


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What a kernel needs. Bytes, counts. registers: of each thread. shared_bytes: of each block, declared in the text
    (not what a launch adds, nor the system's own). stack_bytes: of each thread, the kernel's own frame; local_bytes:
    with the functions that it calls. constant_bytes: parameters included. max_threads: the most threads of a block, as
    `__launch_bounds__` says, None where it does not. spill_store_bytes, spill_load_bytes: what instructions of the
    kernel and its functions move for want of registers, None where no log tells."""

    registers: int
    shared_bytes: int
    stack_bytes: int
    local_bytes: int
    constant_bytes: int
    barriers: int
    max_threads: int | None
    spill_store_bytes: int | None
    spill_load_bytes: int | None


@dataclass(frozen=True, slots=True)
class InstructionMix:
    """How many instructions of each class a kernel is made of, the functions that it calls included. counts: of every
    class. widths: of loads and stores by class, and then by bytes per thread: `widths["global_load"][16]`."""

    counts: Mapping[InstructionClass, int]
    widths: Mapping[InstructionClass, Mapping[int, int]]

    @property
    def total(self) -> int:
        """The number of instructions; padding does not count."""
        return sum(self.counts.values())


def kernel_resources(cubin: bytes, log: str = "") -> dict[str, KernelResources]:
    """What each kernel needs, by name, in the order of the cubin's symbols. log: what `ptxas -v` said of it.

    Raises CompilerError for what is not a whole cubin."""
    try:
        return _resources(cubin, _spills(log))
    except (struct.error, ValueError, LookupError, OverflowError) as error:
        raise CompilerError(
            f"a cubin of {len(cubin)} bytes cannot be read: {error}\n  try: remove the folder of compiled code "
            "(LOOPWRIGHT_CACHE), so that it is made again"
        ) from error


def instruction_mix(path: Path, config: Tools) -> dict[str, InstructionMix] | None:
    """The instructions of each kernel in the cubin at `path`, by name; None where nvdisasm is missing, and, after a
    warning, where it cannot read the cubin."""
    return disassembled(path, ("-json",), _mixes, config)


_Read = TypeVar("_Read")


def disassembled(
    path: Path, options: tuple[str, ...], read: Callable[[str], _Read | None], config: Tools
) -> _Read | None:
    """What `read` makes of nvdisasm's output for the cubin at `path`; None where nvdisasm is missing, and, after a
    warning, where it cannot read the cubin, or `read` gives None. It takes some 0.4 s, so its output is kept in the
    cache."""
    program = find_nvdisasm()
    if program is None:
        return None
    key = _key_of_disassembly(program, options, path.read_bytes())
    kept = find(config.cache, key)
    if kept is not None:
        return read(kept.contents[DISASSEMBLY].decode())
    timeout_s = min(DISASSEMBLE_TIMEOUT_S, config.compile_timeout_s)
    code, output = run_compiler((str(program), *options, str(path.absolute())), ANYWHERE, timeout_s)
    found = read(output) if code == 0 else None
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


# ---- resources --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int


def _resources(cubin: bytes, spills: Mapping[str, tuple[int, int]]) -> dict[str, KernelResources]:
    sections = _sections(cubin)
    named = {section.name: section for section in sections}
    per_symbol = _per_symbol(_section_bytes(cubin, named.get(".nv.info")))
    reserved = RESERVED_SHARED_BYTES if any(name.startswith(".nv.shared.reserved") for name in named) else 0
    found = {}
    for symbol, name in _entries(cubin, sections).items():
        if (REGCOUNT, symbol) not in per_symbol:
            raise ValueError(f"it does not tell the registers of '{name}'")
        own = dict(_attributes(_section_bytes(cubin, named.get(f".nv.info.{name}"))))
        shared = named.get(f".nv.shared.{name}")
        constant = re.compile(rf"\.nv\.constant\d+\.{re.escape(name)}")
        threads = own.get(MAX_THREADS)
        stores, loads = spills.get(name, (None, None))
        found[name] = KernelResources(
            registers=per_symbol[REGCOUNT, symbol],
            shared_bytes=max(0, shared.size - reserved) if shared else 0,
            stack_bytes=per_symbol.get((FRAME_SIZE, symbol), 0),
            local_bytes=per_symbol.get((MIN_STACK_SIZE, symbol), 0),
            constant_bytes=sum(section.size for section in sections if constant.fullmatch(section.name)),
            barriers=own[NUM_BARRIERS][0] if NUM_BARRIERS in own else 0,
            max_threads=math.prod(struct.unpack("<3I", threads)) if threads else None,
            spill_store_bytes=stores,
            spill_load_bytes=loads,
        )
    return found


def _sections(cubin: bytes) -> list[_Section]:
    if cubin[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", cubin, 18) != (ELF_CUDA,):
        raise ValueError("it is not an ELF file for NVIDIA GPUs")
    segments, start = struct.unpack_from("<QQ", cubin, 32)
    segment_size, segment_count, size, count, names = struct.unpack_from("<HHHHH", cubin, 54)
    _slice(cubin, segments, segment_size * segment_count)  # they come last
    headers = [struct.unpack_from("<IIQQQQI", cubin, start + size * number) for number in range(count)]
    texts = _slice(cubin, headers[names][4], headers[names][5])
    return [
        _Section(_word(texts, name), kind, offset, length, link)
        for name, kind, _flags, _address, offset, length, link in headers
    ]


def _entries(cubin: bytes, sections: list[_Section]) -> dict[int, str]:
    """The kernels' names by the numbers of their symbols."""
    table = next((section for section in sections if section.name == ".symtab"), None)
    if table is None:
        raise ValueError("it has no table of symbols")
    names = _section_bytes(cubin, sections[table.link])
    symbols = struct.iter_unpack("<IBBHQQ", _section_bytes(cubin, table))
    return {
        number: _word(names, name)
        for number, (name, info, other, *_) in enumerate(symbols)
        if info & 15 == FUNCTION and other & CUDA_ENTRY
    }


def _per_symbol(info: bytes) -> dict[tuple[int, int], int]:
    """The values of the attributes that .nv.info gives for symbols, by attribute and symbol."""
    pairs = ((attribute, struct.unpack("<2I", value)) for attribute, value in _attributes(info) if len(value) == 8)
    return {(attribute, symbol): number for attribute, (symbol, number) in pairs}


def _attributes(info: bytes) -> Iterator[tuple[int, bytes]]:
    """Records of 4 bytes: how the value is stored, the attribute, and the value, or its size where it follows."""
    position = 0
    while position < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, position)
        position += 4
        if form == SIZED:
            yield attribute, _slice(info, position, size)
            position += size
        else:
            yield attribute, info[position - 2 : position]


def _section_bytes(cubin: bytes, section: _Section | None) -> bytes:
    if section is None or section.kind == NO_BITS:
        return b""
    return _slice(cubin, section.offset, section.size)


def _slice(data: bytes, start: int, size: int) -> bytes:
    if start + size > len(data):
        raise ValueError(f"it ends {start + size - len(data)} bytes too early")
    return data[start : start + size]


def _word(texts: bytes, start: int) -> str:
    return texts[start : texts.index(b"\0", start)].decode()


def _spills(log: str) -> dict[str, tuple[int, int]]:
    """The bytes of spill stores and loads by kernel, from what `ptxas -v` says of it and then of its functions."""
    found: dict[str, tuple[int, int]] = {}
    for part in log.split("Compiling entry function '")[1:]:
        name, _, rest = part.partition("'")
        pairs = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", rest)
        if pairs:
            found[name] = (sum(int(stores) for stores, _ in pairs), sum(int(loads) for _, loads in pairs))
    return found


# ---- instructions -----------------------------------------------------------------------------------------------


def _key_of_disassembly(program: Path, options: tuple[str, ...], cubin: bytes) -> str:
    told = program.stat()
    digest = hashlib.sha256(cubin).hexdigest()
    return key_of(
        (ABI, "disassembly", " ".join(options), digest, ascii(str(program)), str(told.st_size), str(told.st_mtime_ns))
    )


def _write(output: str, folder: Path) -> None:
    (folder / DISASSEMBLY).write_text(output, encoding="utf-8")


def _mixes(output: str) -> dict[str, InstructionMix] | None:
    """The mixes in what `nvdisasm -json` prints; None where there is none."""
    start = re.search(r"^\[", output, re.MULTILINE)  # a warning may stand before it
    try:
        tree = json.JSONDecoder().raw_decode(output, start.start())[0] if start else None
        found: dict[str, list[tuple[str, str]]] = {}
        for function in _functions(tree):
            # A kernel's section holds its functions too; where they are told apart they are called $kernel$function.
            name = function["function-name"]
            kernel = name.split("$")[1] if name.startswith("$") and name.count("$") > 1 else name
            found.setdefault(kernel, []).extend(_instructions(function))
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return {name: _mix(instructions) for name, instructions in found.items()} or None


def _functions(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, list):
        for part in tree:
            yield from _functions(part)
    elif isinstance(tree, dict) and "function-name" in tree and "sass-instructions" in tree:
        yield tree


def _instructions(function: dict[str, Any]) -> list[tuple[str, str]]:
    """Opcodes and operands, without the padding behind the last one: NOPs, after a jump to itself."""
    found = [(each["opcode"], each.get("operands", "")) for each in function["sass-instructions"]]
    while found and found[-1][0] == "NOP":
        found.pop()
    last = function.get("start", 0) + INSTRUCTION_BYTES * (len(found) - 1)
    if found and found[-1] == ("BRA", hex(last)):
        found.pop()
    return [(opcode, operands) for opcode, operands in found if opcode != "NOP"]


def _mix(instructions: list[tuple[str, str]]) -> InstructionMix:
    counts: Counter[InstructionClass] = Counter()
    widths: dict[InstructionClass, Counter[int]] = {}
    for opcode, operands in instructions:
        kind = instruction_class(opcode, operands)
        counts[kind] += 1
        if kind.split("_")[0] in _WITH_WIDTH:
            widths.setdefault(kind, Counter())[bytes_moved(opcode)] += 1
    every: tuple[InstructionClass, ...] = get_args(InstructionClass)
    return InstructionMix(
        {kind: counts[kind] for kind in every},
        {kind: dict(sorted(counted.items())) for kind, counted in widths.items()},
    )


def instruction_class(opcode: str, operands: str = "") -> InstructionClass:
    """The class of an instruction: "LDG.E.128" is a global_load, "UIADD3" an integer one."""
    name, *modifiers = opcode.split(".")
    if name in ("IMAD", "UIMAD") and "MOV" in modifiers:
        return "move"
    if name == "HFMA2" and re.match(r"\w+,\s*-RZ,\s*RZ,", operands):  # 0 * 0 + a constant: how one is loaded
        return "move"
    return _CLASS_OF.get(name) or _CLASS_OF.get(name.removeprefix("U"), "other")


def bytes_moved(opcode: str) -> int:
    """What a load or store moves for one thread; LDSM and STSM move one 4-byte register for each 8x8 matrix."""
    parts = opcode.split(".")
    if parts[0] in ("LDSM", "STSM"):
        return 4 * next((int(part) for part in parts if part in ("2", "4")), 1)
    return next((_BYTES[part] for part in parts if part in _BYTES), 4)
