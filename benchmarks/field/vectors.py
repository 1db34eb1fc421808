"""Indirect addressing, statement functions, and operations on whole vectors."""

from __future__ import annotations

from benchmarks.field.loops import loop, short


@loop("indirect addressing")
def s491(a, b, c, d, ip):
    for i in range(len(b)):
        a[ip[i]] = b[i] + c[i] * d[i]


@loop("indirect addressing", s=0.5)
def s4112(a, b, ip, s):
    for i in range(len(a)):
        a[i] += b[ip[i]] * s


@loop("indirect addressing")
def s4113(a, b, c, ip):
    for i in range(len(ip)):
        a[ip[i]] = b[ip[i]] + c[i]


@loop("indirect addressing", n1=1)
def s4114(a, b, c, d, ip, n1):
    for i in range(n1 - 1, len(a)):
        k = ip[i]
        a[i] = b[i] + c[len(a) - k - 1] * d[i]


@loop("indirect addressing")
def s4115(a, b, ip):
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[ip[i]]
    return total


@loop("indirect addressing", j=1, inc=1, ip=lambda random, n, m: random.permutation(m))
def s4116(a, aa, ip, j, inc):
    total = 0.0
    for i in range(len(ip) - 1):
        off = inc + i
        total += a[off] * aa[j - 1, ip[i]]
    return total


@loop("indirect addressing")
def s4117(a, b, c, d):
    for i in range(len(a)):
        a[i] = b[i] + c[i // 2] * d[i]


def _product(x, y):
    return x * y


@loop("statement functions")
def s4121(a, b, c):
    for i in range(len(a)):
        a[i] += _product(b[i], c[i])


@loop("vector operations")
def va(a, b):
    for i in range(len(a)):
        a[i] = b[i]


@loop("vector operations")
def vag(a, b, ip):
    for i in range(len(a)):
        a[i] = b[ip[i]]


@loop("vector operations")
def vas(a, b, ip):
    for i in range(len(ip)):
        a[ip[i]] = b[i]


@loop("vector operations")
def vif(a, b):
    for i in range(len(a)):
        if b[i] > 0.0:
            a[i] = b[i]


@loop("vector operations")
def vpv(a, b):
    for i in range(len(a)):
        a[i] += b[i]


@loop("vector operations")
def vtv(a, b):
    for i in range(len(a)):
        a[i] *= b[i]


@loop("vector operations")
def vpvtv(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] * c[i]


@loop("vector operations", s=0.5)
def vpvts(a, b, s):
    for i in range(len(a)):
        a[i] += b[i] * s


@loop("vector operations")
def vpvpv(a, b, c):
    for i in range(len(a)):
        a[i] += b[i] + c[i]


@loop("vector operations")
def vtvtv(a, b, c):
    for i in range(len(a)):
        a[i] = a[i] * b[i] * c[i]


@loop("vector operations", x=short)
def vbor(x, a, b, c, d, e, aa):
    for i in range(len(x)):
        p, q, r, s, t, u = a[i], b[i], c[i], d[i], e[i], aa[0, i]
        one = p * (q * (r + s + t + u) + r * (s + t + u) + s * (t + u) + t * u)
        two = q * (r * (s + t + u) + s * (t + u) + t * u)
        three = r * (s * (t + u) + t * u)
        x[i] = one * two * three * (s * t * u)
