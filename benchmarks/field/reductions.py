"""Reductions and recurrences: sums, products, extremes and their places, and what depends on the iteration before."""

from __future__ import annotations

import numpy as np

from benchmarks.field.loops import between, loop


@loop("reductions")
def s311(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


def _four(a, first):
    s = 0.0
    for i in range(first, first + 4):
        s += a[i]
    return s


@loop("reductions", a=lambda random, n, m: random.uniform(-1.0, 1.0, 32))
def s31111(a):
    total = 0.0
    for part in range(8):
        total += _four(a, 4 * part)
    return total


@loop("reductions", a=between(0.999, 1.001))
def s312(a):
    product = 1.0
    for i in range(len(a)):
        product *= a[i]
    return product


@loop("reductions")
def s313(a, b):
    dot = 0.0
    for i in range(len(a)):
        dot += a[i] * b[i]
    return dot


@loop("reductions")
def s314(a):
    x = a[0]
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
    return x


@loop("reductions", a=lambda random, n, m: np.arange(n) * 7 % n * 1.0)
def s315(a):
    x = a[0]
    index = 0
    for i in range(len(a)):
        if a[i] > x:
            x = a[i]
            index = i
    return x + index + 1


@loop("reductions")
def s316(a):
    x = a[0]
    for i in range(1, len(a)):
        if a[i] < x:
            x = a[i]
    return x


@loop("reductions", half=lambda random, n, m: n // 2)
def s317(half):
    q = 1.0
    for _ in range(half):
        q *= 0.99
    return q


@loop("reductions", inc=1)
def s318(a, inc):
    k = 0
    index = 0
    greatest = abs(a[0])
    k += inc
    for i in range(1, len(a)):
        if abs(a[k]) > greatest:
            index = i
            greatest = abs(a[k])
        k += inc
    return greatest + index + 1


@loop("reductions")
def s319(a, b, c, d, e):
    total = 0.0
    for i in range(len(a)):
        a[i] = c[i] + d[i]
        total += a[i]
        b[i] = c[i] + e[i]
        total += b[i]
    return total


@loop("reductions")
def s3110(aa):
    greatest = aa[0, 0]
    x = 0
    y = 0
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            if aa[i, j] > greatest:
                greatest = aa[i, j]
                x = i
                y = j
    return greatest + (x + 1) + (y + 1)


@loop("reductions")
def s13110(aa):
    greatest = aa[0, 0]
    x = 0
    y = 0
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            if aa[i, j] > greatest:
                greatest = aa[i, j]
                x = i
                y = j
    return greatest + x + y


@loop("reductions")
def s3111(a):
    total = 0.0
    for i in range(len(a)):
        if a[i] > 0.0:
            total += a[i]
    return total


@loop("reductions")
def s3112(a, b):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
        b[i] = total
    return total


@loop("reductions")
def s3113(a):
    greatest = abs(a[0])
    for i in range(len(a)):
        if abs(a[i]) > greatest:
            greatest = abs(a[i])
    return greatest


@loop("recurrences")
def s321(a, b):
    for i in range(1, len(a)):
        a[i] += a[i - 1] * b[i]


@loop("recurrences", b=between(-0.4, 0.4), c=between(-0.4, 0.4))
def s322(a, b, c):
    for i in range(2, len(a)):
        a[i] = a[i] + a[i - 1] * b[i] + a[i - 2] * c[i]


@loop("recurrences")
def s323(a, b, c, d, e):
    for i in range(1, len(a)):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = a[i] + c[i] * e[i]


@loop("vector operations")
def vsumr(a):
    total = 0.0
    for i in range(len(a)):
        total += a[i]
    return total


@loop("vector operations")
def vdotr(a, b):
    dot = 0.0
    for i in range(len(a)):
        dot += a[i] * b[i]
    return dot
