"""Answers that nodes keep."""

import gc
import pickle
import weakref
from dataclasses import replace
from threading import Barrier, Thread

import pytest

from loopwright.ir.by_identity import by_identity
from loopwright.ir.nodes import Assign, Const, Stmt
from loopwright.ir.types import INT64


def test_each_node_is_asked_once_and_copies_are_others() -> None:
    asked: list[Stmt] = []

    @by_identity
    def value(stmt: Assign) -> int:
        asked.append(stmt)
        return int(stmt.value.value) if isinstance(stmt.value, Const) else 0

    one = Assign("a", Const(3, INT64))
    same, other = replace(one), replace(one, value=Const(4, INT64))
    assert [value(one), value(one), value(other), value(same), value(one)] == [3, 3, 4, 3, 3]
    assert [stmt is node for stmt, node in zip(asked, (one, other, same), strict=True)] == [True] * 3
    assert one == same  # what it keeps is no part of a node's value
    assert repr(one) == repr(same)
    assert hash(one) == hash(same)
    assert pickle.loads(pickle.dumps(one)) == one


def test_two_functions_have_answers_of_their_own() -> None:
    name = by_identity(lambda stmt: stmt.name)
    kind = by_identity(lambda stmt: type(stmt))
    one = Assign("a", Const(3, INT64))
    assert [name(one), kind(one), name(one)] == ["a", Assign, "a"]


def test_answers_end_with_their_node() -> None:
    class Answer:
        pass

    answer = by_identity(lambda stmt: Answer())
    one = Assign("a", Const(3, INT64))
    kept = weakref.ref(answer(one))
    assert kept() is answer(one)
    del one
    gc.collect()
    assert kept() is None


def test_an_error_is_not_kept() -> None:
    outcomes = [ZeroDivisionError(), None]

    @by_identity
    def fails_first(stmt: Assign) -> str:
        if (error := outcomes.pop(0)) is not None:
            raise error
        return "answered"

    one = Assign("a", Const(3, INT64))
    with pytest.raises(ZeroDivisionError):
        fails_first(one)
    assert fails_first(one) == "answered"


def test_threads_that_ask_at_once_get_the_same_answers() -> None:
    nodes = [Assign(f"a{k}", Const(k, INT64)) for k in range(2000)]
    name = by_identity(lambda stmt: stmt.name)
    length = by_identity(lambda stmt: len(stmt.name))
    start, found = Barrier(2), [[], []]

    def ask(mine: list[tuple[str, int]]) -> None:
        start.wait()
        mine += [(name(node), length(node)) for node in nodes]

    threads = [Thread(target=ask, args=(mine,)) for mine in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] == [(node.name, len(node.name)) for node in nodes]
