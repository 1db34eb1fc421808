"""What code takes from outside its function may change at any time: the next call has the new value, whatever way leads
to it, or the way is refused. The plain Python function is the judge."""

from __future__ import annotations

import builtins
import itertools
import math
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from constant_forms import FORMS, LOOP, agree, world
from loopwright.config import current
from loopwright.devices import by_ctypes, launcher
from loopwright.devices.launcher import Loaded
from loopwright.frontend.capture import capture
from loopwright.frontend.lower import lower
from loopwright.ir.captured import ABSENT
from loopwright.runtime.specialise import signature_of


@pytest.fixture(autouse=True, scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache for all: the same code is made of many forms."""
    cache = tmp_path_factory.mktemp("cache")
    with lw.options(cache=cache, compiler_flags=("-O0",), strict=False, checks="auto", device="cpu", threads=1):
        yield


VALUES = (5, 2, 2.0, 2)  # another one, back, an equal one of another type, back


@pytest.mark.parametrize("form", FORMS)
def test_the_next_call_notices(form: str) -> None:
    before, expression = FORMS[form]
    space = world(before + LOOP.format(expression))
    kernel, f, put = lw.kernel(space["f"]), space["f"], space["put"]
    agree(kernel, f)
    for value in VALUES:
        put(value)
        agree(kernel, f)
        agree(kernel, f)  # the second one is found by the launcher
    thread = threading.Thread(target=put, args=(7,))
    thread.start()
    thread.join()
    agree(kernel, f)


@pytest.mark.parametrize("form", ["an attribute of a class", "a helper's default", "SimpleNamespace"])
def test_the_next_call_notices_where_there_is_no_extension(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher, "_loaded", Loaded(by_ctypes, "ctypes", "as the test wants"))
    test_the_next_call_notices(form)


@pytest.mark.parametrize("form", FORMS)
def test_a_change_by_code_that_runs_often_is_noticed(form: str) -> None:
    """Python has shorter ways to set an attribute for such code."""
    before, expression = FORMS[form]
    space = world(before + LOOP.format(expression))
    source = capture(space["f"])
    constants = lower(source, signature_of((np.zeros(3),), [0])).constants
    facts = tuple(
        (c.kind, c.namespace, c.key) if c.value is ABSENT else (c.kind, c.namespace, c.key, c.value) for c in constants
    )
    loaded = launcher.load_launcher(current())
    assert loaded.kind == "extension"
    ours, theirs = loaded.launcher.Constants(facts), by_ctypes.Constants(facts)
    assert ours.hold()
    for k in range(100):
        for value in (k + 3, 2):
            space["put"](value)
            assert ours.hold() == theirs.hold()
    space["put"](1)
    assert not ours.hold()


@pytest.mark.parametrize("device", ["interpreter", "emulated"])
@pytest.mark.parametrize("form", ["an attribute of a class", "a helper's keyword default"])
def test_the_next_call_notices_on_other_devices(form: str, device: str) -> None:
    before, expression = FORMS[form]
    space = world(before + LOOP.format(expression))
    kernel, f, put = lw.kernel(space["f"]), space["f"], space["put"]
    with lw.options(device=device):
        for value in (2, 5, 2):
            put(value)
            agree(kernel, f)
            agree(kernel, f)


def test_a_repeated_call_on_a_gpu_notices() -> None:
    """Calls with the same arrays in a GPU's memory are repeated without being looked at."""
    space = world("class Cfg: v = 2\ndef f(a):\n    for i in range(len(a)):\n        a[i] = a[i] + Cfg.v\n")
    kernel = lw.kernel(space["f"])
    with lw.options(device="emulated"):
        a = lw.device_array(np.zeros(4))
        for value in (2, 2, 2, 5, 5, 2):
            space["Cfg"].v = value
            kernel(a)
        assert a.numpy().tolist() == [18.0] * 4


# ---- names that are not there yet, or no longer -------------------------------------------------------------------

SHADOWED = {
    "min": ("min(a[i], 1.0)", lambda x, y: x + y),
    "max": ("max(a[i], 1.0)", lambda x, y: x + y),
    "abs": ("abs(a[i] - 1.0)", lambda x: x * 3.0),
    "float": ("float(i)", lambda x: x + 10.0),
    "int": ("int(a[i])", lambda x: x + 10.0),
    "round": ("round(a[i])", lambda x: x + 10.0),
    "pow": ("pow(a[i], 2)", lambda x, y: x + y),
    "divmod": ("divmod(i, 2)[1]", lambda x, y: (x, y)),
    "bool": ("bool(a[i])", lambda x: x + 10.0),
}


@pytest.mark.parametrize("name", SHADOWED)
def test_a_builtin_that_is_hidden_later(name: str) -> None:
    expression, _ = SHADOWED[name]
    space = world(
        "def by_one(x): return x + 10.0\ndef by_two(x, y): return x + y\ndef pair(x, y): return (x, y)\n"
        f"def f(a):\n    for i in range(len(a)):\n        a[i] = {expression}\n"
    )
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    space[name] = {"min": space["by_two"], "max": space["by_two"], "pow": space["by_two"], "divmod": space["pair"]}.get(
        name, space["by_one"]
    )
    agree(kernel, f)
    agree(kernel, f)
    del space[name]
    agree(kernel, f)


def test_len_and_range_that_are_hidden_later() -> None:
    space = world("""
        def one(x): return 1
        def f(a):
            for i in range(len(a)):
                a[i] = a[i] + 1.0
        """)
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    space["len"] = space["one"]
    agree(kernel, f)
    space["range"] = space["one"]
    for run in (kernel, f):
        with pytest.raises((lw.KernelError, TypeError)):
            run(np.arange(3.0))
    del space["len"], space["range"]
    agree(kernel, f)


def test_a_builtin_that_is_replaced_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "def pair(x, y): return x, y\ndef f(a):\n    for i in range(len(a)):\n        a[i] = divmod(i, 2)[1]\n"
    space = world(text)
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    with monkeypatch.context() as change:
        change.setattr(builtins, "divmod", space["pair"])
        agree(kernel, f)
    agree(kernel, f)


@pytest.mark.parametrize(("module", "name"), [(np, "pi"), (math, "pi"), (np, "e"), (math, "tau")])
def test_a_constant_of_a_library(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where = "np" if module is np else "math"
    space = world(LOOP.format(f"{where}.{name}"))
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    with monkeypatch.context() as change:
        change.setattr(module, name, 3)
        agree(kernel, f)
    agree(kernel, f)


@pytest.mark.parametrize("name", ["np", "math"])
def test_a_library_that_is_replaced(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    space = world(
        f"def g(x): return x + 1.0\ndef f(a):\n    for i in range(len(a)):\n        a[i] = {name}.sqrt(a[i])\n"
    )
    kernel, f, module = lw.kernel(space["f"]), space["f"], space[name]
    agree(kernel, f)
    space[name] = types.SimpleNamespace(sqrt=space["g"])
    agree(kernel, f)
    space[name] = module
    agree(kernel, f)
    with monkeypatch.context() as change:
        change.setattr(module, "sqrt", space["g"])
        agree(kernel, f)
    agree(kernel, f)


@pytest.mark.parametrize("form", ["V", "Cfg.v", "cfg.v", "g(1)"])
def test_what_is_gone_is_an_error_and_what_is_back_is_found(form: str) -> None:
    space = world("V = 2\nclass Cfg: v = 2\ncfg = types.SimpleNamespace(v=2)\ndef g(x): return x\n" + LOOP.format(form))
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    name, _, attribute = form.partition(".")
    owner = space[name.removesuffix("(1)")]
    delattr(owner, attribute) if attribute else space.pop(name.removesuffix("(1)"))
    for run in (kernel, f):
        with pytest.raises((lw.KernelError, NameError, AttributeError)):
            run(np.arange(3.0))
    setattr(owner, attribute, 5) if attribute else space.update({name.removesuffix("(1)"): owner})
    agree(kernel, f)


# ---- functions that are replaced ----------------------------------------------------------------------------------


def test_helpers_that_are_replaced() -> None:
    space = world("""
        mod = types.ModuleType("mod")
        class Cfg: pass
        def g(x): return x + 1
        def h(x): return x * 3
        mod.g = Cfg.g = g
        def f(a):
            for i in range(len(a)):
                a[i] = g(a[i]) + mod.g(a[i]) + Cfg.g(a[i])
        """)
    kernel, f, g, h = lw.kernel(space["f"]), space["f"], space["g"], space["h"]
    agree(kernel, f)
    for owner in (space["mod"], space["Cfg"]):
        for value in (h, g, staticmethod(h), g):
            if isinstance(value, staticmethod) and owner is space["mod"]:
                continue
            owner.g = value
            agree(kernel, f)
    for value in (h, g, lw.kernel(h)):
        space["g"] = value
        agree(kernel, f)


def test_code_that_is_replaced() -> None:
    space = world("""
        def g(x): return x + 1
        def h(x): return x * 3
        def f(a):
            for i in range(len(a)):
                a[i] = g(a[i])
        def k(a):
            for i in range(len(a)):
                a[i] = g(a[i]) - 5
        """)
    kernel, f, g, h, k = lw.kernel(space["f"]), *map(space.get, "fghk")
    agree(kernel, f)
    old, g.__code__ = g.__code__, h.__code__
    agree(kernel, f)
    g.__code__ = old
    agree(kernel, f)
    old, f.__code__ = f.__code__, k.__code__
    agree(kernel, f)
    agree(kernel, f)
    f.__code__ = old
    agree(kernel, f)


def test_code_that_is_replaced_by_some_with_other_parameters() -> None:
    space = world("def f(a):\n    a[0] = 1\ndef k(a, b):\n    b[0] = a[0]\n")
    kernel = lw.kernel(space["f"])
    kernel(np.zeros(2))
    space["f"].__code__ = space["k"].__code__
    with pytest.raises(lw.KernelError, match=r"outside.py:3:5: .*'f' was replaced by code with other parameters"):
        kernel(np.zeros(2))


@pytest.mark.parametrize("star", ["", "*, "])
def test_the_kernels_own_defaults(star: str) -> None:
    space = world(f"def f(a, {star}v=2, w=1):\n    for i in range(len(a)):\n        a[i] = a[i] + v\n    return v, w\n")
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    for v in VALUES:
        if star:
            f.__kwdefaults__ = {"v": v, "w": 1}
        else:
            f.__defaults__ = (v, 1)
        agree(kernel, f)
        agree(kernel, f)
    if star:
        f.__kwdefaults__["v"] = 9
        agree(kernel, f)
        f.__kwdefaults__ = None
    else:
        f.__defaults__ = (9,)
    for run in (kernel, f):
        with pytest.raises(TypeError, match="missing"):
            run(np.zeros(1))


# ---- what is refused ----------------------------------------------------------------------------------------------

REFUSED = {
    "a property": "class C:\n    @property\n    def v(self): return 2\nv = C()",
    "a cached property": (
        "import functools\nclass C:\n    @functools.cached_property\n    def v(self): return 2\nv = C()"),
    "a property of the metaclass": (
        "class M(type):\n    @property\n    def v(self): return 2\nclass C(metaclass=M): pass\nv = C"),
    "__getattr__": "class C:\n    def __getattr__(self, name): return 2\nv = C()",
    "__getattr__ of the metaclass": (
        "class M(type):\n    def __getattr__(self, name): return 2\nclass C(metaclass=M): pass\nv = C"),
    "__getattribute__": "class C:\n    def __getattribute__(self, name): return 2\nv = C()",
    "__getattr__ of a module": "v = types.ModuleType('mod')\nv.__getattr__ = lambda name: 2",
    "a descriptor": "class D:\n    def __get__(self, one, kind): return 2\nclass C:\n    v = D()\nv = C",
}  # fmt: skip


@pytest.mark.parametrize("form", REFUSED)
def test_what_is_computed_each_time_is_refused(form: str) -> None:
    space = world(REFUSED[form] + LOOP.format("v.v"))
    with pytest.raises(lw.KernelError, match=r"(?s)outside.py:\d+:\d+: .*'v.v' can change without notice.*\^.*try: "):
        lw.kernel(space["f"])(np.arange(3.0))


def test_a_class_that_begins_to_compute() -> None:
    """What was an attribute becomes a property, and back."""
    space = world("class C: v = 2\nv = C()" + LOOP.format("v.v"))
    kernel, f = lw.kernel(space["f"]), space["f"]
    agree(kernel, f)
    space["C"].v = property(lambda self: 3)
    with pytest.raises(lw.KernelError, match="'v' is a property of 'C'"):
        kernel(np.arange(3.0))
    space["C"].v = 4
    agree(kernel, f)
    space["C"].__getattribute__ = lambda self, name: 3
    with pytest.raises(lw.KernelError, match="__getattribute__"):
        kernel(np.arange(3.0))


@pytest.mark.parametrize("way", ["V", "Cfg.v"])
def test_contents_of_arrays_are_those_of_each_call(way: str) -> None:
    space = world("V = np.ones(2)\nclass Cfg: v = V\n" + LOOP.format(f"{way}[0]"))
    kernel, f = lw.kernel(space["f"]), space["f"]
    for value in (1.0, 5.0):
        space["V"][0] = value
        agree(kernel, f)
    space["V"] = space["Cfg"].v = np.array([7, 8])
    agree(kernel, f)


REFUSED_ANYWHERE = ["[1, 2]", "{0: 1}", "([1, 2],)[0]", "bytearray(b'12')"]


@pytest.mark.parametrize(
    ("value", "way"),
    [*itertools.product(REFUSED_ANYWHERE, ["V", "Cfg.v", "V2[0]"]), ("np.ones(2)", "V2[0]")],
)
def test_contents_that_could_change_are_refused(value: str, way: str) -> None:
    space = world(f"V = {value}\nV2 = (V,)\nclass Cfg: v = V\n" + LOOP.format(f"{way}[0]"))
    with pytest.raises(lw.KernelError, match=r"outside.py:\d+:\d+"):
        lw.kernel(space["f"])(np.arange(3.0))


# ---- between processes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_what_another_process_made_serves_only_the_same_values(form: str) -> None:
    """A new process has nothing but the cache: one with another value makes other code."""
    before, expression = FORMS[form]
    for value in (2, 5, 2):
        space = world(before + LOOP.format(expression))
        space["put"](value)
        agree(lw.kernel(space["f"]), space["f"])


def test_a_module_that_is_found_by_name_is_asked_again_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above, where it is remembered: attributes of modules, builtins, defaults."""
    text = "def g(x, v=1): return x + v" + LOOP.format("g(settings.v) + abs(-1)")
    settings = types.ModuleType("constants_settings")
    monkeypatch.setitem(sys.modules, settings.__name__, settings)
    with lw.options(cache=tmp_path):
        for value, default, shadow in ((1, 1, None), (2, 1, None), (1, 2, None), (1, 1, "g"), (1, 1, None)):
            settings.v = value
            space = world(text)
            space["settings"] = settings
            space["g"].__defaults__ = (default,)
            if shadow:
                space["abs"] = space[shadow]
            agree(lw.kernel(space["f"]), space["f"])
