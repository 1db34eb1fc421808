"""Every kernel of the tests, with arguments, for whoever wants to try something on all of them: PolyBench's, the
examples, the tour, the pages' programs, the families of GPU kernels, random programs, and forms that are easily
forgotten (forms.py)."""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
from benchmarks.polybench import MODULES
from examples.programs import PROBLEMS
from examples.programs.problem import Problem

import loopwright as lw
import test_tiny
from analysis.programs import affine_program, program
from codegen.families import Drawn, Lying, extreme, histogram, product, stencil
from docs.blocks import program as page_program
from loopwright.config import CURRENT, current
from loopwright.kernel import WATCHERS, LoopKernel
from loopwright.runtime.dispatch import Prepared
from meaning import programs as random_programs
from meaning.arguments import make
from meaning.judge import function_of
from polybench.data import shaken, sizes
from tuning.forms import FORMS

ROOT = Path(__file__).parents[2]
Arguments = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A function, and how to make the arguments of a call: new ones each time."""

    name: str
    function: Callable[..., object]
    arguments: Callable[[], Arguments]


def _copied(given: Sequence[object]) -> Callable[[], Arguments]:
    """Copies of these; the same array twice is so in each copy."""
    kept = copy.deepcopy(tuple(given))
    return lambda: copy.deepcopy(kept)


def forms() -> Iterator[Case]:
    """What is easily forgotten."""
    for function, arguments in FORMS:
        yield Case(function.__name__, function, arguments)


def polybench() -> Iterator[Case]:
    """All of PolyBench at small sizes."""
    for module in MODULES:
        given = shaken(module.initialise(**sizes(module)))
        yield Case(module.NAME, module.kernel, _copied(tuple(given.values())))


def examples(small: Callable[[Problem], dict[str, Any]]) -> Iterator[Case]:
    """The tour's programs on the small data of their own test."""
    for problem in PROBLEMS:
        yield Case(problem.title, inspect.unwrap(problem.kernel), _copied(tuple(small(problem).values())))


def families(seeds: Iterable[int]) -> Iterator[Case]:
    """Some of each family that a GPU has text of its own for."""
    for family in (product, stencil, histogram, extreme):
        for seed in seeds:
            drawn = family(seed)
            yield Case(f"{family.__name__} {seed}", function_of(drawn.source), _laid(drawn))


def _laid(drawn: Drawn) -> Callable[[], Arguments]:
    def laid() -> Arguments:
        return tuple(one.view(one.whole.copy()) if isinstance(one, Lying) else one for one in drawn.calls[0])

    return laid


def analysed(seeds: Iterable[int]) -> Iterator[Case]:
    """The programs on which the analysis is tested. Some raise IndexError."""
    for seed in seeds:
        for kind in (program, affine_program):
            text = f"from numpy import empty, zeros\n\n\n{kind(Random(seed))}"
            function = function_of(text, "f")
            yield Case(f"{kind.__name__} {seed}", function, _of_annotations(function))


def _of_annotations(function: Callable[..., object]) -> Callable[[], Arguments]:
    def of(annotation: str) -> object:
        name, rank = re.fullmatch(r"'?(\w+?)(?:\[(\d)\])?'?", annotation).groups()  # type: ignore[union-attr]
        if rank:
            return np.ones((120,) * int(rank), name)
        return True if name == "bool" else np.dtype(name).type(6)

    parameters = inspect.signature(function).parameters.values()
    return lambda: tuple(of(one.annotation) for one in parameters)


def random(seeds: Iterable[int]) -> Iterator[Case]:
    """Random programs of the whole language; each with all of its calls."""
    for seed in seeds:
        one = random_programs.program(seed)
        function = function_of(one.source)
        for number, recipes in enumerate(one.calls):
            yield Case(
                f"program {seed}, call {number}", function, lambda recipes=recipes: tuple(make(recipes).arguments)
            )


# ---- of whole programs --------------------------------------------------------------------------------------------


class _NotRun(Exception):
    """In place of a call."""


@contextmanager
def harvested(into: list[Case], is_run: bool) -> Iterator[None]:
    """What kernels are asked for in the block is added, one call of each kind. Nothing is compiled for it."""
    seen: set[object] = set()

    def watch(kernel: LoopKernel) -> None:
        prepare = kernel._dispatch.prepare

        def prepared(args: Sequence[object], kwargs: Mapping[str, object]) -> Prepared:
            made = prepare(args, kwargs)
            key = kernel.file, kernel.line, made.signature
            if key not in seen:
                seen.add(key)
                name = f"{Path(kernel.file).name}:{kernel.line} {kernel.name}"
                into.append(Case(name, inspect.unwrap(kernel), _copied(made.given)))
            return made

        @contextmanager
        def record(prepared: Prepared) -> Iterator[None]:
            if not is_run:
                raise _NotRun
            yield

        kernel._dispatch.prepare = prepared  # type: ignore[method-assign]
        kernel._dispatch.record(record)

    token = CURRENT.set(replace(current(), device="interpreter", store="off"))
    WATCHERS.append(watch)
    try:
        yield
    finally:
        WATCHERS.remove(watch)
        CURRENT.reset(token)


def of_page(page: Path, folder: Path) -> list[Case]:
    """The calls of a page's programs."""
    script = folder / page.with_suffix(".py").name.lower()
    script.write_text(page_program(page.read_text(encoding="utf-8")), encoding="utf-8")
    return of_script(script)


def of_script(script: Path) -> list[Case]:
    """The calls of a script, which are not made: each of its statements is run by itself, however the one before it
    ended."""
    found: list[Case] = []
    text = script.read_text(encoding="utf-8")
    module = ModuleType("__main__")
    module.__file__ = str(script)
    with harvested(found, is_run=False), redirect_stdout(StringIO()):
        for statement in ast.parse(text).body:
            with suppress(Exception):
                exec(compile(ast.Module([statement], []), str(script), "exec"), module.__dict__)
    return found


def of_tour() -> list[Case]:
    """The calls of tests/test_tiny.py, made by the interpreter. What its tests say of compiled code does not hold."""
    found: list[Case] = []
    with harvested(found, is_run=True):
        for name, test in vars(test_tiny).items():
            if name.startswith("test_") and not inspect.signature(test).parameters:
                with suppress(AssertionError, lw.LoopwrightError):
                    test()
    return found
