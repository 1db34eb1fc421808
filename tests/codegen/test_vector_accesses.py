"""Loops marked `vector` inside threads of a GPU: which accesses are wide, and that the results are the same where rows
or arrays do not begin at multiples of the width. The emulated device reports every access that is not aligned."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text
from loopwright.codegen import vector_accesses
from loopwright.errors import DeviceError

RANDOM = np.random.default_rng(3)
WIDE = re.compile(r"lw_(read|write)<(\d+)>\((\w+?)_+,")


def numbers(*shape: int, dtype: Any = np.float32) -> Any:
    return RANDOM.integers(0, 9, shape).astype(dtype)


def accesses(found: Any) -> set[str]:
    return {f"{kind} {name} {count}" for kind, count, name in WIDE.findall(device_text(found))}


def sums(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = a[i, j] + 2 * b[i, j]


TILES = (
    "tile i 4 j 64; specialize i j full; split j 4; bind i.o block.y; bind j.o block.x; bind i thread.y; "
    "bind j.o.1 thread.x; vectorize j; bind i.1 thread.y 4; bind j.1 thread.x 16"
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int16, np.bool_])
@pytest.mark.parametrize("shape", [(8, 64), (5, 129), (4, 66), (4, 72), (0, 64)])
def test_rows_of_any_length(dtype: Any, shape: tuple[int, int]) -> None:
    def chosen(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                c[i, j] = a[i, j] != b[i, j]

    kernel = chosen if dtype is np.bool_ else sums
    count = 4 if np.dtype(dtype).itemsize < 8 else 2
    found = agree(kernel, *(numbers(*shape, dtype=dtype) for _ in range(3)), schedule=TILES)
    assert accesses(found) == {f"read a {count}", f"read b {count}", f"write c {count}"}


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a[:, 1:65],
        lambda a: a[:, 4:68],
        lambda a: a[1:, ::2],
        lambda a: a[:, 64:0:-1],
        lambda a: a[::-1, :64],
        lambda a: a.T[:64, :64].T,
        lambda a: np.frombuffer(a.tobytes() + b"\0\0\0\0", np.float32)[1:1025].reshape(16, 64),
    ],
)
def test_views_of_any_kind(view: Callable[[Any], Any]) -> None:
    whole = numbers(16, 140)
    agree(sums, lambda: view(whole), lambda: view(whole.copy()), lambda: view(whole + 1).copy(), schedule=TILES)


def test_the_test_at_run_time_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_accesses, "aligned", lambda node, count, nest, w: iter(()))
    with lw.options(device="emulated", schedule=TILES), pytest.raises(DeviceError, match="16 bytes"):
        lw.kernel(sums)(numbers(8, 129), numbers(8, 129), numbers(8, 129))


@pytest.mark.parametrize(("first", "reads"), [(4, 3), (5, 1)])
def test_neighbours_are_wide_where_their_place_is_known_to_be_aligned(first: int, reads: int) -> None:
    def stencil(a, b):
        for j in range(4, b.shape[0] - 4):
            b[j] = a[j - 4] + a[j - 1] + a[j] + a[j + 1] + a[j + 4]

    def shifted(a, b):
        for j in range(5, b.shape[0] - 4):
            b[j] = a[j - 4] + a[j - 1] + a[j] + a[j + 1] + a[j + 4]

    schedule = "split j 64; specialize j full; split j 4; bind j.o block.x; bind j.o.1 thread.x; vectorize j"
    found = agree(stencil if first == 4 else shifted, numbers(205), numbers(205), schedule=schedule)
    assert device_text(found).count("lw_read<4>(a_") == reads


def test_what_is_stored_is_what_later_statements_read() -> None:
    def twice(a, b):
        for i in range(a.shape[0]):
            for j in range(64):
                a[i, j] = a[i, j] * 2
                b[i, j] = a[i, j] + 1
                a[i, j] += b[i, j]

    schedule = "split j 4; bind i block.x; bind j.o thread.x; vectorize j"
    found = agree(twice, numbers(5, 64), numbers(5, 64), schedule=schedule)
    assert accesses(found) == {"read a 4", "write a 4", "write b 4", "read b 4"}


def test_two_places_of_an_array_that_is_written_stay_where_they_stand() -> None:
    def rows(a, p, q):
        for j in range(64):
            a[p, j] = 2 * a[q, j]
            a[q, j] += a[p, j]

    schedule = "split j 4; bind j.o thread.x; vectorize j"
    for p, q in ((0, 1), (1, 1)):
        assert accesses(agree(rows, numbers(2, 64), p, q, schedule=schedule)) == set()


def test_what_only_one_way_reads_is_not_read_before() -> None:
    def kernel(a, b, c):
        for j in range(64):
            c[j] = a[j] if b[j] > 3 else 0

    found = agree(kernel, numbers(64), numbers(64), numbers(64), schedule="split j 4; bind j.o thread.x; vectorize j")
    assert accesses(found) == {"read b 4", "write c 4"}


def test_sums_and_gathers() -> None:
    def kernel(a, at, b, c):
        for i in range(c.shape[0]):
            for j in range(64):
                c[i] += a[i, j] * b[at[j] % 8]

    found = agree(
        kernel, numbers(8, 64), numbers(64, dtype=np.int64), numbers(8), numbers(8), strict=False,
        schedule="split j 4; bind i thread.x 8; vectorize j",
    )  # fmt: skip
    assert accesses(found) == {"read a 4", "read at 2"}


def test_rows_down_and_columns() -> None:
    """Arrays in Fortran's order go by ones along their first axis."""
    schedule = "tile i 64 j 4; specialize i j full; split i 4; reorder j i.o.1 i; bind i.o block.y; "
    schedule += "bind j.o block.x; bind j thread.y; bind i.o.1 thread.x; vectorize i"
    for rows in (64, 130, 68):
        a, b, c = (np.asfortranarray(numbers(rows, 8)) for _ in range(3))
        assert accesses(agree(sums, a, b, c, schedule=schedule)) == {"read a 4", "read b 4", "write c 4"}


def columns(a, s):
    for i in range(a.shape[0]):
        for j in range(64):
            s[j] += a[i, j]


@pytest.mark.parametrize(
    "schedule",
    [
        "split i 32; split j 4; bind i.o block.x; bind i thread.y; bind j.o thread.x; vectorize j",
        "bind i thread.x 32; split j 4; vectorize j",
    ],
)
def test_what_other_threads_update_is_not_written_back(schedule: str) -> None:
    """An element that is read before others add to it, and written after that, would lose what they added."""
    found = agree(columns, numbers(128, 64, dtype=np.int32), numbers(64, dtype=np.int32), schedule=schedule)
    assert accesses(found) == {"read a 4"}
