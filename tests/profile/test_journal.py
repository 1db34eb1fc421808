"""The journal: what calls add is written later, by another thread, and is there at once for those who ask."""

from __future__ import annotations

import os
import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest

from faults.stored import HERE, THERE, measured
from loopwright import errors as lw_errors
from loopwright.config import Config
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile import journal as journals
from loopwright.profile.journal import Journal, journal_of
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName
from loopwright.profile.store import ProfileStore


@pytest.fixture
def path(tmp_path):
    return tmp_path / "profile.sqlite3"


@pytest.fixture
def journal(path):
    """One that writes only when it is told to, or when there is much."""
    with closing(Journal(path, flush_s=3600)) as journal:
        yield journal


def of_kernel(source: Journal | ProfileStore):
    from_store = source.of_kernel if isinstance(source, ProfileStore) else source.measurements
    return from_store("kernel1", HERE.fingerprint)


def until(holds) -> bool:
    """Whether it holds within ten seconds."""
    for _ in range(2000):
        if holds():
            return True
        time.sleep(0.005)
    return False


def test_what_is_added_is_there_at_once_and_written_later(journal, path):
    journal.add(measured(), measured(n=3))
    assert len(of_kernel(journal)) == 2
    assert not path.exists()
    assert journal.flush()
    with ProfileStore.open(path, readonly=True) as store:
        assert of_kernel(store) == of_kernel(journal)
        assert len(of_kernel(store)) == 2


def test_it_is_written_after_a_while_and_when_there_is_much(tmp_path):
    with closing(Journal(tmp_path / "soon.sqlite3", flush_s=0.01)) as soon, ProfileStore.open(soon.path) as store:
        soon.add(measured())
        assert until(lambda: of_kernel(store))
        soon.add(measured(n=3))
        assert until(lambda: len(of_kernel(store)) == 2)
    with closing(Journal(tmp_path / "much.sqlite3", flush_s=3600)) as much, ProfileStore.open(much.path) as store:
        much.add(measured())
        much.add(*(measured(n=n) for n in range(journals.FLUSH_MEASUREMENTS)))
        assert until(lambda: of_kernel(store))


def test_closing_writes(path):
    journal = Journal(path, flush_s=3600)
    journal.add(measured())
    journal.close()
    with ProfileStore.open(path, readonly=True) as store:
        assert of_kernel(store) == (measured(),)
    journal.add(measured(n=3))  # too late for the file
    assert [m.shape.sizes for m in of_kernel(journal)] == [(3, 3)]
    journal.close()


def test_calls_are_written_as_one(journal):
    journal.add(*(measured(float(time_ns), source="call", runs=1) for time_ns in range(1, 1002)))
    journal.flush()
    [found] = of_kernel(journal)
    assert (found.time_ns, found.runs) == (501.0, 1001)


def test_what_is_written_and_what_is_not_yet_are_one_history(journal):
    for at in (1, 2, 3):
        journal.add(measured(100.0 * at, made_at=float(at)))
        if at == 2:
            journal.flush()
    [before] = of_kernel(journal)
    journal.flush()
    assert of_kernel(journal) == (before,)
    assert (before.time_ns, before.runs) == (200.0, 15)


def test_the_order_is_that_of_the_store(journal):
    ones = [measured(n=n, tile=tile) for tile in (8, 16) for n in (2, 10)]
    journal.add(*ones[:2])
    journal.flush()
    journal.add(*ones[2:])
    mixed = [(str(m.variant), m.shape) for m in of_kernel(journal)]
    journal.flush()
    assert sorted(mixed, key=str) == sorted([(str(m.variant), m.shape) for m in of_kernel(journal)], key=str)
    assert [text for text, _ in mixed] == sorted(text for text, _ in mixed)


def test_names_tables_and_choices(journal, path):
    table = FittedTable("ranking", HERE.fingerprint, "gemm", [1], 5.0)
    choice = ChoiceRecord("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu"), "first", 7.0, 0.1, 6.0)
    journal.put(KernelName("kernel1", "gemm"), table, choice)
    journal.put_machine(HERE)
    journal.put_machine(replace(THERE, text=""))
    assert journal.table("ranking", HERE.fingerprint, "gemm") == table
    assert journal.flush()
    journal.put(replace(table, content=[2], made_at=6.0))
    found = journal.table("ranking", HERE.fingerprint, "gemm")
    assert found is not None and found.content == [2]
    assert journal.table("ranking", THERE.fingerprint, "gemm") is None
    assert [machine.identity for machine in journal.machines()] == [HERE]
    with ProfileStore.open(path, readonly=True) as store:
        assert store.kernels()[0].name == "gemm"
        assert store.choices("kernel1", HERE.fingerprint) == (choice,)


def test_without_a_machine_it_is_only_remembered(journal, path):
    journal.add(measured(machine=""))
    assert journal.flush()
    assert not path.exists()
    assert len(journal.measurements("kernel1", "")) == 1


def test_without_a_file_it_is_only_remembered():
    with closing(Journal(None)) as journal:
        journal.add(*(measured(n=n) for n in range(2000)))
        assert not journal.flush()
        assert len(of_kernel(journal)) == 2000
        assert journal.machines() == ()
        assert journal.table("ranking", HERE.fingerprint, "gemm") is None


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(journals, "MOST_KEPT", 10)
    with closing(Journal(None)) as journal:
        journal.add(*(measured(n=n) for n in range(50)))
        assert sorted(m.shape.sizes[0] for m in of_kernel(journal)) == list(range(40, 50))


def test_what_nobody_can_have_measured_is_told_once_and_dropped(journal):
    journal.add(measured(), measured(float("nan"), n=3))
    with pytest.warns(UserWarning, match="not kept in the store .*finite"):
        assert of_kernel(journal) == (measured(),)
    journal.add(measured(float("nan"), n=3))
    assert of_kernel(journal) == (measured(),)  # and no second warning, which would be an error here


def test_what_comes_while_the_file_is_written_is_not_lost(journal, monkeypatch):
    original = ProfileStore.absorb

    def absorb(store, records):
        journal.add(measured(200.0, made_at=2000.0), measured(n=3))
        assert len(of_kernel(journal)) == 2
        original(store, records)

    monkeypatch.setattr(ProfileStore, "absorb", absorb)
    journal.add(measured())
    assert not journal.flush()  # there is more now
    monkeypatch.undo()
    assert journal.flush()
    assert sorted((m.time_ns, m.runs) for m in of_kernel(journal)) == [(100.0, 5), (150.0, 10)]


def test_a_table_that_cannot_be_written_is_left_out(journal):
    journal.add(measured())
    journal.put(FittedTable("ranking", HERE.fingerprint, "bad", [float("nan")], 5.0))
    journal.put(FittedTable("ranking", HERE.fingerprint, "good", [1], 5.0))
    assert journal.flush()
    with pytest.warns(UserWarning, match="not kept in the store .*JSON"):
        journal.add(measured(n=3))
    assert journal.flush() and len(of_kernel(journal)) == 2
    assert journal.table("ranking", HERE.fingerprint, "good") is not None
    assert journal.table("ranking", HERE.fingerprint, "bad") is None


def test_threads_at_once(journal):
    def work(number: int) -> None:
        for n in range(200):
            journal.add(measured(n=n, tile=number))
            if n % 50 == 0:
                journal.flush()
                of_kernel(journal)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(of_kernel(journal)) == 800
    assert journal.flush() and len(of_kernel(journal)) == 800


def test_one_for_each_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = journal_of(Config(cache=tmp_path))
    assert journal_of(Config(cache=tmp_path, threads=3)) is first
    assert first.path == tmp_path / "profile.sqlite3"
    assert journal_of(Config(store=tmp_path / "profile.sqlite3")) is first
    assert journal_of(Config(cache=tmp_path, store="off")).path is None
    assert journal_of(Config(cache=tmp_path, store=tmp_path.relative_to(tmp_path) / "x.db")).path == tmp_path / "x.db"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_begins_anew_and_leaves_the_parents_alone(journal):
    journal.add(measured(n=1))
    journal.flush()
    journal.add(measured(n=2))
    child = os.fork()
    if child == 0:
        there = {m.shape.sizes[0] for m in of_kernel(journal)}
        journal.add(measured(n=3))
        written = journal.flush()
        os._exit(0 if there == {1} and written else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert {m.shape.sizes[0] for m in of_kernel(journal)} == {1, 2, 3}
    assert journal.flush()


# ---- of the last call ---------------------------------------------------------------------------------------------


def table_of(number: int) -> FittedTable:
    return FittedTable("timeline", HERE.fingerprint, "k: 1", {"number": number}, float(number))


def test_of_what_changes_with_every_call_the_last_is_made_and_only_once(journal, path):
    made: list[int] = []

    def maker(number: int):
        return lambda: made.append(number) or [table_of(number)]

    for number in range(50):
        journal.put_last("one", maker(number))
    journal.put_last("other", lambda: ())
    assert made == [] and journal.table("timeline", HERE.fingerprint, "k: 1") is None and not path.exists()
    assert journal.flush()
    assert made == [49] and journal.table("timeline", HERE.fingerprint, "k: 1") == table_of(49)
    journal.flush()
    assert made == [49]
    journal.put_last("one", maker(50))
    journal.close()
    assert made == [49, 50]
    with ProfileStore.open(path, readonly=True) as store:
        assert store.tables("timeline", HERE.fingerprint) == (table_of(50),)


def test_it_is_written_by_the_thread_that_writes(tmp_path):
    with closing(Journal(tmp_path / "soon.sqlite3", flush_s=0.01)) as soon:
        who: list[threading.Thread] = []
        soon.put_last("one", lambda: who.append(threading.current_thread()) or [table_of(1)])
        assert until(lambda: who)
        assert who[0].name == "loopwright-journal"


def test_what_cannot_be_made_fails_no_call(journal):
    journal.put_last("one", lambda: 1 / 0)
    journal.put_last("other", lambda: [table_of(3)])
    assert journal.flush()
    with pytest.warns(lw_errors.LoopwrightWarning, match="ZeroDivisionError"):
        journal.put(table_of(4))
    assert journal.table("timeline", HERE.fingerprint, "k: 1") == table_of(4)


def test_without_a_file_there_is_nothing_to_make_for_the_last_call():
    journal = Journal(None)
    journal.put_last("one", lambda: [table_of(1)])
    assert journal._last == {}


def test_few_last_calls_wait(journal, monkeypatch):
    monkeypatch.setattr(journals, "MOST_LAST", 3)
    for number in range(10):
        journal.put_last(number, lambda: ())
    assert list(journal._last) == [7, 8, 9]
