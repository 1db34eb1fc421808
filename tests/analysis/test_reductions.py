"""Updates whose order does not matter, and what only looks like one."""

from __future__ import annotations

import math

import pytest

from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import LoopFacts, Reduction, ReductionOp
from loopwright.analysis.reductions import combined, identity
from loopwright.ir.interp import evaluation
from loopwright.ir.nodes import Const
from loopwright.ir.types import ALL, FLOAT32, FLOAT64, Scalar

HEAD = (
    'def f(a: "float64[1]", b: "float64[2]", x: "int64[1]", y: "int32[1]", n: "int64", flag: "bool"):\n'
    '    s = 0.0\n    k = 0\n    seen = False\n'
)  # fmt: skip
TAIL = "    a[0] = s + float64(k)\n    if seen:\n        a[1] = 1.0\n"


def loop(text: str, name: str = "i") -> LoopFacts:
    body = "".join(f"    {line}\n" for line in text.strip().split("\n"))
    return analyse(kernel(HEAD + body + TAIL)).loops[name]


SCALARS = {
    "s = s + a[i]": ("s", "add", False),
    "s += a[i] + 1.0": ("s", "add", False),
    "s = a[i] + s": ("s", "add", False),
    "s -= a[i]": ("s", "add", False),
    "s = s + a[i] - b[i, 0]": ("s", "add", False),
    "s *= a[i]": ("s", "mul", False),
    "k += x[i]": ("k", "add", True),
    "k = k * x[i]": ("k", "mul", True),
    "k = k & x[i]": ("k", "and", True),
    "k = k | x[i]": ("k", "or", True),
    "k = k ^ x[i]": ("k", "xor", True),
    "s = max(s, a[i])": ("s", "max", True),
    "s = min(s, a[i])": ("s", "min", True),
    "k = max(x[i], k)": ("k", "max", True),
    "s = maximum(a[i], s)": ("s", "maximum", True),
    "s = fmin(s, a[i])": ("s", "fmin", True),
    "s = a[i] if a[i] > s else s": ("s", "max", True),
    "s = a[i] if s > a[i] else s": ("s", "min", True),
    "k = k if k > x[i] else x[i]": ("k", "max", True),
    "if a[i] > s:\n        s = a[i]": ("s", "max", True),
    "if s < a[i]:\n        s = a[i]": ("s", "max", True),
    "if a[i] < s:\n        s = a[i]": ("s", "min", True),
    "if a[i] > 0.0:\n        s += a[i]": ("s", "add", False),
    "for j in range(n):\n        s += b[i, j]": ("s", "add", False),
    "seen = seen or a[i] > 0.0": ("seen", "or", True),
    "seen = a[i] > 0.0 or seen": ("seen", "or", True),
    "seen = seen and a[i] > 0.0": ("seen", "and", True),
    "if a[i] > 0.0:\n        seen = True": ("seen", "or", True),
    "if a[i] > 0.0:\n        seen = False": ("seen", "and", True),
    "k = int64(int32(k) + y[i])": ("k", "add", True),
    "k += checked(x[i] // n, n != 0)": ("k", "add", True),
}


@pytest.mark.parametrize("line", SCALARS)
def test_scalars(line: str) -> None:
    found = loop(f"for i in range(n):\n    {line}")
    target, op, exact = SCALARS[line]
    assert found.verdict == "reduction", found.reason
    assert found.reductions == (Reduction(target, op, "scalar", exact),)  # type: ignore[arg-type]
    assert target not in found.private


NOT = {
    "s = a[i] - s": "is updated by an operation whose order matters",
    "s = s / 2.0": "is updated by an operation whose order matters",
    "s = s + s * a[i]": "is used more than once in its update",
    "s = (s + a[i]) * 2.0": "is updated by several operations at once",
    "s = max(a[i], s)": "is forgotten after a NaN: write max(s, ...), the target first",
    "s = s if s > a[i] else a[i]": "is used more than once in its update",
    "s += a[i]\n    s *= 2.0": "is updated by different operations: add and mul",
    "s += a[i]\n    a[i] = s": "is updated and also read",
    "s += a[i]\n    if s > 9.0:\n        s = 0.0": "is also set to a value of its own",
    "if a[i] > s:\n        s = a[i] + 1.0": "is also set to a value of its own",
    "k = k + x[k]": "is used more than once in its update",
    "s += a[i]\n    for j in range(int64(s)):\n        a[j] = 0.0": "is updated and also read",
    "k = checked(k + 1, k < 9)": "is used more than once in its update",
    "k = int64(int32(max(k, x[i])))": "is converted within its update",
}


@pytest.mark.parametrize("line", NOT)
def test_no_reduction(line: str) -> None:
    found = loop(f"for i in range(n):\n    {line}")
    assert found.verdict == "sequential"
    assert found.reason.endswith(NOT[line])
    assert found.reductions == ()


ARRAYS = {
    "a[3] += b[i, 0]": Reduction("a", "add", "element", False),
    "x[2] = max(x[2], y[i])": Reduction("x", "max", "element", True),
    "x[y[i]] += 1": Reduction("x", "add", "scatter", True),
    "a[i % 4] *= b[i, 0]": Reduction("a", "mul", "scatter", False),
    "a[0] += 1.0\n    a[1] += 2.0": Reduction("a", "add", "scatter", False),
    "if a[7] < b[i, 0]:\n        a[7] = b[i, 0]": Reduction("a", "max", "element", True),
    "for j in range(n):\n        a[j] += b[i, j]": Reduction("a", "add", "scatter", False),
    "a[n] += a[i] * b[i, 0]": Reduction("a", "add", "element", False, alone=False),
}


@pytest.mark.parametrize("line", ARRAYS)
def test_arrays(line: str) -> None:
    found = loop(f"for i in range(n):\n    {line}")
    assert found.verdict == "reduction", found.reason
    assert found.reductions == (ARRAYS[line],)


NOT_ARRAYS = [
    "a[3] += a[i]",
    "x[y[i]] += x[i]",
    "x[y[i]] += 1\n    x[y[i]] *= 2",
    "a[i % 4] = a[i % 3] + 1.0",
    "a[3] += 1.0\n    b[i, 0] = a[3]",
    "a[3] += 1.0\n    a[i] = 0.0",
    "a[0] += 1.0\n    a[i // 2 + 1] = 2.0",
    "a[x[0]] += 1.0\n    x[0] = i",
]


@pytest.mark.parametrize("line", NOT_ARRAYS)
def test_no_array_reduction(line: str) -> None:
    assert loop(f"for i in range(n):\n    {line}").verdict in ("sequential", "undecided")


def test_several_at_once() -> None:
    found = loop("for i in range(n):\n    s += a[i]\n    k = max(k, x[i])\n    b[3, 3] += 1.0")
    assert [reduction.target for reduction in found.reductions] == ["s", "k", "b"]


def test_a_reduction_beside_what_is_undecided_is_still_told() -> None:
    found = loop("for i in range(n):\n    s += b[i, 0]\n    a[x[i]] = b[i, 0]")
    assert found.verdict == "undecided"
    assert [reduction.target for reduction in found.reductions] == ["s"]


def test_an_inner_target_does_not_bind_the_outer_loop() -> None:
    text = "for i in range(n):\n    t = 0.0\n    for j in range(n):\n        t += b[i, j]\n    a[i] = t"
    assert loop(text).verdict == "parallel"
    assert loop(text, "j").verdict == "reduction"


NUMBERS: list[ReductionOp] = ["add", "mul", "min", "max", "minimum", "maximum", "fmin", "fmax"]
WHOLE: list[ReductionOp] = [*NUMBERS, "and", "or", "xor"]


@pytest.mark.parametrize("op", WHOLE)
@pytest.mark.parametrize("scalar", ALL, ids=lambda scalar: scalar.name)
def test_what_changes_nothing(op: ReductionOp, scalar: Scalar) -> None:
    """Every value combined with it is that value, to the last bit: the least and the greatest too."""
    if scalar in (FLOAT32, FLOAT64):
        values = [-0.0, 0.0, 1.5, -math.inf, math.inf, math.nan] if op in NUMBERS else []
        values = values[:-1] if op in ("min", "max") else values  # Python's own skip a NaN that comes second
    else:
        values = [scalar.minimum, scalar.maximum, int(scalar.minimum) // 2, 1]
        if scalar.kind == "bool":
            values = [False, True] if op in ("and", "or", "xor") else []
    for value in values:
        both = evaluation(combined(op, identity(op, scalar), Const(value, scalar)))({})
        assert scalar.dtype.type(both).tobytes() == scalar.dtype.type(value).tobytes(), (op, value)
