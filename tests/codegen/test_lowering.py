"""What is decided of a grid before its text is written: each pass leaves its mark in the text and in what people are
told; without it, the mark is gone and the results are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text
from codegen.test_double_buffering import operands, product, schedule
from codegen.test_merge_path import USUAL, csr, spmv
from codegen.test_scatter import COPIES, count, counts_and_their_sum
from codegen.test_updates_in_registers import A_THREAD_EACH, rows
from loopwright.codegen import lowering
from loopwright.codegen.lowering import PASSES

MARKS = {
    "registers": ("__align__(16) float c_r_[", "each thread keeps its elements of 'c.r' in registers"),
    "updates in registers": ("vlw_held", "updates in registers: what a thread does to one element of 'h'"),
    "updates at the end": ("vlw_sum", "updates at the end: what a loop does to one element of 'out'"),
    "privatised updates": ("lw_copy", "privatised updates: copies of 'h' in shared memory, up to 8192 elements"),
    "updates ahead": ("lw_at_7", "updates ahead: each thread looks up 8"),
    "double buffering": ("int lw_turn", "double buffering: a.p, b.p"),
    "tensor cores": ("lw_multiply(", "tensor cores: products of float64 along 'k'"),
    "vector accesses": ("lw_read<4>", "vector accesses: 4 elements of 'c' at once"),
    "asynchronous copies": ("lw_arrive<4>", "asynchronous copies: 4 neighbours into 'b.p'"),
    "software pipeline": ("lw_left", "software pipeline: whole tiles without tests"),
    "merge path": ("lw_read_0_3", "merge path: a thread reads 4 entries at once; that all lie in 'column', 'value'"),
    "full tiles": ("lw_even", "full tiles: a kernel of its own"),
}
"""A piece of the text, and one of what people are told: of counts for updates, of rows for a merge path, of a product
for all else."""
OTHERS = (
    "updates in registers",
    "updates at the end",
    "privatised updates",
    "updates ahead",
    "merge path",
    "tensor cores",
)
"""What nobody decides of a product of float32."""
SMALL = {"registers": schedule("", "")}
"""Where the recipe's tiles would not fit into shared memory, others."""


def compiled(name: str) -> Any:
    """What the pass has something to do with, after a call whose results are right."""
    if name == "updates in registers":
        keys = np.random.default_rng(2).integers(0, 40, 1500)
        return agree(counts_and_their_sum, keys, np.full(41, 3), schedule=COPIES)
    if name == "updates at the end":
        draw = np.random.default_rng(2)
        return agree(
            rows, draw.integers(0, 7, 40), draw.integers(-9, 9, (40, 5)), np.zeros(9, int), schedule=A_THREAD_EACH
        )
    if "updates" in name:
        keys = np.random.default_rng(2).integers(0, 40, 1500)
        return agree(count, keys, np.full(40, 3), schedule=COPIES)
    if name == "merge path":
        return agree(spmv, *csr([3, 40, 0, 900]), schedule=USUAL, strict=False)
    dtype = np.float64 if name == "tensor cores" else np.float32
    return agree(product, *operands(130, 72, 40, dtype), schedule=SMALL.get(name, ""), strict=name != "tensor cores")


def lowered(found: Any) -> tuple[str, ...]:
    """What was decided of the one nest of a Specialisation."""
    return tuple(text for one in found.program.device.functions for text in one.lowered)


@pytest.mark.parametrize("name", MARKS)
def test_a_pass_and_its_absence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mark, told = MARKS[name]
    for passes in (PASSES, tuple(one for one in PASSES if one.name != name)):
        monkeypatch.setattr(lowering, "PASSES", passes)
        found = compiled(name)
        assert (mark in device_text(found)) == (passes == PASSES)
        assert any(told in text for text in lowered(found)) == (passes == PASSES)


def test_every_pass_is_tested() -> None:
    assert tuple(one.name for one in PASSES) == tuple(MARKS)


def test_people_are_told() -> None:
    kernel, arguments = lw.kernel(product), [np.zeros((64, 64), np.float32) for _ in range(3)]
    with lw.options(device="emulated"):
        kernel(*arguments)
        told = str(kernel.explain(*arguments))
    assert [note for name, (_, note) in MARKS.items() if note not in told and name not in OTHERS] == []


def test_what_must_be_atomic_is_no_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "PASSES", ())
    assert lowered(compiled("updates ahead")) == ("atomic updates: of 'h', by several threads at once",)
