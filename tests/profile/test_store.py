"""The store: what goes in comes out, for threads and processes at once."""

from __future__ import annotations

import math
import os
import threading

import pytest

from faults.stored import HERE, THERE, measured
from loopwright.errors import StoreError
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.history import KEPT, cell_of
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName
from loopwright.profile.store import ProfileStore, Removed, Unwanted


@pytest.fixture
def store(tmp_path):
    with ProfileStore.open(tmp_path / "folder" / "profile.sqlite3") as store:
        yield store


def of_kernel(store: ProfileStore):
    return store.of_kernel("kernel1", HERE.fingerprint)


def test_what_goes_in_comes_out(store):
    ones = [
        measured(),
        measured(shape=Shape((2**63, 0, -3), (0.1, -0.0, 1e300)), cache="cold", source="call"),
        measured(0.0, variant=Variant("cuda", "bind i block.x"), outcome="crashed", reason="signal 11", runs=0),
        measured(shape=Shape(())),
    ]
    store.add(ones)
    store.close()
    found = of_kernel(store)
    assert set(found) == set(ones)
    assert [str(m.variant) for m in found] == sorted(str(m.variant) for m in found)
    assert math.copysign(1, next(m for m in found if m.cache == "cold").shape.features[1]) == -1


def test_another_kernel_or_machine_has_its_own(store):
    store.add([measured(), measured(2.0, kernel="kernel2"), measured(3.0, machine=THERE.fingerprint)])
    assert of_kernel(store) == (measured(),)
    assert store.of_kernel("kernel1", THERE.fingerprint)[0].time_ns == 3.0
    assert store.of_kernel("kernel3", HERE.fingerprint) == ()


def test_what_is_measured_again_is_merged(store):
    for at in range(3 * KEPT):
        store.add([measured(100.0 + at, made_at=1000.0 + at)])
        store.add([measured(100.0 + at, made_at=1000.0 + at)])  # the same once more changes nothing
    [found] = of_kernel(store)
    last = [100.0 + at for at in range(2 * KEPT, 3 * KEPT)]
    assert found.time_ns == sum(last) / KEPT and found.runs == 5 * KEPT
    [cell] = store.cells("kernel1", HERE.fingerprint)
    assert [batch.time_ns for batch in cell.batches] == last


def test_all_or_nothing(store):
    with pytest.raises(ValueError, match="finite"):
        store.add([measured(), measured(math.nan)])
    with pytest.raises(ValueError, match="no fingerprint"):
        store.add([measured(), measured(machine="")])
    assert of_kernel(store) == ()


def test_reading_makes_no_file(tmp_path):
    path = tmp_path / "none" / "profile.sqlite3"
    store = ProfileStore.open(path)
    assert (of_kernel(store), store.kernels(), store.tallies()) == ((), (), ())
    assert store.prune(Unwanted(failed=True)) == Removed(0, 0, 0)
    assert not path.parent.exists()
    with pytest.raises(StoreError, match="there is no store"):
        ProfileStore.open(path, readonly=True).kernels()


def test_readonly_is_read_only(store):
    store.add([measured()])
    with ProfileStore.open(store.path, readonly=True) as reader:
        assert of_kernel(reader) == (measured(),)
        with pytest.raises(StoreError, match="read only"):
            reader.add([measured()])


def test_names(store):
    store.add([measured()])
    assert store.kernels() == (KernelName("kernel1"),)
    assert store.machines() == (MachineName(HERE.fingerprint),)
    store.put_machine(HERE)
    store.put_kernel(KernelName("kernel1", "gemm", "/a/gemm.py", "float64[:, :]"))
    store.put_kernel(KernelName("kernel1", "gemm", "/b/\udce4.py", "float64[:, :]"))  # it has moved
    assert store.kernels() == (KernelName("kernel1", "gemm", "/b/?.py", "float64[:, :]"),)
    assert store.machines() == (MachineName(HERE.fingerprint, HERE),)
    store.absorb([KernelName("kernel1", "someone's")])  # hearsay
    assert store.kernels()[0].name == "gemm"


def test_tables(store):
    old, new = FittedTable("bandwidth", HERE.fingerprint, "up", {"a": [1, 2.5, None]}, 5.0), [1, "x"]
    store.put_table(old)
    assert store.table("bandwidth", HERE.fingerprint, "up") == old
    store.put_table(FittedTable("bandwidth", HERE.fingerprint, "up", new, 6.0))
    store.put_table(old)
    store.put_table(FittedTable("bandwidth", HERE.fingerprint, "down", 3, 6.0))
    assert [(table.name, table.content) for table in store.tables("bandwidth", HERE.fingerprint)] == [
        ("down", 3), ("up", new),
    ]  # fmt: skip
    assert store.table("bandwidth", THERE.fingerprint, "up") is None
    with pytest.raises(ValueError, match="JSON"):
        store.put_table(FittedTable("bandwidth", HERE.fingerprint, "bad", math.nan, 6.0))


def test_choices(store):
    first = ChoiceRecord("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu", "plain", 2), "default", 9.0, 0.1, 5.0)
    second = ChoiceRecord("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu", threads=2), "faster", 7.0, 0.1, 6.0)
    store.put_choice(second)
    store.put_choice(first)
    assert store.choices("kernel1", HERE.fingerprint) == (second,)
    with pytest.raises(ValueError, match="finite"):
        store.put_choice(ChoiceRecord("k", HERE.fingerprint, Shape(()), Variant("cpu"), "", math.inf, 0.1, 6.0))


# ---- upkeep -------------------------------------------------------------------------------------------------------


def filled(store: ProfileStore) -> None:
    store.add([measured(made_at=float(n), n=n) for n in range(10)])
    store.add([measured(made_at=float(n), n=n, outcome="crashed", tile=8) for n in range(10)])
    store.add([measured(made_at=float(n), n=n, machine=THERE.fingerprint) for n in range(10)])
    store.put_table(FittedTable("ranking", THERE.fingerprint, "x", 1, 3.0))
    store.put_choice(ChoiceRecord("kernel1", THERE.fingerprint, Shape((3,)), Variant("cpu"), "", 9.0, 0.1, 5.0))


@pytest.mark.parametrize(
    ("unwanted", "removed", "left"),
    [
        (Unwanted(failed=True), Removed(10, 0, 0), [10, 10]),
        (Unwanted(before=4.0), Removed(12, 1, 0), [12, 6]),
        (Unwanted(machine=THERE.fingerprint), Removed(10, 1, 1), [20]),
        (Unwanted(beyond=3), Removed(24, 0, 0), [3, 3]),
        (Unwanted(before=4.0, failed=True, machine=HERE.fingerprint), Removed(4, 0, 0), [16, 10]),
        (Unwanted(machine="unheard of"), Removed(0, 0, 0), [20, 10]),
        (Unwanted(beyond=0), Removed(30, 0, 0), []),
    ],
)
def test_prune(store, unwanted, removed, left):
    filled(store)
    assert store.prune(unwanted, dry_run=True) == removed
    assert sum(tally.measurements for tally in store.tallies()) == 30
    assert store.prune(unwanted) == removed
    assert sorted((tally.measurements for tally in store.tallies()), reverse=True) == left
    store.compact()


def test_what_stays_is_the_newest_and_names_go_with_the_last(store):
    filled(store)
    store.prune(Unwanted(beyond=3, machine=THERE.fingerprint))
    assert [m.made_at for m in store.of_kernel("kernel1", THERE.fingerprint)] == [7.0, 8.0, 9.0]
    store.prune(Unwanted(machine=THERE.fingerprint))
    assert [machine.fingerprint for machine in store.machines()] == [HERE.fingerprint]
    store.prune(Unwanted(before=99.0))
    assert store.machines() == store.kernels() == ()


def test_tallies(store):
    filled(store)
    store.put_kernel(KernelName("kernel1", "gemm"))
    by_machine = {tally.machine.fingerprint: tally for tally in store.tallies()}
    here = by_machine[HERE.fingerprint]
    assert (here.kernel.name, here.measurements, here.failed, here.runs) == ("gemm", 20, 10, 100)
    assert (here.oldest, here.newest) == (0.0, 9.0)


def test_a_snapshot_has_everything_in_one_order(tmp_path):
    both = [ProfileStore.open(tmp_path / f"{number}.sqlite3") for number in (1, 2)]
    filled(both[0])
    both[0].put_machine(HERE)
    with both[0].snapshot() as records:
        first = list(records)
    both[1].absorb(reversed(first))
    both[1].absorb(first)
    with both[1].snapshot() as records:
        assert list(records) == first
    assert len(first) == 2 + 1 + 30 + 1 + 1
    for store in both:
        store.close()


# ---- threads, processes, files ------------------------------------------------------------------------------------


def test_threads_at_once(store):
    def work(thread: int) -> None:
        for n in range(20):
            store.add([measured(n=n, tile=thread)])
            of_kernel(store)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(of_kernel(store)) == 80


def test_two_stores_of_one_file_see_each_other(store):
    with ProfileStore.open(store.path) as other:
        store.add([measured()])
        assert of_kernel(other) == (measured(),)
        other.add([measured(n=3)])
        assert len(of_kernel(store)) == 2


def test_a_file_that_was_removed_is_begun_anew(store):
    store.add([measured()])
    for path in store.path.parent.iterdir():
        path.unlink()
    assert of_kernel(store) == ()
    store.add([measured()])
    assert of_kernel(store) == (measured(),)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_opens_the_file_itself(store):
    store.add([measured()])
    parents = store._connection
    child = os.fork()
    if child == 0:
        store.add([measured(n=3)])
        os._exit(0 if store._connection is not parents and len(of_kernel(store)) == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store._connection is parents and len(of_kernel(store)) == 2


def test_an_interrupt_leaves_nothing_half_done(store):
    store.add([measured()])

    def interrupted():
        yield cell_of(measured(n=3))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.absorb(interrupted())
    store.add([measured(n=4)])
    assert {m.shape.sizes for m in of_kernel(store)} == {(10, 10), (4, 4)}
