"""What a cubin says of its kernels: registers, memory, threads. (Which instructions they are made of: `sass.py`.)

It comes from its ELF sections (`.nv.info`: one record per attribute, as `cuobjdump -elf` prints them), by a reader of
our own; only how much is spilled stands nowhere but in ptxas' log.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from loopwright.errors import CompilerError

ELF_CUDA = 190
FUNCTION, CUDA_ENTRY, NO_BITS = 2, 0x10, 8
RESERVED_SHARED_BYTES = 1024  # in every block's shared memory since sm_90; ptxas does not count it, the ELF does
# Attributes in .nv.info (EIATTR_...) and how their values are stored (EIFMT_...).
MAX_THREADS, FRAME_SIZE, MIN_STACK_SIZE, REGCOUNT, NUM_BARRIERS = 0x05, 0x11, 0x12, 0x2F, 0x4C
SIZED = 4


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
