"""The calls that the replay compiles, in groups: PolyBench, the sparse loops and the tour, the GPU benchmarks, random
kernels of the families that have GPU text of their own, forms that are easily forgotten, random programs.

Groups import what they need when they are asked for: it may import names that the package of another commit does not
have, and then the other groups still can be compared.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any
from unittest import mock

from replay import variants
from replay.variants import Variant


@dataclass(frozen=True)
class Call:
    """A function, and what makes the arguments of a call."""

    name: str
    function: Callable[..., object]
    arguments: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True)
class Group:
    """Calls, each to be compiled in all of these ways."""

    name: str
    calls: Callable[[], Iterable[Call]]
    variants: tuple[Variant, ...]


def benchmarks(*suites: str) -> Iterator[Call]:
    """The cases of `make bench`."""
    from benchmarks.cases import all_cases

    for case in all_cases():
        if case.suite in suites:
            yield Call(case.name, case.kernel, lambda case=case: tuple(case.arguments("MINI").values()))


def of_gpu_benchmarks() -> Iterator[Call]:
    """The calls of the GPU benchmarks but for PolyBench's, on arrays in the host's memory."""
    from benchmarks.gpu import counts, images, kernels, products, sparse, streams, sums
    from benchmarks.gpu.bench import Bench

    class OnHost(Bench):
        def __init__(self) -> None:
            self.device, self.torch = "emulated", None

        def array(self, host: Any) -> Any:
            return host

    called: list[tuple[Callable[..., object], tuple[Any, ...]]] = []

    def recorded(kernel: Any) -> Callable[..., None]:
        function = inspect.unwrap(kernel)
        return lambda *arguments: called.append((function, arguments))

    known = {name: recorded(one) for name, one in vars(kernels).items() if hasattr(one, "explain")}
    with (
        mock.patch.multiple(kernels, **known),
        mock.patch.object(sparse, "pagerank", recorded(sparse.pagerank)),
    ):
        for part in (streams.PART, products.PART, sums.PART, counts.PART, sparse.PART, images.PART):
            for case in part.cases:
                called.clear()
                part.make(OnHost(), case, "tiny").runs["loopwright"]()
                [(function, arguments)] = called
                yield Call(case, function, lambda arguments=arguments: arguments)


def of_tests(choose: Callable[[Any], Iterable[Any]]) -> Iterator[Call]:
    """Some of the corpus that the tests of tuning have."""
    from tuning import corpus

    for case in choose(corpus):
        yield Call(case.name, case.function, case.arguments)


GROUPS = (
    Group("polybench", lambda: benchmarks("polybench"), variants.EVERY),
    Group("tour", lambda: benchmarks("tour", "sparse"), variants.EVERY),
    Group("gpu", of_gpu_benchmarks, (variants.DEFAULT, variants.GPU, variants.GPU_PARTS)),
    Group(
        "families",
        lambda: of_tests(lambda corpus: corpus.families(range(4))),
        (variants.DEFAULT, variants.GPU),
    ),
    Group(
        "forms",
        lambda: of_tests(lambda corpus: corpus.forms()),
        (variants.DEFAULT, variants.STRICT, variants.CHECKS, variants.GPU),
    ),
    Group(
        "random",
        lambda: of_tests(lambda corpus: chain(corpus.analysed(range(20)), corpus.random(range(30)))),
        (variants.DEFAULT, variants.STRICT, variants.GPU),
    ),
)
