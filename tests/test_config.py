"""Options: what the environment says, what a `with` block changes, and what no option can be."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright.config import (
    CURRENT,
    DEBUG_TOPICS,
    PROCESS,
    Config,
    available_cores,
    current,
    from_environment,
    options,
    parse_size,
    set_options,
)

# ---- the environment ----------------------------------------------------------------------------------------------


def test_nothing_said_is_the_default() -> None:
    found = from_environment({"XDG_CACHE_HOME": "/x"})
    assert found == Config(threads=available_cores(), cache=Path("/x/loopwright"))
    assert found.store_path == Path("/x/loopwright/profile.sqlite3")


def test_the_cache_of_the_platform() -> None:
    home = Path.home() / ".cache" / "loopwright"
    assert from_environment({}).cache == from_environment({"XDG_CACHE_HOME": ""}).cache == home
    assert from_environment({"XDG_CACHE_HOME": "/x", "LOOPWRIGHT_CACHE": "/y"}).cache == Path("/y")


@pytest.mark.parametrize("name", ["STRICT", "DETERMINISTIC", "EXPLORE"])
def test_yes_and_no(name: str) -> None:
    for text in ("1", "true", "Yes", "ON", " on "):
        assert getattr(from_environment({f"LOOPWRIGHT_{name}": text}), name.lower()) is True
    for text in ("0", "false", "no", "off", "2", ""):
        assert getattr(from_environment({f"LOOPWRIGHT_{name}": text}), name.lower()) is False


def test_lists_of_words() -> None:
    found = from_environment({"LOOPWRIGHT_CFLAGS": " -g  -O1 ", "LOOPWRIGHT_DEBUG": "times|source,,passes"})
    assert found.compiler_flags == ("-g", "-O1") and found.debug == {"times", "source", "passes"}


@pytest.mark.parametrize(("text", "built"), [("", None), ("off", "off"), ("/x/y", Path("/x/y"))])
def test_where_code_was_built(text: str, built: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("__main__.__file__", "/nowhere/s.py", raising=False)
    found = from_environment({"LOOPWRIGHT_BUILT": text})
    assert found.built == found.tools.built == built
    assert found.built_folder == (built if isinstance(built, Path) else None)


@pytest.mark.parametrize(("text", "store"), [("", None), ("off", "off"), ("OFF", "off"), ("/x/y", Path("/x/y"))])
def test_where_measurements_are_kept(text: str, store: object) -> None:
    found = from_environment({"LOOPWRIGHT_STORE": text, "LOOPWRIGHT_CACHE": "/c"})
    assert found.store == store
    kept = {None: Path("/c/profile.sqlite3"), "off": None}
    assert found.store_path == kept.get(store, store)  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("variable", "text", "told"),
    [
        ("THREADS", "two", "LOOPWRIGHT_THREADS is 'two': a whole number is wanted"),
        ("THREADS", "1.5", "LOOPWRIGHT_THREADS is '1.5': a whole number is wanted"),
        ("THREADS", "0", "option threads=0: a whole number of at least 1 is wanted"),
        (
            "DEVICE",
            "gpu",
            "option device='gpu': choose one of auto, cpu, cuda, emulated, interpreter, or a GPU by its number such as "
            "'cuda:1'",
        ),
        ("CHECKS", "none", "option checks='none': choose one of auto, all"),
        ("NARROWING", "no", "option narrowing='no': choose one of auto, wrap, raise"),
        ("RECIPE", "fast", "option recipe='fast': choose one of auto, plain"),
        ("COMPILE_TIMEOUT", "soon", "LOOPWRIGHT_COMPILE_TIMEOUT is 'soon': a number of seconds is wanted"),
        ("COMPILE_TIMEOUT", "0", "option compile_timeout_s=0.0: a number above 0 is wanted"),
        ("COMPILE_TIMEOUT", "nan", "option compile_timeout_s=nan: a number above 0 is wanted"),
        ("DEBUG", "time,x", f"option debug (LOOPWRIGHT_DEBUG) has time, x: choose of {', '.join(DEBUG_TOPICS)}"),
    ],
)
def test_a_variable_that_cannot_be_so(variable: str, text: str, told: str) -> None:
    with pytest.raises(ValueError) as caught:
        from_environment({f"LOOPWRIGHT_{variable}": text})
    assert str(caught.value) == told


# ---- a `with` block -----------------------------------------------------------------------------------------------


def test_options_end_with_their_block_whatever_ends_it() -> None:
    before = current()
    with options(threads=before.threads + 1, strict=True) as outer:
        assert current() is outer and outer.threads == before.threads + 1
        with pytest.raises(LookupError), options(strict=False) as inner:
            assert (inner.threads, inner.strict) == (outer.threads, False)
            raise LookupError
        assert current() is outer
    assert current() is before


def test_an_unknown_option_is_told_with_the_known_ones() -> None:
    with pytest.raises(TypeError, match=r"no option 'thread': there are built, cache, cache_size, .*, threads, "):
        options(thread=2).__enter__()


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("threads", True, "option threads=True: a whole number of at least 1 is wanted"),
        ("threads", 2.0, "option threads=2.0: a whole number of at least 1 is wanted"),
        ("strict", 1, "option strict=1: True or False is wanted"),
        ("deterministic", "yes", "option deterministic='yes': True or False is wanted"),
        ("explore", None, "option explore=None: True or False is wanted"),
        ("remap", True, "option remap=True: 'auto', 'off' or steps such as 'redirect i' are wanted"),
        ("remap", "on", "option remap='on': 'auto', 'off' or steps such as 'redirect i' are wanted"),
        ("remap", "redirect i; split i 4", "option remap='redirect i; split i 4': 'auto', 'off' or steps"),
        ("layout", "soa", "option layout='soa': 'auto', 'off' or steps such as 'relayout p in t soa' are wanted"),
        ("layout", "relayout p", "option layout='relayout p': 'auto', 'off' or steps"),
        ("device", None, "option device=None: choose one of"),
        ("devices", "cpu, gpu", "option devices='cpu, gpu': names such as 'cpu, cuda:0, cuda:1' are wanted"),
        ("devices", "auto", "option devices='auto': names such as"),
        ("plan", "halves", "option plan='halves': one of auto, single, split, race, or the text of a plan"),
        (
            "watts",
            "cpu",
            "option watts='cpu': texts such as 'cpu 150/60, cuda:0 700/100', at work and idle",
        ),
        ("watts", "cpu 1/2", "option watts='cpu 1/2': texts such as"),
        ("goal", "less", "option goal='less': 'time', 'energy', 'edp' or 'time within 10% energy' is wanted"),
        ("store", "on", "option store='on': a path, 'off' or None is wanted"),
        ("cache", None, "option cache=None: a path is wanted"),
        ("cache", "", "option cache='': a path is wanted"),
        ("dump", "", "option dump='': a path or None is wanted"),
        ("compiler_flags", 3, "option compiler_flags=3: flags with blanks between them"),
        ("schedule", ["tile i 3"], "option schedule=['tile i 3']: steps as text are wanted"),
        ("compile_timeout_s", "long", "option compile_timeout_s='long': a number above 0 is wanted"),
        ("compile_timeout_s", -1, "option compile_timeout_s=-1.0: a number above 0 is wanted"),
        ("debug", frozenset({"x"}), "option debug (LOOPWRIGHT_DEBUG) has x: choose of"),
    ],
)
def test_a_value_that_an_option_cannot_have(option: str, value: Any, told: str) -> None:
    before = current()
    with pytest.raises(ValueError) as caught, options(**{option: value}):
        pass
    assert str(caught.value).startswith(told) and current() is before


@pytest.mark.parametrize(
    ("option", "written", "meant"),
    [
        ("cache", "some/folder", Path("some/folder")),
        ("dump", "some/folder", Path("some/folder")),
        ("store", "some/file", Path("some/file")),
        ("compiler_flags", "-O2 -g", ("-O2", "-g")),
        ("compiler_flags", ["-O2", "-g"], ("-O2", "-g")),
        ("cache", "~/some/folder", Path.home() / "some/folder"),
        ("debug", "times passes", frozenset({"times", "passes"})),
        ("debug", "times,passes|source", frozenset({"times", "passes", "source"})),
        ("threads", np.int32(2), 2),
    ],
)
def test_values_as_people_write_them(option: str, written: Any, meant: Any) -> None:
    with options(**{option: written}) as config:
        assert getattr(config, option) == meant and type(getattr(config, option)) is type(meant)


def test_threads_and_tasks_have_their_own() -> None:
    seen: list[bool] = []

    async def task(strict: bool) -> None:
        with options(strict=strict):
            await asyncio.sleep(0)
            seen.append(current().strict == strict)

    async def both() -> None:
        await asyncio.gather(task(True), task(False))

    asyncio.run(both())
    with options(strict=not current().strict) as ours:
        thread = threading.Thread(target=lambda: seen.append(current().strict != ours.strict))
        thread.start()
        thread.join()
    assert seen == [True] * 3


@pytest.mark.parametrize(
    ("changes", "raises"),
    [
        ({}, False),
        ({"strict": True}, True),
        ({"checks": "all"}, True),
        ({"strict": True, "narrowing": "wrap"}, False),
        ({"narrowing": "raise"}, True),
    ],
)
def test_whether_narrowing_raises(changes: dict[str, Any], raises: bool) -> None:
    assert Config(**changes).semantics.narrowing_raises == raises


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_cores_are_those_that_we_may_use() -> None:
    ours = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(ours)})
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, ours)
    assert available_cores() == len(ours)


# ---- sizes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("500MB", 500_000_000),
        ("2GB", 2_000_000_000),
        ("2 gib", 2 << 30),
        ("1.5k", 1500),
        ("12345", 12345),
        ("0", 0),
        ("off", None),
    ],
)
def test_the_size_of_the_cache_is_read_as_people_write_it(text: str, size: int | None) -> None:
    assert from_environment({"LOOPWRIGHT_CACHE_SIZE": text}).cache_size == size
    with options(cache_size=text) as config:
        assert config.cache_size == size
    with options(cache_size=size) as config:
        assert config.cache_size == size
    assert parse_size("x", text) == size


@pytest.mark.parametrize("value", ["", "much", "-1", "1 XB", "GB", -1, 1.5, True])
def test_what_is_no_size_of_a_cache(value: object) -> None:
    with pytest.raises(ValueError, match="cache_size"), options(cache_size=value):
        pass
    if isinstance(value, str) and value:
        with pytest.raises(ValueError, match=f"LOOPWRIGHT_CACHE_SIZE: '{value}' is no size"):
            from_environment({"LOOPWRIGHT_CACHE_SIZE": value})


# ---- options of the process ---------------------------------------------------------------------------------------


@pytest.fixture
def process_options():
    before = PROCESS[0]
    yield
    PROCESS[0] = before


def test_options_of_the_process_are_those_of_every_thread(process_options) -> None:
    token, seen = CURRENT.set(PROCESS), []
    try:
        set_options(threads=3, strict=True)
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
        assert (current().threads, current().strict) == (3, True) and seen == [current()]
    finally:
        CURRENT.reset(token)


def test_options_of_the_process_change_in_the_block_here_too_and_stay_after_it(process_options) -> None:
    token = CURRENT.set(PROCESS)
    try:
        with options(threads=2):
            set_options(strict=True)
            assert (current().threads, current().strict) == (2, True)
        assert (current().threads, current().strict) == (PROCESS[0].threads, True)
    finally:
        CURRENT.reset(token)


def test_a_wrong_option_of_the_process_changes_nothing(process_options) -> None:
    before = PROCESS[0]
    with pytest.raises(TypeError, match=r"no option 'fast'.*watts$"):
        set_options(fast=True)
    with pytest.raises(TypeError, match=r"no option 'fastmath'.*; njit of loopwright.numba takes numba's$"):
        set_options(fastmath=True)
    with pytest.raises(ValueError, match="option threads=0"):
        set_options(strict=True, threads=0)
    assert PROCESS[0] is before


def test_steps_of_layout_have_one_text() -> None:
    with options(layout=" relayout  p soa ;relayout q in t order 1 0") as config:
        assert config.layout == "relayout p soa; relayout q in t order 1 0"
    assert from_environment({"LOOPWRIGHT_LAYOUT": "off"}).layout == "off"


def test_steps_of_remap_have_one_text() -> None:
    with options(remap=" redirect  i ;redirect j") as config:
        assert config.remap == "redirect i; redirect j"
    assert from_environment({"LOOPWRIGHT_REMAP": "off"}).remap == "off"
    with pytest.raises(ValueError, match="option remap='sometimes'"):
        from_environment({"LOOPWRIGHT_REMAP": "sometimes"})


def test_devices_have_one_name_each() -> None:
    with options(devices="cpu cuda:0,cuda:1, cuda1", device="cuda:2", goal="time  within 5% energy") as config:
        assert config.devices == ("cpu", "cuda", "cuda1")
        assert config.device == "cuda2"
        assert config.goal == "time within 5% energy"
    assert from_environment({"LOOPWRIGHT_DEVICES": "cpu, emulated:1"}).devices == ("cpu", "emulated1")
