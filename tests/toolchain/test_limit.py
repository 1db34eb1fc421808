"""The cache does not grow for ever: what was not used for longest goes, seldom, and whoever is killed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from faults.children import start
from loopwright.toolchain import limit, store
from loopwright.toolchain.limit import clear, items, size_of, trim
from loopwright.toolchain.store import find, keep, key_of, obtain

KEYS = [key_of([str(number)]) for number in range(10)]
EACH = size_of([100])  # what an entry of `make` takes


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    for name in ("_unusable", "_executable", "_cleaned", "_private"):
        monkeypatch.setattr(store, name, type(getattr(store, name))())
    monkeypatch.setattr(limit, "_uncounted", {})


def make(folder: Path) -> None:
    (folder / "kernel.so").write_bytes(b"x" * 100)


def used(cache: Path, key: str, days_ago: float) -> None:
    """As if it had been used then."""
    then = time.time() - days_ago * 86400
    os.utime(cache / "objects" / key[:2] / key / store.DIGEST, (then, then))


def filled(cache: Path, count: int, most_bytes: int = 10**9) -> Path:
    """With entries of which the first was used longest ago."""
    for age, key in enumerate(KEYS[:count]):
        obtain(cache, key, make, most_bytes=most_bytes)
        used(cache, key, 20 - age)
    return cache


def there(cache: Path) -> list[int]:
    names = {path.name for path in (cache / "objects").glob("*/*")}
    return [number for number, key in enumerate(KEYS) if key in names]


def number_in(cache: Path) -> int:
    return int((cache / "size").read_text().split()[0])


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    filled(tmp_path, 8)
    used(tmp_path, KEYS[0], 0.1)
    obtain(tmp_path, KEYS[8], make, most_bytes=5 * EACH)
    assert there(tmp_path) == [0, 6, 7, 8]  # 4 of 5: there is room for more
    assert number_in(tmp_path) == 4 * EACH == sum(item.size_bytes for item in items(tmp_path))
    assert list((tmp_path / "work").iterdir()) == []


def test_what_is_kept_counts_as_well(tmp_path):
    filled(tmp_path, 8)
    keep(tmp_path, KEYS[8], make, 5 * EACH)
    assert there(tmp_path) == [5, 6, 7, 8]


def test_to_find_it_is_to_use_it_and_is_noted_once_a_day(tmp_path):
    filled(tmp_path, 3)
    digest = tmp_path / "objects" / KEYS[0][:2] / KEYS[0] / store.DIGEST
    assert find(tmp_path, KEYS[0]) is not None
    noted = digest.stat().st_mtime_ns
    assert abs(noted / 1e9 - time.time()) < 600
    used(tmp_path, KEYS[0], 0.9)
    noted = digest.stat().st_mtime_ns
    assert find(tmp_path, KEYS[0]) is not None
    assert digest.stat().st_mtime_ns == noted
    find(tmp_path, KEYS[1])
    used(tmp_path, KEYS[0], 5)
    find(tmp_path, KEYS[0])
    assert trim(tmp_path, 2 * EACH + EACH // 2) == (1, EACH) and there(tmp_path) == [0, 1]


def test_nobody_looks_at_the_whole_cache_while_there_is_room(tmp_path, monkeypatch):
    filled(tmp_path, 2)
    monkeypatch.setattr(limit, "items", lambda root: pytest.fail("looked"))
    for key in KEYS[2:6]:
        obtain(tmp_path, key, make, most_bytes=8 * EACH)
        obtain(tmp_path, key, make, most_bytes=8 * EACH)
        find(tmp_path, key)
    assert number_in(tmp_path) == 6 * EACH


def test_without_a_limit_nothing_is_counted(tmp_path):
    obtain(tmp_path, KEYS[0], make)
    assert not (tmp_path / "size").exists()


@pytest.mark.parametrize("harm", [b"", b"x", b"9" * 34, None])
def test_a_number_that_is_none_is_put_right(tmp_path, harm):
    filled(tmp_path, 3)
    if harm is None:
        (tmp_path / "size").unlink()
    else:
        (tmp_path / "size").write_bytes(harm)
    obtain(tmp_path, KEYS[3], make, most_bytes=10**9)
    assert number_in(tmp_path) == 4 * EACH


def test_a_wrong_number_is_put_right_once_a_week(tmp_path):
    filled(tmp_path, 3)
    (tmp_path / "size").write_text(f"{7:020} {int(time.time() - 8 * 86400):012}\n")
    obtain(tmp_path, KEYS[3], make, most_bytes=10**9)
    assert number_in(tmp_path) == 4 * EACH


def test_a_number_that_another_process_holds_is_told_later(tmp_path):
    filled(tmp_path, 2)
    with limit._numbers(tmp_path) as held:
        assert held is not None
        obtain(tmp_path, KEYS[2], make, most_bytes=10**9)
    assert number_in(tmp_path) == 2 * EACH
    obtain(tmp_path, KEYS[3], make, most_bytes=10**9)
    assert number_in(tmp_path) == 4 * EACH


def test_a_limit_of_nothing_spares_what_was_just_made(tmp_path):
    for key in KEYS[:3]:
        stored = obtain(tmp_path, key, make, most_bytes=0)
        assert (stored.folder / "kernel.so").exists()


def test_a_loaded_file_outlives_its_entry(tmp_path):
    filled(tmp_path, 1)
    with store.opened(tmp_path / "objects" / KEYS[0][:2] / KEYS[0] / "kernel.so") as file:
        assert clear(tmp_path) == (1, EACH)
        assert os.read(file, 200) == b"x" * 100
    assert find(tmp_path, KEYS[0]) is None
    assert not obtain(tmp_path, KEYS[0], make).from_cache


def test_clearing_leaves_what_is_being_made_and_measurements(tmp_path):
    filled(tmp_path, 3)
    (tmp_path / "profile.sqlite3").write_text("measurements")
    store.keep_aside(tmp_path, "k.c", "int x")
    young, old = tmp_path / "work" / "young", tmp_path / "work" / "old"
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (1, 1))
    assert clear(tmp_path)[0] == 5
    assert there(tmp_path) == [] and list((tmp_path / "aside").iterdir()) == [] and not old.exists()
    assert young.exists() and (tmp_path / "profile.sqlite3").exists()
    assert number_in(tmp_path) == size_of([])  # the folder of what is being made


def test_what_is_set_aside_counts_and_goes(tmp_path):
    filled(tmp_path, 4)
    path = store.keep_aside(tmp_path, "k.c", "x" * 100)
    os.utime(path, (1, 1))
    assert trim(tmp_path, 5 * EACH) == (0, 0)
    assert trim(tmp_path, 5 * EACH - 1) == (2, 2 * EACH)
    assert not path.exists() and there(tmp_path) == [1, 2, 3]


def test_kinds(tmp_path):
    files = {
        "kernel.so kernel.c": "code for CPUs",
        "kernel.so kernel.cpp": "code for the emulated GPU",
        "kernel.cubin kernel.cu kernel.log": "code for GPUs",
        "remembered.json": "results of passes",
        "whatever": "other",
    }
    for names in files:
        keep(tmp_path, key_of([names]), lambda folder, names=names: [(folder / one).touch() for one in names.split()])
    assert sorted(item.kind for item in items(tmp_path)) == sorted(files.values())


def test_nothing_is_in_a_folder_that_is_not_there(tmp_path):
    assert items(tmp_path / "none") == []
    (tmp_path / "file").touch()
    assert items(tmp_path / "file") == []


# ---- several processes -----------------------------------------------------------------------------------------------

GREEDY = """
import os, signal, sys
from pathlib import Path
from loopwright.toolchain import limit, store
limit.SPARED_S = -1.0
cache, number = Path(sys.argv[1]), int(sys.argv[2])
def make(folder):
    (folder / "kernel.so").write_bytes(b"x" * 100)
def one(name):
    stored = store.obtain(cache, store.key_of([name]), make, most_bytes=MOST)
    assert stored.contents == {"kernel.so": b"x" * 100}
"""


def test_processes_that_make_room_at_once_lose_nothing_but_room(tmp_path):
    code = GREEDY.replace("MOST", str(6 * EACH)) + "for n in range(60): one(f'{n % 15} {n // 30}')\n"
    processes = [start(code, tmp_path, str(number)) for number in range(3)]
    for process in processes:
        _, trouble = process.communicate(timeout=120)
        assert (process.returncode, trouble) == (0, "")
    trim(tmp_path, 6 * EACH)
    assert sum(item.size_bytes for item in items(tmp_path)) <= 6 * EACH
    assert list((tmp_path / "aside").glob("*")) == []


@pytest.mark.parametrize("call", ["shutil.rmtree", "os.rename", "os.pwrite"])
def test_kill_9_while_room_is_made(tmp_path, call, monkeypatch):
    monkeypatch.setattr(limit, "SPARED_S", -1.0)
    filled(tmp_path, 8)
    suicide = f"import shutil\nlimit.{call} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
    process = start(
        GREEDY.replace("MOST", str(5 * EACH)) + suicide + "limit.trim(cache, MOST)".replace("MOST", str(5 * EACH)),
        tmp_path,
        "0",
    )
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert all(find(tmp_path, KEYS[number]) is not None for number in there(tmp_path))
    for path in (tmp_path / "work").iterdir():
        os.utime(path, (1, 1))
    store._cleaned.clear()  # as in a new process
    obtain(tmp_path, KEYS[9], make, most_bytes=5 * EACH)
    assert len(there(tmp_path)) <= 5 and KEYS[9] in {path.name for path in (tmp_path / "objects").glob("*/*")}
    assert list((tmp_path / "work").iterdir()) == []
