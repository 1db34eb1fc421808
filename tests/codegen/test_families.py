"""Random kernels of the families that a GPU has text of its own for, by random variants of their spaces, on arrays that
lie in its memory somehow: CPython and the emulated device agree. LOOPWRIGHT_FUZZ=n runs n more of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from random import Random, SystemRandom
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.families import Drawn, Lying, extreme, histogram, product, stencil
from codegen.on_gpu import in_gpu_memory, outcome
from loopwright.devices import emulated_build
from loopwright.search.space import Member, Space
from meaning.judge import function_of

SMALL = {"rows of a tile": 64, "columns of a tile": 64, "partial sums": 1 << 14}
"""Tiles of which the matrices here have several, and not so many threads that the emulated device takes long."""
MOSTLY = {"way to share out the nest": 0, "two tiles of each operand": 1}
"""What the recipe does by itself, where the space has many points for what it does not."""


@pytest.fixture(autouse=True)
def compiled_in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulated_build, "FLAGS", tuple("-O0" if "-O" in f else f for f in emulated_build.FLAGS))


def on_host(kernel: Callable[..., object], arguments: Sequence[Any]) -> tuple[list[Any], object, Exception | None]:
    """The arrays around the arguments after a call, what it gave, and what it raised."""
    wholes = [one.whole.copy() if isinstance(one, Lying) else one for one in arguments]
    given = [one.view(whole) if isinstance(one, Lying) else one for one, whole in zip(arguments, wholes, strict=True)]
    _, value, error = outcome(kernel, given)
    return wholes, value, error


def in_place(kernel: Callable[..., object], arguments: Sequence[Any]) -> tuple[list[Any], object, Exception | None]:
    """The same with arrays in the GPU's memory."""
    wholes = [one.whole.copy() if isinstance(one, Lying) else one for one in arguments]
    with ExitStack() as stack:
        given = [
            stack.enter_context(in_gpu_memory(whole, one.view(whole))) if isinstance(one, Lying) else one
            for one, whole in zip(arguments, wholes, strict=True)
        ]
        _, value, error = outcome(kernel, given)
    return wholes, value, error


def a_member(space: Space, seed: int) -> str:
    """The schedule of some point with small numbers, in one of four cases of any way that there is."""
    mostly = {} if seed % 4 == 3 else MOSTLY
    numbers = {point: dict(point) for point in space}
    points = [
        point
        for point, of in numbers.items()
        if all(of.get(name, 0) <= most for name, most in SMALL.items())
        and all(of.get(name, value) == value for name, value in mostly.items())
    ]
    random = Random(seed)
    while not isinstance(found := space.variant(random.choice(points or space.points)), Member):
        pass
    return found.schedule


def check(drawn: Drawn, seed: int) -> None:
    """Some variant of a kernel does what CPython does."""
    function = function_of(drawn.source)
    first = [one.view(one.whole) if isinstance(one, Lying) else one for one in drawn.calls[0]]
    space = lw.kernel(function).space(*first, device="cuda")
    schedule = a_member(space, seed)
    what = f"seed {seed}, schedule {schedule!r}\n{drawn.source}"
    kernel = lw.kernel(function)
    for call in drawn.calls:
        wholes, value, error = on_host(function, call)
        with lw.options(device="emulated", schedule=schedule):
            got = in_place(kernel, call)
        assert isinstance(got[2], type(error)), f"{got[2]!r} for {error!r}: {what}"
        if error is None:
            np.testing.assert_equal(got[1], value, what)
            for one, other in zip(got[0], wholes, strict=True):
                np.testing.assert_array_equal(one, other, what)
    assert not kernel._dispatch.compiled()[0].why_not_gpu


FAMILIES = {product: (3, 8), stencil: (0, 5), histogram: (2,), extreme: (1,)}
"""The seeds of each, which together take some seconds: of products, such as have tiles."""


@pytest.mark.parametrize(("family", "seed"), [(family, seed) for family, seeds in FAMILIES.items() for seed in seeds])
def test_cpython_and_the_gpu_agree(family: Callable[[int], Drawn], seed: int) -> None:
    check(family(seed), seed)


@pytest.mark.skipif(not os.environ.get("LOOPWRIGHT_FUZZ"), reason="LOOPWRIGHT_FUZZ=n runs n more of each family")
@pytest.mark.parametrize("family", list(FAMILIES))
def test_more_kernels(family: Callable[[int], Drawn]) -> None:
    first = SystemRandom().randrange(10**9)
    for seed in range(first, first + int(os.environ["LOOPWRIGHT_FUZZ"])):
        check(family(seed), seed)
