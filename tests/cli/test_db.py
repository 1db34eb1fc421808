"""`loopwright db`."""

from __future__ import annotations

import io
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text
from typer.testing import CliRunner

from faults.stored import HERE, THERE, measured
from loopwright.cli import db
from loopwright.cli.db import fingerprints_here
from loopwright.cli.main import app
from loopwright.cli.terminal import _Terminal
from loopwright.config import CURRENT, DEFAULT, Config
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.machine import Machine, machine_of
from loopwright.profile.records import ChoiceRecord, FittedTable, KernelName
from loopwright.profile.store import ProfileStore

RUNNER = CliRunner()
CELLS = re.compile(r"\s{2,}")


def test_what_is_here() -> None:
    machine = machine_of("cpu", DEFAULT)
    assert machine is not None and machine.fingerprint in fingerprints_here(DEFAULT)


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A store in a folder of its own, on a machine that is HERE."""
    monkeypatch.setattr(db, "fingerprints_here", lambda config: frozenset({HERE.fingerprint}))
    token = CURRENT.set(Config(cache=tmp_path))
    yield CURRENT.get()
    CURRENT.reset(token)


@pytest.fixture
def path(config: Config) -> Path:
    """A store with something of everything."""
    path = config.store_path
    assert path is not None
    with ProfileStore.open(path) as store:
        store.put_machine(HERE)
        store.put_machine(replace(THERE, driver="580.95"))
        there = replace(THERE, driver="580.95").fingerprint
        store.add([measured(n=n, made_at=1000.0 + n) for n in range(10)])
        store.add([measured(n=n, outcome="crashed", tile=8) for n in range(3)])
        store.add([measured(n=n, machine=there, kernel="kernel2") for n in range(2)])
        store.put_kernel(KernelName("kernel1", "gemm", "/x/gemm.py", "float64[:, :]"))
        store.put_table(FittedTable("ranking", there, "x", [1], 5.0))
        store.put_choice(ChoiceRecord("kernel1", HERE.fingerprint, Shape((3,)), Variant("cpu"), "first", 7.0, 0.1, 6.0))
    return path


def run(*words: object, code: int = 0) -> str:
    """stdout of the command, or stderr where it is refused."""
    result = RUNNER.invoke(app, ["db", *map(str, words)])
    assert result.exit_code == code, result.output
    return result.stderr if code else result.stdout


def rows(text: str) -> list[list[str]]:
    return [CELLS.split(line.strip()) for line in text.splitlines()]


def test_stats(path: Path) -> None:
    first, *table = rows(run("stats"))
    assert first[0].startswith(f"store {path} (")
    there = replace(THERE, driver="580.95").fingerprint
    assert table == [
        ["kernel", "types", "machine", "measurements", "failed", "runs", "first (UTC)", "last (UTC)"],
        ["kernel2", "-", there[:12], "2", "0", "10", "1970-01-01 00:16", "1970-01-01 00:16"],
        ["gemm", "float64[:, :]", HERE.fingerprint[:12], "13", "3", "65", "1970-01-01 00:16", "1970-01-01 00:16"],
        ["machine", "here", "device", "compiler", "driver", "measurements", "tables", "choices"],
        *sorted(
            [
                [HERE.fingerprint[:12], "yes", "Some CPU", "gcc 12", "-", "13", "0", "1"],
                [there[:12], "no", "Another CPU", "gcc 12", "580.95", "2", "1", "0"],
            ]
        ),
    ]
    assert run("stats") == run("stats")


HOSTILE = "gemm\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x9b31m\r\nkernel2"


def test_names_of_others_are_only_text(path: Path, tmp_path: Path) -> None:
    """Neither `db stats`, to a pipe or a terminal, nor the page passes on what a terminal or a browser obeys."""
    evil = Machine("cpu", HOSTILE, compiler=HOSTILE, driver=HOSTILE, text="abc")
    with ProfileStore.open(path) as store:
        store.put_machine(evil)
        store.put_kernel(KernelName("kernel1", HOSTILE, HOSTILE, HOSTILE))
        row = measured(machine=evil.fingerprint, reason=HOSTILE, outcome="crashed", variant=Variant("cpu", HOSTILE))
        store.add([row, measured(machine=HOSTILE)])
    said = run("stats")
    assert all(character.isprintable() or character == "\n" for character in said)
    assert r"gemm\x1b[2J\x1b]0;owned\x07\u202egnp.exe\x9b31m kernel2" in said
    assert not any(line.startswith("kernel2  gemm") for line in said.splitlines())
    console = _Terminal(file=io.StringIO(), force_terminal=True, color_system="standard", highlight=False)
    console.print(f"a {HOSTILE}", Text(HOSTILE, style="red"))
    shown = console.file.getvalue()
    assert "\x1b[31m" in shown and not re.search("\x1b(?!\\[(31|0)m)|\x07|\u202e|\x9b|\r", shown)
    assert "\x1b" not in run("prune", "--machine", HOSTILE[4:], code=2)
    page = tmp_path / "page.html"
    assert RUNNER.invoke(app, ["report", "--out", str(page)]).exit_code == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", page.read_text().replace("\r\n", "\n"))


def test_the_types_of_a_kernel() -> None:
    assert (
        db._types("kernel f(a: float64[2] C, n: int64) -> float64:\n    pass\n")
        == "(a: float64[2] C, n: int64) -> float64"
    )
    assert db._types("kernel f(a: float64[1] C): pass") == "(a: float64[1] C)" and db._types("int64") == "int64"


def test_stats_of_an_empty_store(config: Config) -> None:
    with ProfileStore.open(config.store_path) as store:
        store.absorb([])
    assert "nothing is in it" in run("stats")


def test_out_and_in_and_out_again(path: Path, tmp_path: Path) -> None:
    first, second, other = tmp_path / "first.jsonl", tmp_path / "second.jsonl", tmp_path / "other.sqlite3"
    what = "15 measurements, 1 table, 1 choice, 2 kernels and 2 machines"
    assert run("export", first) == f"{what} written to {first}\n"
    taken = f"{what} taken from {first}\nnot like this one: 1 machine. What was measured there is kept apart\n"
    assert run("--store", other, "import", first) == taken
    assert run("--store", other, "import", first) == taken
    run("--store", other, "export", second)
    assert second.read_bytes() == first.read_bytes()
    assert {file.name for file in tmp_path.iterdir() if file.name.startswith("tmp")} == set()


def test_an_export_that_fails_leaves_nothing(path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    before = set(tmp_path.iterdir())
    assert "cannot be written" in run("export", folder, code=2)
    assert {other for other in tmp_path.iterdir() if not other.name.startswith(path.name)} <= before


def test_merge(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite3"
    with ProfileStore.open(other) as store:
        store.add([measured(n=99)])
    assert run("--store", other, "merge", path).startswith("15 measurements, ")
    with ProfileStore.open(other) as store:
        assert len(store.of_kernel("kernel1", HERE.fingerprint)) == 14
        assert store.kernels()[1].name == "gemm"


def test_prune(path: Path) -> None:
    assert run("prune", "--failed", "--dry-run") == "3 measurements, 0 tables and 0 choices would be removed\n"
    assert run("prune", "--failed").startswith(f"3 measurements, 0 tables and 0 choices removed: {path} has ")
    assert run("prune", "--keep", 4, "--dry-run").startswith("6 measurements")
    assert run("prune", "--keep", 4, "--machine", HERE.fingerprint[:5]).startswith("6 measurements")
    assert run("prune", "--older-than", "90d").startswith("6 measurements, 1 table and 1 choice removed")
    assert "nothing is in it" in run("stats")


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["prune"], "nothing says what to remove"),
        (["prune", "--older-than", "soon"], "'soon' is not a length of time"),
        (["prune", "--machine", "xyz"], "no machine's fingerprint begins with 'xyz'"),
        (["prune", "--keep", "-1"], "'--keep'"),
        (["import", "no.jsonl"], "no.jsonl cannot be read"),
        (["import", "."], ". cannot be read"),
        (["merge", "no.sqlite3"], "there is no store of measurements no.sqlite3"),
        (["export", "/proc/no/x.jsonl"], "/proc/no/x.jsonl cannot be written"),
        (["dance"], "No such command"),
    ],
)
def test_what_is_refused(path: Path, words: list[str], what: str) -> None:
    assert what in run(*words, code=2)


def test_a_beginning_of_two_fingerprints(path: Path) -> None:
    with ProfileStore.open(path) as store:
        store.add([measured(machine=HERE.fingerprint[:5] + "another")])
    assert "more than one machine's begin" in run("prune", "--machine", HERE.fingerprint[:4], code=2)


def test_a_wrong_line_is_named_and_nothing_is_kept(path: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "x.jsonl", tmp_path / "other.sqlite3"
    run("export", file)
    lines = file.read_text().replace('"time_ns": 100.0', '"time_ns": -100.0')
    file.write_text(lines)
    assert re.match(rf"loopwright: {file}:\d+: measurement: this cannot", run("--store", other, "import", file, code=2))
    with ProfileStore.open(other) as store:
        assert store.machines() == store.kernels() == ()


@pytest.mark.parametrize("sizes", ["[-10, 10]", f"[{10**30}, 10]"])
def test_sizes_that_no_array_has_are_refused_and_nothing_is_kept(path: Path, tmp_path: Path, sizes: str) -> None:
    file, other = tmp_path / "x.jsonl", tmp_path / "other.sqlite3"
    with ProfileStore.open(path) as store:
        store.add([measured()])
    run("export", file)
    file.write_text(file.read_text().replace('"sizes": [3, 3]', f'"sizes": {sizes}', 1))
    assert re.match(rf"loopwright: {file}:\d+: measurement: ", run("--store", other, "import", file, code=2))
    with ProfileStore.open(other) as store:
        assert store.machines() == store.kernels() == ()


def test_a_store_with_nonsense_in_it_is_not_merged(path: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE measurements SET sizes = sizes || ' b'")
        connection.commit()
    assert "a row that cannot be read" in run("--store", tmp_path / "other.sqlite3", "merge", path, code=2)


@pytest.mark.parametrize("words", [["stats"], ["export", "x.jsonl"], ["prune", "--failed"]])
def test_without_a_store(words: list[str], config: Config) -> None:
    assert f"there is no store of measurements {config.store_path} yet" in run(*words, code=2)
    token = CURRENT.set(Config(store="off"))
    assert "the option store is off" in run(*words, code=2)
    CURRENT.reset(token)


def test_a_store_that_cannot_be_used(path: Path) -> None:
    path.write_bytes(b"garbage" * 999)
    said = run("stats", code=2)
    assert "damaged" in said and "LOOPWRIGHT_STORE" in said
    assert path.exists()


@pytest.mark.parametrize(("text", "seconds"), [("90d", 7776000), ("1.5h", 5400), ("2w", 1209600), ("0s", 0)])
def test_lengths_of_time(text: str, seconds: float) -> None:
    assert db.seconds_of(text) == seconds
