"""The reference: every public name has its docstring on the page, and every example in a docstring is executed."""

from __future__ import annotations

import doctest
import importlib
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest

import loopwright as lw
import loopwright.numba
from loopwright.config import CURRENT, DEFAULT, Config, KernelOptions, Options
from loopwright.search.ranges import tunable
from loopwright.tuning.tune import Tuned

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"^::: ([\w.]+)$", PAGE, re.MULTILINE)
NUMBA_TYPES = {
    name for name in loopwright.numba.__all__ if type(getattr(loopwright.numba, name)).__name__ != "function"
}


def shown(name: str) -> object:
    """What a line `::: loopwright.kernel.LoopKernel` of the page is about."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError:
        return getattr(shown(module), attribute)


def test_every_public_name_is_on_the_page() -> None:
    there = {id(shown(name)) for name in SHOWN}
    assert [name for name in lw.__all__ if name != "random" and id(getattr(lw, name)) not in there] == []
    draws = [name for name in ("bits", "integers", "normal", "uniform") if id(getattr(lw.random, name)) not in there]
    assert draws == []
    functions = set(loopwright.numba.__all__) - NUMBA_TYPES
    assert [name for name in functions if id(getattr(loopwright.numba, name)) not in there] == []
    assert [name for name in SHOWN if not getattr(shown(name), "__doc__", None)] == []


def test_every_option_has_a_type() -> None:
    assert set(Options.__annotations__) == {field.name for field in fields(Config)}
    assert set(Options.__annotations__) - set(KernelOptions.__annotations__) == {"schedule"}


@pytest.fixture
def quick() -> Iterator[None]:
    """Code that is compiled in little time, and once."""
    token = CURRENT.set(replace(DEFAULT, compiler_flags=("-O0",), threads=2, store="off"))
    yield
    CURRENT.reset(token)


WITH_EXAMPLES = [
    lw.kernel, lw.LoopKernel, lw.function, lw.prange, lw.options, lw.set_options, lw.array, lw.device_array, lw.Variant,
    tunable, lw.distributed_array, lw.PlanError,
    lw.KernelError, lw.ArgumentTypeError, lw.ArgumentValueError, lw.BoundsError, lw.ScheduleError,
    lw.random.bits, lw.random.integers, lw.random.normal, lw.random.uniform,
    loopwright.numba.njit, loopwright.numba.vectorize, loopwright.numba.guvectorize, loopwright.numba.jitclass,
    loopwright.numba.stencil,
]  # fmt: skip


def examples(subject: object) -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=False)
    return [one for one in finder.find(subject, getattr(subject, "__name__", "")) if one.examples]


@pytest.mark.parametrize("subject", WITH_EXAMPLES, ids=lambda one: one.__name__)
def test_its_examples_do_what_they_say(subject: object, quick: None) -> None:
    [found] = examples(subject)
    told: list[str] = []
    found.globs.clear()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(found, out=told.append)
    assert "".join(told) == ""


def test_no_example_is_left_out() -> None:
    named = {id(shown(name)): shown(name) for name in SHOWN}
    having = [one for one in named.values() if callable(one) and examples(one)]
    assert {one.__name__ for one in having} == {one.__name__ for one in WITH_EXAMPLES}  # type: ignore[attr-defined]


def test_an_example_that_lies_is_found() -> None:
    lies = doctest.DocTestParser().get_doctest(">>> 1 + 1\n3\n", {}, "lies", None, None)
    told: list[str] = []
    doctest.DocTestRunner().run(lies, out=told.append)
    assert "Expected:\n    3\nGot:\n    2" in "".join(told)


def test_what_tuning_gives_is_public() -> None:
    assert lw.Tuned is Tuned
