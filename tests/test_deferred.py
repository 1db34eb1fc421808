"""Modules that are loaded when something of them is asked for: once, whole, and with a word where their text is new."""

from __future__ import annotations

import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest

import loopwright as lw
from loopwright import errors, revision
from loopwright.deferred import deferred

NAME = "loaded_late"


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A module that notes how often it is loaded, and what stands for it."""
    (tmp_path / f"{NAME}.py").write_text(
        "import sys, time\nsys.times_loaded = getattr(sys, 'times_loaded', 0) + 1\ntime.sleep(0.01)\nx = 1\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "times_loaded", 0, raising=False)
    monkeypatch.setattr(errors, "_WARNED", set())
    yield deferred(NAME)
    sys.modules.pop(NAME, None)


def test_it_is_loaded_when_something_is_asked_for_and_only_once(late):
    assert NAME not in sys.modules and "deferred" in repr(late)
    assert (late.x, late.x, sys.times_loaded) == (1, 1, 1)  # type: ignore[attr-defined]
    assert NAME in sys.modules and "loaded" in repr(late)


def test_what_is_replaced_in_the_module_is_replaced_here(late, monkeypatch):
    assert late.x == 1
    monkeypatch.setattr(sys.modules[NAME], "x", 2)
    assert late.x == 2


def test_looking_at_it_does_not_load_it(late):
    assert not hasattr(late, "__wrapped__") and not callable(late) and NAME not in sys.modules


def test_what_is_not_there_is_said(late):
    with pytest.raises(AttributeError, match="'y'"):
        _ = late.y
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        _ = deferred("loopwright.nowhere").x
    with pytest.raises(AttributeError, match="'loopwright' has no attribute 'nowhere'"):
        _ = lw.nowhere


def test_threads_at_once_load_it_once(late):
    seen: list[int] = []
    threads = [threading.Thread(target=lambda: seen.append(late.x)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (seen, sys.times_loaded) == ([1] * 8, 1)  # type: ignore[attr-defined]


def test_files_that_changed_meanwhile_are_told_once_and_nothing_is_remembered_of_them(late, monkeypatch):
    assert revision.revision()
    monkeypatch.setattr(revision, "_files_now", lambda: "edited")
    try:
        with pytest.warns(lw.LoopwrightWarning, match="start Python again"):
            assert late.x == 1
        assert revision.revision() == ""
    finally:
        monkeypatch.undo()
        revision.revision.cache_clear()


def test_files_are_looked_at_once_for_what_is_there_already(late, monkeypatch):
    looked: list[str] = []
    monkeypatch.setattr("loopwright.deferred.loaded_more", lambda: looked.append("") is None)
    assert (late.x, deferred(NAME).x, deferred("loopwright.kernel").LoopKernel) == (1, 1, lw.LoopKernel)
    assert len(looked) == 1


def test_every_public_name_is_there_and_listed():
    assert set(lw.__all__) <= set(dir(lw))
    values = {name: getattr(lw, name) for name in lw.__all__}
    assert [name for name, value in values.items() if isinstance(value, types.ModuleType)] == ["random"]
    code = "from loopwright import *; print(Tuned.__name__, Explanation.__name__, tunable.__name__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.stdout.split() == ["Tuned", "Explanation", "tunable"], ran.stderr
