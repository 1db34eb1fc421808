"""Decisions of a nest: how they are found, and what people read of them."""

from __future__ import annotations

from loopwright.codegen.lowered import (
    Alignment,
    AsyncCopy,
    FullTiles,
    InRegisters,
    Lowering,
    VectorAccesses,
    WideAccess,
)
from loopwright.ir.nodes import Const, Load, Store
from loopwright.ir.types import FLOAT32, INT64

PLACE = (Const(0, INT64),)
SOURCE = Load("a", PLACE, FLOAT32)
STORE, TWIN = Store("t", PLACE, SOURCE), Store("t", PLACE, SOURCE)
READ = WideAccess(SOURCE, 4, is_read=True, is_written=False)
COPY = AsyncCopy("k", STORE, SOURCE, one=True, many=0, tests=())
VECTOR = VectorAccesses("j", 8, (READ, READ), (Alignment("a_", 16, True),))
FOUND = Lowering((InRegisters("i", "c", ()), VECTOR, COPY, COPY))


def test_a_decision_is_found_by_its_kind_and_name() -> None:
    assert FOUND.of(VectorAccesses, "j") is VECTOR
    assert FOUND.of(VectorAccesses, "i") is None and FOUND.of(FullTiles, "j") is None
    assert FOUND.of(InRegisters, "c") is not None and FOUND.of(InRegisters, "i") is None


def test_a_copy_is_found_by_its_statement() -> None:
    assert FOUND.copy(STORE) is COPY
    assert TWIN == STORE and FOUND.copy(TWIN) is None


def test_people_read_each_text_once() -> None:
    assert FOUND.texts == (
        "each thread keeps its elements of 'c' in registers",
        "vector accesses: 4 elements of 'a' at once",
        "asynchronous copies: elements into 't'",
    )


def test_conditions_in_c() -> None:
    assert Alignment("a_", 16, True).text == "LW_ALIGNED(a_, 16)"
    assert Alignment("a_n1_", 4, False).text == "a_n1_ % 4 == 0"
