"""NVRTC, CUDA's compiler as a library: finding it, and turning CUDA text into a cubin in the store. That needs no GPU
and no driver.

It is an optional dependency, imported when the first text is compiled. Where it is missing that is an answer (None, and
`why_none` says what to install), not an error; a text that it refuses is a CompilerError. It compiles in this process:
without the GIL, in several threads at once, and it cannot be stopped half-way.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from loopwright.config import Tools
from loopwright.errors import CompilerError, is_of_a_handler
from loopwright.ir.program import DeviceText
from loopwright.toolchain.cubin import KernelResources, kernel_resources
from loopwright.toolchain.store import keep_aside, key_of, obtain

ABI = "1"  # of the way the store is filled: raise it when that changes
SOURCE, CUBIN, LOG = "kernel.cu", "kernel.cubin", "kernel.log"
BASE_FLAGS = ("--std=c++17", "--disable-warnings", "--ptxas-options=-v")
MOST_LINES = 40
INSTALL = 'pip install "loopwright[cuda]"'
ON_THE_CPU = "run it on the CPU: LOOPWRIGHT_DEVICE=cpu"
ARCHITECTURE = re.compile(r"sm_(\d+)[af]?")


@dataclass(frozen=True, slots=True)
class Nvrtc:
    """An NVRTC that works here. version: (13, 0), say. architectures: what it makes code for, ascending: 90 for compute
    capability 9.0. identity: differs between ones whose output may differ."""

    version: tuple[int, int]
    architectures: tuple[int, ...]
    identity: str
    binding: ModuleType


@dataclass(frozen=True, slots=True)
class CubinArtifact:
    """A cubin at `path` for `architecture`, made from `source_path` in `seconds` (0.0 where it came from the cache).
    log_path: what NVRTC and ptxas said. cubin: what is at `path`, as it was checked. kernels: what each kernel of the
    text needs, by name."""

    path: Path
    source_path: Path
    log_path: Path
    architecture: str
    seconds: float
    from_cache: bool
    cubin: bytes = field(repr=False)
    kernels: Mapping[str, KernelResources]


def find_nvrtc() -> Nvrtc | None:
    """NVRTC, loaded; looked for once per process."""
    found = _search()
    return found if isinstance(found, Nvrtc) else None


def why_none() -> str:
    """What is missing and what to install, for people, where `find_nvrtc` gives None."""
    return f"no working NVRTC was found ({_search()}): nothing can be compiled for a GPU. To install it: {INSTALL}"


def architecture_for(capability: tuple[int, int], found: Nvrtc) -> str:
    """The newest architecture that NVRTC makes code for and that a GPU of this compute capability runs: one of the same
    major number and no higher minor number (CUDA C++ Programming Guide, "Binary Compatibility"). (9, 0) -> "sm_90".

    Raises CompilerError where there is none."""
    major, minor = capability
    fitting = [number for number in found.architectures if number // 10 == major and number % 10 <= minor]
    if fitting:
        return f"sm_{max(fitting)}"
    raise _unsupported(f"compute capability {major}.{minor}", major * 10 + minor, found)


def build(text: DeviceText, architecture: str | tuple[int, int], config: Tools, lines: bool = False) -> CubinArtifact:
    """Compile CUDA text into a cubin, or take it from the cache.

    architecture: what to make code for, "sm_90" say, or the compute capability of a GPU, (9, 0) say (see
    `architecture_for`). lines: the cubin also tells for which line each instruction was made; the instructions are the
    same. Raises CompilerError where there is no NVRTC, where it cannot make such code or refuses the text, where one of
    `text.kernels` is not in the result, or nothing can be written anywhere."""
    found = find_nvrtc()
    if found is None:
        raise CompilerError(why_none())
    target = _checked(architecture, found) if isinstance(architecture, str) else architecture_for(architecture, found)
    fused = "false" if text.strict else "true"
    flags: tuple[str, ...] = (f"--gpu-architecture={target}", *BASE_FLAGS, f"--fmad={fused}")
    flags += ("--generate-line-info",) if lines else ()
    key = key_of((ABI, "cubin", text.text, "\0".join(flags), found.identity))
    started = time.perf_counter()
    make = partial(_make_cubin, found, text.text, flags, config, key)
    try:
        stored = obtain(config.cache, key, make, config.compile_timeout_s + 30, config.cache_size)
    except OSError as error:
        if is_of_a_handler(error):
            raise
        raise CompilerError(
            f"no folder for compiled code can be written ({error})\n  try: set LOOPWRIGHT_CACHE"
        ) from error
    seconds = 0.0 if stored.from_cache else time.perf_counter() - started
    source = stored.folder / SOURCE
    cubin, log = stored.contents[CUBIN], stored.contents[LOG].decode()
    return CubinArtifact(
        path=stored.folder / CUBIN,
        source_path=source,
        log_path=stored.folder / LOG,
        architecture=target,
        seconds=seconds,
        from_cache=stored.from_cache,
        cubin=cubin,
        kernels=_of_text(text, kernel_resources(cubin, log), source),
    )


def _of_text(text: DeviceText, kernels: Mapping[str, KernelResources], source: Path) -> Mapping[str, KernelResources]:
    missing = [name for name in text.kernels if name not in kernels]
    if missing:
        raise CompilerError(
            f"CUDA text has no kernel '{missing[0]}': it has {', '.join(kernels) or 'none'}\n  source: {source}\n"
            '  try: declare it extern "C" __global__'
        )
    return {name: kernels[name] for name in text.kernels}


# ---- compiling --------------------------------------------------------------------------------------------------


def _make_cubin(found: Nvrtc, text: str, flags: Sequence[str], config: Tools, key: str, folder: Path) -> None:
    cubin, log, trouble = _compiled(found.binding, text, flags)
    if trouble:
        kept = keep_aside(config.cache, f"{key[:16]}.cu", text)
        shown = "\n".join("  " + line for line in log.splitlines()[:MOST_LINES])  # the first error is the one to mend
        raise CompilerError(
            f"NVRTC {_dotted(found.version)} refuses CUDA text: {trouble}\n  flags: {' '.join(flags)}\n"
            f"  source: {kept or 'could not be kept'}\n{shown}\n  try: {ON_THE_CPU}"
        )
    (folder / SOURCE).write_text(text, encoding="utf-8")
    (folder / CUBIN).write_bytes(cubin)
    (folder / LOG).write_text(log + "\n", encoding="utf-8")


def _compiled(binding: ModuleType, text: str, flags: Sequence[str]) -> tuple[bytes, str, str]:
    """The cubin, the log, and what the trouble is, or ''."""
    code, program = binding.nvrtcCreateProgram(text.encode(), SOURCE.encode(), 0, None, None)
    if code != 0:
        return b"", "", _said(binding, code)
    try:
        (code,) = binding.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
        log = _content(binding, "ProgramLog", program).decode(errors="replace").rstrip("\0\n ")
        if code != 0:
            return b"", log, _said(binding, code)
        cubin = _content(binding, "CUBIN", program)
        return cubin, log, "" if cubin else "it gives no cubin"
    finally:
        binding.nvrtcDestroyProgram(program)


def _content(binding: ModuleType, name: str, program: Any) -> bytes:
    """What nvrtcGet<name> gives; nothing where it fails."""
    code, size = getattr(binding, f"nvrtcGet{name}Size")(program)
    content = bytes(size if code == 0 else 0)
    if content:
        (code,) = getattr(binding, f"nvrtcGet{name}")(program, content)  # it writes into the bytes
    return content if code == 0 else b""


def _said(binding: ModuleType, code: Any) -> str:
    _, words = binding.nvrtcGetErrorString(code)
    return str(words.decode(errors="replace"))


# ---- finding ----------------------------------------------------------------------------------------------------


@cache
def _search() -> Nvrtc | str:
    """NVRTC, or why it cannot be used."""
    try:
        binding = import_module("cuda.bindings.nvrtc")
        failed, major, minor = binding.nvrtcVersion()  # loads the library
        if failed != 0:
            return f"it does not tell its version: {_said(binding, failed)}"
        failed, numbers = binding.nvrtcGetSupportedArchs()
        if failed != 0:
            return f"it does not tell for what it makes code: {_said(binding, failed)}"
        identity = _identity((major, minor))
    except (
        Exception
    ) as error:  # the binding raises classes of its own where it finds no library, or one that is too old
        lines = str(error).strip().splitlines()
        return lines[0] if lines else type(error).__name__
    return Nvrtc((major, minor), tuple(sorted(numbers)), identity, binding)


def _identity(version: tuple[int, int]) -> str:
    """NVRTC tells two of the three parts of its version (13.0 of 13.0.88): the library's file tells builds apart."""
    path = import_module("cuda.pathfinder").load_nvidia_dynamic_lib("nvrtc").abs_path
    told = os.stat(path) if path else None
    return key_of((_dotted(version), *((str(told.st_size), str(told.st_mtime_ns)) if told else ())))


def _checked(architecture: str, found: Nvrtc) -> str:
    match = ARCHITECTURE.fullmatch(architecture)
    if match is None:
        raise CompilerError(f"'{architecture}' is not the name of a GPU architecture\n  try: sm_90, say")
    if int(match[1]) not in found.architectures:
        raise _unsupported(architecture, int(match[1]), found)
    return architecture


def _unsupported(what: str, number: int, found: Nvrtc) -> CompilerError:
    known = ", ".join(f"{number // 10}.{number % 10}" for number in found.architectures)
    newer = number > max(found.architectures, default=0)
    remedy = f"a newer NVRTC, or {ON_THE_CPU}" if newer else ON_THE_CPU
    return CompilerError(
        f"NVRTC {_dotted(found.version)} makes no code for {what}\n  it knows compute capabilities {known}\n"
        f"  try: {remedy}"
    )


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
