"""A store of measurements that is read-only, full, locked, newer, damaged, somebody else's, or cut off in mid-write: a
clear message, once, and calls go on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from faults.children import finish, start, until
from faults.mounts import mounted
from faults.stored import HERE, THERE, measured
from loopwright.errors import LoopwrightWarning, StoreError
from loopwright.profile import database
from loopwright.profile.exchange import exported, imported
from loopwright.profile.journal import CALL_BUSY_S, Journal
from loopwright.profile.store import BUSY_S, ProfileStore, Unwanted

PREAMBLE = """
import os, sys, sqlite3, time
from pathlib import Path
from faults.stored import HERE, measured
from loopwright.profile.store import ProfileStore
from loopwright.profile.journal import Journal
path = Path(sys.argv[1])
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store with one measurement."""
    path = tmp_path / "store" / "profile.sqlite3"
    with ProfileStore.open(path) as store:
        store.add([measured()])
    return path


def call(journal: Journal) -> int:
    """What a call does with the store; how much it finds."""
    journal.add(measured(n=7, source="call"))
    return len(journal.measurements("kernel1", HERE.fingerprint))


def content(path: Path) -> int:
    with ProfileStore.open(path, readonly=True) as store:
        return len(store.of_kernel("kernel1", HERE.fingerprint))


def altered(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


# ---- read-only ----------------------------------------------------------------------------------------------------


def test_a_read_only_disk(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    with mounted(folder, "size=10m"):
        path = folder / "profile.sqlite3"
        with ProfileStore.open(path) as store:
            store.add([measured()])
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        with closing(Journal(path, flush_s=3600)) as journal:
            assert call(journal) == 2
            assert not journal.flush()
            with pytest.warns(LoopwrightWarning, match="cannot be written: .*readonly(?s:.)*LOOPWRIGHT_STORE"):
                assert call(journal) == 2
            assert not journal.flush()
            assert call(journal) == 2
        with ProfileStore.open(path, readonly=True) as store, store.snapshot() as records:
            assert len(list(records)) == 3


def test_a_folder_that_cannot_be_made() -> None:
    with closing(Journal(Path("/proc/loopwright/profile.sqlite3"), flush_s=3600)) as journal:
        assert call(journal) == 1
        assert not journal.flush()
        with pytest.warns(LoopwrightWarning, match="the folder of the store .* cannot be made"):
            assert call(journal) == 1


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, flush_s=3600)) as journal:
        journal.add(measured())
        assert not journal.flush()
        with pytest.warns(LoopwrightWarning, match="cannot be opened"):
            assert call(journal) == 2


# ---- full ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["4k", "64k", "128k"])
def test_a_full_disk(tmp_path: Path, size: str) -> None:
    folder = tmp_path / "disk"
    with mounted(folder, f"size={size}"):
        with closing(Journal(folder / "profile.sqlite3", flush_s=3600)) as journal:
            journal.add(*(measured(n=n) for n in range(2000)))
            assert not journal.flush()
            with pytest.warns(LoopwrightWarning, match="store of measurements"):
                assert call(journal) == 2001
            assert call(journal) == 2001
            subprocess.run(["mount", "-o", "remount,size=10m", folder], check=True)
            assert journal.flush()  # once there is room, all of it is written
        assert content(folder / "profile.sqlite3") == 2001


def test_no_room_as_sqlite_says_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = database.connect

    def small(*arguments: object, **named: object) -> sqlite3.Connection:
        connection = original(*arguments, **named)  # type: ignore[arg-type]
        connection.execute("PRAGMA max_page_count = 12")
        return connection

    monkeypatch.setattr(database, "connect", small)
    with ProfileStore.open(path) as store:
        with pytest.raises(StoreError, match=r"there is no room(?s:.)*loopwright db prune") as raised:
            store.add([measured(n=n) for n in range(3000)])
        assert raised.value.fault == "full"
        store.add([measured(n=3)])
    assert content(path) == 2


# ---- locked -------------------------------------------------------------------------------------------------------

LOCK = (
    PREAMBLE
    + """
connection = sqlite3.connect(path, isolation_level=None)
if MODE == "exclusive":
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE kernels SET name = name")
Path(sys.argv[1] + ".locked").touch()
time.sleep(600)
"""
)


@pytest.mark.parametrize("mode", ["writing", "exclusive"])
def test_locked_by_another_process(path: Path, mode: str) -> None:
    other = start(LOCK.replace("MODE", repr(mode)), path)
    try:
        until(Path(f"{path}.locked"))
        with closing(Journal(path, flush_s=3600)) as journal:
            journal._writer.busy_s = 0.05
            journal.add(measured(n=3))
            assert not journal.flush()
            with pytest.warns(LoopwrightWarning, match=r"was locked by another process for 0.05 s(?s:.)*fuser"):
                journal.add(measured(n=4))
            found = journal.measurements("kernel1", HERE.fingerprint)
            assert len(found) == (3 if mode == "writing" else 2)  # the one in the file can be read, or cannot
            os.kill(other.pid, signal.SIGKILL)
            other.communicate()
            assert journal.flush()
    finally:
        if other.poll() is None:
            os.kill(other.pid, signal.SIGKILL)
            other.communicate()
    assert content(path) == 3


def test_the_end_of_a_process_does_not_wait_long_for_a_lock(path: Path) -> None:
    """What it cannot write is lost, and it says so; it ends with the status that it had."""
    locker = sqlite3.connect(path, isolation_level=None)
    locker.execute("BEGIN IMMEDIATE")
    code = PREAMBLE + "j = Journal(path, flush_s=3600); j._writer.busy_s = 0.05; j.add(measured(n=3)); j.flush()"
    output, trouble = finish(start(code, path), timeout_s=30)
    locker.execute("ROLLBACK")
    locker.close()
    assert output == "" and trouble.count("LoopwrightWarning") == 1 and "was locked" in trouble
    assert content(path) == 1


def test_a_lock_that_lasts_is_not_waited_for_long_at_the_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    original = database.connect

    def connect(path: Path, busy_s: float, readonly: bool) -> sqlite3.Connection:
        waits.append(busy_s)
        return original(path, busy_s / 100, readonly)

    monkeypatch.setattr(database, "connect", connect)
    with closing(sqlite3.connect(path, isolation_level=None)) as locker:
        locker.execute("BEGIN IMMEDIATE")
        journal = Journal(path, flush_s=3600)
        journal.add(measured(n=3))
        assert not journal.flush()
        with pytest.warns(LoopwrightWarning, match="was locked"):
            journal.close()
    assert waits == [BUSY_S, CALL_BUSY_S]


def test_processes_at_once(tmp_path: Path) -> None:
    """They make the file together, too."""
    code = (
        PREAMBLE
        + """
for tile in range(3):
    if os.fork() == 0:
        for n in range(20):
            ProfileStore.open(path).add([measured(n=n, tile=tile)])
        os._exit(0)
print([os.wait()[1] for tile in range(3)])
"""
    )
    path = tmp_path / "profile.sqlite3"
    assert finish(start(code, path)) == ("[0, 0, 0]", "")
    assert content(path) == 60


def test_forked_while_threads_write(tmp_path: Path) -> None:
    code = (
        PREAMBLE
        + """
import threading, warnings
warnings.simplefilter("ignore")
journal, done = Journal(path, flush_s=0.001), False
def add():
    n = 0
    while not done:
        n += 1
        journal.add(measured(n=n % 500))
        if n % 50 == 0:
            journal.measurements("kernel1", HERE.fingerprint)
thread = threading.Thread(target=add)
thread.start()
for child in range(12):
    time.sleep(0.01)
    if os.fork() == 0:
        journal.add(measured(n=1000 + child))
        os._exit(0 if journal.measurements("kernel1", HERE.fingerprint) and journal.flush() else 1)
print(sum(os.wait()[1] for child in range(12)))
done = True
thread.join()
"""
    )
    path = tmp_path / "profile.sqlite3"
    assert finish(start(code, path)) == ("0", "")
    assert content(path) >= 12


# ---- killed -------------------------------------------------------------------------------------------------------

KILL = (
    PREAMBLE
    + """
import signal
read, write = os.pipe()
for round in range(5):
    child = os.fork()
    if child == 0:
        store = ProfileStore.open(path)
        for n in range(10**6):
            store.add([measured(n=n, tile=tile) for tile in range(25)])
            os.write(write, b".")
    os.read(read, 3)
    time.sleep(0.003 * round)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with ProfileStore.open(path) as store:
        print(len(store.of_kernel("kernel1", HERE.fingerprint)))
"""
)


def test_killed_in_mid_write(tmp_path: Path) -> None:
    path = tmp_path / "profile.sqlite3"
    counts = list(map(int, finish(start(KILL, path))[0].split()))
    assert len(counts) == 5 and min(counts) >= 25
    assert [count % 25 for count in counts] == [0] * 5  # all of a transaction, or nothing
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_the_end_of_a_process_writes_what_waits(tmp_path: Path) -> None:
    path = tmp_path / "profile.sqlite3"
    assert finish(start(PREAMBLE + "Journal(path, flush_s=3600).add(measured())", path)) == ("", "")
    assert content(path) == 1


# ---- another version, another program -----------------------------------------------------------------------------


def test_a_newer_store_is_left_alone(path: Path) -> None:
    altered(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    newer = sqlite3.connect(path, isolation_level=None)
    newer.execute("BEGIN IMMEDIATE")  # it is at work: we can tell without waiting for it
    with closing(newer), closing(Journal(path, flush_s=3600)) as journal:
        with pytest.warns(LoopwrightWarning, match=r"newer Loopwright \(version 99, this one knows 1\)"):
            assert call(journal) == 1
        assert call(journal) == 1
        assert not journal.flush()
    assert path.read_bytes() == before
    assert [other.name for other in path.parent.iterdir() if "corrupt" in other.name] == []


@pytest.mark.parametrize("version", [0, 1, 7])
def test_another_programs_database_is_left_alone(tmp_path: Path, version: int) -> None:
    path = tmp_path / "profile.sqlite3"
    altered(path, "CREATE TABLE measurements (of, a, seamstress)")
    altered(path, f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with (
        ProfileStore.open(path) as store,
        pytest.raises(StoreError, match=r"database of another program|newer") as raised,
    ):
        store.add([measured()])
    assert raised.value.fault in ("foreign", "newer")
    assert path.read_bytes() == before


def test_a_file_that_does_not_even_look_like_a_store_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text("It was a dark and stormy night. " * 99)
    with closing(Journal(path, flush_s=3600)) as journal:
        with pytest.warns(LoopwrightWarning, match="thesis.txt is no store of measurements"):
            assert call(journal) == 1
        assert not journal.flush()
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_store_of_another_machine(path: Path, tmp_path: Path) -> None:
    """Copied here, its measurements stay that machine's; ours go beside them."""
    with ProfileStore.open(path) as store:
        store.add([measured(machine=THERE.fingerprint, n=n) for n in range(5)])
        with store.snapshot() as records:
            lines = [line.encode() for line in exported(records)]
    other = tmp_path / "copied.sqlite3"
    with ProfileStore.open(other) as store:
        store.absorb(imported(lines, "x"))
    with closing(Journal(other, flush_s=3600)) as journal:
        assert call(journal) == 2
        assert len(journal.measurements("kernel1", THERE.fingerprint)) == 5


def test_an_import_is_all_or_nothing(path: Path) -> None:
    with ProfileStore.open(path) as store:
        with store.snapshot() as records:
            lines = [line.encode() for line in exported(records)]
        store.prune(Unwanted(beyond=0))
        with pytest.raises(StoreError, match=r"^x:5: the file ends|^x:4: "):
            store.absorb(imported([*lines[:-1], b"{}\n"], "x"))
        assert store.machines() == ()


# ---- damaged ------------------------------------------------------------------------------------------------------


def damaged_header(path: Path) -> None:
    path.write_bytes(b"garbage " * 1000)


def damaged_page(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[4096:] = os.urandom(len(whole) - 4096)
    path.write_bytes(whole)


def cut_short(path: Path) -> None:
    os.truncate(path, 4096 + 100)


@pytest.mark.parametrize("damage", [damaged_header, damaged_page, cut_short])
def test_a_damaged_store_is_set_aside(path: Path, damage) -> None:
    damage(path)
    with closing(Journal(path, flush_s=3600)) as journal:
        with pytest.warns(LoopwrightWarning, match=r"is damaged \(.*\): it was renamed to .*3.corrupt-\d{4}"):
            assert call(journal) == 1
        assert journal.flush()
        assert call(journal) == 1
    assert content(path) == 1
    assert len([other for other in path.parent.iterdir() if ".corrupt-" in other.name]) == 1


def test_damaged_again_on_the_same_day(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "warn_once", lambda topic, text: None)
    for _ in range(3):
        damaged_header(path)
        with ProfileStore.open(path) as store:
            store.add([measured()])
    day = time.strftime("%Y-%m-%d")
    aside = {other.name for other in path.parent.iterdir() if ".corrupt-" in other.name}
    assert aside == {f"profile.sqlite3.corrupt-{day}{end}" for end in ("", "-2", "-3")}


def test_a_new_file_is_not_set_aside_for_the_old_ones_damage(path: Path) -> None:
    inode = database.inode_of(path)
    path.rename(path.with_name("old"))
    with ProfileStore.open(path) as store:
        store.add([measured()])
    assert database.set_aside(path, inode, "damaged") is None
    assert content(path) == 1


def test_readonly_does_not_rename(path: Path) -> None:
    damaged_header(path)
    with ProfileStore.open(path, readonly=True) as store, pytest.raises(StoreError, match="damaged"):
        store.kernels()
    assert path.exists()


def test_a_row_that_makes_no_sense(path: Path) -> None:
    altered(path, "UPDATE measurements SET variant = 'nonsense'")
    with ProfileStore.open(path) as store, pytest.raises(StoreError, match="a row that cannot be read"):
        store.of_kernel("kernel1", HERE.fingerprint)


def test_python_without_sqlite(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    database.sqlite.cache_clear()
    try:
        with closing(Journal(path, flush_s=3600)) as journal:
            with pytest.warns(LoopwrightWarning, match="this Python has no SQLite"):
                assert call(journal) == 1
            assert not journal.flush()
            assert call(journal) == 1
    finally:
        database.sqlite.cache_clear()
