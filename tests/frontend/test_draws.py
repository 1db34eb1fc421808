"""np.random in kernels: the numbers that NumPy draws, in its order, and its state afterwards."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import loopwright as lw
from frontend.judge import alike
from loopwright.numba import njit


def seeded(n):
    np.random.seed(3)
    total = 0.0
    for _ in range(n):
        total += np.random.normal(0.0, 1.0)
    return total


def all_of_them(n, x):
    np.random.shuffle(x)
    rolls = [np.random.randint(1, 7) for _ in range(n)]
    return (
        np.random.rand(n, 2), np.random.rand(), np.random.randn(3), np.random.random(), np.random.random_sample(2),
        np.random.uniform(-1, 1, n), np.random.uniform(), np.random.randint(0, 10, size=n), np.random.randint(5),
        np.random.standard_normal((2, 3)), np.random.exponential(2.0, size=n), np.random.standard_exponential(),
        np.random.permutation(n), np.random.permutation(x), np.random.choice(x),
        np.random.choice(n, n - 2, replace=False),
        np.random.choice(x, 3, replace=False), np.random.choice(x, size=n, p=np.ones(len(x)) / len(x)),
        np.random.choice(n, size=4), rolls, np.random.normal(1.0, scale=0.5, size=n)[1:],
    )  # fmt: skip


def rows_of(n, x):
    rows = np.arange(n * 3).reshape(n, 3)
    np.random.shuffle(rows)
    part = rows[::-1, 1:]
    np.random.shuffle(part)
    numbers = [k * 2 for k in range(n)]
    numbers.append(7)
    np.random.shuffle(numbers)
    return rows, np.random.permutation(rows), numbers, np.random.rand()


def drawing_helper(x):
    return x * np.random.normal()


def through_a_helper(a):
    for i in range(len(a)):
        a[i] = drawing_helper(a[i])


def _both(function, make):
    """What the function does under Python and as a kernel, from the same state, and what NumPy draws afterwards."""
    state, found = np.random.get_state(), []
    for run in (function, lw.kernel(function)):
        np.random.set_state(state)
        arguments = make()
        found.append((run(*arguments), arguments, np.random.randn(3), np.random.rand()))
    return found


@pytest.mark.parametrize("size", [5, 700])
def test_as_numpy(size):
    np.random.seed(size)
    np.random.randn()  # one normal number is left over
    mine, theirs = _both(all_of_them, lambda: (size, np.arange(9.0)))
    assert alike(mine, theirs)
    assert alike(*_both(seeded, lambda: (size,)))
    assert alike(*_both(rows_of, lambda: (size, None)))
    assert alike(*_both(through_a_helper, lambda: (np.arange(float(size)),)))


@pytest.mark.parametrize("call", ["uniform(0.0, np.inf)", "normal(0.0, -1.0)", "randint(3, 3)", "seed(-1)"])
def test_errors(call, tmp_path):
    namespace = {"np": np}
    path = tmp_path / "draws.py"
    path.write_text(f"def f(n):\n    np.random.{call}\n    return n\n")
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    with pytest.raises((ValueError, OverflowError)) as expected:
        namespace["f"](3)
    with pytest.raises(type(expected.value)):
        lw.kernel(namespace["f"])(3)


def test_refused():
    with pytest.raises(lw.KernelError, match=r"'np\.random\.hypergeometric' is outside the language"):
        lw.kernel(hypergeometric)(3)


def hypergeometric(n):
    return np.random.hypergeometric(n, 3, 2)


def test_another_kind_of_generator_is_refused():
    old = np.random.get_bit_generator()
    kernel = lw.kernel(seeded)
    kernel(1)
    np.random.set_bit_generator(np.random.PCG64(1))
    try:
        with pytest.raises(TypeError, match="MT19937 only"):
            kernel(1)
    finally:
        np.random.set_bit_generator(old)


def test_threads_draw_one_after_the_other():
    kernel, found = lw.kernel(total), list[float]()
    kernel(1)
    np.random.seed(5)
    threads = [threading.Thread(target=lambda: found.append(kernel(10_000))) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    np.random.seed(5)
    assert sorted(found) == sorted(total(10_000) for _ in range(3))


def total(n):
    result = 0.0
    for _ in range(n):
        result += np.random.rand()
    return result


def test_what_draws_can_be_explained():
    kernel = lw.kernel(seeded)
    assert "for _ in range(n)" in str(kernel.explain(2))


def of_a_pair(pair, n):
    for i in range(n):
        pair[0][i] = np.random.normal() * pair[1]
    return pair[0].sum()


def test_other_ways_to_call():
    def make():
        return (np.zeros(5), 2.0), 5

    assert alike(*_both(of_a_pair, make))
    for kernel in (lw.kernel(strict=True)(total), njit(total)):
        np.random.seed(2)
        found = kernel(7)
        np.random.seed(2)
        assert found == total(7)


def of_no_number(a):
    scale = a[0] / a[1]
    return np.random.normal(0.0, scale), np.random.exponential(scale), np.random.gamma(scale, 1.0)


def test_a_scale_that_is_no_number_is_none_below_zero():
    """0.0 / 0.0 has a sign bit on x86."""
    for value in (np.nan, -np.nan):
        np.random.seed(2)
        assert np.isnan(lw.kernel(of_no_number)(np.array([value, 1.0]))).all()
    assert np.isnan(lw.kernel(of_no_number)(np.zeros(2))).all()
    with pytest.raises(ValueError, match="scale < 0"):
        lw.kernel(of_no_number)(np.array([-0.0, 1.0]))
