"""The GPU benchmark without a GPU: every part of it on the emulated one, and what happens to cases that fail."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.gpu import __main__ as command
from benchmarks.gpu import bench as benches
from benchmarks.gpu.bench import Bench, NoBench
from benchmarks.gpu.parts import PARTS
from benchmarks.gpu.rows import Row, against, kept, write
from benchmarks.gpu.trial import Part, Trial, rows
from benchmarks.gpu.worker import Worker, content_of
from rich.console import Console
from typer.testing import CliRunner

import loopwright as lw

CASES = [(part, case) for part in PARTS if part.name != "polybench" for case in part.cases]
POLYBENCH = next(part for part in PARTS if part.name == "polybench")
CASES += [(POLYBENCH, case) for case in ("gemm", "lu", "durbin", "deriche", "nussinov")]


@pytest.fixture(scope="module")
def emulated() -> Bench:
    return Bench("emulated", 20.0)


@pytest.mark.parametrize(("part", "case"), CASES, ids=lambda one: getattr(one, "name", one))
def test_every_case_is_right_on_the_emulated_gpu(emulated: Bench, part: Part, case: str) -> None:
    *_, row = rows(emulated, part, case, "tiny")
    assert row.agrees is True
    assert row.ours is not None and row.ours > 0
    assert not row.fault and "on the CPU" not in row.note
    assert (row.limit_s is None) and list(row.seconds) == ["loopwright"]


def test_a_wrong_result_is_seen(emulated: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    part = next(part for part in PARTS if part.name == "counts")
    monkeypatch.setattr("benchmarks.gpu.kernels.histogram", lw.kernel(_wrong_histogram))
    *_, row = rows(emulated, part, part.cases[0], "tiny")
    assert row.agrees is False and "RESULTS DIFFER" in row.text()


def _wrong_histogram(b, h):  # type: ignore[no-untyped-def]
    for i in range(1, b.shape[0]):
        h[b[i]] += 1


# ---- sizes, one after the other -----------------------------------------------------------------------------------


class Timed:
    """A bench whose runs take as long as they say."""

    torch, budget_s, copy_bytes_per_s = None, 10.0, 0.0

    def once(self, run: Any, clock: str = "gpu") -> float:
        seconds = run()
        assert isinstance(seconds, float)
        return seconds

    def seconds(self, run: Any, clock: str = "gpu", before: Any = None, budget_s: float = 0.0) -> float:
        return self.once(run)

    def wait(self) -> None:
        pass


def growing(seconds_of_small: float, peer: Any = None) -> Part:
    """Sizes of 1, 100 and 10000 units of work."""

    def make(bench: Bench, case: str, size: str) -> Trial:
        work = {"a": 1.0, "b": 100.0, "c": 10000.0}[size]
        runs = {"loopwright": lambda: seconds_of_small * work, **({"peer": peer} if peer else {})}
        return Trial(size, work, "op", runs, lambda: True)

    return Part("part", ("case",), ("a", "b", "c"), make)


def tried(part: Part) -> list[Row]:
    timed: Any = Timed()
    return list(rows(timed, part, "case", "full"))


def test_all_sizes_where_there_is_time() -> None:
    found = tried(growing(1e-4))
    assert [row.size for row in found] == ["a", "b", "c"]
    assert [bool(row.note) for row in found] == [True, True, False]
    assert found[-1].seconds == {"loopwright": 1.0}


def test_a_size_that_would_take_too_long_is_left_out() -> None:
    *_, last = tried(growing(0.01))
    assert last.size == "b" and last.seconds == {"loopwright": 1.0}
    assert last.note == "c would take some 100 s: measured at b"


def test_a_slow_peer_holds_the_size_back_too() -> None:
    *_, last = tried(growing(1e-9, peer=lambda: 9.0))
    assert last.size == "a" and last.seconds["peer"] == 9.0


def test_a_peer_that_cannot_is_left_out_and_ours_is_not() -> None:
    def peer() -> float:
        raise NotImplementedError

    *_, last = tried(growing(1e-9, peer=peer))
    assert list(last.seconds) == ["loopwright"] and last.note == "peer: NotImplementedError"


# ---- a process of its own -----------------------------------------------------------------------------------------


def serve_badly(pipe: Any, parts: Any, device: str, budget_s: float) -> None:
    """What a process may do wrong, by the name of the case."""
    pipe.send({"gpu": "none", "copy_bytes_per_s": 0.0, "pid": os.getpid()})
    with suppress(EOFError):
        _serve_badly(pipe)


def _serve_badly(pipe: Any) -> None:
    while (asked := pipe.recv()) is not None:
        row = Row("part", asked[1], "small", 1.0, "op", seconds={"loopwright": 2.0}, note="one run at small")
        match asked[1]:
            case "dies":
                os._exit(3)
            case "hangs":
                pipe.send(row)
                time.sleep(600)
            case "fails":
                pipe.send("ValueError: no")
            case _:
                pipe.send(row)
                pipe.send(None)


def nothing(bench: Bench, case: str, size: str) -> Trial:
    raise NotImplementedError


@pytest.fixture
def worker() -> Iterator[Worker]:
    part = Part("part", ("good", "dies", "hangs", "fails", "again"), ("small",), nothing)
    made = Worker((part,), "emulated", 1.0, serve_badly)
    made.deadline_s = 3.0
    yield made
    made.stop()


def test_a_case_that_fails_costs_its_own_row_only(worker: Worker, tmp_path: Path) -> None:
    part = worker._given[0][0]
    path = tmp_path / "out.json"
    with open(os.devnull, "w") as nowhere:
        cases = [(part, case) for case in part.cases]
        found, told = command.run(worker, cases, "tiny", path, Console(file=nowhere))
    assert [row.fault for row in found] == [
        "",
        "the measuring process died",
        "stopped after 3 s; before that: one run at small",
        "ValueError: no",
        "",
    ]
    assert found[2].seconds == {"loopwright": 2.0}
    assert json.loads(path.read_text())["rows"][3]["fault"] == "ValueError: no"
    again = kept(path, told)
    assert [row.case for row in again] == ["good", "again"]
    for other in ({"asked": "full"}, {"gpu": "another"}, {"revision": "of a changed Loopwright"}):
        assert kept(path, told | other) == []


def test_a_copy_of_a_package_is_the_same_and_a_changed_one_is_not(tmp_path: Path) -> None:
    for name, text in (("one", "x = 1\n"), ("copy", "x = 1\n"), ("changed", "x = 2\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text(text)
    one, copy, changed = (content_of(tmp_path / name) for name in ("one", "copy", "changed"))
    assert one == copy != changed


def test_rows_that_are_there_are_not_measured_again(worker: Worker, tmp_path: Path) -> None:
    part, path = worker._given[0][0], tmp_path / "out.json"
    before = Row("part", "dies", "large", 1.0, "op", seconds={"loopwright": 7.0})
    write(path, {"gpu": "none", "asked": "tiny"}, [before])
    with open(os.devnull, "w") as nowhere:
        found, _ = command.run(worker, [(part, "dies"), (part, "good")], "tiny", path, Console(file=nowhere))
    assert found[0] == before and found[1].case == "good"
    assert not path.with_suffix(".part").exists()


# ---- what is said -------------------------------------------------------------------------------------------------


def test_the_mean_leaves_out_what_cannot_be_compared() -> None:
    def row(case: str, ours: float, theirs: float, **more: Any) -> Row:
        return Row("polybench", case, "MINI", 1.0, "op", seconds={"loopwright": ours, "numba.cuda": theirs}, **more)

    some = [row("a", 1.0, 2.0), row("b", 1.0, 8.0), row("c", 1.0, 99.0, agrees=False), row("d", 1.0, 9.0, fault="x")]
    found = against(some, "polybench", "numba.cuda")
    assert found == {"mean": pytest.approx(4.0), "ratios": {"a": 2.0, "b": 8.0}, "missing": ["c", "d"]}
    assert list(against(some[::-1], "polybench", "numba.cuda")["ratios"]) == ["a", "b"]
    assert np.isnan(against([], "polybench", "numba.cuda")["mean"])


def test_parts_and_single_cases_can_be_chosen() -> None:
    assert [case for _, case in command.chosen("host, polybench/gemm")] == ["add", "gemm"]
    assert len(command.chosen("")) == sum(len(part.cases) for part in PARTS)
    assert CliRunner().invoke(_app(), ["--only", "nonsense"]).exit_code == 2


def test_no_pytorch_is_a_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benches, "gpu_of", lambda device: object())
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(NoBench, match="pip install torch"):
        Bench("cuda", 1.0)


def test_no_gpu_is_a_clear_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benches, "gpu_of", lambda device: None)
    monkeypatch.setattr(benches, "why_no_gpu", lambda: "there is no driver")
    with pytest.raises(NoBench, match="no driver"):
        Bench("cuda", 1.0)


def _app() -> Any:
    import typer

    app = typer.Typer()
    app.command()(command.main)
    return app
