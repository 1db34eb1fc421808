"""What a compiler restructures: induction variables, loops that are distributed or interchanged, scalars that become
arrays, loops that were unrolled by hand, and a second name for an array."""

from __future__ import annotations

import numpy as np

from benchmarks.field.loops import between, loop, matrix_between, short


@loop("induction variables")
def s121(a, b):
    for i in range(len(a) - 1):
        j = i + 1
        a[i] = a[j] + b[i]


@loop("induction variables", n1=1, n3=1)
def s122(a, b, n1, n3):
    j = 1
    k = 0
    for i in range(n1 - 1, len(a), n3):
        k += j
        a[i] += b[len(a) - k]


@loop("induction variables")
def s123(a, b, c, d, e):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] + d[i] * e[i]
        if c[i] > 0.0:
            j += 1
            a[j] = c[i] + d[i] * e[i]


@loop("induction variables")
def s124(a, b, c, d, e):
    j = -1
    for i in range(len(a)):
        if b[i] > 0.0:
            j += 1
            a[j] = b[i] + d[i] * e[i]
        else:
            j += 1
            a[j] = c[i] + d[i] * e[i]


@loop("induction variables")
def s125(flat, aa, bb, cc):
    k = -1
    for i in range(aa.shape[0]):
        for j in range(aa.shape[1]):
            k += 1
            flat[k] = aa[i, j] + bb[i, j] * cc[i, j]


@loop("induction variables")
def s126(bb, cc, flat):
    k = 1
    for i in range(bb.shape[0]):
        for j in range(1, bb.shape[0]):
            bb[j, i] = bb[j - 1, i] + flat[k - 1] * cc[j, i]
            k += 1
        k += 1


@loop("induction variables")
def s127(a, b, c, d, e):
    j = -1
    for i in range(len(a) // 2):
        j += 1
        a[j] = b[i] + c[i] * d[i]
        j += 1
        a[j] = b[i] + d[i] * e[i]


@loop("induction variables")
def s128(a, b, c, d):
    j = -1
    for i in range(len(a) // 2):
        k = j + 1
        a[i] = b[k] - d[i]
        j = k + 1
        b[k] = a[i] + c[k]


@loop("loop distribution")
def s221(a, b, c, d):
    for i in range(1, len(a)):
        a[i] += c[i] * d[i]
        b[i] = b[i - 1] + a[i] + d[i]


@loop("loop distribution")
def s1221(a, b):
    for i in range(4, len(a)):
        b[i] = b[i - 4] + a[i]


@loop("loop distribution")
def s222(a, b, c, e):
    for i in range(1, len(a)):
        a[i] += b[i] * c[i]
        e[i] = e[i - 1] * e[i - 1]
        a[i] -= b[i] * c[i]


@loop("loop interchange")
def s231(aa, bb):
    for i in range(aa.shape[1]):
        for j in range(1, aa.shape[0]):
            aa[j, i] = aa[j - 1, i] + bb[j, i]


@loop("loop interchange", bb=matrix_between(-0.2, 0.2))
def s232(aa, bb):
    for j in range(1, aa.shape[0]):
        for i in range(1, j + 1):
            aa[j, i] = aa[j, i - 1] * aa[j, i - 1] + bb[j, i]


@loop("loop interchange")
def s1232(aa, bb, cc):
    for j in range(aa.shape[0]):
        for i in range(j, aa.shape[0]):
            aa[i, j] = bb[i, j] + cc[i, j]


@loop("loop interchange")
def s233(aa, bb, cc):
    for i in range(1, aa.shape[0]):
        for j in range(1, aa.shape[0]):
            aa[j, i] = aa[j - 1, i] + cc[j, i]
        for j in range(1, aa.shape[0]):
            bb[j, i] = bb[j, i - 1] + cc[j, i]


@loop("loop interchange")
def s2233(aa, bb, cc):
    for i in range(1, aa.shape[0]):
        for j in range(1, aa.shape[0]):
            aa[j, i] = aa[j - 1, i] + cc[j, i]
        for j in range(1, aa.shape[0]):
            bb[i, j] = bb[i - 1, j] + cc[i, j]


@loop("loop interchange", a=short)
def s235(a, b, c, aa, bb):
    for i in range(len(a)):
        a[i] += b[i] * c[i]
        for j in range(1, aa.shape[0]):
            aa[j, i] = aa[j - 1, i] + bb[j, i] * a[i]


@loop("scalar expansion")
def s251(a, b, c, d):
    for i in range(len(a)):
        s = b[i] + c[i] * d[i]
        a[i] = s * s


@loop("scalar expansion")
def s1251(a, b, c, d, e):
    for i in range(len(a)):
        s = b[i] + c[i]
        b[i] = a[i] + d[i]
        a[i] = s * e[i]


@loop("scalar expansion")
def s2251(a, b, c, d, e):
    s = 0.0
    for i in range(len(a)):
        a[i] = s * e[i]
        s = b[i] + c[i]
        b[i] = a[i] + d[i]


@loop("scalar expansion")
def s3251(a, b, c, d, e):
    for i in range(len(a) - 1):
        a[i + 1] = b[i] + c[i]
        b[i] = c[i] * e[i]
        d[i] = a[i] * e[i]


@loop("scalar expansion")
def s252(a, b, c):
    t = 0.0
    for i in range(len(a)):
        s = b[i] * c[i]
        a[i] = s + t
        t = s


@loop("scalar expansion")
def s253(a, b, c, d):
    for i in range(len(a)):
        if a[i] > b[i]:
            s = a[i] - b[i] * d[i]
            c[i] += s
            a[i] = s


@loop("scalar expansion")
def s254(a, b):
    x = b[len(a) - 1]
    for i in range(len(a)):
        a[i] = (b[i] + x) * 0.5
        x = b[i]


@loop("scalar expansion")
def s255(a, b):
    x = b[len(a) - 1]
    y = b[len(a) - 2]
    for i in range(len(a)):
        a[i] = (b[i] + x + y) * 0.333
        y = x
        x = b[i]


@loop("scalar expansion", a=short)
def s256(a, aa, bb, d):
    for i in range(aa.shape[1]):
        for j in range(1, aa.shape[0]):
            a[j] = 1.0 - a[j - 1]
            aa[j, i] = a[j] + bb[j, i] * d[j]


@loop("scalar expansion", a=short)
def s257(a, aa, bb):
    for i in range(1, aa.shape[1]):
        for j in range(aa.shape[0]):
            a[i] = aa[j, i] - a[i - 1]
            aa[j, i] = a[i] + bb[j, i]


@loop("scalar expansion", a=short)
def s258(a, b, c, d, e, aa):
    s = 0.0
    for i in range(len(a)):
        if a[i] > 0.0:
            s = d[i] * d[i]
        b[i] = s * c[i] + d[i]
        e[i] = (s + 1.0) * aa[0, i]


@loop("scalar expansion")
def s261(a, b, c, d):
    for i in range(1, len(a)):
        t = a[i] + b[i]
        a[i] = t + c[i - 1]
        t = c[i] * d[i]
        c[i] = t


@loop("loop rerolling")
def s351(a, b, c):
    alpha = c[0]
    for i in range(0, len(a) - 4, 5):
        a[i] += alpha * b[i]
        a[i + 1] += alpha * b[i + 1]
        a[i + 2] += alpha * b[i + 2]
        a[i + 3] += alpha * b[i + 3]
        a[i + 4] += alpha * b[i + 4]


@loop("loop rerolling")
def s1351(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + c[i]


@loop("loop rerolling")
def s352(a, b):
    dot = 0.0
    for i in range(0, len(a) - 4, 5):
        dot = dot + a[i] * b[i] + a[i + 1] * b[i + 1] + a[i + 2] * b[i + 2] + a[i + 3] * b[i + 3] + a[i + 4] * b[i + 4]
    return dot


@loop("loop rerolling")
def s353(a, b, c, ip):
    alpha = c[0]
    for i in range(0, len(a) - 4, 5):
        a[i] += alpha * b[ip[i]]
        a[i + 1] += alpha * b[ip[i + 1]]
        a[i + 2] += alpha * b[ip[i + 2]]
        a[i + 3] += alpha * b[ip[i + 3]]
        a[i + 4] += alpha * b[ip[i + 4]]


@loop("storage classes")
def s421(flat, a):
    x = flat
    y = x
    for i in range(min(len(flat) - 1, len(a))):
        x[i] = y[i + 1] + a[i]


@loop("storage classes")
def s1421(a, b):
    half = b[len(b) // 2 :]
    for i in range(len(b) // 2):
        b[i] = half[i] + a[i]


@loop("storage classes")
def s422(flat, a):
    x = flat[4:]
    for i in range(min(len(flat) - 8, len(a))):
        x[i] = flat[i + 8] + a[i]


@loop("storage classes")
def s423(flat, a):
    x = flat[64:]
    for i in range(min(len(x), len(a)) - 1):
        flat[i + 1] = x[i] + a[i]


@loop("storage classes")
def s424(flat, a):
    x = flat[63:]
    for i in range(min(len(x), len(a)) - 1):
        x[i + 1] = flat[i] + a[i]


@loop("parameters")
def s431(a, b):
    k1 = 1
    k2 = 2
    k = 2 * k1 - k2
    for i in range(len(a)):
        a[i] = a[i + k] + b[i]


@loop("intrinsic functions")
def s451(a, b, c):
    for i in range(len(a)):
        a[i] = np.sin(b[i]) + np.cos(c[i])


@loop("intrinsic functions")
def s452(a, b, c):
    for i in range(len(a)):
        a[i] = b[i] + c[i] * (i + 1)


@loop("induction variables")
def s453(a, b):
    s = 0.0
    for i in range(len(a)):
        s += 2.0
        a[i] = s * b[i]


def _nothing():
    return 0


@loop("calls", x=between(-1.0, 1.0))
def s471(x, b, c, d, e):
    for i in range(len(x)):
        x[i] = b[i] + d[i] * d[i]
        _nothing()
        b[i] = c[i] + d[i] * e[i]
