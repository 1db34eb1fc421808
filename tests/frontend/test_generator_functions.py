"""Generators of NumPy in kernels: the numbers that they draw, in their order, and their state afterwards."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike
from loopwright.frontend import generator_functions
from loopwright.frontend.generator_state import state_of


def all_of_them(rng, n, x):
    rng.shuffle(x)
    return (
        rng.integers(0, 10, size=n), rng.random(), rng.random(n), rng.random((2, 3)), rng.uniform(-1, 1, n),
        rng.uniform(), rng.normal(), rng.normal(1.0, scale=0.5, size=n), rng.standard_normal(n), rng.integers(5),
        rng.exponential(2.0, size=n), rng.standard_exponential(), rng.lognormal(0.1, 0.2), rng.integers(2**32, size=3),
        rng.integers(0, 2**40, size=3), rng.integers(-5, 5, endpoint=True), rng.integers(0, 2**63 - 1, size=9),
        rng.permutation(n), rng.permutation(x), rng.choice(x), rng.choice(n, size=4), rng.choice(x, size=(2, 2)),
        rng.choice(x, size=3, p=np.ones(len(x)) / len(x)), rng.choice(n, 3, replace=False), rng.normal(x, 2.0),
        rng.choice(x, 4, replace=False), rng.choice(20000, 500, replace=False), rng.uniform(x, x[:, None] + 9.0),
    )  # fmt: skip


def tails(rng, n):
    """Far more numbers than there are layers: every way through the ziggurats."""
    total = 0.0
    for _ in range(n):
        total += rng.standard_normal() + rng.standard_exponential()
    return total


def drawing_helper(rng, x):
    return x * rng.normal()


def through_a_helper(rng, a):
    for i in range(len(a)):
        a[i] = drawing_helper(rng, a[i])


def own(seed):
    rng = np.random.default_rng(seed)
    other = np.random.default_rng(rng)
    return rng.normal(size=3), other.integers(100), rng.random()


@pytest.mark.parametrize("size", [5, 700])
def test_as_numpy(size):
    for function, more in ((all_of_them, (size, np.arange(9.0))), (through_a_helper, (np.arange(float(size)),))):
        mine, theirs = np.random.default_rng(size), np.random.default_rng(size)
        mine.integers(5), theirs.integers(5)  # 32 bits are left over
        first, second = [[np.copy(one) if isinstance(one, np.ndarray) else one for one in more] for _ in range(2)]
        assert alike(function(mine, *first), lw.kernel(function)(theirs, *second))
        assert all(map(alike, first, second))
        assert mine.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("device", ["cpu", "emulated", "interpreter"])
def test_every_layer(device):
    mine, theirs = np.random.default_rng(1), np.random.default_rng(1)
    count = 50_000 if device == "cpu" else 300
    with lw.options(device=device):
        assert lw.kernel(tails)(theirs, count) == tails(mine, count)
    assert mine.random() == theirs.random()


@pytest.mark.parametrize("seed", [0, 3, 2**31, 2**40 + 7, 2**62])
def test_seeds(seed):
    assert alike(own(seed), lw.kernel(own)(seed))


def test_high_product():
    for x, y in ((2**64 - 1, 2**64 - 1), (2**63 + 12345, 2**40 + 9), (3, 5)):
        assert int(generator_functions.high_product(np.uint64(x), np.uint64(y))) == x * y >> 64


def no_numbers(rng):
    return rng.integers(3, 3)


def negative_scale(rng):
    return rng.normal(0.0, -1.0)


@pytest.mark.parametrize("function", [no_numbers, negative_scale])
def test_errors(function):
    with pytest.raises(ValueError):
        function(np.random.default_rng(3))
    with pytest.raises(ValueError):
        lw.kernel(function)(np.random.default_rng(3))
    with pytest.raises(ValueError, match="expected non-negative integer"):
        lw.kernel(own)(-1)


def unknown(rng):
    return rng.poisson(3.0)


def another_each_time(n):
    return np.random.default_rng().random() * n


def test_refused():
    with pytest.raises(lw.KernelError, match=r"'poisson' of a generator is outside the language"):
        lw.kernel(unknown)(np.random.default_rng(3))
    with pytest.raises(lw.KernelError, match="a generator without a seed gives other numbers in each call"):
        lw.kernel(another_each_time)(3)
    with pytest.raises(TypeError, match="draws from MT19937: kernels draw from PCG64 only"):
        lw.kernel(tails)(np.random.Generator(np.random.MT19937(1)), 3)


def test_the_state_is_numpys_own():
    rng = np.random.default_rng(3)
    state, _ = state_of(rng)
    rng.random()
    assert int(state[0]) + (int(state[1]) << 64) == rng.bit_generator.state["state"]["state"]
