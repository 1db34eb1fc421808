"""`Case`: one kernel of the benchmark with its data, whether it comes from PolyBench, from the tour or from here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from examples.programs import PROBLEMS, pagerank
from examples.programs.problem import Problem

from benchmarks import beyond_cache, polybench, sparse, tour_prange

Arguments = dict[str, Any]
SIZES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
WARM_UP = "MINI"
TOLERANCE = 1e-6

# Work per call of the tour's programs: floating-point operations (an exponential is counted as one) and the least
# bytes that must move. Scalar arguments that make a call short, for warming up.
TOUR_WORK: dict[str, tuple[Callable[[Arguments], float], Arguments]] = {
    "bilateral": (lambda a: a["image"].size / 3 * (2 * a["radius"] + 1) ** 2 * 19, {"radius": 1}),
    "cluster": (lambda a: a["points"].size * (3 * len(a["centres"]) + 1) * a["rounds"], {"rounds": 1}),
    "pagerank": (lambda a: (len(a["sources"]) + 5 * len(a["rank"])) * a["sweeps"], {"sweeps": 1}),
    "cooccurrence": (lambda a: 0.0, {"reach": 1}),
}


@dataclass(frozen=True)
class Case:
    """kernel: the plain Python loops. prange: the same with `prange` placed by hand. arguments makes the data of a
    size, in the order of the parameters. outputs: the arrays to compare. flops, bytes_min: see `polybench`.
    tolerance: how far right results may differ, see `agreement.same`. source: the name of the C files beside us, and
    shapes: whether they are handed the arrays' shapes, see `c_peers`. streamed: the bytes that the loops as written
    move where nothing stays in a cache from one of them to the next; None where that is not asked for."""

    name: str
    suite: str
    kernel: Callable[..., object]
    prange: Callable[..., object]
    arguments: Callable[[str], Arguments]
    outputs: tuple[str, ...]
    flops: Callable[[str], float]
    bytes_min: Callable[[str], float]
    source: str
    shapes: bool
    tolerance: float = TOLERANCE
    streamed: Callable[[str], float] | None = None


def bytes_of(arguments: Arguments) -> int:
    """The bytes of all arrays among the arguments."""
    return sum(value.nbytes for value in arguments.values() if isinstance(value, np.ndarray))


def all_cases() -> tuple[Case, ...]:
    """PolyBench's 30 kernels, stencils on larger grids, the sparse loops, and the tour's four programs (which have one
    size, whatever is asked for)."""
    return (
        *map(polybench_case, polybench.MODULES),
        *map(beyond_cache_case, beyond_cache.MODULES),
        *sparse_cases(),
        *map(tour_case, PROBLEMS),
    )


def polybench_case(module: Any) -> Case:
    """The case of one module of `benchmarks.polybench`."""
    return _module_case(module, module.NAME, "polybench", lambda size: dict(module.SIZES[size]))


def beyond_cache_case(module: Any) -> Case:
    """The case of a stencil on a grid that does not fit into the cache. One array is enough to compare."""
    case = _module_case(module, f"{module.NAME}-beyond", "beyond cache", partial(beyond_cache.sizes, module))
    return replace(case, outputs=case.outputs[-1:], streamed=partial(beyond_cache.untiled_bytes, module))


def _module_case(module: Any, name: str, suite: str, sizes: Callable[[str], dict[str, int]]) -> Case:
    parameters = tuple(inspect.signature(module.kernel).parameters)

    def arguments(size: str) -> Arguments:
        made = module.initialise(**sizes(size))
        return {name: made[name] for name in parameters}

    return Case(
        name=name,
        suite=suite,
        kernel=inspect.unwrap(module.kernel),
        prange=inspect.unwrap(module.kernel_prange),
        arguments=arguments,
        outputs=tuple(module.OUTPUTS),
        flops=lambda size: float(module.flops(**sizes(size))),
        bytes_min=lambda size: float(module.bytes_min(**sizes(size))),
        source=module.NAME,
        shapes=False,
        tolerance=getattr(module, "TOLERANCE", TOLERANCE),
    )


def sparse_cases() -> tuple[Case, ...]:
    """A sparse matrix times a vector, and the tour's PageRank, on the graphs of `sparse`."""
    return (
        Case(
            name="spmv",
            suite="sparse",
            kernel=sparse.spmv,
            prange=sparse.spmv_prange,
            arguments=sparse.spmv_arguments,
            outputs=("y",),
            flops=sparse.spmv_flops,
            bytes_min=sparse.spmv_bytes,
            source="spmv",
            shapes=True,
            streamed=sparse.spmv_bytes,
        ),
        Case(
            name="pagerank-large",
            suite="sparse",
            kernel=inspect.unwrap(pagerank.pagerank),
            prange=tour_prange.pagerank,
            arguments=sparse.pagerank_arguments,
            outputs=pagerank.PROBLEM.outputs,
            flops=sparse.pagerank_flops,
            bytes_min=sparse.pagerank_bytes_min,
            source="pagerank",
            shapes=True,
            streamed=sparse.pagerank_bytes,
        ),
    )


def tour_case(problem: Problem) -> Case:
    """The case of one program of the tour. Its data is what it is; MINI only makes the call short."""
    kernel = inspect.unwrap(problem.kernel)
    work, short = TOUR_WORK[kernel.__name__]

    def arguments(size: str) -> Arguments:
        return problem.arguments() | (short if size == WARM_UP else {})

    return Case(
        name=kernel.__name__,
        suite="tour",
        kernel=kernel,
        prange=getattr(tour_prange, kernel.__name__),
        arguments=arguments,
        outputs=problem.outputs,
        flops=lambda size: float(work(arguments(size))),
        bytes_min=lambda size: float(bytes_of(arguments(size))),
        source=kernel.__name__,
        shapes=True,
    )
