"""Python looks for no garbage while the passes run, and does as before when they have ended."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import loopwright as lw
from loopwright import compiler
from loopwright.garbage import no_collections


@pytest.fixture(autouse=True)
def enabled() -> Iterator[None]:
    gc.enable()
    yield
    gc.enable()


def test_no_garbage_is_looked_for_in_a_block() -> None:
    with no_collections():
        assert not gc.isenabled()
        with no_collections():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_where_python_does_not_look_it_does_not_afterwards() -> None:
    gc.disable()
    with no_collections():
        pass
    assert not gc.isenabled()


def test_after_an_error_it_looks_again() -> None:
    with pytest.raises(ValueError), no_collections():
        raise ValueError
    assert gc.isenabled()


def test_blocks_of_several_threads_end_in_any_order() -> None:
    begun, end = threading.Event(), threading.Event()

    def other() -> None:
        with no_collections():
            begun.set()
            end.wait()

    thread = threading.Thread(target=other)
    with no_collections():
        thread.start()
        begun.wait()
    assert not gc.isenabled()
    end.set()
    thread.join()
    assert gc.isenabled()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_looks_again() -> None:
    with no_collections():
        child = os.fork()
        if not child:
            os._exit(0 if gc.isenabled() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert gc.isenabled()


def test_the_passes_of_a_first_call_are_such_a_block(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[bool] = []
    for name in ("lower", "analyse", "recipe", "generate"):
        real = getattr(compiler, name)

        def asked(*arguments, real=real, **named):
            seen.append(gc.isenabled())
            return real(*arguments, **named)

        monkeypatch.setattr(compiler, name, asked)

    def doubled(a):
        for i in range(len(a)):
            a[i] = 2.0 * a[i]

    a = np.ones(3)
    with lw.options(dump=tmp_path):  # nothing is taken from the cache
        lw.kernel(doubled)(a)
    assert seen == [False] * 4 and gc.isenabled() and a.tolist() == [2.0, 2.0, 2.0]
