"""Iterations sorted by their keys on the emulated device, which reports every race and every meeting that not all come
to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from analysis.irregular_programs import arguments_of, irregular_program
from codegen.on_gpu import agree, device_text
from frontend.judge import define
from loopwright.analysis.analyse import analyse
from loopwright.codegen.counting_sort import ITEMS
from loopwright.ir.interp import interpret
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import Compilation
from loopwright.runtime.dispatch import Dispatch
from loopwright.specialisation import Specialisation, specialise_kernel

KEYS = """
kernel sort(k: uint8[1] C, b: int64[1] C, o: int64[1] C):
    for s in 0 .. 1 sorted:
        for c in 0 .. size(k, 0) sorted:
            b[int64(k[c]) + 1] = b[int64(k[c]) + 1] + 1
        for a in 0 .. 256 sorted:
            b[a + 1] = b[a + 1] + b[a]
        for p in 0 .. size(k, 0) sorted:
            o[max(min(b[int64(k[p])], size(k, 0) - 1), 0)] = p
            b[int64(k[p])] = b[int64(k[p])] + 1
"""
BOUND = (
    "redirect i; split i.a 64; bind i.a.o block.x; bind i.a thread.x; "
    "split i.t 32; bind i.t.o block.x; bind i.t thread.x"
)


def on_emulated(text: str) -> Callable[..., object]:
    """The kernel of an IR text, to be called on the emulated device."""
    kernel = parse_kernel(text)
    names = [param.name for param in kernel.params]

    def compiled(wanted: Compilation) -> Specialisation:
        return specialise_kernel(kernel, analyse(kernel), wanted)

    dispatch = Dispatch(kernel.name, names, {}, names, compiled)

    def call(*arguments: object) -> object:
        with lw.options(device="emulated", schedule=" "):
            return dispatch.call(*arguments)

    return call


def distributions(n: int) -> list[np.ndarray]:
    """Keys of many kinds."""
    draw = np.random.default_rng(n)
    return [
        draw.integers(0, 256, n),
        np.zeros(n, np.int64),
        np.full(n, 255),
        np.arange(n)[::-1] % 256,
        np.where(np.arange(n) % 32 == 5, 7, 200),
        np.minimum(draw.zipf(1.3, n), 255),
    ]


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 255, ITEMS - 1, ITEMS, ITEMS + 1, 3 * ITEMS + 77])
def test_a_stable_sort(n: int) -> None:
    sort = on_emulated(KEYS)
    for keys in distributions(n):
        order, begins = np.full(n, -1), np.zeros(257, np.int64)
        sort(keys.astype(np.uint8), begins, order)
        assert order.tolist() == np.argsort(keys, kind="stable").tolist()


def test_more_blocks_than_one_round_of_sums_has() -> None:
    n = 300 * ITEMS + 5
    keys = np.random.default_rng(3).integers(0, 3, n)
    order = np.full(n, -1)
    on_emulated(KEYS)(keys.astype(np.uint8), np.zeros(257, np.int64), order)
    assert np.array_equal(order, np.argsort(keys, kind="stable"))


def test_the_interpreter_means_the_same() -> None:
    for keys in distributions(500):
        order = np.full(500, -1)
        interpret(parse_kernel(KEYS), [keys.astype(np.uint8), np.zeros(257, np.int64), order])
        assert order.tolist() == np.argsort(keys, kind="stable").tolist()


# ---- whole kernels ----------------------------------------------------------------------------------------------


def work(t, x, index, a):
    for i in range(a.shape[0]):
        s = 0.0
        if x[index[i]] > 0.0:
            for _k in range(t[i]):
                s = s * 0.5 + x[i]
        else:
            s = a[i]
        a[i] = s + 1.0


def arguments(n: int) -> tuple[np.ndarray, ...]:
    """Of `work`; NaN among them."""
    draw = np.random.default_rng(n)
    x = draw.integers(-3, 4, n).astype(float)
    x[::7] = np.nan
    return draw.integers(-2, 30, n), x, draw.integers(0, max(n, 1), n), draw.integers(0, 9, n).astype(float)


@pytest.mark.parametrize("n", [0, 1, 5, 33, 700])
def test_redirected_iterations_compute_the_same(n: int) -> None:
    found = agree(work, *arguments(n), schedule=BOUND)
    assert "lw_sort_places<8>" in device_text(found)


def test_reversed_and_strided_arrays() -> None:
    t, x, index, _ = arguments(90)
    agree(work, t[::-1], x, index, lambda: np.zeros(180)[::-2], schedule=BOUND)


def test_the_same_array_twice() -> None:
    def twice(t, u):
        for i in range(t.shape[0]):
            for _k in range(u[i]):
                t[i] += 2

    def once(t):
        for i in range(t.shape[0]):
            for _k in range(t[i]):
                t[i] += 2

    agree(once, np.arange(70) % 9, schedule=BOUND)
    array, wanted = np.arange(70) % 9, np.arange(70) % 9
    twice(wanted, wanted)
    with lw.options(device="emulated", schedule=BOUND):
        lw.kernel(twice)(array, array)
    assert np.array_equal(array, wanted)


def test_arguments_that_overlap_are_left_alone() -> None:
    buffer, wanted = np.arange(100.0) % 5, np.arange(100.0) % 5
    t, index = np.arange(60) % 4, np.arange(60)
    work(t, wanted[:60], index, wanted[30:90])
    with lw.options(device="emulated", schedule=BOUND), pytest.raises(lw.ScheduleError, match="overlap in memory"):
        lw.kernel(work)(t, buffer[:60], index, buffer[30:90])
    assert np.array_equal(buffer, np.arange(100.0) % 5)


def test_a_failing_check_is_that_of_the_users_iteration() -> None:
    t, x, index, a = arguments(100)
    index[57] = 1234
    for schedule in ("", BOUND):
        with lw.options(device="emulated", schedule=schedule), pytest.raises(lw.BoundsError) as failed:
            lw.kernel(work)(t, x, index, a.copy())
        assert (failed.value.array, failed.value.index, failed.value.size) == ("x", 1234, 100)


def test_inside_a_loop_over_time() -> None:
    def steps(t, a):
        for _step in range(3):
            for i in range(a.shape[0]):
                for _k in range(t[i]):
                    a[i] = a[i] * 0.5 + 1.0
                t[i] = 7 - t[i]

    agree(steps, np.arange(77) % 8, np.zeros(77), schedule=BOUND)


REFUSED = ("depends on data", "is not known before", "can be left in the middle")


@pytest.mark.parametrize("options", [{"schedule": BOUND}, {"remap": "redirect i"}], ids=["schedule", "remap"])
@pytest.mark.parametrize("first", [0, 30])
def test_random_irregular_programs(first: int, options: dict[str, Any]) -> None:
    done = 0
    for seed in range(first, first + 30):
        kernel = define(irregular_program(seed), f"irregular{seed}.py")
        wanted, got = arguments_of(seed, 45), arguments_of(seed, 45)
        with np.errstate(all="ignore"):
            kernel(*wanted)
        try:
            with lw.options(device="emulated", strict=True, compiler_flags=("-O0",), **options):
                lw.kernel(kernel)(*got)  # what is left for the host is launches
        except lw.ScheduleError as why:
            assert any(words in str(why) for words in REFUSED)
            continue
        for mine, right in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(mine, right)
        done += 1
    assert done > 5
