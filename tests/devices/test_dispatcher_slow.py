"""`Dispatcher` of the C extension: what it leaves to Python, and what it gives to other callables."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from devices.dispatchers import CONTEXT, dispatcher, entry
from devices.handmade import config_in
from loopwright.devices.base import MOST_PARAMETERS
from loopwright.devices.launcher import load_launcher
from loopwright.frontend import packed

ONE, OTHER = ("one",), ("other",)


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return config_in(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def launcher(config):
    loaded = load_launcher(config)
    assert loaded.kind == "extension", loaded.reason
    return loaded.launcher


def refusing(args, kwargs):
    raise KeyError("of slow")


def test_failed_says_what_is_raised(launcher):
    made = dispatcher(launcher, "a", (True,), refusing, failed=lambda error: ValueError(*error.args))
    with pytest.raises(ValueError, match="of slow") as caught:
        made(object())
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1  # no frame of `slow`


def test_failed_says_what_makes_the_call(launcher):
    made = dispatcher(launcher, "a", (True,), refusing, failed=lambda error: lambda *args, **kwargs: (args, kwargs))
    assert made(3) == ((3,), {})
    assert made(a=[4]) == ((), {"a": [4]})


def test_failed_is_not_asked_about_what_is_no_exception(launcher):
    def stopped(args, kwargs):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dispatcher(launcher, "a", (True,), stopped, failed=lambda error: ValueError("asked"))(object())


@contextmanager
def in_force(config):
    token = CONTEXT.set(config)
    yield
    CONTEXT.reset(token)


def test_options_of_the_kernel_decide_what_is_found(launcher, config):
    asked = []

    def own(config):
        asked.append(config)
        return OTHER

    made = dispatcher(launcher, "a", (False,), own=own)
    plain = dispatcher(launcher, "a", (False,))
    for one in (made, plain):
        one.add(one.key((1,)), OTHER, entry(launcher, config))
    with in_force(ONE):
        assert made(1) is None and made(2) is None and plain(1) == "slow"
    assert asked == [ONE]  # once, and again where another is in force
    with in_force(OTHER):
        assert made(1) is None and plain(1) is None
    assert asked == [ONE, OTHER]


Pair = namedtuple("Pair", "x y")


@dataclass
class Field:
    values: object
    scale: object


class Untold:
    @property
    def values(self):
        raise LookupError("values")


def held(*args):
    return args


def test_arguments_that_hold_others_go_to_whoever_takes_them(launcher):
    made = dispatcher(launcher, "ab", (True, False), defaults=(7,))
    function = print
    made.expand(((Pair, ("x", "y"), (None, None)), None), held)
    made.expand(((Field, ("values", "scale"), (None, (tuple, None, (None, (function,))))), None), held)
    array = np.zeros(3)
    before = sys.getrefcount(array)
    for _ in range(5):
        assert made(Pair(array, 2.5), "text") == (array, 2.5, "text")
        assert made(b=1, a=Pair(array, (1, 2.0, True))) == (array, (1, 2.0, True), 1)
        assert made(Field(array, (1.5, function))) == (array, 1.5, 7)
    assert sys.getrefcount(array) == before
    for other in (
        (array, 2.5), Pair(array, Pair(1, 2)), Pair(array, object()), Pair(array, (array,)), Field(array, (1.5, sum)),
        Field(array, 1.5), Field(array, (1.5,)), Field(array, (1.5, function, 3)),
    ):  # fmt: skip
        assert made(other, 1) == "slow"
    made.clear()
    assert made(Pair(array, 2.5)) == (array, 2.5, 7)


def test_what_reading_a_field_raises_is_raised(launcher):
    made = dispatcher(launcher, "a", (True,))
    made.expand(((Untold, ("values",), (None,)),), held)
    with pytest.raises(LookupError, match="values"):
        made(Untold())


def test_the_oldest_of_many_ways_of_holding_others_is_forgotten(launcher):
    made = dispatcher(launcher, "a", (True,))
    kinds = [namedtuple(f"Kind{k}", "x") for k in range(10)]
    for k, kind in enumerate(kinds):
        made.expand(((kind, ("x",), (None,)),), lambda x, k=k: k)
    assert [made(kind(1)) for kind in kinds] == ["slow"] * 2 + list(range(2, 10))


def test_what_holds_too_much_is_left_to_python(launcher):
    made = dispatcher(launcher, "a", (True,))
    many = MOST_PARAMETERS + 1
    made.expand(((tuple, None, (None,) * many),), held)
    assert made((np.zeros(1),) * many) == "slow"


def alike(one, other):
    return len(one) == len(other) and all(
        np.array_equal(a, b) and getattr(a, "dtype", None) == getattr(b, "dtype", None)
        for a, b in zip(one, other, strict=True)
    )


def arrays_of(value):
    return tuple(packed.arrays_of(value, packed.packed(value)))


@pytest.mark.parametrize(("number", "value"), [
    (0, [1, 2, -3]), (0, [1.5]), (0, [True, False]), (1, [np.float32(1.5)] * 2), (1, [np.int8(3), np.int8(-4)]),
    (3, [np.arange(3.0), np.zeros(0), np.ones(1)]), (4, [np.ones((2, 3), np.int16), np.zeros((1, 1), np.int16)]),
    (3, [np.array([1 + 2j])]), (3, [np.ones(4)[::2], np.arange(3.0)[::-1]]), (4, [np.arange(6.0).reshape(3, 2).T]),
    (0, {1: 2.0, 3: 4.0}), (2, {1: np.int32(5)}), (1, {np.int64(1): True}),
])  # fmt: skip
def test_lists_and_dicts_are_put_into_arrays(launcher, number, value):
    made = dispatcher(launcher, "ab", (False, False))
    made.expand(((type(value), number), None), held)
    for _ in range(3):
        assert alike(made(value, 7), (*arrays_of(value), 7))
        assert made(1, value) == "slow"


@pytest.mark.parametrize(("number", "value"), [
    (0, []), (0, [1, 2.0]), (0, [1 << 63]), (0, [np.int64(1)]), (1, [1]), (0, [None]), (0, ["a"]), (0, [1, True]),
    (1, [np.int32(1), np.int64(1)]), (1, [1j]), (3, []), (3, [1.0]), (3, [np.ones((1, 1))]),
    (3, [np.ones(1), np.ones(1, np.float32)]), (3, [np.ones(1, ">f8")]), (3, [np.array(["a"])]), (0, {}),
    (2, [np.array(1.0)]), (0, {"a": 1}), (0, {1: 2, 2: 3.0}), (0, {1: np.float64(2)}), (3, [np.zeros(2, "i4,f8")]),
])  # fmt: skip
def test_other_lists_and_dicts_are_left_to_python(launcher, number, value):
    made = dispatcher(launcher, "a", (False,))
    made.expand(((type(value), number),), held)
    assert made(value) == "slow"


def test_arrays_in_a_list_that_are_to_be_apart_from_others(launcher):
    made = dispatcher(launcher, "ab", (False, True))
    made.expand(((list, 64 + 3), None), held)
    a, other = np.arange(6.0), np.ones(3)
    value = [other, a[::2]]
    assert alike(made(value, np.zeros(2)), (*arrays_of(value), np.zeros(2)))
    assert made(value, a) == made(value, a[1:2]) == made(value, other[::-1]) == "slow"
    assert alike(made(value, a[5:]), (*arrays_of(value), a[5:]))  # behind the last one


WAITS = """
#include <time.h>
int run(const lw_call *call) {
  struct timespec little = {0, 1000000};
  for (int k = 0; k < call->scalars[0].i; k++) {
    nanosleep(&little, 0);
    if (call->watch->ask(call->watch)) return 1;
  }
  return 0;
}
"""


def test_a_call_that_becomes_long_releases_the_lock_of_python(launcher, config):
    one, turns = entry(launcher, config, WAITS), []
    for _ in range(100):  # so that the next one is expected to be short, also on a busy machine
        one.run((0,))
        if one.calls > 2 and one.last_ns < 2000:
            break
    done = threading.Event()

    def counts():
        while not done.is_set():
            turns.append(1)
            time.sleep(0.001)

    beside = threading.Thread(target=counts)
    beside.start()
    before = len(turns)
    one.run((20,))
    during = len(turns) - before
    done.set()
    beside.join()
    assert during > 1
