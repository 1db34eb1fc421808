"""Calls beside a store that is of no use: the result is right, and what is wrong is said at most once."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright import errors
from loopwright.ir.signature import Shape
from loopwright.ir.variant import RECIPE, Variant
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.store import ProfileStore


@lw.kernel
def doubled(a):
    for i in range(len(a)):
        a[i] *= 2


def filled(path: Path, machine: str = "another machine") -> None:
    """A store with one measurement, which promises miracles."""
    fingerprint = doubled.specialise(np.ones(4)).fingerprint
    fast = Variant("cpu", "split i 2; parallelize i.o", 1)
    with ProfileStore.open(path) as store:
        store.add([Measurement(fingerprint, machine, fast, Shape((4,)), Work(4), "ok", 1.0, 0.0, 5, made_at=1.0)])


@contextmanager
def of_another_machine(path: Path) -> Iterator[None]:
    filled(path)
    yield


@contextmanager
def newer(path: Path) -> Iterator[None]:
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.commit()
    yield


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    filled(path)
    path.write_bytes(b"no database at all" * 400)
    yield


@contextmanager
def a_folder(path: Path) -> Iterator[None]:
    path.mkdir()
    yield


@contextmanager
def locked(path: Path) -> Iterator[None]:
    filled(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def missing(path: Path) -> Iterator[None]:
    yield


SITUATIONS = [of_another_machine, newer, damaged, a_folder, locked, missing]
SILENT = (of_another_machine, missing)


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda one: one.__name__)
def test_a_call_is_right_whatever_the_store(tmp_path: Path, situation: Callable[[Path], object]) -> None:
    path = tmp_path / "store.sqlite3"
    errors._WARNED.clear()
    doubled._dispatch.forget()
    with situation(path), lw.options(store=path, threads=1), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        a = np.ones(4)
        for n in (4, 3, 2):
            doubled(a[:n])
            doubled._dispatch.forget()
        assert a.tolist() == [8.0, 8.0, 4.0, 2.0]
        assert {run.compilation.schedule for run in doubled._dispatch.runs()} <= {RECIPE}
    words = [str(one.message) for one in told if "store" in str(one.message)]
    assert len(words) == len(set(words))
    assert bool(words) == (situation not in SILENT)


def test_tuning_with_no_store_to_write_to_says_so_and_tunes(tmp_path: Path) -> None:
    path = tmp_path / "folder.sqlite3"
    path.mkdir()
    errors._WARNED.clear()
    with lw.options(store=path, threads=1), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = doubled.tune(np.ones(64), budget=0)
        doubled(np.ones(64))
    assert found.best is not None and found.counts == {"ok": 1}
    assert any(str(path) in str(one.message) for one in told)
