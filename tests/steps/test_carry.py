from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.ir.text import print_kernel
from loopwright.steps.carry import Carry
from steps.before_after import check_same
from steps.kernels import known
from steps.pictures import check_picture

SUMS = """
kernel sums(o: float64[2] C, a: float64[1] C, r: int64):
    for i in 1 .. min(size(o, 1), size(a, 0)):
        {body}
"""


def test_the_picture() -> None:
    check_picture(Carry)


@pytest.mark.parametrize(
    "body",
    [
        "o[0, i] = o[0, i - 1] + a[i]",
        "o[0, i] = 0.5 * o[0, i - 1] * o[0, i - 1] - a[i - 1]",
        "a[i] = a[i] + o[0, i - 1]\n        o[0, i] = o[0, i - 1] + a[i]",
        "a[i] = o[0, i]\n        o[0, i] = o[0, i] + 0.5 * o[0, i - 1]",
        "a[i] = 1.0 if r < i and o[0, i - 1] > 0.0 else 2.0\n        o[0, i] = o[0, i - 1]",
        "if a[i] > 3.0:\n            o[0, i] = a[i]\n        else:\n            o[0, i] = o[0, i - 1] + a[i]",
        "if a[i] > 3.0:\n            o[0, i] = a[i - 1] + o[0, i]\n        else:\n            o[0, i] = o[0, i - 1]\n"
        "            if o[0, i] > 1.0:\n                a[i] = o[0, i] + 1.0\n        a[i] = a[i] - o[0, i]",
    ],
)
def test_what_the_next_iteration_reads_is_in_a_scalar(body: str, tmp_path: Path) -> None:
    calls: list[list[object]] = [[np.full((1, n), 2.0), np.arange(m) + 1.0, 0] for n in (0, 1, 2, 9) for m in (0, 1, 9)]
    text = print_kernel(check_same(SUMS.format(body=body), "carry o i", calls, tmp_path))
    assert "o[0, i] = o.c" in text and text.count("o[0, i - 1]") == 0


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("o[0, i] = o[0, i] + a[i]", "iteration before"),
        ("o[0, i] = o[0, 0] + a[i]", "iteration before"),
        ("o[1, i] = o[0, i] + a[i]", "iteration before"),
        ("o[i, i] = o[i - 1, i - 1] + a[i]", "next element"),
        ("o[0, i] = a[i]\n        a[i] = o[0, i - 1]", "behind the write"),
        (
            "if a[i] > 0.0:\n            o[0, i] = a[i]\n            a[i] = o[0, i - 1]\n"
            "        else:\n            o[0, i] = o[0, i - 1]",
            "behind the write",
        ),
        ("if a[i] > 0.0:\n            o[0, i] = o[0, i - 1]\n        o[0, i] = o[0, i - 1]", "next element"),
        ("if a[i] > 0.0:\n            o[0, i] = a[i]\n        else:\n            o[0, i - 1] = a[i]", "next element"),
        ("if a[i] > 0.0:\n            o[0, i] = o[0, i - 1] + a[i]", "next element"),
        ("o[0, 2 * i] = o[0, 2 * i - 1]", "next element"),
        ("o[0, i] = o[0, i - 1] + o[0, i - 2]", "iteration before"),
    ],
)
def test_refusals_say_why(body: str, word: str) -> None:
    rejection = Carry("o", "i").illegal(*known(SUMS.format(body=body)), strict=False)
    assert rejection is not None and word in rejection.reason


def cumulated(y, o):
    o[0] = 0.0
    for i in range(1, len(y)):
        o[i] = o[i - 1] + 0.5 * (y[i] + y[i - 1])


def begins(counts, ptr):
    ptr[0] = 0
    for i in range(len(counts)):
        ptr[i + 1] = ptr[i] + counts[i]


def in_place(x, ptr):
    for i in range(1, len(ptr)):
        ptr[i] += ptr[i - 1]


def growth(x, y):
    for i in range(1, len(x)):
        y[i] = y[i - 1] * y[i - 1] + x[i]


def within_accounts(account, amount, balance, number):
    for i in range(account.size):
        if i == 0 or account[i] != account[i - 1]:
            balance[i] = amount[i]
            number[i] = 1
        else:
            balance[i] = balance[i - 1] + amount[i]
            number[i] = number[i - 1] + 1


def last_known(given, amount, filled, gap):
    for i in range(given.size):
        if given[i] % 3 == 0 and i > 0:
            filled[i] = filled[i - 1]
            gap[i] = gap[i - 1] + 1
        else:
            filled[i] = amount[i]
            gap[i] = 0


def sums_of_sums(given, amount, once, twice):
    for i in range(given.size):
        if i == 0:
            once[i] = amount[i]
            twice[i] = 0
        else:
            once[i] = once[i - 1] + amount[i]
            twice[i] = twice[i - 1] + once[i] * (given[i] % 2)


@pytest.mark.parametrize("n", [0, 1, 2, 33, 5000])
@pytest.mark.parametrize("function", [within_accounts, last_known, sums_of_sums])
def test_what_a_condition_begins_anew(function: Any, n: int) -> None:
    """As windows over groups that are sorted do, and values that fill gaps."""
    draw, kernel = np.random.default_rng(n), lw.kernel(function)
    args = (np.sort(draw.integers(0, n // 9 + 1, n)), draw.integers(-9, 10, n), np.arange(n), np.arange(n))
    right = [one.copy() for one in args]
    function(*right)
    with lw.options(device="emulated"):
        kernel(*args)
        schedule = str(kernel.explain(*args).to_dict()["schedule"])
    for mine, wanted in zip(args, right, strict=True):
        np.testing.assert_array_equal(mine, wanted)
    assert schedule.count("carry ") == 2 and "scan i " in schedule


AT_FIRST = """
kernel first(o: float64[2] C, a: float64[1] C, r: int64):
    for i in 0 .. min(size(o, 1), size(a, 0)):
        if i > r and i > 0:
            o[0, i] = o[0, i - 1] + a[i]
        else:
            o[0, i] = a[i]
"""


def test_there_may_be_no_element_before_the_first(tmp_path: Path) -> None:
    calls: list[list[object]] = [
        [np.full((1, n), 2.0), np.arange(9) + 1.0, r] for n in (0, 1, 2, 9) for r in (-5, 0, 4)
    ]
    text = print_kernel(check_same(AT_FIRST, "carry o i", calls, tmp_path))
    assert "o.c = 0.0" in text and ">= 0" in text


@pytest.mark.parametrize("n", [1, 2, 3, 5000])
@pytest.mark.parametrize("function", [cumulated, begins, in_place])
def test_running_sums_in_arrays_are_shared_on_a_gpu(function: Any, n: int) -> None:
    kernel, given = lw.kernel(function), np.arange(n) % 7
    args = (given + 0.0, np.zeros(n)) if function is cumulated else (given, np.arange(n + 1))
    right = [one.copy() for one in args]
    function(*right)
    with lw.options(device="emulated"):
        kernel(*args)
        schedule = str(kernel.explain(*args).to_dict()["schedule"])
    np.testing.assert_array_equal(args[1], right[1])
    assert schedule.startswith("carry") and "scan i 1024" in schedule


BACK = """
kernel back(o: float64[2] C, a: float64[1] C, r: int64):
    for i in {counts}:
        {body}
"""


@pytest.mark.parametrize(
    ("counts", "body"),
    [
        ("size(o, 1) - 2 .. -1 step -1", "o[0, i] = a[0] - 0.5 * o[0, i + 1]"),
        ("2 .. size(o, 1) step 2", "o[0, i] = o[0, i - 2] + float64(i)"),
        ("1 .. size(o, 1)", "o[0, size(o, 1) - i - 1] = a[0] * o[0, size(o, 1) - i] + 1.0"),
        ("size(o, 1) - 4 .. -1 step -3", "o[0, i] = o[0, i + 3] * a[0]"),
    ],
)
def test_loops_backwards_and_in_steps(counts: str, body: str, tmp_path: Path) -> None:
    calls: list[list[object]] = [[np.arange(n)[None, :] + 1.0, np.array([2.0]), 0] for n in (0, 1, 2, 3, 4, 5, 9)]
    text = print_kernel(check_same(BACK.format(counts=counts, body=body), "carry o i", calls, tmp_path))
    assert text.count("o.c = ") == 2 and f"o[0, {body[5:].partition(']')[0]}] = o.c" in text


def test_steps_that_do_not_meet_what_was_written_are_no_recurrence() -> None:
    for counts, body in (
        ("2 .. size(o, 1) step 2", "o[0, i] = o[0, i - 1]"),
        ("0 .. size(o, 1) - 1", "o[0, i] = o[0, i + 1]"),
    ):
        rejection = Carry("o", "i").illegal(*known(BACK.format(counts=counts, body=body)), strict=False)
        assert rejection is not None and "iteration before" in rejection.reason


def test_what_is_no_recurrence_stays_as_it_is() -> None:
    kernel, x, y = lw.kernel(growth), np.arange(9.0), np.ones(9)
    with lw.options(device="emulated"):
        kernel(x, y)
        assert "carry" not in str(kernel.explain(x, y).to_dict()["schedule"])


@pytest.mark.parametrize(
    "body",
    [
        "if a[i] > 3.0:\n            o[0, i] = a[i] + o[0, i - 1]\n        else:\n            o[0, i] = 0.0",
        "o[0, i] = 2.0\n        o[0, i] = min(o[0, i], o[0, i - 1])\n        if a[i] > 3.0:\n            o[0, i] = 9.0",
        "o[0, i] = a[i] * o[0, r]\n        a[i] = o[0, i - 1]",
    ],
)
def test_elements_that_are_written_anyhow_are_read_again(body: str, tmp_path: Path) -> None:
    calls: list[list[object]] = [[np.full((1, n), 2.0), np.arange(m) + 1.0, 0] for n in (1, 2, 9) for m in (0, 1, 9)]
    text = print_kernel(check_same(SUMS.format(body=body), "carry o i again", calls, tmp_path))
    assert "o.c = o[0, i]\n" in text and text.count("o[0, i - 1]") == 0


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("if a[i] > 0.0:\n            o[0, i] = o[0, i - 1]", "not every iteration"),
        ("o[0, i] = o[0, i - 1]\n        o[0, r] = 1.0", "next element"),
        ("o[0, i] = o[0, r]", "iteration before"),
    ],
)
def test_what_is_not_read_again(body: str, word: str) -> None:
    rejection = Carry("o", "i", again=True).illegal(*known(SUMS.format(body=body)), strict=False)
    assert rejection is not None and word in rejection.reason
