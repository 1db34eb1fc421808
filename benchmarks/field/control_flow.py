"""Control flow: conditional stores, chains of tests, loops that end early, and stores that pack what was found."""

from __future__ import annotations

from benchmarks.field.loops import between, last_is, loop, short


@loop("control flow")
def s271(a, b, c):
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i] += b[i] * c[i]


@loop("control flow", t=0.25)
def s272(a, b, c, d, e, t):
    for i in range(len(a)):
        if e[i] >= t:
            a[i] += c[i] * d[i]
            b[i] += c[i] * c[i]


@loop("control flow")
def s273(a, b, c, d, e):
    for i in range(len(a)):
        a[i] += d[i] * e[i]
        if a[i] < 0.0:
            b[i] += d[i] * e[i]
        c[i] += a[i] * d[i]


@loop("control flow")
def s274(a, b, c, d, e):
    for i in range(len(a)):
        a[i] = c[i] + e[i] * d[i]
        if a[i] > 0.0:
            b[i] = a[i] + b[i]
        else:
            a[i] = d[i] * e[i]


@loop("control flow")
def s275(aa, bb, cc):
    for i in range(aa.shape[1]):
        if aa[0, i] > 0.0:
            for j in range(1, aa.shape[0]):
                aa[j, i] = aa[j - 1, i] + bb[j, i] * cc[j, i]


@loop("control flow", a=short)
def s2275(a, b, c, d, aa, bb, cc):
    for i in range(len(a)):
        for j in range(aa.shape[0]):
            aa[j, i] += bb[j, i] * cc[j, i]
        a[i] = b[i] + c[i] * d[i]


@loop("control flow")
def s276(a, b, c, d):
    mid = len(a) // 2
    for i in range(len(a)):
        if i + 1 < mid:
            a[i] += b[i] * c[i]
        else:
            a[i] += b[i] * d[i]


@loop("control flow")
def s277(a, b, c, d, e):
    for i in range(len(a) - 1):
        if a[i] < 0.0:
            if b[i] < 0.0:
                a[i] += c[i] * d[i]
            b[i + 1] = c[i] + d[i] * e[i]


@loop("control flow")
def s278(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] > 0.0:
            c[i] = -c[i] + d[i] * e[i]
        else:
            b[i] = -b[i] + d[i] * e[i]
        a[i] = b[i] + c[i] * d[i]


@loop("control flow")
def s279(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] > 0.0:
            c[i] = -c[i] + e[i] * e[i]
        else:
            b[i] = -b[i] + d[i] * d[i]
            if b[i] > a[i]:
                c[i] += d[i] * e[i]
        a[i] = b[i] + c[i] * d[i]


@loop("control flow")
def s1279(a, b, c, d, e):
    for i in range(len(a)):
        if a[i] < 0.0 and b[i] > a[i]:
            c[i] += d[i] * e[i]


@loop("control flow", x=0.5)
def s2710(a, b, c, d, e, x):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] += b[i] * d[i]
            if len(a) > 10:
                c[i] += d[i] * d[i]
            else:
                c[i] = d[i] * e[i] + 1.0
        else:
            b[i] = a[i] + e[i] * e[i]
            if x > 0.0:
                c[i] = a[i] + d[i] * d[i]
            else:
                c[i] += e[i] * e[i]


@loop("control flow")
def s2711(a, b, c):
    for i in range(len(a)):
        if b[i] != 0.0:
            a[i] += b[i] * c[i]


@loop("control flow")
def s2712(a, b, c):
    for i in range(len(a)):
        if a[i] > b[i]:
            a[i] += b[i] * c[i]


@loop("search", a=last_is(-1.0))
def s331(a):
    found = -1
    for i in range(len(a)):
        if a[i] < 0.0:
            found = i
    return found


@loop("search", t=1.5, a=last_is(2.0))
def s332(a, t):
    index = -2
    value = -1.0
    for i in range(len(a)):
        if a[i] > t:
            index = i
            value = a[i]
            break
    return value + index


@loop("packing")
def s341(a, b):
    j = -1
    for i in range(len(a)):
        if b[i] > 0.0:
            j += 1
            a[j] = b[i]


@loop("packing")
def s342(a, b):
    j = -1
    for i in range(len(a)):
        if a[i] > 0.0:
            j += 1
            a[i] = b[j]


@loop("packing")
def s343(flat, aa, bb):
    k = -1
    for i in range(aa.shape[1]):
        for j in range(aa.shape[0]):
            if bb[j, i] > 0.0:
                k += 1
                flat[k] = aa[j, i]


@loop("non-logical ifs")
def s441(a, b, c, d):
    for i in range(len(a)):
        if d[i] < 0.0:
            a[i] += b[i] * c[i]
        elif d[i] == 0.0:
            a[i] += b[i] * b[i]
        else:
            a[i] += c[i] * c[i]


@loop("non-logical ifs", kind=lambda random, n, m: random.integers(1, 5, n))
def s442(a, b, c, d, e, kind):
    for i in range(len(a)):
        if kind[i] == 1:
            a[i] += b[i] * b[i]
        elif kind[i] == 2:
            a[i] += c[i] * c[i]
        elif kind[i] == 3:
            a[i] += d[i] * d[i]
        else:
            a[i] += e[i] * e[i]


@loop("non-logical ifs")
def s443(a, b, c, d):
    for i in range(len(a)):
        if d[i] <= 0.0:
            a[i] += b[i] * c[i]
        else:
            a[i] += b[i] * b[i]


@loop("early exits", d=last_is(-1.0))
def s481(a, b, c, d):
    for i in range(len(a)):
        if d[i] < 0.0:
            return i
        a[i] += b[i] * c[i]
    return -1


@loop("early exits", c=last_is(2.0), b=between(1.0, 1.5))
def s482(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] * c[i]
        if c[i] > b[i]:
            break
