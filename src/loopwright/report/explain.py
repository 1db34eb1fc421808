"""Kernel, Facts and what became of them, into an `Explanation`. Pure: it reads the user's source and nothing else."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.analysis.facts import AccessFacts, Bounds, Conflict, Facts, LoopFacts
from loopwright.ir.nodes import Allocate, ArrayParam, Body, For, Kernel, Load, Location, Stmt, Store, While
from loopwright.ir.program import Way
from loopwright.ir.walk import bodies, expressions, statements
from loopwright.report.explanation import (
    UNKNOWN,
    AccessReport,
    ArrayReport,
    ChoiceReport,
    ConflictReport,
    DecisionReport,
    Explanation,
    Generated,
    LoopReport,
    Ran,
    ReductionReport,
    ServedBy,
)

_FOR = re.compile(r"\s*(?:async\s+)?for\s+(.+?)\s+in\b")


@dataclass(frozen=True, slots=True)
class CountTexts:
    """Texts over the sizes, by name: iterations of each loop, elements touched of each array."""

    iterations: Mapping[str, str] = field(default_factory=dict)
    elements: Mapping[str, str] = field(default_factory=dict)


def explain(
    kernel: Kernel,
    facts: Facts,
    schedule: str = "",
    generated: Generated | None = None,
    ran: Ran | None = None,
    counted: CountTexts | None = None,
    decisions: tuple[DecisionReport, ...] = (),
    choices: tuple[ChoiceReport, ...] = (),
    plan: str = "",
    served_by: ServedBy = UNKNOWN,
    notes: tuple[str, ...] = (),
) -> Explanation:
    """`kernel` is the one that runs, or the one before its schedule: with `For.run` as its steps set it; `facts` were
    proven of it, or of what it was made from by steps that keep its accesses."""
    counted = counted or CountTexts()
    notes = (*notes, "arguments share memory, so nothing is reordered") if kernel.overlap else notes
    checked = served_by.checked
    loops = list(_loops(kernel.body, facts, counted.iterations, 0))
    made_of = made_of_loops([loop.name for loop in loops], generated.ways if generated and generated.ways else ())
    return Explanation(
        kernel=kernel.name,
        file=kernel.file,
        line=kernel.line,
        signature=signature_text(kernel),
        loops=tuple(
            _resting_on(_with_notes(loop, generated, made_of), facts.guard.text if checked else "") for loop in loops
        ),
        arrays=tuple(map(_all_checked if checked else _as_proven, _arrays(kernel, facts, counted.elements))),
        guard="" if checked else facts.guard.text,
        schedule=schedule,
        decisions=decisions,
        generated=generated,
        ran=ran,
        notes=notes,
        choices=choices,
        plan=plan,
        served_by=served_by,
    )


def signature_text(kernel: Kernel) -> str:
    """`name(a: float64[:, :], n: int64)`; arrays of records by the fields that are used: `p: {x: float64}[:]`."""
    by_argument: dict[int, list[str]] = {}
    for param in kernel.params:
        if isinstance(param, ArrayParam):
            axes = f"[{', '.join(':' * (param.rank - len(param.tail)))}]"
            name, _, used = param.name.partition(".")
            dtype = f"complex{2 * param.element.bits}" if param.tail and not used else param.element.name
            text = f"{name}: {{{used}: {dtype}}}{axes}" if used else f"{name}: {dtype}{axes}"
        else:
            text = f"{param.name}: {param.type}"
        by_argument.setdefault(param.argument, []).append(text)
    return f"{kernel.name}({', '.join(_one_argument(texts) for _, texts in sorted(by_argument.items()))})"


def _one_argument(texts: list[str]) -> str:
    if len(texts) == 1:
        return texts[0]
    start, end = texts[0].split("{")[0], texts[0].split("}")[1]
    return start + "{" + ", ".join(text.split("{")[1].split("}")[0] for text in texts) + "}" + end


# ---- loops --------------------------------------------------------------------------------------------------------


def _loops(body: Body, facts: Facts, iterations: Mapping[str, str], depth: int) -> Iterator[LoopReport]:
    for stmt in body:
        inner = depth
        if isinstance(stmt, For | While):
            yield _loop(stmt, facts.loops[stmt.name], iterations, depth)
            inner = depth + 1
        for below in bodies(stmt):
            yield from _loops(below, facts, iterations, inner)


def _with_notes(
    loop: LoopReport, generated: Generated | None, made_of: Mapping[str, Mapping[str, tuple[Way, ...]]]
) -> LoopReport:
    if generated is None:
        return loop
    notes = tuple(text for name, text in generated.notes if name == loop.name)
    if generated.ways is None:
        return replace(loop, notes=notes)
    parts = made_of[loop.name]
    every = set[Way]().union(*parts.values())
    if "threads" in every or not all("inside" in ways for ways in parts.values()):
        every.discard("inside")  # it says where all of it runs
    ways: tuple[Way, ...] = ("threads", "collapsed", "inside", "lanes")
    return replace(
        loop, notes=notes, ways=tuple(way for way in ways if way in every), restructured=set(parts) != {loop.name}
    )


COPIES = frozenset({"p", "r", "w"})
"""What is added to the names of loops that copy (steps/region.py)."""


def made_of_loops(
    written: Sequence[str], ways: Sequence[tuple[str, tuple[Way, ...]]]
) -> dict[str, dict[str, tuple[Way, ...]]]:
    """By the name of each loop as it was written, the loops that a schedule made of it, and how they run: their names
    begin with its name, and with that of no other one which is longer. Loops that only copy what others work on
    (`pack`, `promote`) are none of them."""
    found: dict[str, dict[str, tuple[Way, ...]]] = {name: {} for name in written}
    for made, how in ways:
        of = [name for name in written if made == name or made.startswith(f"{name}.")]
        if of and COPIES.isdisjoint(made.removeprefix(max(of, key=len)).split(".")):
            found[max(of, key=len)][made] = how
    return found


def _resting_on(loop: LoopReport, condition: str) -> LoopReport:
    """What is said of a loop in code that relies on no condition. condition: the one that its verdict rests on."""
    if not condition or loop.verdict not in ("parallel", "reduction"):
        return loop
    return replace(loop, reason=f"{loop.reason}, where {condition}" if loop.reason else f"where {condition}")


def _as_proven(array: ArrayReport) -> ArrayReport:
    return array


def _all_checked(array: ArrayReport) -> ArrayReport:
    accesses = tuple(replace(access, bounds="checked") for access in array.accesses)
    return replace(array, accesses=accesses, bounds="checked" if accesses else array.bounds)


def _loop(stmt: For | While, facts: LoopFacts, iterations: Mapping[str, str], depth: int) -> LoopReport:
    at = stmt.at or facts.at
    return LoopReport(
        name=stmt.name,
        source_name=_source_name(stmt, _source_line(at)),
        source=_source_line(at and at.of_user),
        line=_line(at),
        depth=depth,
        verdict=facts.verdict,
        reason=facts.reason,
        private=facts.private,
        reductions=tuple(ReductionReport(r.target, r.op, r.kind, r.exact, r.by) for r in facts.reductions),
        conflict=None if facts.conflict is None else _conflict(facts.conflict),
        trip_count=facts.trip_count,
        iterations=iterations.get(stmt.name),
        asserted=isinstance(stmt, For) and bool(stmt.asserted),
        run=stmt.run if isinstance(stmt, For) else "sequential",
    )


def _source_line(at: Location | None) -> str:
    return "" if at is None else linecache.getline(at.file, at.line).strip()


def _source_name(stmt: For | While, source: str) -> str:
    if isinstance(stmt, While):
        return "while"
    found = _FOR.match(source)
    return found.group(1) if found else re.split(r"[^A-Za-z0-9_]", stmt.name)[0]


def _conflict(conflict: Conflict) -> ConflictReport:
    return ConflictReport(
        target=conflict.target,
        kind=conflict.kind,
        first=conflict.first,
        first_line=_line(conflict.first_at),
        second=conflict.second,
        second_line=_line(conflict.second_at),
        distance=conflict.distance,
    )


def _line(at: Location | None) -> int:
    return 0 if at is None else at.of_user.line


# ---- arrays -------------------------------------------------------------------------------------------------------

_Place = tuple[str, bool, Location | None]  # array, is it a write, where


def _arrays(kernel: Kernel, facts: Facts, elements: Mapping[str, str]) -> Iterator[ArrayReport]:
    kept_safe = _bounds_by_place(kernel, facts)

    def report(name: str, role: str, array: ArrayParam | Allocate | None, dtype: str, rank: int) -> ArrayReport:
        mine = sorted((access for access in facts.accesses if access.array == name), key=_reading_order)
        return ArrayReport(
            name=name,
            role=role,
            dtype=dtype,
            rank=rank,
            layout=array.layout if isinstance(array, ArrayParam) else "C",
            accesses=tuple(dict.fromkeys(_access(access, kept_safe) for access in mine)),
            footprint=elements.get(name),
            bounds=_array_bounds([b for place, all_ in kept_safe.items() if place[0] == name for b in all_]),
        )

    for param in kernel.arrays:
        yield report(param.name, "argument", param, param.element.name, param.rank)
    for result in kernel.results:
        yield report(result.name, "result", None, result.element.name, result.rank)
    for stmt in statements(kernel.body, Allocate):
        yield report(stmt.array, "local", stmt, stmt.element.name, len(stmt.shape))


def _reading_order(access: AccessFacts) -> tuple[int, int, bool]:
    return (access.at.line, access.at.column, access.is_write) if access.at else (0, 0, access.is_write)


def _bounds_by_place(kernel: Kernel, facts: Facts) -> dict[_Place, list[Bounds]]:
    found: dict[_Place, list[Bounds]] = {}
    nodes: list[Load | Stmt] = list(expressions(kernel.body, Load))
    nodes += statements(kernel.body)
    for node in nodes:
        if isinstance(node, Load | Store):
            place = (node.array, isinstance(node, Store), node.at)
            found.setdefault(place, []).extend(facts.bounds.get(id(node), ()))
    return found


def _access(access: AccessFacts, kept_safe: Mapping[_Place, list[Bounds]]) -> AccessReport:
    bounds = kept_safe.get((access.array, access.is_write, access.at), [])
    checked = [bound for bound in bounds if bound.kind == "checked"]
    return AccessReport(
        text=access.text,
        line=_line(access.at),
        write=access.is_write,
        pattern=access.pattern,
        stride=access.stride or "",
        bounds="checked" if checked else "proven",
        reason="; ".join(dict.fromkeys(bound.reason for bound in checked if bound.reason)),
    )


def _array_bounds(bounds: list[Bounds]) -> str:
    conditions = list(dict.fromkeys(bound.condition for bound in bounds if bound.kind == "proven" and bound.condition))
    checked = any(bound.kind == "checked" for bound in bounds)
    if checked and all(bound.kind == "checked" for bound in bounds):
        return "checked"
    where = f" where {' and '.join(conditions)}" if conditions else ""
    return f"proven{where}" + (", the rest checked" if checked else "")
