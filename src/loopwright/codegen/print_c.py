"""C with OpenMP from a code tree: how it spells what leaves a function, lanes and teams of threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from loopwright.codegen.printer import Language, NoWord, parameter_list, print_code
from loopwright.ir import code as ir


def print_unit(unit: ir.TranslationUnit) -> str:
    """The text of a whole file."""
    return "\n".join([unit.header, *(_function(one) for one in unit.functions)]) + "\n"


def _function(part: ir.FunctionCode) -> str:
    lines = [f"{part.result} {part.name}({parameter_list(part.parameters) or 'void'}) {{"]
    print_code(part.body, 1, lines, ir.CodeRegion("kernel", 1), C)
    if part.ending is not None:
        lines.append("lw_leave:")
        print_code(part.ending, 1, lines, ir.CodeRegion("kernel", 1), C)
    return "\n".join([*lines, "}"])


def _leaf(node: ir.Leaf) -> Iterator[str]:
    match node:
        case ir.CodeLine(text):
            yield text
        case ir.Countdown():
            yield "int64_t lw_due = LW_PATIENCE;"
        case ir.Question(operations, "", False) if operations:
            yield f"LW_SPEND(lw_due, watch, {operations})"
        case ir.Exit(condition, ir.Failure(site, index, size)):
            leave = f"lw_fail(failure, {site}, {index}, {size}); goto lw_leave;"
            yield f"if (LW_RARE({condition})) {{ {leave} }}" if condition else leave
        case ir.Exit(condition):
            yield f"if ({condition}) goto lw_leave;" if condition else "goto lw_leave;"
        case ir.AlignedArray(ctype, name, count, size):
            yield f"{ctype} {name}[{count}] __attribute__((aligned({size})));"
        case ir.AtomicOperation("add", array, "", value, "", before):
            yield f"{f'{before} = ' if before else ''}__atomic_fetch_add(&{array}, {value}, __ATOMIC_RELAXED);"
        case ir.AtomicOperation("set", array, "", value, "", ""):
            yield f"__atomic_store_n(&{array}, {value}, __ATOMIC_RELAXED);"
        case ir.Launch():
            sizes, block = ", ".join(node.grid), ", ".join(map(str, node.block))
            yield f"const int64_t lw_grid[3] = {{{sizes}}}, lw_block[3] = {{{block}}};"
            yield f"void *lw_arguments[] = {{{', '.join(f'&{one}' for one in node.arguments) or '0'}}};"
            yield f"const int64_t lw_kernel = {node.kernel};"
            call = f"gpu->launch(gpu, lw_kernel, lw_grid, lw_block, {node.shared_bytes}, lw_arguments, {node.units})"
            yield from _leaf(ir.Exit(call, node.failure))
        case (
            ir.Question()
            | ir.AtomicOperation()
            | ir.Barrier()
            | ir.EndTogether()
            | ir.Shuffle()
            | ir.CopyToShared()
            | ir.AwaitCopies()
        ):
            raise NoWord(f"C with OpenMP: {node}")
        case ir.WideVariable() | ir.WideLoad() | ir.WideStore():
            raise NoWord(f"C with OpenMP: {node}")
        case _:
            assert_never(node)


def _before(node: ir.CodeBlock) -> Iterator[str]:
    match node:
        case ir.Loop() | ir.Repeat():
            if node.unroll is not None:
                yield f"#pragma GCC unroll{f' {node.unroll}' if node.unroll else ''}"
            if isinstance(node, ir.Loop) and node.lanes is not None:
                yield _lanes(node.lanes)
        case ir.ThreadTeam():
            yield f"#pragma omp parallel num_threads({node.threads}) if({node.threads} > 1)"


def _lanes(lanes: ir.Lanes) -> str:
    if not lanes.sums:
        return "#pragma GCC ivdep"
    clauses = [f"reduction({operator}:{variable})" for operator, variable in lanes.sums]
    clauses += [f"private({', '.join(lanes.private)})"] if lanes.private else []
    clauses += [f"lastprivate({', '.join(lanes.last)})"] if lanes.last else []
    clauses += [f"simdlen({lanes.length})"] if lanes.length else []
    return f"#pragma omp simd {' '.join(clauses)}"


def _claim(node: ir.Claims) -> str:
    return f"__atomic_fetch_add(&{node.counter}, 1, __ATOMIC_RELAXED)"


C = Language(_leaf, _before, _claim)
