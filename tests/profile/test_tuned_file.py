"""Tuned results beside the code: what is written, and when calls start from them."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright import errors
from loopwright.cli.db import export_for
from loopwright.config import current
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.exchange import exported, imported, lines_of
from loopwright.profile.history import Cell
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import Machine, machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.profile.records import WORK, KernelName, MachineName, Record
from loopwright.tuning.tune import put_kernel
from loopwright.tuning.work import work_form

SOURCE = "import loopwright as lw\n\n@lw.kernel\ndef twice(a):\n    for i in range(len(a)):\n        a[i] = a[i] * {}\n"
DEFAULT, SPLIT = Variant("cpu", threads=1), Variant("cpu", "split i 4; parallelize i.o", 1)
SLOW = tuple(Variant("cpu", f"split i {k}; parallelize i.o", 1) for k in (5, 6, 7, 8))


@pytest.fixture(autouse=True)
def said(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is said while a test runs, each once."""
    monkeypatch.setattr(errors, "_WARNED", set())
    with lw.options(threads=1, explore=False), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        told: list[str] = []
        yield told
        told += [str(one.message) for one in found]


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "doubling.py"
    path.write_text(SOURCE.format("2.0"))
    return path


def kernel_of(script: Path) -> lw.LoopKernel:
    spec = importlib.util.spec_from_file_location("doubling", script)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice  # type: ignore[no-any-return]


def here() -> Machine:
    found = machine_of("cpu", current())
    assert found is not None
    return found


def tune(kernel: lw.LoopKernel, times: dict[Variant, float], n: int = 100) -> None:
    """As if tuning had measured these."""
    one, machine, journal = kernel.specialise(np.ones(n)), here(), journal_of(current())
    call: Any = type("Call", (), {"one": one, "fingerprint": one.fingerprint})()
    put_kernel(journal, call, work_form(one.analysed.written, one.analysed.facts, one.signature))
    journal.put_machine(machine)
    for variant, time_ns in times.items():
        shape, work = Shape((n,)), Work(n, n, 1, 8 * n)
        journal.add(
            Measurement(one.fingerprint, machine.fingerprint, variant, shape, work, "ok", time_ns, 0.01, 5, made_at=9.0)
        )
    assert journal.flush()


def export(script: Path, file: Path | None = None) -> Path:
    export_for(current(), [script], file)
    return file or script.with_suffix(".tuned.jsonl")


def serves(kernel: lw.LoopKernel, n: int = 100) -> str:
    a = np.ones(n)
    kernel(a)
    assert (a == a[0]).all()
    (choice,) = kernel.explain(np.ones(n)).choices
    return choice.serves


def records(file: Path) -> list[Record]:
    with file.open("rb") as lines:
        return list(imported(lines_of(lines), str(file)))


def rewritten(file: Path, change: Callable[[Machine], Machine]) -> None:
    """As another machine would have written it."""
    renamed: dict[str, str] = {}
    found: list[Record] = []
    for one in records(file):
        if isinstance(one, MachineName) and one.identity is not None:
            made = change(one.identity)
            renamed[one.fingerprint] = made.fingerprint
            found.append(MachineName(made.fingerprint, made))
        elif isinstance(one, Cell):
            found.append(replace(one, machine=renamed[one.machine]))
        else:
            found.append(one)
    file.write_text("".join(exported(found)))


@pytest.fixture
def committed(script: Path, tmp_path: Path) -> Path:
    """What was tuned, beside the script."""
    with lw.options(store=tmp_path / "mine.sqlite3"):
        tune(kernel_of(script), {DEFAULT: 9e6, SPLIT: 1e6})
        return export(script)


def test_what_is_committed_serves_where_nothing_was_tuned(script: Path, committed: Path, tmp_path: Path) -> None:
    with lw.options(store=tmp_path / "theirs.sqlite3"):
        with lw.options(tuned="off"):
            assert serves(kernel_of(script)) == ""
        assert serves(kernel_of(script)) == str(SPLIT)
    with lw.options(store="off"):
        assert serves(kernel_of(script)) == str(SPLIT)


def test_it_is_not_written_into_the_store(script: Path, committed: Path, tmp_path: Path) -> None:
    from loopwright.profile.store import ProfileStore

    with lw.options(store=tmp_path / "theirs.sqlite3"):
        kernel = kernel_of(script)
        serves(kernel)
        journal_of(current()).flush()
        with ProfileStore.open(tmp_path / "theirs.sqlite3") as store:
            assert store.of_kernel(kernel.specialise(np.ones(3)).fingerprint, here().fingerprint) == ()


def test_what_was_measured_here_counts_too(script: Path, committed: Path, tmp_path: Path) -> None:
    with lw.options(store=tmp_path / "theirs.sqlite3"):
        kernel = kernel_of(script)
        for _ in range(7):
            tune(kernel, {SPLIT: 30e6})
        assert serves(kernel) == str(DEFAULT)


def test_a_file_that_the_option_names(script: Path, tmp_path: Path, committed: Path) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    committed.rename(elsewhere)
    with lw.options(store=tmp_path / "theirs.sqlite3"):
        assert serves(kernel_of(script)) == ""
        with lw.options(tuned=elsewhere):
            assert serves(kernel_of(script)) == str(SPLIT)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: replace(one, name="Another CPU"), "it was tuned on another machine, Another CPU, and this one is"),
        (lambda one: replace(one, compiler="GCC 1.0"), "it was tuned with GCC 1.0, and here is"),
        (lambda one: replace(one, text="f" * 32), "it was tuned with another version of Loopwright"),
    ],
)  # fmt: skip
def test_another_machine_compiler_or_version_is_said(
    script: Path, committed: Path, change: Callable[[Machine], Machine], why: str, tmp_path: Path
) -> None:
    rewritten(committed, change)
    with lw.options(store=tmp_path / "theirs.sqlite3"), pytest.warns(lw.LoopwrightWarning) as told:
        kernel = kernel_of(script)
        assert serves(kernel) == ""
        assert serves(kernel, 50) == ""
    (one,) = [str(one.message) for one in told if "tuned" in str(one.message)]
    assert one.startswith(f"doubling.tuned.jsonl is not used: {why}") and "loopwright tune" in one


def test_a_kernel_that_has_changed_is_said(script: Path, committed: Path, tmp_path: Path) -> None:
    script.write_text(SOURCE.format("3.0"))
    with (
        lw.options(store=tmp_path / "theirs.sqlite3"),
        pytest.warns(lw.LoopwrightWarning, match="'twice' has another text now, or is called with other types"),
    ):
        assert serves(kernel_of(script)) == ""


def test_a_file_that_cannot_be_read_is_said_and_calls_go_on(script: Path, committed: Path, tmp_path: Path) -> None:
    committed.write_text(committed.read_text().splitlines()[0])
    with (
        lw.options(store=tmp_path / "theirs.sqlite3"),
        pytest.warns(lw.LoopwrightWarning, match=r"tuned results are not used: .*doubling\.tuned\.jsonl:1: .*missing"),
    ):
        assert serves(kernel_of(script)) == ""


def test_kernels_that_it_does_not_speak_of_say_nothing(
    script: Path, committed: Path, tmp_path: Path, said: list[str]
) -> None:
    script.write_text(script.read_text().replace("twice", "thrice") + "\ntwice = thrice\n")
    with lw.options(store=tmp_path / "theirs.sqlite3"):
        assert serves(kernel_of(script)) == ""
    assert not [one for one in said if "tuned" in one]


# ---- what is written ----------------------------------------------------------------------------------------------


def test_only_the_fastest_and_the_default_are_kept(script: Path, tmp_path: Path) -> None:
    with lw.options(store=tmp_path / "mine.sqlite3"):
        kernel = kernel_of(script)
        tune(kernel, {DEFAULT: 9e6, SPLIT: 1e6} | {one: 2e6 + k for k, one in enumerate(SLOW)})
        found = records(export(script))
    assert {one.variant for one in found if isinstance(one, Cell)} == {DEFAULT, SPLIT, *SLOW[:2]}
    assert [one.name for one in found if isinstance(one, KernelName)] == ["twice"]
    assert WORK in {getattr(one, "kind", "") for one in found}
    assert str(tmp_path) not in script.with_suffix(".tuned.jsonl").read_text()


def test_of_a_kernel_that_has_changed_only_the_last_text_is_kept(script: Path, tmp_path: Path) -> None:
    with lw.options(store=tmp_path / "mine.sqlite3"):
        tune(kernel_of(script), {DEFAULT: 9e6})
        script.write_text(SOURCE.format("5.0"))
        kernel = kernel_of(script)
        one, machine = kernel.specialise(np.ones(3)), here()
        tune(kernel, {})
        work = Work(100, 100, 1, 800)
        journal_of(current()).add(
            Measurement(
                one.fingerprint, machine.fingerprint, SPLIT, Shape((100,)), work, "ok", 1e6, 0.01, 5, made_at=99.0
            )
        )
        journal_of(current()).flush()
        found = records(export(script))
    assert [(one.kernel, one.variant) for one in found if isinstance(one, Cell)] == [(one.fingerprint, SPLIT)]


def test_what_other_machines_have_written_stays(script: Path, committed: Path, tmp_path: Path) -> None:
    rewritten(committed, lambda one: replace(one, name="Another CPU"))
    with lw.options(store=tmp_path / "mine.sqlite3"):
        export(script)
        found = records(committed)
        export(script)
        assert records(committed) == found  # the same again changes nothing
    assert {one.identity.name for one in found if isinstance(one, MachineName) and one.identity} == {
        "Another CPU", here().name,
    }  # fmt: skip
    assert len([one for one in found if isinstance(one, Cell)]) == 4


def test_there_is_nothing_to_write(script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import typer

    other = tmp_path / "other.py"
    other.write_text("")
    with lw.options(store=tmp_path / "mine.sqlite3"):
        tune(kernel_of(script), {DEFAULT: 9e6})
        for wrong in (other, tmp_path / "missing.py"):
            with pytest.raises((typer.Exit, SystemExit)):
                export(wrong)
    told = capsys.readouterr().err
    assert "this machine has no measurements of kernels in other.py" in told and "there is no file" in told
