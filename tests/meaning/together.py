"""Many checks side by side, so that what they have compiled is compiled together: one run of the C compiler for all.

Each check has a thread of its own, but only one of them runs at a time: until it asks for compiled code. When all of
them have asked, or ended, one text with all of their functions is compiled, and they go on one by one.
"""

from __future__ import annotations

import re
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from loopwright import specialisation
from loopwright.codegen.openmp import HEADER, MORE_HEADERS, more_header
from loopwright.config import Tools
from loopwright.devices import cpu
from loopwright.devices.base import Executable
from loopwright.errors import CompilerError
from loopwright.ir.program import Program
from loopwright.toolchain import cc

from .ways import set_thresholds, thresholds

DEFINED = re.compile(r"^(?:LW_PART [a-z0-9_]+|int32_t) (\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class Wanted:
    """A program to be compiled; the flags decide with which others."""

    text: str
    flags: tuple[str, ...]
    config: Tools


@dataclass
class Job:
    """One check. wanted: what it waits for; made: what it got, or the error."""

    run: Callable[[], None]
    wanted: Wanted | None = None
    made: cc.Artifact | CompilerError | None = None
    error: BaseException | None = None
    done: bool = False
    go: threading.Event = field(default_factory=threading.Event)
    paused: threading.Event = field(default_factory=threading.Event)


_of_thread = threading.local()
_symbols: dict[int, str] = {}
"""What is behind the names of an artifact's functions, by the identity of the artifact; `_kept` keeps that alive."""
_kept: list[cc.Artifact] = []


def side_by_side(checks: Sequence[Callable[[], None]]) -> list[BaseException | None]:
    """Run the checks; what each of them raised."""
    jobs = [Job(check) for check in checks]
    threads = [threading.Thread(target=_run, args=(job,), daemon=True) for job in jobs]
    with _compiling_together():
        for job, thread in zip(jobs, threads, strict=True):
            thread.start()
            _resume(job)
        while waiting := [job for job in jobs if not job.done]:
            _compile(waiting)
            for job in waiting:
                _resume(job)
    for thread in threads:
        thread.join()
    _kept.clear()
    _symbols.clear()
    return [job.error for job in jobs]


def _run(job: Job) -> None:
    _of_thread.job = job
    job.go.wait()
    try:
        job.run()
    except BaseException as error:
        job.error = error
    job.done = True
    job.paused.set()


def _resume(job: Job) -> None:
    """Let a job run until it waits or ends. What it has changed for all is as it was afterwards."""
    filters = warnings.filters
    kept = thresholds()
    job.paused.clear()
    job.go.set()
    job.paused.wait()
    job.go.clear()
    set_thresholds(kept)
    warnings.filters = filters  # type: ignore[misc]


@contextmanager
def _compiling_together() -> Iterator[None]:
    build, load = specialisation.build, specialisation.load
    specialisation.build, specialisation.load = _build, _load  # type: ignore[attr-defined]
    try:
        yield
    finally:
        specialisation.build, specialisation.load = build, load  # type: ignore[attr-defined]


def _build(text: str, flags: Sequence[str], config: Tools) -> cc.Artifact:
    job: Job | None = getattr(_of_thread, "job", None)
    if job is None or "call->gpu" in text or not text.startswith(HEADER):
        return cc.build(text, flags, config)
    job.wanted = Wanted(text, (*flags, *config.compiler_flags), config)
    kept, filters = thresholds(), warnings.filters
    job.go.clear()
    job.paused.set()
    job.go.wait()
    set_thresholds(kept)
    warnings.filters = filters  # type: ignore[misc]
    made = job.made
    if isinstance(made, CompilerError):
        raise made
    assert made is not None
    return made


def _load(artifact: cc.Artifact, program: Program) -> Executable:
    suffix = _symbols.get(id(artifact), "")
    guard = program.guard + suffix if program.guard else ""
    loaded = cpu.load(artifact, replace(program, entry=program.entry + suffix, guard=guard))
    return replace(loaded, program=program)


def _compile(jobs: Sequence[Job]) -> None:
    """Give each job the code that it waits for."""
    groups: defaultdict[tuple[str, ...], list[Job]] = defaultdict(list)
    for job in jobs:
        assert job.wanted is not None
        groups[job.wanted.flags].append(job)
    for flags, group in groups.items():
        texts = [job.wanted.text for job in group if job.wanted is not None]
        config = replace(group[0].wanted.config, compiler_flags=())  # type: ignore[union-attr]
        try:
            made = cc.build(joined(texts), flags, config)
        except CompilerError:
            _compile_alone(group)
            continue
        for number, job in enumerate(group):
            job.made = replace(made)
            _kept.append(job.made)
            _symbols[id(job.made)] = f"_{number}"


def _compile_alone(group: Sequence[Job]) -> None:
    for job in group:
        assert job.wanted is not None
        try:
            job.made = cc.build(job.wanted.text, job.wanted.flags, replace(job.wanted.config, compiler_flags=()))
        except CompilerError as error:
            job.made = error


def joined(texts: Sequence[str]) -> str:
    """One C file with the functions of all texts: those of text number k have `_k` behind their names. What texts begin
    with stands there once."""
    more = [one for one in map(more_header, MORE_HEADERS) if any(one in text for text in texts)]
    parts = [HEADER, *more]
    for number, text in enumerate(texts):
        own = text.removeprefix(HEADER)
        for header in more:
            own = own.replace(header, "", 1)
        names = DEFINED.findall(own)
        parts += [f"#define {name} {name}_{number}" for name in names]
        parts += [own, *(f"#undef {name}" for name in names)]
    return "\n".join(parts)
