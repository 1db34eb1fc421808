"""The store: entries appear whole or not at all, are checked when read, and are made once."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest

from loopwright import errors
from loopwright.toolchain import store
from loopwright.toolchain.store import Stored, discard, find, keep, key_of, obtain

KEY = key_of(["x"])


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    """As if nothing had been said or found unusable yet."""
    monkeypatch.setattr(errors, "_WARNED", set())
    for name in ("_unusable", "_executable", "_cleaned", "_private"):
        monkeypatch.setattr(store, name, type(getattr(store, name))())


class Maker:
    """Writes one file and counts how often."""

    def __init__(self, text: str = "content") -> None:
        self.text, self.count = text, 0

    def __call__(self, folder: Path) -> None:
        self.count += 1
        (folder / "file").write_text(self.text)


def test_keys_tell_parts_from_their_concatenation():
    assert len({key_of(parts) for parts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])}) == 4


def test_an_entry_is_made_once(tmp_path):
    make = Maker()
    first, second = obtain(tmp_path, KEY, make), obtain(tmp_path, KEY, make)
    assert (make.count, first.from_cache, second.from_cache) == (1, False, True)
    assert (second.folder / "file").read_text() == "content"
    assert obtain(tmp_path, key_of(["y"]), make).folder != first.folder


def test_folders_are_private_and_nothing_unfinished_stays(tmp_path):
    cache = tmp_path / "a" / "cache"
    stored = obtain(cache, KEY, Maker())
    for folder in (cache, cache / "work", cache / "objects", stored.folder.parent, stored.folder):
        assert folder.stat().st_mode & 0o077 == 0, folder
    assert list((cache / "work").iterdir()) == []


def test_a_failing_maker_leaves_nothing(tmp_path):
    def fail(folder: Path) -> None:
        (folder / "half").write_text("x")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        obtain(tmp_path, KEY, fail)
    assert list((tmp_path / "work").iterdir()) == []
    make = Maker()
    assert not obtain(tmp_path, KEY, make).from_cache


@pytest.mark.parametrize("harm", ["change", "truncate", "remove", "digest", "no digest", "extra", "binary digest"])
def test_a_corrupt_entry_is_set_aside_and_made_again(tmp_path, harm):
    folder = obtain(tmp_path, KEY, Maker("good")).folder
    file, digest = folder / "file", folder / store.DIGEST
    match harm:
        case "change":
            file.write_text("evil")
        case "truncate":
            file.write_text("goo")
        case "remove":
            file.unlink()
        case "digest":
            digest.write_text("{}")
        case "no digest":
            digest.unlink()
        case "extra":
            (folder / "more").write_text("")
        case "binary digest":
            digest.write_bytes(b"\xff\xfe\x00")
    make = Maker("good")
    assert not obtain(tmp_path, KEY, make).from_cache
    assert make.count == 1
    assert len(list((tmp_path / "aside").iterdir())) == 1
    assert obtain(tmp_path, KEY, make).from_cache


def test_who_loses_the_race_takes_the_winners_entry(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "fcntl", None)

    def slow(folder: Path) -> None:
        obtain(tmp_path, KEY, Maker("winner"))
        (folder / "file").write_text("loser")

    assert (obtain(tmp_path, KEY, slow).folder / "file").read_text() == "winner"


def test_threads_that_want_one_entry_make_it_once(tmp_path):
    made: list[int] = []

    def make(folder: Path) -> None:
        made.append(1)
        time.sleep(0.1)
        (folder / "file").write_text("x")

    threads = [threading.Thread(target=obtain, args=(tmp_path, KEY, make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_lock_that_never_comes_free_is_not_waited_for(tmp_path):
    inside, leave = threading.Event(), threading.Event()

    def stuck(folder: Path) -> None:
        inside.set()
        leave.wait(30)
        (folder / "file").write_text("late")

    thread = threading.Thread(target=obtain, args=(tmp_path, KEY, stuck))
    thread.start()
    inside.wait(30)
    try:
        assert not obtain(tmp_path, KEY, Maker(), wait_s=0.05).from_cache
    finally:
        leave.set()
        thread.join()


def test_old_leftovers_are_removed_and_young_ones_stay(tmp_path):
    old, young = tmp_path / "work" / "old", tmp_path / "work" / "young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    long_ago = time.time() - 2 * store.STALE_WORK_S
    os.utime(old, (long_ago, long_ago))
    obtain(tmp_path, KEY, Maker())
    assert not old.exists()
    assert young.exists()


def test_a_folder_that_everybody_may_write_to_is_not_trusted(tmp_path):
    keep(tmp_path, KEY, Maker("planted"))
    tmp_path.chmod(0o777)
    with pytest.warns(errors.LoopwrightWarning, match=f"everybody may write to {tmp_path}.*chmod go-w") as told:
        stored = obtain(tmp_path, KEY, Maker())
        assert obtain(tmp_path, KEY, Maker()).from_cache
    assert tmp_path not in stored.folder.parents
    assert (stored.folder / "file").read_text() == "content"
    assert len(told) == 1


def test_what_was_moved_to_the_name_of_another_entry_is_not_that_entry(tmp_path):
    """Whoever could once write to the cache could do so with its own entries; their files are all fine."""
    other = key_of(["y"])
    there = obtain(tmp_path, other, Maker("other")).folder
    here = tmp_path / "objects" / KEY[:2] / KEY
    here.parent.mkdir(exist_ok=True)
    there.rename(here)
    assert find(tmp_path, KEY) is None
    assert (obtain(tmp_path, KEY, Maker("mine")).folder / "file").read_text() == "mine"


@pytest.mark.parametrize("what", ["the file", "the digest", "the entry", "the folder of entries"])
def test_what_others_may_have_written_in_a_folder_of_ours_is_made_again(tmp_path, what):
    folder = obtain(tmp_path, KEY, Maker("planted")).folder
    place = {"the file": folder / "file", "the digest": folder / store.DIGEST, "the entry": folder}.get(what)
    (place or folder.parent).chmod(0o777)
    if place is None:  # not to be had back by moving one entry
        with pytest.warns(errors.LoopwrightWarning, match="everybody may write"):
            stored = obtain(tmp_path, KEY, Maker())
    else:
        stored = obtain(tmp_path, KEY, Maker())
    assert not stored.from_cache and (stored.folder / "file").read_text() == "content"


def test_a_link_in_the_place_of_a_file_is_not_followed(tmp_path):
    folder = obtain(tmp_path, KEY, Maker("content")).folder
    (folder / "file").rename(tmp_path / "elsewhere")
    (folder / "file").symlink_to(tmp_path / "elsewhere")
    assert find(tmp_path, KEY) is None


def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(tmp_path):
    folder = obtain(tmp_path, KEY, Maker("content")).folder
    (folder / "file").unlink()
    os.mkfifo(folder / "file")
    assert find(tmp_path, KEY) is None


def test_entries_are_closed_to_others_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        stored = obtain(tmp_path / "a" / "b", KEY, Maker())
    finally:
        os.umask(before)
    for path in (tmp_path / "a", *(tmp_path / "a").rglob("*")):
        assert path.stat().st_mode & 0o022 == 0, path
    assert find(tmp_path / "a" / "b", KEY) == Stored(stored.folder, True, {})


def test_private_folders_of_killed_processes_are_removed_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    old, young = tmp_path / f"loopwright-{gone.pid}-old", tmp_path / f"loopwright-{gone.pid}-young"
    runs, foreign = tmp_path / f"loopwright-{os.getpid()}-x", tmp_path / "loopwright-notes-x"
    for folder in (old, young, runs, foreign):
        (folder / "objects").mkdir(parents=True)
    for folder in (old, runs, foreign):
        os.utime(folder, (1, 1))
    (tmp_path / "file").touch()
    with pytest.warns(errors.LoopwrightWarning):
        obtain(tmp_path / "file", KEY, Maker())
    assert [folder.exists() for folder in (old, young, runs, foreign)] == [False, True, True, True]


def test_temporary_folders_that_others_may_change_are_no_refuge(tmp_path, monkeypatch):
    open_to_all = tmp_path / "tmp"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)  # without the sticky bit
    monkeypatch.setattr("tempfile.tempdir", str(open_to_all))
    tmp_path.joinpath("file").touch()
    with pytest.warns(errors.LoopwrightWarning):
        folder = obtain(tmp_path / "file", KEY, Maker()).folder
    assert open_to_all not in folder.parents
    assert list(open_to_all.iterdir()) == []


def test_a_file_in_the_folders_place(tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.warns(errors.LoopwrightWarning, match="not a folder"):
        stored = obtain(tmp_path / "cache", KEY, Maker())
    assert (stored.folder / "file").exists()


def test_an_error_of_the_maker_is_not_taken_for_a_full_disk(tmp_path):
    def fail(folder: Path) -> None:
        raise errors.CompilerError("no")

    with pytest.raises(errors.CompilerError):
        obtain(tmp_path, KEY, fail)


def test_texts_for_people_are_kept_aside(tmp_path):
    path = store.keep_aside(tmp_path, "k.c", "int x;")
    assert path is not None
    assert path.read_text() == "int x;"


# ---- what can be done without ---------------------------------------------------------------------------------------


def test_what_is_kept_is_found(tmp_path):
    make = Maker()
    assert find(tmp_path, KEY) is None
    keep(tmp_path, KEY, make)
    keep(tmp_path, KEY, make)
    found = find(tmp_path, KEY)
    assert make.count == 1 and found is not None and (found.folder / "file").read_text() == "content"
    assert found.contents == {"file": b"content"}
    assert obtain(tmp_path, KEY, make) == found


def test_looking_makes_nothing(tmp_path):
    assert find(tmp_path / "none", KEY) is None
    assert not (tmp_path / "none").exists()


def test_what_is_found_in_the_private_folder_counts(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.warns(errors.LoopwrightWarning):
        folder = obtain(file, KEY, Maker()).folder
    found = find(file, KEY)
    assert found is not None and found.folder == folder


def test_what_cannot_be_kept_is_not_and_nobody_is_told(tmp_path):
    file = tmp_path / "file"
    file.touch()
    for place in (file, file / "below", Path("/proc/loopwright")):
        keep(place, KEY, Maker())
        assert find(place, KEY) is None


def test_what_is_not_what_it_should_be_can_be_set_aside(tmp_path):
    keep(tmp_path, KEY, Maker("wrong"))
    found = find(tmp_path, KEY)
    assert found is not None
    discard(found)
    assert find(tmp_path, KEY) is None and len(list((tmp_path / "aside").iterdir())) == 1
    discard(found)  # by another process already
