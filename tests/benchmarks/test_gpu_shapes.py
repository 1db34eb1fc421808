"""The kernels of many shapes: some of them on the emulated GPU, wrong results, refusals, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.gpu.bench import Bench
from benchmarks.gpu.rows import Row
from benchmarks.gpu.shapes import __main__ as command
from benchmarks.gpu.shapes.case import Draw
from benchmarks.gpu.shapes.measure import CASES, compared, timed
from typer.testing import CliRunner

SOME = ("batched 3x3", "running sums, axis 1", "weights of 3 keys among 10^6", "float32 to int8", "3-D, 7 points")


@pytest.fixture(scope="module")
def emulated() -> Bench:
    return Bench("emulated", 0.2)


def row() -> Row:
    return Row("shapes", "", "", 0.0, "B")


@pytest.mark.parametrize("name", SOME)
def test_a_case_is_right_on_the_emulated_gpu(emulated: Bench, name: str) -> None:
    *_, found = compared(emulated, CASES[name], row())
    assert found.agrees is True and found.note.startswith("GPU | ") and "bind" in found.note


def test_a_wrong_result_is_seen(emulated: Bench) -> None:
    case = CASES["softmax, axis 0"]

    def wrong(x: Any, y: Any) -> tuple[Any, ...]:
        return (case.expect(x, y)[0] * 1.01,)

    *_, found = compared(emulated, replace(case, expect=wrong), row())
    assert found.agrees is False


def test_timing_restores_what_a_run_changes(emulated: Bench) -> None:
    case = CASES["LU 1024"]
    *_, found = timed(emulated, replace(case, full=case.tiny), row())
    assert found.ours and found.limit_s and found.note == "GPU"


def test_every_case_has_arrays_and_a_peer_of_the_same_arguments() -> None:
    for case in CASES.values():
        arrays = case.arrays(Draw(), *case.tiny)
        assert len(arrays) == case.function.__code__.co_argcount
        if case.peer is not None:
            assert case.peer.__code__.co_argcount in (1 + len(arrays), 1)
        assert (case.threads is not None) == bool(case.cuda)


def test_the_command_keeps_refusals_as_rows(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    chosen = ["--device", "emulated", "--processes", "1", "--only", "float16,1000 elements"]
    found = CliRunner().invoke(command_line(), [str(path), *chosen])
    assert found.exit_code == 0, found.output
    rows = {one["case"]: one for one in json.loads(path.read_text())["rows"]}
    assert "float16" in rows["float16"]["fault"] and rows["1000 elements"]["agrees"] is True


def command_line() -> Any:
    import typer

    app = typer.Typer()
    app.command()(command.main)
    return app
