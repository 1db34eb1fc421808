"""CUDA's own compiler takes the text of every kernel that the benchmarks have, and of small ones that use every
function and every type. No GPU is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from benchmarks.cases import Case, all_cases
from benchmarks.gpu.shapes import recurrences
from benchmarks.gpu.shapes.case import Case as Shape
from benchmarks.gpu.shapes.case import Draw

import loopwright as lw
from codegen.on_gpu import even_in_one_thread
from codegen.test_gpu_numbers import arithmetic, division
from loopwright.analysis.analyse import analyse
from loopwright.codegen.gpu import generate_gpu
from loopwright.codegen.gpu_writer import NotOnGpu
from loopwright.compiler import analysed, program_of
from loopwright.config import current
from loopwright.frontend.capture import capture
from loopwright.ir.nodes import Function, Kernel
from loopwright.ir.text import parse_kernel
from loopwright.ir.variant import compilation_of
from loopwright.recipe.gpu import gpu_recipe
from loopwright.runtime.specialise import as_arguments, signature_of
from loopwright.toolchain import nvrtc
from loopwright.toolchain.cubin import KernelResources
from loopwright.toolchain.device_text import complete, only

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NVRTC comes as a wheel for Linux")

ON_THE_CPU: set[str] = set()
SPILLING = {"bilateral", "cooccurrence", "doitgen", "syr2k"}
"""Cases by name: those that a GPU cannot run as they are written, and those of which CUDA's assembler keeps a few bytes
in memory: where threads of a warp part and meet, around the slow paths of functions, and where a product of four
operands, or one of matrix units with places of 64 bits, has its registers full (8 to 84 bytes). Kernels that ask
whether to stop, of long launches, are not counted where there are others: `adi` has 8 bytes there."""


def program(function: Callable[..., object], arguments: tuple[Any, ...], **options: Any) -> Any:
    """The program for a GPU of one kind of call. Raises NotOnGpu."""
    source = capture(function)
    names = [parameter.name for parameter in source.parameters]
    written = [position for position, name in enumerate(names) if name in source.written]
    signature = signature_of(as_arguments(arguments), written, names)
    with lw.options(device="emulated", **options), even_in_one_thread():
        wanted = compilation_of(signature, current())
        return program_of(analysed(source, wanted), wanted)


def compiled(text: Any) -> dict[str, KernelResources]:
    return dict(nvrtc.build(complete(text), "sm_90", current()).kernels)


def taken(text: Any) -> bool:
    """Whether CUDA's compiler takes a text, asked with less optimisation: that is a fifth of the time, and what such
    code needs says nothing about other code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nvrtc, "BASE_FLAGS", (*nvrtc.BASE_FLAGS, "--Ofast-compile=max"))
        return compiled(text).keys() == {*text.kernels}


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_benchmarks(case: Case) -> None:
    try:
        made = program(case.kernel, tuple(case.arguments("MINI").values()))
    except NotOnGpu:
        assert case.name in ON_THE_CPU
        return
    assert case.name not in ON_THE_CPU
    asking = {name for name in made.device.kernels if "_asks" in name}
    assert not asking or taken(only(made.device, asking))
    kernels = compiled(only(made.device, {*made.device.kernels} - asking))
    assert any(needs.spill_store_bytes for needs in kernels.values()) == (case.name in SPILLING)


@pytest.mark.parametrize("case", [recurrences.CASES[at] for at in (0, 3)], ids=lambda case: case.name)
def test_linear_recurrences(case: Shape) -> None:
    found = compiled(program(case.function, tuple(case.arrays(Draw(), *case.tiny))).device)
    assert len(found) > 3 and not any(needs.spill_store_bytes for needs in found.values())


TWO = ("arctan2", "hypot", "copysign", "fmod", "maximum", "minimum", "fmax", "fmin")
TRUTHS = ("isnan", "isinf", "isfinite", "signbit", "bits")  # of another type than their argument


def of_functions(dtype: str) -> Kernel:
    """Every function of the IR, on one type."""
    lines = [f"kernel functions(a: {dtype}[1] C, b: {dtype}[2] C):", "    for i in 0 .. size(a, 0):"]
    for number, name in enumerate(get_args(Function)):
        call = f"{name}(a[i]{', a[i]' if name in TWO else ''})"
        lines.append(f"        b[{number}, i] = {f'{dtype}({call})' if name in TRUTHS else call}")
    return parse_kernel("\n".join(lines) + "\n")


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(dtype: str, strict: bool) -> None:
    kernel = of_functions(dtype)
    recipe = gpu_recipe(kernel, analyse(kernel), strict)
    text = generate_gpu(recipe.kernel, recipe.facts, strict).device
    assert text is not None
    assert text.kernels and taken(text)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integers(dtype: str) -> None:
    a, o = np.ones(9, dtype), np.ones((16, 9), dtype)
    assert taken(program(arithmetic, (a, a, o)).device)
    assert taken(program(division, (a, a, o)).device)


def test_constants_records_and_local_arrays() -> None:
    def constants(o, p, q):
        for i in range(o.shape[0]):
            o[0] = np.inf
            o[1] = -np.inf
            o[2] = np.nan
            o[3] = 1e-310 + 1.7976931348623157e308
            q[i] = np.float32(0.1) + np.float32(-np.inf)
            p[0] = -9223372036854775808
            p[1] = 9223372036854775807 if p[2] > 3 else 2147483648

    def records(p, truth):
        for i in range(p.shape[0]):
            own = np.full(4, -0.0, np.float32)
            for k in range(3):
                own[k] += p[i]["v"][k]
            p[i]["x"] = p[i]["x"] * 2 + p[i]["n"] + own[2] ** 1.5
            truth[i] = own[1] > 2 or not truth[i]

    def staged(a, b, bits):
        for q in range(a.shape[0]):
            s = np.zeros((4, 8), np.bool_)
            for t in range(32):
                s[t // 8, t % 8] = a[q, t] > 0
            for t in range(32):
                b[q, t] = s[3 - t // 8, t % 8]

    def found(a, idx):
        total, n, last = np.float32(0), np.uint64(1), False
        for i in range(a.shape[0]):
            total += a[idx[i]]
            n *= np.uint64(3)
            last = a[i] > 1
        return total, n, last

    record = np.zeros(9, np.dtype([("x", "f8"), ("n", "i4"), ("v", "f4", (3,))], align=True))
    compiled(program(constants, (np.zeros(9), np.zeros(9, np.int64), np.zeros(9, np.float32))).device)
    compiled(program(records, (record, np.zeros(9, bool))).device)
    schedule = "bind q block.x; bind t thread.x; bind t.2 thread.x"
    kernels = compiled(program(staged, (np.ones((3, 32)), np.ones((3, 32)), 0), schedule=schedule).device)
    assert {needs.shared_bytes for needs in kernels.values()} == {32}
    assert {needs.barriers for needs in kernels.values()} == {1}
    compiled(program(found, (np.zeros(9, np.float32), np.zeros(9, np.int32))).device)


def test_names_that_mean_something_to_cuda() -> None:
    def kernel(int32_t, threadIdx, float, template, failure, lw_base_x, lw_count, gpu, warpSize, lw_k):
        for lw_i in range(int32_t.shape[0]):
            this = int32_t[lw_i] + warpSize
            namespace = this + threadIdx + template
            __restrict__ = namespace * float
            int32_t[lw_i] = __restrict__ + failure + lw_base_x + lw_count + lw_k
            for asm in range(gpu):
                int32_t[lw_i] += asm

    compiled(program(kernel, (np.arange(9.0), *map(float, range(1, 7)), 3, 7.0, 8.0)).device)
