"""The Guard: all adopted conditions as one C expression, and in words."""

from __future__ import annotations

import re
from typing import Literal

from loopwright.analysis.affine import LEVELS
from loopwright.analysis.condition_text import as_c, as_text
from loopwright.analysis.effort import TooHard
from loopwright.analysis.facts import Guard
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


def guard_of(proof: Proof) -> Guard:
    """All conditions together, and the ranges that sizes and scalars must keep for forms not to overflow."""
    condition = simpler(proof.allowed, context_of(proof.notes)).coalesce().drop_unused_params()
    demands = sorted(proof.notes.state.table.demands.items(), key=lambda item: item[0].number)
    conditions = [part for part in (as_c(condition), *proof.products) if part]
    whole = " && ".join(f"({part})" if len(conditions) > 1 else part for part in conditions)
    parts = [f"({_or_idle(proof, whole)})"] if whole else []
    for symbol, level in demands:
        limit = 2 ** LEVELS[level]
        parts.append(f"{symbol.name} <= {limit}")
        if symbol.intervals[0][0] < -limit:
            parts.append(f"{symbol.name} >= -{limit}")
        elif symbol.intervals[0][1] >= 2**63:  # of a uint64 the call hands over the 64 bits as an int64
            parts.append(f"{symbol.name} >= 0")
    used = {*re.findall(r"\b[sv]\d\w*", " ".join(parts)), *(proof.wanted if parts else ())}
    chosen: list[tuple[str, tuple[Literal["size", "scalar"], int, int]]] = []
    for symbol in proof.notes.state.table.symbols:
        if symbol.name in used and (symbol.role == "size" or symbol.role == "scalar"):
            chosen.append((symbol.name, (symbol.role, *symbol.source)))
    words = list(proof.products.values())
    words += [f"{proof.names[symbol.name]} within 2**{LEVELS[level]}" for symbol, level in demands]
    if first := as_text(condition, proof.names):
        words.insert(0, f"({first})" if words and condition.n_basic_set() > 1 else first)
    return Guard(" && ".join(parts), " and ".join(words), tuple(chosen))


def both(first: Guard, second: Guard) -> Guard:
    """The guard of a kernel (the second) that is right only where the guard of the kernel it was made of holds too."""
    missing = [part for part in _parts(first.c_text) if part not in _parts(second.c_text)]
    if not missing:
        return second
    texts = dict.fromkeys(text for text in (second.text, first.text) if text)
    parameters = dict.fromkeys((*second.parameters, *first.parameters))
    c_text = " && ".join([*_parts(second.c_text), *missing])
    return Guard(c_text, " and ".join(texts), tuple(parameters))


def _parts(c_text: str) -> list[str]:
    """What `&&` joins outside of all brackets."""
    parts, depth = [""], 0
    for piece in re.split(r"( && |[()])", c_text):
        depth += (piece == "(") - (piece == ")")
        if piece == " && " and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return [part for part in parts if part]


def _or_idle(proof: Proof, condition: str) -> str:
    """The condition, or that none of the loops which rely on it runs at all, where that is simple to say."""
    loops = [proof.notes.loops.get(name) if name else None for name in proof.relied]
    if len(loops) > MOST_PIECES or None in loops:
        return condition
    try:
        with proof.effort.bounded():
            idle = context_of(proof.notes)
            for loop in loops:
                assert loop is not None
                idle = minus(idle, guardable(loop.domain)).coalesce()
            idle = simpler(idle, context_of(proof.notes)).coalesce()
            if idle.is_empty() or idle.n_basic_set() > MOST_PIECES:
                return condition
            return f"({condition}) || ({as_c(idle)})"
    except TooHard:
        return condition
