"""Kernels as text: what is written for the commonest loops, and nothing more."""

from __future__ import annotations

import numpy as np

from frontend.judge import define, kernel_of, text_of
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.signature import ArrayArgument, ScalarArgument, Signature
from loopwright.ir.types import FLOAT32, INT64


def stencil(a, b):
    n, m = a.shape
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])


def test_a_stencil_is_nodes_only(golden):
    golden("frontend/stencil.txt", text_of(stencil, np.zeros((3, 3)), np.zeros((3, 3))))


def spmv(data, column, start, x, y):
    for row in range(len(y)):
        total = 0.0
        for k in range(start[row], start[row + 1]):
            total += data[k] * x[column[k]]
        y[row] = total


def test_indirect_references(golden):
    arguments = np.zeros(3, np.float32), np.zeros(3, np.int32), np.zeros(4, np.int64), np.zeros(3), np.zeros(3)
    golden("frontend/spmv.txt", text_of(spmv, *arguments))


def early(a, limit):
    count = 0
    for i in range(len(a)):
        if a[i] < 0:
            continue
        count += 1
        if count == limit:
            return i
    return i - 1


def test_early_exits_and_the_loop_variable_after_the_loop(golden):
    golden("frontend/early.txt", text_of(early, np.zeros(3), 2))


def test_locals_that_are_names_of_expressions_leave_no_trace():
    function = define("""
        def f(a):
            n = len(a)
            half = n // 2
            step = 1
            for i in range(half):
                k = i + step
                a[k] = a[2 * k - 1]
        """)
    assert text_of(function, np.zeros(3)) == (
        "kernel f(a: float64[1] C):\n    for i in 0 .. size(a, 0) // 2:\n        a[i + 1] = a[2 * (i + 1) - 1]\n"
    )


def test_layouts_and_overlap_come_from_the_signature():
    source = capture(define("def f(a, n):\n    a[0, 1] = n\n"))
    array = ArrayArgument(FLOAT32, 2, "last", aligned=False)
    kernel = lower(source, Signature((array, ScalarArgument(INT64, weak=True)), overlap=True)).kernel
    assert kernel.overlap
    assert (kernel.arrays[0].layout, kernel.arrays[0].aligned, kernel.arrays[0].element) == ("last", False, FLOAT32)
    assert kernel.name == "f"
    assert (kernel.file, kernel.line) == ("example.py", 1)


def test_places_are_the_users():
    kernel = kernel_of(define("def f(a):\n    a[0] = a[1]\n"), np.zeros(2))
    (store,) = kernel.body
    assert (store.at.line, store.at.column, store.at.end_column) == (2, 4, 8)
    assert (store.value.at.column, store.value.at.end_column) == (11, 15)


def test_types_grow_until_they_agree():
    function = define("""
        def f(a, n):
            x = 0
            y = 0
            for i in range(n):
                x = y
                y = y + a[i]
            return x, y
        """)
    kernel = kernel_of(function, np.zeros(3, np.float32), 2)
    assert [part.type for part in kernel.returned] == [FLOAT32, FLOAT32]
