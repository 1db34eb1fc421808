"""CUDA from a code tree: how it spells what C has no word for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from loopwright.codegen.printer import Language, NoWord, parameter_list, print_code
from loopwright.ir import code as ir

STOPS = "LW_STOPS(lw_stopped, lw_ticket)"
ATOMICS = {"add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "and": "atomicAnd", "or": "atomicOr",
           "xor": "atomicXor", "set": "atomicExch"}  # fmt: skip
SHUFFLES = {"across": "xor", "up": "up"}


def print_kernel(code: ir.KernelCode, lines: list[str]) -> tuple[ir.CodeRegion, tuple[ir.KernelEntry, ...]]:
    """Append a kernel to the lines of a text: its function, and the entries that call it. Gives its regions, and the
    entries with the lines on which they stand."""
    given = parameter_list(code.parameters)
    flags = ("typename lw_int", *(f"bool {flag}" for flag, _ in code.flags))
    lines += (f"template <{', '.join(flags)}>", f"static __device__ __forceinline__ void {code.name}({given}) {{")
    region = ir.CodeRegion("kernel", len(lines))
    lines += (f"  {text}" for text in _shared(code.shared))
    print_code((*code.declared, *code.body), 1, lines, region, CUDA)
    lines.append("}")
    region.last = len(lines)
    entries = []
    for one in code.entries:
        lines.append(_entry(one, code, given))
        entries.append(replace(one, line=len(lines)))
    return region, tuple(entries)


def _shared(arrays: Sequence[ir.SharedArray]) -> Iterator[str]:
    """Declarations of arrays in shared memory: each by itself, or one after the other where together they are more than
    a text can declare."""
    if not ir.asked_shared_bytes(arrays):
        yield from (f"LW_SHARED({one.type}, {one.name}, {one.count});" for one in arrays)
        return
    begin = 0
    for one in arrays:
        yield f"LW_SHARED_AT({one.type}, {one.name}, {one.count}, {begin});"
        begin += one.size_bytes


def _entry(entry: ir.KernelEntry, code: ir.KernelCode, given: str) -> str:
    head = f'extern "C" __global__ void __launch_bounds__({", ".join(map(str, code.bounds))}) {entry.name}({given})'
    values = {"even": entry.even, "asks": entry.asks}
    known = (f"int{entry.bits}_t", *(str(values[what]).lower() for _, what in code.flags))
    return f"{head} {{ {code.name}<{', '.join(known)}>({', '.join(name for name, _ in code.parameters)}); }}"


def _leaf(node: ir.Leaf) -> Iterator[str]:
    match node:
        case ir.CodeLine(text):
            yield text
        case ir.Countdown():
            yield "[[maybe_unused]] int32_t lw_due = LW_PATIENCE;"
        case ir.Question(operations) if operations:
            yield f"LW_SPEND(lw_due, {operations}, {STOPS})"
        case ir.Question("", condition, True, team):
            rare = f"LW_RARE({condition}) && " if condition else ""
            yield f"if (lw_asks && {rare}{_count(team, STOPS)}) lw_stop();"
        case ir.Question("", condition):
            yield f"if ({condition}{' && ' if condition else ''}{STOPS}) lw_stop();"
        case ir.Exit(condition, None):
            yield f"if ({condition}) lw_stop();" if condition else "lw_stop();"
        case ir.Barrier(team, True, threads):
            yield f"LW_MEET_TEAM({team});" if team else f"LW_MEET({threads});"
        case ir.Barrier(team):
            yield f"__syncwarp({team});" if team else "__syncthreads();"
        case ir.EndTogether(team, threads, asking):
            yield f"if ({'lw_asks && ' if asking else ''}{_count(team, '1')} != {team or threads}) lw_stop();"
        case ir.AlignedArray(ctype, name, count, size):
            yield f"__align__({size}) {ctype} {name}[{count}];"
        case ir.AtomicOperation():
            yield _atomic(node)
        case ir.WideVariable(ctype, width, name, count):
            yield f"lw_vector<{ctype}, {width}> {name}[{count}];"
        case ir.WideLoad(vector, width, array, place):
            yield f"{vector} = lw_read<{width}>({array}, {place});"
        case ir.WideStore(vector, width, array, place):
            yield f"lw_write<{width}>({array}, {place}, {vector});"
        case ir.CopyToShared(array, place, source, index, count, ""):
            yield f"lw_arrive<{count}>({array}, {place}, {source}, {index});"
        case ir.CopyToShared(array, place, source, index, count, inside):
            yield f"lw_arrive_or_zero<{count}>({array}, {place}, {source}, {index}, {inside});"
        case ir.AwaitCopies():
            yield "lw_arrived();"
        case ir.Shuffle(way, variable, ctype, narrow, value, distance, team):
            carried = f"(int32_t){value}" if narrow else value
            yield f"{variable} = ({ctype})__shfl_{SHUFFLES[way]}_sync({team}, {carried}, {distance});"
        case ir.Question() | ir.Exit() | ir.Launch():
            raise NoWord(f"CUDA: {node}")
        case _:
            assert_never(node)


def _count(team: str, of: str) -> str:
    """How many threads of a block say so; or which ones of a team."""
    return f"__ballot_sync({team}, {of})" if team else f"__syncthreads_count({of})"


def _atomic(node: ir.AtomicOperation) -> str:
    address = f"LW_ADDRESS({node.array}, {node.place})" if node.place else f"&{node.array}"
    operation = f"{f'{node.before} = ' if node.before else ''}{ATOMICS[node.op]}"
    if not node.type:
        return f"{operation}({address}, {node.value});"
    return f"{{ const {node.type} lw_value = {node.value}; {operation}({address}, lw_value); }}"


def _claim(node: ir.Claims) -> str:
    return f"atomicAdd(&{node.counter}, 1)"


def _before(node: ir.CodeBlock) -> Iterator[str]:
    if isinstance(node, ir.ThreadTeam):
        raise NoWord(f"CUDA: {node}")
    if isinstance(node, ir.Loop | ir.Repeat) and node.unroll is not None:
        yield f"#pragma unroll{f' {node.unroll}' if node.unroll else ''}"


CUDA = Language(_leaf, _before, _claim)
