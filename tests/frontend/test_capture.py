"""What `capture` reads of a function, from every place that a function can stand, and what it refuses."""

from __future__ import annotations

import functools
import math
import sys
import textwrap

import numpy as np
import pytest

from frontend.judge import define, same
from loopwright.errors import KernelError
from loopwright.frontend import list_functions
from loopwright.frontend.capture import capture, is_ours
from loopwright.ir.captured import ABSENT, CapturedConstant
from loopwright.ir.nodes import Location

LIMIT = 7


def plain(a, b=2.5, *, mode="fast", scale=None):
    return a[0] * LIMIT


def test_parameters_and_defaults():
    source = capture(plain)
    assert [(p.name, p.default, p.has_default, p.keyword_only) for p in source.parameters] == [
        ("a", None, False, False),
        ("b", 2.5, True, False),
        ("mode", "fast", True, True),
        ("scale", None, True, True),
    ]
    assert source.name == "plain"
    assert source.file == __file__
    assert source.definition.lines[source.line - 1].startswith("def plain")


def test_names_outside_the_function():
    local = 3

    def closed(x):
        return x * local + LIMIT

    source = capture(closed)
    found = source.lookup("local")
    assert found.value == 3
    assert found.relies == (CapturedConstant("cell", closed.__closure__[0], "", 3),)
    found = source.lookup("LIMIT")
    assert found.value == 7
    assert found.relies == (CapturedConstant("item", globals(), "LIMIT", 7),)
    found = source.lookup("abs")
    assert found.value is abs
    assert [(one.namespace is globals(), one.value) for one in found.relies] == [(True, ABSENT), (False, abs)]
    assert source.lookup("nowhere").value is ABSENT
    same(closed, 2)


def test_a_cell_without_a_value_yet():
    def closed(x):
        return x + later

    assert capture(closed).lookup("later").value is ABSENT
    later = 1
    assert capture(closed).lookup("later").value == 1


def decorate(function):
    return function


class Holder:
    @staticmethod
    def method():
        @decorate
        @decorate
        def nested(a):
            a[0] = 1

        return nested

    def bound(self, a):
        return a


def test_nested_decorated_functions_have_true_positions():
    nested = Holder.method()
    source = capture(nested)
    store = source.definition.tree.body[0]
    at = source.at(store.targets[0])
    assert source.definition.lines[at.line - 1][at.column : at.end_column] == "a[0]"
    assert at.column == 12


def test_positions_count_characters():
    function = define("def f(a):\n    é = 'ü'; a[0] = 1\n")
    source = capture(function)
    target = source.definition.tree.body[1].targets[0]
    assert source.at(target) == Location("example.py", 2, 13, 17)


def test_of_several_lines_the_first_is_shown():
    source = capture(define("def f(a):\n    return (a[0] +\n            a[1])\n"))
    value = source.definition.tree.body[0].value
    assert source.at(value) == Location("example.py", 2, 12, 18)


def test_a_module_in_a_file(tmp_path, monkeypatch):
    (tmp_path / "of_a_file.py").write_text("X = 2\n\n\ndef f(a):\n    return a * X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import of_a_file

    same(of_a_file.f, 4)
    (tmp_path / "of_a_file.py").write_text("def g(a, b):\n    return a * X\n")
    with pytest.raises(KernelError, match="does not match what was loaded"):
        capture(of_a_file.f)
    del sys.modules["of_a_file"]


def stars(**a):
    return a


def generator(a):
    yield a


async def coroutine(a):
    return a


REFUSED = {
    "lambda": lambda x: x,
    "builtin": math.sqrt,
    "class": Holder,
    "method": Holder().bound,
    "staticmethod": staticmethod(plain),
    "partial": functools.partial(plain, 1),
    "number": 3,
    "ufunc": np.sqrt,
    "stars": stars,
    "generator": generator,
    "coroutine": coroutine,
}


def test_what_is_no_function_of_the_language(golden):
    parts = []
    for name, function in REFUSED.items():
        with pytest.raises(KernelError) as caught:
            capture(function)
        text = str(caught.value).replace(f":{caught.value.at.line}:" if caught.value.at else "?", ":LINE:")
        parts.append(f"# {name}\n" + "\n".join(line[8:] if " | " in line[:9] else line for line in text.split("\n")))
    golden("errors/functions.txt", "\n\n".join(parts))


def test_no_source():
    namespace = {}
    exec(compile("def f(a):\n    return a\n", "<made up>", "exec"), namespace)
    with pytest.raises(KernelError, match="source of 'f' cannot be found"):
        capture(namespace["f"])


def test_captured_constants_are_recorded():
    from frontend.judge import lowered

    scale, shape = 2.5, (1, 2)

    def helper(x):
        return x * LIMIT

    def kernel(x):
        return helper(x) * scale + shape[1] + math.pi + plain_helper(x)

    constants = lowered(kernel, 2.0).constants
    items = {constant.key: constant.value for constant in constants if constant.kind == "item"}
    assert items == {"LIMIT": 7, "plain_helper": plain_helper, "math": math, "pi": math.pi}
    cells = {str(constant.value) for constant in constants if constant.kind == "cell"}
    assert cells == {"(1, 2)", "2.5", str(helper)}
    assert {constant.namespace for constant in constants if constant.kind == "code"} == {kernel, helper, plain_helper}


def plain_helper(x):
    return x


def test_constants_of_other_modules():
    import types

    settings = types.ModuleType("settings")
    settings.N = 3
    function = define("def f(x):\n    return x * settings.N\n", settings=settings)
    from frontend.judge import lowered

    (constant,) = [c for c in lowered(function, 2).constants if c.key == "N"]
    assert constant.namespace is vars(settings)


def test_functions_of_ours_are_read_once_and_those_of_users_each_time():
    assert is_ours(list_functions.sort_numbers) and not is_ours(plain) and not is_ours(len)
    assert capture(list_functions.sort_numbers) is capture(list_functions.sort_numbers)
    assert capture(plain) is not capture(plain)


def test_enumerations_and_numpy_scalars_are_constants():
    import enum

    class Color(enum.IntEnum):
        RED = 3

    function = define("def f(x):\n    return x * Color.RED + one\n", Color=Color, one=np.int8(1))
    same(function, 2)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="positions")
def test_text_that_was_dedented():
    function = define(textwrap.dedent("    def f(x):\n        return x + 1\n"))
    same(function, 1)
