"""How C with OpenMP spells the nodes of a code tree; and CUDA, where it differs."""

from __future__ import annotations

from typing import Literal

import pytest

from loopwright.codegen.function import code_lines
from loopwright.codegen.print_c import C, print_unit
from loopwright.codegen.print_cuda import CUDA, STOPS, print_kernel
from loopwright.codegen.printer import Language, NoWord, print_code
from loopwright.ir import code as ir

RECORD = "lw_fail(failure, 3, n, 0); goto lw_leave;"


def printed(node: ir.Node, language: Language = C) -> str:
    lines: list[str] = []
    print_code((node,), 0, lines, ir.CodeRegion("kernel", 1), language)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ir.Exit(), "goto lw_leave;"),
        (ir.Exit("lw_bad"), "if (lw_bad) goto lw_leave;"),
        (ir.Exit("", ir.Failure("3", "n")), RECORD),
        (ir.Exit("n < 0", ir.Failure("3", "n")), f"if (LW_RARE(n < 0)) {{ {RECORD} }}"),
    ],
)
def test_a_way_out_records_why(node: ir.Exit, text: str) -> None:
    assert printed(node) == text
    if node.failure is not None:
        with pytest.raises(NoWord):
            printed(node, CUDA)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ir.Exit("lw_bad"), "if (lw_bad) lw_stop();"),
        (ir.Barrier(), "__syncthreads();"),
        (ir.Barrier("lw_team"), "__syncwarp(lw_team);"),
        (ir.Barrier("", True, 64), "LW_MEET(64);"),
        (ir.Barrier("lw_team", True, 64), "LW_MEET_TEAM(lw_team);"),
        (ir.EndTogether("", 64), "if (__syncthreads_count(1) != 64) lw_stop();"),
        (ir.EndTogether("0xfu", 4, True), "if (lw_asks && __ballot_sync(0xfu, 1) != 0xfu) lw_stop();"),
        (ir.Question("7"), f"LW_SPEND(lw_due, 7, {STOPS})"),
        (ir.Question(), f"if ({STOPS}) lw_stop();"),
        (ir.Question("", "n > 3"), f"if (n > 3 && {STOPS}) lw_stop();"),
        (ir.Question("", "", True), f"if (lw_asks && __syncthreads_count({STOPS})) lw_stop();"),
        (ir.Question("", "x", True, "t"), f"if (lw_asks && LW_RARE(x) && __ballot_sync(t, {STOPS})) lw_stop();"),
    ],
)
def test_threads_of_a_block_meet_and_end(node: ir.Node, text: str) -> None:
    assert printed(node, CUDA) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ir.AlignedArray("float", "t", 8, 16), "__align__(16) float t[8];"),
        (ir.AtomicOperation("add", "a", "i + 1", "x"), "atomicAdd(LW_ADDRESS(a, i + 1), x);"),
        (
            ir.AtomicOperation("max", "a", "i", "x", "float"),
            "{ const float lw_value = x; atomicMax(LW_ADDRESS(a, i), lw_value); }",
        ),
        (ir.AtomicOperation("min", "n", "", "1", before="int was"), "int was = atomicMin(&n, 1);"),
        (ir.WideVariable("float", 4, "v", 2), "lw_vector<float, 4> v[2];"),
        (ir.WideLoad("v[0]", 4, "a", "i"), "v[0] = lw_read<4>(a, i);"),
        (ir.WideStore("v[0]", 4, "a", "i"), "lw_write<4>(a, i, v[0]);"),
        (ir.CopyToShared("t", "k", "a", "i", 4), "lw_arrive<4>(t, k, a, i);"),
        (ir.CopyToShared("t", "k", "a", "i", 1, "n"), "lw_arrive_or_zero<1>(t, k, a, i, n);"),
        (ir.AwaitCopies(), "lw_arrived();"),
        (ir.Shuffle("across", "y", "double", False, "x", "4", "m"), "y = (double)__shfl_xor_sync(m, x, 4);"),
        (ir.Shuffle("up", "bool y", "bool", True, "x", "d", "m"), "bool y = (bool)__shfl_up_sync(m, (int32_t)x, d);"),
        (ir.Claims(number="k", counter="n", count="8"), "while ((k = atomicAdd(&n, 1)) < 8) {\n}"),
    ],
)
def test_memory_and_warps_in_cuda(node: ir.Node, text: str) -> None:
    assert printed(node, CUDA) == text


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (ir.AlignedArray("float", "t", 8, 64), "float t[8] __attribute__((aligned(64)));"),
        (ir.AtomicOperation("add", "n", "", "2", before="k"), "k = __atomic_fetch_add(&n, 2, __ATOMIC_RELAXED);"),
        (ir.AtomicOperation("set", "bad", "", "1"), "__atomic_store_n(&bad, 1, __ATOMIC_RELAXED);"),
        (
            ir.Claims(number="k", counter="n", count="8"),
            "while ((k = __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED)) < 8) {\n}",
        ),
    ],
)
def test_memory_in_c(node: ir.Node, text: str) -> None:
    assert printed(node) == text


def test_the_host_starts_kernels() -> None:
    text = printed(ir.Launch("2", ("n", "1", "1"), (64, 1, 1), ("p", "n"), "0", ir.Failure("5"))).splitlines()
    assert text == [
        "const int64_t lw_grid[3] = {n, 1, 1}, lw_block[3] = {64, 1, 1};",
        "void *lw_arguments[] = {&p, &n};",
        "const int64_t lw_kernel = 2;",
        "if (LW_RARE(gpu->launch(gpu, lw_kernel, lw_grid, lw_block, 0, lw_arguments, 0))) "
        "{ lw_fail(failure, 5, 0, 0); goto lw_leave; }",
    ]


def test_threads_of_a_cpu_count_and_meet_nobody() -> None:
    assert printed(ir.Question("7")) == "LW_SPEND(lw_due, watch, 7)"
    for node in (ir.Question(), ir.Question("", "", True), ir.Barrier(), ir.EndTogether()):
        with pytest.raises(NoWord):
            printed(node)


@pytest.mark.parametrize(
    ("lanes", "pragma"),
    [
        (ir.Lanes(), "#pragma GCC ivdep"),
        (ir.Lanes((("+", "s"), ("max", "m"))), "#pragma omp simd reduction(+:s) reduction(max:m)"),
        (ir.Lanes((("+", "s"),), ("x", "y"), ("z",)), "#pragma omp simd reduction(+:s) private(x, y) lastprivate(z)"),
    ],
)
def test_lanes_are_promised_by_a_pragma(lanes: ir.Lanes, pragma: str) -> None:
    assert printed(ir.Loop(head=";;", lanes=lanes)) == f"{pragma}\nfor (;;) {{\n}}"


def test_each_compiler_is_asked_to_write_iterations_out_in_its_own_words() -> None:
    node = ir.Repeat(condition="n", unroll=4)
    assert printed(node) == "#pragma GCC unroll 4\nwhile (n) {\n}"
    assert printed(node, CUDA) == "#pragma unroll 4\nwhile (n) {\n}"


def test_a_team_of_one_starts_no_threads() -> None:
    plain = printed(ir.ThreadTeam(threads="n", body=code_lines("f();")))
    assert plain == "#pragma omp parallel num_threads(n) if(n > 1)\n{\n  f();\n}"


def test_every_way_out_of_a_function_leads_to_its_ending() -> None:
    main = ir.FunctionCode("int", "f", (), (ir.Exit("x"),), code_lines("free(t);", "return 0;"))
    leaf = ir.FunctionCode("int", "g", (("p", "char *"), ("n", "int")), code_lines("return n;"))
    assert print_unit(ir.TranslationUnit("/* header */", (main, leaf))).splitlines() == [
        "/* header */",
        "int f(void) {",
        "  if (x) goto lw_leave;",
        "lw_leave:",
        "  free(t);",
        "  return 0;",
        "}",
        "int g(char *p, int n) {",
        "  return n;",
        "}",
    ]


def test_a_kernel_has_an_entry_for_each_version() -> None:
    flags: tuple[tuple[str, Literal["even", "asks"]], ...] = (("lw_even", "even"), ("lw_asks", "asks"))
    entries = (ir.KernelEntry("k_32"), ir.KernelEntry("k_asks64", 0, 64, even=True, asks=True))
    shared = (ir.SharedArray("t", "float", 9),)
    code = ir.KernelCode(
        "k", (("n", "int64_t"),), flags, shared, code_lines("int x;"), code_lines("x = n;"), (64, 2), entries
    )
    lines = ["// before"]
    region, printed = print_kernel(code, lines)
    assert lines[1:] == [
        "template <typename lw_int, bool lw_even, bool lw_asks>",
        "static __device__ __forceinline__ void k(int64_t n) {",
        "  LW_SHARED(float, t, 9);",
        "  int x;",
        "  x = n;",
        "}",
        'extern "C" __global__ void __launch_bounds__(64, 2) k_32(int64_t n) { k<int32_t, false, false>(n); }',
        'extern "C" __global__ void __launch_bounds__(64, 2) k_asks64(int64_t n) { k<int64_t, true, true>(n); }',
    ]
    assert (region.first, region.last) == (3, 7) and [one.line for one in printed] == [8, 9]
