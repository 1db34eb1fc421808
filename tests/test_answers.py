"""What `explain` says is what happens: which calls were made, by which code, on how many threads, in which order."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.journal import journal_of
from loopwright.profile.machine import machine_of
from loopwright.profile.measurement import Measurement, Work
from loopwright.report.explanation import CodeRan, Explanation
from loopwright.runtime import code_table


@pytest.fixture(autouse=True)
def two_threads(tmp_path: Path) -> Iterator[None]:
    with lw.options(threads=2, store=tmp_path / "store.sqlite3", explore=False):
        yield


@pytest.fixture
def twice() -> lw.LoopKernel:
    @lw.kernel
    def twice(a):
        for i in range(len(a)):
            a[i] = a[i] * 2.0

    return twice


@pytest.fixture
def shift() -> lw.LoopKernel:
    """Its sizes say nothing of which elements are read."""

    @lw.kernel
    def shift(a, b, n, most):
        for i in range(n):
            if a[i] < most:
                b[i] = a[i + 1]

    return shift


def parts(explanation: Explanation) -> list[CodeRan]:
    """Of its calls, the last code first; they add up to what it says of all."""
    ran = explanation.ran
    assert ran is not None
    found = list(ran.parts)
    assert (ran.calls, ran.total_ns) == (sum(p.calls for p in found), sum(p.total_ns for p in found))
    assert ran.min_ns == min(p.min_ns for p in found) and ran.last_ns == found[0].last_ns
    assert (ran.device, ran.threads) == (found[0].device, found[0].threads)
    return found


def how(explanation: Explanation) -> dict[str, str]:
    """What is printed of how each loop runs, by the user's line."""
    found: dict[str, str] = {}
    loop = ""
    for line in str(explanation).splitlines():
        if match := re.match(r"  line +\d+  +(for .*?:|while.*?:) ", line):
            loop = match[1]
        elif "runs: " in line and loop:
            found[loop] = line.split("runs: ")[1]
    return found


# ---- which calls were made ----------------------------------------------------------------------------------------


def learn(kernel: lw.LoopKernel, times: dict[Variant, float], n: int) -> None:
    """As if tuning had measured these."""
    machine = machine_of("cpu", current())
    assert machine is not None
    one = kernel.specialise(np.ones(n))
    for variant, time_ns in times.items():
        shape, work = Shape((n,)), Work(n, n, 1, 8 * n)
        journal_of(current()).add(
            Measurement(one.fingerprint, machine.fingerprint, variant, shape, work, "ok", time_ns, 0.01, 5)
        )
    assert journal_of(current()).flush()
    kernel._dispatch.learn_anew()


def test_calls_by_the_variant_before_tuning_count_too(twice: lw.LoopKernel) -> None:
    a, split = np.zeros(100), Variant("cpu", "split i 4; parallelize i.o", 2)
    for _ in range(80):
        twice(a)
    learn(twice, {Variant("cpu", threads=2): 9e6, split: 1e6}, 100)
    for _ in range(24):
        twice(a)
    explanation = twice.explain(a)
    assert [(one.calls, one.variant) for one in parts(explanation)] == [(24, ""), (80, "cpu 2: recipe")]
    assert "ran           104 calls: last " in str(explanation)
    assert "80 calls on the cpu, up to 2 threads, by 'cpu 2: recipe': last " in str(explanation)


def test_learning_anew_forgets_no_call(twice: lw.LoopKernel) -> None:
    a = np.zeros(100)
    for _ in range(50):  # more often than entries are kept for what is under way
        twice(a)
        twice(a)
        twice._dispatch.learn_anew()
    (one,) = parts(twice.explain(a))
    assert one.calls == 100


SCALE = 1.0


def test_code_for_other_values_of_globals_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    @lw.kernel
    def scaled(a):
        for i in range(len(a)):
            a[i] = a[i] * SCALE

    a = np.ones(10)
    monkeypatch.setattr(code_table, "MOST_VALUES", 2)
    with lw.options(recipe="plain"):
        for number in range(4):
            monkeypatch.setitem(globals(), "SCALE", float(number))
            scaled(a)
            scaled(a)
        explanation = scaled.explain(a)
    ran = explanation.ran
    assert ran is not None and ran.calls == 8 and sum(one.calls for one in ran.parts if not one.kept) == 4
    assert "by code for other values from outside the function" in str(explanation)


def test_other_kinds_of_calls_are_counted_apart(twice: lw.LoopKernel) -> None:
    for _ in range(3):
        twice(np.zeros(10))
    for _ in range(4):
        twice(np.zeros(10, np.float32))
    assert [one.calls for one in parts(twice.explain(np.zeros(10)))] == [3]
    assert [one.calls for one in parts(twice.explain(np.zeros(10, np.float32)))] == [4]
    assert [one.ran.calls for one in twice.explanations() if one.ran] == [3, 4]


def test_no_call_means_none_in_this_process(twice: lw.LoopKernel) -> None:
    assert "ran           not yet, in this process" in str(twice.explain(np.zeros(4)))


@pytest.mark.parametrize("launcher", ["extension", "ctypes"])
def test_calls_from_several_threads_all_count(
    twice: lw.LoopKernel, launcher: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from loopwright.devices import by_ctypes
    from loopwright.devices import launcher as launchers

    if launcher == "ctypes":
        monkeypatch.setattr(launchers, "_loaded", launchers.Loaded(by_ctypes, "ctypes", "a test"))  # type: ignore[arg-type]
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(lambda: [twice(np.zeros(64)) for _ in range(50)]) for _ in range(4)]:
            done.result()
    (one,) = parts(twice.explain(np.zeros(64)))
    assert one.calls == 200


def test_calls_that_end_with_an_error_count() -> None:
    @lw.kernel
    def picked(a, index):
        for i in range(len(index)):
            a[index[i]] = 1.0

    a, good, bad = np.zeros(4), np.array([0, 1]), np.array([0, 9])
    for device, calls in (("cpu", 2), ("interpreter", 4)):
        with lw.options(device=device):
            picked(a, good)
            with pytest.raises(lw.BoundsError):
                picked(a, bad)
            assert sum(one.calls for one in parts(picked.explain(a, good))) == calls


def test_calls_with_lists_and_random_numbers_are_those_of_their_kernel() -> None:
    @lw.kernel
    def total(arrays):
        s = 0.0
        for i in range(len(arrays[0])):
            s += arrays[0][i] + arrays[1][i]
        return s

    @lw.kernel
    def noise(a):
        for i in range(len(a)):
            a[i] = np.random.random()

    pair = (np.ones(3), np.ones(3))
    total(pair), total(pair), noise(np.ones(3)), noise(np.ones(3)), noise(np.ones(3))
    assert [one.ran.calls for one in total.explanations() if one.ran] == [2]
    assert [one.ran.calls for one in noise.explanations() if one.ran] == [3]
    assert parts(total.explain(pair))[0].calls == 2 and parts(noise.explain(np.ones(3)))[0].calls == 3


# ---- by which code ------------------------------------------------------------------------------------------------


def test_threads_are_those_of_the_call_that_is_asked_about(twice: lw.LoopKernel) -> None:
    a = np.zeros(100)
    with lw.options(threads=1):
        twice(a)
        assert twice.explain(a).served_by.threads == 1
        assert how(twice.explain(a))["for i in range(len(a)):"].startswith("on 1 thread")
    for _ in range(3):
        explanation = twice.explain(a)
        assert explanation.served_by.threads == 2
        assert how(explanation)["for i in range(len(a)):"].startswith("on up to 2 threads")
        twice(a)
    assert [(one.threads, one.calls) for one in parts(explanation)] == [(2, 2), (1, 1)]
    with lw.options(threads=1):
        twice(a)
    assert [one.threads for one in parts(twice.explain(a))] == [1, 2]  # the last one first


def test_options_that_other_calls_were_made_under_are_named(twice: lw.LoopKernel) -> None:
    a = np.zeros(100)
    twice(a)
    with lw.options(strict=True):
        twice(a)
    assert [one.options for one in parts(twice.explain(a))] == ["strict=True", ""]
    with lw.options(strict=True):
        assert [one.options for one in parts(twice.explain(a))] == ["", "strict=False"]


def test_a_schedule_of_the_options(twice: lw.LoopKernel) -> None:
    a = np.zeros(100)
    twice(a)
    with lw.options(schedule="split i 32"):
        twice(a)
        explanation = twice.explain(a)
    assert [one.variant for one in parts(explanation)] == ["", "cpu 2: recipe"]
    assert all(text.startswith("restructured, as the schedule says: in order") for text in how(explanation).values())
    assert [one.variant for one in parts(twice.explain(a))] == ["cpu 2: split i 32", ""]


def test_a_call_whose_sizes_fail_the_condition(shift: lw.LoopKernel) -> None:
    a, b = np.zeros(100), np.zeros(100)
    shift(a, b, 50, 1.0)
    shift(a, b, 100, 0.0)  # a[100] is behind its end, but the last one is not read
    with pytest.raises(lw.BoundsError):
        shift(a, b, 100, 1.0)

    good, failing = shift.explain(a, b, 50, 1.0), shift.explain(a, b, 100, 0.0)
    assert [(one.calls, one.checked) for one in parts(good)] == [(2, True), (1, False)]
    assert "2 calls on the cpu, 1 thread, every access checked" in str(good) and good.notes == ()
    assert good.guard and how(good)["for i in range(n):"].startswith("on up to 2 threads")

    (note,) = failing.notes
    assert note.startswith("the sizes of this call fail the condition len(a) >= n + 1")
    assert failing.served_by.checked and not failing.guard and "plan" in str(failing)
    assert failing.plan.endswith("all on cpu 1: plain")
    assert {access.bounds for array in failing.arrays for access in array.accesses} == {"checked"}
    assert how(failing)["for i in range(n):"].startswith("in order, as every access is checked")
    (loop,) = failing.loops
    assert loop.reason.endswith("where len(a) >= n + 1 and len(b) >= n")

    told = {one.served_by.checked: one for one in shift.explanations()}
    assert [part.calls for part in parts(told[False])] == [1] and [part.calls for part in parts(told[True])] == [2]
    assert "this code runs the calls whose sizes fail the condition" in told[True].notes[0]


def test_a_large_call_whose_sizes_fail_the_condition(shift: lw.LoopKernel) -> None:
    """It gets code of its own, which relies on no condition, and is as parallel as any other."""
    a, b = np.zeros(5000), np.ones(5000)
    a[-1] = 2.0
    shift(a, b, 5000, 1.0)
    assert b[:-1].sum() == 2.0 and b[-1] == 1.0
    a[-1] = 0.0
    with pytest.raises(lw.BoundsError):
        shift(a, b, 5000, 1.0)

    failing = shift.explain(a, b, 5000, 0.0)
    (note,) = failing.notes
    assert note.startswith("the sizes of this call fail the condition len(a) >= n + 1")
    assert note.endswith("other code runs it, which relies on none")
    assert not failing.served_by.checked and failing.plan.endswith("all on cpu 2: recipe")
    assert {access.bounds for array in failing.arrays for access in array.accesses} == {"checked"}
    assert how(failing)["for i in range(n):"].startswith("on up to 2 threads")

    shift(a, b, 50, 1.0)
    good = shift.explain(a, b, 50, 1.0)
    assert [(one.calls, one.options, one.checked) for one in parts(good)] == [
        (1, "", False),
        (2, "no condition on the sizes", False),
    ]
    told = [one for one in shift.explanations() if one.notes]
    assert [one.notes[0] for one in told] == [
        "this code runs calls whose sizes fail the condition that other code relies on"
    ]


def test_ranges_that_no_code_keeps_to(shift: lw.LoopKernel) -> None:
    """Where sizes fail what even that code relies on, every access is tested."""

    @lw.kernel
    def stretched(a, n, m):
        for i in range(n):
            a[i * m] = a[i * m] + 1.0

    a = np.zeros(5000)
    stretched(a, 1, 1 << 60)
    assert a[0] == 1.0 and a.sum() == 1.0


def test_a_call_that_would_raise_before_it_runs() -> None:
    @lw.kernel
    def moved(a, b, n):
        for i in range(n):
            b[i] = a[i + 1]

    a = np.zeros(10)
    (note,) = moved.explain(a, np.zeros(10), 10).notes
    assert "it would raise" in note and "out of bounds" in note
    with pytest.raises(lw.BoundsError):
        moved(a, np.zeros(10), 10)
    assert moved.explain(a, np.zeros(10), 9).ran is None  # it did not run


def test_checks_that_were_asked_for(shift: lw.LoopKernel) -> None:
    with lw.options(checks="all"):
        explanation = shift.explain(np.zeros(9), np.zeros(9), 5, 1.0)
    assert explanation.served_by.checked and "3 of 3 accesses checked" in str(explanation)
    assert "each call is tested once" not in str(explanation)


# ---- in which order -----------------------------------------------------------------------------------------------


def test_a_loop_that_shares_threads_with_the_one_around_it_does_not_run_in_order() -> None:
    @lw.kernel
    def windows(image, out):
        for i in range(2, image.shape[0] - 2):
            for j in range(2, image.shape[1] - 2):
                s = 0.0
                for y in range(-2, 3):
                    for x in range(-2, 3):
                        s += image[i + y, j + x] * image[i, j]
                out[i, j] = s

    with lw.options(recipe="plain"):
        explanation = windows.explain(np.zeros((40, 50)), np.zeros((40, 50)))
    told = list(how(explanation).values())
    assert told[0].startswith("on up to 2 threads") and told[1].startswith("on the same threads: ")
    assert {loop.source_name: loop.ways for loop in explanation.loops}["j"] == ("collapsed",)
    assert all(" in each thread" in text for text in told[2:])


def test_loops_that_a_schedule_made_others_of_say_how_those_run() -> None:
    """In blocks, whose loops have other names and another order."""

    @lw.kernel
    def product(c, a, b):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]

    explanation = product.explain(np.zeros((64, 64)), np.ones((64, 64)), np.ones((64, 64)))
    parallel = [steps.split()[1] for steps in explanation.schedule.split("; ") if steps.startswith("parallelize ")]
    shared = {name.split(".")[0] for name in parallel if not name.endswith(".p")}  # others copy what threads read
    told = {loop.name: text for loop, text in zip(explanation.loops, how(explanation).values(), strict=True)}
    assert shared and shared < told.keys()
    for name, text in told.items():
        assert text.startswith("restructured, as the schedule says: ")
        assert ("on up to 2 threads" in text) == (name in shared)
    assert explanation.generated is not None and explanation.generated.ways is not None
    ways = dict(explanation.generated.ways)
    assert {name for name, found in ways.items() if "threads" in found} == set(parallel)
    assert any("inside" in found for found in ways.values())


def test_a_loop_in_a_thread_says_so_and_a_serial_one_does_not() -> None:
    @lw.kernel
    def steps(a, n):
        for _ in range(n):
            for i in range(a.shape[0]):
                for j in range(1, a.shape[1]):
                    a[i, j] = a[i, j] + a[i, j - 1]

    with lw.options(recipe="plain"):
        told = how(steps.explain(np.zeros((40, 50)), 3))
    assert told["for _ in range(n):"].startswith("in order, n iterations")
    assert told["for i in range(a.shape[0]):"].startswith("on up to 2 threads")
    assert told["for j in range(1, a.shape[1]):"].startswith("in order in each thread")


def test_without_a_compiler_nothing_is_promised_to_run_in_parallel(twice: lw.LoopKernel, tmp_path: Path) -> None:
    a = np.ones(3)
    with lw.options(compiler="no-such-compiler", cache=tmp_path):
        before = twice.explain(a)
        with pytest.warns(lw.LoopwrightWarning):
            twice(a)
        after = twice.explain(a)
    for explanation in (before, after):
        assert explanation.served_by.device == "interpreter" and explanation.generated is None
        assert how(explanation)["for i in range(len(a)):"].startswith("in order, in the interpreter")
    assert parts(after)[0].device == "interpreter" and a.tolist() == [2.0] * 3


def test_code_that_runs_is_not_told_of_as_the_interpreter(twice: lw.LoopKernel) -> None:
    a = np.ones(3)
    with lw.options(device="interpreter"):
        twice(a)
    explanation = twice.explain(a)
    assert explanation.served_by.device == "cpu" and how(explanation)["for i in range(len(a)):"].startswith("on up to")
    assert parts(explanation)[0].device == "interpreter"


def _in_child(kernel: lw.LoopKernel, a: np.ndarray, answers: object) -> None:
    kernel(a)
    explanation = kernel.explain(a)
    answers.put((explanation.served_by.threads, explanation.notes, explanation.ran.calls))  # type: ignore[attr-defined, union-attr]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_has_one_thread_and_calls_of_its_own(twice: lw.LoopKernel) -> None:
    a = np.zeros(100_000)
    twice(a)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(twice, a, answers))
    child.start()
    threads, notes, calls = answers.get(timeout=60)
    child.join()
    assert threads == 1 and "forked" in notes[0] and calls == 2
    assert parts(twice.explain(a))[0].calls == 1


# ---- on a GPU -----------------------------------------------------------------------------------------------------


def test_calls_on_a_gpu(twice: lw.LoopKernel) -> None:
    with lw.options(device="emulated"):
        there = lw.device_array(np.ones(64))
        for _ in range(5):  # repeated at little cost from the second one on
            twice(there)
        explanation = twice.explain(there)
        host = np.ones(64)
        twice(host)
    (one,) = parts(explanation)
    assert (one.calls, one.early, one.threads, one.device) == (5, 5, 0, "emulated GPU")
    assert "5 calls on the emulated GPU, which return before the GPU has run them" in str(explanation)
    assert how(explanation)["for i in range(len(a)):"].startswith(("each iteration in a block", "shared out"))
    twice(host)
    told = [(one.device, one.calls, one.early) for one in parts(twice.explain(host))]
    assert told == [("cpu", 1, 0), ("emulated GPU", 6, 5)]
    assert "5 of which return before the GPU has run them" in str(twice.explain(host))


def test_a_call_on_a_gpu_that_ends_with_an_error_counts() -> None:
    @lw.kernel
    def picked(a, index):
        for i in range(len(index)):
            a[index[i]] = 1.0

    with lw.options(device="emulated"):
        a, good, bad = (
            lw.device_array(np.zeros(4)),
            lw.device_array(np.array([0, 1])),
            lw.device_array(np.array([0, 9])),
        )
        for index in (good, good, bad, bad):
            if index is bad:
                with pytest.raises(lw.BoundsError):
                    picked(a, index)
            else:
                picked(a, index)
        assert sum(one.calls for one in parts(picked.explain(a, good))) == 4
