"""Three languages print one tree: each has a word for each kind of node, or says that it has none. The third is that of
print_opencl.py, which shows how much a language is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from codegen import print_opencl
from codegen.on_gpu import agree
from codegen.print_opencl import OPENCL
from codegen.test_scatter import COPIES, count
from conftest import Golden
from loopwright.codegen import gpu_writer
from loopwright.codegen.print_c import C
from loopwright.codegen.print_cuda import CUDA
from loopwright.codegen.printer import Language, NoWord, print_code
from loopwright.ir import code as ir

LANGUAGES = {"C": C, "CUDA": CUDA, "OpenCL": OPENCL}
EVERY: tuple[ir.Node, ...] = (
    ir.CodeLine("x = 1;"),
    ir.Countdown(),
    ir.Question("7"),
    ir.Exit("x"),
    ir.AlignedArray("float", "t", 8, 16),
    ir.AtomicOperation("add", "n", "", "1"),
    ir.WideVariable("float", 4, "v", 2),
    ir.WideLoad("v[0]", 4, "a", "i"),
    ir.WideStore("v[0]", 4, "a", "i"),
    ir.CopyToShared("t", "k", "a", "i", 4),
    ir.AwaitCopies(),
    ir.Barrier(),
    ir.EndTogether("", 64),
    ir.Shuffle("up", "y", "float", False, "x", "1", "m"),
    ir.Launch("0", ("1", "1", "1"), (1, 1, 1), (), "0", ir.Failure("0")),
    ir.CodeBlock(),
    ir.Loop(head=";;"),
    ir.Repeat(condition="x"),
    ir.Claims(number="k", counter="n", count="8"),
    ir.ThreadTeam(threads="2"),
    ir.Branch(condition="x"),
    ir.Otherwise(),
)
NONE = {
    "C": {
        ir.Barrier,
        ir.EndTogether,
        ir.Shuffle,
        ir.CopyToShared,
        ir.AwaitCopies,
        ir.WideVariable,
        ir.WideLoad,
        ir.WideStore,
    },
    "CUDA": {ir.Launch, ir.ThreadTeam},
    "OpenCL": {ir.Launch, ir.ThreadTeam},
}
"""For what the code of each language has no word: nobody writes it there."""
SILENT = {"OpenCL": {ir.AwaitCopies}}
"""What needs no word in it."""


def printed(node: ir.Node, language: Language) -> list[str]:
    lines = ["}"] if isinstance(node, ir.Otherwise) else []
    around = ir.CodeRegion("kernel", 1, inner=[ir.CodeRegion("then", 1)])
    print_code((node,), 0, lines, around, language)
    return lines


def kinds(of: type) -> set[str]:
    return {of.__name__}.union(*map(kinds, of.__subclasses__()))


def test_every_kind_of_node_is_asked_for() -> None:
    leaves = {kind.__name__ for kind in get_args(ir.Leaf)}
    assert {type(node).__name__ for node in EVERY} == leaves | kinds(ir.CodeBlock)


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("node", EVERY, ids=lambda node: type(node).__name__)
def test_a_language_has_a_word_for_a_node_or_says_so(node: ir.Node, name: str) -> None:
    if type(node) in NONE[name]:
        with pytest.raises(NoWord):
            printed(node, LANGUAGES[name])
    else:
        assert bool(printed(node, LANGUAGES[name])) == (type(node) not in SILENT.get(name, ()))


def test_some_language_has_a_word_for_each_node() -> None:
    assert not set.intersection(*NONE.values())


def test_a_table_is_small() -> None:
    assert len(Path(print_opencl.__file__).read_text(encoding="utf-8").splitlines()) <= 250


# ---- kernels in the third language --------------------------------------------------------------------------------


def total(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i]
    return s


def smooth(a, out):
    for i in range(1, a.shape[0] - 1):
        out[i] = 0.25 * (a[i - 1] + a[i + 1]) + 0.5 * a[i]


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


KERNELS: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "elements": (smooth, (np.ones(500), np.zeros(500)), ""),
    "reduction": (total, (np.ones(5000),), "bind i thread.x 128"),
    "updates": (count, (np.arange(1500) % 40, np.full(40, 3)), COPIES),
    "product": (product, tuple(np.ones((64, 64), np.float32) for _ in range(3)), ""),
}
WORDS = {
    "elements": ("kernel void ", "LW_GLOBAL(double)"),
    "reduction": ("sub_group_shuffle_xor(", "barrier(CLK_LOCAL_MEM_FENCE", "local double "),
    "updates": ("atomic_add(&", "local int32_t lw_copy["),
    "product": ("vload4(", "vstore4(", "opencl_unroll_hint", "local float "),
}


def kernels_of(
    function: Any, arguments: Sequence[Any], schedule: str, patch: pytest.MonkeyPatch
) -> list[ir.KernelCode]:
    """The trees of the kernels of a function."""
    found: list[ir.KernelCode] = []
    print_kernel = gpu_writer.print_kernel
    patch.setattr(gpu_writer, "print_kernel", lambda code, lines: (found.append(code), print_kernel(code, lines))[1])
    agree(function, *arguments, schedule=schedule, strict=False)
    return found


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_in_the_third_language(name: str, monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    found = kernels_of(*KERNELS[name], monkeypatch)
    text = "\n".join(map(print_opencl.print_kernel, found))
    assert [word for word in WORDS[name] if word not in text] == []
    assert [word for word in ("__sync", "__shfl", "LW_SHARED", "atomicAdd", "lw_stop()") if word in text] == []
    if name in ("reduction", "updates"):
        first = (replace(code, entries=code.entries[:1]) for code in found)
        golden(f"opencl/{name}.cl", "\n".join(map(print_opencl.print_kernel, first)))
