"""`Entry`, the same tests for the C extension and for ctypes, with programs written by hand."""

from __future__ import annotations

import gc
import re
import sys
import threading
import weakref
from importlib import resources
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from devices.handmade import ADD, FAIL, HEADER, NOTHING, config_in, executable
from loopwright.devices import base, by_ctypes
from loopwright.devices import launcher as launcher_module
from loopwright.devices.base import ARGUMENT, CUT, FRESH, LIST, MAYBE, NUMPY_SCALAR, PYTHON_SCALAR, TUPLE
from loopwright.devices.launcher import load_launcher
from loopwright.errors import BoundsError
from loopwright.ir.types import ALL


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return config_in(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module", params=["extension", "ctypes"])
def launcher(request, config):
    if request.param == "ctypes":
        return by_ctypes
    loaded = load_launcher(config)
    assert loaded.kind == "extension", loaded.reason
    return loaded.launcher


@pytest.fixture
def entry(launcher, config):
    """entry(text, **changes) -> Entry."""

    def make(text: str, guard: bool = False, **changes):
        code = executable(text, config, guard=guard)
        return launcher.Entry(
            **{
                "entry": code.entry,
                "guard": code.guard,
                "threads": 3,
                "parallel": False,
                "returns": 0,
                "values": (),
                "constants": (),
                "fresh": None,
                "fail": code.failure,
                "guard_failed": lambda arguments, originals: ("guard", arguments, originals),
                "payload": code,
            }
            | changes
        )

    return make


def test_arrays_and_scalars_arrive(entry):
    add = entry(ADD)
    a = np.arange(6.0)
    assert add.run((a, 10)) is None
    assert add.run((a[::-2], 5)) is None
    assert a.tolist() == [10, 16, 12, 18, 14, 20]


def test_an_array_without_axes_and_an_empty_one(entry):
    put = entry("int run(const lw_call *call) { *(double *)call->data[0] = call->scalars[1].d; return 0; }")
    a = np.zeros(())
    put.run((a, 2.5))
    assert a == 2.5
    add = entry(ADD)
    assert add.run((np.zeros(0), 1)) is None


def test_all_axes_arrive(entry):
    text = """
    int run(const lw_call *call) {
      call->returned[0].i = 0;
      for (int k = 0; k < 3; k++)
        call->returned[0].i = call->returned[0].i * 1000 + call->shape[1][k] * 100 + call->strides[1][k];
      return 0;
    }"""
    shape = entry(text, returns=1, values=((PYTHON_SCALAR + ALL.index(INT64), 0),))
    cube = np.zeros((2, 3, 4), np.int8)
    assert shape.run((1, cube)) == 212304401


INT64 = next(one for one in ALL if one.name == "int64")
BOOL = next(one for one in ALL if one.name == "bool")
EXTREMES = {
    "bool": [False, True],
    "float32": [-0.0, 1.5, np.inf, -1e30],
    "float64": [-0.0, 1.5, np.inf, 1e300],
    **{one.name: [one.minimum, one.maximum, 1] for one in ALL if one.is_integer},
}


@pytest.mark.parametrize("scalar", ALL, ids=str)
def test_scalars_go_there_and_back(entry, scalar):
    echo = "int run(const lw_call *call) { call->returned[0] = call->scalars[0]; return 0; }"
    for code, kind in ((PYTHON_SCALAR, None), (NUMPY_SCALAR, scalar.dtype.type)):
        back = entry(echo, returns=1, values=((code + ALL.index(scalar), 0),))
        for value in EXTREMES[scalar.name]:
            strong = scalar.dtype.type(value)
            found = back.run((strong,))
            assert type(found) is (kind or type(strong.item()))
            assert repr(found) == repr(strong if kind else strong.item())
    if scalar.name in ("bool", "int64", "float64"):  # the types that a Python scalar arrives as
        for value in EXTREMES[scalar.name]:
            assert repr(back.run((value,))) == repr(scalar.dtype.type(value))


def test_slots_are_read_as_extended_to_64_bits(entry):
    text = "int run(const lw_call *call) { call->returned[0].i = -1; return 0; }"
    for scalar in ALL:
        if scalar.is_integer:
            found = entry(text, returns=1, values=((NUMPY_SCALAR + ALL.index(scalar), 0),)).run(())
            assert found == (scalar.maximum if scalar.kind == "uint" else -1)


def test_a_numpy_scalar_of_a_subclass(entry):
    class Metres(np.float64):
        pass

    text = "int run(const lw_call *call) { call->returned[0] = call->scalars[0]; return 0; }"
    assert entry(text, returns=1, values=((PYTHON_SCALAR + 10, 0),)).run((Metres(2.5),)) == 2.5


def test_an_int_that_does_not_fit(entry):
    with pytest.raises(OverflowError):
        entry(NOTHING).run((2**63,))


def test_constants_are_passed_over(entry):
    assert entry(NOTHING).run((None, "text", (1, 2))) is None


def test_results_are_allocated_filled_and_returned(entry):
    text = """
    int run(const lw_call *call) {
      double *fresh = (double *)call->data[2];
      for (int64_t i = 0; i < call->shape[2][0]; i++) fresh[i] += (double)i;
      call->returned[0].i = call->strides[3][0];
      return 0;
    }"""

    def fresh(arguments):
        return np.full(len(arguments[0]), 10.0), np.zeros((2, 2), np.int16)

    values = ((FRESH, 0), (ARGUMENT, 1), (PYTHON_SCALAR + 4, 0), (FRESH, 1))
    make = entry(text, returns=2, values=values, fresh=fresh)
    marker = (1, 2)
    found = make.run((np.zeros(3), marker))
    assert found[0].tolist() == [10, 11, 12]
    assert found[1] is marker
    assert found[2] == 4
    assert found[3].shape == (2, 2)
    assert make.run((np.zeros(1), None), (np.zeros(1), "original"))[1] == "original"


def test_what_is_returned_is_made_in_postfix_order(entry):
    text = """
    int run(const lw_call *call) {
      call->returned[0].i = 2;
      call->returned[1].i = call->scalars[0].i;
      return 0;
    }"""
    size, flag = (PYTHON_SCALAR + ALL.index(INT64), 0), (PYTHON_SCALAR + ALL.index(BOOL), 1)
    none, arrays = (base.NOTHING, 0), lambda arguments: (np.arange(4.0), np.arange(6.0).reshape(3, 2))
    values = (
        (FRESH, 0), size, (CUT, 1),  # an array cut along its axis
        (FRESH, 1), flag, (MAYBE, 0), none, (TUPLE, 2), (TUPLE, 0), (LIST, 0), (TUPLE, 2),
        (FRESH, 1), size, size, (CUT, 2), (FRESH, 1), (LIST, 0), (FRESH, 0), (LIST, 1),
        (FRESH, 0), size, (CUT, 1), (LIST, 0), (FRESH, 0), size, (CUT, 1), (LIST, 1),  # lists of a part
        (FRESH, 1), size, (CUT, 1), (LIST, 1), (TUPLE, 8),
    )  # fmt: skip
    make = entry(text, returns=3, values=values, fresh=arrays)
    for given in (1, 0):
        cut, (inner, empty), both, listed, scalars, numbers, of_numpy, rows = make.run((given,))
        assert cut.tolist() == [0, 1] and cut.flags.owndata and cut.flags.c_contiguous
        assert inner[0] is None if not given else inner[0].shape == (3, 2)
        assert inner[1] is None and empty == []
        assert both.tolist() == [[0, 1], [2, 3]] and both.flags.owndata
        assert listed == [[0, 1], [2, 3], [4, 5]] and type(listed[0][0]) is float
        assert scalars == [0, 1, 2, 3] and type(scalars[0]) is np.float64
        assert numbers == of_numpy == [0, 1] and (type(numbers[0]), type(of_numpy[0])) == (float, np.float64)
        assert [row.tolist() for row in rows] == [[0, 1], [2, 3]]
    assert entry(text, returns=3, values=(none,)).run((1,)) is None
    held = sys.getrefcount(None)
    for _ in range(1000):
        make.run((0,))
    assert abs(sys.getrefcount(None) - held) < 500


def test_an_array_that_is_cut_along_its_first_axis_alone_keeps_its_memory(entry, launcher):
    text = """
    int run(const lw_call *call) {
      call->returned[0].i = call->scalars[0].i;
      return 0;
    }"""
    size, made = (PYTHON_SCALAR + ALL.index(INT64), 0), []

    def arrays(_):
        fresh = np.arange(1000.0).reshape(500, 2).copy(), np.arange(1000.0).reshape(2, 500).copy()
        made[:] = [array.ctypes.data for array in fresh]
        return fresh

    make = entry(text, returns=3, values=((FRESH, 0), size, (CUT, 1), (FRESH, 1), size, size, (CUT, 2), (TUPLE, 2)),
                 fresh=arrays)  # fmt: skip
    for n in (0, 1, 2, 499, 500):
        first, other = make.run((n,))
        assert (first == np.arange(2.0 * n).reshape(n, 2)).all() and first.flags.owndata
        assert (first.ctypes.data == made[0]) is (launcher is not by_ctypes)
        assert other.shape == (min(n, 2), n) and (other == np.arange(1000.0).reshape(2, 500)[:n, :n]).all()


def test_parts_of_arguments_are_returned(entry):
    text = """
    int run(const lw_call *call) {
      long long numbers[8] = {0, 1, 2, 3, -1, 5};
      for (int k = 0; k < 6; k++) call->returned[k].i = numbers[k];
      return 0;
    }"""
    zero, one, two, three, back, five = ((PYTHON_SCALAR + ALL.index(INT64), k) for k in range(6))
    turned = (one, three, three, zero, back, two, one, zero)  # from [1, 3]: 3 steps back along a row, 2 rows
    make = entry(text, returns=3, values=(
        (ARGUMENT, 0), *turned, (base.VIEW, 8), (ARGUMENT, 1), (base.COMPLEX, 0), zero, one, two, one, zero,
        (base.VIEW, 5), (ARGUMENT, 0), five, zero, zero, one, zero, (base.VIEW, 5), (TUPLE, 3),
    ))  # fmt: skip
    a, z = np.arange(12.0).reshape(3, 4), np.array([1 + 2j, 3 + 4j])
    held = sys.getrefcount(a), sys.getrefcount(z)
    part, imag, nothing = make.run((a, z))
    assert part.tolist() == [[7, 11], [6, 10], [5, 9]] and np.shares_memory(part, a) and part.flags.writeable
    assert imag.tolist() == [2, 4] and np.shares_memory(imag, z)
    assert nothing.shape == (0,)
    del part, imag, nothing
    assert (sys.getrefcount(a), sys.getrefcount(z)) == held
    a.flags.writeable = False
    assert not make.run((a, z))[0].flags.writeable
    with pytest.raises(TypeError, match="no NumPy array"):
        make.run((a.tolist(), z))


def test_to_make_objects_of_classes_leaks_nothing(entry):
    number = base.number_of_class("loopwright.ir.rows:OneOf")
    make = entry(NOTHING, returns=3, values=((ARGUMENT, 0), (ARGUMENT, 1), (TUPLE, 2), (base.NAMED, number)))
    thing = object()
    held = sys.getrefcount(base), sys.getrefcount(thing)
    for _ in range(100):
        assert make.run((0, 1), (0, thing)) is thing
        with pytest.raises(IndexError):
            make.run((7, 1), (7, thing))
    assert max(np.subtract((sys.getrefcount(base), sys.getrefcount(thing)), held)) < 50


def test_an_error_while_packing_comes_out(entry):
    text = "int run(const lw_call *call) { call->returned[0].i = 1; return 0; }"
    size = (PYTHON_SCALAR + ALL.index(INT64), 0)
    make = entry(text, returns=3, values=((FRESH, 0), size, size, (CUT, 2)), fresh=lambda given: (np.zeros(3),))
    for _ in range(10):
        with pytest.raises(IndexError, match="too many indices"):
            make.run(())


def test_an_error_while_allocating_comes_out(entry):
    def fresh(arguments):
        raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        entry(NOTHING, fresh=fresh).run((1,))


def test_an_empty_tuple_is_returned_as_one(entry):
    assert entry(NOTHING, returns=2).run(()) == ()


def test_a_guard_that_is_false_leaves_the_arrays_alone(entry):
    add = entry(ADD, guard=True)
    small, large = np.zeros(3), np.zeros(100)
    assert add.run((small, 1)) is None
    arguments, originals = (large, 1), ("what", "the caller wrote")
    assert add.run(arguments, originals) == ("guard", arguments, originals)
    assert not large.any()
    assert small.all()
    assert add.calls == 1


def test_failures_become_the_errors_of_their_sites(entry):
    fail = entry(FAIL)
    with pytest.raises(BoundsError) as caught:
        fail.run((0,))
    error = caught.value
    assert (error.array, error.axis, error.index, error.size, error.before_run) == ("a", 1, -7, 15, False)
    with pytest.raises(ZeroDivisionError):
        fail.run((1,))
    assert fail.calls == 2


def test_times_are_kept(entry):
    add = entry(ADD)
    assert (add.calls, add.total_ns, add.min_ns, add.last_ns) == (0, 0, 0, 0)
    for _ in range(3):
        add.run((np.zeros(5), 1))
    assert add.calls == 3
    assert 0 < add.min_ns <= add.last_ns <= add.total_ns
    assert add.threads == 3


def test_the_loop_runs_without_the_gil(entry):
    """The loop waits for another Python thread to write into its array: with the GIL held it would wait in vain."""
    text = """
    #include <time.h>
    int run(const lw_call *call) {
      volatile int64_t *a = (volatile int64_t *)call->data[0];
      struct timespec nap = {0, 1000000};
      a[0] = 1;
      for (int64_t k = 0; k < 10000 && !a[1]; k++) nanosleep(&nap, 0);
      call->returned[0].i = a[1];
      return 0;
    }"""
    a = np.zeros(2, np.int64)

    def answer() -> None:
        while not a[0]:
            pass
        a[1] = 5

    thread = threading.Thread(target=answer)
    thread.start()
    found = entry(text, returns=1, values=((PYTHON_SCALAR + ALL.index(INT64), 0),)).run((a,))
    assert found == 5
    thread.join()


def test_many_arguments(entry):
    text = """
    int run(const lw_call *call) {
      call->returned[0].i = 0;
      for (int k = 0; k < 200; k++) call->returned[0].i += ((int64_t *)call->data[k])[0] * call->shape[k][3];
      return 0;
    }"""
    arrays = tuple(np.full((1, 1, 1, 1), k) for k in range(200))
    total = entry(text, returns=1, values=((PYTHON_SCALAR + 4, 0),)).run(arrays)
    assert total == sum(range(200))


def test_nothing_leaks(entry):
    """An Entry in a cycle with what owns it goes away with it."""

    class Owner:
        pass

    owner = Owner()
    owner.entry = entry(NOTHING, guard_failed=lambda arguments, originals, owner=owner: None)
    owner.entry.run(())
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_the_structs_are_those_of_the_header():
    text = resources.files("loopwright.devices").joinpath("launcher_entry.c").read_text()
    for pattern in (r"typedef union \{[^}]*\} lw_slot;", r"typedef struct \{[^}]*\} lw_(?:failure|call);"):
        ours, wanted = re.findall(pattern, text), re.findall(pattern, HEADER)
        assert ours == wanted != []


def test_the_table_of_a_gpu_is_that_of_the_header():
    """cuda_memory.c has what host code calls: without comments, both are the same words."""
    text = resources.files("loopwright.devices").joinpath("cuda_memory.c").read_text()
    pattern = r"struct lw_gpu \{.*?\n\};"
    found = [re.search(pattern, one, re.DOTALL) for one in (text, HEADER)]
    ours, wanted = (re.sub(r"/\*.*?\*/", "", one.group(), flags=re.DOTALL).split() for one in found if one)
    assert ours == wanted


def test_an_observer_is_told_the_times_of_the_last_calls(entry):
    one, told = entry(ADD), []
    call = (np.zeros(3), 1)
    one.watch(told.append, 3, 2**62)
    for _ in range(7):
        one.run(call)
    assert [len(times) for times in told] == [3, 3]
    assert all(isinstance(time, int) and time >= 0 for times in told for time in times)
    assert sum(map(sum, told)) <= one.total_ns
    one.run(call)
    one.run(call)
    assert len(told) == 3 and told[-1][-1] == one.last_ns
    one.watch(None, 1, 0)
    one.run(call)
    assert len(told) == 3


def test_an_observer_is_told_after_some_time_too(entry):
    one, told = entry(ADD), []
    one.watch(told.append, 2**62, 0)
    one.run((np.zeros(3), 1))
    assert told == [(one.last_ns,)]
    one.watch(told.append, 100, 2**62)
    for _ in range(100):
        one.run((np.zeros(3), 1))
    assert len(told) == 2 and len(told[1]) == 64


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_observer_that_fails_does_no_harm(entry, monkeypatch):
    reports = []
    monkeypatch.setattr("sys.unraisablehook", lambda report: reports.append(report.exc_value))
    one = entry(ADD)

    def fail(times):
        raise LookupError("observer")

    one.watch(fail, 1, 0)
    a = np.zeros(3)
    assert one.run((a, 1)) is None
    assert a.tolist() == [1, 1, 1]
    assert [str(report) for report in reports] == ["observer"]


def test_what_stands_outside_comes_behind_the_arguments(launcher):
    def target(*given):
        return given

    def slow(*args, **kwargs):
        return "slow", args, kwargs

    def cell_of(value):
        return (lambda: value).__closure__[0]

    space, cell = {"A": [1]}, cell_of([2])
    call = launcher.completed(target, slow, 1, ((space, "A"), (cell, "")))
    if launcher is by_ctypes:
        assert call is slow
        return
    assert call(0) == (0, [1], [2])
    space["A"], cell.cell_contents = [3], [4]
    held = sys.getrefcount(space["A"])
    assert call(0) == (0, [3], [4])
    for _ in range(9):
        call(0)
    now = sys.getrefcount(space["A"])
    assert now == held
    assert call(0, 1) == ("slow", (0, 1), {}) and call() == ("slow", (), {}) and call(a=1) == ("slow", (), {"a": 1})
    with pytest.raises(ZeroDivisionError):
        launcher.completed(lambda *given: 1 // 0, slow, 0, ((space, "A"),))()
    del cell.cell_contents
    assert call(0) == ("slow", (0,), {})
    now = sys.getrefcount(space["A"])
    assert now == held
    del space["A"]
    assert call(0) == ("slow", (0,), {})
    assert launcher.completed(target, slow, base.MOST_PARAMETERS, ((cell, ""),)) is slow
    for wrong in ((3, ""), (space,)):
        with pytest.raises(TypeError):
            launcher.completed(target, slow, 1, (wrong,))
    there = {}
    there["call"] = launcher.completed(target, owner := weakref.WeakSet(), 1, ((there, "A"),))
    gone = weakref.ref(owner)
    del owner, there
    gc.collect()
    assert gone() is None  # a cycle ends at the dict


def test_what_is_asked_for_meanwhile_runs_only_where_a_compiler_does(tmp_path, monkeypatch):
    cache = config_in(tmp_path)
    ran = []
    for known in (False, True):
        done = threading.Event()
        monkeypatch.setattr(launcher_module, "_loaded", None)
        monkeypatch.setattr(launcher_module, "_watch_forks", lambda launcher: None)
        found = load_launcher(cache, lambda done=done: (ran.append(threading.current_thread()), done.set()))
        assert found.kind == "extension", found.reason
        assert known or done.wait(10)
    assert len(ran) == 1
    assert ran[0] is not threading.main_thread()


def listed(a: Any) -> Any:
    found = []
    for k in range(len(a)):
        found.append(a[k])
    return found


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64, np.float64, np.float32])
@pytest.mark.parametrize("length", [3, 63, 64, 900])
def test_lists_hold_numpys_numbers(kind: type, length: int) -> None:
    kernel = lw.kernel(listed)
    for first in (-20, 1000, 2**31 - 100):
        a = (np.arange(length) % 300 + (first if kind is not np.uint64 else abs(first))).astype(kind)
        for given in (a, a[::-1].copy()):
            found = kernel(given)
            assert found == listed(given) and all(type(one) is kind for one in found)


def test_small_whole_numbers_of_a_long_list_are_made_once() -> None:
    assert len({id(one) for one in lw.kernel(listed)(np.arange(1000) % 7)}) == 7
    negative = [-5, -6, 256, 257] * 100
    assert lw.kernel(listed)(np.array(negative)) == negative
