"""The judge itself: it passes what is the same, and each kind of difference is seen."""

from __future__ import annotations

import numpy as np
import pytest

from .arguments import LAYOUTS, Cells, Numbers, make
from .judge import Outcome, difference, function_of, run, same_values, value_difference

CALL = (Cells("a", "float64", (4,), seed=3), Numbers("n", "np.int16(2)"))
RIGHT = "def kernel(a, n):\n    a[1] = a[2] + n\n    return a[0]\n"


def outcome(text: str) -> Outcome:
    return run(function_of(text), CALL)


def test_two_equal_runs_do_not_differ() -> None:
    assert difference(outcome(RIGHT), outcome(RIGHT)) == ""


@pytest.mark.parametrize(
    "text",
    [
        RIGHT.replace("a[2] + n", "a[2] - n"),
        RIGHT.replace("a[0]", "a[3]"),
        RIGHT.replace("return a[0]", "return float(a[0])"),
        RIGHT.replace("return a[0]", "return np.float32(a[0])").replace("def", "import numpy as np\ndef", 1),
        RIGHT.replace("return a[0]", "return a[0],"),
        RIGHT.replace("return a[0]", "pass"),
        RIGHT.replace("return a[0]", "return a[9]"),
        RIGHT.replace("return a[0]", "return a"),
    ],
)
def test_another_run_differs(text: str) -> None:
    assert difference(outcome(RIGHT), outcome(text)) != ""


def test_the_class_of_an_exception_counts() -> None:
    index = outcome(RIGHT.replace("a[0]", "a[9]"))
    zero = outcome(RIGHT.replace("a[0]", "1 // 0"))
    assert index.error is not None and zero.error is not None
    assert difference(index, index) == "" and difference(index, zero) != ""
    assert difference(index, zero, in_order=False) == ""
    assert difference(index, outcome(RIGHT), in_order=False) != ""


def test_nan_is_nan_and_zero_has_a_sign() -> None:
    nan, zero, minus = np.array([np.nan]), np.array([0.0]), np.array([-0.0])
    assert same_values(nan, -nan, strict=True) and not same_values(nan, zero, strict=False)
    assert same_values(zero, minus, strict=False) and not same_values(zero, minus, strict=True)
    assert not same_values(zero, zero.astype(np.float32), strict=False)


def test_a_python_number_may_have_become_numpys_but_not_the_other_way_round() -> None:
    assert value_difference(0.0, np.float64(0.0)) == ""
    assert value_difference(0.0, np.float64(1.0)) != ""
    assert value_difference(np.float64(0.0), 0.0) != ""


def test_rounding_is_noticed() -> None:
    assert outcome(RIGHT.replace("a[2] + n", "a[2] / 3")).inexact
    assert not outcome(RIGHT).inexact


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 1, 3), (0,), (2, 0)])
def test_every_layout_holds_the_same_values_and_every_copy_is_its_own(layout: str, shape: tuple[int, ...]) -> None:
    plain = make((Cells("a", "int32", shape, seed=1),)).arguments[0]
    first, second = (make((Cells("a", "int32", shape, seed=1, layout=layout),)) for _ in range(2))
    array, other = first.arguments[0], second.arguments[0]
    assert isinstance(array, np.ndarray) and isinstance(other, np.ndarray) and isinstance(plain, np.ndarray)
    wanted = plain if layout != "broadcast" else np.broadcast_to(plain[:1], shape)
    assert np.array_equal(array, wanted) and not np.shares_memory(array, other)
    assert array.size == 0 or np.shares_memory(array, first.buffers[0])


@pytest.mark.parametrize("how", ["same", "shift", "reversed"])
def test_arguments_share_memory_as_asked(how: str) -> None:
    first = Cells("a", "int64", (4, 5), seed=2)
    made = make((first, Cells("b", "int64", (4, 5), same_as=0, how=how)))
    a, b = made.arguments
    assert isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and len(made.buffers) == 1
    assert np.shares_memory(a, b) and a.shape == b.shape
    assert np.array_equal(b, {"same": a, "reversed": a[::-1], "shift": np.vstack([b[:1], a[:-1]])}[how])
