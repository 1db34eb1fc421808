"""The CPU as a device: loads compiled programs, and says what the machine is."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from loopwright.config import available_cores
from loopwright.devices.base import Executable
from loopwright.errors import CompilerError
from loopwright.ir.program import Program
from loopwright.toolchain.cc import Artifact
from loopwright.toolchain.library import load_library
from loopwright.toolchain.machine import cpu_fields

SYSTEM = Path("/sys/devices/system/cpu")


# How often an idle OpenMP thread looks for work before it sleeps. libgomp's own 300,000 is milliseconds: where
# other programs use the cores too, threads then wait for one another for whole time slices of the system.
PATIENCE = "2000"


def load(artifact: Artifact, program: Program, openmp: Callable[[], object] | None = None) -> Executable:
    """The program's functions in this process. openmp: what loads another libgomp, for a system that has none. Raises
    CompilerError where the library cannot be loaded, and FileNotFoundError where it is not in the store any more."""
    patient_openmp(_openmp_of_the_system, *filter(None, (openmp,)))
    try:
        library = load_library(artifact.path)
        entry = _address(library, program.entry)
        guard = _address(library, program.guard) if program.guard else 0
    except FileNotFoundError:
        raise
    except (OSError, AttributeError) as error:
        raise CompilerError(
            f"the compiled library cannot be loaded: {error}\n  source: {artifact.source_path}"
        ) from error
    return Executable(program, library, entry, guard)


_loaded_openmp: list[object] = []


def _openmp_of_the_system() -> object:
    return ctypes.CDLL("libgomp.so.1")


def patient_openmp(*load_one: Callable[[], object]) -> None:
    """libgomp before anything needs it, with its threads less patient: it reads the environment only when loaded. Of
    several ways to load it the first one that works is taken, once; where none does, nothing happens. What the user has
    set stays."""
    if _loaded_openmp:
        return
    patience = {} if "GOMP_SPINCOUNT" in os.environ or "OMP_WAIT_POLICY" in os.environ else {"GOMP_SPINCOUNT": PATIENCE}
    os.environ.update(patience)
    try:
        for load_it in load_one:
            with contextlib.suppress(OSError):
                _loaded_openmp.append(load_it())
                return
    finally:
        for name in patience:
            del os.environ[name]


def _address(library: ctypes.CDLL, name: str) -> int:
    return ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0


@dataclass(frozen=True, slots=True)
class Cache:
    """level 1 to 4, kind 'Data', 'Instruction' or 'Unified', size and line in bytes, how many CPUs share it."""

    level: int
    kind: str
    size_bytes: int
    line_bytes: int
    shared_by: int


@dataclass(frozen=True, slots=True)
class Cpu:
    """cores: those this process may use. physical_cores: cores with an execution unit of their own, of the whole
    machine (0 where unknown). caches: those of the first usable core. flags: instruction sets."""

    name: str
    cores: int
    physical_cores: int
    caches: tuple[Cache, ...]
    flags: frozenset[str]


def describe_cpu() -> Cpu:
    """What the operating system tells of the CPU; unknown parts are empty or 0."""
    fields = cpu_fields()
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    name = fields.get("model name") or platform.processor() or platform.machine()
    flags = frozenset((fields.get("flags") or fields.get("Features") or "").split())
    return Cpu(name, available_cores(), _physical_cores(), _caches(usable[0]), flags)


def _physical_cores() -> int:
    siblings = {_read(path) for path in SYSTEM.glob("cpu[0-9]*/topology/thread_siblings_list")}
    return len(siblings - {""})


def _caches(core: int) -> tuple[Cache, ...]:
    folders = sorted((SYSTEM / f"cpu{core}" / "cache").glob("index[0-9]*"))
    return tuple(
        Cache(
            level=int(_read(folder / "level") or 0),
            kind=_read(folder / "type"),
            size_bytes=_size(_read(folder / "size")),
            line_bytes=int(_read(folder / "coherency_line_size") or 0),
            shared_by=_count(_read(folder / "shared_cpu_list")),
        )
        for folder in folders
    )


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _size(text: str) -> int:
    """'48K' -> 49152."""
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    if text and text[-1] in units:
        return int(text[:-1]) * units[text[-1]]
    return int(text or 0)


def _count(cpus: str) -> int:
    """'0-3,8' -> 5."""
    ranges = [part.split("-") for part in cpus.split(",") if part]
    return sum(int(ends[-1]) - int(ends[0]) + 1 for ends in ranges)
