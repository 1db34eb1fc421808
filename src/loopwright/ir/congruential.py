"""Several draws of a linear congruential generator in an iteration, each from what the iteration began with:

    for i in 0 .. n:                              for i in 0 .. n:
        s.2 = s * 5 + 3 & 255                         s.2 = s * 5 + 3 & 255
        a[i] = s.2                        ->          a[i] = s.2
        s = s.2 * 5 + 3 & 255                         s = s * 25 + 18 & 255

The next iteration then waits for one product, not for one of each draw. Modulo a power of two that is the same, however
sums and products wrap around. The front end gives each draw a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from loopwright.ir.linear import linear, plus, times, variable
from loopwright.ir.nodes import Assign, Binary, Body, Const, For, Kernel, Stmt, Var, While
from loopwright.ir.queries import names_assigned
from loopwright.ir.types import INT64
from loopwright.ir.walk import rewrite_body

LEAST, MOST = 8, 62  # bits of a draw


@dataclass(frozen=True, slots=True)
class _Draw:
    """What `base` was, times a number, plus one, modulo 2**bits."""

    base: str
    factor: int
    addend: int
    bits: int

    def after(self, first: _Draw) -> _Draw:
        """This draw from `first`, which is no narrower, in terms of that one's base."""
        factor, addend = self.factor * first.factor, self.factor * first.addend + self.addend
        return _Draw(first.base, factor % (1 << self.bits), addend % (1 << self.bits), self.bits)


def draws_from_the_first(kernel: Kernel) -> Kernel:
    """The same kernel, in loops whose iterations draw more than once."""
    body = rewrite_body(kernel.body, _in_loop)
    return kernel if body is kernel.body else replace(kernel, body=body)


def _in_loop(stmt: Stmt) -> Body:
    if not isinstance(stmt, For | While):
        return (stmt,)
    handed_on = names_assigned(stmt.body)
    known: dict[str, _Draw] = {}
    made: list[Stmt] = []
    for one in stmt.body:
        draw = _draw(one) if isinstance(one, Assign) else None
        if draw is not None and (first := known.get(draw.base)) is not None and first.bits >= draw.bits:
            assert isinstance(one, Assign) and isinstance(one.value, Binary)
            draw = draw.after(first)
            place = plus(times(variable(draw.base), draw.factor), draw.addend)
            one = replace(one, value=replace(one.value, left=place))
        changed = names_assigned((one,))
        known = {name: of for name, of in known.items() if name not in changed and of.base not in changed}
        if draw is not None and draw.base in handed_on and draw.base not in changed:
            assert isinstance(one, Assign)
            known[one.name] = draw
        made.append(one)
    same = all(new is old for new, old in zip(made, stmt.body, strict=True))
    return (stmt if same else replace(stmt, body=tuple(made)),)


def _draw(stmt: Assign) -> _Draw | None:
    match stmt.value:
        case Binary(op="and" | "mod" as op, left=left, right=Const(value=int(last), type=kind)) if kind == INT64:
            bits = (last + 1 if op == "and" else last).bit_length() - 1
            if not LEAST <= bits <= MOST or last != (1 << bits) - (op == "and"):
                return None
        case _:
            return None
    form = linear(left)
    match form.terms:
        case ((Var(name=base, type=kind), int(factor)),) if kind == INT64:
            return _Draw(base, factor, form.constant, bits)
        case _:
            return None
