"""Compactions of nests, and those that end where no place is left; results on the emulated GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree
from loopwright.recipe import compactions, grid_scans
from loopwright.recipe.grid_scans import CHUNKS

DRAW = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def fewer_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The emulated GPU takes a second for as many as the default is."""
    few = replace(CHUNKS, default=256)
    for module in (compactions, grid_scans):
        monkeypatch.setattr(module, "CHUNKS", few)


def listed(x, out):
    n = 0
    for i in range(len(x)):
        if x[i] > 0.5 and n < len(out):
            out[n] = i
            n += 1
    return n


def room_first(x, out):
    n = 0
    for i in range(len(x)):
        if n < len(out) and x[i] > 0.5:
            out[n] = i
            n += 1
    return n


def peaks(x, level, out):
    rows, columns = x.shape
    n = 0
    for y in range(rows):
        for z in range(columns):
            v = x[y, z]
            if not v > level:
                continue
            is_peak = True
            for yy in range(max(0, y - 1), min(rows, y + 2)):
                for zz in range(max(0, z - 1), min(columns, z + 2)):
                    if x[yy, zz] > v:
                        is_peak = False
            if is_peak and n < out.shape[0]:
                out[n, 0] = y
                out[n, 1] = z
                n += 1
    return n


def volume(x, out):
    n = 0
    for a in range(x.shape[0]):
        for b in range(x.shape[1]):
            for c in range(x.shape[2]):
                if x[a, b, c] > 0.5:
                    out[n] = x[a, b, c] + a - b
                    n += 1
    return n


def asked_elsewhere(x, out):
    n = 0
    for i in range(len(x)):
        if x[i] > 0.5 and n < len(out):
            out[n] = i
            n += 1
        x[i] = n
    return n


def words(letter, starts):
    n = 0
    inside = False
    for i in range(len(letter)):
        if letter[i] and not inside:
            starts[n] = i
            n += 1
        inside = letter[i]
    return n


def schedule(function: Callable[..., Any], *arguments: Any) -> str:
    found = agree(function, *arguments)
    return "; ".join(str(one.step) for one in found.analysed.recipe.decisions)


@pytest.mark.parametrize("function", [listed, room_first])
@pytest.mark.parametrize("room", [0, 1, 40, 10_000])
def test_a_list_that_ends_where_no_place_is_left(function: Callable[..., Any], room: int) -> None:
    for count in (0, 1, 3000):
        x = DRAW.random(count)
        x[::5] = np.nan
        taken = schedule(function, x, np.zeros(room, int))
        assert "uncap n i; scan i" in taken and "block.x" in taken


@pytest.mark.parametrize("shape", [(0, 7), (7, 0), (1, 1), (40, 33)])
def test_peaks_of_an_image(shape: tuple[int, int]) -> None:
    for room in (0, 5, 2000):
        x = DRAW.integers(0, 9, shape).astype(np.float32)
        x[::3, ::4] = np.nan
        taken = schedule(peaks, x, np.float32(2), np.zeros((room, 2), np.int32))
        assert "uncap n y; collapse y z; scan y.z" in taken and "block.x" in taken


@pytest.mark.parametrize("shape", [(0, 3, 3), (3, 0, 3), (3, 4, 0), (9, 8, 31)])
def test_elements_of_a_volume(shape: tuple[int, int, int]) -> None:
    x = DRAW.random(shape)
    assert "collapse a b; scan a.b" in schedule(volume, x, np.zeros(x.size))


def test_a_list_that_is_too_short_fails_as_in_python() -> None:
    with lw.options(device="emulated"), pytest.raises(IndexError):
        lw.kernel(volume)(np.ones((4, 4, 4)), np.zeros(30))


def test_a_counter_that_others_ask_for_keeps_its_bound() -> None:
    assert "uncap" not in schedule(asked_elsewhere, DRAW.random(300), np.zeros(30, int))


def test_lists_of_what_begins() -> None:
    for count in (0, 1, 2, 5000):
        assert "scan i" in schedule(words, DRAW.random(count) > 0.3, np.zeros(count, int))
