"""How many floating-point operations a call has, as people count them: additions, subtractions, multiplications,
divisions and functions one each, a fused pair two; those of indices do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loopwright.analysis.frequency import frequencies
from loopwright.cost.call_shape import shape_of
from loopwright.ir.nodes import Binary, Call, Kernel, Stmt
from loopwright.ir.types import FLOAT32
from loopwright.ir.walk import own_expressions, statements, subexpressions

COUNTED = ("add", "sub", "mul", "truediv", "pow")


@dataclass(frozen=True, slots=True)
class Flops:
    """count: of all; float32: of those, the ones on float32, of which a vector register holds twice as many."""

    count: float
    float32: float


def flops(kernel: Kernel, arguments: Sequence[object]) -> Flops | None:
    """Of a call with these arguments; None where data decides how often something runs."""
    found = frequencies(kernel, shape_of(kernel, arguments).sizes)
    if found.assumed:
        return None
    count = float32 = 0.0
    for stmt in statements(kernel.body):
        times, own = found.statements.get(id(stmt), 0.0), _of(stmt)
        count += times * len(own)
        float32 += times * sum(part.type == FLOAT32 for part in own)
    return Flops(count, float32)


def _of(stmt: Stmt) -> list[Binary | Call]:
    """Those of a statement itself, without the ones inside it."""
    parts = (part for expr in own_expressions(stmt) for part in subexpressions(expr))
    return [
        part
        for part in parts
        if part.type.is_float and (isinstance(part, Call) or (isinstance(part, Binary) and part.op in COUNTED))
    ]
