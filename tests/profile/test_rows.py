"""Rows and nouns: what is written comes back the same, the newer one stays, and what is removed goes with its names.
Whole stores are in test_store.py."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection

import pytest

from faults.stored import HERE, THERE, measured
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile import rows
from loopwright.profile.database import connect
from loopwright.profile.history import KEPT, Cell, cell_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName, MachineName, Record


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    with closing(connect(tmp_path / "profile.sqlite3", 1.0)) as one:
        yield one


def put(connection: Connection, *ones: Measurement | Record) -> None:
    rows.put(connection, (cell_of(one) if isinstance(one, Measurement) else one for one in ones))


def one_of(found: Iterable[object]) -> object:
    [one] = found
    return one


def choice(**changes: object) -> ChoiceRecord:
    given: dict[str, object] = {
        "kernel": "kernel1",
        "machine": HERE.fingerprint,
        "shape": Shape((3,)),
        "variant": Variant("cpu", threads=2),
        "why": "measured",
        "time_ns": 9.0,
        "error": 0.1,
        "made_at": 5.0,
    }
    return ChoiceRecord(**(given | changes))  # type: ignore[arg-type]


# ---- writing ------------------------------------------------------------------------------------------------------


def test_cells_with_their_history(connection: Connection) -> None:
    put(connection, *(measured(100.0 + at, made_at=1000.0 + at) for at in range(KEPT + 3)))
    found = one_of(rows.cells(connection, "kernel1", HERE.fingerprint))
    assert isinstance(found, Cell)
    assert [batch.time_ns for batch in found.batches] == [100.0 + at for at in range(3, KEPT + 3)]


def test_one_batch_has_no_history(connection: Connection) -> None:
    """Most have but one, and the row says the same."""
    put(connection, measured())
    assert connection.execute("SELECT history FROM measurements").fetchone() == ("",)
    assert one_of(rows.cells(connection, "kernel1", HERE.fingerprint)) == cell_of(measured())
    put(connection, measured(2.0, made_at=2.0))
    [history] = connection.execute("SELECT history FROM measurements").fetchone()
    assert len(json.loads(history)) == 2


@pytest.mark.parametrize(
    ("other", "apart"),
    [
        (measured(made_at=1.0), False),
        (measured(kernel="kernel2"), True),
        (measured(machine=THERE.fingerprint), True),
        (measured(tile=8), True),
        (measured(n=3), True),
        (measured(shape=Shape((10, 10), (0.5,))), True),
        (measured(cache="cold"), True),
        (measured(source="call"), True),
    ],
)
def test_what_is_a_cell_of_its_own(connection: Connection, other: Measurement, apart: bool) -> None:
    put(connection, measured(), other)
    assert connection.execute("SELECT count(*) FROM measurements").fetchone() == (2 if apart else 1,)


@pytest.mark.parametrize("record", [FittedTable("tree", "", "x", 1, 1.0), choice(machine=""), choice(kernel="")])
def test_what_has_no_fingerprint_cannot_be_kept(connection: Connection, record: Record) -> None:
    with pytest.raises(ValueError, match=r"what has no fingerprint cannot be kept in (kernels|machines)"):
        put(connection, record)


def test_names_are_kept_from_hearsay(connection: Connection) -> None:
    put(connection, KernelName("k"), MachineName("m"), MachineName(HERE.fingerprint))
    put(connection, KernelName("k", "gemm", "a.py", "float64"), MachineName(HERE.fingerprint, HERE))
    put(connection, KernelName("k", "other"), MachineName(HERE.fingerprint))
    assert rows.kernels(connection) == (KernelName("k", "gemm", "a.py", "float64"),)
    assert set(rows.machines(connection)) == {MachineName("m"), MachineName(HERE.fingerprint, HERE)}
    rows.name_kernel(connection, KernelName("k", "renamed", "\udce4.py"))
    assert rows.kernels(connection) == (KernelName("k", "renamed", "?.py"),)


def test_of_two_tables_the_newer_one_stays(connection: Connection) -> None:
    old, new = (FittedTable("tree", HERE.fingerprint, "x", {"b": [1.5, None], "a": at}, at) for at in (5.0, 6.0))
    for one in (new, old):
        put(connection, one)
    assert one_of(rows.tables(connection, "tree", HERE.fingerprint)) == new
    assert list(rows.tables(connection, "tree", THERE.fingerprint)) == []
    assert list(rows.tables(connection, "work", HERE.fingerprint)) == []


@pytest.mark.parametrize("content", [math.nan, [math.inf], {"a": -math.inf}])
def test_a_table_that_json_cannot_say(connection: Connection, content: object) -> None:
    with pytest.raises(ValueError, match="JSON"):
        put(connection, FittedTable("tree", HERE.fingerprint, "x", content, 1.0))


def test_of_two_choices_the_newer_one_stays(connection: Connection) -> None:
    second = choice(made_at=6.0, why="\udce4", variant=Variant("cuda"))
    put(connection, choice(), second, choice())
    found = one_of(rows.choices(connection, "kernel1", HERE.fingerprint))
    assert found == choice(made_at=6.0, why="?", variant=Variant("cuda"))


def test_choices_of_one_moment_end_the_same_in_any_order(connection: Connection) -> None:
    variants = (Variant("cpu", schedule) for schedule in ("recipe", "plain"))
    ones = [choice(why=why, variant=variant) for variant in variants for why in "ab"]
    for number, some in enumerate(itertools.permutations(ones)):
        put(connection, *(replace(one, shape=Shape((number,))) for one in some))
    found = rows.choices(connection, "kernel1", HERE.fingerprint)
    assert {(one.why, one.variant) for one in found} == {("b", Variant("cpu"))}


@pytest.mark.parametrize("field", ["time_ns", "error", "made_at"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_choice_has_finite_numbers(connection: Connection, field: str, value: float) -> None:
    with pytest.raises(ValueError, match="a choice has finite numbers, not"):
        put(connection, choice(**{field: value}))


# ---- reading ------------------------------------------------------------------------------------------------------

WORK = Work(1.5, 2.5, 3.5, 4.5, 5.5, 6.5)
STRANGE = Shape((2**63, 0, -3), (0.1, -0.0, 1e300, 5e-324))


def test_measurements_come_back_as_they_were(connection: Connection) -> None:
    ones = [
        measured(shape=STRANGE, cache="cold", source="call", made_at=9.0),
        measured(shape=STRANGE, work=WORK),  # the same shape and variant once more
        measured(shape=Shape(()), work=WORK),
        measured(0.0, variant=Variant("cuda", "i"), outcome="crashed", reason="signal 11", runs=0, made_at=1.0),
    ]
    put(connection, *ones)
    found = rows.measurements(connection, "kernel1", HERE.fingerprint)
    assert set(found) == set(ones)
    assert [str(one.variant) for one in found] == sorted(str(one.variant) for one in found)
    assert all(math.copysign(1, one.shape.features[1]) == -1 for one in found if one.shape == STRANGE)
    assert rows.measurements(connection, "kernel1", "unheard of") == ()
    assert rows.measurements(connection, "kernel2", HERE.fingerprint) == ()


def test_whether_anything_was_measured(connection: Connection) -> None:
    put(connection, measured(machine=THERE.fingerprint), KernelName("only named"))
    assert rows.has_kernel(connection, "kernel1")
    assert not rows.has_kernel(connection, "only named") and not rows.has_kernel(connection, "unheard of")


def test_kernels_and_machines_by_turns_stay_apart(connection: Connection) -> None:
    names = [("b", "m"), ("a", "n"), ("b", "n"), ("a", "m")]
    put(connection, *(measured(kernel=kernel, machine=machine) for kernel, machine in names))
    for kernel, machine in names:
        [found] = rows.measurements(connection, kernel, machine)
        assert (found.kernel, found.machine) == (kernel, machine)
    assert {one.fingerprint for one in rows.kernels(connection)} == {"a", "b"}


def some_records() -> list[Record]:
    cells = [cell_of(measured(n=n, kernel=kernel)) for n in (2, 1) for kernel in ("b", "a")]
    tables = [FittedTable(kind, "m", "x", [1], at) for kind, at in (("tree", 1.0), ("work", 2.0))]
    named = MachineName(HERE.fingerprint, HERE)
    return [*cells, *tables, choice(kernel="b"), KernelName("a", "gemm"), named]


@pytest.mark.parametrize("seed", range(4))
def test_everything_comes_in_one_order_whenever_it_came(connection: Connection, tmp_path: Path, seed: int) -> None:
    ones = some_records()
    random.Random(seed).shuffle(ones)
    put(connection, *ones)
    found = list(rows.everything(connection))
    assert set(map(repr, ones)) <= set(map(repr, found))
    assert [type(one).__name__ for one in found] == [
        "MachineName", "MachineName", "KernelName", "KernelName", "Cell", "Cell", "Cell", "Cell", "FittedTable",
        "FittedTable", "ChoiceRecord",
    ]  # fmt: skip
    assert [one.kind for one in found if isinstance(one, FittedTable)] == ["tree", "work"]
    with closing(connect(tmp_path / "again.sqlite3", 1.0)) as again:
        put(again, *reversed(found))
        put(again, *found)
        assert list(rows.everything(again)) == found


def test_tallies_and_belongings(connection: Connection) -> None:
    put(
        connection,
        *(measured(made_at=float(n), n=n, runs=n) for n in (3, 1, 2)),
        measured(made_at=9.0, outcome="crashed", runs=0),
        choice(),
        FittedTable("tree", "m", "x", [1], 1.0),
        KernelName("kernel1", "gemm"),
    )
    assert list(rows.tallies(connection)) == [
        (KernelName("kernel1", "gemm"), MachineName(HERE.fingerprint), 4, 1, 6, 1.0, 9.0)
    ]
    assert sorted(rows.belongings(connection), key=str) == sorted(
        [(MachineName(HERE.fingerprint), 0, 1), (MachineName("m"), 1, 0)], key=str
    )


# ---- removing -----------------------------------------------------------------------------------------------------


def test_what_is_removed_goes_with_its_names(connection: Connection) -> None:
    put(connection, *some_records())
    assert rows.prune(connection, None, False, None, 0) == (4, 0, 0)
    assert [one.fingerprint for one in rows.kernels(connection)] == ["b"]  # of the choice
    assert [one.fingerprint for one in rows.machines(connection)] == sorted([HERE.fingerprint, "m"])  # of the tables
    assert rows.prune(connection, None, False, None, None) == (0, 2, 1)
    assert list(rows.everything(connection)) == []


def test_the_newest_of_each_kernel_on_each_machine_stay(connection: Connection) -> None:
    ones = [measured(kernel=kernel, tile=tile, made_at=float(tile)) for kernel in "ab" for tile in (1, 2, 3)]
    put(connection, *ones)
    assert rows.prune(connection, None, False, None, 2) == (2, 0, 0)
    for kernel in "ab":
        assert {one.made_at for one in rows.measurements(connection, kernel, HERE.fingerprint)} == {2.0, 3.0}


@pytest.mark.parametrize(
    ("before", "failed", "machine", "beyond", "removed", "left"),
    [
        (3.0, False, None, None, (2, 1, 0), [3, 4]),
        (0.0, False, None, None, (0, 0, 0), [1, 2, 3, 4]),
        (None, True, None, None, (1, 0, 0), [1, 2, 3]),  # tables and choices do not fail
        (None, False, HERE.fingerprint, None, (4, 0, 1), []),
        (None, False, "unheard of", None, (0, 0, 0), [1, 2, 3, 4]),
        (None, False, None, 1, (3, 0, 0), [4]),  # the newest stays
        (4.0, False, None, 2, (2, 0, 0), [3, 4]),
        (4.0, True, None, None, (0, 0, 0), [1, 2, 3, 4]),
    ],
)
def test_what_has_all_the_properties_is_removed(
    connection: Connection,
    before: float | None,
    failed: bool,
    machine: str | None,
    beyond: int | None,
    removed: tuple[int, int, int],
    left: list[float],
) -> None:
    put(connection, *(measured(made_at=float(n), n=n, outcome="crashed" if n == 4 else "ok") for n in range(1, 5)))
    put(connection, FittedTable("tree", THERE.fingerprint, "x", [1], 1.0), choice(made_at=9.0))
    assert rows.prune(connection, before, failed, machine, beyond) == removed
    found = rows.measurements(connection, "kernel1", HERE.fingerprint)
    assert sorted(one.made_at for one in found) == left
