"""The host's part: what runs where, scalars on their way between host and device, local arrays, layouts, failures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, outcome
from loopwright.codegen import gpu
from loopwright.devices.emulated import EmulatedModule
from loopwright.errors import BoundsError, NegativeSizeError

# ---- scalars between host and device ------------------------------------------------------------------------------


def test_a_sum_as_a_bound() -> None:
    def kernel(a, b):
        n = 0
        for i in range(a.shape[0]):
            n += a[i]
        for i in range(n):
            b[i] += 10
        return n

    agree(kernel, np.array([1, 2, 3]), np.arange(9))


def test_while_on_a_scalar_that_the_device_gives() -> None:
    def kernel(a, b, tolerance):
        rounds, error = 0, 1.0
        while error > tolerance and rounds < 50:
            error = 0.0
            for i in range(1, a.shape[0] - 1):
                b[i] = (a[i - 1] + a[i + 1]) * 0.5
            for i in range(1, a.shape[0] - 1):
                error = max(error, abs(a[i] - b[i]))
                a[i] = b[i]
            rounds += 1
        return rounds, error

    agree(kernel, np.arange(40.0) ** 2, np.zeros(40), 1.0)


def test_conditions_that_read_arrays() -> None:
    def kernel(a, b):
        if a[0] > 10 and a[1] >= 0:
            for i in range(a.shape[0]):
                b[i] = 1
        elif a[1] < 0:
            for i in range(a.shape[0]):
                b[i] = 2
        else:
            for i in range(a.shape[0]):
                b[i] = 3

    for first in ([1.0, 2.0], [11.0, 0.0], [11.0, -1.0], [0.0, -1.0]):
        agree(kernel, np.array(first * 300), np.zeros(600))


def test_while_on_an_element_runs_on_the_cpu() -> None:
    def kernel(a, b):
        while a[0] > 0:
            for i in range(b.shape[0]):
                b[i] += 1
            a[0] -= 1

    why_not = "the number of iterations of a loop around others depends on data"
    agree(kernel, np.array([3]), np.zeros(5), why_not=why_not)


def test_a_return_that_data_decides_in_a_loop_runs_on_the_cpu() -> None:
    def kernel(a, b):
        for t in range(5):
            for i in range(a.shape[0]):
                b[i] += a[i]
            if b[0] > 2:
                return t
        return -1

    agree(kernel, np.ones(9), np.zeros(9), why_not="how a loop around others is left depends on data")


def test_break_continue_and_return_on_the_host() -> None:
    def kernel(a, b, n):
        if n < 0:
            return -1.0
        for t in range(10):
            if t == n:
                break
            if t % 2:
                continue
            for i in range(a.shape[0]):
                b[i] += a[i] * t
        return b[3]

    for n in (-1, 0, 5):
        agree(kernel, np.arange(9.0), np.zeros(9), n)


def test_scalars_over_time_on_the_host() -> None:
    def kernel(a, n):
        x, y = 0, 1
        for _ in range(n):
            x, y = y, x + y
            for j in range(a.shape[0]):
                a[j] += x
        return x, y

    agree(kernel, np.zeros(5, np.int64), 90)  # the last ones wrap


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]
)
def test_returned_types(dtype: str) -> None:
    def kernel(a):
        return a[1], a[2], a[-1] == a[1]

    ends: Any = (0, 1) if dtype == "bool" else np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
    low, high = ends if isinstance(ends, tuple) else (ends.min, ends.max)
    agree(kernel, np.array([1, low, high, low], dtype))


def test_scalar_arguments_of_all_types() -> None:
    def kernel(a, b, scale, shift, chosen, small, large):
        for i in range(a.shape[0]):
            a[i] = a[i] * scale + shift
            b[i] = small if chosen else large

    agree(kernel, np.arange(9.0), np.zeros(9), 1.5, 2, True, np.int16(-5), np.uint8(200))
    agree(
        kernel, np.arange(9.0), np.zeros(9), np.float32(0.1), np.uint64(2**63), False, np.int8(-3), np.uint32(2**32 - 1)
    )


def test_names_that_mean_something_to_the_compilers() -> None:
    def kernel(int32_t, threadIdx, float, template, failure, lw_base_x, lw_count, gpu, lw_small, lw_k):
        for lw_i in range(int32_t.shape[0]):
            this = int32_t[lw_i]
            namespace = this + threadIdx + template
            operator = namespace * float
            int32_t[lw_i] = operator + failure + lw_base_x + lw_count + lw_small + lw_k
            for j in range(gpu):
                int32_t[lw_i] += j

    agree(kernel, np.arange(9.0), *map(float, range(1, 7)), 3, 7.0, 8.0)


def test_without_arrays() -> None:
    def kernel(n):
        total = 0
        for i in range(n):
            total += i
        return total

    agree(kernel, 10)


# ---- local arrays of the host's part ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 5, 256, 1000])
def test_fills(n: int) -> None:
    """Of size 0, too: a grid of no blocks is refused by CUDA."""

    def kernel(a, n):
        zeros = np.zeros(n, np.bool_)
        ones = np.ones((3, n), np.int8)
        minus = np.full(n, -0.0)
        other = np.full(n, np.inf, np.float32)
        for i in range(n):
            a[i] = math.copysign(1.0, minus[i]) + ones[2, i] * 4 + (100 if zeros[i] else 0) + (other[i] == np.inf)

    agree(kernel, np.zeros(1000), n)


def test_in_a_loop_of_growing_size() -> None:
    def kernel(a, times):
        for t in range(times):
            w = np.empty((t, 3))
            for i in range(t):
                for j in range(3):
                    w[i, j] = i * j
            for i in range(t):
                a[i] += w[i, 2]

    agree(kernel, np.zeros(30), 9)


@pytest.mark.parametrize("n", [-2, 2**40, 2**61])
def test_sizes_that_cannot_be(n: int) -> None:
    """A negative size is the user's mistake; too large a one is MemoryError, and the next call works."""

    def kernel(a, n):
        a[0] = 5
        w = np.zeros(n)
        for i in range(a.shape[0]):
            w[i] = a[i]
        for i in range(a.shape[0]):
            a[i] = w[i] + w[0]

    compiled, a = lw.kernel(kernel), np.zeros(30)
    with lw.options(device="emulated"):
        with pytest.raises(NegativeSizeError if n < 0 else MemoryError):
            compiled(a, n)
        assert a[0] == 5
        compiled(a, 30)
    assert a[0] == 10 and a[1] == 5


def test_a_size_that_an_array_gives() -> None:
    def kernel(idx, b):
        t = np.zeros(idx[0])
        for i in range(idx[0]):
            t[i] = i
        for i in range(idx[0]):
            b[i] = t[i]

    agree(kernel, np.array([5]), np.zeros(10))


def test_returned_arrays() -> None:
    def kernel(a):
        out = np.zeros(a.shape[0])
        for i in range(a.shape[0]):
            out[i] = a[i] * 2
        return out

    agree(kernel, np.arange(9.0))
    agree(kernel, np.arange(0.0))


# ---- layouts ----------------------------------------------------------------------------------------------------


def twice(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] * 2 + i + b[i, j]


def whole() -> Any:
    return np.arange(480.0).reshape(24, 20)


LAYOUTS = {
    "C": lambda: np.ascontiguousarray(whole()[:12, :10]),
    "F": lambda: np.asfortranarray(whole()[:12, :10]),
    "last": lambda: whole()[:12, :10],
    "first": lambda: np.asfortranarray(whole())[:12, :10],
    "transposed": lambda: whole()[:10, :12].T,
    "strided": lambda: whole()[::-2, ::2],
    "backwards": lambda: whole()[:12, :10][::-1, ::-1],
    "one row": lambda: whole()[:1, ::2],
    "no rows": lambda: np.zeros((0, 5)),
    "no columns": lambda: np.zeros((5, 0)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str) -> None:
    """Found: of an array with gaps whose first axis goes by ones, the copy on the device was read in another order."""
    array = LAYOUTS[layout]
    ones = np.ones(array().shape)
    agree(twice, array, ones)
    agree(twice, ones, array)


@pytest.mark.parametrize("layout", ["first", "last", "permuted", "broadcast", "broadcast backwards"])
def test_layouts_of_three_axes(layout: str) -> None:
    def kernel(a, b):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    b[i, j, k] = a[i, j, k] + a[i, 0, k] + b[i, j, k]

    def make() -> Any:
        cube = np.arange(6 * 7 * 16.0).reshape(6, 7, 16)
        row = np.broadcast_to(np.arange(7.0).reshape(7, 1, 1), (7, 9, 5))
        return {
            "first": np.asfortranarray(cube)[:, ::2][:, :3],
            "last": cube[:, :, :5],
            "permuted": cube.transpose(2, 0, 1)[:11],
            "broadcast": row,
            "broadcast backwards": row[::-1, :3],
        }[layout]

    agree(kernel, make, np.zeros(make().shape))
    if not layout.startswith("broadcast"):
        agree(kernel, np.ones(make().shape), make)


ALIGNED = np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (3,))], align=True)
PACKED = np.dtype([("a", "i1"), ("x", "f8"), ("n", "i4")])
UNION = np.dtype({"names": ["a", "b"], "formats": ["i4", "f4"], "offsets": [0, 0]})


def records(count: int, dtype: np.dtype[Any]) -> Any:
    found = np.zeros(count, dtype)
    found["x"], found["n"] = np.arange(count), np.arange(count) + 3
    return found


@pytest.mark.parametrize("count", [0, 1, 500])
def test_records(count: int) -> None:
    def kernel(p):
        for i in range(p.shape[0]):
            p[i]["x"] = p[i]["x"] * 2 + p[i]["n"]
            for k in range(3):
                p[i]["v"][k] += k + i

    agree(kernel, records(count, ALIGNED))
    agree(kernel, lambda: records(count, ALIGNED)[::-2])


def add(a, b):
    for i in range(a.shape[0]):
        a[i] = a[i] + b[i]


def test_what_is_not_aligned_runs_on_the_cpu() -> None:
    def kernel(p):
        for i in range(p.shape[0]):
            p["x"][i] = p["x"][i] * 2 + p["n"][i]

    agree(kernel, records(50, PACKED), why_not="elements of 'p.x' are not aligned")
    agree(
        add, lambda: np.zeros(81, np.uint8)[1:].view(np.float64), np.ones(10), why_not="elements of 'a' are not aligned"
    )


def test_overlap_runs_on_the_cpu() -> None:
    def kernel(u):
        for i in range(u.shape[0]):
            u[i]["a"] = 1
            u[i]["b"] = u[i]["b"] * 2

    why = "arguments overlap in memory"
    agree(kernel, np.zeros(100, UNION), why_not=why)
    compiled, one = lw.kernel(add), np.arange(100.0)
    with lw.options(device="emulated"):
        compiled(one[1:], one[:-1])
    assert compiled._dispatch.compiled()[0].why_not_gpu == why
    np.testing.assert_array_equal(one, np.cumsum(np.arange(100.0)))


def test_the_same_array_twice_and_views_that_interleave() -> None:
    one = np.arange(100.0)
    compiled = lw.kernel(add)
    with lw.options(device="emulated"):
        compiled(one, one)
        np.testing.assert_array_equal(one, 2 * np.arange(100.0))
        compiled(one[::2], one[1::2])
    np.testing.assert_array_equal(one[::2], np.arange(0, 200, 4.0) + np.arange(2, 202, 4.0))
    np.testing.assert_array_equal(one[1::2], np.arange(2, 202, 4.0))
    assert any(not found.why_not_gpu for found in compiled._dispatch.compiled())


def test_read_only_and_scalar_arrays() -> None:
    def kernel(a, b, c):
        for i in range(b.shape[0]):
            b[i] += a[()]
            c[()] += b[i]

    def fixed() -> Any:
        array = np.array(3.0)
        array.flags.writeable = False
        return array

    agree(kernel, fixed, np.arange(5.0), np.array(1.0))


def test_booleans_in_memory() -> None:
    def kernel(a, b):
        for i in range(a.shape[0]):
            b[i] = not a[i]

    agree(kernel, np.arange(300) % 3 == 0, np.zeros(300, bool))


# ---- failures ---------------------------------------------------------------------------------------------------


def scatter(a, idx, b, c):
    for i in range(a.shape[0]):
        b[i] = a[i] * 2
    for i in range(a.shape[0]):
        b[idx[i]] = a[i] + 100
    for i in range(a.shape[0]):
        c[i] = b[i]


def test_a_bounds_error_comes_with_the_line_and_leaves_what_was_before() -> None:
    """What comes after the loop does not happen, and the next call knows nothing of it."""
    idx = np.arange(8)
    idx[7] = 99
    compiled, c = lw.kernel(scatter), np.zeros(8)
    with lw.options(device="emulated"):
        with pytest.raises(BoundsError, match="index 99 is out of bounds for axis 0 of 'b' with size 8") as raised:
            compiled(np.arange(8.0), idx, np.zeros(8), c)
        assert "b[idx[i]] = a[i] + 100" in str(raised.value)
        assert not c.any()
        compiled(np.arange(8.0), np.arange(-8, 0), np.zeros(8), c)
    np.testing.assert_array_equal(c, np.arange(8.0) + 100)


def test_loops_end_when_what_they_wait_for_has_failed() -> None:
    """Found: the host went on with a scalar that no kernel had written; here, for ever."""

    def repeated(a, idx, b):
        n = a[idx[0]]
        while n > 0:
            for i in range(b.shape[0]):
                b[i] += 1
            idx[0] += 1
            n = a[idx[0]] - 1

    def counted(a, idx, b):
        n = a[idx[0]]
        for _ in range(n):
            for i in range(b.shape[0]):
                b[i] += 1

    def chosen(a, idx, b):
        if a[idx[0]] > 0:
            for i in range(b.shape[0]):
                b[i] += 1
        else:
            for i in range(b.shape[0]):
                b[i] -= 1

    agree(repeated, np.array([3, 2, 5, 5]), np.array([0]), np.zeros(5))
    agree(counted, np.array([3, 2, 5, 5]), np.array([9]), np.zeros(5))
    agree(chosen, np.array([3, 2, 5, 5]), np.array([9]), np.zeros(5))


def test_other_checks() -> None:
    def divided(a, b):
        for i in range(1):
            b[i] = 10 // int(a[i])

    def shifted(b, n):
        for i in range(b.shape[0]):
            b[i] = 1 << n

    def stepped(a, idx):
        for i in range(0, a.shape[0], idx[0]):
            a[i] = 1

    agree(divided, np.zeros(3, np.int64), np.zeros(3, np.int64))
    agree(shifted, np.zeros(3, np.int64), -1)
    for step in (0, 2, -2):
        agree(stepped, np.zeros(9), np.array([step]))


def test_the_first_failure_of_the_host_and_of_the_device() -> None:
    """A division that the host makes, after a kernel has failed: the kernel's failure came first."""

    def kernel(a, idx, b, n):
        for i in range(a.shape[0]):
            b[idx[i]] = a[i]
        m = 7 // n
        for i in range(m):
            b[i] = 0

    agree(kernel, np.arange(3.0), np.array([0, 1, 2]), np.zeros(9), 0)
    compiled = lw.kernel(kernel)
    with lw.options(device="emulated"):
        assert isinstance(outcome(compiled, [np.arange(3.0), np.array([0, 1, 9]), np.zeros(9), 7])[2], BoundsError)
        _, _, error = outcome(compiled, [np.arange(3.0), np.array([0, 1, 9]), np.zeros(9), 0])
    assert isinstance(error, BoundsError)


# ---- distances --------------------------------------------------------------------------------------------------


def test_both_widths_of_distances(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where 32 bits are not enough, the other kernel runs: here they are said to be enough for 100 elements."""
    started: list[int] = []
    launched = EmulatedModule._launched

    def note(self: EmulatedModule, kernel: int, *others: Any) -> int:
        started.append(kernel)
        return launched(self, kernel, *others)

    monkeypatch.setattr(EmulatedModule, "_launched", note)
    monkeypatch.setattr(gpu, "HEADER", gpu.HEADER.replace("INT64_C(1) << 30", "INT64_C(100)"))
    found = agree(twice, np.ones((9, 10)), np.ones((9, 10)))
    agree(twice, np.ones((9, 20)), np.ones((9, 20)))
    agree(twice, np.ones((9, 11)), np.ones((9, 11)))  # neither axis goes so far alone
    agree(twice, np.ones((9, 10)), lambda: np.ones((90, 10))[::10])  # its copy on the device has no gaps
    assert [found.program.device.kernels[number][-2:] for number in started] == ["32", "64", "64", "32"]
