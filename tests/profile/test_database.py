"""The file of the store: made anew, brought from an older version, or refused and left untouched; and what SQLite's
errors mean. Read-only, full and damaged disks are in faults/test_store.py."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from faults.stored import measured
from loopwright.errors import LoopwrightWarning, StoreError
from loopwright.ir.signature import Shape
from loopwright.profile import database
from loopwright.profile.database import (
    APPLICATION,
    ELSEWHERE,
    VERSION,
    code_of,
    connect,
    explained,
    inode_of,
    is_damage,
    set_aside,
    transaction,
)
from loopwright.profile.measurement import Work
from loopwright.profile.store import ProfileStore


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ProfileStore]:
    with ProfileStore.open(tmp_path / "folder" / "profile.sqlite3") as store:
        yield store


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


# ---- opening ------------------------------------------------------------------------------------------------------


def test_a_file_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "some" / "folder" / "profile.sqlite3"
    with closing(connect(path, 1.0)) as connection:
        assert (pragma(connection, "application_id"), pragma(connection, "user_version")) == (APPLICATION, VERSION)
        assert (pragma(connection, "journal_mode"), pragma(connection, "trusted_schema")) == ("wal", 0)
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {"kernels", "machines", "measurements", "tables", "choices"}
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_reading_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as raised:
        connect(tmp_path / "none" / "profile.sqlite3", 1.0, readonly=True)
    assert code_of(raised.value) == database.CANNOT_OPEN
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "profile.sqlite3"
    path.touch()
    with closing(connect(path, 1.0)) as connection:
        assert pragma(connection, "user_version") == VERSION


def test_a_name_that_an_address_has_to_quote(tmp_path: Path) -> None:
    path = tmp_path / "50% ? #1" / "profile?mode=memory.sqlite3"
    connect(path, 1.0).close()
    assert path.is_file()


@pytest.mark.parametrize(
    ("statement", "fault", "text"),
    [
        (f"PRAGMA user_version = {VERSION + 1}", "newer", f"(version {VERSION + 1}, this one knows {VERSION})"),
        ("PRAGMA application_id = 7", "foreign", "is a database of another program: it is left as it is"),
    ],
)
@pytest.mark.parametrize("readonly", [False, True])
def test_what_is_not_ours_is_refused_and_left_alone(
    store: ProfileStore, statement: str, fault: str, text: str, readonly: bool
) -> None:
    store.add([measured()])
    store.close()
    with closing(sqlite3.connect(store.path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute(statement)
    before = store.path.read_bytes()
    with pytest.raises(StoreError) as raised:
        connect(store.path, 1.0, readonly)
    assert raised.value.fault == fault and text in str(raised.value) and ELSEWHERE in raised.value.remedy
    assert store.path.read_bytes() == before


@pytest.mark.parametrize("script", ["PRAGMA application_id = 7", "CREATE TABLE measurements (of, a, seamstress)"])
def test_what_only_looks_like_an_old_or_a_new_store_is_refused(tmp_path: Path, script: str) -> None:
    path = tmp_path / "profile.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(script)
    with pytest.raises(StoreError, match="is a database of another program"):
        connect(path, 1.0)


def test_what_is_opened_to_be_read_cannot_be_written(store: ProfileStore) -> None:
    store.add([measured()])
    with closing(connect(store.path, 1.0, readonly=True)) as connection:
        assert connection.execute("SELECT count(*) FROM measurements").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            connection.execute("DELETE FROM measurements")


# ---- transactions -------------------------------------------------------------------------------------------------


@pytest.fixture
def one(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(tmp_path / "profile.sqlite3", 1.0)) as connection:
        yield connection


def names(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT fingerprint FROM kernels ORDER BY fingerprint")]


PUT = "INSERT INTO kernels (fingerprint) VALUES (?)"


@pytest.mark.parametrize("end", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_all_or_nothing_whatever_ends_it(one: sqlite3.Connection, end: type[BaseException]) -> None:
    with transaction(one):
        one.execute(PUT, ("a",))
    with pytest.raises(end), transaction(one):
        one.execute(PUT, ("b",))
        raise end
    assert names(one) == ["a"] and not one.in_transaction


def test_one_that_sqlite_ended_by_itself(one: sqlite3.Connection) -> None:
    """As it does where the disk is full: there is nothing to roll back, and the error is the first one."""
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), transaction(one):
        one.execute(PUT, ("a",))
        one.execute(PUT.replace("INSERT", "INSERT OR ROLLBACK"), ("a",))
    assert names(one) == []


# ---- errors -------------------------------------------------------------------------------------------------------


def failed(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "fault", "what", "remedy"),
    [
        (5, "locked", "the store of measurements x.db was locked by another process for 2.5 s", "fuser x.db"),
        (6, "locked", "the store of measurements x.db was locked by another process for 2.5 s", "fuser x.db"),
        (5 | 2 << 8, "locked", "the store of measurements x.db was locked", "fuser x.db"),  # an extended code
        (13, "full", "there is no room to write to the store of measurements x.db: as SQLite", "loopwright db prune"),
        (8, "read-only", "the store of measurements x.db cannot be written: as SQLite says it", ELSEWHERE),
        (14, "read-only", "the store of measurements x.db cannot be opened: as SQLite says it", ELSEWHERE),
        (11, "damaged", "x.db is no store of measurements, or is damaged: as SQLite says it", ELSEWHERE),
        (26, "damaged", "x.db is no store of measurements, or is damaged: as SQLite says it", ELSEWHERE),
        (1, "other", "the store of measurements x.db fails: as SQLite says it", ELSEWHERE),
        (0, "other", "the store of measurements x.db fails: as SQLite says it", ELSEWHERE),
    ],
)
def test_errors_of_sqlite_for_people(code: int, fault: str, what: str, remedy: str) -> None:
    found = explained(failed(code), Path("x.db"), 2.5)
    assert (found.fault, found.what[: len(what)]) == (fault, what)
    assert remedy in found.remedy and found.remedy.endswith(ELSEWHERE)
    assert is_damage(failed(code)) == (fault == "damaged")


def test_an_error_without_a_code() -> None:
    assert code_of(OSError("x")) == 0 and not is_damage(OSError("x"))


# ---- setting aside ------------------------------------------------------------------------------------------------


def test_a_damaged_file_goes_with_its_log_and_makes_room(tmp_path: Path) -> None:
    path = tmp_path / "profile.sqlite3"
    for end in ("", "-wal", "-shm"):
        Path(f"{path}{end}").write_text(end)
    with pytest.warns(LoopwrightWarning, match=r"is damaged \(torn\): it was renamed to profile.sqlite3.corrupt-"):
        aside = set_aside(path, inode_of(path), "torn")
    assert aside is not None and not path.exists()
    assert [Path(f"{aside}{end}").read_text() for end in ("", "-wal", "-shm")] == ["", "-wal", "-shm"]
    assert set_aside(path, 1, "torn") is None  # somebody was faster
    assert inode_of(path) == 0


@pytest.mark.parametrize("name", ["thesis.txt", "profile", "profile.sqlite3.bak"])
def test_what_may_be_anybodys_is_not_renamed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.touch()
    with pytest.raises(StoreError, match=r"is no store of measurements: torn; it is left as it is") as raised:
        set_aside(path, inode_of(path), "torn")
    assert raised.value.fault == "foreign" and path.exists()


def test_a_file_that_cannot_be_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, target: Path) -> Path:
        raise PermissionError(13, "no")

    path = tmp_path / "profile.db"
    path.touch()
    monkeypatch.setattr(Path, "rename", denied)
    with pytest.raises(StoreError, match=r"is damaged \(torn\), and cannot be renamed: .*no") as raised:
        set_aside(path, inode_of(path), "torn")
    assert raised.value.fault == "damaged"


# ---- Python's SQLite ----------------------------------------------------------------------------------------------


@pytest.fixture
def asked_anew() -> Iterator[None]:
    database.sqlite.cache_clear()
    yield
    database.sqlite.cache_clear()


@pytest.mark.usefixtures("asked_anew")
def test_an_sqlite_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "OLDEST_SQLITE", (99, 0, 0))
    with pytest.raises(StoreError, match=rf"SQLite {sqlite3.sqlite_version} is too old to keep measurements"):
        database.sqlite()


@pytest.mark.usefixtures("asked_anew")
def test_a_python_without_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)
    with pytest.raises(StoreError, match=r"this Python has no SQLite \(.*\): measurements cannot be kept"):
        database.sqlite()


def test_importing_the_package_does_not_import_sqlite():
    code = "import sys, loopwright, loopwright.profile.journal; print('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"


def test_a_file_without_a_log_gets_one(store):
    store.add([measured()])
    store.close()
    connection = sqlite3.connect(store.path)
    assert connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",)
    connection.close()
    store.add([measured(n=3)])
    store.close()
    connection = sqlite3.connect(store.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


# ---- versions -----------------------------------------------------------------------------------------------------

VERSION_0 = """
CREATE TABLE measurements (kernel TEXT, machine TEXT, variant TEXT, sizes TEXT, outcome TEXT, time_ns REAL, spread REAL,
    runs INTEGER, made_at REAL, reason TEXT);
INSERT INTO measurements VALUES ('k', 'm', 'cpu 2: recipe', '10 20', 'ok', 5.0, 0.1, 3, 100.0, '');
INSERT INTO measurements VALUES ('k', 'm', 'cpu 2: recipe', '10 20', 'ok', 6.0, 0.1, 3, 101.0, '');
INSERT INTO measurements VALUES ('k', 'm', 'cuda: recipe', '10 20', 'wrong', 7.0, 0.1, 3, 102.0, 'b[0]');
"""


@pytest.fixture
def version_0(tmp_path):
    path = tmp_path / "old.sqlite3"
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_0)
    connection.close()
    return path


def schema(path) -> list[str]:
    """What the file says of its tables, however it was laid out."""
    connection = sqlite3.connect(path)
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    connection.close()
    return [" ".join(sql.replace('"', "").split()) for _, sql in found]


@pytest.mark.parametrize("readonly", [False, True])
def test_version_0_is_brought_to_this_one(version_0, readonly):
    before = version_0.read_bytes()
    with ProfileStore.open(version_0, readonly=readonly) as store:
        first, second = store.of_kernel("k", "m")
        assert (first.time_ns, first.shape, first.work, first.source) == (6.0, Shape((10, 20)), Work(), "tune")
        assert (second.outcome, second.reason) == ("wrong", "b[0]")
    assert (version_0.read_bytes() == before) == readonly


def test_what_is_migrated_is_what_is_made_anew(version_0, store):
    store.add([measured()])
    with ProfileStore.open(version_0) as old:
        old.of_kernel("k", "m")
    assert schema(version_0) == schema(store.path)
    assert len(schema(store.path)) == 5


def test_there_is_a_script_for_each_version():
    assert len(database.MIGRATIONS) == database.VERSION


def test_a_migration_that_fails_leaves_the_old_file(version_0, monkeypatch):
    monkeypatch.setattr(database, "MIGRATIONS", ("../schema.sql",))  # these tables are there already
    with pytest.raises(StoreError, match="already exists"):
        ProfileStore.open(version_0).of_kernel("k", "m")
    monkeypatch.undo()
    with ProfileStore.open(version_0) as store:
        assert len(store.of_kernel("k", "m")) == 2
