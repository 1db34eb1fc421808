"""Arguments that are saved and made again: layouts, views of one memory, records."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from loopwright.tuning.arguments import Restored, read, restore, save, write


def again(folder: Path, *arguments: object) -> Restored:
    write(save(arguments), folder / "saved")
    return restore(read(folder / "saved"))


def test_layouts_and_numbers(tmp_path: Path) -> None:
    base = np.arange(60.0).reshape(5, 12)
    given = (base[::-2, 1::3], np.asfortranarray(base), base[2:2], np.float32(3.5), 7, None, "x", (1, 2.0))
    found = again(tmp_path, *given).arguments
    for one, other in zip(given, found, strict=True):
        if isinstance(one, np.ndarray):
            assert isinstance(other, np.ndarray)
            assert one.tolist() == other.tolist() and one.strides == other.strides and one.dtype == other.dtype
            assert not np.shares_memory(one, other)
        else:
            assert type(one) is type(other) and one == other


def test_views_of_one_memory_stay_so(tmp_path: Path) -> None:
    base = np.arange(10)
    first, second, third = again(tmp_path, base, base, base[3:]).arguments
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray) and isinstance(third, np.ndarray)
    first[4] = 99
    assert second[4] == third[1] == 99


def test_records(tmp_path: Path) -> None:
    records = np.zeros(4, [("x", "f8"), ("k", "i4")])
    records["k"] = range(4)
    (found,) = again(tmp_path, records[1:]).arguments
    assert isinstance(found, np.ndarray) and found["k"].tolist() == [1, 2, 3]


def test_what_is_written_can_be_brought_back(tmp_path: Path) -> None:
    made = again(tmp_path, np.arange(4.0), np.ones(3), 5)
    first, second, _ = made.arguments
    assert isinstance(first, np.ndarray) and isinstance(second, np.ndarray)
    first[:], second[:] = -1, -1
    made.reset([0])
    assert first.tolist() == [0, 1, 2, 3] and second.tolist() == [-1, -1, -1]
