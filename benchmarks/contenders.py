"""Who takes part: ourselves, numba on one thread, numba with `prange` placed by hand, and plain C on one thread. Where
there is such a version also: ourselves without restructuring, the plain C loops with OpenMP, tiled C in the order that
Pluto gives, and OpenBLAS."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numba

import loopwright as lw
from benchmarks import c_peers, openblas
from benchmarks.cases import Case
from benchmarks.results import BLAS, NUMBA, OPENMP, OURS, PLAIN, PLUTO, PRANGE, C
from benchmarks.timing import Bound, binder
from loopwright.config import current

Binder = Callable[..., Bound]
PLAIN_OPTIONS = {"recipe": "plain"}  # what makes Loopwright parallelize and vectorize the loops as they stand, no more


@dataclass(frozen=True)
class Contender:
    """prepare makes what binds a case's arguments; its folder is for what it builds. takes: has it a version of a
    case?"""

    name: str
    prepare: Callable[[Case, Path], Binder]
    takes: Callable[[Case], bool] = lambda _case: True


def _ours(case: Case, _folder: Path) -> Binder:
    return binder(lw.kernel(case.kernel))


def _numba_serial(case: Case, _folder: Path) -> Binder:
    return binder(numba.njit(with_numba_prange(case.kernel)))


def _numba_prange(case: Case, _folder: Path) -> Binder:
    # Where nothing can be annotated numba warns that nothing was done in parallel: that is the point here.
    warnings.simplefilter("ignore", numba.NumbaPerformanceWarning)
    return binder(numba.njit(parallel=True)(with_numba_prange(case.prange)))


def _c(case: Case, folder: Path) -> Binder:
    return c_peers.binder(case.source, folder, case.shapes)


def _c_openmp(case: Case, folder: Path) -> Binder:
    return c_peers.binder(case.source, folder, case.shapes, current().threads)


def _pluto(case: Case, folder: Path) -> Binder:
    return c_peers.binder(case.source, folder, case.shapes, current().threads, c_peers.PLUTO)


def _openblas(case: Case, _folder: Path) -> Binder:
    return binder(openblas.ROUTINES[case.source])


def _plain(case: Case, _folder: Path) -> Binder:
    kernel = lw.kernel(case.kernel)

    def run(*arguments: object) -> None:
        with lw.options(**PLAIN_OPTIONS):  # some microseconds, which the time of the call includes
            kernel(*arguments)

    return binder(run)


def has_plain() -> bool:
    """Can this Loopwright be told to leave the order of the loops alone?"""
    try:
        with lw.options(**PLAIN_OPTIONS):
            return True
    except (TypeError, ValueError):
        return False


def notes() -> tuple[str, ...]:
    """Who is left out on every kernel, and why."""
    wanted = ", ".join(f"{name}={value!r}" for name, value in PLAIN_OPTIONS.items())
    return () if has_plain() else (f"{PLAIN!r} is left out: this Loopwright has no options({wanted}).",)


CONTENDERS = (
    Contender(OURS, _ours),
    Contender(PLAIN, _plain, lambda _case: has_plain()),
    Contender(NUMBA, _numba_serial),
    Contender(PRANGE, _numba_prange),
    Contender(C, _c),
    Contender(OPENMP, _c_openmp, lambda case: c_peers.has_openmp(case.source)),
    Contender(PLUTO, _pluto, lambda case: c_peers.has_pluto(case.source)),
    Contender(BLAS, _openblas, lambda case: case.source in openblas.ROUTINES),
)


def with_numba_prange(function: Callable[..., object]) -> Callable[..., object]:
    """The same function, in which the global name `prange` is numba's, whosever it was."""
    if not isinstance(function, types.FunctionType) or "prange" not in function.__globals__:
        return function
    names = {**function.__globals__, "prange": numba.prange}
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, function.__closure__)
