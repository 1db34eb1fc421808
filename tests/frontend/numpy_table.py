"""Expressions of NumPy's functions, each in a function that CPython judges: values, types, shapes."""

from __future__ import annotations

import ast
import copy
import warnings
from collections.abc import Iterator

import numpy as np

from frontend.judge import define, kernel_of
from loopwright.ir.interp import interpret

_DRAWN = np.random.default_rng(1)
ARGUMENTS = {
    "a": _DRAWN.integers(0, 300, 7) / 100, "b": _DRAWN.integers(0, 300, 7) / 100,
    "m": _DRAWN.integers(0, 300, (3, 4)) / 100, "q": _DRAWN.integers(0, 300, (3, 3)) / 100,
    "i": np.array([1, 3, 0, 2, 2, 5, 1]), "p": np.array([3, 1, 6, 0, 2, 5, 4]), "p2": np.array([2, 0, 1]), "k": 4,
    "x": 1.25, "f": np.array([1, 0, 1, 1, 0, 0, 1], bool), "z": _DRAWN.random(4) + 1j * _DRAWN.random(4),
    "c3": _DRAWN.integers(0, 9, (2, 3, 4)) / 4, "s": np.array([0.0, 0.5, 1.0, 2.0]),
    "n": np.array([1.0, np.nan, 0.5, 2.0, np.nan, 3.0, 0.25]), "nm": np.array([[1.0, np.nan, 2.0], [3.0, 1.0, np.nan]]),
}  # fmt: skip


def expressions(text: str) -> list[str]:
    """Those of a table, in which a semicolon or a new line stands between two."""
    return [one.strip() for line in text.strip().split("\n") for one in line.split("; ")]


def function_of(text: str) -> tuple[object, list[object]]:
    """The function that returns an expression, and its arguments."""
    used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    names = [name for name in ARGUMENTS if name in used]
    function = define(f"def f({', '.join(names)}):\n    return {text}\n", f"{abs(hash(text))}.py")
    return function, [copy.deepcopy(ARGUMENTS[name]) for name in names]


def judge(text: str) -> None:
    """Run an expression both ways: the same, but for the last digits of sums."""
    function, mine = function_of(text)
    ours = copy.deepcopy(mine)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = function(*mine)  # type: ignore[operator]
    found = interpret(kernel_of(function, *ours), ours)  # type: ignore[arg-type]
    differences = [*_differences(expected, found), *_differences(mine, ours)]
    assert not differences, f"{text}: Python {expected!r}, here {found!r}: {differences}"


def _differences(expected: object, found: object) -> Iterator[str]:
    if type(expected) is not type(found):
        yield f"{type(expected)} and {type(found)}"
    elif isinstance(expected, tuple | list):
        if len(expected) != len(found):  # type: ignore[arg-type]
            yield f"{len(expected)} items"
        for one, other in zip(expected, found, strict=False):  # type: ignore[call-overload]
            yield from _differences(one, other)
    elif isinstance(expected, np.ndarray | np.generic):
        assert isinstance(found, np.ndarray | np.generic)
        if (expected.dtype, expected.shape) != (found.dtype, found.shape):
            yield f"{expected.dtype}{expected.shape} and {found.dtype}{found.shape}"
        elif not np.allclose(expected, found, rtol=1e-12, atol=1e-13, equal_nan=True):
            yield "values"
    elif expected != found and not (isinstance(expected, float) and np.isclose(expected, found, rtol=1e-12)):  # type: ignore[arg-type]
        yield "values"
