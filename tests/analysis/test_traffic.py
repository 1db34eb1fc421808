"""The least that has to be moved, against PolyBench's own numbers, which were found by thought."""

from __future__ import annotations

from types import ModuleType

import pytest

import loopwright as lw
from analysis.small import kernel
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.traffic import Traffic, traffic
from loopwright.cost.call_shape import shape_of
from loopwright.ir.nodes import For, Kernel, Load, Store
from loopwright.ir.walk import expressions, loops, statements
from polybench.test_verdicts import every_module

# Reads of what an earlier loop wrote in part are left out: they may come before that write or after it.
LESS = {"correlation", "doitgen", "ludcmp", "adi", "fdtd-2d", "heat-3d", "jacobi-1d", "jacobi-2d"}
HEAD = 'def f(a: "float64[2]", b: "float64[1]", x: "int64[1]", n: "int64", m: "int64"):\n'


def keys(made: Kernel, inside: str = "") -> set[object]:
    body = made.body
    if inside:
        loop = loops(made)[inside]
        assert isinstance(loop, For)
        body = (loop,)
    nodes = (*expressions(body), *statements(body))
    return {node.key for node in nodes if isinstance(node, Load | Store)}


@every_module
def test_never_more_than_there_is_to_move(module: ModuleType) -> None:
    sizes = module.SIZES["SMALL"]
    arguments = list(module.initialise(**sizes).values())
    written = lw.kernel(module.kernel).specialise(*arguments).analysed.written
    names = parameter_texts(written)
    known = {names[name]: size for name, size in shape_of(written, arguments).sizes.items() if name in names}
    found = traffic(written, keys(written)).value(known)
    assert found is not None
    if module.NAME in LESS:
        assert 0 < found < module.bytes_min(**sizes)
    else:
        assert found == module.bytes_min(**sizes)


def of(text: str, inside: str = "", around: tuple[str, ...] = ()) -> Traffic:
    made = kernel(HEAD + "".join(f"    {line}\n" for line in text.split("\n")))
    return traffic(made, keys(made, inside), around)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("for i in range(n):\n    b[i] = 1.0", ["8 * n"]),
        ("for i in range(n):\n    b[i] += 1.0", ["8 * n", "8 * n"]),
        ("for i in range(n):\n    b[i] = 0.0\n    b[i] += 1.0", ["8 * n"]),
        ("for i in range(n):\n    b[i] = a[i, 0] + a[i, 0]", ["8 * n", "8 * n"]),
        ("for i in range(n):\n    b[i + n] = b[i]", ["8 * n", "8 * n"]),
    ],
)
def test_what_is_written_first_is_not_read(text: str, parts: list[str]) -> None:
    assert [str(part) for part in of(text).parts] == parts


def test_what_data_decides_is_left_out() -> None:
    found = of("for i in range(n):\n    b[x[i]] += a[i, 0]")
    assert (found.unknown, [str(part) for part in found.parts]) == (("b",), ["8 * n", "8 * n"])
    assert found.value({"n": 100}) == 1600
    assert found.value({}) is None and found.value({"n": 3}) is None


def test_each_iteration_of_a_loop_outside_moves_as_much() -> None:
    text = "for t in range(m):\n    for i in range(1, n - 1):\n        b[i] = a[0, i] + a[1, i]"
    found = of(text, "i", ("t",))
    assert ({str(part) for part in found.parts}, found.repeated) == ({"8 * (n - 2)", "16 * (n - 2)"}, ("t",))


def test_where_iterations_differ_all_of_them_count_together() -> None:
    found = of("for t in range(n):\n    for i in range(n):\n        a[t, i] = 1.0", "i", ("t",))
    assert ([str(part) for part in found.parts], found.repeated) == (["8 * n * n"], ())
    found = of("for t in range(n):\n    for i in range(t, n):\n        b[i] = 1.0", "i", ("t",))
    assert ([str(part) for part in found.parts], found.repeated) == (["8 * n"], ())


def test_only_the_chosen_accesses_count() -> None:
    text = "for i in range(n):\n    b[i] = 1.0\nfor j in range(m):\n    a[j, 0] = 1.0"
    assert [str(part) for part in of(text, "j").parts] == ["8 * m"]
