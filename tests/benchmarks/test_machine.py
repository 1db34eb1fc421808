"""The machine's limits are measured, and its parts are named."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from benchmarks.c_peers import FLAGS, build

from benchmarks import machine


def test_the_copy_copies_everything(tmp_path: Path) -> None:
    library = build("machine", tmp_path, (*FLAGS, "-fopenmp"))
    source, target = np.arange(1001.0), np.zeros(1001)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (source, target)]
    library.copy(ctypes.c_int64(1001), *pointers, ctypes.c_int64(2))
    np.testing.assert_array_equal(target, source)


def test_the_operations_are_counted(tmp_path: Path) -> None:
    library = build("machine", tmp_path, (*FLAGS, "-fopenmp"))
    library.multiply_add.restype = ctypes.c_double
    one = library.multiply_add(ctypes.c_int64(10), ctypes.c_int64(1))
    assert one in [2 * 12 * width * 10 for width in (2, 4, 8)]
    assert library.multiply_add(ctypes.c_int64(30), ctypes.c_int64(2)) == 6 * one


def test_versions_name_what_takes_part() -> None:
    found = machine.versions()
    assert found["numpy"] == np.__version__
    assert {"python", "C compiler", "loopwright", "numba"} <= set(found)


def test_a_machine_under_load_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (1.7, 0.0, 0.0), raising=False)
    assert machine.busy()
    monkeypatch.setattr(machine.os, "getloadavg", lambda: (0.1, 2.0, 2.0), raising=False)
    assert not machine.busy()
