"""Which text of a package is running: every edit is another one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from loopwright import revision


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "inner" / "__pycache__").mkdir(parents=True)
    for name in ("a.py", "inner/b.py", "inner/c.h", "inner/__pycache__/b.py"):
        (folder / name).write_text("x = 1\n")
    return folder


def test_every_edit_changes_it(package):
    seen = [revision.files_of(package)]
    assert revision.files_of(package) == seen[0] and seen[0].count("\n") == 2

    def edited() -> None:
        seen.append(revision.files_of(package))

    (package / "a.py").write_text("x = 22\n")
    edited()
    (package / "inner" / "c.h").unlink()
    edited()
    (package / "new.c").write_text("")
    edited()
    (package / "a.py").rename(package / "d.py")
    edited()
    assert len(set(seen)) == len(seen)


def test_an_edit_that_keeps_size_and_time_changes_it(package):
    before, now = revision.files_of(package), (package / "a.py").stat()
    (package / "a.py").write_text("x = 2\n")
    os.utime(package / "a.py", ns=(now.st_atime_ns, now.st_mtime_ns))
    assert (package / "a.py").stat().st_mtime_ns == now.st_mtime_ns
    assert revision.files_of(package) != before


def test_what_is_written_beside_the_sources_does_not(package):
    before = revision.files_of(package)
    (package / "inner" / "__pycache__" / "b.cpython.pyc").write_text("")
    (package / "notes.txt").write_text("")
    assert revision.files_of(package) == before


def test_an_edit_while_it_runs_leaves_nothing_to_be_told(monkeypatch):
    revision.revision.cache_clear()
    assert revision.AT_IMPORT in revision.revision()
    revision.revision.cache_clear()
    monkeypatch.setattr(revision, "_files_now", lambda: revision.AT_IMPORT + "\nmore")
    assert revision.revision() == ""
    monkeypatch.undo()
    revision.revision.cache_clear()


def test_in_an_archive_nothing_can_be_told(monkeypatch, tmp_path):
    monkeypatch.setattr(revision, "PACKAGE", tmp_path / "none")
    assert revision._files_now() == ""
