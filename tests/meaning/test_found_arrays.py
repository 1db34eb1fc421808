"""Array code on which some way to run once differed from CPython with NumPy: found by random programs and shrunken."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import loopwright as lw

from .arguments import Cells, Numbers, Recipe
from .array_checks import check_interpreted, check_ways
from .judge import function_of
from .programs import Program
from .ways import UNSET, Way, lowered

WAYS = [Way(3, False, "auto", (*UNSET, "-O1")), Way(1, True, "all", (*UNSET, "-O1"))]


def program(text: str, *call: Recipe) -> Program:
    """A program with one call."""
    return Program("import numpy as np\n\n" + textwrap.dedent(text), (call,), frozenset(), False)


def agree(cache: Path, text: str, *call: Recipe) -> None:
    """The interpreter and compiled code agree with CPython on this call."""
    one = program(text, *call)
    check_interpreted(one)
    check_ways(one, cache, WAYS)


def refused(text: str, *call: Recipe) -> str:
    """The text of the refusal of this call."""
    with pytest.raises(lw.KernelError) as error:
        lowered(function_of(program(text, *call).source), call)
    return str(error.value)


def floats(name: str, *shape: int, seed: int = 5, **more: object) -> Cells:
    return Cells(name, "float64", shape, seed=seed, **more)  # type: ignore[arg-type]


def ints(name: str, *shape: int, seed: int = 7, **more: object) -> Cells:
    return Cells(name, "int64", shape, seed=seed, **more)  # type: ignore[arg-type]


def test_a_position_that_counts_true_places_is_not_a_sum_for_threads(tmp_path: Path) -> None:
    agree(
        tmp_path,
        "def kernel(b, d):\n    b[d.copy()] *= 2\n    return b\n",
        ints("b", 9),
        Cells("d", "bool", (9,), seed=3),
    )


def test_updates_in_branches_and_loops_write_the_array(tmp_path: Path) -> None:
    text = """
        def kernel(a, b, n):
            for i in range(n):
                a += b
                if i > 0:
                    b *= a[0]
            return a
    """
    agree(tmp_path, text, ints("a", 4), ints("b", 4, seed=2), Numbers("n", "3"))


def test_what_an_update_writes_counts_where_arguments_overlap(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(a, b):\n    a *= b\n", floats("a", 2, 2), floats("b", 2, 2, same_as=0, how="reversed"))


def test_an_update_does_not_write_a_read_only_argument(tmp_path: Path) -> None:
    with pytest.raises(lw.ArgumentValueError):
        lowered_of = program("def kernel(a):\n    v = a[1:]\n    v += 1\n", floats("a", 3, read_only=True))
        lowered(function_of(lowered_of.source), lowered_of.calls[0])


def test_rows_that_are_updated_by_name_are_not_written_unseen() -> None:
    text = "def kernel(a):\n    for row in a:\n        row += 1\n"
    assert "written under another name" in refused(text, floats("a", 3, 4))


def test_indices_are_read_before_they_are_overwritten(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(c):\n    c[c[:, 1] % 3] = c\n", ints("c", 3, 2))


def test_values_that_overlap_the_target_of_indices(tmp_path: Path) -> None:
    text = "def kernel(a, c):\n    c[np.zeros(3, dtype=np.int64)] = a\n"
    agree(tmp_path, text, floats("a", 3), floats("c", 3, same_as=0, how="reversed"))


def test_a_mask_that_is_a_view_of_what_it_masks(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(b):\n    b[b[::-1]] = False\n", Cells("b", "bool", (6,), seed=4))


def test_a_deviation_with_no_degrees_of_freedom_is_nan(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(b):\n    return np.std(b, axis=0, ddof=1)\n", floats("b", 0, 2))


def test_where_reads_what_it_does_not_choose(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(c, n):\n    c[:] += np.where(n > 0, c, c[c + 100])\n", ints("c", 4), Numbers("n", "4"))


@pytest.mark.parametrize("part", ["a[:1]", "a[0:1]", "a[-1:]", "a[2:3]", "np.minimum(a[:1], b[-1:])"])
def test_parts_of_one_element_are_stretched(part: str, tmp_path: Path) -> None:
    text = f"def kernel(a, b):\n    b[:] = {part}\n    a[:] += {part}\n    return b - {part}, {part} * {part}\n"
    agree(tmp_path, text, floats("a", 5), floats("b", 5, seed=8))


def test_updates_that_numpy_refuses_are_refused() -> None:
    assert "same_kind" in refused("def kernel(a, b):\n    a += b\n", Cells("a", "uint8", (3,)), ints("b", 3))
    assert "same_kind" in refused("def kernel(a, b):\n    a[1:] /= b\n", ints("a", 3), Numbers("b", "2"))


def test_a_name_does_not_stand_for_arrays_of_two_types() -> None:
    text = "def kernel(a, b, n):\n    for i in range(n):\n        b = a.copy()\n    return b\n"
    assert "array of float64 here" in refused(text, floats("a", 4), Cells("b", "float32", (4,)), Numbers("n", "0"))


@pytest.mark.parametrize(
    "body", ["v = np.ascontiguousarray(a[::2])\n    v[0] = 0.0", "v = a[::2].ravel()\n    a[0] = 1.0\n    return v + 1",
             "v = a.astype(np.float64, copy=False)\n    v[0] = 0.0"],
)  # fmt: skip
def test_a_copy_that_may_be_a_view_is_not_written(body: str) -> None:
    assert "may be a view" in refused(f"def kernel(a):\n    {body}\n", floats("a", 6))


def test_a_copy_that_is_made_again_is_not_old(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            s = 0.0
            for i in range(3):
                a[i, 0] = i
                v = a.T.reshape(-1)
                s += v[1]
            return s, a.flatten()
    """
    agree(tmp_path, text, floats("a", 3, 4))


def test_linspace_of_a_negative_number(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(n):\n    return np.linspace(0.0, 1.0, n)\n", Numbers("n", "-1"))


def test_arrays_like_an_empty_slice(tmp_path: Path) -> None:
    agree(tmp_path, "def kernel(a):\n    return np.zeros_like(a[4:1]), np.ones_like(a + 1)\n", floats("a", 3))


@pytest.mark.parametrize(
    "index", ["t", "np.nonzero(a > 8)", "np.where(m)", "p", "(n, n)", "[n, n]", "[True, False, True]"]
)
def test_a_tuple_as_an_index_is_several_and_a_list_is_one(index: str, tmp_path: Path) -> None:
    text = f"""
        def kernel(a, m, n):
            t = (n, 2)
            p = [n, 2]
            r = a[{index}] + 0
            a[{index}] += 100
            a[{index}] = 7
            return r
    """
    agree(tmp_path, text, floats("a", 3, 4), Cells("m", "bool", (3,), seed=1), Numbers("n", "1"))


@pytest.mark.parametrize(
    "result", ["np.arange(k)", "np.arange(np.uint64(3))", "np.arange(np.float32(3))", "np.round(b)", "np.round(b[0])",
               "(b > 1) @ (b > 2)", "np.dot(b > 1, b > 1)", "b.round(1)"],
)  # fmt: skip
def test_types_of_results(result: str, tmp_path: Path) -> None:
    agree(
        tmp_path,
        f"def kernel(b, k):\n    return {result}\n",
        Cells("b", "int32", (4,), seed=3),
        Numbers("k", "np.uint8(3)"),
    )


@pytest.mark.parametrize("write", ["np.add(a, 1, out=a)", "np.sqrt(a, a)", "v = a[1:]; v[0] = 5.0", "h(k=5.0, x=a)"])
def test_an_argument_that_is_written_in_place_and_assigned_is_no_copy(write: str) -> None:
    text = f"""
        def h(x, k):
            x[0] = k

        def kernel(a):
            {write}
            for i in range(2):
                a = a * 2
            return a
    """
    assert "written in place" in refused(text, floats("a", 4))


def test_an_alias_that_a_nested_function_writes_is_no_copy() -> None:
    text = """
        def kernel(a):
            def f(k):
                b[k] = 50.0
            b = a
            f(0)
            for i in range(2):
                b = b * 2
            return b
    """
    assert "another name" in refused(text, floats("a", 4))


@pytest.mark.parametrize("choice", ["a, n", "n, a", "a, -1", "300, a", "a, 2.5"])
def test_where_wraps_python_ints(choice: str, tmp_path: Path) -> None:
    text = f"def kernel(a, n):\n    return np.where(a > 1, {choice})\n"
    agree(tmp_path, text, Cells("a", "uint8", (5,)), Numbers("n", "-1"))


EMULATED = [Way(1, True, "auto", device="emulated")]


@pytest.mark.parametrize("element", ["bool", "uint8", "int16", "float32"])
def test_a_gpu_turns_tiles_of_elements_of_any_size(element: str, tmp_path: Path) -> None:
    text = "def kernel(a, b):\n    b[:, :] = a.T\n"
    one = program(text, Cells("a", element, (70, 33), seed=3), Cells("b", element, (33, 70), seed=4))
    check_ways(one, tmp_path, EMULATED)


def test_an_array_of_one_thread_ends_with_it(tmp_path: Path) -> None:
    text = """
        def found(a):
            for i in range(3):
                x = np.zeros(4)
                x[i] = a[i]
                if a[i] > 0:
                    return x
            raise ValueError("none")

        def kernel(a):
            r = found(a)
            return r.sum(), r
    """
    check_ways(program(text, floats("a", 4)), tmp_path, EMULATED)
