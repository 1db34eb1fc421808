"""The folder for arguments: gone at the end, or when the next one is made."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from faults.children import finish, start
from loopwright.tuning.scratch import LOCK, PREFIX, UNSURE_S, working_folder


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_it_is_gone_at_the_end_also_of_what_fails(place: Path) -> None:
    with pytest.raises(KeyboardInterrupt), working_folder() as folder:
        (folder / "arguments").write_bytes(b"x")
        assert folder.parent == place
        raise KeyboardInterrupt
    assert list(place.iterdir()) == []


KILLED = """
import os, signal
from loopwright.tuning.scratch import working_folder
with working_folder() as folder:
    (folder / "arguments").write_bytes(b"x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next_and_what_is_in_use_stays(place: Path) -> None:
    killed = start(KILLED, place)
    killed.communicate()
    assert len(list(place.glob("*/arguments"))) == 1
    with working_folder() as mine:
        assert list(place.iterdir()) == [mine]
        other = "from loopwright.tuning.scratch import working_folder\nwith working_folder() as f: print(f.is_dir())"
        assert finish(start(other, place))[0] == "True"
        assert list(place.iterdir()) == [mine] and (mine / LOCK).exists()


def test_one_that_is_just_being_made_stays_and_others_files_too(place: Path, tmp_path_factory) -> None:
    young, old, strange = place / f"{PREFIX}young", place / f"{PREFIX}old", place / f"{PREFIX}link"
    young.mkdir()
    old.mkdir()
    target = tmp_path_factory.mktemp("target")
    (target / LOCK).touch()
    strange.symlink_to(target)
    before = old.stat().st_mtime - 2 * UNSURE_S
    os.utime(old, (before, before))
    with working_folder():
        assert young.exists() and not old.exists() and strange.exists() and (target / LOCK).exists()
