"""What the passes made is found again, and only that: every change that could matter must miss."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright as lw
from loopwright import compiler, remembered
from loopwright.devices import base
from loopwright.toolchain import store


@pytest.fixture(autouse=True)
def options(tmp_path: Path):
    with lw.options(cache=tmp_path / "cache", compiler_flags=("-O0",), strict=False, checks="auto", device="auto"):
        yield


@pytest.fixture(autouse=True)
def classes() -> Iterator[None]:
    """Those of results, none at first, as in a new process: what other tests have returned has other numbers."""
    before = base.CLASSES[:]
    base.CLASSES.clear()
    yield
    base.CLASSES[:] = before


@pytest.fixture(autouse=True)
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that the passes were run for."""
    ran: list[str] = []
    real = compiler.lower  # the first of them

    def counted(source: Any, *rest: Any) -> Any:
        ran.append(source.name)
        return real(source, *rest)

    monkeypatch.setattr(compiler, "lower", counted)
    return ran


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Any]:
    """A module made of a text, with a kernel `f`: as a new process would have it, each time."""

    def loaded(text: str, name: str = "script.py", **found: object) -> Any:
        path = tmp_path / name
        path.write_text("import numpy as np\nimport loopwright as lw\n" + text)
        module = types.ModuleType("script")
        vars(module).update(found, __file__=str(path))
        exec(compile(path.read_text(), str(path), "exec"), vars(module))
        return module

    return loaded


PLAIN = """
@lw.kernel
def f(a, n):
    for i in range(n):
        a[i] = a[i] * K + 1
"""


def called(kernel: Any, size: int = 4) -> list[float]:
    a = np.ones(size)
    kernel(a, size)
    return a.tolist()


def test_what_one_process_made_the_next_one_finds(load, passes):
    assert called(load("K = 2" + PLAIN).f) == [3.0] * 4
    assert passes == ["f"]
    assert called(load("K = 2" + PLAIN).f) == [3.0] * 4
    assert passes == ["f"]


BASE = """
import math
K, MODE, DELETED, PAIR = 2, 'a', 1, (1, 2)
BYTE, BY = np.int8(3), 1

def helper(x, by=3, other=BY):
    return x * K + by + BYTE + other

def maker(depth):
    def inner(x):
        return x + depth
    return inner

deep = maker(1)

def outer():
    cell = 1
    @lw.kernel
    def f(a, n):
        for i in range(n):
            a[i] = helper(a[i]) + deep(cell) + PAIR[0] + DELETED + math.floor(1.5) + settings.SCALE
            if MODE == 'a':
                a[i] = abs(a[i]) + 1
    return f
f = outer()
"""
CHANGES = {
    "the text": ("+ 1\n", "+ 2\n"),
    "the line": ("def outer", "\ndef outer"),
    "the column": (
        "            a[i] = helper(a[i]) +",
        "            a[i]  = helper(a[i]) +",
    ),
    "a global": ("K, MODE, DELETED, PAIR = 2,", "K, MODE, DELETED, PAIR = 3,"),
    "its type": ("K, MODE, DELETED, PAIR = 2,", "K, MODE, DELETED, PAIR = 2.0,"),
    "to a scalar of NumPy": ("K, MODE, DELETED, PAIR = 2,", "K, MODE, DELETED, PAIR = np.float32(2),"),
    "of another width": ("K, MODE, DELETED, PAIR = 2,", "K, MODE, DELETED, PAIR = np.int8(2),"),
    "to True": ("K, MODE, DELETED, PAIR = 2, 'a', 1,", "K, MODE, DELETED, PAIR = 2, 'a', True,"),
    "to its like": ("K, MODE, DELETED, PAIR = 2, 'a', 1,", "K, MODE, DELETED, PAIR = 2, 'a', 1.0,"),
    "a tuple": ("(1, 2)", "(5, 2)"),
    "a tuple's type": ("(1, 2)", "(1.0, 2)"),
    "a string": ("'a', 1,", "'b', 1,"),
    "a helper": ("x * K + by", "x * K - by"),
    "a helper's line": ("def helper", "\n\ndef helper"),
    "a helper's default": ("by=3", "by=4"),
    "what a helper's default is made of": ("BY = np.int8(3), 1", "BY = np.int8(3), 2"),
    "to a scalar of the same bytes": ("BYTE, BY = np.int8(3)", "BYTE, BY = np.uint8(3)"),
    "a helper's name": ("deep = maker(1)", "deep = helper"),
    "a helper's cell": ("deep = maker(1)", "deep = maker(2)"),
    "a cell": ("cell = 1", "cell = 7"),
    "a cell's type": ("cell = 1", "cell = 1.0"),
    "a builtin that is hidden": ("def maker", "def abs(x):\n    return x * 2\n\ndef maker"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_outside_and_inside_misses(load, passes, change):
    old, new = CHANGES[change]
    assert BASE.count(old) == 1, change
    import_settings(SCALE=1)
    wanted = called(load(BASE, settings=SETTINGS).f)
    assert called(load(BASE, settings=SETTINGS).f) == wanted and passes == ["f"]
    other = load(BASE.replace(old, new), settings=SETTINGS)
    got = called(other.f)
    assert passes == ["f"] * 2
    assert got == python_says(other.f)
    assert called(load(BASE, settings=SETTINGS).f) == wanted and passes == ["f"] * 2, "the old one is forgotten"


SETTINGS = types.ModuleType("loopwright_test_settings")


def import_settings(**values: object) -> None:
    """Have the module SETTINGS imported, with these attributes."""
    vars(SETTINGS).update(values)
    sys.modules[SETTINGS.__name__] = SETTINGS


def python_says(kernel: Any) -> list[float]:
    a = np.ones(4)
    kernel.__wrapped__(a, 4)
    return a.tolist()


def test_an_attribute_of_a_module_misses(load, passes):
    import_settings(SCALE=1)
    first = called(load(BASE, settings=SETTINGS).f)
    import_settings(SCALE=10)
    assert called(load(BASE, settings=SETTINGS).f) == [one + 9 for one in first]
    assert passes == ["f"] * 2


def test_a_function_of_numpy_that_somebody_replaced_misses(load, passes, monkeypatch):
    text = PLAIN.replace("a[i] * K", "np.sqrt(a[i] * 4)")
    assert called(load(text).f) == [3.0] * 4

    def sqrt(x):
        return x * 2

    monkeypatch.setattr(np, "sqrt", np.cbrt)
    assert called(load(text).f) == [4 ** (1 / 3) + 1] * 4
    monkeypatch.setattr(np, "sqrt", sqrt)
    assert called(load(text).f) == [9.0] * 4
    monkeypatch.undo()


def test_another_file_misses(load, passes):
    called(load("K = 2" + PLAIN).f)
    called(load("K = 2" + PLAIN, "other.py").f)
    assert passes == ["f"] * 2


@pytest.mark.parametrize(
    "changes",
    [
        {"strict": True},
        {"checks": "all"},
        {"narrowing": "raise"},
        {"compiler_flags": ("-O0", "-g")},
        {"compiler": "gcc"},
    ],
)
def test_options_miss(load, passes, changes):
    called(load("K = 2" + PLAIN).f)
    with lw.options(**changes):
        called(load("K = 2" + PLAIN).f)
    assert passes == ["f"] * 2


def test_the_number_of_threads_hits(load, passes):
    called(load("K = 2" + PLAIN).f)
    with lw.options(threads=3, compile_timeout_s=7.0, store="off"):
        called(load("K = 2" + PLAIN).f)
    assert passes == ["f"]


def test_what_runs_on_the_cpu_is_the_same_under_every_device_that_means_it(load, passes):
    called(load("K = 2" + PLAIN).f)
    with lw.options(device="cpu"):  # as where it was chosen among variants
        called(load("K = 2" + PLAIN).f)
    assert len(passes) == 1
    for device in ("emulated", "auto"):
        with lw.options(device=device, checks="all"):
            called(load("K = 2" + PLAIN).f)
    assert len(passes) == 2


def test_every_kind_of_call_is_another(load, passes):
    kinds = [
        np.ones(4), np.ones(4, np.float32), np.ones(8)[::2], np.ones(4, np.int64), np.ones(4, np.int32),
        np.frombuffer(bytearray(33), np.float64, 4, 1),
    ]  # fmt: skip
    for _ in range(2):
        for kind in kinds:
            for n in (4, np.int64(4), np.int32(4)):
                load("K = 2" + PLAIN).f(kind, n)
    assert len(passes) == len(kinds) * 3


def test_where_passes_are_watched_they_run(load, passes, tmp_path, capsys):
    called(load("K = 2" + PLAIN).f)
    with lw.options(debug=frozenset({"schedule"})):
        called(load("K = 2" + PLAIN).f)
    assert "parallel" in capsys.readouterr().err
    with lw.options(dump=tmp_path / "dump"):
        called(load("K = 2" + PLAIN).f)
    assert list((tmp_path / "dump").iterdir())
    assert passes == ["f"] * 3


def test_an_edit_of_this_package_misses(load, passes, monkeypatch):
    called(load("K = 2" + PLAIN).f)
    monkeypatch.setattr(remembered, "revision", lambda: "edited")
    called(load("K = 2" + PLAIN).f)
    called(load("K = 2" + PLAIN).f)
    assert passes == ["f"] * 2
    monkeypatch.setattr(remembered, "revision", lambda: "")  # edited while it runs
    called(load("K = 2" + PLAIN).f)
    called(load("K = 2" + PLAIN).f)
    assert passes == ["f"] * 4


def test_another_islpy_misses(load, passes, monkeypatch):
    called(load("K = 2" + PLAIN).f)
    monkeypatch.setattr(remembered, "_isl_version", lambda: "newer")
    called(load("K = 2" + PLAIN).f)
    assert passes == ["f"] * 2


def test_a_module_that_is_none_is_not_remembered(load, passes):
    text = "import math, types\nK = 2\nmath = types.SimpleNamespace(floor=abs)" + PLAIN.replace(
        "+ 1", "+ math.floor(-1.0)"
    )
    for _ in range(2):
        assert called(load(text).f) == [3.0] * 4
    assert passes == ["f"] * 2


def test_what_cannot_be_told_apart_is_not_remembered(load, passes):
    text = PLAIN.replace("K", "Settings.K")
    assert called(load("class Settings:\n    K = 2\n" + text).f) == [3.0] * 4
    assert called(load("class Settings:\n    K = 3\n" + text).f) == [4.0] * 4
    assert passes == ["f"] * 2


def test_the_same_function_is_not_an_equal_one(load, passes):
    """`f is g` is decided when the function is read."""
    text = """
def make():
    def helper(x):
        return x
    return helper
one = make()
other = OTHER
@lw.kernel
def f(a, n):
    for i in range(n):
        a[i] = 5 if one is other else one(a[i])
"""
    same, equal = text.replace("OTHER", "one"), text.replace("OTHER", "make()")
    assert called(load(same).f) == [5.0] * 4
    assert called(load(equal).f) == [1.0] * 4
    assert called(load(same).f) == [5.0] * 4
    assert passes == ["f"] * 2


def test_a_constant_that_changes_later_is_noticed(load, passes):
    called(load("K = 2" + PLAIN).f)
    module = load("K = 2" + PLAIN)
    assert called(module.f) == [3.0] * 4 and passes == ["f"]
    module.K = 5
    assert called(module.f) == [6.0] * 4 and passes == ["f"] * 2
    module.K = 2
    assert called(module.f) == [3.0] * 4 and passes == ["f"] * 2


def test_explain_after_a_hit_tells_of_what_runs_and_not_of_what_changed_since(load, passes):
    text = "K = 2" + PLAIN.replace("a[i] * K", "a[i] * K if K == 2 else a[K]")
    module = load(text)
    called(module.f)
    wanted = module.f.explanations()[0].to_dict()
    module = load(text)
    called(module.f)
    module.K = 3
    got = module.f.explanations()[0].to_dict()
    assert passes == ["f"] * 2
    for told in (wanted, got):
        for volatile in ("generated", "ran"):
            del told[volatile]
    assert got == wanted


FAILING = """
@lw.kernel
def f(a, at, b, n):
    for i in range(n):
        b[i] = 1
    for i in range(n):
        a[at[i]] = 1
    if a[0] > 0:
        b[n + 1] = 1
"""


def failure(kernel: Any, *arguments: object) -> str:
    try:
        kernel(*arguments)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("no error")


def test_errors_are_the_same_after_a_hit(load, passes):
    calls = [
        (np.zeros(4), np.array([1, 9]), np.zeros(9), 2),  # found in the loop
        (np.zeros(4), np.zeros(4, int), np.zeros(1), 2),  # certain before it runs
        (np.zeros(4), np.zeros(3, int), np.zeros(3), 3),  # the condition on the sizes fails, so all is checked
    ]
    wanted = [failure(load(FAILING).f, *call) for call in calls]
    assert "script.py:9" in wanted[0] and "at[i]" in wanted[0]
    assert "script.py:7" in wanted[1] and "nothing was written" in wanted[1]
    assert "script.py:11" in wanted[2] and "earlier writes remain" in wanted[2]
    del passes[:]
    assert failure(load(FAILING).f, *calls[0]) == wanted[0] and passes == []
    assert [failure(load(FAILING).f, *call) for call in calls] == wanted


RESULTS = """
@lw.kernel
def f(a, n):
    total = 0.0
    b = np.zeros((n + 1, a.shape[0]), dtype=np.float32)
    c = np.full(n, -0.0)
    for i in range(n):
        b[i + 1, i] = a[i]
        total += a[i]
    return total, b, a, c, n
"""


def test_returned_values_and_arrays_are_the_same_after_a_hit(load, passes):
    for _ in range(2):
        a = np.arange(5.0)
        total, b, same, c, n = load(RESULTS).f(a, 3)
        assert (total, type(total), n, same is a) == (3.0, np.float64, 3, True)
        assert b.shape == (4, 5) and b.dtype == np.float32 and b.sum() == 3
        assert c.shape == (3,) and np.signbit(c).all()
    assert passes == ["f"]
    assert "negative dimensions" in failure(load(RESULTS).f, np.zeros(3), -2) and passes == ["f"]


def test_records_are_remembered(load, passes):
    text = "@lw.kernel\ndef f(p, n):\n    for i in range(n):\n        p['x'][i] = p['y'][i] + 1\n"
    for dtype in ([("x", "f8"), ("y", "i4")], [("y", "i4"), ("x", "f8")], [("x", "f8"), ("y", "i4")]):
        p = np.zeros(3, np.dtype(dtype))
        p["y"] = 4
        load(text).f(p, 3)
        assert p["x"].tolist() == [5.0] * 3
    assert passes == ["f"] * 2


# ---- entries ------------------------------------------------------------------------------------------------------


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").glob(f"objects/*/*/{remembered.ENTRY}"))


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"program": {}}', '{"questions": [["eval", [], "x"]]}'])
@pytest.mark.parametrize("signed", [False, True])
def test_entries_that_are_not_what_was_written_are_made_again(load, passes, tmp_path, text, signed):
    called(load("K = 2" + PLAIN).f)
    written = {path: path.read_text() for path in entries(tmp_path)}
    assert len(written) == 2
    for path in written:
        path.write_text(text)
        if signed:  # even where the digest agrees
            (path.parent / store.DIGEST).write_text(store._digest(path.parent.name, {path.name: text.encode()}))
    assert called(load("K = 2" + PLAIN).f) == [3.0] * 4
    assert passes == ["f"] * 2
    called(load("K = 2" + PLAIN).f)
    while len(passes) < 4 and {path: path.read_text() for path in entries(tmp_path)} != written:
        called(load("K = 2" + PLAIN).f)  # one broken entry is found on the way to another
    assert {path: path.read_text() for path in entries(tmp_path)} == written
    del passes[:]
    assert called(load("K = 2" + PLAIN).f) == [3.0] * 4 and passes == []


def test_a_library_that_is_gone_is_compiled_again(load, passes, tmp_path):
    called(load("K = 2" + PLAIN).f)
    for path in (tmp_path / "cache").glob("objects/*/*/kernel.so"):
        path.unlink()
    assert called(load("K = 2" + PLAIN).f) == [3.0] * 4
    assert passes == ["f"]


def test_an_entry_is_plain_text_that_can_be_read(load, tmp_path):
    called(load("K = 2" + PLAIN).f)
    both = [json.loads(path.read_text()) for path in entries(tmp_path)]
    [questions] = [one["questions"] for one in both if "questions" in one]
    assert sorted(questions) == [["name", [], "K"], ["name", [], "range"]]
    [result] = [one for one in both if "program" in one]
    assert "lw_entry" in result["program"]["text"]


def test_what_the_compiler_refuses_is_not_remembered(load, tmp_path):
    with lw.options(compiler_flags=("-no-such-flag",)), pytest.raises(lw.CompilerError):
        called(load("K = 2" + PLAIN).f)
    assert entries(tmp_path) == []


LISTS = """
@lw.kernel
def f(a):
    return [[k] * k for k in range(len(a))]
"""


def test_classes_of_results_are_found_by_their_names(load, passes):
    """Their numbers are those of one process: another one may have met another class first."""
    for number in range(3):
        base.CLASSES.insert(0, type(f"Other{number}", (), {}))
        try:
            assert load(LISTS).f(np.arange(3.0)) == [[], [1], [2, 2]]
        finally:
            del base.CLASSES[0]
    assert passes == ["f"]


def test_where_a_class_is_gone_the_passes_run(load, passes, monkeypatch: pytest.MonkeyPatch):
    load(LISTS).f(np.arange(3.0))
    monkeypatch.setattr(remembered, "number_of_class", lambda name: base.number_of_class("script:Gone"))
    assert load(LISTS).f(np.arange(3.0)) == [[], [1], [2, 2]]
    assert passes == ["f", "f"]
