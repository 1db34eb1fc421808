"""`loopwright devices`: what there is to run on, how code gets there, and what is missing for more."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.table import Table
from rich.text import Text

from loopwright.cli.config import shown
from loopwright.config import Config
from loopwright.devices.cpu import Cache, Cpu, describe_cpu
from loopwright.devices.cuda import find_gpus
from loopwright.devices.cuda import why_none as why_none_cuda
from loopwright.devices.launcher import launcher_kind
from loopwright.report.words import count
from loopwright.toolchain.cc import Compiler, find_compiler, why_none
from loopwright.toolchain.store import why_unusable

_OPTIONS = ("device", "threads", "strict", "checks")
_SIMD = ("avx512f", "avx2", "avx", "sse4_2", "sve", "asimd")


@dataclass(frozen=True, slots=True)
class Row:
    """One line: `missing` says what to do about it where something is."""

    name: str
    value: str
    missing: str = ""


def device_rows(config: Config) -> list[Row]:
    """Everything that `loopwright devices` prints, top to bottom."""
    cpu = describe_cpu()
    compiler = find_compiler(config)
    return [
        Row("CPU", cpu.name or "unknown"),
        Row("cores", _cores(cpu)),
        Row("vector instructions", next((name for name in _SIMD if name in cpu.flags), "unknown")),
        *_caches(cpu.caches),
        *_compiler(compiler, config),
        _launcher(config),
        *_gpus(),
        Row("runs on", _runs_on(config, compiler)),
        Row("options", " ".join(f"{name}={shown(getattr(config, name))}" for name in _OPTIONS)),
        Row("cache folder", _folder(config.cache), why_unusable(config.cache)),
        Row(
            "versions",
            f"Loopwright {version('loopwright')}, Python {platform.python_version()}, NumPy {np.__version__}, "
            f"islpy {version('islpy')}",
        ),
        Row("system", platform.platform()),
    ]


def device_table(rows: list[Row]) -> Table:
    """Two columns; what is missing stands below what it is missing from."""
    table = Table(box=None, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for row in rows:
        table.add_row(row.name, row.value)
        if row.missing:
            table.add_row("", Text(row.missing, style="yellow"))
    return table


def _cores(cpu: Cpu) -> str:
    physical = f" of {cpu.physical_cores} physical" if cpu.physical_cores else ""
    return f"{cpu.cores} usable{physical}"


def _caches(caches: tuple[Cache, ...]) -> list[Row]:
    return [
        Row(
            f"L{cache.level} cache",
            f"{size_text(cache.size_bytes)}, lines of {cache.line_bytes} bytes, shared by {cache.shared_by}",
        )
        for cache in caches
        if cache.kind != "Instruction"
    ]


def _compiler(compiler: Compiler | None, config: Config) -> list[Row]:
    if compiler is None:
        return [Row("C compiler", "none", why_none(config))]
    openmp = Row("OpenMP", " ".join(compiler.openmp))
    if not compiler.openmp:
        openmp = Row("OpenMP", "none", "kernels run on one thread: install gcc, or OpenMP for this compiler")
    tuning = Row("tuned for this CPU", " ".join(compiler.tuning) or "no")
    return [Row("C compiler", f"{compiler.version} ({' '.join(compiler.command)})"), openmp, tuning]


def _launcher(config: Config) -> Row:
    kind, reason = launcher_kind(config)
    if kind == "extension":
        return Row("launcher", "C extension")
    return Row("launcher", "ctypes", f"a call costs some tens of microseconds more: {reason}")


def _gpus() -> list[Row]:
    found = find_gpus()
    if not found:
        return [Row("GPU", "none", why_none_cuda())]
    rows = []
    for gpu in found:
        limits = gpu.limits
        major, minor = limits.capability
        what = f"{gpu.name}, compute capability {major}.{minor}, {limits.multiprocessors} multiprocessors, "
        what += f"{size_text(limits.memory_bytes)}, {size_text(limits.l2_bytes)} of L2 cache, "
        rows.append(Row("GPU", what + f"{size_text(limits.shared_per_block_most)} shared memory a block"))
    return rows


def _runs_on(config: Config, compiler: Compiler | None) -> str:
    if config.device == "interpreter":
        return "interpreter (option device)"
    return "cpu" if compiler is not None else "interpreter, because there is no C compiler"


def _folder(path: Path) -> str:
    if not path.is_dir():
        return f"{path} (not made yet)"
    sizes: list[int] = []
    for folder, _, files in os.walk(path):  # other processes make and remove files meanwhile
        for name in files:
            with suppress(OSError):
                sizes.append(os.stat(os.path.join(folder, name)).st_size)
    return f"{path} ({size_text(sum(sizes))} in {count(len(sizes), 'file')})"


def size_text(size_bytes: int) -> str:
    """`48 KiB`."""
    size = float(size_bytes)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if size >= 10 or size == int(size) else f"{size:.1f} {unit}"
