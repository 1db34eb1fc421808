"""OpenCL C from a code tree: a third table, as proof that a language is one table and a header. Nothing runs it. Of a
header it would need `lw_failure` and `LW_GLOBAL`, as in loopwright.cuh, and `threadIdx` and the like as vectors of what
`get_local_id` and the like give.

OpenCL C has no templates, so each entry has the code of its kernel, with what it knows in front. Copies into shared
memory by single threads are plain ones, and nothing has to be awaited.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loopwright.codegen.printer import Language, NoWord, parameter_list, print_code
from loopwright.ir import code as ir

STOPS = "*lw_stopped >= lw_ticket"
FENCE = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"
ATOMICS = {"add": "atomic_add", "min": "atomic_min", "max": "atomic_max", "and": "atomic_and", "or": "atomic_or",
           "xor": "atomic_xor", "set": "atomic_xchg"}  # fmt: skip
SHUFFLES = {"across": "sub_group_shuffle_xor", "up": "sub_group_shuffle_up"}


def print_kernel(code: ir.KernelCode) -> str:
    """The text of all entries of a kernel."""
    return "\n".join(line for entry in code.entries for line in _entry(entry, code))


def _entry(entry: ir.KernelEntry, code: ir.KernelCode) -> list[str]:
    given = parameter_list((name, f"global {kind}" if kind[-1] == "*" else kind) for name, kind in code.parameters)
    lines = [f"kernel void {entry.name}({given}) {{", f"  typedef {'int' if entry.bits == 32 else 'long'} lw_int;"]
    values = {"even": entry.even, "asks": entry.asks}
    lines += (f"  const bool {flag} = {str(values[what]).lower()};" for flag, what in code.flags)
    lines += (f"  local {one.type} {one.name}[{one.count}] __attribute__((aligned(16)));" for one in code.shared)
    print_code((*code.declared, *code.body), 1, lines, ir.CodeRegion("kernel", 1), OPENCL)
    return [*lines, "}"]


def _leaf(node: ir.Leaf) -> Iterator[str]:
    match node:
        case ir.CodeLine(text):
            yield text
        case ir.Countdown():
            yield "int lw_due = LW_PATIENCE;"
        case ir.Question(operations) if operations:
            yield f"if (lw_asks && (lw_due -= ({operations})) < 0) {{"
            yield "  lw_due = LW_PATIENCE;"
            yield f"  if ({STOPS}) return;"
            yield "}"
        case ir.Question("", condition, together, team):
            asked = f"{_group(team)}_any({STOPS})" if together else STOPS
            yield f"if (lw_asks && {f'({condition}) && ' if condition else ''}{asked}) return;"
        case ir.Exit(condition, None):
            yield f"if ({condition}) return;" if condition else "return;"
        case ir.Barrier(team, ended, threads):
            if ended:
                yield f"if (lw_asks && {_some_ended(team, threads)}) return;"
            yield f"sub_group_barrier({FENCE});" if team else f"barrier({FENCE});"
        case ir.EndTogether(team, threads, asking):
            yield f"if ({'lw_asks && ' if asking else ''}{_some_ended(team, threads)}) return;"
        case ir.AlignedArray(ctype, name, count, size):
            yield f"{ctype} {name}[{count}] __attribute__((aligned({size})));"
        case ir.AtomicOperation():
            yield _atomic(node)
        case ir.WideVariable(ctype, width, name, count):
            yield f"union {{ {ctype}{width} all; {ctype} v[{width}]; }} {name}[{count}];"
        case ir.WideLoad(vector, width, array, place):
            yield f"{vector}.all = vload{width}(0, {array} + ({place}));"
        case ir.WideStore(vector, width, array, place):
            yield f"vstore{width}({vector}.all, 0, {array} + ({place}));"
        case ir.CopyToShared():
            yield from _copy(node)
        case ir.AwaitCopies():
            yield from ()
        case ir.Shuffle():
            yield f"{node.variable} = {SHUFFLES[node.way]}({node.value}, {node.distance});"
        case ir.Exit() | ir.Launch():
            raise NoWord(f"OpenCL: {node}")
        case _:
            assert_never(node)


def _group(team: str) -> str:
    return "sub_group" if team else "work_group"


def _some_ended(team: str, threads: int) -> str:
    return f"{_group(team)}_reduce_add(1) != {f'popcount({team})' if team else threads}"


def _atomic(node: ir.AtomicOperation) -> str:
    place = f"&{node.array}[{node.place}]" if node.place else f"&{node.array}"
    operation = f"{f'{node.before} = ' if node.before else ''}{ATOMICS[node.op]}"
    if not node.type:
        return f"{operation}({place}, {node.value});"
    return f"{{ const {node.type} lw_value = {node.value}; {operation}({place}, lw_value); }}"


def _copy(node: ir.CopyToShared) -> Iterator[str]:
    value = f"{node.source}[{node.index} + lw_e]"
    value = f"({node.inside}) ? {value} : 0" if node.inside else value
    yield f"for (int lw_e = 0; lw_e < {node.count}; ++lw_e) {node.array}[{node.place} + lw_e] = {value};"


def _claim(node: ir.Claims) -> str:
    return f"atomic_inc(&{node.counter})"


def _before(node: ir.CodeBlock) -> Iterator[str]:
    if isinstance(node, ir.ThreadTeam):
        raise NoWord(f"OpenCL: {node}")
    if isinstance(node, ir.Loop | ir.Repeat) and node.unroll is not None:
        yield f"__attribute__((opencl_unroll_hint{f'({node.unroll})' if node.unroll else ''}))"


OPENCL = Language(_leaf, _before, _claim)
