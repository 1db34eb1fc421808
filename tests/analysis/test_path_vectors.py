"""Path vectors: what data decides about the iterations of a loop, and the slice that tells it before the loop runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from analysis.irregular_programs import arguments_of, irregular_program
from analysis.small import kernel
from loopwright.analysis.analyse import analyse
from loopwright.analysis.path_vectors import PathVector, path_vector
from loopwright.ir.interp import interpret
from loopwright.ir.linear import number, plus, variable
from loopwright.ir.nodes import ArrayParam, Body, Expr, For, If, Kernel, Load, Stmt, Store, Var
from loopwright.ir.queries import arrays_stored
from loopwright.ir.types import INT64
from loopwright.ir.verify import verify
from loopwright.ir.walk import expressions, loops, rewrite_body, statements
from loopwright.steps.draft import fresh, names_of

HEAD = 'def f(a: "float64[1]", p: "int64[1]", q: "int64[1]", b: "float64[1]", n: "int64"):\n    for i in range(n):\n'


def found(text: str) -> tuple[Kernel, PathVector]:
    """The kernel of a text, and the path vector of its loop `i`."""
    return of_loop(kernel(text))


def of_loop(one: Kernel) -> tuple[Kernel, PathVector]:
    """The path vector of the loop `i` of a kernel."""
    taken, loop = names_of(one), loops(one)["i"]
    assert isinstance(loop, For)

    def new(wanted: str) -> str:
        taken.add(name := fresh(wanted, taken))
        return name

    return one, path_vector(loop, analyse(one), new)


def body(text: str) -> PathVector:
    """The path vector of a loop with these lines."""
    return found(HEAD + "".join(f"        {line}\n" for line in text.split("\n")))[1]


# ---- against brute force ----------------------------------------------------------------------------------------


def sliced(one: Kernel, vector: PathVector, scalars: Sequence[str], arguments: tuple[object, ...]) -> np.ndarray:
    """What the slice computes, in the interpreter: a row for each number that `i` may have."""
    (loop,) = one.body
    assert isinstance(loop, For)
    kept = ArrayParam("kept", INT64, len(arguments), 2)
    stores = (Store("kept", (variable("i"), number(k)), Var(s, INT64)) for k, s in enumerate(scalars))
    inspector = replace(one, params=(*one.params, kept), body=(replace(loop, body=(*vector.body, *stores)),))
    verify(inspector)
    result = np.full((int(arguments[-1]) + 1, max(1, len(scalars))), -7)  # type: ignore[call-overload]
    interpret(inspector, [*arguments, result])
    return result


def counted(one: Kernel, vector: PathVector, arguments: tuple[object, ...]) -> np.ndarray:
    """What really happens: the kernel itself counts how often control comes into each branch and inner loop."""
    column = {entry.at: k for k, entry in enumerate(vector.known)}

    def add(at: object) -> Body:
        if at not in column:
            return ()
        place: tuple[Expr, ...] = (variable("i"), number(column[at]))  # type: ignore[index]
        return (Store("kept", place, plus(Load("kept", place, INT64), 1)),)

    def count(stmt: Stmt) -> Body:
        match stmt:
            case If():
                return (replace(stmt, then=(*add(stmt.at), *stmt.then)),)
            case For() if stmt.name == "i":
                zero = (Store("kept", (variable("i"), number(k)), number(0)) for k in column.values())
                return (replace(stmt, body=(*zero, *stmt.body)),)
            case For():
                return (replace(stmt, body=(*add(stmt.at), *stmt.body)),)
        return (stmt,)

    kept = ArrayParam("kept", INT64, len(arguments), 2)
    counting = replace(one, params=(*one.params, kept), body=rewrite_body(one.body, count))
    verify(counting)
    result = np.full((int(arguments[-1]) + 1, max(1, len(column))), -7)  # type: ignore[call-overload]
    interpret(counting, [*arguments, result])
    return result


def copied(arguments: tuple[object, ...]) -> tuple[object, ...]:
    """The same, with arrays of their own."""
    return tuple(one.copy() if isinstance(one, np.ndarray) else one for one in arguments)


@pytest.mark.parametrize("first", range(0, 400, 40))
def test_the_slice_tells_what_the_loop_then_does(first: int) -> None:
    told = 0
    for seed in range(first, first + 40):
        one, vector = found(irregular_program(seed))
        scalars = [entry.scalar for entry in vector.known]
        for n in (0, 1, 7):
            arguments = arguments_of(seed, n)
            try:
                happened = counted(one, vector, copied(arguments))
            except IndexError:
                continue
            before = copied(arguments)
            assert np.array_equal(sliced(one, vector, scalars, before), happened), irregular_program(seed)
            assert all(np.array_equal(x, y, equal_nan=True) for x, y in zip(before, arguments, strict=True))  # type: ignore[call-overload]
            told += len(scalars)
    assert told > 30


def test_no_slice_fails_where_the_loop_does() -> None:
    for seed in range(200):
        one, vector = found(irregular_program(seed))
        arguments = arguments_of(seed, 9)
        for array in arguments[1:3]:
            array[:] = np.random.default_rng(seed).integers(-40, 40, len(array))  # type: ignore[index, arg-type]
        names = [entry.scalar for entry in vector.known] + [x for r in vector.references for x in r.index]
        sliced(one, vector, names, arguments)
        assert not arrays_stored(vector.body) and not list(statements(vector.body, For))


def test_references_are_those_that_the_loop_makes() -> None:
    one, vector = found(
        HEAD + "        m = p[q[i]]\n        if m > 2:\n            b[i] = a[m]\n"
        "        b[i] = a[-1] if m == 1 else 0.0\n"
    )
    columns = {(r.text, r.is_write, r.at.line if r.at else 0): r.index[0] for r in vector.references}
    p, q = np.array([3, 1, 0, 5]), np.array([2, 1, 0, 3])
    places = sliced(one, vector, list(columns.values()), (np.arange(6.0), p, q, np.zeros(4), 4))[:4]
    seen = {text: list(places[:, k]) for k, (text, _, _) in enumerate(columns)}
    assert seen["q[i]"] == [0, 1, 2, 3]
    assert seen["p[q[i]]"] == [2, 1, 0, 3]
    assert seen["a[m]"] == [-1, -1, 3, 5]
    assert seen["a[-1]"] == [-1, 5, -1, -1]
    written = [list(places[:, k]) for k, (_, is_write, _) in enumerate(columns) if is_write]
    assert written == [[-1, -1, 2, 3], [0, 1, 2, 3]]
    assert {r.text: sorted(r.arrays) for r in vector.references if r.arrays} == {"p[q[i]]": ["q"], "a[m]": ["p", "q"]}


# ---- what is an entry, and what is left out ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("if a[i] > 0.0:\n    b[i] = 1.0", ["branch a[i] > 0.0"]),
        ("for k in range(p[i]):\n    b[i] = b[i] + 1.0", ["trips range(p[i])"]),
        ("for k in range(p[i], p[i + 1]):\n    b[i] = 1.0", ["trips range(p[i], p[i + 1])"]),
        ("for k in range(9, p[i], -2):\n    b[i] = 1.0", ["trips range(9, p[i], -2)"]),
        ("if i % 2 == 0:\n    b[i] = 1.0", []),  # the number of the iteration decides, and no data
        ("for k in range(i):\n    b[i] = 1.0", []),
        ("if a[n] > 0.0:\n    b[i] = 1.0", []),  # the same for all iterations
        ("if n > 3:\n    b[i] = 1.0", []),
        (
            "m = 0\nif a[i] > 0.0:\n    m = 1\nfor k in range(m):\n    b[i] = 1.0",
            ["branch a[i] > 0.0", "trips range(m)"],
        ),
        ("if b[i] > 0.0:\n    b[i] = 1.0", ["branch b[i] > 0.0"]),  # each iteration reads before it writes
    ],
)
def test_what_data_decides(text: str, entries: list[str]) -> None:
    vector = body(text)
    assert [f"{one.kind} {one.text}" for one in vector.entries] == entries
    assert vector.known == vector.entries


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("b[i] = 2.0 * a[i]\nif b[i] > 0.0:\n    b[i] = 1.0", "'b' is written in the loop"),
        ("s = a[i]\nwhile s > 0.0:\n    s = s - 1.0", "only running 's > 0.0' tells"),
        (
            "for k in range(9):\n    if a[k + i] > 0.0:\n        b[i] = 1.0",
            "it is decided anew in each iteration of 'k'",
        ),
        (
            "s = 0.0\nfor k in range(9):\n    s = s + a[i + k]\nif s > 0.0:\n    b[i] = 1.0",
            "'s' is known only once the iteration has come there",
        ),
        (
            "with block:\n    for k in range(n):\n        if q[k] > i:\n            leave(block)\n"
            "    if a[i] > 0.0:\n        b[i] = 1.0",
            "whether control reaches it is known only by running the code before it",
        ),
        ("for k in range(0, 9, q[i]):\n    b[i] = 1.0", "its step is not constant"),
    ],
)
def test_what_a_slice_cannot_tell_is_left_out(text: str, reason: str) -> None:
    vector = body(text)
    assert reason in [one.reason for one in vector.entries]
    assert all(bool(one.scalar) != bool(one.reason) for one in vector.entries)


def test_what_entries_depend_on() -> None:
    vector = body("if a[p[i]] > 0.0:\n    for k in range(q[i]):\n        b[i] = b[i] + 1.0")
    assert [sorted(one.arrays) for one in vector.entries] == [["a", "p"], ["q"]]
    assert vector.arrays == {"a", "p", "q"}


def test_the_slice_for_entries_holds_nothing_else() -> None:
    vector = body("m = p[i]\nt = a[m] * 3.0\nif q[i] > 0:\n    b[i] = t")
    assert {load.array for load in _loads(vector)} == {"p", "q"}
    assert {load.array for load in _loads(vector.of_entries())} == {"q"}
    assert vector.of_entries().references == () and vector.of_entries().entries == vector.entries


def _loads(vector: PathVector) -> list[Load]:
    return list(expressions(vector.body, Load))


def test_what_it_reads_is_proven_to_be_there() -> None:
    one, vector = found(HEAD + "        if a[q[p[i]]] > 0.0:\n            b[i] = 1.0\n")
    (loop,) = one.body
    assert isinstance(loop, For)
    inspector = replace(one, body=(replace(loop, body=vector.body),))
    facts = analyse(inspector)
    assert [x.kind for load in _loads(vector) for x in facts.bounds_of(load)] == ["proven"] * len(_loads(vector))
    assert facts.guard.c_text == ""
