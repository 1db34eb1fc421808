"""The launcher: launcher.c built once and kept in the store, or by_ctypes where that cannot be done."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import pkgutil
import sys
import sysconfig
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from loopwright.config import Tools
from loopwright.deferred import deferred
from loopwright.devices.base import Launcher
from loopwright.errors import CompilerError, warn_once
from loopwright.forks import free_in_child
from loopwright.toolchain.cc import Artifact, Compiler, build_with, find_compiler
from loopwright.toolchain.library import made_and_loaded
from loopwright.toolchain.store import opened
from loopwright.toolchain.trust import name_to_load

if TYPE_CHECKING:
    from loopwright.devices import by_ctypes
    from loopwright.toolchain import build_folder
else:
    by_ctypes = deferred("loopwright.devices.by_ctypes")
    build_folder = deferred("loopwright.toolchain.build_folder")

MODULE = "loopwright_launcher"
PARTS = tuple(
    f"launcher{part}.c"
    for part in ("_interrupt", "_constants", "_results", "_entry", "_key", "_lists", "_structures", "_outside", "")
)
"""One text, in this order."""
Kind = Literal["extension", "ctypes"]


@dataclass(frozen=True, slots=True)
class Loaded:
    """kind: which of the two; reason: why not the extension, '' where it is."""

    launcher: Launcher
    kind: Kind
    reason: str


_loading = free_in_child(threading.Lock())
_loaded: Loaded | None = None
_limited = False


def load_launcher(config: Tools, meanwhile: Callable[[], object] = int) -> Loaded:
    """The launcher of this process; the first call makes it. meanwhile: called in a thread of its own while a compiler
    makes it, and not where it is in the store."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = _made(config, meanwhile)
            _watch_forks(_loaded.launcher)
        return _loaded


def most_threads() -> int:
    """How many threads kernels use at most in this process, whatever they are allowed: one where it was forked from a
    process that had started threads for kernels."""
    return 1 if _limited else sys.maxsize


def launcher_kind(config: Tools) -> tuple[Kind, str]:
    """How compiled code is called here, and the reason where it is not through the extension."""
    loaded = load_launcher(config)
    return loaded.kind, loaded.reason


def _made(config: Tools, meanwhile: Callable[[], object]) -> Loaded:
    fallback = cast(Launcher, by_ctypes)
    with suppress(ImportError, OSError):
        if config.built_folder is not None and (path := build_folder.launcher_in_force(config)) is not None:
            return Loaded(_imported(path), "extension", "")
    compiler = find_compiler(config)
    if compiler is None:
        return Loaded(fallback, "ctypes", "no C compiler")
    try:
        make = partial(make_launcher, compiler, config, meanwhile)
        _, launcher = made_and_loaded(make, lambda artifact: _imported(artifact.path))
        return Loaded(launcher, "extension", "")
    except (CompilerError, ImportError, OSError) as error:
        return Loaded(fallback, "ctypes", str(error))


def make_launcher(compiler: Compiler, config: Tools, meanwhile: Callable[[], object] = int) -> Artifact:
    """The library, from the store where it is there. Raises CompilerError."""
    salt = (sys.version, sys.base_prefix, *importlib.machinery.EXTENSION_SUFFIXES, np.__version__)
    return build_with(compiler, _source(), (), config, salt, partial(_when_making, meanwhile))


def _source() -> str:
    return "".join((pkgutil.get_data(__package__, part) or b"").decode() for part in PARTS)


def _when_making(meanwhile: Callable[[], object]) -> tuple[str, ...]:
    """The flags, which are asked for only where the compiler is about to run: for most of a second."""
    flags = _header_flags()
    threading.Thread(target=meanwhile, daemon=True).start()
    return flags


def _header_flags() -> tuple[str, ...]:
    """To ask Python where its headers are takes milliseconds, so that is done only where the launcher is made."""
    if reason := missing_headers():
        raise CompilerError(reason)
    return tuple(f"-I{folder}" for folder in header_folders())


def header_folders() -> tuple[Path, ...]:
    """Where Python's and NumPy's C headers should be."""
    paths = sysconfig.get_paths()
    python = dict.fromkeys(Path(paths[name]) for name in ("include", "platinclude"))
    return (*python, Path(np.get_include()))


def missing_headers() -> str:
    """Which C headers are missing, with what to install; '' where none is."""
    folders = header_folders()
    if not any((folder / "Python.h").is_file() for folder in folders):
        return "Python.h is missing (apt install python3-dev)"
    if not any((folder / "numpy" / "arrayobject.h").is_file() for folder in folders):
        return "NumPy's C headers are missing"
    return ""


def _imported(path: Path) -> Launcher:
    with opened(path) as descriptor:
        loader = importlib.machinery.ExtensionFileLoader(MODULE, name_to_load(descriptor, str(path)))
        spec = importlib.util.spec_from_loader(MODULE, loader)
        assert spec is not None
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    module.__file__ = spec.origin = str(path)  # for people
    return cast(Launcher, module)


def _watch_forks(launcher: Launcher) -> None:
    """libgomp's threads do not survive a fork, and the child would wait for them for ever: it gets one thread."""

    def in_child() -> None:
        global _limited
        if launcher.pool_started():
            launcher.limit_threads(1)
            _limited = True

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=in_child)
    launcher.on_limited(_say_limited)


def _say_limited() -> None:
    warn_once(
        "fork",
        "this process was forked from one that had already run a kernel on several threads: kernels use one thread "
        "here. To use more, start processes with multiprocessing's 'spawn' or 'forkserver'",
    )
