"""The loops around an elementwise function, and around one of arrays, for each number of arguments: what `vectorize`
and `guvectorize` make kernels of. The function is inlined into the loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from loopwright.numba.many_operands import ALONG_MANY, each_of_many

Function = Callable[..., Any]


def _each_of_one(function: Function) -> Function:
    def elements(a: Any) -> Any:
        return np.array([function(a[i]) for i in range(len(a))])

    return elements


def _each_of_two(function: Function) -> Function:
    def elements(a: Any, b: Any) -> Any:
        return np.array([function(a[i], b[i]) for i in range(len(a))])

    return elements


def _each_of_three(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any) -> Any:
        return np.array([function(a[i], b[i], c[i]) for i in range(len(a))])

    return elements


def _each_of_four(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any, d: Any) -> Any:
        return np.array([function(a[i], b[i], c[i], d[i]) for i in range(len(a))])

    return elements


def _each_of_five(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        return np.array([function(a[i], b[i], c[i], d[i], e[i]) for i in range(len(a))])

    return elements


def _each_of_six(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        return np.array([function(a[i], b[i], c[i], d[i], e[i], f[i]) for i in range(len(a))])

    return elements


def _each_of_seven(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> Any:
        return np.array([function(a[i], b[i], c[i], d[i], e[i], f[i], g[i]) for i in range(len(a))])

    return elements


def _each_of_eight(function: Function) -> Function:
    def elements(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
        return np.array([function(a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i]) for i in range(len(a))])

    return elements


def _along_one(function: Function) -> Function:
    def along(a: Any) -> None:
        for i in range(len(a)):
            function(a[i])

    return along


def _along_two(function: Function) -> Function:
    def along(a: Any, b: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i])

    return along


def _along_three(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i])

    return along


def _along_four(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any, d: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i], d[i])

    return along


def _along_five(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any, d: Any, e: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i], d[i], e[i])

    return along


def _along_six(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i], d[i], e[i], f[i])

    return along


def _along_seven(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i], d[i], e[i], f[i], g[i])

    return along


def _along_eight(function: Function) -> Function:
    def along(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> None:
        for i in range(len(a)):
            function(a[i], b[i], c[i], d[i], e[i], f[i], g[i], h[i])

    return along


EACH: tuple[Callable[[Function], Function], ...] = (
    _each_of_one, _each_of_two, _each_of_three, _each_of_four,
    _each_of_five, _each_of_six, _each_of_seven, _each_of_eight, *[each_of_many] * len(ALONG_MANY),
)  # fmt: skip
"""The elements of an array that a function gives for those of so many arrays, of one axis and the same length."""

ALONG: tuple[Callable[[Function], Function], ...] = (
    _along_one, _along_two, _along_three, _along_four,
    _along_five, _along_six, _along_seven, _along_eight, *ALONG_MANY,
)  # fmt: skip
"""Call a function with the items of so many arrays, one after the other."""
MOST_OPERANDS = len(EACH)
