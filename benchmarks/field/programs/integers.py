"""Integers: histograms, tables, divisions, and numbers that data changes until they are done."""

import numpy as np


def hist(img, hist):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            hist[img[i, j]] += 1


def lookup(img, out, cdf, total):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = (cdf[img[i, j]] * 255) // total


def lookup_only(img, out, cdf):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = cdf[img[i, j]]


def divide(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] // b


def modulo(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] % b


def divide_const(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] // 10


def collatz(a, out):
    for i in range(a.shape[0]):
        n = a[i]
        c = 0
        while n != 1:
            if n % 2 == 0:
                n //= 2
            else:
                n = 3 * n + 1
            c += 1
        out[i] = c


def gcds(a, b, out):
    for i in range(a.shape[0]):
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x


def cases(big):
    """Functions and their arguments, large ones or small ones."""
    r = np.random.default_rng(0)
    s = 700 if big else 9
    g = (s, s)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    yield hist, (u8, np.zeros(256, np.int64))
    yield lookup, (u8, np.zeros(g, np.uint8), np.arange(256) * s * s // 256, s * s)
    yield lookup_only, (u8, np.zeros(g, np.uint8), np.arange(256))
    n = 500000 if big else 20
    a = r.integers(0, 10**9, n)
    yield divide, (a, 12345, np.zeros(n, np.int64))
    yield modulo, (a, 12345, np.zeros(n, np.int64))
    yield divide_const, (a, np.zeros(n, np.int64))
    yield collatz, (np.arange(1, n // 10 + 1), np.zeros(n // 10, np.int64))
    yield gcds, (a, r.integers(1, 10**9, n), np.zeros(n, np.int64))
