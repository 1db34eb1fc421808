"""`loopwright build script.py`: run a script, and put the code of its kernels into a folder that travels with it."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from loopwright.built import put_file, write_ahead
from loopwright.cli.devices import size_text
from loopwright.cli.kernels import recording
from loopwright.cli.refuse import refuse
from loopwright.cli.script import run_script
from loopwright.config import BUILT_SUFFIX, CURRENT, PROCESS, Config, Tested, current, set_options
from loopwright.devices.launcher import make_launcher
from loopwright.errors import CompilerError, LoopwrightError
from loopwright.frontend.capture import Source
from loopwright.frontend.hidden import MARKS
from loopwright.frontend.outside import Way
from loopwright.report.explain import signature_text
from loopwright.report.words import count, visible
from loopwright.specialisation import WATCHERS, Specialisation, specialise
from loopwright.steps.schedule import print_schedule
from loopwright.toolchain.build_folder import (
    LAUNCHER,
    LEVELS,
    MANIFEST,
    OPENMP,
    Build,
    levels_up_to,
    manifest_here,
    processor_flags,
    write_manifest,
)  # fmt: skip
from loopwright.toolchain.cc import LIBRARY, SOURCE, Compiler, find_compiler, for_flags, why_none

PORTABLE = {"x86_64": "x86-64-v3", "aarch64": "armv8-a", "arm64": "armv8-a"}


@dataclass
class _Collected:
    """What was compiled while the script ran: lines for people, and what could not be taken along."""

    build: Build
    kinds: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    failure: OSError | None = None

    def take(self, source: Source, made: Specialisation, asked: Mapping[Way, object]) -> None:
        """Write the code of a kernel for one kind of call, and what runs where its condition on the sizes fails."""
        wanted, ready, artifact = made.compilation, made.ready, made.artifact
        assert ready is not None and artifact is not None
        written = made.analysed.written
        kind = signature_text(replace(written, params=tuple(p for p in written.params if not p.name.startswith(MARKS))))
        try:
            schedule = print_schedule(made.analysed.recipe.schedule)
            why = write_ahead(self.build, source, wanted, ready, artifact, asked, schedule)
        except OSError as error:
            self.failure = self.failure or error
            return
        if why:
            self.left_out[kind] = why
        elif wanted.semantics.checks == "auto":
            self.kinds.append(kind)
        if ready.program.guard and wanted.semantics.checks != "all":
            checks: Tested = "data" if ready.program.on_data and wanted.semantics.checks == "auto" else "all"
            with suppress(LoopwrightError):
                specialise(source, wanted._replace(semantics=wanted.semantics._replace(checks=checks)))


def build_script(path: Path, arguments: Sequence[str], out: Path | None, processor: str) -> int:
    """Returns 0, or the script's exit status where that is another one; nothing is written then."""
    out = Path(os.path.abspath(out or path.with_suffix(BUILT_SUFFIX)))
    march = _march(processor)
    compiler = _compiler(current())
    _replaceable(out)
    with _beside(out) as folder:
        build = Build(folder, manifest_here(march, path.name))
        collected = _Collected(build)
        with _options(march), recording() as kernels, _watching(collected):
            ended = run_script(path, arguments)
            if ended.status:
                print(f"loopwright: {path} ended with {ended.status}: nothing is built", flush=True)
                return ended.status
            if not collected.kinds and not collected.left_out:
                made = f"it made {len(kernels)}, and called none on the CPU" if kernels else "it made none"
                refuse(f"{path} called no kernel: {made}", "a script that calls each kernel as the program will")
            try:
                _put_companions(build, compiler, march)
                _finish(build, out, collected)
            except OSError as error:
                refuse(f"{out} cannot be written: {error}")
    _tell(path, out, march, collected)
    return 0


def _march(processor: str) -> str:
    """What the compiler is asked for: `native`, a level of x86-64, or what is called portable here."""
    machine = os.uname().machine
    march = PORTABLE.get(machine, "native") if processor == "portable" else processor
    if march not in ("native", PORTABLE.get(machine), *(LEVELS if machine == "x86_64" else ())):
        known = ["portable", "native", *(LEVELS if machine == "x86_64" else ())]
        refuse(f"there is no processor {processor!r}", f"one of {', '.join(known)}")
    if march in LEVELS and (lacks := sorted(levels_up_to(march) - processor_flags())):
        refuse(f"this processor has no {', '.join(lacks)}, so the script cannot run here as it is built for {march}")
    return march


def _compiler(config: Config) -> Compiler:
    compiler = find_compiler(config)
    if compiler is None:
        refuse(why_none(config).replace(": kernels run in the slow interpreter.", "."))
    return compiler


def _replaceable(out: Path) -> None:
    if out.is_dir() and any(out.iterdir()) and not (out / MANIFEST).is_file():
        refuse(f"{out} holds something else than a build", "another folder: --out")
    if out.exists() and not out.is_dir():
        refuse(f"{out} is a file", "another folder: --out")


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """An empty folder on the same disk, gone at the end unless it was moved."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        refuse(f"nothing can be written to {out.parent}: {error.strerror}", "another folder: --out")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _options(march: str) -> Iterator[None]:
    """Options of the process, as the script may have threads: those of a machine that knows no measurements."""
    before, process = CURRENT.get(), PROCESS[0]
    flags = current().compiler_flags
    flags = flags if march == "native" else (*flags, f"-march={march}")
    changes: dict[str, Any] = {"compiler_flags": flags, "built": "off", "store": "off", "explore": False}
    set_options(**changes)
    try:
        yield
    finally:
        PROCESS[0] = process
        CURRENT.set(before)


@contextmanager
def _watching(collected: _Collected) -> Iterator[None]:
    WATCHERS.append(collected.take)
    try:
        yield
    finally:
        WATCHERS.remove(collected.take)


def _put_companions(build: Build, compiler: Compiler, march: str) -> None:
    """What calls the code, and the OpenMP library that it was compiled for. Raises OSError."""
    config = current()
    with suppress(CompilerError):  # without Python's headers calls are slower
        tuned = compiler if march == "native" else for_flags(compiler, config.compiler_flags)
        flags = () if march == "native" else (f"-march={march}",)
        made = make_launcher(replace(tuned, tuning=(*tuned.tuning, *flags)), config)
        put_file(build, LAUNCHER, {LIBRARY: made.path.read_bytes(), SOURCE: made.source_path.read_bytes()})
    if (library := _openmp_in_use()) is not None:
        put_file(build, OPENMP, {library.name: library.read_bytes()})


def _openmp_in_use() -> Path | None:
    """The file of the OpenMP library that is loaded in this process."""
    with suppress(OSError):
        paths = {line.split(maxsplit=5)[-1].strip() for line in Path("/proc/self/maps").read_text().splitlines()}
        for path in map(Path, sorted(paths)):
            if path.name.startswith(("libgomp.so", "libomp.so")):
                return path
    return None


def _finish(build: Build, out: Path, collected: _Collected) -> None:
    """Move the folder into its place. Raises OSError."""
    if collected.failure is not None:
        raise collected.failure
    write_manifest(build.folder, build.manifest)
    for name in ("work", "aside"):
        shutil.rmtree(build.folder / name, ignore_errors=True)
    for path in (build.folder, *build.folder.rglob("*")):  # all may read, nobody else may write
        path.chmod(0o755 if path.is_dir() else 0o644)
    old = build.folder.with_name(build.folder.name + "-old")
    if out.exists():
        os.rename(out, old)
    os.rename(build.folder, out)
    shutil.rmtree(old, ignore_errors=True)


def _tell(path: Path, out: Path, march: str, collected: _Collected) -> None:
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    kinds = count(len(collected.kinds), "kind of call", "kinds of calls")
    print(f"built {kinds} for {march} into {out} ({size_text(size)}):")
    for kind in sorted(set(collected.kinds)):
        print(f"  {visible(kind)}")
    for kind, why in collected.left_out.items():
        print(f"not in it: {visible(f'{kind}: {why}')}")
    if out == Path(os.path.abspath(path.with_suffix(BUILT_SUFFIX))):
        print(f"It is used wherever it lies beside {path.name}.")
    else:
        print(f"To use it: LOOPWRIGHT_BUILT={shlex.quote(str(out))} python {path.name}")
