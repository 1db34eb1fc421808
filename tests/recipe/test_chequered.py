"""Chequered sweeps on a torus: which sizes they have versions for, and that every size gives what the order says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw


def spins(s, colour):
    for i in range(s.shape[0]):
        for j in range(s.shape[1]):
            if (i + j) % 2 == colour:
                around = s[(i + 1) % s.shape[0], j] + s[(i - 1) % s.shape[0], j]
                around += s[i, (j + 1) % s.shape[1]] + s[i, (j - 1) % s.shape[1]]
                s[i, j] = (3 * s[i, j] + around) % 17


def from_the_end(s, colour):
    n = s.shape[0]
    for i in range(n):
        for j in range(n):
            if (i + j) & 1 == colour:
                s[i, j] = (s[i, j] + s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % n] + 2 * s[i, j - 1]) % 17


def every_other(s, colour):
    n, m = s.shape
    for i in range(n):
        for j in range((i + colour) % 2, m, 2):
            s[i, j] = (s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % m] + 2 * s[i, j - 1]) % 17


def with_edges(s, colour):
    for i in range(1, s.shape[0] - 1):
        for j in range(1, s.shape[1] - 1):
            if (i + j) % 2 == colour:
                s[i, j] = (s[i + 1, j] + s[i - 1, j] + s[i, j + 1] + 2 * s[i, j - 1]) % 17


def same_colour(s, colour):
    n, m = s.shape
    for i in range(n):
        for j in range(m):
            if (i + j) % 2 == colour:
                s[i, j] = (s[(i + 1) % n, (j + 1) % m] + s[i - 1, j - 1]) % 17


SWEEPS = (spins, from_the_end, every_other, with_edges, same_colour)


@pytest.mark.parametrize("device", ["cpu", "emulated"])
@pytest.mark.parametrize("sweep", SWEEPS)
def test_every_size_gives_what_the_order_says(sweep: Any, device: str) -> None:
    kernel = lw.kernel(device=device)(sweep)
    for rows, columns in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 3), (3, 4), (4, 3), (5, 5), (8, 6), (7, 9)):
        if sweep is from_the_end and rows > columns:
            continue
        s = np.random.default_rng(rows).integers(0, 17, (rows, columns))
        for colour in (0, 1):
            wanted, found = s.copy(), s.copy()
            sweep(wanted, colour)
            kernel(found, colour)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("sweep", "sizes"),
    [
        (spins, ["s.0", "s.1"]),
        (from_the_end, ["s.0", "s.1"]),
        (every_other, ["s.0", "s.1"]),
        (with_edges, []),
        (same_colour, []),
    ],
)
def test_versions_for_even_sizes_need_no_order(sweep: Any, sizes: list[str]) -> None:
    explained = lw.kernel(device="cpu")(sweep).explain(np.zeros((8, 8), np.int64), 1)
    assert [step for step in str(explained.schedule).split("; ") if "%" in step] == [
        f"specialize {size} % 2 in i" for size in sizes
    ]
    if sizes:
        assert "parallelize i;" in str(explained.schedule)
        on_gpu = str(lw.kernel(device="emulated")(sweep).explain(np.zeros((8, 8), np.int64), 1).schedule)
        assert "bind i" in on_gpu


@pytest.mark.parametrize("sweep", [spins, from_the_end])
def test_the_edges_of_odd_planes_are_apart_on_a_gpu(sweep: Any) -> None:
    explained = lw.kernel(device="emulated")(sweep).explain(np.zeros((7, 7), np.int64), 1)
    assert "partition j.1; partition i.1; fission i.1 2; fission i.1.1.2 2" in str(explained.schedule)
    assert "bind i.1.1.2.o block.y; bind j.1.2.o block.x" in str(explained.schedule)
