"""Integers: histograms, tables, divisions, and numbers that data changes until they are done."""

import numpy as np

from benchmarks.field.programs.programs import program


def _hist(r, big):
    s = 700 if big else 9
    g = (s, s)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    return (u8, np.zeros(256, np.int64))


@program(_hist)
def hist(img, hist):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            hist[img[i, j]] += 1


def _lookup(r, big):
    s = 700 if big else 9
    g = (s, s)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    return (u8, np.zeros(g, np.uint8), np.arange(256) * s * s // 256, s * s)


@program(_lookup)
def lookup(img, out, cdf, total):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = (cdf[img[i, j]] * 255) // total


def _lookup_only(r, big):
    s = 700 if big else 9
    g = (s, s)
    u8 = r.integers(0, 256, g).astype(np.uint8)
    return (u8, np.zeros(g, np.uint8), np.arange(256))


@program(_lookup_only)
def lookup_only(img, out, cdf):
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            out[i, j] = cdf[img[i, j]]


def _divide(r, big):
    n = 500000 if big else 20
    a = r.integers(0, 10**9, n)
    return (a, 12345, np.zeros(n, np.int64))


@program(_divide)
def divide(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] // b


def _modulo(r, big):
    n = 500000 if big else 20
    a = r.integers(0, 10**9, n)
    return (a, 12345, np.zeros(n, np.int64))


@program(_modulo)
def modulo(a, b, out):
    for i in range(a.shape[0]):
        out[i] = a[i] % b


def _divide_const(r, big):
    n = 500000 if big else 20
    a = r.integers(0, 10**9, n)
    return (a, np.zeros(n, np.int64))


@program(_divide_const)
def divide_const(a, out):
    for i in range(a.shape[0]):
        out[i] = a[i] // 10


def _collatz(r, big):
    n = 500000 if big else 20
    return (np.arange(1, n // 10 + 1), np.zeros(n // 10, np.int64))


@program(_collatz)
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


def _gcds(r, big):
    n = 500000 if big else 20
    a = r.integers(0, 10**9, n)
    return (a, r.integers(1, 10**9, n), np.zeros(n, np.int64))


@program(_gcds)
def gcds(a, b, out):
    for i in range(a.shape[0]):
        x = a[i]
        y = b[i]
        while y != 0:
            x, y = y, x % y
        out[i] = x
