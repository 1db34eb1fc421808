"""The members of a case's space and what is known of them without running, made on all cores."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from random import Random

from benchmarks.choice.cases import Case, Device, Size
from loopwright.compiler import target_of_machine
from loopwright.config import Config, options
from loopwright.errors import LoopwrightError
from loopwright.ir.variant import RECIPE
from loopwright.search.space import Member, Space, space_of
from loopwright.specialisation import Specialisation
from loopwright.tuning.judge import Judge, judge_for

TOGETHER = 6
"""Points that one process makes one after the other: neighbours have parts in common that are made once."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose space: of a case on a device, at most so many points, under these options."""

    case: Case
    device: Device
    size: Size
    most: int
    config: Config


@dataclass(frozen=True, slots=True)
class Made:
    """A point by its number, the schedule that the recipe makes of it ('' where it makes none) and its metrics (none
    where it cannot be judged); how long each of the two took."""

    number: int
    point: tuple[tuple[str, int], ...]
    schedule: str
    names: tuple[str, ...]
    metrics: tuple[float, ...]
    make_ns: int
    judge_ns: int


@dataclass(frozen=True, slots=True)
class _Maker:
    one: Specialisation
    space: Space
    judge: Judge | None
    default: str


_MAKERS: dict[tuple[str, str], _Maker] = {}
"""Of this process, by case and folder: the last one that was asked for."""


def specialised(asked: Asked) -> tuple[Specialisation, tuple[object, ...]]:
    """The default variant of a case, and the arguments that it is for."""
    arguments = asked.case.arguments(asked.device, asked.size)
    with under(asked):
        return asked.case.kernel.specialise(*arguments), arguments


def under(asked: Asked) -> options:  # type: ignore[valid-type]
    """The options of a case, for a `with`."""
    return options(device=asked.device, cache=asked.config.cache, threads=asked.config.threads, store="off")


def config_of(asked: Asked) -> Config:
    """The same as a value."""
    with under(asked) as found:  # type: ignore[attr-defined]
        return found  # type: ignore[no-any-return]


def space(asked: Asked, one: Specialisation) -> Space:
    """Of a case."""
    found, device = one.analysed, "cpu" if asked.device == "cpu" else "cuda"
    target = target_of_machine(asked.config)
    return space_of(found.written, found.facts, False, device, target, asked.most)  # type: ignore[arg-type]


def make(asked: Asked, numbers: Sequence[int]) -> list[Made]:
    """These points of a space, in this process."""
    key = asked.case.name, str(asked.config.cache)
    if key not in _MAKERS:
        _MAKERS.clear()
        _MAKERS[key] = _maker(asked)
    return [_made(_MAKERS[key], number) for number in numbers]


def _maker(asked: Asked) -> _Maker:
    one, arguments = specialised(asked)
    whole = space(asked, one)
    default = whole.variant(whole.default)
    text = default.schedule if isinstance(default, Member) else ""
    return _Maker(one, whole, judge_for(one, asked.device, config_of(asked), arguments), text)


def _made(maker: _Maker, number: int) -> Made:
    point = maker.space.points[number]
    begun = time.perf_counter_ns()
    try:
        found = maker.space.variant(point)
    except LoopwrightError:
        return Made(number, point, "", (), (), time.perf_counter_ns() - begun, 0)
    make_ns = time.perf_counter_ns() - begun
    if not isinstance(found, Member):
        return Made(number, point, "", (), (), make_ns, 0)
    begun = time.perf_counter_ns()
    metrics = None if maker.judge is None else maker.judge(maker.space.make(dict(point))[0])
    judge_ns = time.perf_counter_ns() - begun
    schedule = RECIPE if number == 0 or found.schedule == maker.default else found.schedule
    if metrics is None:
        return Made(number, point, schedule, (), (), make_ns, judge_ns)
    return Made(number, point, schedule, metrics.names, metrics.values, make_ns, judge_ns)


class Makers:
    """As many processes as there are cores, started when they are first needed. Use it as a context manager."""

    def __init__(self, cores: int) -> None:
        self._cores = cores
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Makers:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def made(self, asked: Asked, count: int, end: float) -> list[Made]:
        """The points of a space in an order of chance, the default first, as many as can be made until `end` (of
        time.monotonic); each schedule once. count: of points. A point that brings its process down ends the making."""
        rest = list(range(1, count))
        groups = [rest[start : start + TOGETHER] for start in range(0, len(rest), TOGETHER)]
        Random(0).shuffle(groups)
        found: dict[str, Made] = {}
        for made in sorted(self._in_processes(asked, [[0], *groups], end), key=lambda one: one.number):
            if made.schedule and made.schedule not in found:
                found[made.schedule] = made
        others = list(found.values())[1:]
        Random(1).shuffle(others)
        return [*list(found.values())[:1], *others]

    def _in_processes(self, asked: Asked, groups: list[list[int]], end: float) -> list[Made]:
        found: list[Made] = []
        queue: Iterator[list[int]] = iter(groups)
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._cores, multiprocessing.get_context("spawn"))
        pool = self._pool
        try:
            running: set[Future[list[Made]]] = {pool.submit(make, asked, group) for group in islice(queue, self._cores)}
            while running:
                ready, running = wait(running, return_when=FIRST_COMPLETED)
                for one in ready:
                    found += one.result()
                if time.monotonic() < end:
                    running |= {pool.submit(make, asked, group) for group in islice(queue, len(ready))}
        except BrokenProcessPool:
            self._end()
            if not found:
                raise
        return found

    def _end(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)
