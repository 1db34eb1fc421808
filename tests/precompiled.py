"""What all generated texts begin with is compiled once in a process that runs tests, and not with every text: the
compiler takes a sixth of its time for it. The code that comes out is the same. So is the machinery of the emulated
device, which is a third of what a small text for it takes. And gold, where it is there, is the linker, which reads
libraries in half the time; the C library, which every process has, is not read at all. It is called by name where a
header is there: what compilers do around it takes twice as long as the linker, and that of C++ reads its library."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from loopwright.codegen.openmp import HEADER
from loopwright.devices import emulated_build
from loopwright.toolchain import cc


def _links(*flags: str) -> bool:
    """Whether compilers can make libraries in this way: a linker that is no part of the system may not find its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "some.cpp").write_text("int some() { return 1; }\n")
        command = ("g++", "-shared", "-fPIC", *flags, "-o", "some.so", "some.cpp")
        try:
            return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
        except OSError:
            return False


UNKNOWN_TO_GOLD = cc.FEW_SEGMENTS[1]
LINKER = ("-fuse-ld=gold",) if shutil.which("ld.gold") and _links("-fuse-ld=gold") else ()
WITHOUT_LIBC = ("-nostdlib", "-lgomp", "-lm", "-lgcc")
"""In place of the libraries that a C program is linked with otherwise, and of what runs at its beginning and end."""
LIBRARIES = WITHOUT_LIBC if LINKER and _links(*LINKER, *WITHOUT_LIBC) else ()
Run = Callable[[Sequence[str], Path, float], tuple[int | None, str]]

NEEDS_LIBC = ("-fsanitize", "-static", "-nost", "-nodefaultlibs", "-shared-lib")
"""Flags that say something about libraries begin so."""
ABOUT_LINKING = ("-l", "-nostdlib", "-Wl,", "-fuse-ld=")
"""So do those that compilers without a linker have no use for."""
AS_USUAL = frozenset({"-lm", "-lgomp", "-lgcc", "-nostdlib", "-Wl,--as-needed", cc.FEW_SEGMENTS[0], *LINKER})
"""Of these, those that say no more than how everything is linked here."""
NOT_ALONE = (*NEEDS_LIBC, "-flto", "-fprofile", "--coverage", "-L")
"""Flags begin so with which compilers have to call the linker themselves."""


def _libraries() -> tuple[str, ...]:
    """Where the linker finds what generated C is linked with: OpenMP's, the mathematical one, gcc's own; () where it is
    not known."""
    try:
        asked = [("cc", f"-print-file-name={name}") for name in ("libgomp.so", "libm.so", "libgcc.a")]
        said = [subprocess.run(one, capture_output=True, check=False, text=True).stdout.strip() for one in asked]
    except OSError:
        return ()
    return tuple(said) if all(map(os.path.isabs, said)) else ()


FOUND = _libraries() if LIBRARIES else ()
LINK = ("ld.gold", "-shared", "--eh-frame-hdr", "--hash-style=gnu", "-z", "norelro", "-o", cc.LIBRARY)
OFTEN = 5
"""How many texts have been compiled in the same way before it pays."""
SHORTER = "rest"
APART = """#define LW_NAMESPACE lw_apart __attribute__((visibility("hidden")))
namespace LW_NAMESPACE {}
using namespace lw_apart;
"""
"""What the device's headers begin with where their machinery is linked."""


@dataclass(frozen=True)
class Beginning:
    """What all texts begin with, and what the header has for it; gcc's name for such a header, how the names of the
    header's file and of a file with the rest end, and a text that is linked with every rest, if any."""

    text: str
    header: str
    language: str
    ending: str
    rest: str
    linked: str = ""


BEGINNINGS = {
    cc.SOURCE: Beginning(HEADER, HEADER, "c-header", ".h", ".c"),
    emulated_build.SOURCE: Beginning(
        emulated_build.beginning(), f"{APART}{emulated_build.headers(emulated_build.HEADERS)}\n", "c++-header",
        ".hpp", ".cpp",
        f"{APART}{emulated_build.headers((*emulated_build.HEADERS, emulated_build.MACHINERY))}\n",
    ),
}  # fmt: skip
"""By the name of the file with the text."""


@dataclass(frozen=True)
class Header:
    """A header that is compiled, and what is linked with the texts that begin with it."""

    path: Path
    linked: tuple[Path, ...] = ()

    def is_there(self) -> bool:
        return all(path.is_file() for path in (self.path, *self.linked))


class Precompiled:
    """`cc.run_compiler` with such headers. Where one cannot be made, or gcc does not take it, all of the text is
    compiled."""

    def __init__(self, run: Run) -> None:
        self._run, self._lock = run, threading.Lock()
        self._headers: dict[tuple[str, ...], Header | None] = {}
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
            if source == cc.SOURCE and not any(word.startswith(NEEDS_LIBC) for word in command):
                command += LIBRARIES
        text, beginning = path.read_text(), BEGINNINGS[source]
        header = self._header(source, tuple(command), timeout_s) if text.startswith(beginning.text) else None
        if header is None or not header.is_there():
            return self._run(command, folder, timeout_s)
        rest = path.with_name(f"{SHORTER}{beginning.rest}")
        line = beginning.text.count("\n") + 1
        rest.write_text(f'#include "{header.path}"\n#line {line} "{source}"\n{text.removeprefix(beginning.text)}')
        given = {source: (rest.name, *map(str, header.linked))}
        try:
            if FOUND and (done := self._in_two_steps(command, rest, header.linked, folder, timeout_s)) is not None:
                return done
            return self._run([new for word in command for new in given.get(word, (word,))], folder, timeout_s)
        finally:
            rest.unlink(missing_ok=True)

    def _in_two_steps(
        self, command: Sequence[str], rest: Path, linked: Sequence[Path], folder: Path, timeout_s: float
    ) -> tuple[int | None, str] | None:
        """What the compiler alone says, and the linker by itself; None where it cannot be done so."""
        about_linking = [word for word in command if word.startswith(ABOUT_LINKING)]
        others = [word for word in command if not word.startswith(ABOUT_LINKING)]
        if not AS_USUAL.issuperset(about_linking) or any(word.startswith(NOT_ALONE) for word in others):
            return None
        made = rest.with_suffix(".o")
        given = {cc.SOURCE: rest.name, emulated_build.SOURCE: rest.name, "-shared": "-c", cc.LIBRARY: made.name}
        try:
            said = self._run([given.get(word, word) for word in others], folder, timeout_s)
            if said != (0, ""):
                return None if said[0] == 0 else said
            openmp, *libraries = FOUND
            libraries += [openmp] if "-fopenmp" in others else []
            said = self._run((*LINK, made.name, *map(str, linked), *libraries), folder, timeout_s)
            return said if said == (0, "") else None
        finally:
            made.unlink(missing_ok=True)

    def _header(self, source: str, command: tuple[str, ...], timeout_s: float) -> Header | None:
        """The header for texts that are compiled in this way; None as long as they are few, and where it failed."""
        with self._lock:
            self._seen[command] += 1
            if command not in self._headers and self._seen[command] > OFTEN:
                self._headers[command] = self._made(BEGINNINGS[source], source, command, timeout_s)
            return self._headers.get(command)

    def _made(self, beginning: Beginning, source: str, command: tuple[str, ...], timeout_s: float) -> Header | None:
        header = self.folder / f"{len(self._headers)}{beginning.ending}"
        header.write_text(beginning.header)
        at = command.index("-o")
        flags = [word for word in (*command[:at], *command[at + 2 :]) if word not in (source, "-shared")]
        flags = [word for word in flags if not word.startswith(ABOUT_LINKING)]
        made = [(*flags, "-x", beginning.language, header.name, "-o", f"{header.name}.gch")]
        linked = [header.with_suffix(".o")] if beginning.linked else []
        for target in linked:
            text = target.with_suffix(beginning.rest)
            text.write_text(beginning.linked)
            made.append(
                (*(word for word in flags if not word.startswith("-O")), "-O2", "-c", text.name, "-o", target.name)
            )
        done = all(self._run(one, self.folder, timeout_s)[0] == 0 for one in made)
        return Header(header, tuple(linked)) if done else None
