"""A text that a compiler has made a library of is not given to it again while the same tests run, in whatever store the
library is wanted: it is copied. The processes of one run of the tests share what they have."""

from __future__ import annotations

import atexit
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import precompiled
from loopwright.devices import emulated_build
from loopwright.toolchain import cc, nvrtc

Run = Callable[[Sequence[str], Path, float], tuple[int | None, str]]
Compile = Callable[[ModuleType, str, Sequence[str]], tuple[bytes, str, str]]

FOLDER = "TESTS_SHARED_BUILDS"
"""The variable with the folder, for the processes that a run of tests is spread over."""
MOST_BYTES = 256 << 20
"""What one process may have there: what it has put in first goes first."""
IN_A_HURRY_S = 10.0
"""Who gives a compiler less time than this asks what happens when it is over."""
OF_NO_MATTER = ("PYTEST", "LOOPWRIGHT_", FOLDER)
"""Variables that no compiler reads begin so."""
SOURCES = (cc.SOURCE, emulated_build.SOURCE)


class Shelf:
    """Files by what they were made of. A file is there as a whole, or not at all; hits: how many were."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._lock = folder, threading.Lock()
        self._sizes: dict[str, int] = {}
        self.hits, self._bytes = 0, 0

    def get(self, key: str) -> bytes | None:
        try:
            found = (self.folder / key).read_bytes()
        except OSError:
            return None
        self.hits += 1
        return found

    def put(self, key: str, content: bytes) -> None:
        """Where there is no room, it is not kept."""
        part = self.folder / f"{key}.{os.getpid()}.{threading.get_ident()}"
        try:
            part.write_bytes(content)
            part.replace(self.folder / key)
        except OSError:
            with suppress(OSError):
                part.unlink()
            return
        with self._lock:
            self._bytes += len(content) - self._sizes.get(key, 0)
            self._sizes[key] = len(content)
            while self._bytes > MOST_BYTES:
                first = next(iter(self._sizes))
                self._bytes -= self._sizes.pop(first)
                (self.folder / first).unlink(missing_ok=True)


class SharedBuilds:
    """`cc.run_compiler`, which makes each library once. Only where a compiler of the system gives nothing else."""

    def __init__(self, run: Run, shelf: Shelf) -> None:
        self.run, self.shelf = run, shelf

    def __call__(self, command: Sequence[str], folder: Path, timeout_s: float) -> tuple[int | None, str]:
        source = next((name for name in SOURCES if name in command), "")
        if "-shared" not in command or not source or timeout_s < IN_A_HURRY_S:
            return self.run(command, folder, timeout_s)
        key = _key(command, folder / source)
        target = folder / command[command.index("-o") + 1]
        if key and (made := self.shelf.get(key)) is not None:
            with suppress(OSError):
                target.write_bytes(made)
                target.chmod(0o755)
                return 0, ""
        before = {*os.listdir(folder)}
        code, output = self.run(command, folder, timeout_s)
        if key and code == 0 and not output and {*os.listdir(folder)} - before == {target.name}:
            self.shelf.put(key, target.read_bytes())
        return code, output


def _key(command: Sequence[str], source: Path) -> str:
    """What a library depends on; '' where a compiler is no part of the system: tests write such, and write them
    anew."""
    compiler = shutil.which(command[0])
    if compiler is None or Path(compiler).is_relative_to(tempfile.gettempdir()):
        return ""
    state = os.stat(compiler)
    around = sorted(item for item in os.environ.items() if not item[0].startswith(OF_NO_MATTER))
    told = tuple(command), compiler, state.st_mtime_ns, state.st_size, around
    try:
        return hashlib.sha256(pickle.dumps(told) + source.read_bytes()).hexdigest()
    except OSError:
        return ""


class SharedCubins:
    """`nvrtc._compiled`, the same."""

    def __init__(self, compiled: Compile, shelf: Shelf) -> None:
        self.compiled, self.shelf = compiled, shelf

    def __call__(self, binding: ModuleType, text: str, flags: Sequence[str]) -> tuple[bytes, str, str]:
        if binding is not sys.modules.get("cuda.bindings.nvrtc"):  # a test's own
            return self.compiled(binding, text, flags)
        key = hashlib.sha256(pickle.dumps((text, tuple(flags)))).hexdigest()
        if (found := self.shelf.get(key)) is not None:
            cubin, log = pickle.loads(found)
            return cubin, log, ""
        cubin, log, trouble = self.compiled(binding, text, flags)
        if not trouble:
            self.shelf.put(key, pickle.dumps((cubin, log)))
        return cubin, log, trouble


def shelf() -> Shelf:
    """That of this run of the tests: its first process makes it, and takes it away."""
    known = os.environ.get(FOLDER)
    if known and Path(known).is_dir():
        return Shelf(Path(known))
    made = tempfile.mkdtemp(prefix="loopwright-builds-")
    os.environ[FOLDER] = made
    atexit.register(_remove, made, os.getpid())
    return Shelf(Path(made))


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not a process that a test has forked
        shutil.rmtree(folder, ignore_errors=True)


def install() -> None:
    """From now on the compilers are asked in this way. (conftest.py may be imported twice.)"""
    if isinstance(cc.run_compiler, SharedBuilds):
        return
    kept, run = shelf(), precompiled.Precompiled(cc.run_compiler)
    cc.run_compiler = emulated_build.run_compiler = SharedBuilds(run, kept)  # type: ignore[assignment]
    nvrtc._compiled = SharedCubins(nvrtc._compiled, kept)
