"""Functions of the C library for whole vector registers: near enough, in loops for lanes only, and not where the same
bits are asked for."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import loopwright as lw
from loopwright.codegen.openmp import HEADER

UNITS = 5  # in the last place: libmvec's 4, and one of what it is compared with
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-310, 1e-20, 700.0, -750.0, 1e10, -1e22, 1e300, np.inf, -np.inf, np.nan]
ONE = ("exp", "log", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
       "arctanh", "exp2", "expm1", "log2", "log1p")  # fmt: skip


@lw.kernel
def all_of_one(x, y):
    for i in range(x.shape[0]):
        y[0, i] = np.exp(x[i])
        y[1, i] = np.log(x[i])
        y[2, i] = np.sin(x[i])
        y[3, i] = np.cos(x[i])
        y[4, i] = np.tan(x[i])
        y[5, i] = np.arcsin(x[i])
        y[6, i] = np.arccos(x[i])
        y[7, i] = np.arctan(x[i])
        y[8, i] = np.sinh(x[i])
        y[9, i] = np.cosh(x[i])
        y[10, i] = np.tanh(x[i])
        y[11, i] = np.arcsinh(x[i])
        y[12, i] = np.arccosh(x[i])
        y[13, i] = np.arctanh(x[i])
        y[14, i] = np.exp2(x[i])
        y[15, i] = np.expm1(x[i])
        y[16, i] = np.log2(x[i])
        y[17, i] = np.log1p(x[i])


@lw.kernel
def all_of_two(x, z, y):
    for i in range(x.shape[0]):
        y[0, i] = np.arctan2(x[i], z[i])
        y[1, i] = np.hypot(x[i], z[i])
        y[2, i] = x[i] ** z[i]


def near(found: np.ndarray, right: np.ndarray, dtype: str) -> np.ndarray:
    """Where numbers are the same but for their last digits; zeros with their signs, NaN and infinity exactly."""
    with np.errstate(all="ignore"):
        units = np.abs(found - right) <= UNITS * np.spacing(np.abs(right).astype(dtype))
    exact = (found == right) & (np.signbit(found) == np.signbit(right)) | (np.isnan(found) & np.isnan(right))
    return exact | (units & np.isfinite(right) & (right != 0))


def numbers(dtype: str) -> np.ndarray:
    draws = np.random.default_rng(5)
    with np.errstate(over="ignore"):
        return np.concatenate([SPECIAL, draws.uniform(-1, 1, 491), draws.uniform(-80, 80, 500)]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_they_are_within_units_of_the_last_place(dtype: str) -> None:
    x = numbers(dtype)
    found = np.empty((len(ONE), len(x)), dtype)
    all_of_one(x, found)
    with np.errstate(all="ignore"):
        right = np.array([getattr(np, name)(x) for name in ONE])
    wrong = [name for name, good in zip(ONE, near(found, right, dtype), strict=True) if not good.all()]
    assert not wrong


def test_two_arguments_and_powers_of_whole_numbers() -> None:
    x, z = (one.ravel() for one in np.meshgrid(np.arange(1.0, 40), np.arange(0.0, 9)))
    found = np.empty((3, len(x)))
    all_of_two(x, z, found)
    assert near(found[:2], np.array([np.arctan2(x, z), np.hypot(x, z)]), "float64").all()
    whole = np.array([float(int(a) ** int(b)) for a, b in zip(x, z, strict=True)])
    assert (found[2] == whole)[whole < 2.0**53].all()


@lw.kernel
def waves(x):
    return np.sin(x) * np.exp(-x)


def test_strict_takes_the_functions_that_math_has() -> None:
    x = np.random.default_rng(1).uniform(0, 30, 1000)
    with lw.options(strict=True):
        found = waves(x)
    assert found.tolist() == [math.sin(one) * math.exp(-one) for one in x]


def test_deterministic_gives_the_same_bits_with_any_number_of_threads() -> None:
    x = np.random.default_rng(1).uniform(0, 30, 100_003)
    found = []
    for threads in (1, 2, 3):
        with lw.options(deterministic=True, threads=threads):
            found.append(waves(x).tobytes())
    assert found[0] == found[1] == found[2]


@lw.kernel
def walked(x):
    value = 0.5
    for i in range(x.shape[0]):
        value = math.sin(value + x[i])
    return value


def test_only_in_loops_for_lanes() -> None:
    x = np.linspace(0, 1, 100)
    assert "LW_VECTOR(exp)" in waves.specialise(x).program.text[len(HEADER) :]
    assert "LW_VECTOR" not in walked.specialise(x).program.text[len(HEADER) :]
    with lw.options(strict=True):
        assert "LW_VECTOR" not in waves.specialise(x).program.text[len(HEADER) :]


def test_every_function_that_may_be_asked_for_is_declared() -> None:
    from loopwright.codegen.c_text import LIBRARY, VECTOR_FUNCTIONS

    declared = set(re.findall(r"^LW_FUNCTION(?:_2)?\((\w+),", HEADER, re.MULTILINE))
    declared |= set(re.findall(r"^LW_PURE double lw_vector_(\w+)\(double", HEADER, re.MULTILINE))
    assert declared == {LIBRARY.get(name, name) for name in VECTOR_FUNCTIONS} | {"pow"}


@lw.kernel
def amplitudes(x, h, out):
    for k in range(h.shape[0]):
        re = 0.0
        im = 0.0
        for j in range(x.shape[0]):
            re += math.cos(h[k] * x[j])
            im += math.sin(h[k] * x[j])
        out[k] = re * re + im * im


def test_eight_iterations_with_dear_functions_are_worth_lanes() -> None:
    """Half a register at once up to 31 of them."""
    h = np.arange(5.0)
    for n in (0, 1, 7, 8, 9, 12, 31, 32, 50):
        x, out = np.random.default_rng(n).random(n), np.zeros(5)
        amplitudes(x, h, out)
        np.testing.assert_allclose(out, np.abs(np.exp(1j * np.outer(h, x)).sum(axis=1)) ** 2, atol=1e-12)
    text = amplitudes.specialise(x, h, out).program.text[len(HEADER) :]
    assert ">= 8)" in text and text.count("simdlen(4)") == 1


@lw.kernel
def moments(x, few, many):
    for i in range(len(x)):
        for a in range(3):
            few[a] += x[i] ** a
        for a in range(8):
            many[a] += x[i] ** a


def test_a_loop_that_fills_no_register_takes_powers_by_products() -> None:
    x, few, many = np.linspace(0.5, 2, 40), np.zeros(3), np.zeros(8)
    text = moments.specialise(x, few, many).program.text[len(HEADER) :]
    assert "lw_whole_power_float64(x_" in text and "LW_VECTOR(pow)(x_" in text
    moments(x, few, many)
    np.testing.assert_allclose(np.append(few, many), [(x**a).sum() for a in (*range(3), *range(8))], rtol=1e-13)
