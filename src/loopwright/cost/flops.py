"""How many floating-point operations a call has, as people count them: additions, subtractions, multiplications,
divisions and functions one each, a fused pair two; those of indices do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from loopwright.analysis.frequency import frequencies
from loopwright.cost.call_shape import shape_of
from loopwright.ir.nodes import Binary, Call, Kernel, Stmt
from loopwright.ir.walk import own_expressions, statements, subexpressions

COUNTED = ("add", "sub", "mul", "truediv", "pow")


def flops(kernel: Kernel, arguments: Sequence[object]) -> float | None:
    """Of a call with these arguments; None where data decides how often something runs."""
    found = frequencies(kernel, shape_of(kernel, arguments).sizes)
    if found.assumed:
        return None
    return sum(found.statements.get(id(stmt), 0.0) * _of(stmt) for stmt in statements(kernel.body))


def _of(stmt: Stmt) -> int:
    """Those of a statement itself, without the ones inside it."""
    parts = [part for expr in own_expressions(stmt) for part in subexpressions(expr)]
    binaries = sum(isinstance(part, Binary) and part.type.is_float and part.op in COUNTED for part in parts)
    return binaries + sum(isinstance(part, Call) and part.type.is_float for part in parts)
