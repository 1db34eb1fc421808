"""Entries of the cache that are not what was written: noticed, set aside, made again."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults.children import BUILD, LAUNCHER, USE, run


def changed(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize("harm", [changed, lambda data: data[: len(data) // 3], lambda data: b""])
def test_a_library_that_changed_is_never_loaded(tmp_path, harm):
    path = Path(run(BUILD, tmp_path)[0])
    good = path.read_bytes()
    path.write_bytes(harm(good))
    assert run(USE, tmp_path)[0] == "[2.0, 2.0, 2.0]"
    assert path.read_bytes() == good
    assert len(list((tmp_path / "aside").iterdir())) == 1


def test_everything_in_the_cache_is_broken(tmp_path):
    run(LAUNCHER + USE, tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file():
            path.write_bytes(b"broken")
    assert run(LAUNCHER + USE, tmp_path)[0] == "[2.0, 2.0, 2.0]"
