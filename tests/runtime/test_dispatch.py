"""The call path of one kernel, with compiled programs written by hand."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from devices.handmade import ADD, FAIL, NOTHING, Handmade, config_in, executable
from loopwright import errors
from loopwright.config import CURRENT, options
from loopwright.devices import by_ctypes, launcher
from loopwright.devices.base import ARGUMENT, FRESH, PYTHON_SCALAR, Returns
from loopwright.devices.launcher import Loaded
from loopwright.errors import ArgumentTypeError, ArgumentValueError, BoundsError, LoopwrightWarning, NegativeSizeError
from loopwright.ir.captured import CapturedConstant
from loopwright.runtime.code_table import MOST_VALUES
from loopwright.runtime.dispatch import Dispatch

INT = PYTHON_SCALAR + 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True, params=["extension", "ctypes"])
def in_force(request, folder, monkeypatch):
    """Options of the test's own, under both launchers."""
    monkeypatch.setattr(errors, "_WARNED", set())
    if request.param == "ctypes":
        monkeypatch.setattr(launcher, "_loaded", Loaded(by_ctypes, "ctypes", "as the test wants"))
    token = CURRENT.set(config_in(folder))
    yield
    CURRENT.reset(token)


class Compiling:
    """A `compile` that makes Handmade from a program and notes what it was asked for."""

    def __init__(self, text=ADD, guard=False, **handmade):
        self.text, self.guard, self.handmade = text, guard, handmade
        self.asked = []

    def __call__(self, wanted):
        self.asked.append(wanted)
        rest = {name: value() if name == "constants" else value for name, value in self.handmade.items()}
        careful = wanted.semantics.checks == "all"
        return Handmade(executable(self.text, wanted.tools, self.guard and not careful), **rest)


def add(**options):
    compiling = Compiling(**options)
    return Dispatch("add", ("a", "n"), {"n": 2}, {"a"}, compiling), compiling


def test_one_kind_of_call_is_compiled_once():
    kernel, compiling = add()
    a = np.zeros(3)
    for call in (lambda: kernel.call(a, 1), lambda: kernel.call(a), lambda: kernel.call(n=3, a=a)):
        assert call() is None
    assert a.tolist() == [6, 6, 6]
    assert len(compiling.asked) == 1
    kernel.call(a[::2], 1)
    kernel.call(a, np.int64(1))
    assert len(compiling.asked) == 3
    assert len(kernel.compiled()) == 3


def test_wrong_calls_never_compile():
    kernel, compiling = add()
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    for error, args in (
        (TypeError, ()),
        (ArgumentTypeError, ([1.0], 2)),
        (ArgumentTypeError, (np.zeros(3, ">f8"), 2)),
        (ArgumentValueError, (fixed, 2)),
        (OverflowError, (np.zeros(3), 2**63)),
    ):
        with pytest.raises(error, match=r"add|argument '[an]'"):
            kernel.call(*args)
    assert compiling.asked == []


def test_the_number_of_threads_does_not_compile_again():
    kernel, compiling = add(
        text="int run(const lw_call *call) { call->returned[0].i = call->threads; return 0; }",
        returns=Returns(1, ((INT, 0),)),
    )
    a = np.zeros(3)
    for threads in (1, 3, 2, 3):
        with options(threads=threads):
            assert kernel.call(a, 1) == threads
    assert len(compiling.asked) == 1
    assert sorted((run.threads, run.calls) for run in kernel.runs()) == [(1, 1), (2, 1), (3, 2)]
    with options(strict=True):
        kernel.call(a, 1)
    assert len(compiling.asked) == 2


def test_arrays_of_other_libraries_are_changed_in_place_and_returned_as_they_are():
    kernel, compiling = add(returns=Returns(1, ((ARGUMENT, 0),)))
    values = np.zeros(3)
    view = memoryview(values)
    assert kernel.call(view, 4) is view
    assert kernel.call(view, 4) is view
    assert values.tolist() == [8, 8, 8]
    assert len(compiling.asked) == 1


def test_results():
    kernel, _ = add(
        text=NOTHING,
        returns=Returns(2, ((FRESH, 0), (FRESH, 1), (FRESH, 2))),
        results=lambda arguments: [
            ((len(arguments[0]), 2), np.dtype("f4"), 1.5),
            ((3,), np.dtype("f8"), -0.0),
            ((2,), np.dtype("i8"), 0),
        ],
    )
    first, second, third = kernel.call(np.zeros(4), 1)
    assert (first.shape, first.dtype, set(first.flat)) == ((4, 2), np.dtype("f4"), {1.5})
    assert np.signbit(second).all()
    assert third.tolist() == [0, 0]


def test_a_negative_size():
    kernel, _ = add(
        text=NOTHING,
        returns=Returns(1, ((FRESH, 0),)),
        results=lambda arguments: [((int(arguments[1]),), np.dtype("f8"), None)],
    )
    assert kernel.call(np.zeros(1), 3).shape == (3,)
    with pytest.raises(NegativeSizeError):
        kernel.call(np.zeros(1), -1)


def test_failures_in_the_loop():
    kernel = Dispatch("fail", ("site",), {}, (), Compiling(FAIL))
    with pytest.raises(BoundsError, match="index -7 is out of bounds for axis 1 of 'a' with size 15"):
        kernel.call(0)
    with pytest.raises(ZeroDivisionError):
        kernel.call(1)


def test_a_guard_that_fails_for_certain_leaves_everything_untouched():
    error = BoundsError("a", 0, 100, 100, before_run=True)
    kernel, compiling = add(guard=True, on_guard_failure=lambda arguments: error)
    kernel.call(np.zeros(5), 1)
    large = np.zeros(100)
    for _ in range(2):
        with pytest.raises(BoundsError, match="nothing was written"):
            kernel.call(large, 1)
    assert not large.any()
    assert len(compiling.asked) == 1


def test_a_guard_that_fails_without_an_error_runs_the_checked_variant():
    kernel, compiling = add(guard=True, returns=Returns(1, ((ARGUMENT, 0),)))
    large = np.zeros(100)
    for _ in range(2):
        assert kernel.call(large, 1) is large
    assert set(large) == {2}
    assert [wanted.semantics.checks for wanted in compiling.asked] == ["auto", "all"]
    assert [(run.how, run.calls) for run in kernel.runs()] == [("checked", 2)]


def test_checked_code_whose_guard_fails_leaves_the_reference():
    kernel, _ = add(guard=True, interpret=lambda arguments: "reference")
    compile_guarded = kernel.codes.compile
    kernel.codes.compile = lambda wanted: compile_guarded(wanted._replace(semantics=CURRENT.get().semantics))
    assert kernel.call(np.zeros(100), 1) == "reference"


def test_the_interpreter_by_option():
    seen = []
    kernel, _ = add(interpret=lambda arguments: seen.append(arguments) or arguments[0])
    kernel.codes.compile = lambda wanted: Handmade(None, interpret=kernel_interpret)

    def kernel_interpret(arguments):
        return arguments[0], 5

    view = memoryview(np.zeros(3))
    with options(device="interpreter"):
        assert kernel.call(view, 1) == (view, 5)
        assert kernel.call(view, 1)[0] is view
    (run,) = kernel.runs()
    assert (run.how, run.calls, run.threads) == ("interpreter", 2, 1)


def test_without_a_compiler_it_is_the_interpreter_and_one_warning(tmp_path):
    kernel, _ = add()
    kernel.codes.compile = lambda wanted: Handmade(None)
    with options(compiler="no-such-compiler"):
        with pytest.warns(LoopwrightWarning, match=r"no-such-compiler: not found.*To install one"):
            assert kernel.call(np.zeros(3), 1) == "interpreted"
        assert kernel.call(np.zeros(3), 1) == "interpreted"


def test_an_interrupted_compilation_leaves_the_kernel_usable():
    kernel, compiling = add()
    interrupted = []

    def interrupt(wanted):
        if not interrupted:
            interrupted.append(1)
            raise KeyboardInterrupt
        return compiling(wanted)

    kernel.codes.compile = interrupt
    a = np.zeros(3)
    with pytest.raises(KeyboardInterrupt):
        kernel.call(a, 1)
    kernel.call(a, 1)
    assert a.tolist() == [1, 1, 1]


def test_two_threads_that_call_first_compile_once():
    kernel, compiling = add()
    barrier, arrays = threading.Barrier(4), [np.zeros(3) for _ in range(4)]
    slow_compile = kernel.codes.compile
    config = CURRENT.get()

    def slowly(wanted):
        threading.Event().wait(0.2)
        return slow_compile(wanted)

    kernel.codes.compile = slowly

    def first(a):
        CURRENT.set(config)
        barrier.wait()
        kernel.call(a, 1)

    threads = [threading.Thread(target=first, args=(a,)) for a in arrays]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(compiling.asked) == 1
    assert all(a.tolist() == [1, 1, 1] for a in arrays)


def test_a_kernel_that_is_called_while_it_compiles():
    kernel, compiling = add()
    plain = kernel.codes.compile

    def compile(wanted):
        made = plain(wanted)
        if len(compiling.asked) == 1:
            kernel.call(np.zeros(3, np.int64), 1)
        return made

    kernel.codes.compile = compile
    a = np.zeros(3)
    kernel.call(a, 1)
    assert a.tolist() == [1, 1, 1]


def test_constants():
    space = {"N": 1000.5}
    kernel, compiling = add(
        constants=lambda: [CapturedConstant("item", space, "N", space["N"])],
    )
    a = np.zeros(3)
    kernel.call(a, 1)
    kernel.call(a, 1)
    assert len(compiling.asked) == 1
    space["N"] = 7
    kernel.call(a, 1)
    assert len(compiling.asked) == 2
    space["N"] = float("1000.5")  # equal, and another object: known again
    kernel.call(a, 1)
    kernel.call(a, 1)
    assert len(compiling.asked) == 2
    space["N"] = True
    kernel.call(a, 1)
    space["N"] = 1
    kernel.call(a, 1)
    assert len(compiling.asked) == 4
    del space["N"]
    with pytest.raises(KeyError):
        kernel.call(a, 1)
    space["N"] = 1
    kernel.call(a, 1)
    assert len(compiling.asked) == 5  # the one that could not be made, too
    assert a.tolist() == [8, 8, 8]


@pytest.mark.parametrize(("then", "now"), [(0.0, -0.0), (1, np.int64(1)), ((0.0, 2), (-0.0, 2)), (1, True), (1, 1.0)])
def test_a_constant_that_is_only_equal_is_another_one(then, now):
    space = {"N": then}
    kernel, compiling = add(
        constants=lambda: [CapturedConstant("item", space, "N", space["N"])],
    )
    for value, compiled in ((then, 1), (now, 2), (then, 2), (now, 2)):
        space["N"] = value
        kernel.call(np.zeros(3), 1)
        assert len(compiling.asked) == compiled


def test_a_constant_that_always_changes_does_not_fill_the_memory():
    space = {"N": 0}
    kernel, compiling = add(constants=lambda: [CapturedConstant("item", space, "N", space["N"])])
    for k in range(20):
        space["N"] = k
        kernel.call(np.zeros(3), 1)
    assert len(compiling.asked) == 20
    assert len(kernel.compiled()) == MOST_VALUES


def test_forget():
    kernel, compiling = add()
    a = np.zeros(3)
    kernel.call(a, 1)
    kernel.forget()
    assert kernel.runs() == ()
    kernel.call(a, 1)
    assert len(compiling.asked) == 2


def test_prepare_compiles_and_runs_nothing():
    kernel, compiling = add()
    a = np.zeros(3)
    prepared = kernel.prepare((a,), {})
    assert (prepared.arguments, prepared.given) == ((a, 2), (a, 2))
    assert prepared.signature == compiling.asked[0].signature
    assert not a.any()
    kernel.call(a)
    assert len(compiling.asked) == 1
    with pytest.raises(ArgumentTypeError):
        kernel.prepare(([1],), {})


def test_overlap_reaches_the_signature():
    compiling = Compiling(NOTHING)
    kernel = Dispatch("copy", ("a", "b"), {}, {"a"}, compiling)
    x = np.zeros(10)
    calls = [(x[:5], x[5:]), (x[:6], x[4:]), (x, x), (x[:5], x[5:]), (x[1:], x[:-1]), (x, x)]
    for a, b in calls:
        kernel.call(a, b)
    signatures = [wanted.signature for wanted in compiling.asked]
    assert [signature.overlap for signature in signatures] == [False, True, False]
    assert [signature.arguments[1].same_as for signature in signatures] == [None, None, 0]


def test_more_parameters_than_the_extension_takes():
    names = tuple(f"p{k}" for k in range(60))
    text = """
    int run(const lw_call *call) {
      call->returned[0].i = 0;
      for (int k = 0; k < 60; k++) call->returned[0].i += call->scalars[k].i;
      return 0;
    }"""
    kernel = Dispatch("sum", names, {}, (), Compiling(text, returns=Returns(1, ((INT, 0),))))
    for _ in range(2):
        assert kernel.call(*range(60)) == sum(range(60))


def test_the_errors_of_the_compiler_come_out_each_time():
    kernel, compiling = add(text="int run(")
    for _ in range(2):
        with pytest.raises(errors.CompilerError):
            kernel.call(np.zeros(3), 1)
    compiling.text = ADD
    kernel.call(np.zeros(3), 1)


def test_a_kernel_goes_away_when_nobody_holds_it():
    kernel, _ = add()
    kernel.call(np.zeros(3), 1)
    gone = weakref.ref(kernel)
    del kernel
    gc.collect()
    assert gone() is None
