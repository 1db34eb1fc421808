"""A folder of code that was compiled ahead of time (`loopwright build`), for machines without a compiler: where it is,
and whether what is in it may run here.

It is a store (store.py) that is only read, with `build.json` beside it, which says what it was made for. Other than in
the cache, no key depends on this machine, nor on where files are: what the machine must be is asked once. Whoever may
write there is asked as for the cache.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import json
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from loopwright.config import Tools
from loopwright.errors import warn_once
from loopwright.revision import PACKAGE
from loopwright.toolchain.cc import LIBRARY
from loopwright.toolchain.library import load_library
from loopwright.toolchain.machine import cpu_fields
from loopwright.toolchain.store import Stored, find, key_of, why_unusable

FORMAT = 1
MANIFEST = "build.json"
LAUNCHER, OPENMP = "launcher", "openmp"
"""Names of entries."""
PORTABLE = "x86-64-v3"
LEVELS = ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4")
_LEVEL_FLAGS: tuple[frozenset[str], ...] = (
    frozenset(),
    frozenset(("cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3")),
    frozenset(("abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe")),
    frozenset(("avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl")),
)
"""What each level asks for beyond the one before, by the names that /proc/cpuinfo has."""
_OF_COMPILERS = (
    "abm", "adx", "aes", "amx", "avx", "bmi", "cx16", "f16c", "fma", "gfni", "lahf_lm", "movbe", "pclmul", "pni",
    "popcnt", "sha", "sse", "ssse3", "tbm", "vaes", "vpclmul", "xop",
)  # fmt: skip
"""How the names of instruction sets begin that a compiler may use by itself."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder was made for. identity: differs between all that the package ever was. processor: what the compiler
    was asked for; needs: the instruction sets that this takes. script: the file's name."""

    format: int
    loopwright: str
    identity: str
    python: str
    numpy: str
    platform: str
    processor: str
    needs: tuple[str, ...]
    script: str


@dataclass(frozen=True, slots=True)
class Build:
    """A folder whose code may run here."""

    folder: Path
    manifest: Manifest

    def key(self, *parts: str) -> str:
        """The name of an entry of it."""
        return key_of(("build", str(FORMAT), self.manifest.identity, *parts))

    def entry(self, *parts: str) -> Stored | None:
        """An entry of it; None where there is none."""
        return find(self.folder, self.key(*parts))


def levels_up_to(level: str) -> frozenset[str]:
    """The instruction sets of one of LEVELS."""
    return frozenset().union(*_LEVEL_FLAGS[: LEVELS.index(level) + 1])


def manifest_here(processor: str, script: str) -> Manifest:
    """Of what is made here and now. processor: `native`, or one of LEVELS where this is such a machine."""
    return Manifest(
        FORMAT, _version(), package_identity(), _python(), _numpy(), _platform(), processor,
        tuple(sorted(_needs(processor))), script,
    )  # fmt: skip


def build_in_force(tools: Tools) -> Build | None:
    """The folder that the option `built` names, else the one beside the script, where there is one. Where it may not be
    used, a warning says why, once. Whoever debugs, or gives flags, gets code that is made here."""
    folder = tools.built_folder
    if folder is None or tools.debug or tools.dump is not None or tools.compiler_flags:
        return None
    return _opened(Path(os.path.abspath(folder)), tools.built is not None)


def launcher_in_force(tools: Tools) -> Path | None:
    """The launcher of `build_in_force`."""
    build = build_in_force(tools)
    entry = None if build is None else build.entry(LAUNCHER)
    return None if entry is None else entry.folder / LIBRARY


def load_openmp(build: Build) -> object:
    """The OpenMP library that travels with the code. Raises OSError where none does, or it cannot be loaded."""
    entry = build.entry(OPENMP)
    if entry is None:
        raise FileNotFoundError(f"no OpenMP library is in {build.folder}")
    (name,) = entry.contents
    return load_library(entry.folder / name)


@cache
def _opened(folder: Path, asked_for: bool) -> Build | None:
    try:
        manifest = read_manifest(folder)
        why = why_unusable(folder) or why_not_here(manifest)
    except FileNotFoundError:
        why = "it does not exist" if not folder.exists() else f"it has no {MANIFEST}"
        if not asked_for and folder.exists():
            return None  # somebody else's folder
    except (OSError, ValueError) as error:
        why = str(error)
    if why:
        warn_once(f"build {folder}", f"the code in {folder} is not used: {why}")
        return None
    return Build(folder, manifest)


def read_manifest(folder: Path) -> Manifest:
    """Raises OSError where it cannot be read, and ValueError where it is none."""
    try:
        told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if told["format"] != FORMAT:
            raise ValueError(f"its format is {told['format']}; this Loopwright reads {FORMAT}: build it again")
        wanted = {one.name: told[one.name] for one in fields(Manifest)}
    except (KeyError, TypeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"its {MANIFEST} is damaged ({error}): build it again") from None
    return Manifest(**{**wanted, "needs": tuple(map(str, wanted["needs"]))})


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Raises OSError."""
    (folder / MANIFEST).write_text(json.dumps(asdict(manifest), indent=2) + "\n", encoding="utf-8")


def why_not_here(manifest: Manifest, cpu: Mapping[str, str] | None = None) -> str:
    """Why code that was made for this cannot run in this process, with what to do; '' where it can."""
    if manifest.platform != _platform():
        return f"it was built for {manifest.platform}, and this is {_platform()}: build it on such a machine"
    if lacks := sorted(set(manifest.needs) - processor_flags(cpu)):
        return (
            f"it was built for processors with {', '.join(lacks)}, which this one ({_name(cpu)}) does not have: "
            f"build it here, or with --processor {_best_level(cpu)}"
        )
    for what, then, now in (("Python", manifest.python, _python()), ("NumPy", manifest.numpy, _numpy())):
        if then != now:
            return f"it was built with {what} {then}, and this is {what} {now}: build it again with this one"
    if manifest.identity != package_identity():
        return (
            f"it was built by Loopwright {manifest.loopwright}, and this is another one ({_version()}): build it again"
        )
    return ""


def _best_level(cpu: Mapping[str, str] | None) -> str:
    fitting = [level for level in LEVELS if levels_up_to(level) <= processor_flags(cpu)]
    return fitting[-1] if fitting else "portable"


def _needs(processor: str) -> frozenset[str]:
    if processor in LEVELS:
        return levels_up_to(processor)
    if processor != "native":
        return frozenset()
    arm = "Features" in cpu_fields()
    return frozenset(flag for flag in processor_flags() if arm or flag.startswith(_OF_COMPILERS))


def processor_flags(cpu: Mapping[str, str] | None = None) -> frozenset[str]:
    """The instruction sets of this processor, or of one that /proc/cpuinfo describes so."""
    told = cpu_fields() if cpu is None else cpu
    return frozenset((told.get("flags") or told.get("Features") or "").split())


def _name(cpu: Mapping[str, str] | None) -> str:
    told = cpu_fields() if cpu is None else cpu
    return told.get("model name", "of unknown name")


@cache
def package_identity() -> str:
    """Of the text of this package, wherever it is installed."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in (".py", ".c", ".h"):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _version() -> str:
    return str(sys.modules["loopwright"].__version__)


def _python() -> str:
    """Code that calls Python's interface is for one minor version, and one way of building it."""
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"{release} ({sys.implementation.name}, {importlib.machinery.EXTENSION_SUFFIXES[0].strip('.')})"


def _numpy() -> str:
    return ".".join(np.__version__.split(".")[:2])


def _platform() -> str:
    return " ".join(word for word in (platform.system(), platform.machine(), _libc()) if word)


def _libc() -> str:
    with suppress(OSError):
        return platform.libc_ver()[0]
    return ""
