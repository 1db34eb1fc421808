"""Code that `loopwright build` compiled ahead of time: looking it up for a call, and writing it down for others.

An entry of the folder holds what an entry of the cache does (remembered.py), with its library beside it. Its key says
nothing of this machine, and nothing of where files are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from loopwright.devices.base import Executable
from loopwright.devices.cpu import load
from loopwright.errors import CompilerError, warn_once
from loopwright.frontend.capture import Source
from loopwright.frontend.outside import Outside, UnknownError, Way, text_of
from loopwright.ir.program import FailureSite, Program
from loopwright.ir.variant import Compilation
from loopwright.remembered import ENTRY, Ready, ResultPlace, entries, search
from loopwright.toolchain.build_folder import Build, build_in_force, load_openmp
from loopwright.toolchain.cc import LIBRARY, SOURCE, Artifact
from loopwright.toolchain.store import key_of, obtain

SCHEDULE = "schedule.txt"


@dataclass(frozen=True, slots=True)
class Ahead:
    """Code that was found. schedule: the steps that its loops were given on the machine that made it."""

    ready: Ready
    artifact: Artifact
    executable: Executable
    place: ResultPlace
    schedule: str


def ahead_of_time(source: Source, wanted: Compilation) -> Ahead | None:
    """The code for one kind of call on the CPU; None where there is no folder, or nothing in it for such a call."""
    build = build_in_force(wanted.tools)
    if build is None:
        return None
    outside = Outside(source, portable=True)
    ready, place, entry = search(outside, _first_key(build, outside, wanted), build.folder)
    if ready is None or entry is None:
        return None
    ready = replace(ready, program=_moved(ready.program, partial(_absolute, _folder_of(source))))
    artifact = Artifact(entry.folder / LIBRARY, entry.folder / SOURCE, 0.0, True)
    try:
        executable = load(artifact, ready.program, partial(load_openmp, build))
    except (CompilerError, OSError) as error:
        why = str(error).splitlines()[0]
        warn_once(f"load {build.folder}", f"the code in {build.folder} is not used: {why}. Build it on an older system")
        return None
    return Ahead(ready, artifact, executable, place, entry.contents.get(SCHEDULE, b"").decode())


def write_ahead(
    build: Build, source: Source, wanted: Compilation, ready: Ready, artifact: Artifact, asked: Iterable[Way],
    schedule: str,
) -> str:  # fmt: skip
    """Put code into a folder. asked: the questions that reading the function asked. Gives why it cannot be found again,
    and writes nothing then, or ''. Raises OSError."""
    outside = Outside(source, portable=True)
    key = _first_key(build, outside, wanted)
    for question in sorted(asked, key=repr):
        outside.answer(question)
    portable = replace(ready, program=_moved(ready.program, partial(_relative, _folder_of(source))))
    told = entries(portable, ResultPlace(key, outside, []))
    if not told:
        what = f"it depends on '{outside.untold}', which" if outside.untold else "it depends on something that"
        return f"{what} another process could not recognise"
    *questions, (own_key, content) = told
    for one, text in questions:
        _put(build.folder, one, {ENTRY: text.encode()})
    files = {ENTRY: content.encode(), SCHEDULE: schedule.encode(), SOURCE: artifact.source_path.read_bytes()}
    _put(build.folder, own_key, {**files, LIBRARY: artifact.path.read_bytes()})
    return ""


def put_file(build: Build, name: str, files: Mapping[str, bytes]) -> None:
    """An entry of another kind: `LAUNCHER`, `OPENMP`. Raises OSError."""
    _put(build.folder, build.key(name), files)


def _put(folder: Path, key: str, files: Mapping[str, bytes]) -> None:
    def make(entry: Path) -> None:
        for name, content in files.items():
            (entry / name).write_bytes(content)

    stored = obtain(folder, key, make)
    if not stored.folder.is_relative_to(folder):
        raise OSError(f"nothing can be written to {folder}")


def _first_key(build: Build, outside: Outside, wanted: Compilation) -> str:
    try:
        held = outside.structures()
    except UnknownError:
        return ""
    kind = repr((wanted.signature, wanted.schedule, wanted.semantics))
    return key_of((build.key("kernel"), repr(text_of(outside.source, portable=True)), held, kind))


def _folder_of(source: Source) -> str:
    return os.path.dirname(os.path.abspath(source.file))


def _moved(program: Program, change: Callable[[str], str]) -> Program:
    """The same, whose errors name files elsewhere."""
    return replace(program, sites=tuple(_moved_site(site, change) for site in program.sites))


def _moved_site(site: FailureSite, change: Callable[[str], str]) -> FailureSite:
    return site if site.at is None else replace(site, at=replace(site.at, file=change(site.at.file)))


def _relative(folder: str, file: str) -> str:
    return os.path.relpath(os.path.join(folder, file), folder)


def _absolute(folder: str, file: str) -> str:
    return os.path.normpath(os.path.join(folder, file))
