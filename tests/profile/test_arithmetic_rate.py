"""What a machine's cores compute at most: it is measured, for the instructions that kernels get."""

from __future__ import annotations

import platform
import time

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.errors import CompilerError
from loopwright.profile.arithmetic_rate import measured_peak


def test_no_library_is_faster_than_the_peak() -> None:
    """A product by BLAS comes near it on a quiet machine, and not above; a hundredth of the peak is no peak."""
    a = np.random.default_rng(1).random((400, 400))
    peak = measured_peak(1, current().tools)
    best_s = float("inf")
    for _ in range(20):
        started = time.process_time()
        a @ a
        best_s = min(best_s, time.process_time() - started)
    reached = 2 * 400**3 / best_s
    assert reached / 20 < peak < 1e13


def test_vectors_have_the_width_that_kernels_get() -> None:
    """Half the width, half the peak, at most; a busy machine may say anything in between."""
    with lw.options(compiler_flags=("-march=x86-64",)) if _x86() else lw.options():
        narrow = max(measured_peak(1, current().tools) for _ in range(3))
    assert 1e8 < narrow < 1.5 * max(measured_peak(1, current().tools) for _ in range(3))


def test_without_a_compiler() -> None:
    with lw.options(compiler="/nowhere/cc"), pytest.raises(CompilerError):
        measured_peak(1, current().tools)


def _x86() -> bool:
    return "x86" in platform.machine()
