"""Tiles that arrive while others are used. The emulated device reports whoever touches one too early."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import loopwright as lw
from codegen.on_gpu import agree, device_text, refused
from loopwright.analysis.analyse import analyse
from loopwright.codegen.gpu import generate_gpu
from loopwright.codegen.gpu_writer import GpuWriter
from loopwright.errors import DeviceError
from loopwright.ir.code import AwaitCopies, Barrier
from loopwright.ir.text import parse_kernel

RANDOM = np.random.default_rng(7)
BARRIER = "__syncthreads();"


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def schedule(a: str, b: str) -> str:
    """A product in tiles of 16 x 16 x 8, by blocks of 8 x 8 threads."""
    return (
        "tile i 16 j 16 k 8; specialize i j full; split i 2; split j 2; reorder k.o i.o.1 j.o.1 k i j; "
        f"promote c k.o whole; specialize k full; stage a i.o.1 over 8 8{a}; stage b i.o.1 over 8 8{b}; "
        "split i.r 2; split j.r 2; reorder i.r.o j.r.o i.r j.r; split i.w 2; split j.w 2; "
        "reorder i.w.o j.w.o i.w j.w; bind i.o block.y; bind j.o block.x; bind i.r.o thread.y; bind j.r.o thread.x; "
        "bind i.w.o thread.y; bind j.w.o thread.x; bind i.o.1 thread.y; bind j.o.1 thread.x; bind i.o.1.1 thread.y; "
        "bind j.o.1.1 thread.x; bind i.1 thread.y 8; bind j.1 thread.x 8"
    )


def operands(n: int, m: int, k: int, dtype: Any = np.float32) -> tuple[Any, Any, Any]:
    a, b, c = (RANDOM.integers(-4, 5, shape).astype(dtype) for shape in ((n, k), (k, m), (n, m)))
    return a, b, c


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("shape", [(16, 16, 8), (32, 16, 40), (19, 37, 27), (16, 16, 7), (16, 16, 0), (16, 16, 9)])
def test_products_of_any_size(shape: tuple[int, int, int], dtype: Any) -> None:
    wide = " wide 2" if dtype is np.float64 else " wide 4"
    text = device_text(agree(product, *operands(*shape, dtype), schedule=schedule(" double", f"{wide} double")))
    assert ("lw_arrive<1>" in text) == (dtype is not np.int16)  # two bytes do not travel alone
    loop = text[text.index("int lw_turn") :]
    assert loop[: loop.index("i_w_o_")].count(BARRIER) == 1


@pytest.mark.parametrize("a", ["", " double"])
def test_a_known_number_of_whole_tiles(a: str) -> None:
    """No test is left that would keep the last iteration from fetching a tile behind the arrays."""

    def known(a, b, c):
        for i in range(c.shape[0]):
            for j in range(c.shape[1]):
                for ko in range(0, 40, 8):
                    for k in range(ko, ko + 8):
                        c[i, j] += a[i, k] * b[k, j]

    steps = schedule(a, " wide 4 double").replace("j 16 k 8", "j 32").replace("k.o ", "ko ")
    for gone in ("specialize k full; ", "bind i.o.1.1 thread.y; bind j.o.1.1 thread.x; "):
        steps = steps.replace(gone, "")
    for name in ("j", "j.r", "j.w"):
        steps = steps.replace(f"split {name} 2", f"split {name} 4")
    if not a:
        steps = steps.replace("stage a i.o.1 over 8 8; ", "")
    assert "lw_rounds(lw_upper - " in device_text(agree(known, *operands(32, 64, 40), schedule=steps))


@pytest.mark.parametrize("a", [" double", " pad 4 double", " transposed pad 4 wide 4 double", ""])
@pytest.mark.parametrize("b", [" wide 4 double", " pad 4", ""])
def test_tiles_of_both_kinds(a: str, b: str) -> None:
    found = agree(product, *operands(35, 32, 25), schedule=schedule(a, b))
    assert ("int lw_turn = 0;" in device_text(found)) == ("double" in a + b)


def test_views_that_are_not_aligned() -> None:
    a, b, c = operands(32, 40, 24)
    whole = np.zeros((40, 43), np.float32)
    whole[:24, 1:41] = b
    agree(product, a, lambda: whole[:24, 1:41], c, schedule=schedule(" double", " wide 4 double"))
    agree(product, lambda: a[:, ::-1], lambda: b[::-1], c, schedule=schedule(" double", " wide 4 double"))


@pytest.mark.parametrize("missing", [Barrier, AwaitCopies])
def test_without_one_of_them_the_device_reports_it(missing: type, monkeypatch: pytest.MonkeyPatch) -> None:
    add = GpuWriter.add
    monkeypatch.setattr(GpuWriter, "add", lambda w, node: None if isinstance(node, missing) else add(w, node))
    options = {"device": "emulated", "schedule": schedule(" double", " wide 4 double")}
    with lw.options(**options), pytest.raises(DeviceError, match="race on shared"):
        lw.kernel(product)(*operands(16, 16, 24))


def test_a_loop_that_runs_again_begins_when_all_have_left_its_tiles() -> None:
    def again(a, b, c):
        for i in range(c.shape[0]):
            for _ in range(3):
                for k in range(a.shape[0]):
                    for j in range(32):
                        for q in range(32):
                            c[i, j] += a[k, q] * b[j, q]

    steps = "stage a j over 32 double; bind i block.x; bind j thread.x"
    numbers = (RANDOM.integers(0, 5, shape).astype(np.float32) for shape in ((5, 32), (32, 32), (3, 32)))
    assert "int lw_turn = 0;" in device_text(agree(again, *numbers, schedule=steps))


def test_too_much_shared_memory() -> None:
    steps = schedule(" double", " double").replace("tile i 16 j 16 k 8", "tile i 16 j 16 k 4096")
    refused(product, *operands(16, 16, 8), schedule=steps, why="'a.p' does not fit into the shared memory of a block")


@pytest.mark.parametrize(("other", "arrives"), [("0.0", True), ("-0.0", False), ("1.0", False)])
def test_only_zeros_come_by_themselves(other: str, arrives: bool) -> None:
    kernel = parse_kernel(f"""
kernel filled(a: float64[2] C, b: float64[2] C, n: int64):
    for i in 0 .. n block.x:
        for k in 0 .. n:
            allocate t: float64[8] double
            for q in 0 .. 8 thread.x:
                t[q] = a[i, 8 * k + q] if 8 * k + q < n else {other}
            for x in 0 .. 8 thread.x:
                b[i, x] = b[i, x] + t[7 - x]
""")
    text = generate_gpu(kernel, analyse(kernel), True).device
    assert text is not None
    assert ("lw_arrive_or_zero<1>(t_" in text.text) == arrives
