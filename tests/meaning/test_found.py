"""Programs on which some way to run once differed from CPython: found by random programs, shrunken, and kept."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import Device

from .arguments import Cells, Numbers, Recipe
from .judge import function_of, run
from .ways import Way, check_interpreter, check_way, eagerly

EVERY_WAY = [
    Way(threads, strict, checks) for strict in (True, False) for checks in ("auto", "all") for threads in (1, 3)
]
PRELUDE = "import math\nimport numpy as np\nfrom loopwright.frontend.markers import prange\nSCALE = 3\n\n"


def agree(cache: Path, text: str, *call: Recipe) -> None:
    """Every way to run agrees with CPython on this call; floats must not be rounded."""
    source = PRELUDE + textwrap.dedent(text)
    function = function_of(source)
    right = run(function, call)
    check_interpreter(function, call, right, "")
    for eager, owners in ((True, False), (True, True), (False, False)):
        kernel = lw.kernel(function)
        with eagerly(eager, owners):
            for way in EVERY_WAY:
                check_way(kernel, [call], [right], way, cache)


def test_a_loop_that_makes_a_local_array_of_a_size_does_not_write_the_array_that_has_it(tmp_path: Path) -> None:
    text = """
        def kernel(a, start):
            t = np.zeros((start.shape[0], 2))
            t[0, 0] = start[0]
            a[0] = t[0, 0]
    """
    agree(tmp_path, text, Cells("a", "float64", (3,)), Cells("start", "int64", (4,), read_only=True))


def test_counting_down_from_a_size_does_not_write_the_array_that_has_it(tmp_path: Path) -> None:
    text = """
        def kernel(a, at):
            k = at.shape[0]
            while k > 0:
                k -= 1
                a[k] = at[k]
    """
    agree(tmp_path, text, Cells("a", "float64", (4,)), Cells("at", "int64", (4,), read_only=True))


def test_an_index_with_a_check_beside_a_helper_in_an_augmented_assignment(tmp_path: Path) -> None:
    text = """
        def limited(x):
            if x > SCALE:
                return SCALE
            return x

        def kernel(a):
            a[2 % a.shape[0]] -= limited(a[0])
    """
    agree(tmp_path, text, Cells("a", "int64", (4,), seed=3))


def test_an_indirect_index_beside_a_helper_in_an_augmented_assignment(tmp_path: Path) -> None:
    text = """
        def limited(x):
            if x > SCALE:
                return SCALE
            return x

        def kernel(a, at):
            a[at[0]] += limited(a[0])
    """
    cells = (Cells("a", "int64", (4,), seed=3), Cells("at", "int64", (4,), "index", bound=4))
    agree(tmp_path, text, *cells)


def test_a_comparison_that_is_known_still_reads_its_element(tmp_path: Path) -> None:
    text = """
        def kernel(a, at):
            for i in range(3):
                if at[i] < -3 < 1.0:
                    a[0] = 5
    """
    agree(tmp_path, text, Cells("a", "float64", (4,)), Cells("at", "uint8", (2,)))


def test_a_view_is_out_of_range_even_where_it_is_not_used(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            row = a[2]
            a[0, 0] = 5
    """
    agree(tmp_path, text, Cells("a", "float64", (2, 2)))


def test_a_scalar_that_is_collected_and_never_read(tmp_path: Path) -> None:
    text = """
        def kernel(b):
            total = 1
            for i in range(1):
                for j in range(1, 0, -2):
                    total *= np.float64(0)
    """
    agree(tmp_path, text, Cells("b", "int16", (3,)))


def test_a_maximum_that_is_collected_and_never_read(tmp_path: Path) -> None:
    text = """
        def kernel(b):
            for i in range(len(b)):
                best = 0
                for j in range(i):
                    if b[j] > best:
                        best = b[j]
    """
    agree(tmp_path, text, Cells("b", "int16", (3,)))


def test_results_come_after_records_of_which_no_field_is_used(tmp_path: Path) -> None:
    text = """
        def kernel(a, p):
            t = np.zeros((2, 3))
            t[1, 1] = len(a)
            return t
    """
    fields = (("x", "int16", ()), ("count", "uint16", ()), ("v", "int16", (2,)))
    agree(tmp_path, text, Cells("a", "float64", (3,)), Cells("p", "int16", (3,), fields=fields))


def test_results_come_after_an_array_that_is_given_twice(tmp_path: Path) -> None:
    text = """
        def kernel(a, b):
            t = np.zeros(len(b))
            for i in range(len(b)):
                a[i] = a[i] + 1
                t[i] = b[i]
            return t
    """
    agree(tmp_path, text, Cells("a", "float64", (3,)), Cells("b", "float64", (3,), same_as=0))


def one_and_a_setting(a, setting):
    t = np.zeros(3)
    t[0] = a[0]
    return t


@pytest.mark.parametrize("device", ["cpu", "interpreter", "emulated"])
@pytest.mark.parametrize("setting", [None, "fast", (1, 2)], ids=repr)
def test_results_come_after_what_is_no_array(setting: object, device: Device) -> None:
    with lw.options(device=device):
        kernel = lw.kernel(one_and_a_setting)
        for _ in range(2):
            assert kernel(np.full(3, 5.0), setting).tolist() == [5, 0, 0]


def test_a_loop_that_may_be_stopped_inside_a_reduction(tmp_path: Path) -> None:
    text = """
        def kernel(a, b, n):
            last = 6
            for i in range(len(a)):
                for j in range(b.shape[1]):
                    last = j
                    k = -1
                    while k < n - 1:
                        k += 1
                        a[i] = min(a[i], b[j + 2, j])
            return last
    """
    agree(tmp_path, text, Cells("a", "uint32", (5,)), Cells("b", "uint32", (8, 3)), Numbers("n", "3"))


def test_the_greater_of_two_zeros(tmp_path: Path) -> None:
    text = """
        def kernel(a, b):
            for i in range(len(b)):
                a[i, 0] = np.maximum(b[i] * -0.0, 0)
                a[i, 1] = np.maximum(0.0, b[i] * -0.0)
                a[i, 2] = np.minimum(b[i] * -0.0, 0)
                a[i, 3] = np.fmax(b[i] * -0.0, 0)
                a[i, 4] = np.fmin(0.0, b[i] * -0.0)
    """
    agree(tmp_path, text, Cells("a", "float64", (5, 5)), Cells("b", "float64", (5,)))


def test_or_of_a_constant_and_a_loop_variable(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            for i in range(len(a)):
                a[i] -= int(np.float64(SCALE) or i)
    """
    agree(tmp_path, text, Cells("a", "int16", (3,)))


def test_a_field_beside_a_smaller_field(tmp_path: Path) -> None:
    text = """
        def kernel(p):
            p[0]['count'] = 1
            p['x'][1] = 1
    """
    fields = (("x", "int64", ()), ("count", "int32", ()), ("v", "bool", (2,)))
    agree(tmp_path, text, Cells("p", "int64", (8,), fields=fields))
    agree(tmp_path, text, Cells("p", "int64", (8,), fields=fields[:2]))


def test_an_indirect_index_beside_a_reversed_one(tmp_path: Path) -> None:
    text = """
        def kernel(a, d, at):
            for i in range(0, len(a), 1):
                a[i] = d[at[0], -i]
    """
    cells = (Cells("a", "float64", (3,)), Cells("d", "int8", (2, 7)), Cells("at", "uint16", (7,), "index", 1, bound=2))
    agree(tmp_path, text, *cells)


def test_changing_a_scalar_that_came_from_an_array_does_not_write_the_array(tmp_path: Path) -> None:
    text = """
        def kernel(a, at):
            v = at[0]
            v -= 1
            a[0] = v
    """
    agree(tmp_path, text, Cells("a", "float64", (4,)), Cells("at", "int64", (4,), read_only=True))


def test_a_float_that_was_an_int_is_no_negative_zero(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            for i in range(len(a)):
                a[i] = int(a[i])
    """
    agree(tmp_path, text, Cells("a", "float64", (40,), "special small", seed=3))
    agree(tmp_path, text, Cells("a", "float32", (40,), "special small", seed=3))


def test_threads_that_combine_into_one_field_read_another_field_where_it_is(tmp_path: Path) -> None:
    """The private copy of a field has a stride of its own, not that of the record."""
    text = """
        def kernel(p):
            for i in range(len(p)):
                p['least'][i // 2] = np.minimum(p['least'][i // 2], np.float32(p[i]['v'][0]))
    """
    fields = (("x", "uint32", ()), ("least", "float32", ()), ("v", "uint64", (2,)))
    agree(tmp_path, text, Cells("p", "uint32", (7,), values="extreme", seed=8, fields=fields))


def test_threads_that_combine_into_two_fields_of_one_record(tmp_path: Path) -> None:
    text = """
        def kernel(p, at):
            for i in range(len(at)):
                p['few'][at[i]] += i
                p['most'][at[i]] = max(p['most'][at[i]], i)
    """
    fields = (("few", "int32", ()), ("most", "int64", ()))
    agree(tmp_path, text, Cells("p", "int32", (5,), fields=fields), Cells("at", "int64", (9,), values="index", bound=5))


def test_of_two_indices_in_brackets_of_their_own_the_first_one_fails_first(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            a[1, 0, 2] = a[2][SCALE % 0, 1]
    """
    agree(tmp_path, text, Cells("a", "uint32", (0, 0, 0)))
    agree(tmp_path, text, Cells("a", "uint32", (3, 2, 3)))


EMPTY = Cells("a", "float64", (0,))


def test_a_loop_without_iterations_leaves_what_it_assigns_as_it_was(tmp_path: Path) -> None:
    text = """
        def kernel(a):
            s = 0.0
            x = np.float64(-1.0)
            for i in range(len(a)):
                x = a[i] * 2.0
                s += x
            return s, x
    """
    agree(tmp_path, text, EMPTY)
    agree(tmp_path, text, Cells("a", "float64", (1,)))


def test_an_inner_loop_without_iterations_leaves_its_variable_as_it_was(tmp_path: Path) -> None:
    text = """
        def kernel(a, b):
            j = 7
            for i in range(a.shape[0]):
                b[i] = 0.0
                for j in range(a.shape[1]):
                    b[i] += a[i, j]
            return j
    """
    agree(tmp_path, text, Cells("a", "float64", (3, 0)), Cells("b", "float64", (3,)))


def test_a_parallel_loop_without_iterations_brings_no_private_value_out(tmp_path: Path) -> None:
    text = """
        def kernel(a, b):
            x = np.float64(-1.0)
            for i in range(len(a)):
                x = a[i]
                b[i] = x + 1
            return x
    """
    agree(tmp_path, text, EMPTY, Cells("b", "float64", (0,)))


def test_a_variable_of_a_loop_without_iterations_is_unbound_after_it(tmp_path: Path) -> None:
    text = """
        def kernel(n):
            s = 0
            for i in range(n):
                s += 1
            return s, i
    """
    for count in ("0", "-3", "1", "3"):
        agree(tmp_path, text, Numbers("n", count))


def test_a_variable_whose_loop_is_known_not_to_run(tmp_path: Path) -> None:
    text = """
        def kernel():
            for i in range(0):
                pass
            return i
    """
    agree(tmp_path, text)


def test_a_variable_of_a_branch_that_is_never_taken(tmp_path: Path) -> None:
    text = """
        def kernel(n):
            for i in range(1, 5):
                if 3.0 < np.bool_(0.25):
                    v = i
                if v:
                    pass
    """
    agree(tmp_path, text, Numbers("n", "2"))


def test_zero_minus_zero_is_not_minus_zero(tmp_path: Path) -> None:
    """gcc makes -x of a literal 0.0 - x where x is a converted integer or an absolute value."""
    text = """
        def kernel(a, b):
            for i in range(len(a)):
                a[i] = 0.0 - i // 2
                b[i] = 0 - math.fabs(i - 1)
    """
    agree(tmp_path, text, Cells("a", "float64", (4,)), Cells("b", "float32", (4,)))


def test_an_element_compared_with_a_negative_number_exists(tmp_path: Path) -> None:
    text = """
        def kernel(a, n):
            last = 7
            for i in range(n, 0, -1):
                if not a[i] < -i:
                    last = i
            return last
    """
    agree(tmp_path, text, Cells("a", "uint64", (3,)), Numbers("n", "5"))
    agree(tmp_path, text, Cells("a", "uint64", (3,)), Numbers("n", "2"))


def test_indices_without_an_end_are_those_of_the_whole_array(tmp_path: Path) -> None:
    """A step that only the call knows, on a GPU: isl has no least index to tell."""
    text = """
        def kernel(b, c, step):
            t = np.zeros((c.shape[0], len(b)))
            if step < 0:
                return -1
            for i in range(0, b.shape[0], step):
                if t[i, i] < 1.0:
                    t[i // 2, i // 2] = b[i]
                    b[i] = t[i // 2, i // 2]
            return 1
    """
    cells = Cells("b", "float64", (9,)), Cells("c", "float64", (10, 8))
    kernel = lw.kernel(function_of(PRELUDE + textwrap.dedent(text)))
    for step in ("-2", "2"):
        call = (*cells, Numbers("step", step))
        right = run(function_of(PRELUDE + textwrap.dedent(text)), call)
        check_way(kernel, [call], [right], Way(1, True, "auto", device="emulated"), tmp_path)


def test_a_constant_that_each_row_leaves_behind_beside_a_total(tmp_path: Path) -> None:
    """Rows are summed up in stretches: in the loop over stretches it is a flag, in each of them the last value."""
    text = """
        def kernel(u):
            last, total = 1, 50.0
            for q in range(u.shape[1]):
                t = 0.0
                for i in range(u.shape[0]):
                    t = t + u[i, q]
                last = 7
                total = total - t
            return last, total
    """
    agree(tmp_path, text, Cells("u", "float64", (3, 40), read_only=True))
