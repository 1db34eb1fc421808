from __future__ import annotations

import numpy as np
import pytest

import loopwright as lw
from loopwright.memory.tokens import tokens_of


@pytest.fixture
def array() -> lw.DeviceArray:
    with lw.options(device="emulated"):
        return lw.device_array(np.arange(12.0).reshape(3, 4))


def test_numbers_are_told_apart_by_type_only(array: lw.DeviceArray) -> None:
    assert tokens_of((array, 1, 2.5)) == tokens_of((array, 7, -1.0))
    assert len({tokens_of((array, one)) for one in (1, 1.0, True)}) == 3


def test_an_array_is_told_by_where_it_lies_and_how(array: lw.DeviceArray) -> None:
    with lw.options(device="emulated"):
        other = lw.device_array(np.arange(12.0).reshape(3, 4))
    assert tokens_of((array,)) == tokens_of((array,)) != tokens_of((other,))


@pytest.mark.parametrize("other", [np.zeros(3), np.float64(1.0), "text", None, (1, 2), [1]])
def test_what_has_to_be_looked_at_has_no_token(array: lw.DeviceArray, other: object) -> None:
    assert tokens_of((array, other)) is None


@lw.kernel
def scaled(a, b, factor=2.0):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = factor * a[i, j]


@lw.kernel
def total(a, start):
    s = start
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j]
    return s


def test_repeated_calls_see_new_numbers_and_new_elements(array: lw.DeviceArray) -> None:
    with lw.options(device="emulated"):
        result = lw.device_array(np.zeros((3, 4)))
    for factor in (1.0, 3.0, -2.0):
        scaled(array, result, factor)
        assert np.array_equal(result.numpy(), factor * array.numpy())
    array.copy_from(np.ones((3, 4)))
    for _ in range(3):
        scaled(array, result)
        assert np.array_equal(result.numpy(), 2.0 * np.ones((3, 4)))


def test_repeated_calls_return_what_they_return(array: lw.DeviceArray) -> None:
    for start in (0.0, 10.0, -4.0, 10.0):
        assert total(array, start) == start + 66.0
    assert total(array, 1) == 67


def test_a_number_that_the_condition_on_the_sizes_does_not_allow_is_no_repetition(array: lw.DeviceArray) -> None:
    @lw.kernel
    def first(a, n):
        for i in range(n):
            for j in range(a.shape[1]):
                a[i, j] = 0.0

    first(array, 1)
    first(array, 1)
    with pytest.raises(lw.BoundsError):
        first(array, 4)
    assert np.array_equal(array.numpy()[1:], np.arange(4.0, 12.0).reshape(2, 4))
    first(array, 2)
    assert np.array_equal(array.numpy()[2], np.arange(8.0, 12.0))


def test_other_options_are_no_repetition(array: lw.DeviceArray) -> None:
    assert total(array, 0.0) == 66.0
    with pytest.raises(lw.ArgumentTypeError), lw.options(device="cpu"):
        total(array, 0.0)


@lw.kernel
def through_a_local_array(a, n):
    t = np.zeros(n)
    for i in range(n):
        t[i] = a[0, 0] + i
    for i in range(n):
        a[0, 0] += t[i]


def test_an_error_of_a_repeated_call_is_the_same_as_of_the_first(array: lw.DeviceArray) -> None:
    """Found: it came out as an exception of our own, whose only word was the real one."""
    for _ in range(2):
        with pytest.raises(ValueError, match="negative dimensions"):
            through_a_local_array(array, -1)
        through_a_local_array(array, 2)
    with lw.options(device="emulated"):
        fresh = lw.device_array(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="negative dimensions"):
        through_a_local_array(fresh, -1)
