"""The Guard: all adopted conditions, in C and in words."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import Literal

from loopwright.analysis import isl
from loopwright.analysis.affine import LEVELS
from loopwright.analysis.condition_text import as_c, as_text
from loopwright.analysis.effort import TooHard
from loopwright.analysis.facts import Condition, SizeGuard
from loopwright.analysis.proof import MOST_PIECES, Proof, context_of, guardable
from loopwright.analysis.sets import minus, simpler
from loopwright.ir.nodes import ArrayParam, Kernel, ScalarParam


def parameter_texts(kernel: Kernel) -> dict[str, str]:
    """What people call the parameters of a guard: `n`, `a.shape[1]`, and `len(a)` where there is one axis."""
    names: dict[str, str] = {}
    for param in kernel.params:
        match param:
            case ScalarParam():
                names[f"v{param.argument}"] = param.name
            case ArrayParam():
                base, rank = param.name.split(".")[0], param.rank - len(param.tail)
                for axis in range(rank):
                    text = f"len({base})" if rank == 1 else f"{base}.shape[{axis}]"
                    names.setdefault(f"s{param.argument}_{axis}", text)
    return names


def guard_of(proof: Proof) -> SizeGuard:
    """All conditions together, and the ranges that sizes and scalars must keep for forms not to overflow."""
    condition = simpler(proof.allowed, context_of(proof.notes)).coalesce().drop_unused_params()
    demands = sorted(proof.notes.state.table.demands.items(), key=lambda item: item[0].number)
    proven = [part for part in (as_c(condition), *proof.products) if part.c_text]
    whole = " && ".join(f"({part.c_text})" if len(proven) > 1 else part.c_text for part in proven)
    parts = [Condition(whole, tuple(one for part in proven for one in part.compared))] if whole else []
    fixed, passing = _fixed(proof), proof.allowed
    if parts and not fixed:  # which has to be so wherever the kernel is told that size
        parts[0], idle = _or_idle(proof, parts[0])
        passing = passing if idle is None else passing.union(idle)
    for symbol, level in demands:
        limit, here = 2 ** LEVELS[level], ((symbol.name,),)
        parts.append(Condition(f"{symbol.name} <= {limit}", here))
        if symbol.intervals[0][0] < -limit:
            parts.append(Condition(f"{symbol.name} >= -{limit}", here))
        elif symbol.intervals[0][1] >= 2**63:  # of a uint64 the call hands over the 64 bits as an int64
            parts.append(Condition(f"{symbol.name} >= 0", here))
    table = proof.notes.state.table
    positive = [symbol for symbol in table.symbols if symbol.role == "scalar" and symbol.intervals[0][0] == 1]
    parts += [Condition(f"{symbol.name} >= 1", ((symbol.name,),)) for symbol in positive]
    used = {name for part in parts for names in part.compared for name in names} | (proof.wanted if parts else set())
    chosen: list[tuple[str, tuple[Literal["size", "scalar"], int, int]]] = []
    for symbol in proof.notes.state.table.symbols:
        if symbol.name in used and (symbol.role == "size" or symbol.role == "scalar"):
            chosen.append((symbol.name, (symbol.role, *symbol.source)))
    words = list(proof.products.values())
    words += [f"{proof.names[symbol.name]} within 2**{LEVELS[level]}" for symbol, level in demands]
    words += [f"{proof.names[symbol.name]} >= 1" for symbol in positive]
    if first := as_text(condition, proof.names):
        words.insert(0, f"({first})" if words and condition.n_basic_set() > 1 else first)
    return SizeGuard(tuple(parts), " and ".join(words), tuple(chosen), proof.on_data, fixed, passing)


def _fixed(proof: Proof) -> tuple[tuple[int, int, int], ...]:
    """The sizes that have only one value in all calls that the guard lets pass."""
    found: list[tuple[int, int, int]] = []
    sizes = {one.name: one.source for one in proof.notes.state.table.symbols if one.role == "size"}
    for position, name in enumerate(proof.allowed.get_var_names(isl.dim_type.param)):
        value = proof.allowed.plain_get_val_if_fixed(isl.dim_type.param, position) if name in sizes else None
        if value is not None and value.is_int() and value.to_python() >= 1:
            found.append((*sizes[name], value.to_python()))
    return tuple(found)


def both(first: SizeGuard, second: SizeGuard) -> SizeGuard:
    """The guard of a kernel (the second) that is right only where the guard of the kernel it was made of holds too."""
    if set(first.conditions) <= set(second.conditions):
        return second
    texts = dict.fromkeys(text for text in (second.text, first.text) if text)
    parameters = dict.fromkeys((*second.parameters, *first.parameters))
    conditions = dict.fromkeys((*second.conditions, *first.conditions))
    fixed = dict.fromkeys((*second.fixed, *first.fixed))
    on_data = first.on_data or second.on_data
    passing = [one.passing for one in (first, second) if one.passing is not None]
    return SizeGuard(
        tuple(conditions),
        " and ".join(texts),
        tuple(parameters),
        on_data,
        tuple(fixed),
        reduce(isl.Set.intersect, passing) if passing else None,
    )


def _or_idle(proof: Proof, condition: Condition) -> tuple[Condition, isl.Set | None]:
    """The condition in brackets, or that none of the loops which rely on it runs at all, where that is simple to
    say; and for which calls none does."""
    alone = replace(condition, c_text=f"({condition.c_text})")
    loops = [proof.notes.loops.get(name) if name else None for name in proof.relied]
    if len(loops) > MOST_PIECES or None in loops:
        return alone, None
    try:
        with proof.effort.bounded():
            idle = context_of(proof.notes)
            for loop in loops:
                assert loop is not None
                idle = minus(idle, guardable(loop.domain)).coalesce()
            idle = simpler(idle, context_of(proof.notes)).coalesce()
            if idle.is_empty() or idle.n_basic_set() > MOST_PIECES:
                return alone, None
            other = as_c(idle)
            return Condition(f"({alone.c_text} || ({other.c_text}))", condition.compared + other.compared), idle
    except TooHard:
        return alone, None
