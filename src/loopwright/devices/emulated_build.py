"""Compile device text for the emulated device: the C++ compiler is found, the headers go in front, the library is kept
in the store."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from loopwright.config import Tools
from loopwright.errors import CompilerError
from loopwright.ir.gpu_target import CUDA
from loopwright.ir.program import DeviceText
from loopwright.toolchain.cc import Compiler, find_compiler, raise_if_full, run_compiler, why_none
from loopwright.toolchain.machine import cpu_fingerprint
from loopwright.toolchain.store import keep_aside, key_of, obtain

ABI = "1"  # of lw_emulated_run: raise it when its structures change
SOURCE, LIBRARY = "kernel.cpp", "kernel.so"
FLAGS = (
    "-std=gnu++17", "-O1", "-fPIC", "-shared", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno",
    "-fno-trapping-math", "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-w",
)  # fmt: skip
HEADERS = tuple(
    Path(__file__).parent / name
    for name in ("emulated.h", "emulated_memory.h", "../codegen/loopwright.cuh", "emulated_launch.h")
)
MACHINERY = Path(__file__).parent / "emulated_machinery.h"
ENTRY = "lw_emulated_run"
VERSION_TIMEOUT_S = 30.0
TAIL_LINES = 40


def find_cxx(config: Tools) -> tuple[str, ...]:
    """The command of the C++ compiler: $LOOPWRIGHT_CXX, else the C compiler's sister. Raises CompilerError."""
    named = os.environ.get("LOOPWRIGHT_CXX", "").strip()
    words = shlex.split(named) if named else list(_sister(_c_compiler(config)))
    path = shutil.which(words[0]) if words else None
    if path is None:
        install = "xcode-select --install" if sys.platform == "darwin" else "apt install g++ (or dnf install gcc-c++)"
        raise CompilerError(
            f"the emulated GPU needs a C++ compiler, and {shlex.join(words)} was not found\n"
            f"  try: {install}, or name one in LOOPWRIGHT_CXX"
        )
    return (path, *words[1:])


def _c_compiler(config: Tools) -> Compiler:
    compiler = find_compiler(config)
    if compiler is None:
        raise CompilerError(why_none(config))
    return compiler


def _sister(compiler: Compiler) -> tuple[str, ...]:
    path, *rest = compiler.command
    folder, name = os.path.split(path)
    for c, cxx in (("clang", "clang++"), ("gcc", "g++"), ("cc", "c++")):
        if c in name:
            return (os.path.join(folder, name.replace(c, cxx)), *rest)
    return (path, *rest)


@functools.cache
def _version(command: tuple[str, ...]) -> str:
    return run_compiler((*command, "--version"), Path("/"), VERSION_TIMEOUT_S)[1]


def build_emulated(text: DeviceText, config: Tools, warp: int = CUDA.warp) -> Path:
    """The shared library of a device text behind the emulation of a GPU with so many threads in a warp, made or from
    the cache. Raises CompilerError."""
    cxx = find_cxx(config)
    tuning = _c_compiler(config).tuning
    linking = ("-lm",) if sys.platform == "darwin" else ("-Wl,--as-needed", "-lm")
    options = ["-ffp-contract=off" if text.strict else "-ffp-contract=fast"]
    options += [f"-DLW_WARP={warp}"] if warp != CUDA.warp else []
    command = (*cxx, *FLAGS, *options, *tuning, "-o", LIBRARY, SOURCE, *linking)
    source = _complete(text)
    key = key_of((ABI, "emulated", source, "\0".join(command), _version(cxx), cpu_fingerprint()))
    make = partial(_make_library, source, command, config, key)
    try:
        stored = obtain(config.cache, key, make, config.compile_timeout_s + 30, config.cache_size)
    except OSError as error:
        raise CompilerError(f"no folder for compiled code can be written ({error})") from error
    return stored.folder / LIBRARY


def _make_library(source: str, command: tuple[str, ...], config: Tools, key: str, folder: Path) -> None:
    (folder / SOURCE).write_text(source)
    code, output = run_compiler(command, folder, config.compile_timeout_s)
    if code == 0 and (folder / LIBRARY).is_file():
        return
    raise_if_full(folder, output)
    kept = keep_aside(config.cache, f"{key[:16]}.cpp", source)
    what = f"stopped after {config.compile_timeout_s:g} s" if code is None else f"ended with code {code}"
    lines = output.splitlines()
    tail = "\n".join("  " + line for line in lines[:TAIL_LINES])
    raise CompilerError(
        f"the C++ compiler of the emulated GPU {what}\n  command: {shlex.join(command)}\n"
        f"  source: {kept or 'could not be kept'}\n{tail}"
    )


def _complete(text: DeviceText) -> str:
    """Headers, text and the table of kernels."""
    names, entries = [], []
    functions = {entry.name: function for function in text.functions for entry in function.entries}
    for number, kernel in enumerate(text.kernels):
        parameters = ", ".join(f'"{name}"' for name, _ in functions[kernel].parameters)
        names.append(f"const char *const lw_names_{number}[] = {{{parameters or 'nullptr'}}};")
        entry = f"lw_emulated::entry<{kernel}>"
        entries.append(f"  {{{entry}::fill, {entry}::call, lw_names_{number}}},")
    return "\n".join(
        (
            beginning(),
            '#line 1 "device text"',
            text.text,
            '#line 1 "kernels"',
            "namespace {",
            *names,
            "const lw_emulated::kernel lw_kernels[] = {",
            *(entries or ["  {nullptr, nullptr, nullptr},"]),
            "};",
            "}  // namespace",
            f'extern "C" __attribute__((visibility("default"))) void {ENTRY}(lw_emulated::launch *launch) {{',
            "  lw_emulated::run(*launch, lw_kernels[launch->kernel]);",
            "}\n",
        )
    )


@functools.cache
def beginning() -> str:
    """What every text begins with."""
    return headers((*HEADERS, MACHINERY))


def headers(paths: Iterable[Path]) -> str:
    """These files, one after the other."""
    return "\n".join(f'#line 1 "{path.name}"\n{path.read_text()}' for path in paths)
