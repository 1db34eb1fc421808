"""Kernels as text with their facts, for the tests of steps."""

from __future__ import annotations

from loopwright.analysis.analyse import analyse
from loopwright.analysis.facts import Facts
from loopwright.ir.nodes import Kernel
from loopwright.ir.text import parse_kernel

ROWS = """
kernel rows(a: float64[2] C, b: float64[2] C):
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            b[i, j] = 2.0 * a[i, j]
"""
PREFIX = """
kernel prefix(a: float64[1] C):
    for i in 1 .. size(a, 0):
        a[i] = a[i] + a[i - 1]
"""
TOTAL = """
kernel total(a: float64[2] C) -> python float64:
    var s: float64
    s = 0.0
    for i in 0 .. size(a, 0):
        for j in 0 .. size(a, 1):
            s = s + a[i, j]
    return s
"""
COUNT = """
kernel count(a: int64[1] C, h: int64[1] C):
    for i in 0 .. size(a, 0):
        h[a[i]] = h[a[i]] + 1
"""
WHILE = """
kernel halve(a: int64[1] C):
    while a[0] > 1 named w:
        a[0] = a[0] // 2
"""
MATMUL = """
kernel matmul(a: float64[2] C, b: float64[2] C, c: float64[2] C):
    for k in 0 .. size(a, 1):
        for i in 0 .. size(a, 0):
            for j in 0 .. size(b, 1):
                c[i, j] = c[i, j] + a[i, k] * b[k, j]
"""


def known(text: str) -> tuple[Kernel, Facts]:
    """The kernel of a text, and its facts."""
    kernel = parse_kernel(text)
    return kernel, analyse(kernel)
