"""`lw.random`: Philox against its published test vectors, the same bits whatever runs it, how it is distributed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import loopwright as lw
from loopwright import random

WORD = 2**32 - 1
KNOWN = [  # from Random123's kat_vectors: counter, key, result
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0),
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]  # fmt: skip


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_published_vectors(counter, key, expected):
    assert random.philox(*counter, *key) == expected


def drawn(seed, normal, uniform, integer):
    for i in range(len(normal)):
        normal[i] = lw.random.normal(seed, i)
        uniform[i] = lw.random.uniform(seed, i, 1)
        integer[i] = lw.random.integers(-5, 100, seed, i, 2, 3)


def _arrays(n):
    return np.zeros(n), np.zeros(n), np.zeros(n, np.int64)


@pytest.mark.parametrize("seed", [0, 7, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("device", ["cpu", "interpreter", "emulated"])
def test_the_same_bits_everywhere(seed, device):
    mine, theirs = _arrays(50), _arrays(50)
    drawn(seed, *mine)
    with lw.options(device=device):
        lw.kernel(drawn)(seed, *theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert (a == b).all()


def by_elements(ids, out):
    for i in range(len(ids)):
        out[i] = lw.random.uniform(ids[0], ids[i]) + lw.random.normal(7, i, ids[i], ids[i])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"])
def test_seeds_and_indices_of_every_integer_type_are_their_numbers(dtype):
    ids = np.array([3, 100, np.iinfo(dtype).max, np.iinfo(dtype).min, 0], dtype)
    expected = [
        lw.random.uniform(3, int(one)) + lw.random.normal(7, i, int(one), int(one)) for i, one in enumerate(ids)
    ]
    mine, theirs = np.zeros(5), np.zeros(5)
    by_elements(ids, mine)
    lw.kernel(by_elements)(ids, theirs)
    assert (mine == expected).all() and (theirs == expected).all()


def test_loops_are_parallel():
    told = str(lw.kernel(drawn).explain(1, *_arrays(10)))
    assert next(line for line in told.splitlines() if "for i in range(len(normal))" in line).endswith("parallel")


def test_distributions():
    normal, uniform, integer = _arrays(200_000)
    lw.kernel(drawn)(3, normal, uniform, integer)
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1.0) < 0.01
    assert abs((normal**3).mean()) < 0.03
    assert abs((normal**4).mean() - 3.0) < 0.1
    inside = (abs(normal[:, None]) < np.array([0.5, 1.0, 2.0, 3.0])).mean(axis=0)
    assert abs(inside - [math.erf(x / math.sqrt(2)) for x in (0.5, 1.0, 2.0, 3.0)]).max() < 0.005
    assert 0.0 <= uniform.min() < 1e-4
    assert 0.9999 < uniform.max() < 1.0
    counts = np.bincount(integer + 5, minlength=105)
    assert abs(counts - 200_000 / 105).max() < 6 * math.sqrt(200_000 / 105)


def test_fixed_point():
    for u in (1, 2, 3, 2**30 + 7, 2**52, 2**53 - 1, 2**53):
        assert random._minus_two_ln(u) / 2**30 == pytest.approx(-2 * math.log(u / 2**53), abs=2e-8)
        assert random._minus_two_ln(u) >= 0
    for turn in range(0, 2**32, 2**32 // 1000):
        assert random._cosine(turn) / 2**30 == pytest.approx(math.cos(2 * math.pi * turn / 2**32), abs=3e-9)


def test_bounds():
    with pytest.raises(ValueError, match="above low"):
        lw.random.integers(3, 3, 0, 0)
    with pytest.raises(ValueError, match="above low"):
        lw.kernel(wrong)(3)


def wrong(n):
    return lw.random.integers(n, n, 0, 0)
