"""What threads that call at the same time make: each code once, and different ones side by side."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from devices.handmade import ADD, Handmade, config_in, executable
from loopwright.config import CURRENT, Config
from loopwright.ir.variant import Compilation
from loopwright.runtime.dispatch import Dispatch

WAIT_S = 20.0


class Blocking:
    """A `compile` that says when it has begun, and goes on when it is let."""

    def __init__(self) -> None:
        self.begun: threading.Semaphore = threading.Semaphore(0)
        self.go = threading.Event()
        self.asked: list[Compilation] = []
        self.fails: list[BaseException] = []

    def __call__(self, wanted: Compilation) -> Handmade:
        self.asked.append(wanted)
        self.begun.release()
        assert self.go.wait(WAIT_S)
        if self.fails:
            raise self.fails.pop()
        return Handmade(executable(ADD, wanted.tools))  # type: ignore[arg-type]


class Calls:
    """One kernel, called in threads."""

    def __init__(self, config: Config) -> None:
        self.compile = Blocking()
        self.dispatch = Dispatch("add", ("a", "n"), {}, {"a"}, self.compile)
        self._config = config
        self._pool = ThreadPoolExecutor(8)

    def begin(self, array: np.ndarray, work: Callable[..., object] | None = None) -> Future[object]:
        def call() -> object:
            CURRENT.set(self._config)
            return (work or self.dispatch.call)(array, 1)

        return self._pool.submit(call)

    def end(self) -> None:
        self.compile.go.set()
        self._pool.shutdown()


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    found = Calls(config_in(tmp_path))
    yield found
    found.end()


def begun(calls: Calls) -> None:
    assert calls.compile.begun.acquire(timeout=WAIT_S)


def test_two_kinds_of_call_compile_at_the_same_time(calls: Calls) -> None:
    arrays = np.zeros(3), np.zeros(6)[::2]
    made = [calls.begin(arrays[0]), calls.begin(arrays[1])]
    begun(calls)
    begun(calls)  # the second, while the first has not ended
    calls.compile.go.set()
    assert [one.result(WAIT_S) for one in made] == [None, None]
    assert len(calls.compile.asked) == 2 and arrays[0].tolist() == arrays[1].tolist() == [1, 1, 1]


def test_one_kind_of_call_compiles_once_and_others_wait_for_it(calls: Calls) -> None:
    arrays = [np.zeros(3) for _ in range(4)]
    made = [calls.begin(one) for one in arrays]
    begun(calls)
    assert not calls.compile.begun.acquire(timeout=0.3) and not any(one.done() for one in made)
    calls.compile.go.set()
    for one in made:
        one.result(WAIT_S)
    assert len(calls.compile.asked) == 1 and all(one.tolist() == [1, 1, 1] for one in arrays)


def test_what_is_compiled_runs_while_another_kind_compiles(calls: Calls) -> None:
    known = np.zeros(3)
    calls.compile.go.set()
    calls.begin(known).result(WAIT_S)
    begun(calls)
    calls.compile.go.clear()
    made = calls.begin(np.zeros(6)[::2])
    begun(calls)
    calls.begin(known).result(WAIT_S)
    calls.begin(known, lambda array, n: calls.dispatch._slow((array, n), None)).result(WAIT_S)  # the long way, too
    calls.begin(known, lambda *_: (calls.dispatch.runs(), calls.dispatch.learn_anew())).result(WAIT_S)
    assert known.tolist() == [3, 3, 3] and not made.done()


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), MemoryError("as the test wants")])
def test_who_fails_leaves_the_others_to_try(calls: Calls, fault: BaseException) -> None:
    calls.compile.fails.append(fault)
    arrays = [np.zeros(3) for _ in range(3)]
    made = [calls.begin(one) for one in arrays]
    begun(calls)
    calls.compile.go.set()
    raised = [one.exception(WAIT_S) for one in made]
    assert [one for one in raised if one is not None] == [fault]
    assert sorted(one.tolist() for one in arrays) == [[0, 0, 0], [1, 1, 1], [1, 1, 1]]
    assert len(calls.compile.asked) == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_compiles_compiles_itself(calls: Calls) -> None:
    calls.begin(np.zeros(3))
    begun(calls)
    if not (child := os.fork()):
        try:
            signal.alarm(int(WAIT_S))  # which kills it where it waits for ever
            calls.compile.go.set()
            calls.dispatch.codes.code(calls.compile.asked[0])
            os._exit(0 if len(calls.compile.asked) == 2 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
