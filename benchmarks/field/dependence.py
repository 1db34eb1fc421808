"""Dependences: linear ones, of flow through scalars and helpers, of symbols, and those that another order removes."""

from __future__ import annotations

from benchmarks.field.loops import loop, matrix_between, short


@loop("linear dependence")
def s000(a, b):
    for i in range(len(a)):
        a[i] = b[i] + 1


@loop("linear dependence")
def s111(a, b):
    for i in range(1, len(a), 2):
        a[i] = a[i - 1] + b[i]


@loop("linear dependence")
def s1111(a, b, c, d):
    for i in range(len(a) // 2):
        a[2 * i] = c[i] * b[i] + d[i] * b[i] + c[i] * c[i] + d[i] * b[i] + d[i] * c[i]


@loop("linear dependence")
def s112(a, b):
    for i in range(len(a) - 2, -1, -1):
        a[i + 1] = a[i] + b[i]


@loop("linear dependence")
def s1112(a, b):
    for i in range(len(a) - 1, -1, -1):
        a[i] = b[i] + 1.0


@loop("linear dependence")
def s113(a, b):
    for i in range(1, len(a)):
        a[i] = a[0] + b[i]


@loop("linear dependence")
def s1113(a, b):
    for i in range(len(a)):
        a[i] = a[len(a) // 2] + b[i]


@loop("linear dependence")
def s114(aa, bb):
    for i in range(aa.shape[0]):
        for j in range(i):
            aa[i, j] = aa[j, i] + bb[i, j]


@loop("linear dependence", a=short, aa=matrix_between(-0.1, 0.1))
def s115(a, aa):
    for j in range(len(a)):
        for i in range(j + 1, len(a)):
            a[i] -= aa[j, i] * a[j]


@loop("linear dependence")
def s1115(aa, bb, cc):
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i, j] * cc[j, i] + bb[i, j]


@loop("linear dependence")
def s116(a):
    for i in range(0, len(a) - 5, 5):
        a[i] = a[i + 1] * a[i]
        a[i + 1] = a[i + 2] * a[i + 1]
        a[i + 2] = a[i + 3] * a[i + 2]
        a[i + 3] = a[i + 4] * a[i + 3]
        a[i + 4] = a[i + 5] * a[i + 4]


@loop("linear dependence", a=short, bb=matrix_between(-0.1, 0.1))
def s118(a, bb):
    for i in range(1, len(a)):
        for j in range(i):
            a[i] += bb[j, i] * a[i - j - 1]


@loop("linear dependence")
def s119(aa, bb):
    for i in range(1, aa.shape[0]):
        for j in range(1, aa.shape[1]):
            aa[i, j] = aa[i - 1, j - 1] + bb[i, j]


@loop("linear dependence")
def s1119(aa, bb):
    for i in range(1, aa.shape[0]):
        for j in range(aa.shape[1]):
            aa[i, j] = aa[i - 1, j] + bb[i, j]


@loop("global data flow")
def s131(a, b):
    m = 1
    for i in range(len(a) - 1):
        a[i] = a[i + m] + b[i]


@loop("global data flow", b=short)
def s132(aa, b, c):
    m = 0
    j = m
    k = m + 1
    for i in range(1, aa.shape[1]):
        aa[j, i] = aa[k, i - 1] + b[i] * c[1]


@loop("global data flow")
def s141(flat, bb):
    for i in range(bb.shape[0]):
        k = (i + 1) * i // 2 + i
        for j in range(i, bb.shape[0]):
            flat[k] += bb[j, i]
            k += j + 1


def _shifted_sum(a, b, m):
    for i in range(len(a) - 1):
        a[i] = a[i + m] + b[i]


@loop("global data flow")
def s151(a, b):
    _shifted_sum(a, b, 1)


def _add_product(a, b, c, i):
    a[i] += b[i] * c[i]


@loop("global data flow")
def s152(a, b, c, d, e):
    for i in range(len(a)):
        b[i] = d[i] * e[i]
        _add_product(a, b, c, i)


@loop("global data flow")
def s161(a, b, c, d, e):
    for i in range(len(a) - 1):
        if b[i] < 0.0:
            c[i + 1] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


@loop("global data flow")
def s1161(a, b, c, d, e):
    for i in range(len(a) - 1):
        if c[i] < 0.0:
            b[i] = a[i] + d[i] * d[i]
        else:
            a[i] = c[i] + d[i] * e[i]


@loop("global data flow", k=1)
def s162(a, b, c, k):
    if k > 0:
        for i in range(len(a) - k):
            a[i] = a[i + k] + b[i] * c[i]


@loop("symbolics", inc=1)
def s171(a, b, inc):
    for i in range(len(b)):
        a[i * inc] += b[i]


@loop("symbolics", n1=1, n3=1)
def s172(a, b, n1, n3):
    for i in range(n1 - 1, len(a), n3):
        a[i] += b[i]


@loop("symbolics")
def s173(a, b):
    k = len(a) // 2
    for i in range(len(a) // 2):
        a[i + k] = a[i] + b[i]


@loop("symbolics", count=lambda random, n, m: n // 2)
def s174(a, b, count):
    for i in range(count):
        a[i + count] = a[i] + b[i]


@loop("symbolics", inc=1)
def s175(a, b, inc):
    for i in range(0, len(a) - inc, inc):
        a[i] = a[i + inc] + b[i]


@loop(
    "symbolics",
    a=lambda random, n, m: random.uniform(-1.0, 1.0, 8 * m),
    b=lambda random, n, m: random.uniform(-1.0, 1.0, 8 * m),
)
def s176(a, b, c):
    m = len(a) // 2
    for j in range(m):
        for i in range(m):
            a[i] += b[i + m - j - 1] * c[j]


@loop("statement reordering")
def s211(a, b, c, d, e):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i] * d[i]
        b[i] = b[i + 1] - e[i] * d[i]


@loop("statement reordering")
def s212(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] *= c[i]
        b[i] += a[i + 1] * d[i]


@loop("statement reordering")
def s1213(a, b, c, d):
    for i in range(1, len(a) - 1):
        a[i] = b[i - 1] + c[i]
        b[i] = a[i + 1] * d[i]


@loop("node splitting")
def s241(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] * c[i] * d[i]
        b[i] = a[i] * a[i + 1] * d[i]


@loop("node splitting", s1=0.25, s2=-0.125)
def s242(a, b, c, d, s1, s2):
    for i in range(1, len(a)):
        a[i] = a[i - 1] + s1 + s2 + b[i] + c[i] + d[i]


@loop("node splitting")
def s243(a, b, c, d, e):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = a[i] + d[i] * e[i]
        a[i] = b[i] + a[i + 1] * d[i]


@loop("node splitting")
def s244(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * d[i]
        b[i] = c[i] + b[i]
        a[i + 1] = b[i] + a[i + 1] * d[i]


@loop("node splitting")
def s1244(a, b, c, d):
    for i in range(len(a) - 1):
        a[i] = b[i] + c[i] * c[i] + b[i] * b[i] + c[i]
        d[i] = a[i] + a[i + 1]


@loop("node splitting")
def s2244(a, b, c, e):
    for i in range(len(a) - 1):
        a[i + 1] = b[i] + e[i]
        a[i] = b[i] + c[i]


@loop("crossing thresholds")
def s281(a, b, c):
    for i in range(len(a)):
        x = a[len(a) - i - 1] + b[i] * c[i]
        a[i] = x - 1.0
        b[i] = x


@loop("crossing thresholds")
def s1281(a, b, c, d, e):
    for i in range(len(a)):
        x = b[i] * c[i] + a[i] * d[i] + e[i]
        a[i] = x - 1.0
        b[i] = x


@loop("loop peeling")
def s291(a, b):
    before = len(a) - 1
    for i in range(len(a)):
        a[i] = (b[i] + b[before]) * 0.5
        before = i


@loop("loop peeling")
def s292(a, b):
    before = len(a) - 1
    earlier = len(a) - 2
    for i in range(len(a)):
        a[i] = (b[i] + b[before] + b[earlier]) * 0.333
        earlier = before
        before = i


@loop("loop peeling")
def s293(a):
    for i in range(len(a)):
        a[i] = a[0]


@loop("diagonals")
def s2101(aa, bb, cc):
    for i in range(aa.shape[0]):
        aa[i, i] += bb[i, i] * cc[i, i]


@loop("diagonals")
def s2102(aa):
    for i in range(aa.shape[0]):
        for j in range(aa.shape[0]):
            aa[j, i] = 0.0
        aa[i, i] = 1.0


@loop("wavefronts")
def s2111(aa):
    for j in range(1, aa.shape[0]):
        for i in range(1, aa.shape[1]):
            aa[j, i] = (aa[j, i - 1] + aa[j - 1, i]) / 1.9
