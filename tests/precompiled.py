"""What all generated texts begin with is compiled once in a process that runs tests, and not with every text: the
compiler takes a sixth of its time for it. The code that comes out is the same. And gold, where it is there, is the
linker, which has read the C library in half the time."""

from __future__ import annotations

import atexit
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from loopwright.codegen.openmp import HEADER
from loopwright.devices import emulated_build
from loopwright.toolchain import cc


def _links(flag: str) -> bool:
    """Whether compilers can make libraries with this linker: one that is no part of the system may not find its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "some.cpp").write_text("int some() { return 1; }\n")
        command = ("g++", "-shared", "-fPIC", flag, "-o", "some.so", "some.cpp")
        try:
            return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
        except OSError:
            return False


UNKNOWN_TO_GOLD = cc.FEW_SEGMENTS[1]
LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") and _links("-fuse-ld=gold") else ()
Run = Callable[[Sequence[str], Path, float], tuple[int | None, str]]

OFTEN = 5
"""How many texts have been compiled in the same way before it pays."""
SHORTER = "rest"
BEGINNINGS = {
    cc.SOURCE: (HEADER, "c-header", ".h", ".c"),
    emulated_build.SOURCE: (emulated_build.beginning(), "c++-header", ".hpp", ".cpp"),
}
"""By the name of the file with the text: what it begins with, gcc's name for such a header, and how the names of the
header's file and of a file with the rest end."""


class Precompiled:
    """`cc.run_compiler` with such headers. Where one cannot be made, or gcc does not take it, all of the text is
    compiled."""

    def __init__(self, run: Run) -> None:
        self._run, self._lock = run, threading.Lock()
        self._headers: dict[tuple[str, ...], Path | None] = {}
        self._seen: Counter[tuple[str, ...]] = Counter()

    @cached_property
    def folder(self) -> Path:
        """Where the headers are, some megabytes each, while this process runs."""
        made = Path(tempfile.mkdtemp(prefix="loopwright-headers-"))
        atexit.register(shutil.rmtree, made, ignore_errors=True)
        return made

    def __call__(self, command: Sequence[str], folder: Path, timeout_s: float) -> tuple[int | None, str]:
        source = next((name for name in BEGINNINGS if name in command), "")
        path = folder / source
        if "-shared" not in command or not source or not path.is_file():
            return self._run(command, folder, timeout_s)
        if LINKER:
            command = (*(word for word in command if word != UNKNOWN_TO_GOLD), *LINKER)
        text, (beginning, _, _, ending) = path.read_text(), BEGINNINGS[source]
        header = self._header(source, tuple(command), timeout_s) if text.startswith(beginning) else None
        if header is None or not header.is_file():
            return self._run(command, folder, timeout_s)
        rest = path.with_name(f"{SHORTER}{ending}")
        line = beginning.count("\n") + 1
        rest.write_text(f'#include "{header}"\n#line {line} "{source}"\n{text.removeprefix(beginning)}')
        try:
            return self._run([rest.name if word == source else word for word in command], folder, timeout_s)
        finally:
            rest.unlink(missing_ok=True)

    def _header(self, source: str, command: tuple[str, ...], timeout_s: float) -> Path | None:
        """The header for texts that are compiled in this way; None as long as they are few, and where it failed."""
        with self._lock:
            self._seen[command] += 1
            if command not in self._headers and self._seen[command] > OFTEN:
                self._headers[command] = self._made(source, command, timeout_s)
            return self._headers.get(command)

    def _made(self, source: str, command: tuple[str, ...], timeout_s: float) -> Path | None:
        beginning, language, ending, _ = BEGINNINGS[source]
        header = self.folder / f"{len(self._headers)}{ending}"
        header.write_text(beginning)
        at = command.index("-o")
        flags = [word for word in (*command[:at], *command[at + 2 :]) if word not in (source, "-shared")]
        flags = [word for word in flags if not word.startswith(("-l", "-Wl,", "-fuse-ld="))]
        code, _ = self._run((*flags, "-x", language, header.name, "-o", f"{header.name}.gch"), self.folder, timeout_s)
        return header if code == 0 else None
