"""Calls on a GPU in parts: the same results, less waiting, and arrays that are larger than its memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from math import prod
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from analysed_once import analysed_once
from loopwright.devices import gpus
from loopwright.devices.emulated import EmulatedModule, Fault
from loopwright.errors import BoundsError, DeviceError, DeviceMemoryError
from loopwright.ir.plan import Plan
from loopwright.memory import parts
from loopwright.memory.gpu_call import FAILURE_BYTES
from loopwright.memory.on_device import on_device
from loopwright.runtime import run_shares
from memory.watched import Watched

Seen = list[tuple[Plan, bool]]


@pytest.fixture(scope="module", autouse=True)
def passes() -> Iterator[None]:
    """They run once for each function and order of arrays."""
    with analysed_once():
        yield


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """The GPU of all kernels that are compiled in the test; small calls count as large ones."""
    watched = Watched()
    monkeypatch.setattr(gpus, "gpu_of", lambda _: watched)
    monkeypatch.setattr(parts, "PART_BYTES", 1024)
    monkeypatch.setattr(parts, "USUAL", parts.MOST)
    monkeypatch.setattr(parts, "EVEN", 4)
    with lw.options(device="emulated"):
        yield watched


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """The plan of each call in parts, and whether they were windows. What runs is what its text says."""
    noted: Seen = []
    run = run_shares.run_shares

    def noting(plan: Plan, call: Any, threads: int, in_windows: bool) -> None:
        noted.append((plan, in_windows))
        run(Plan.parse(str(plan)), call, threads, in_windows)

    monkeypatch.setattr(run_shares, "run_shares", noting)
    return noted


def plus(a, b, c):
    for i in range(a.shape[0]):
        c[i] = a[i] + 2.0 * b[i]


def smooth(a, b):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[i, j] = 0.0
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def raise_by(a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(a.shape[1]):
            a[i, j] += b[j]


def backwards(a, b):
    n = a.shape[0]
    for i in range(n):
        for j in range(a.shape[1]):
            b[n - 1 - i, j] = a[i, j]


def every_other(a, b):
    for i in range(a.shape[0] // 2):
        for j in range(a.shape[1]):
            b[2 * i, j] = a[i, j]


def some(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 2:
                b[i, j] = a[i, j]


def doubled(a):
    b = np.empty((a.shape[0], a.shape[1]))
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = 2 * a[i, j]
    return b


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(0, 5, shape).astype(float)


CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "plus": (plus, [(3001,)] * 3),
    "smooth": (smooth, [(60, 70)] * 2),
    "product": (product, [(150, 40), (40, 30), (150, 30)]),
    "raise_by": (raise_by, [(100, 30), (30,)]),
    "backwards": (backwards, [(61, 50)] * 2),
    "every_other": (every_other, [(61, 50)] * 2),
    "some": (some, [(61, 50)] * 2),
    "doubled": (doubled, [(61, 50)]),
}


def simply(name: str, order: str) -> AbstractContextManager[None]:
    """The passes take seconds over a product's default schedule: one order of arrays has it, the others a short one."""
    schedule = "split i 32; bind i.o block.x; bind i thread.x"
    return lw.options(schedule=schedule) if name == "product" and order != "C" else nullcontext()


def in_python(function: Callable[..., Any], arrays: list[np.ndarray]) -> tuple[list[np.ndarray], Any]:
    copies = [array.copy() for array in arrays]
    return copies, function(*copies)


@pytest.mark.parametrize("order", ["C", "F", "gaps"])
@pytest.mark.parametrize("name", CASES)
def test_the_same_as_at_once(gpu: Watched, seen: Seen, name: str, order: Any) -> None:
    function, shapes = CASES[name]
    arrays = [numbers(*shape) for shape in shapes]
    if order == "gaps":
        arrays = [np.repeat(array, 2, axis=0)[::2] for array in arrays]
    else:
        arrays = [np.asarray(array, order=order) for array in arrays]
    expected, wanted = in_python(function, arrays)
    with simply(name, order):
        got = lw.kernel(function)(*arrays)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    if wanted is not None:
        np.testing.assert_array_equal(got, wanted)
    assert seen or order == "F", "it was not in parts"
    assert all(len(plan.shares) > 3 and not windows for plan, windows in seen)
    assert len(gpu.held) == 2, "what a program keeps: one note of failures, and one for that in parts"


def test_nothing_moves_twice(gpu: Watched, seen: Seen) -> None:
    a, b = numbers(60, 70), numbers(60, 70)
    lw.kernel(smooth)(a, b)
    assert seen and gpu.total("up") - 2 * FAILURE_BYTES == a.nbytes and gpu.total("down") == 58 * 70 * 8


@pytest.mark.parametrize("limit", [1 << 30, 30_000, 22_000])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", CASES)
def test_the_plan_says_which_parts_there_are_and_what_moves(
    gpu: Watched, seen: Seen, name: str, order: Any, limit: int
) -> None:
    function, shapes = CASES[name]
    arrays = [np.asarray(numbers(*shape), order=order) for shape in shapes]
    kernel = lw.kernel(function)
    with simply(name, order):
        kernel.explain(*arrays)  # what kernels report to takes some memory from now on
        gpu.memory.limit_bytes = limit
        plan = Plan.parse(kernel.explain(*arrays).plan)
    assert (not seen and len(plan.shares) > 3) or order == "F"
    if limit < 1 << 30 and order == "F" and len(plan.shares) == 1:
        return  # it does not fit, and rows are not contiguous there
    gpu.moved.clear()
    with simply(name, order):
        kernel(*arrays)
    assert [made.shares for made, _ in seen[-1:]] == ([plan.shares] if len(plan.shares) > 1 else [])
    moves = [move for share in plan.shares for move in share.moves]
    assert gpu.total("up") == sum(8 * prod(map(len, move.box)) for move in moves if move.way == "in")
    names = {"b": 1, "a": 0, "c": 2}
    for move in moves:
        array = arrays[names[move.array]] if move.array in names else np.empty((61, 50))
        assert all(axis.stop <= size for axis, size in zip(move.box, array.shape, strict=True))


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5])
def test_few_iterations(gpu: Watched, rows: int) -> None:
    a, b = numbers(rows, 2000), numbers(rows, 2000)
    (expected, _) = in_python(smooth, [a, b])
    lw.kernel(smooth)(a, b)
    np.testing.assert_array_equal(b, expected[1])


def test_with_an_array_that_is_there(gpu: Watched, seen: Seen) -> None:
    a, b, c = numbers(3000), numbers(3000), np.zeros(3000)
    address = gpu.allocate(b.nbytes)
    gpu.upload(address, b)
    gpu.moved.clear()
    lw.kernel(plus)(a, on_device(address, b.shape, b.dtype, None, "emulated", None), c)
    np.testing.assert_array_equal(c, a + 2 * b)
    assert seen and gpu.total("up") - 2 * FAILURE_BYTES == a.nbytes


def turned(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j, i] = a[i, j]


def in_halves(a, b):
    n = b.shape[0]
    half = n // 2
    for i in range(n):
        if i < half:
            a[n + i] = b[i]
        else:
            a[n + i] = a[i - half] + a[2 * n + i]


def summed(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[j] += a[i, j]


def checked(a, index, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] = a[index[i], j]


@pytest.mark.parametrize("function", [turned, summed])
def test_what_cannot_be_parted_is_not(gpu: Watched, seen: Seen, function: Callable[..., None]) -> None:
    a = numbers(60, 60)
    b = numbers(60, 60) if function is turned else numbers(60)
    expected, _ = in_python(function, [a, b])
    lw.kernel(function)(a, b)
    np.testing.assert_array_equal(b, expected[1])
    assert not seen


def test_rows_that_an_earlier_part_wrote_are_not_uploaded_again(gpu: Watched, seen: Seen) -> None:
    """The box of what a later part needs may hold them."""
    a, b = numbers(3000), numbers(1000)
    expected, _ = in_python(in_halves, [a, b])
    lw.kernel(in_halves)(a, b)
    np.testing.assert_array_equal(a, expected[0])
    assert not seen


# ---- more than the GPU has ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "gaps"])
@pytest.mark.parametrize("name", CASES)
def test_arrays_larger_than_the_memory(gpu: Watched, seen: Seen, name: str, order: str) -> None:
    function, shapes = CASES[name]
    arrays = [numbers(*shape) for shape in shapes]
    if order == "gaps":
        arrays = [np.repeat(array, 2, axis=0)[::2] for array in arrays]
    gpu.memory.limit_bytes = 22_000 if name != "product" else 30_000
    assert sum(array.nbytes for array in arrays) > gpu.memory.limit_bytes
    expected, wanted = in_python(function, arrays)
    with simply(name, order):
        got = lw.kernel(function)(*arrays)
    for one, other in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    if wanted is not None:
        np.testing.assert_array_equal(got, wanted)
    assert seen[-1][1] and gpu.memory.used_bytes == 2 * FAILURE_BYTES


def test_where_no_part_fits_nothing_is_changed(gpu: Watched, seen: Seen) -> None:
    gpu.memory.limit_bytes = 10_000
    a, b = numbers(6, 2000), np.full((6, 2000), 7.0)
    with pytest.raises(DeviceMemoryError, match=r"no room for 96,000 bytes"):
        lw.kernel(smooth)(a, b)
    assert (b == 7).all() and gpu.memory.used_bytes == 2 * FAILURE_BYTES and not [one for one in seen if one[1]]


def test_what_cannot_be_parted_does_not_fit(gpu: Watched) -> None:
    gpu.memory.limit_bytes = 40_000
    a, b = numbers(60, 60), np.full((60, 60), 7.0)
    with pytest.raises(DeviceMemoryError, match="no room"):
        lw.kernel(turned)(a, b)
    assert (b == 7).all()


def two_to_a_row(a, b):
    for i in range(a.shape[0]):
        for j in range(60):
            b[(i + 1) // 2, j + 60 * ((i + 1) % 2)] = a[i, j]


def test_parts_that_share_a_row_have_no_windows_of_their_own(gpu: Watched, seen: Seen) -> None:
    """The later part would bring back the row as it was before the earlier one."""
    a, b = numbers(60, 60), numbers(31, 120)
    before, expected = b.copy(), b.copy()
    two_to_a_row(a, expected)
    lw.kernel(two_to_a_row)(a, b)
    np.testing.assert_array_equal(b, expected)
    b[:] = before
    gpu.memory.limit_bytes = 40_000
    with pytest.raises(DeviceMemoryError, match="no room"):
        lw.kernel(two_to_a_row)(a, b)
    np.testing.assert_array_equal(b, before)
    assert not seen


@pytest.mark.parametrize(("limit", "wrote"), [(9_000, False), (12_000, False), (30_000, True)])
def test_memory_that_others_take(gpu: Watched, monkeypatch: pytest.MonkeyPatch, limit: int, wrote: bool) -> None:
    """Less is free than was said: an error, with nothing left behind; parts that were done are the caller's."""
    monkeypatch.setattr(gpu, "free_bytes", lambda: 90_000)
    gpu.memory.limit_bytes = limit
    a, b, c = numbers(150, 40), numbers(40, 30), np.full((150, 30), 7.0)
    monkeypatch.setattr(parts, "PART_BYTES", 16384)
    with pytest.raises(DeviceMemoryError, match="no room"):
        lw.kernel(product)(a, b, c)
    right = a @ b
    assert ((c == 7) | (c == right)).all() and (c == right).any() == wrote
    assert gpu.memory.used_bytes == 2 * FAILURE_BYTES


def test_a_failed_check_in_a_part(gpu: Watched, seen: Seen) -> None:
    """Parts before it are the caller's, and the part itself; later ones have not begun."""
    gpu.memory.limit_bytes = 30_000
    a, b = numbers(10, 100), np.full((60, 100), 7.0)
    index = np.arange(60) % 10
    index[33] = 10
    with pytest.raises(BoundsError) as caught:
        lw.kernel(checked)(a, index, b)
    assert (caught.value.index, caught.value.size) == (10, 10)
    plan, windows = seen[-1]
    assert windows and len(plan.shares) > 2
    (failed,) = (one.box[0] for one in plan.shares if 33 in one.box[0])
    np.testing.assert_array_equal(b[: failed.start], a[index[: failed.start]])
    assert (b[33] == 7).all() and (b[failed.stop :] == 7).all()
    assert gpu.memory.used_bytes == 2 * FAILURE_BYTES
    index[33] = 3
    lw.kernel(checked)(a, index, b)
    np.testing.assert_array_equal(b, a[index])


# ---- failures in the middle -------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1 << 30, 22_000])
@pytest.mark.parametrize("error", [DeviceError("the bus is gone"), KeyboardInterrupt()])
@pytest.mark.parametrize("number", [3, 8, 12])
def test_an_upload_that_fails_in_the_middle(gpu: Watched, error: BaseException, number: int, limit: int) -> None:
    kernel = lw.kernel(plus)
    arrays = [numbers(3001), numbers(3001), np.zeros(3001)]
    gpu.memory.limit_bytes = limit
    kernel(*arrays)
    kept, before = set(gpu.held), sum(way == "up" for way, _ in gpu.moved)
    gpu.refuses = {before + number: error}
    arrays[2][:] = 7
    with pytest.raises(type(error)):
        kernel(*arrays)
    assert gpu.held == kept
    right = arrays[0] + 2 * arrays[1]
    assert ((arrays[2] == 7) | (arrays[2] == right)).all()
    kernel(*arrays)
    np.testing.assert_array_equal(arrays[2], right)


def test_a_fault_in_the_middle(gpu: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = lw.kernel(plus)
    arrays = [numbers(3001), numbers(3001), np.zeros(3001)]
    kernel(*arrays)
    kept, faults, asked = set(gpu.held), EmulatedModule.faults, []

    def fails(module: EmulatedModule) -> tuple[Fault, ...]:
        asked.append(module)
        return (Fault("race", "k", "a race, say", 719),) if len(asked) == 2 else ()

    monkeypatch.setattr(EmulatedModule, "faults", fails)
    with pytest.raises(DeviceError, match="a race, say"):
        kernel(*arrays)
    assert gpu.held == kept
    monkeypatch.setattr(EmulatedModule, "faults", faults)
    kernel(*arrays)


def test_results_that_a_download_cannot_bring(gpu: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = lw.kernel(plus)
    arrays = [numbers(3001), numbers(3001), np.zeros(3001)]
    kernel(*arrays)
    kept = set(gpu.held)
    monkeypatch.setattr(Watched, "download", lambda *_: (_ for _ in ()).throw(DeviceError("the bus is gone")))
    with pytest.raises(DeviceError, match="the bus is gone"):
        kernel(*arrays)
    assert gpu.held == kept
