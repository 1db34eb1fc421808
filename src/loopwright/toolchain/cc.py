"""The C compiler: finding it, learning once what it can do, and turning a text into a shared library in the store.

It never looks into the text. A compiler that is missing or does not work is an answer (None, and `why_none` says
what to install), not an error; a text that a working compiler refuses is a CompilerError.
"""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from loopwright.config import Tools
from loopwright.errors import CompilerError, is_of_a_handler, warn_once
from loopwright.forks import NO_FORK
from loopwright.toolchain.machine import cpu_fingerprint
from loopwright.toolchain.store import find, keep, keep_aside, key_of, obtain

ABI = "1"  # of lw_call and the way the store is filled: raise it when either changes
SOURCE, LIBRARY, VERSION = "kernel.c", "kernel.so", "version.txt"
COMPILER_NAME = re.compile(r"(.+-)?(gcc|clang)(-[0-9.]+)?")
BASE_FLAGS = (
    "-O3", "-fPIC", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math", "-std=gnu11", "-w",
)  # fmt: skip
X86 = platform.machine().lower() in ("x86_64", "amd64", "i686")
LOOPS = "--param=ira-max-loops-num=10000"
"""gcc shares out registers loop by loop only in functions of up to a hundred loops; in larger ones innermost loops read
their pointers from the stack."""
ONE_COPY = "-fno-ipa-cp-clone"
"""Loops that threads share are functions, which are called in another place where one thread runs all iterations. With
-O3 gcc makes a copy for that call, which begins at iteration 0; to compile a product of matrices takes it half as long
again, and the copy is no faster. What has one value in all calls it still knows."""
ONLY_GCC = frozenset({"-fno-tree-sink", "--param=max-tree-if-conversion-phi-args=16"})
"""Flags for texts that other compilers do not know, nor need."""
FEW_SEGMENTS = ("-Wl,-z,norelro", "-Wl,-z,noseparate-code")
"""A library is two mappings of its file instead of five: it is half as large, and loaded in half the time. A process
may have some 65,000 mappings, and who tunes or tests a lot loads thousands of libraries."""
TUNING = (
    ("-march=native", LOOPS, ONE_COPY, *FEW_SEGMENTS), ("-march=native", LOOPS, ONE_COPY),
    ("-march=native", *FEW_SEGMENTS), ("-march=native",), *(() if X86 else (("-mcpu=native",),)),
)  # fmt: skip
UNKNOWN = ("-mtune=generic",)  # for a processor that the compiler takes for another one
OPENMP = (("-fopenmp",), ("-Xpreprocessor", "-fopenmp", "-lomp"))
PROBE_TIMEOUT_S = 30.0
ANYWHERE = Path("/")
TAIL_LINES = 40
# What compilers, and the signal that ends them, say of files that cannot be written.
UNWRITABLE = (
    *((number, os.strerror(number)) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)),
    (errno.EFBIG, "File size limit exceeded"),
)
MAKE_ROOM = "Make room on the disk, or set LOOPWRIGHT_CACHE to a folder of your own that can be written"

_PROBE = """
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int main(int n, char **words) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += sqrt((double)i * n) + words[0][0];
  return sum > 0 ? 0 : 1;
}
"""
_PROBE_OPENMP = _PROBE.replace("#include <math.h>", "#include <math.h>\n#include <omp.h>").replace(
    "return sum", "return omp_get_max_threads() > 0 && sum"
)


class UnwritableError(CompilerError):
    """There is a compiler, but nowhere to put what it makes."""

    def __str__(self) -> str:
        return (
            f"{self.args[0]}\n  try: set LOOPWRIGHT_CACHE, or run without compiled code: LOOPWRIGHT_DEVICE=interpreter"
        )


@dataclass(frozen=True, slots=True)
class Compiler:
    """A compiler that works here. command: how to call it. version: the first line of what it says of itself.
    tuning, openmp: the flags for this CPU and for OpenMP that it was seen to understand, () where it has none.
    identity: differs between compilers whose output may differ."""

    command: tuple[str, ...]
    version: str
    tuning: tuple[str, ...]
    openmp: tuple[str, ...]
    identity: str


@dataclass(frozen=True, slots=True)
class Artifact:
    """A shared library at `path`, made from `source_path` in `seconds` (0.0 where it came from the cache)."""

    path: Path
    source_path: Path
    seconds: float
    from_cache: bool


@dataclass(frozen=True, slots=True)
class _CompilerSearch:
    """unwritable: why no compiler could even be tried, or ''."""

    compiler: Compiler | None
    failures: tuple[str, ...]
    unwritable: str = ""


_searches: dict[tuple[str, ...], _CompilerSearch] = {}
"""What was found, by how it was looked for: what works does in whatever folder its output is kept, and what failed may
have failed for want of one."""


def find_compiler(config: Tools) -> Compiler | None:
    """The compiler to use: `config.compiler`, else $CC, else the first of cc, gcc, clang that works."""
    return _search(config).compiler


def why_none(config: Tools) -> str:
    """What was tried and what to install, for people, where `find_compiler` gives None."""
    search = _search(config)
    if search.unwritable:
        return f"{search.unwritable}: kernels run in the slow interpreter. {MAKE_ROOM}"
    tried = "; ".join(search.failures)
    install = "xcode-select --install" if sys.platform == "darwin" else "apt install gcc (or dnf install gcc)"
    text = f"no working C compiler was found ({tried}): kernels run in the slow interpreter. To install one: {install}"
    if config.built_folder is None:
        return text
    return f"{text}. What was built ahead of time ({config.built_folder}) has no code for such a call"


def build(text: str, flags: Sequence[str], config: Tools) -> Artifact:
    """Compile a complete C file into a shared library, or take it from the cache.

    flags: what the text's meaning needs; `config.compiler_flags` come last. Raises CompilerError where there is
    no compiler, where it refuses the text, runs for more than `config.compile_timeout_s`, or nothing can be
    written anywhere."""
    compiler = find_compiler(config)
    if compiler is None:
        raise CompilerError(why_none(config))
    if not compiler.openmp:
        warn_once(
            "no OpenMP",
            f"{compiler.command[0]} has no OpenMP: kernels run on one thread. To get it: "
            + ("brew install libomp" if sys.platform == "darwin" else "apt install libomp-dev, or use gcc"),
        )
    known = (flag for flag in flags if flag not in ONLY_GCC or ONE_COPY in compiler.tuning)
    return build_with(
        for_flags(compiler, config.compiler_flags), text, (*compiler.openmp, *known, *config.compiler_flags), config
    )


def for_flags(compiler: Compiler, flags: Sequence[str]) -> Compiler:
    """The same, without its flags for this CPU where these ask for another one."""
    if not any(flag.startswith("-march=") for flag in flags):
        return compiler
    return replace(compiler, tuning=tuple(flag for flag in compiler.tuning if not flag.startswith("-m")))


def build_with(
    compiler: Compiler,
    text: str,
    flags: Sequence[str],
    config: Tools,
    salt: Sequence[str] = (),
    find_flags: Callable[[], Sequence[str]] = tuple,
) -> Artifact:
    """As `build`, with this compiler and these flags after the base flags. salt: what else the result depends on.
    find_flags: more flags, which are asked for only where it has to be made; what the result depends on of them, `salt`
    says."""
    command = (*compiler.command, *BASE_FLAGS, *compiler.tuning, "-shared", "-o", LIBRARY, SOURCE)
    command = (*command, *flags, "-lm")
    key = key_of((ABI, text, "\0".join(command), compiler.identity, cpu_fingerprint(), *salt))
    started = time.perf_counter()
    flags_found = cache(find_flags)
    if find_flags is not tuple and find(config.cache, key) is None:
        flags_found()  # what it raises, it raises before anything is written

    def make(folder: Path) -> None:
        _make_library(text, (*command, *flags_found()), config, key, folder)

    try:
        stored = obtain(config.cache, key, make, config.compile_timeout_s + 30, config.cache_size)
    except OSError as error:
        if is_of_a_handler(error):
            raise
        raise UnwritableError(unwritable_text(error)) from error
    seconds = 0.0 if stored.from_cache else time.perf_counter() - started
    return Artifact(stored.folder / LIBRARY, stored.folder / SOURCE, seconds, stored.from_cache)


def _make_library(text: str, command: tuple[str, ...], config: Tools, key: str, folder: Path) -> None:
    (folder / SOURCE).write_text(text)
    code, output = run_compiler(command, folder, config.compile_timeout_s)
    if code == 0 and (folder / LIBRARY).is_file():
        return
    raise_if_full(folder, output)
    kept = keep_aside(config.cache, f"{key[:16]}.c", text)
    what = f"stopped after {config.compile_timeout_s:g} s" if code is None else f"ended with code {code}"
    tail = "\n".join("  " + line for line in output.splitlines()[-TAIL_LINES:])
    raise CompilerError(
        f"the C compiler {what}\n  command: {shlex.join(command)}\n  source: {kept or 'could not be kept'}\n{tail}\n"
        "  try: another compiler (LOOPWRIGHT_CC), or run without compiled code: LOOPWRIGHT_DEVICE=interpreter"
    )


def unwritable_text(error: OSError) -> str:
    """Why nothing can be compiled, where that is no fault of a compiler."""
    return f"no file for compiled code can be written ({error})"


def raise_if_full(folder: Path, output: str) -> None:
    """OSError where a compiler failed because its files cannot be written, so that the store tries another folder."""
    for number, words in UNWRITABLE:
        if words in output:
            raise OSError(number, os.strerror(number), str(folder))
    with suppress(OSError, AttributeError):
        space = os.statvfs(folder)
        if space.f_bavail * space.f_frsize < 65536:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def run_compiler(command: Sequence[str], folder: Path, timeout_s: float) -> tuple[int | None, str]:
    """Run in `folder`; exit code (None: stopped after timeout_s seconds; 127: cannot be run) and output. Its
    children die with it, also when this process is interrupted (KeyboardInterrupt passes through)."""
    environment = {**os.environ, "LC_ALL": "C"}
    if folder != ANYWHERE:  # its temporary files then go where there was room for the entry, and away with it
        environment["TMPDIR"] = str(folder)
    try:
        with NO_FORK:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
    except OSError as error:  # not one of the folder, so not for the store to see
        return 127, str(error)
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return None, _killed(process)
    except BaseException:
        _killed(process)
        raise
    return process.returncode, output.decode(errors="replace")


def _killed(process: subprocess.Popen[bytes]) -> str:
    with suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    output, _ = process.communicate()
    return output.decode(errors="replace")


# ---- finding ----------------------------------------------------------------------------------------------------


def _search(config: Tools) -> _CompilerSearch:
    asked = (config.compiler, os.environ.get("CC", ""), os.environ.get("PATH", ""))
    in_folder = (*asked, str(config.cache))
    found = _searches.get(asked) or _searches.get(in_folder)
    if found is None:
        found = _searched(config, asked[1])
        _searches[in_folder if found.compiler is None else asked] = found
    return found


def _searched(config: Tools, variable: str) -> _CompilerSearch:
    named = config.compiler or variable
    failures: list[str] = []
    unwritable = ""
    for name in (named,) if config.compiler else (*filter(None, (named,)), "cc", "gcc", "clang"):
        try:
            found = _working(name, config)
        except OSError as error:
            if is_of_a_handler(error):
                raise
            unwritable = found = unwritable_text(error)
        if isinstance(found, Compiler):
            return _CompilerSearch(found, ())
        failures.append(f"{name}: {found}")
    return _CompilerSearch(None, tuple(failures), unwritable)


def _working(name: str, config: Tools) -> Compiler | str:
    """The compiler of this name, or why it cannot be used. Raises OSError where no file can be written to try it."""
    words = shlex.split(name)
    path = shutil.which(words[0]) if words else None
    if path is None:
        return "not found"
    command = (path, *words[1:])
    code, says = _version(command, config)
    if code is None:
        return "hangs"
    if code != 0:
        return "does not answer to --version"
    identity = key_of((*command, os.path.realpath(path), says))
    return _probed(command, says.splitlines()[0] if says else "", identity, config)


def _version(command: tuple[str, ...], config: Tools) -> tuple[int | None, str]:
    """Exit code and answer to --version. To ask takes longer than all the rest of a remembered kernel's first call, so
    the answer is kept for as long as the compiler is the same file."""
    key = _same_file(command)
    kept = find(config.cache, key) if key else None
    if kept is not None:
        with suppress(OSError):
            return 0, kept.contents[VERSION].decode(errors="replace")
    code, says = run_compiler((*command, "--version"), ANYWHERE, _probe_timeout_s(config))
    if code == 0 and key:
        keep(config.cache, key, lambda folder: _write(folder / VERSION, says.encode()))
    return code, says


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _same_file(command: tuple[str, ...]) -> str:
    """The key of what a compiler's own file decides; '' for what only passes the work on to another program (a script,
    ccache, macOS's cc), whose own file says nothing."""
    real = os.path.realpath(command[0])
    if len(command) > 1 or not COMPILER_NAME.fullmatch(os.path.basename(real)):
        return ""
    try:
        with open(real, "rb") as file:
            is_program = file.read(4) == b"\x7fELF"
        now = os.stat(real)
    except OSError:
        return ""
    told = (ascii(real), now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)
    return key_of((ABI, "version", command[0], *map(str, told))) if is_program else ""


def _probe_timeout_s(config: Tools) -> float:
    return min(PROBE_TIMEOUT_S, config.compile_timeout_s)


class _Lacking(Exception):
    """A probe found that something is missing. Not stored: the user may be about to install it."""

    def __init__(self, abilities: dict[str, tuple[str, ...]]) -> None:
        self.abilities = abilities


def _probed(command: tuple[str, ...], version: str, identity: str, config: Tools) -> Compiler | str:
    timeout_s = _probe_timeout_s(config)

    def make(folder: Path) -> None:
        runs = partial(_runs, command, folder, timeout_s)
        abilities = _abilities(runs)
        if not all(abilities.values()):
            raise _Lacking(abilities)
        if takes_for_an_older_one(partial(_described, command, folder, timeout_s)):
            abilities["tuning"] = (*abilities["tuning"], *UNKNOWN)
        (folder / "abilities.json").write_text(json.dumps(abilities))
        (folder / "probe").unlink()

    try:
        stored = obtain(
            config.cache, key_of((ABI, "probe", _PROBE, *UNKNOWN, *TUNING[0], identity, cpu_fingerprint())), make
        )
        abilities = json.loads(stored.contents["abilities.json"])
    except _Lacking as lacking:
        abilities = lacking.abilities
    except CompilerError as error:
        return str(error)
    return Compiler(command, version, tuple(abilities["tuning"]), tuple(abilities["openmp"]), identity)


def takes_for_an_older_one(described: Callable[[str], str]) -> bool:
    """Whether gcc takes this CPU for one without AVX-512 although it has it, as releases do that are older than the
    CPU. What they know of that one's costs is wrong then: a stencil's loads, for one, are done several times.
    described: what gcc says that an -march means ('' where it does not say)."""
    here = described("native")
    name = re.search(r"^\s*-march=\s+(\S+)", here, re.MULTILINE)
    return name is not None and _has_avx512(here) and not _has_avx512(described(name.group(1)))


def _has_avx512(described: str) -> bool:
    return re.search(r"^\s*-mavx512f\s+\[enabled\]", described, re.MULTILINE) is not None


def _described(command: tuple[str, ...], folder: Path, timeout_s: float, name: str) -> str:
    code, says = run_compiler((*command, f"-march={name}", "-Q", "--help=target"), folder, timeout_s)
    return says if code == 0 else ""


def _abilities(runs: Callable[[str, Sequence[str]], str]) -> dict[str, tuple[str, ...]]:
    """Which flags of each kind give a program that runs; CompilerError where not even a plain one does."""
    if not runs(_PROBE_OPENMP, (*TUNING[0], *OPENMP[0])):  # the common case takes one program
        return {"tuning": TUNING[0], "openmp": OPENMP[0]}
    trouble = runs(_PROBE, ())
    if trouble:
        raise CompilerError(trouble)
    return {
        "tuning": next((flags for flags in TUNING if not runs(_PROBE, flags)), ()),
        "openmp": next((flags for flags in OPENMP if not runs(_PROBE_OPENMP, flags)), ()),
    }


def _runs(command: tuple[str, ...], folder: Path, timeout_s: float, text: str, flags: Sequence[str]) -> str:
    """'' where the probe compiles with these flags and the program runs, else what went wrong, in one line."""
    (folder / "probe.c").write_text(text)
    code, output = run_compiler((*command, *BASE_FLAGS, "-o", "probe", "probe.c", *flags, "-lm"), folder, timeout_s)
    if code != 0:
        raise_if_full(folder, output)
        lines = [line for line in output.splitlines() if line.strip()] or ["no output"]
        telling = next((line for line in lines if "error" in line), lines[0])
        return f"hangs for {timeout_s:g} s" if code is None else f"cannot compile a small program ({telling.strip()})"
    code, _ = run_compiler(("./probe",), folder, timeout_s)
    return "" if code == 0 else "makes programs that do not run here"
