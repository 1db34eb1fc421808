"""A function for one kind of call: what it joins, what is made only when somebody asks, and where it runs if not as
asked."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from loopwright import specialisation
from loopwright.analysis.analyse import analyse
from loopwright.config import current, options
from loopwright.devices import gpus
from loopwright.errors import BoundsError, LoopwrightWarning, ScheduleError
from loopwright.frontend.capture import capture
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import compilation_of
from loopwright.recipe.recipe import recipe
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.specialisation import Specialisation, specialise, specialise_kernel
from loopwright.steps.schedule import print_schedule
from loopwright.toolchain.cc import UnwritableError


def shift(a, b, n):
    for i in range(n):
        b[i] = a[i + 1] * 2.0


def made(a, n):
    r = np.full((n, len(a)), 7)
    r[0, 0] = 1
    return r, n


A, B = np.zeros(6), np.zeros(6)


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with options(cache=tmp_path_factory.mktemp("cache"), compiler_flags=("-O0",), threads=1, schedule="", device="cpu"):
        yield


def special(function: Any, *arguments: Any, **changes: Any) -> Specialisation:
    source = capture(function)
    names = list(inspect.signature(function).parameters)
    written = [position for position, name in enumerate(names) if name in source.written]
    with options(**({"device": "interpreter"} | changes)) as config:
        signature = signature_of(as_arguments(arguments), written, names)
        return specialise(source, compilation_of(signature, config))


# ---- what it joins --------------------------------------------------------------------------------------------------


def test_in_the_interpreter_nothing_is_compiled() -> None:
    one = special(shift, A, B, 3)
    assert one.program is one.artifact is one.executable is None
    assert (one.c_text, one.takes_device_arrays, one.why_not_gpu) == ("", False, "")
    a, b = np.arange(6.0), np.zeros(6)
    one.interpret((a, b, 3))
    assert b.tolist() == [2, 4, 6, 0, 0, 0]


def test_the_interpreter_waits_for_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("loopwright.compiler.analyse", lambda *_: pytest.fail("analysed"))
        one = special(shift, A, B, 3)
        a, b = np.arange(6.0), np.zeros(6)
        one.interpret((a, b, 3))
        assert b.tolist() == [2.0, 4.0, 6.0, 0, 0, 0] and one.constants and one.returns.shape == 0
    assert one.facts.loops["i"].verdict == "parallel" and one.analysed.written is one.written


def test_where_every_access_is_checked_nothing_is_proven_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def summed(a: Any, b: Any) -> None:
        for i in range(len(a)):
            b[0] += a[i]

    with monkeypatch.context() as patched:
        patched.setattr("loopwright.compiler.analyse", lambda *_: pytest.fail("analysed"))
        one = special(summed, A, B, device="cpu", checks="all")
        assert one.executable is not None and one.program is not None and not one.program.guard
    assert one.facts.loops["i"].verdict == "reduction" and one.kernel is one.analysed.written


def test_a_schedule_that_is_not_legal_is_refused_in_the_interpreter_too() -> None:
    with pytest.raises(ScheduleError):
        special(shift, A, B, 3, schedule="split z 4")


def test_compiled_code_and_the_text_that_it_came_from() -> None:
    one = special(shift, A, B, 3, device="cpu")
    assert one.executable is not None and one.artifact is not None and one.program is not None
    assert one.c_text == one.program.text and "CUDA" not in one.c_text


def test_it_is_analysed_when_somebody_asks_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    special(shift, A, B, 5, device="cpu", compiler_flags=("-O0", "-g"))
    with monkeypatch.context() as patch:
        patch.setattr("loopwright.compiler.analysed", lambda *_: pytest.fail("it is analysed again"))
        again = special(shift, A, B, 5, device="cpu", compiler_flags=("-O0", "-g"))  # remembered
        assert again.c_text and again.fingerprint and again.returns.shape == 0
    assert again.analysed is again.analysed and again.facts is again.analysed.recipe.facts
    assert again.kernel is again.analysed.recipe.kernel


def test_a_fingerprint_is_of_the_function_and_its_types() -> None:
    one = special(shift, A, B, 3)
    assert one.fingerprint == special(shift, A, B, 4).fingerprint == special(shift, A, B, 3, device="cpu").fingerprint
    assert one.fingerprint == special(shift, A, B, 3, schedule="parallelize i").fingerprint
    assert one.fingerprint != special(shift, A.astype("float32"), B, 3).fingerprint
    assert special(shift, A, B, 3, strict=True).fingerprint == f"{one.fingerprint} strict"


@pytest.mark.parametrize("device", ["interpreter", "cpu"])
def test_results_are_what_the_arguments_say(device: str) -> None:
    one = special(made, A, 3, device=device)
    assert one.results is not None
    assert list(one.results((np.zeros(4), 2))) == [((2, 4), np.dtype("int64"), 7)]
    assert one.returns.shape == 2
    assert special(shift, A, B, 3, device=device).results is None


def test_arguments_that_are_certain_to_fail() -> None:
    one = special(shift, A, B, 3)
    error = one.on_guard_failure((np.zeros(3), np.zeros(9), 3))
    assert isinstance(error, BoundsError) and (error.array, error.index, error.size) == ("a", 3, 3)
    assert error.before_run
    assert one.on_guard_failure((np.zeros(4), np.zeros(9), 3)) is None
    assert one.on_guard_failure((np.zeros(0), np.zeros(0), 0)) is None


# ---- other schedules ------------------------------------------------------------------------------------------------


def test_another_schedule_to_look_at() -> None:
    one = special(shift, A, B, 3, schedule="parallelize i")
    seen = one.scheduled("split i 4; parallelize i.o")
    assert "i_o_" in seen.c_text and "i_o_" not in one.scheduled("vectorize i").c_text
    assert seen.scheduled("vectorize i").c_text == one.scheduled("vectorize i").c_text
    assert len(seen.space()) == len(one.space()) > 1
    with pytest.raises(ScheduleError, match="tile q 3"):
        one.scheduled("tile q 3")


def test_a_kernel_without_its_function() -> None:
    text = "kernel k(a: float64[1] C):\n    for i in 0 .. size(a, 0):\n        a[i] = 2.0\n"
    kernel = parse_kernel(text)
    signature = signature_of(as_arguments((A,)), [0], ["a"])
    one = specialise_kernel(kernel, analyse(kernel), compilation_of(signature, current()))
    assert one.executable is not None and one.constants == () and one.analysed.written is kernel
    with options(schedule="tile q 3"), pytest.raises(ScheduleError):
        specialise_kernel(kernel, analyse(kernel), compilation_of(signature, current()))


# ---- where it runs if not as asked ----------------------------------------------------------------------------------


@pytest.fixture
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loopwright.errors._WARNED", set())


@pytest.mark.usefixtures("nothing_said")
def test_without_a_gpu_the_cpu_runs_it_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "gpu_of", lambda device: None)
    with pytest.warns(LoopwrightWarning, match=r"device='cuda': .*Kernels run on the CPU"):
        one = special(shift, A, B, 3, device="cuda")
    assert one.why_not_gpu == "there is no GPU" and one.compilation.device == "cpu"
    assert one.executable is not None and not one.takes_device_arrays
    bound = special(shift, A, B, 3, device="cuda", schedule="bind i block.x")  # there are no blocks on a CPU
    assert bound.executable is not None and "bind " not in print_schedule(bound.analysed.recipe.schedule)


def test_what_is_not_for_a_gpu_runs_on_the_cpu_with_the_reason() -> None:
    one = special(shift, A, A[1:], 3, device="emulated")
    assert one.why_not_gpu == "arguments overlap in memory" and one.compilation.device == "cpu"
    assert one.executable is not None and not one.takes_device_arrays


def test_on_a_gpu_both_texts_are_shown() -> None:
    one = special(shift, A, B, 3, device="emulated")
    assert one.takes_device_arrays and one.why_not_gpu == ""
    assert one.program is not None and one.program.device is not None
    assert one.c_text == f"{one.program.text}\n/* ---- CUDA ---- */\n{one.program.device.text}"


def test_without_a_compiler_the_interpreter_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specialisation, "find_compiler", lambda config: None)
    one = special(shift, A, B, 3, device="cpu")
    assert one.executable is None and one.program is None


@pytest.mark.usefixtures("nothing_said")
def test_where_nothing_can_be_written_the_interpreter_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise UnwritableError("no room in /x")

    monkeypatch.setattr(specialisation, "build", full)
    with pytest.warns(LoopwrightWarning, match="no room in /x: kernels run in the slow interpreter"):
        one = special(shift, A, B, 3, device="cpu")
    assert one.executable is None and one.program is None


def test_compiling_is_told_where_that_is_asked_for(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for told in ("loopwright: compiled in", "(from the cache)"):
        special(shift, A, B, 3, device="cpu", debug=frozenset({"times"}), cache=tmp_path)
        assert told in capsys.readouterr().err


@pytest.mark.parametrize("device", ["cpu", "emulated"])
def test_a_mistake_of_ours_is_told_and_a_simpler_program_runs(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object) -> object:
        raise KeyError("a table without it")

    def doubled(a: Any, b: Any) -> None:
        for i in range(len(a)):
            b[i] = a[i] * 2.0

    monkeypatch.setattr("loopwright.recipe.gpu.gpu_recipe" if device == "emulated" else "loopwright.compiler.recipe",
                        lambda *given, **_: mistaken() if given[-1] is not None else recipe(*given))  # fmt: skip
    with pytest.warns(LoopwrightWarning, match="made a mistake as it compiled 'doubled'.*KeyError.*results are right"):
        found = special(doubled, A, B, device=device)
    assert found.executable is not None
    assert ("KeyError" in found.why_not_gpu) == (device == "emulated")
    with pytest.raises(KeyError, match="a table"):
        special(doubled, A, B, device=device, debug=("times",))


def test_a_mistake_that_nothing_makes_up_for_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(*_: object) -> object:
        raise KeyError("a table without it")

    def tripled(a: Any, b: Any) -> None:
        for i in range(len(a)):
            b[i] = a[i] * 3.0

    monkeypatch.setattr("loopwright.compiler.generate", mistaken)
    with pytest.raises(KeyError, match="a table"):
        special(tripled, A, B, device="cpu")
