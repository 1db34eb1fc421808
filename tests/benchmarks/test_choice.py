"""The benchmarks of choosing: each part in a tiny form, and what is concluded from numbers that are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.choice import goals, kernel_tuner, overhead, prediction, preparing, pruning, regret
from benchmarks.choice.calls import Problem, machines
from benchmarks.choice.making import Made, Makers, make
from benchmarks.choice.parts import Bench
from benchmarks.choice.rows import Book, Row

from loopwright.config import Config, options
from loopwright.ir.signature import shape_of

TOLD = {"machine": "one", "device": "cpu", "size": "small", "revision": "x"}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    with options(threads=2, store="off", cache=tmp_path / "cache") as config:
        made = Bench(Book(None, {}), "cpu", "small", 120.0, 1, config, lambda text: None)
    made.begin()
    return made


# ---- rows -----------------------------------------------------------------------------------------------------------


def test_a_second_run_measures_what_is_missing(tmp_path: Path, bench: Bench) -> None:
    bench.book = Book(tmp_path / "rows.json", TOLD)
    bench.kept(bench.book.row("part", "good"), lambda row: row.values.update(found=1.5))
    bench.kept(bench.book.row("part", "bad"), lambda row: 1 / 0)  # type: ignore[arg-type, return-value]
    again = Book(tmp_path / "rows.json", TOLD)
    assert again.row("part", "good").values == {"found": 1.5} and again.row("part", "good").done
    assert not again.row("part", "bad").done and again.row("part", "bad").fault == ""
    assert bench.book.row("part", "bad").fault == "ZeroDivisionError: division by zero"
    other = Book(tmp_path / "rows.json", {**TOLD, "machine": "two"})
    assert other.rows == []


def test_ctrl_c_is_no_row(bench: Bench) -> None:
    def stopped(row: Row) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.kept(bench.book.row("part", "case"), stopped)


# ---- pruning and Kernel Tuner ---------------------------------------------------------------------------------------


def entry(a: int, b: int, time_ns: float, metrics: tuple[float, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "point": {"a": a, "b": b}, "default": (a, b) == (1, 1), "names": ("x", "y")[: len(metrics)],
        "metrics": metrics, "make_ns": 1e9, "judge_ns": 1e8, "compile_ns": 2e9, "measure_ns": 5e8,
        "outcome": "ok", "reason": "", "time_ns": time_ns, "runs": 5, "final": False, **more,
    }  # fmt: skip


def bowl(count: int = 6) -> list[dict[str, Any]]:
    """Times that fall towards (4, 3), a metric that knows half of it, and one that fails where it would be best."""
    sides = range(1, count + 1)
    table = [
        entry(a, b, 100.0 + 10 * abs(a - 4) + 10 * abs(b - 3), (1.0 / (1 + abs(a - 4)),)) for a in sides for b in sides
    ]
    for one in table:
        if one["point"] == {"a": 4, "b": 3}:
            one.update(outcome="wrong", reason="another result", time_ns=0.0)
    return table


def test_what_pruning_loses() -> None:
    table = [entry(1, 1, 150.0, (1.0, 1.0)), entry(1, 2, 110.0, (9.0, 1.0)), entry(2, 1, 100.0, (8.0, 0.9))]
    found = pruning.summary(table)
    assert pruning.order(table, 2) == [1, 0] and pruning.order(table) == [1, 2, 0]
    assert found["optimum_ns"] == 100 and found["default_lost"] == pytest.approx(0.5)
    assert found["kept"] == 2 and found["lost"] == pytest.approx(0.1) and found["pruned"] == pytest.approx(1 / 3)
    table[1]["outcome"] = "crashed"
    assert pruning.summary(table)["lost"] == pytest.approx(0.5) and pruning.summary(table)["failed"] == 1


def test_a_whole_space_is_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(self: Makers, asked: Any, groups: list[list[int]], end: float) -> list[Made]:
        return [one for group in groups for one in make(asked, group)]

    monkeypatch.setattr(Makers, "_in_processes", here)
    monkeypatch.setattr(pruning, "SPACES", pruning.SPACES[:1])
    monkeypatch.setattr(preparing, "MOST", {"small": 3})
    pruning.run(bench)
    (row,) = bench.book.of("pruning")
    (prepared,) = bench.book.of("making")
    assert [one["number"] for one in prepared.table] == [one["number"] for one in row.table]
    assert {one["outcome"] for one in row.table} == {"ok"}
    assert len(row.table) == row.values["members"] > 1 and row.table[0]["default"]
    assert all(one["time_ns"] > 0 and one["metrics"] and one["compile_ns"] > 0 for one in row.table)
    assert row.values["lost"] >= 0 and row.table[0]["final"]


def test_what_was_prepared_is_only_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def here(self: Makers, asked: Any, groups: list[list[int]], end: float) -> list[Made]:
        return [one for group in groups for one in make(asked, group)]

    def never(*_: object) -> None:
        raise AssertionError("it is made again")

    monkeypatch.setattr(Makers, "_in_processes", here)
    for module in (preparing, pruning):
        monkeypatch.setattr(module, "SPACES", preparing.SPACES[:1])
    monkeypatch.setattr(preparing, "MOST", {"small": 2})
    preparing.run(bench)
    (prepared,) = bench.book.of("making")
    assert prepared.values["members"] == len(prepared.table) == 2
    monkeypatch.setattr(Makers, "made", never)
    pruning.run(bench)
    (row,) = bench.book.of("pruning")
    assert [one["outcome"] for one in row.table] == ["ok", "ok"] and row.values["space"] == 2


def test_evaluations_and_what_they_cost() -> None:
    table = bowl()
    best = next(place for place, one in enumerate(table) if one["point"] == {"a": 4, "b": 2})
    assert kernel_tuner.optimum(table) == 110
    assert kernel_tuner.quality(table, [0]) == pytest.approx(150 / 110)
    assert kernel_tuner.evaluations_to(table, [0, 1, best]) == 3
    assert kernel_tuner.evaluations_to(table, [0, 1]) == len(table)
    assert kernel_tuner.cost_s(table, [0, 1], 0) == pytest.approx(2 * 3.5)
    assert kernel_tuner.cost_s(table, [0, 1], 36) == pytest.approx(2 * 2.5 + 36 * 1.1)


def test_ours_begins_with_what_is_kept_and_goes_downhill() -> None:
    table = bowl()
    tried = kernel_tuner.ours(table, [0, 7], 0)
    assert tried[:2] == [0, 7] and len(set(tried)) == len(tried) == len(table)
    assert kernel_tuner.evaluations_to(table, tried) < 20


def test_looks_at_more_and_more_members() -> None:
    table = bowl()
    tried, known = kernel_tuner.looked(table)
    assert known == sorted(known) and set(known) == {0, 16, 32, 36} and len(set(tried)) == len(tried)
    assert tried[:1] == kernel_tuner.defaults(table) and known[0] == 0
    assert set(tried[1:3]) <= set(range(16)) and known[1:3] == [16] * 2
    assert set(pruning.order(table)) <= set(tried)
    assert kernel_tuner.cost_s(table, tried[:1], known[0]) < kernel_tuner.cost_s(table, tried[:1], 36)


def test_kernel_tuner_replays_a_table(bench: Bench) -> None:
    pytest.importorskip("kernel_tuner")
    table = bowl()
    bench.book.rows.append(Row("pruning", "made up", table=table, done=True))
    kernel_tuner.run(bench)
    (row,) = bench.book.of("kernel_tuner")
    by = {one["who"]: one for one in row.table}
    assert row.values["evaluations"] == 3 and row.values["problems"].keys() <= {"diff_evo"}
    assert by["Kernel Tuner random_sample"]["found"]["lower"] >= 1
    assert by["pruning"]["found"]["median"] == kernel_tuner.quality(table, pruning.order(table, 3))
    assert by["pruning and local search"]["reached"] == 1


def test_kernel_tuner_tries_each_variant_once_and_no_other(tmp_path: Path) -> None:
    pytest.importorskip("kernel_tuner")
    table = [*bowl(3), {**entry(1, 1, 99.0), "point": {"c": 7}, "default": False}]
    replay = kernel_tuner.Replay(table, tmp_path)
    assert sorted(replay.run("random_sample", len(table), 0)) == list(range(len(table)))
    short = replay.run("genetic_algorithm", 4, 1)
    assert short == replay.run("genetic_algorithm", 4, 1) and len(set(short)) == len(short) <= 4


# ---- prediction and regret ------------------------------------------------------------------------------------------


def survey(problem: Problem, times: Any, seen: list[float], unseen: list[float]) -> list[dict[str, Any]]:
    found = []
    for kind, scales in (("seen", seen), ("unseen", unseen)):
        for scale in scales:
            sizes = shape_of(problem.arguments(scale)).sizes
            for variant, time_ns in times(sizes[0], kind).items():
                found.append(
                    {"kind": kind, "scale": scale, "sizes": sizes, "variant": variant, "outcome": "ok",
                     "time_ns": time_ns, "spread": 0.01, "runs": 9}
                )  # fmt: skip
    return found


def crossing(n: int, kind: str) -> dict[str, float]:
    return {"cpu 2: recipe": 20_000 + 0.3 * n * n, "cpu 1: recipe": 1_000 + 0.6 * n * n}


SEEN, UNSEEN = [0.03, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4], [0.04, 0.12, 0.25, 0.35]


def test_prediction_is_judged_against_what_was_not_seen(bench: Bench) -> None:
    problem, fingerprints = Problem("gesummv", bench.config), machines(bench)
    right = prediction.judged(problem, survey(problem, crossing, SEEN, UNSEEN), fingerprints)
    assert right["variants"] == 2 and right["unseen"] == 8
    assert right["error"] < 0.05 and right["order"] == 1

    def slower(n: int, kind: str) -> dict[str, float]:
        return {name: time * (2 if kind == "unseen" else 1) for name, time in crossing(n, kind).items()}

    wrong = prediction.judged(problem, survey(problem, slower, SEEN, UNSEEN), fingerprints)
    assert wrong["error"] == pytest.approx(0.5, abs=0.05) and wrong["inside"] == 0
    with pytest.raises(ValueError, match="no unseen size"):
        prediction.judged(problem, survey(problem, crossing, SEEN, []), fingerprints)


def test_regret_is_what_the_chosen_takes_longer(bench: Bench) -> None:
    problem, fingerprints = Problem("gesummv", bench.config), machines(bench)
    right = regret.judged(problem, survey(problem, crossing, SEEN, UNSEEN), fingerprints)
    assert right["calls"] == 4 and right["mean"] <= 0.02 and right["wrong"] == 0

    def swapped(n: int, kind: str) -> dict[str, float]:
        one, other = crossing(n, kind).values()
        return crossing(n, kind) if kind == "seen" else {"cpu 2: recipe": other, "cpu 1: recipe": one}

    wrong = regret.judged(problem, survey(problem, swapped, SEEN, [0.35]), fingerprints)
    assert wrong["mean"] > 0.3


def test_prediction_and_regret_run(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (prediction, regret):
        monkeypatch.setattr(part, "NAMES", ("gesummv",))
        part.run(bench)
    (predicted,), (chosen,) = bench.book.of("prediction"), bench.book.of("regret")
    assert predicted.values["unseen"] > 0 and predicted.values["variants"] == 3
    assert chosen.values["calls"] > 0 and min(chosen.values["regrets"]) >= 0


# ---- overhead, goals ------------------------------------------------------------------------------------------------


def test_overhead_runs_with_a_choice(bench: Bench) -> None:
    overhead.run(bench)
    many, call = bench.book.of("overhead")
    assert many.values["new_us"] > many.values["repeated_us"] > 0 and many.values["memory_bytes"] > 0
    assert call.values["has a choice"] is True and call.values["tuned_same_us"] > 0


def test_what_is_wanted_and_was_reached() -> None:
    book = Book(None, {})
    told = {"variants": 200, "pruned": 0.94, "lost": 0.01, "goal_pruned": 0.98, "goal_lost": 0.04}
    book.rows = [
        Row("pruning", "gemm", told, done=True),
        Row("pruning", "sad", {**told, "lost": None}, done=True),
        Row("prediction", "mvt", {"error": 0.2, "error large": 0.019, "inside": 0.8}, done=True),
        Row("regret", "mvt", {"regrets": [0.0] * 19 + [0.6], "wrong": 1}, done=True),
        Row("regret", "unfinished", {}),
    ]
    gemm, sad, mvt, mean, devices = goals.verdicts(book)
    assert (gemm.met, gemm.reached) == (True, False) and sad.met is False
    assert (mvt.met, mvt.reached) == (True, True)
    assert (mean.met, mean.reached) == (True, False) and devices.met is False
    assert goals.table_of([gemm, devices]).row_count == 2


def test_calls_are_shared_evenly() -> None:
    assert regret.calls_of(200) == [34, 34, 33, 33, 33, 33] and sum(regret.calls_of(6)) == 6


def test_facts_name_no_path(bench: Bench) -> None:
    from benchmarks.choice.__main__ import facts

    assert str(Path.home()) not in str(facts("cpu", "small")) and "/" not in facts("cpu", "small")["revision"]
    assert isinstance(bench.config, Config)
