"""Kernel and Facts to a C program with OpenMP: the order of the parts, the entry and the guard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib import resources

from loopwright.analysis.facts import Facts
from loopwright.codegen.arrays import ArrayText
from loopwright.codegen.cpu_lowering import lowered
from loopwright.codegen.function import Writer, code_lines
from loopwright.codegen.lockstep import write_lockstep
from loopwright.codegen.loops import write_sequential, write_vector
from loopwright.codegen.parallel import write_parallel
from loopwright.codegen.print_c import print_unit
from loopwright.codegen.rounded_products import rounds_products
from loopwright.codegen.statements import write_body
from loopwright.codegen.versions import write_versions
from loopwright.ir.code import FunctionCode, TranslationUnit
from loopwright.ir.launch_bound import LaunchBound
from loopwright.ir.nodes import RESERVED, Body, For, If, Kernel, ScalarParam, While
from loopwright.ir.program import Program, Way
from loopwright.ir.queries import contains
from loopwright.ir.walk import bodies, statements

CALL = (("call", "const lw_call *"),)
HEADER = "".join(
    (resources.files("loopwright.codegen") / name).read_text() for name in ("loopwright.h", "integers.h", "powers.h")
)
NOT_SUNK = ("-fno-tree-sink",)
"""gcc would compute under the condition again what is computed before it."""
BRANCHES = ("--param=max-tree-if-conversion-phi-args=16",)
"""gcc fills no whole registers where more than four ways of one iteration come together."""
MORE_HEADERS = ("choices.h", "room.h", "reserved.h", "row_extremes.h", "lockstep.h", "early.h")
"""What follows it in programs that need it."""


def generate(kernel: Kernel, facts: Facts, check_all: bool, strict: bool, deterministic: bool = False) -> Program:
    """The C program of a kernel whose loops say how they run.

    check_all: test every access in the code and rely on no guard (then no loop may be parallel). strict: no fused
    multiply-add, library powers. deterministic: the same bits for any number of threads. Facts must be those of this
    kernel's own nodes.
    """
    w = Writer(kernel, facts, check_all, strict)
    w.given = replace(w.given, deterministic=deterministic)
    w.decided = lowered(w.given)
    w.write_loop = partial(_write_loop, w=w)
    for name in w.locals:
        w.own(w.names.of(name))
    main = w.function
    write_body(kernel.body, w)
    w.finish(main)
    guard = "" if check_all or not facts.guard.c_text else "lw_guard"
    entry = entry_function(w, {"threads": "call->threads", "watch": "call->watch"})
    functions = (*w.finished, *([guard_function(facts)] if guard else []), entry)
    rounds_twice = strict or kernel.draws or rounds_products(kernel)
    flags: tuple[str, ...] = ("-ffp-contract=off",) if rounds_twice else ("-ffp-contract=fast",)
    if w.decided.early:
        flags += NOT_SUNK
    if any(_branches_twice(w.loops[name].body) for name in w.decided.lanes):
        flags += BRANCHES
    return Program(
        print_unit(TranslationUnit(_header(w), functions)),
        "lw_entry",
        guard,
        tuple(w.sites),
        tuple(w.parallel),
        flags,
        tuple((name, note) for name in w.loops for note in w.decided.notes_of(name)),
        ways=tuple(_ways(kernel.body, w)),
        on_data=bool(guard) and facts.guard.on_data,
    )


def _branches_twice(body: Body) -> bool:
    """Whether there is a branch in another one."""
    return any(contains((*stmt.then, *stmt.otherwise), If) for stmt in statements(body, If))


def _ways(body: Body, w: Writer, is_inside: bool = False) -> Iterator[tuple[str, tuple[Way, ...]]]:
    """How each loop runs. is_inside: threads share the iterations of a loop around the body."""
    regions = [region for name, region in w.decided.regions.items() if name in w.parallel]
    collapsed = {region.collapsed.inner.name for region in regions if region.collapsed is not None}
    for stmt in body:
        is_shared = False
        if isinstance(stmt, For | While):
            is_shared = stmt.name in w.parallel and not is_inside
            where: Way = "threads" if is_shared else "collapsed" if stmt.name in collapsed else "inside"
            yield stmt.name, (*((where,) if is_shared or is_inside else ()), *w.decided.lanes_of(stmt.name))
        for inside in bodies(stmt):
            yield from _ways(inside, w, is_inside or is_shared)


def _header(w: Writer) -> str:
    """What the text begins with."""
    used = {
        "choices.h": w.chooses or bool(w.decided.late), "room.h": w.rooms, "reserved.h": bool(w.reserved),
        "row_extremes.h": bool(w.decided.masked), "lockstep.h": w.locksteps,
        "early.h": bool(w.decided.early),
    }  # fmt: skip
    most = max(w.reserved.values(), default=0)
    reserved = f"#define LW_RESERVED ((size_t){most})\n" if most > RESERVED * 8 else ""
    return HEADER + reserved + "".join(more_header(name) for name in MORE_HEADERS if used[name])


@cache
def more_header(name: str) -> str:
    """One of MORE_HEADERS."""
    return (resources.files("loopwright.codegen") / name).read_text()


def _write_loop(loop: For, w: Writer) -> None:
    if loop.at is not None:
        w.line(f"/* line {loop.at.line}: {loop.name} */")
    match loop.run:
        case "vector":
            write_versions(loop, w, partial(write_vector, w=w))
        case "parallel":
            write_parallel(loop, w)
        case "lockstep":
            write_versions(loop, w, partial(write_lockstep, w=w))
        case _:  # what a GPU would share out, too
            write_versions(loop, w, partial(write_sequential, w=w))


def entry_function(w: Writer, more: Mapping[str, str]) -> FunctionCode:
    """The function that a call starts with. more: C text of values in `call`, by the names of parameters."""
    given: dict[str, str] = {"failure": "call->failure", "returned": "call->returned", **more}
    for scalar in w.kernel.scalars:
        given[w.names.of(scalar.name)] = _scalar(scalar)
    for array in w.arrays.values():
        given |= _array(array)
    arguments = ", ".join(given[parameter] for parameter in w.function.parameters)
    return FunctionCode("int32_t", "lw_entry", CALL, code_lines(f"return {w.function.name}({arguments});"))


def _scalar(param: ScalarParam) -> str:
    slot = f"call->scalars[{param.argument}]"
    match param.type.name:
        case "float64":
            return f"{slot}.d"
        case "float32":
            return f"{slot}.f"
        case "bool":
            return f"({slot}.i != 0)"
        case _:
            return f"{slot}.i"


def _array(array: ArrayText) -> dict[str, str]:
    if array.slot is None:
        return {}
    given = {array.pointer: f"({array.pointer_type})(call->data[{array.slot}] + {array.offset})"}
    for axis, text in enumerate(array.sizes):
        given[text] = f"call->shape[{array.slot}][{axis}]"
    for axis, text in enumerate(array.strides):
        scale = "" if array.bytes else f" / {array.element.size_bytes}"
        given[text] = f"call->strides[{array.slot}][{axis}]{scale}"
    return given


def guard_function(facts: Facts, launch_bounds: Sequence[LaunchBound] = ()) -> FunctionCode:
    """The function that tests the condition on the sizes, and that a call is none of those that launches bound."""
    lines = list(dict.fromkeys(line for one in launch_bounds for line in one.c_lines))
    for name, (source, argument, axis) in facts.guard.parameters:
        value = f"call->shape[{argument}][{axis}]" if source == "size" else f"call->scalars[{argument}].i"
        lines.append(f"const __int128 {name} = {value};")
    terms = [f"({facts.guard.c_text})"] if facts.guard.c_text else []
    terms += [f"!({one.c_text})" for one in launch_bounds]
    return FunctionCode("int32_t", "lw_guard", CALL, code_lines(*lines, f"return {' && '.join(terms)} ? 1 : 0;"))
