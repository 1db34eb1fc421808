"""What the tables say, above all about results that are wrong."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.machine import Machine
from benchmarks.results import BLAS, CONTENDERS, NUMBA, OURS, PLUTO, PRANGE, WRONG, C, Cell, Overhead, Row
from rich.console import Console, RenderableType

from benchmarks import table

MACHINE = Machine("a processor", 2, "a system", False, {"python": "3"}, bandwidth=10e9, peak=100e9)


def shown(item: RenderableType) -> str:
    console = Console(width=table.WIDTH, color_system=None)
    with console.capture() as capture:
        console.print(item)
    return capture.get()


def line(text: str, word: str) -> str:
    return next(each for each in text.splitlines() if word in each)


def cell(seconds: float) -> Cell:
    return Cell("", (seconds, seconds), seconds, 0.0, 1.5)


def row(name: str, reason: str = "", **cells: Cell) -> Row:
    named = {OURS: "ours", NUMBA: "numba", PRANGE: "prange", C: "c"}
    made = {contender: cells.get(key, cell(0.25)) for contender, key in named.items()}
    made |= {contender: cells[key] for contender, key in {PLUTO: "pluto", BLAS: "blas"}.items() if key in cells}
    return Row(name, "polybench", "LARGE", 8_000_000, made, 0.1, 0.7, 0.03, 0.4, 1.02, reason=reason)


def test_times_ratios_and_their_mean() -> None:
    text = shown(table.speed_table([row("gemm", prange=cell(1.0)), row("mvt", prange=cell(0.0625))]))
    assert all(name in text for name in CONTENDERS)
    assert "1.000 s" in line(text, "gemm") and "250.000 ms" in line(text, "gemm")
    assert "4.00x" in line(text, "gemm") and "40%" in line(text, "gemm")
    assert "0.25x" in line(text, "mvt")
    assert "1.00x" in line(text, "geometric mean")


def test_a_wrong_result_is_never_a_time() -> None:
    text = shown(table.speed_table([row("gemm", ours=Cell(WRONG)), row("mvt", c=Cell("OSError: no such file"))]))
    assert WRONG in line(text, "gemm") and "x" not in line(text, "gemm").replace(WRONG, "")
    assert "ERROR" in line(text, "mvt")


def test_others_are_shown_where_they_take_part() -> None:
    rows = [row("gemm", pluto=cell(0.5), blas=cell(0.05)), row("mvt"), row("trmm", pluto=Cell(WRONG))]
    text = shown(table.others_table(rows, ["someone is left out"]))
    assert "2.00x" in line(text, "gemm") and "20%" in line(text, "gemm") and "50.000 ms" in line(text, "gemm")
    assert "mvt" not in text
    assert WRONG in line(text, "trmm") and "x" not in line(text, "trmm")
    assert "2.00x" in line(text, "geometric mean") and "20%" in line(text, "geometric mean")
    assert "someone is left out" in text


def test_bytes_per_second_are_of_what_the_loops_move() -> None:
    rows = [replace(row("spmv", prange=cell(0.5)), streamed_bytes=1e9), row("gemm")]
    text = shown(table.bytes_table(MACHINE, rows))
    assert all(word in line(text, "spmv") for word in ("8.0 MB", "1000.0 MB", "4.0", "40%", "20%", "-"))
    assert "gemm" not in text


def test_goals_are_met_or_not_or_not_measured() -> None:
    text = shown(table.goals_table([row("gemm", prange=cell(0.75), blas=cell(0.05))]))
    assert line(text, "mean: 2x numba prange").split()[-2] == "yes"
    assert line(text, BLAS).split()[-2] == "no"
    assert "not measured" in line(text, PLUTO)


def test_the_summary_names_what_is_not_as_it_should_be() -> None:
    rows = [
        row("gemm", ours=Cell(WRONG)),
        row("mvt", prange=cell(0.1)),
        row("atax", prange=cell(0.1), reason="the reason"),
        row("lu", prange=cell(0.3)),
    ]
    text = shown(table.summary(MACHINE, rows))
    assert f"gemm: {OURS}: {WRONG}" in text
    assert line(text, "without a reason").endswith("gemm, mvt")
    assert "the reason" in shown(table.speed_table(rows))


def test_a_busy_machine_is_admitted() -> None:
    busy = Machine("a processor", 2, "a system", True, {}, 1.0, 1.0)
    assert "Other programs" in shown(table.summary(busy, []))
    assert "Other programs" not in shown(table.summary(MACHINE, []))


def test_first_calls_and_memory() -> None:
    text = line(shown(table.fresh_table([row("gemm")])), "gemm")
    assert all(word in text for word in ("700.000 ms", "400.000 ms", "30.000 ms", "1.500 s", "8.0 MB", "1.02x"))


def test_overhead_and_progress() -> None:
    text = shown(table.overhead_table(Overhead(3.25, {OURS: 412.0, C: 1234.0})))
    assert "412 ns" in line(text, OURS) and "1,234 ns" in line(text, "ctypes") and "3.2 ns" in line(text, "itself")
    assert table.progress(row("gemm", pluto=cell(1.0))).endswith(", Pluto style 1.000 s")
    assert table.progress(row("gemm", numba=Cell(WRONG))).startswith("gemm: loopwright 250.000 ms, numba WRONG,")
