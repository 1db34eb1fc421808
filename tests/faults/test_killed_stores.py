"""Kill -9 in the middle of writes to the store, and of processes that tune: nothing is lost but the row being written.

A few rounds of tuning in every run of the tests; LOOPWRIGHT_FUZZ=n makes n of them, 50 at least.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from faults.children import finish, start
from faults.stored import HERE, measured
from loopwright.profile.store import ProfileStore

ROUNDS = 50
TUNED = max(50, int(os.environ["LOOPWRIGHT_FUZZ"])) if os.environ.get("LOOPWRIGHT_FUZZ") else 3


def sound(path: Path) -> None:
    """The file is a whole database."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


# ---- writes -------------------------------------------------------------------------------------------------------

WRITES = """
import os, random, signal, sqlite3, sys, time
from contextlib import closing
from pathlib import Path
from faults.stored import HERE, measured
from loopwright.profile.journal import Journal
from loopwright.profile.store import ProfileStore
path, chance, done = Path(sys.argv[1]), random.Random(12), 0

def write(told, first, through_journal):
    store, journal = ProfileStore.open(path), Journal(path, flush_s=3600)
    for n in range(first, 10**9):
        if through_journal:
            journal.add(measured(n=n))
            assert journal.flush()
        else:
            store.add([measured(n=n)])
        os.write(told, n.to_bytes(8, "little"))

for round in range(ROUNDS):
    read, told = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        write(told, done, round % 2)
    os.close(told)
    os.read(read, 8)
    time.sleep(chance.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    rest = b"".join(iter(lambda: os.read(read, 1 << 16), b""))
    os.close(read)
    last = int.from_bytes(rest[-8:], "little") if rest else done
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], round
    with ProfileStore.open(path) as store:
        there = {row.shape.sizes[0] for row in store.of_kernel("kernel1", HERE.fingerprint)}
    # All that was told, and at most the one row more that was written when the child had no time left to tell.
    assert there in (set(range(last + 1)), set(range(last + 2))), (round, last, len(there))
    done = len(there)
print(done)
"""


def test_fifty_kills_in_the_middle_of_writes(tmp_path: Path) -> None:
    path = tmp_path / "profile.sqlite3"
    rows = int(finish(start(WRITES.replace("ROUNDS", str(ROUNDS)), path))[0])
    assert rows >= ROUNDS
    with ProfileStore.open(path) as store:
        store.add([measured(n=10**9)])
        assert len(store.of_kernel("kernel1", HERE.fingerprint)) == rows + 1
    assert {file.name for file in tmp_path.iterdir()} <= {path.name, f"{path.name}-wal", f"{path.name}-shm"}


# ---- processes that tune ------------------------------------------------------------------------------------------

# It forks tuners as it is told, so that nobody waits for fifty starts of Python. A tuner tells each row when it is
# written. It runs no kernel itself: threads of OpenMP do not survive a fork.
TUNERS = """
import json, os, signal, sys
from pathlib import Path
import numpy as np
import loopwright as lw
from loopwright.config import CURRENT, Config, current
from loopwright.profile.journal import journal_of
from loopwright.tuning import tune as tuning
from loopwright.tuning.recording import Recording
from loopwright.tuning.scratch import working_folder
signal.signal(signal.SIGINT, signal.default_int_handler)

folder = Path(sys.argv[1])
CURRENT.set(Config(cache=folder / "cache", store=folder / "profile.sqlite3", threads=2, compiler_flags=("-O0",)))

def say(*words):
    os.write(1, (json.dumps(words) + chr(10)).encode())

class Told(tuning.Silent):
    def tried(self, call, tried, best_ns):
        say("row", os.getpid(), str(tried.variant))

def tune(number, seconds):
    @lw.kernel
    def summed(a, out):
        for i in range(len(a)):
            out[i] = a[i] + 1
    made = summed._dispatch.prepare((np.ones(64 + number), np.zeros(64 + number)), {})
    with working_folder() as place:
        recording = Recording(place)
        with recording.of(("a", "out"), (1,), made):
            pass
        say("begun", os.getpid())
        try:
            (found,) = tuning.tune(recording.calls, journal_of(current()), tuning.Budget(seconds), place, Told())
            say("ended", os.getpid(), sum(found.counts.values()))
        except KeyboardInterrupt:
            say("interrupted", os.getpid())

for line in sys.stdin:
    number, seconds = json.loads(line)
    if number < 0:
        os.waitpid(-number, 0)
        say("gone", -number)
    elif os.fork() == 0:
        status = 1
        try:
            tune(number, seconds)
            status = 0
        finally:
            journal_of(current()).close()
            os._exit(status)
"""


class Tuners:
    """The process that forks them, and what they have told."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.mark = folder, f"LOOPWRIGHT_KILLED={folder}"
        (folder / "tmp").mkdir()
        before = {name: os.environ.get(name) for name in ("TMPDIR", "LOOPWRIGHT_KILLED")}
        os.environ |= {"TMPDIR": str(folder / "tmp"), "LOOPWRIGHT_KILLED": str(folder)}
        try:
            (folder / "tuners.py").write_text(TUNERS)  # a kernel's text has to stand in a file
            self.process = start("import runpy, sys; runpy.run_path(sys.argv[1] + '/tuners.py')", folder, talk=True)
        finally:
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        self.rows: dict[int, set[str]] = {}
        self.seen: list[list] = []

    def ask(self, number: int, seconds: float = 0.0) -> None:
        """For another tuner of arrays of a length of their own, or to wait for one that has ended."""
        self.process.stdin.write(f"[{number}, {seconds}]\n")
        self.process.stdin.flush()

    def next(self, *wanted: str) -> list:
        """What is told next, of these kinds."""
        while True:
            line = self.process.stdout.readline()
            assert line, self.process.communicate()[1]
            self.seen.append(json.loads(line))
            if self.seen[-1][0] == "row":
                self.rows.setdefault(self.seen[-1][1], set()).add(self.seen[-1][2])
            if self.seen[-1][0] in wanted:
                return self.seen[-1]

    def until_gone(self, pid: int) -> None:
        self.ask(-pid)
        while self.next("gone")[1] != pid:
            pass

    def processes(self) -> set[int]:
        """Those that are alive and descend from it, the workers of killed ones too."""
        found = set()
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdecimal() and self.mark.encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
        return found - {self.process.pid}

    def written(self) -> dict[int, set[str]]:
        """The variants in the store, by how much longer the arrays are than 64."""
        found: dict[int, set[str]] = {}
        with closing(sqlite3.connect(self.folder / "profile.sqlite3")) as connection:
            for sizes, variant in connection.execute("SELECT sizes, variant FROM measurements"):
                found.setdefault(int(sizes.split()[0]) - 64, set()).add(variant)
        return found


@pytest.fixture
def tuners(tmp_path: Path) -> Iterator[Tuners]:
    made = Tuners(tmp_path)
    yield made
    made.process.kill()
    made.process.communicate()
    for pid in made.processes():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def all_gone(tuners: Tuners, within_s: float = 20.0) -> bool:
    end = time.monotonic() + within_s
    while tuners.processes():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def test_kill_9_of_processes_that_tune_at_once(tuners: Tuners) -> None:
    chance = random.Random(5)
    of_number: dict[int, int] = {}
    for round in range(TUNED):
        pair = []
        for number in (2 * round, 2 * round + 1):
            tuners.ask(number, chance.choice((1.0, 2.0)))
            pair.append(tuners.next("begun")[1])
            of_number[pair[-1]] = number
        one = chance.choice(pair)
        if round % 3:  # at first, and whenever the machine is slow, a worker is just being started
            one = tuners.next("row")[1]
        time.sleep(chance.random())
        killed = pair if chance.random() < 0.3 else [one]
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        for pid in pair:
            tuners.until_gone(pid)
        ended = {told[1]: told[2] for told in tuners.seen if told[0] == "ended"}
        assert set(pair) - set(killed) <= ended.keys()
        assert all_gone(tuners), "a worker of a process that was killed goes on"
        sound(tuners.folder / "profile.sqlite3")
        there = tuners.written()
        for pid, told in tuners.rows.items():
            assert told <= there.get(of_number[pid], set()), f"round {round}"
    assert sum(map(len, tuners.rows.values())) >= TUNED // 2  # many were killed after they had measured something
    print(f"{TUNED} rounds, {len(of_number)} tuners, {sum(map(len, tuners.rows.values()))} rows told")
    tuners.ask(10**4, 0.0)
    tuners.until_gone(tuners.next("ended")[1])
    assert list((tuners.folder / "tmp").glob("loopwright-*")) == []


def test_control_c_ends_tuning_keeps_what_was_measured_and_leaves_no_worker(tuners: Tuners) -> None:
    tuners.ask(1, 600.0)
    pid = tuners.next("begun")[1]
    for _ in range(2):
        tuners.next("row")
    os.kill(pid, signal.SIGINT)
    begun = time.monotonic()
    assert tuners.next("interrupted", "ended") == ["interrupted", pid]
    assert time.monotonic() - begun < 20  # of 600
    tuners.until_gone(pid)
    assert all_gone(tuners)
    sound(tuners.folder / "profile.sqlite3")
    assert tuners.rows[pid] <= tuners.written()[1]
    with closing(sqlite3.connect(tuners.folder / "profile.sqlite3")) as connection:
        assert connection.execute("SELECT name FROM kernels").fetchall() == [("summed",)]
    assert list((tuners.folder / "tmp").glob("loopwright-*")) == []
