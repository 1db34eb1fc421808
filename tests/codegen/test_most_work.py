"""What a thread of a launch does at most, which kernels ask by it whether to stop, how many blocks start at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from codegen.on_gpu import agree, device_text
from loopwright.analysis.analyse import analyse
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.codegen.most_work import Amount, most_work
from loopwright.devices import emulated
from loopwright.ir.nodes import For
from loopwright.ir.text import parse_kernel

N, M = 37, 11


def work(body: str) -> Amount:
    """Of a thread that has one iteration of i, in 0 .. n, for this body; numbers where the host has n and m."""
    lines = "\n".join(f"        {line}" for line in body.splitlines())
    kernel = parse_kernel(
        "kernel some(a: float64[1] C, b: int64[1] C, n: int64, m: int64):\n    var x: float64\n    var k: int64\n"
        f"    for i in 0 .. n:\n{lines}\n"
    )
    (loop,) = kernel.body
    assert isinstance(loop, For)
    found = most_work((loop,), loop.body, (), GpuWriter(kernel, analyse(kernel), False))
    if not isinstance(found, str):
        return found
    names: dict[str, Any] = {"n_": N, "m_": M, "a_n0_": 100, "double": None}
    names |= {"LW_MAX": lambda _, a, b: max(a, b), "LW_MIN": lambda _, a, b: min(a, b)}
    return float(eval(found.replace("(double)", ""), names))


@pytest.mark.parametrize(
    ("loop", "trips"),
    [
        ("for j in 0 .. 8:", 8),
        ("for j in i .. i + 8 step 3:", 3),
        ("for j in i .. min(i + 8, n):", 8),
        ("for j in 0 .. n:", N),
        ("for j in 2 .. m step 2:", (M - 2) / 2),
        ("for j in n - 1 .. -1 step -1:", N),
        ("for j in 0 .. i:", N),
        ("for j in i .. n:", N),
        ("for j in 0 .. n - i:", N),
        ("for j in 0 .. size(a, 0) // 2:", 50),
        ("for j in 0 .. 3 * m:", 3 * M),
        ("for j in 0 .. min(b[i], m):", M),
        ("for j in 0 .. b[i] % 5:", 5),
        ("for j in n .. n:", 0),
    ],
)
def test_a_bound_of_trips_that_is_not_far_off(loop: str, trips: float) -> None:
    found = work(f"{loop}\n    x = x + 1.0")
    each = work("x = x + 1.0")
    assert isinstance(found, float) and isinstance(each, float)
    assert trips * (each + 1) <= found - work("for j in 0 .. 0:\n    x = x + 1.0") + 1e-9 + 9  # type: ignore[operator]
    assert found <= (trips + 2) * (each + 1) + 99


@pytest.mark.parametrize(
    "body",
    [
        "for j in 0 .. b[i]:\n    x = x + 1.0",
        "k = 3\nfor j in 0 .. k:\n    x = x + 1.0",
        "for j in 0 .. i * i:\n    x = x + 1.0",
        "for j in 0 .. max(b[i], m):\n    x = x + 1.0",
        "for j in 0 .. n:\n    for l in 0 .. b[j]:\n        x = x + 1.0",
        "while k > 0 named w:\n    k = k - 1",
        "if n > 3:\n    for j in 0 .. b[i]:\n        x = x + 1.0",
    ],
)
def test_only_data_tell(body: str) -> None:
    assert work(body) is None


def test_memory_counts_for_more_than_arithmetic() -> None:
    plain, loads = work("x = x + 1.0"), work("x = a[i] + 1.0")
    assert isinstance(plain, float) and isinstance(loads, float) and loads > 8 * plain


def add(a, b):
    for i in range(len(a)):
        b[i] = a[i] + 1.0


def power(a, n):
    for i in range(len(a)):
        for _ in range(n):
            a[i] = a[i] * 0.5 + 1.0


def plane(a, b, n):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            for _ in range(n):
                b[i, j] += a[i, j]


def halves(a):
    for i in range(len(a)):
        while a[i] > 1.0:
            a[i] = a[i] * 0.5


def histogram(b, h):
    for i in range(len(b)):
        h[b[i]] += 1


def test_blocks_that_share_many_parts_are_one_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found: each block counted as if it did all the parts that one may have, and every part was a launch."""
    works: list[int] = []
    launched = emulated.EmulatedModule._launched

    def noting(self: Any, *others: Any) -> int:
        works.append(others[-1])
        return launched(self, *others)

    monkeypatch.setattr(emulated.EmulatedModule, "_launched", noting)
    agree(histogram, np.arange(200_000) % 7, np.zeros(7, np.int64))
    assert len(works) == 1


def test_which_kernels_ask() -> None:
    a = np.arange(40.0)
    constant, sizes, data = (
        device_text(agree(function, *arguments))
        for function, *arguments in ((add, a, np.zeros(40)), (power, a, 9), (halves, a))
    )
    assert "LW_STOPS" not in constant and "lw_stopped" not in constant
    assert all(f"_asks{bits}(" in sizes for bits in (32, 64))
    assert "LW_STOPS" in data and "_asks" not in data


@pytest.mark.parametrize("most", [1, 1 << 10, 1 << 19])
def test_pieces_of_launches(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few blocks start at once, and whichever kernel runs, results are the same."""
    launches: list[str] = []
    launched = emulated.EmulatedModule._launched

    def noting(self: Any, kernel: int, *others: Any) -> int:
        launches.append(self._kernels[kernel])
        return launched(self, kernel, *others)

    monkeypatch.setattr(emulated.EmulatedModule, "_launched", noting)
    monkeypatch.setattr(emulated, "MOST_UNITS", most)
    agree(add, np.arange(20000.0), np.zeros(20000))
    assert (len(launches) > 4) == (most == 1) and not any("_asks" in name for name in launches)
    launches.clear()
    agree(power, np.arange(300.0), 200)
    assert all("_asks" in name for name in launches) == (most < 1 << 19)
    agree(plane, np.ones((50, 70)), np.zeros((50, 70)), 3)
    agree(halves, np.arange(300.0))
