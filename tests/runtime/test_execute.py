"""What a plan says is what happens: on a CPU, in the interpreter, on an emulated GPU, and where that cannot run it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from devices.handmade import ADD, Handmade, config_in, executable
from loopwright.config import Config, options
from loopwright.ir.plan import Plan, whole
from loopwright.ir.signature import Signature
from loopwright.ir.variant import Variant, compilation_of
from loopwright.memory.on_device import on_device
from loopwright.runtime.code_table import CodeTable
from loopwright.runtime.considered import Kind
from loopwright.runtime.execute import Executor, Serving
from loopwright.runtime.locks import Locks


@lw.kernel
def shifted(a, b):
    for i in range(1, a.shape[0]):
        b[i] = a[i - 1] + 1.0


def plan_of(*arrays: object) -> str:
    """Its shares: all of these calls may read and write the same arrays."""
    found = shifted.explain(*arrays).plan
    assert str(Plan.parse(found)) == found
    first, _, shares = found.partition("\n")
    assert first == "may read a, b; may write b"
    return shares


def test_one_device_is_a_plan_of_one_share() -> None:
    with lw.options(device="cpu", threads=2):
        assert plan_of(np.ones(9), np.ones(9)) == "all on cpu 2: recipe"
    with lw.options(variant="cpu 1: plain"):
        assert plan_of(np.ones(9), np.ones(9)) == "all on cpu 1: plain"
    with lw.options(device="interpreter"):
        assert plan_of(np.ones(9), np.ones(9)) == "all on interpreter: plain"


def test_a_gpu_is_sent_what_is_needed_and_sends_back_what_is_written() -> None:
    with lw.options(device="emulated"):
        assert plan_of(np.ones(9), np.ones(9)) == "all on emulated: recipe\n  in a[0:8]\n  out b[1:9]"
        there = lw.device_array(np.ones(9))
        assert plan_of(there, np.ones(9)) == "all on emulated: recipe\n  out b[1:9]"


def test_what_no_gpu_can_run_says_who_runs_it() -> None:
    shared = np.ones(10)
    with lw.options(device="emulated", threads=2):
        assert plan_of(shared[1:], shared[:-1]) == "all on cpu 2: recipe"


def test_arrays_on_a_gpu_move_to_the_cpu_that_runs_it() -> None:
    with lw.options(device="emulated", checks="all", threads=2):
        a, b = lw.device_array(np.ones(9)), lw.device_array(np.zeros(9))
        assert plan_of(a, b) == "all on cpu 1: plain\n  in a[0:9]\n  in b[0:9]\n  out b[0:9]"
        shifted(a, b)
        assert b.numpy().tolist() == [0] + [2] * 8
        assert plan_of(a, b) == "all on cpu 1: plain\n  in b[0:9]\n  out b[0:9]"  # `a` was not written since


def test_arrays_on_a_gpu_come_after_those_of_the_host() -> None:
    """Also where every access is tested, so that the CPU runs it: what serves the first call is not for the second."""
    kernel = lw.kernel(device="emulated", checks="all")(shifted.__wrapped__)  # type: ignore[attr-defined]
    with options(device="emulated"):
        for places in ("hh", "hd", "dh", "dd", "hh"):
            a, b = np.arange(5.0), np.zeros(5)
            given = [lw.device_array(one) if place == "d" else one for one, place in zip((a, b), places, strict=True)]
            kernel(*given)
            assert np.asarray(given[1]).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_arrays_that_share_memory_on_a_gpu_share_it_on_the_cpu_that_runs_it() -> None:
    with lw.options(device="emulated", checks="all"):
        array = lw.device_array(np.zeros(9))
        shifted(array, array)
        assert array.numpy().tolist() == list(range(9))
        start = array.argument().ctypes.data
        array.copy_from(np.zeros(9))
        first, last = (on_device(start + k * 8, (8,), array.dtype, None, "emulated", array) for k in (0, 1))
        shifted(first, last)
        assert array.numpy().tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return config_in(tmp_path)


def test_an_entry_is_kept_for_each_kind_of_call_and_number_of_threads(config: Config) -> None:
    locks = Locks()
    codes = CodeTable(lambda wanted: Handmade(executable(ADD, wanted.tools)), locks)  # type: ignore[arg-type, return-value]
    executor = Executor(codes, locks, ("a", "n"), {0})
    code = codes.code(compilation_of(Signature(()), config))

    def serving(threads: int, **changes: object) -> Serving:
        with options(**changes) as now:
            return Serving(Kind(Signature(()), now), None, whole(Variant("cpu", threads=threads)), code)

    first = executor.entry(serving(2))
    assert executor.entry(serving(2)) is first
    others = [executor.entry(one) for one in (serving(3), serving(2, store="off"))]
    assert first not in others and [one.threads for one in others] == [3, 2]
    assert executor.entry(serving(2), "all") is not first
    executor.drop(serving(2), first)
    assert executor.entry(serving(2)) is not first and executor.entry(serving(3)) is others[0]
    executor.forget()
    assert not code.entries
