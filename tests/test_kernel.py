"""The object that a user calls: what it tells of itself, code that is replaced, and a kernel in a class: bound as a
function would be, and what is said where the object is no array."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright.config import current
from loopwright.kernel import WATCHERS


@pytest.fixture(autouse=True, scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with lw.options(cache=tmp_path_factory.mktemp("cache"), compiler_flags=("-O0",), threads=1):
        yield


class Solver:
    @lw.kernel
    def method(self, a):
        a[0] = self

    @staticmethod
    @lw.kernel
    def static_above(a):
        a[0] = 1

    @lw.kernel
    @staticmethod
    def static_below(a):
        a[0] = 2

    @classmethod
    @lw.kernel
    def of_class(cls, a):
        a[0] = 3

    @lw.kernel
    def no_self(a):
        a[0] = 4


class Image(np.ndarray):
    @lw.kernel
    def filled(self, value=1.5):
        for i in range(len(self)):
            self[i] = value


class Derived(Solver):
    pass


@pytest.mark.parametrize("owner", [Solver, Solver(), Derived, Derived()], ids=["class", "object", "derived", "its"])
def test_static_methods_take_what_they_are_given(owner: Any) -> None:
    a = np.zeros(1)
    for kernel, value in ((owner.static_above, 1), (owner.static_below, 2)):
        kernel(a)
        assert a[0] == value
        assert isinstance(kernel.explain(a).to_dict(), dict)
        assert callable(kernel.tune)


def test_through_the_class_a_kernel_is_itself() -> None:
    a = np.zeros(1)
    Solver.no_self(a)
    assert a[0] == 4
    Solver.method(2.5, a)
    assert a[0] == 2.5
    assert "explain" in dir(Solver.method) and Solver.method.explain(2.5, a) is not None


def test_an_object_that_is_an_array_is_the_first_argument() -> None:
    image = np.zeros(3).view(Image)
    image.filled()
    assert image.tolist() == [1.5] * 3
    image.filled(value=2)
    assert image.tolist() == [2.0] * 3


CALLS: dict[str, tuple[Callable[[], object], str]] = {
    "object": (lambda: Solver().method(np.zeros(1)), "'self' is an object of class 'Solver', and no array"),
    "derived": (lambda: Derived().method(np.zeros(1)), "'self' is an object of class 'Derived', and no array"),
    "class": (lambda: Solver.of_class(np.zeros(1)), "'cls' is the class 'Solver', and no array"),
    "class through an object": (lambda: Solver().of_class(np.zeros(1)), "'cls' is the class 'Solver', and no array"),
    "no self": (
        lambda: Solver().no_self(np.zeros(1)),
        "'no_self' is called as a method of 'Solver': no_self() takes 1 positional argument but 2 were given",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_any_other_object_is_refused_where_the_kernel_is_written(call: str) -> None:
    run, what = CALLS[call]
    with pytest.raises(lw.ArgumentTypeError) as caught:
        run()
    text = str(caught.value)
    assert re.match(rf"test_kernel\.py:\d+:\d+: ArgumentTypeError: {re.escape(what)}\n", text)
    assert "    def " in text and "^" in text and "try: write @staticmethod above it" in text


def test_other_faults_of_a_call_through_an_object_are_told_as_they_are() -> None:
    image = np.zeros(3).view(Image)
    with pytest.raises(lw.ArgumentTypeError, match=r"^argument 'value\.0'"):
        image.filled([object()])
    with pytest.raises(TypeError, match=r"^filled\(\) takes 2 positional arguments but 3"):
        image.filled(1, 2)


def test_a_class_method_below_is_refused_at_once() -> None:
    with pytest.raises(lw.KernelError, match="'method' is a classmethod"):
        lw.kernel(classmethod(Solver.method.__wrapped__))


def test_what_is_done_with_functions_works() -> None:
    assert str(inspect.signature(Solver.method)) == "(self, a)"
    assert str(inspect.signature(Solver().method)) == str(inspect.signature(Solver().static_below)) == "(a)"
    for kernel in (Solver.no_self, Solver.static_above, Solver.static_below):
        assert pickle.loads(pickle.dumps(kernel)) is copy.copy(kernel) is copy.deepcopy(kernel) is kernel
    assert Solver().method.__name__ == "method" and Solver.static_below.__name__ == "static_below"


# ---- what a kernel is ---------------------------------------------------------------------------------------------


def total(a, factor=2.0):
    """Adds up."""
    s = 0.0
    for i in range(len(a)):
        s += a[i] * factor
    return s


def total_of_pair(pair):
    a, b = pair
    s = a[0]
    for i in range(len(b)):
        s += b[i]
    return s


def test_it_tells_what_its_function_does() -> None:
    kernel = lw.kernel(total)
    assert (kernel.name, kernel.__name__, kernel.__doc__, kernel.__wrapped__) == ("total", "total", "Adds up.", total)
    assert kernel.file == __file__ and kernel.line == total.__code__.co_firstlineno
    assert repr(kernel) == "<loopwright kernel total(a, factor=2.0): nothing compiled yet>"
    assert kernel(np.ones(3)) == 6.0 and kernel(np.ones(3), factor=1.0) == 3.0 and kernel(a=np.zeros(0)) == 0.0


def test_what_is_compiled_for_which_calls() -> None:
    kernel = lw.kernel(total)
    assert kernel.specialisations() == [] and kernel.explanations() == []
    first = kernel.specialise(np.ones(3))
    assert kernel.specialisations() == [first] and kernel.specialise(np.ones(9)) is first
    kernel(np.ones(3, np.float32))
    assert len(kernel.specialisations()) == len(kernel.explanations()) == 2


def test_explaining_runs_nothing() -> None:
    a = np.zeros(3)
    kernel = lw.kernel(Solver.no_self.__wrapped__)
    told = kernel.explain(a).to_dict()
    assert a[0] == 0 and told["kernel"] == "no_self"


def test_who_watches_is_told_of_each_new_kernel() -> None:
    seen: list[object] = []
    WATCHERS.append(seen.append)
    try:
        kernel = lw.kernel(total)
    finally:
        WATCHERS.remove(seen.append)
    lw.kernel(total)
    assert seen == [kernel]


def test_ranges_of_a_kernel_are_what_tuning_chooses_from() -> None:
    kernel = lw.kernel(schedule=lw.tunable("split i {2,4,8}"))(total)
    assert len(kernel.space(np.ones(3))) == 3
    assert kernel(np.ones(3)) == 6.0
    with pytest.raises(TypeError, match=r"schedule is lw.tunable\(...\), not 'split i 4'"):
        lw.kernel(schedule="split i 4")  # type: ignore[call-overload]


def test_a_budget_that_is_none_and_bits_that_may_not_change() -> None:
    kernel = lw.kernel(total)
    for budget in ("soon", -1, float("inf")):
        with pytest.raises(ValueError, match="a budget"):
            kernel.tune(np.ones(3), budget=budget)
    with lw.options(deterministic=True), pytest.raises(ValueError, match=r"total\.tune under deterministic=True"):
        kernel.tune(np.ones(3), budget="1s")
    assert kernel.specialisations() == []


# ---- options of one kernel ----------------------------------------------------------------------------------------


def test_options_of_a_kernel_hold_in_its_calls_and_nowhere_else() -> None:
    kernel = lw.kernel(threads=2, strict=True)(total)
    before = current()
    assert kernel(np.ones(3)) == 3.0 * 2 and current() is before
    (one,) = kernel.specialisations()
    assert one.compilation.semantics.strict and kernel.options == {"threads": 2, "strict": True}
    with lw.options(strict=False, threads=1):
        assert "all on cpu 2: " in kernel.explain(np.ones(3)).plan
    assert kernel.py_func is total


def test_options_of_a_kernel_hold_in_threads_and_for_what_arguments_hold() -> None:
    kernel, seen = lw.kernel(checks="all", narrowing="wrap")(total_of_pair), []
    thread = threading.Thread(target=lambda: seen.append(kernel((np.ones(3), np.ones(2)))))
    thread.start()
    thread.join()
    assert seen == [3.0]
    assert [one.compilation.semantics.checks for one in kernel.specialisations()] == ["all"]


def test_a_kernel_raises_and_no_option_of_it_stays_behind() -> None:
    kernel, before = lw.kernel(strict=True)(total_of_pair), current()
    with pytest.raises(lw.BoundsError):
        kernel((np.ones(0), np.ones(0)))
    assert current() is before


def test_a_wrong_option_of_a_kernel_is_said_at_once() -> None:
    with pytest.raises(TypeError, match="no option 'fast'"):
        lw.kernel(fast=True)
    with pytest.raises(ValueError, match="option threads=0"):
        lw.kernel(threads=0)


# ---- code that is replaced ----------------------------------------------------------------------------------------


def test_new_code_serves_new_kinds_of_calls_if_it_has_the_same_parameters() -> None:
    def first(a):
        a[0] = 1

    def second(a):
        a[0] = 2

    kernel = lw.kernel(first)
    first.__code__ = second.__code__
    a = np.zeros(2, np.int16)
    kernel(a)
    assert a[0] == 2


@pytest.mark.parametrize("how", ["parameters", "writes"])
def test_new_code_of_another_kind_is_refused(how: str) -> None:
    def first(a, b):
        a[0] = b[0]

    def other(a, c):
        a[0] = c[0]

    def written(a, b):
        b[0] = a[0]

    kernel = lw.kernel(first)
    first.__code__ = (other if how == "parameters" else written).__code__
    with pytest.raises(lw.KernelError) as caught:
        kernel(np.zeros(2), np.ones(2))
    told = str(caught.value)
    assert "the code of 'first' was replaced by code with other parameters" in told
    assert "try: make a kernel of the new function" in told


@lw.function
def _scaled(x: float, *more: float) -> float:
    return x * more[0] + len(more)


@lw.kernel
def _of_any_number(a: Any, *more: Any, scale: float = 1.0) -> Any:
    total = 0.0
    for x in a:
        total += _scaled(x, scale, *more)
    for one in more:
        if isinstance(one, np.ndarray):
            one[0] += 1.0
    return total


def test_arguments_of_any_number() -> None:
    a, b = np.arange(3.0), np.zeros(2)
    assert _of_any_number(a) == 6.0
    assert _of_any_number(a, b, 7, scale=2.0) == 15.0
    assert _of_any_number(a, 7, 8) == 12.0 == _of_any_number(a, 9, 10)  # other numbers are the same code
    assert b[0] == 1.0
    assert len(_of_any_number._expanded) == 2
    assert "more" in str(_of_any_number.explain(a, b, 7))
    for wrong in ({"a": a, "more": 1}, {}, {"a": a, "other": 1}):
        with pytest.raises(TypeError):
            _of_any_number(**wrong)


def test_arguments_are_given_in_the_ways_that_the_function_allows() -> None:
    def weighted(a: Any, b: float = 1.0, /, c: float = 2.0, *, d: float = 3.0) -> Any:
        return a[0] + b + c * 10 + d * 100

    kernel, a = lw.kernel(weighted), np.ones(2)
    for _ in range(2):
        assert kernel(a, 5.0, c=1.0, d=2.0) == 216.0 and kernel(a) == 322.0
        with pytest.raises(TypeError, match="takes 3 positional arguments but 4"):
            kernel(a, 1.0, 2.0, 3.0)
        with pytest.raises(TypeError, match="positional-only"):
            kernel(a, b=2.0)
