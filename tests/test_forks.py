"""What other threads hold when a process is forked keeps no child waiting."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from loopwright import config
from loopwright.analysis import effort
from loopwright.devices import emulated, launcher
from loopwright.forks import NO_FORK, free_in_child
from loopwright.memory import in_pieces
from loopwright.toolchain import limit, store

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")


def forked(question: Callable[[], bool]) -> bool:
    """What a child says."""
    child = os.fork()
    if not child:
        answer = 1
        try:
            answer = 0 if question() else 1
        finally:
            os._exit(answer)
    return os.waitpid(child, 0)[1] == 0


def held_by_another(locks: list[Any], work: Callable[[], bool]) -> bool:
    """The result of `work` while another thread holds these locks."""
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        for lock in locks:
            lock.acquire()
        inside.set()
        leave.wait()
        for lock in locks:
            lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    try:
        return work()
    finally:
        leave.set()
        thread.join()


def test_a_lock_that_another_thread_held_is_free_in_a_child() -> None:
    locks = [free_in_child(threading.Lock()), free_in_child(threading.RLock())]
    assert held_by_another(locks, lambda: forked(lambda: all(lock.acquire(timeout=5) for lock in locks)))
    assert not forked(lambda: any(lock._is_owned() for lock in locks[1:])), "the parent's is as before"


def test_a_lock_of_the_thread_that_forks_stays_its_own() -> None:
    lock = free_in_child(threading.RLock())
    with lock:
        assert forked(lambda: lock._is_owned())


def test_the_locks_of_first_calls_are_free_in_a_child() -> None:
    locks = [
        effort.LOCK, launcher._loading, config._CHANGING, store._guard, limit._adding, emulated._one_launch,
        in_pieces.IN_USE,
    ]  # fmt: skip
    assert held_by_another(locks, lambda: forked(lambda: all(lock.acquire(timeout=5) for lock in locks)))


def test_a_fork_waits_while_a_module_is_loaded_or_a_compiler_started() -> None:
    begun, ended = threading.Event(), []

    def load() -> None:
        with NO_FORK:
            begun.set()
            time.sleep(0.1)
            ended.append(True)

    thread = threading.Thread(target=load)
    thread.start()
    begun.wait()
    assert forked(lambda: bool(ended) and NO_FORK.acquire(timeout=5))
    thread.join()
    assert NO_FORK.acquire(timeout=5)
    NO_FORK.release()
