"""Whether a kernel makes whole numbers of sums of products: `int(a * x + b * y + c)`, the pixel that a place of a
turned picture lies in. A multiply-add rounds once where Python rounds twice: the sum is the same but for its last bit,
and the whole number another one wherever Python's sum is one. That pixel, and all that is computed of it, is another
one then, so such code is compiled without multiply-adds. What is stored as a number of 8 or 16 bits is a colour or a
level, no place: one more or less of these is a matter of rounding.
"""

from __future__ import annotations

from collections import defaultdict

from loopwright.ir.nodes import Assign, Binary, Cast, Expr, Kernel, Load, Store, Unary, Var
from loopwright.ir.queries import arrays_made
from loopwright.ir.walk import expressions, statements, subexpressions

_PLACE_BYTES = 4  # of a type whose numbers count as places


def rounds_products(kernel: Kernel) -> bool:
    """Whether a sum with a product in it becomes a whole number, also by way of scalars and arrays of the kernel's."""
    todo = [
        one.operand
        for one in expressions(kernel.body, Cast)
        if not one.type.is_float and one.operand.type.is_float and one.type.size_bytes >= _PLACE_BYTES
    ]
    made = _made_of(kernel) if todo else {}
    seen: set[str] = set()
    while todo:
        for part in subexpressions(todo.pop()):
            if _adds_product(part, made):
                return True
            name = part.name if isinstance(part, Var) else part.array if isinstance(part, Load) else ""
            if name in made and name not in seen:
                seen.add(name)
                todo += made[name]
    return False


def _made_of(kernel: Kernel) -> dict[str, list[Expr]]:
    """The floats that each scalar, and each array of the kernel's own, is given."""
    own = arrays_made(kernel.body)
    found: dict[str, list[Expr]] = defaultdict(list)
    for stmt in statements(kernel.body, Assign, Store):
        name = stmt.name if isinstance(stmt, Assign) else stmt.array
        if stmt.value.type.is_float and (isinstance(stmt, Assign) or name in own):
            found[name].append(stmt.value)
    return dict(found)


def _adds_product(expr: Expr, made: dict[str, list[Expr]]) -> bool:
    if not isinstance(expr, Binary) or expr.op not in ("add", "sub") or not expr.type.is_float:
        return False
    return any(_is_product(one, made) for one in (expr.left, expr.right))


def _is_product(expr: Expr, made: dict[str, list[Expr]]) -> bool:
    """Whether a compiler may see a product here: written out, or by the name of one."""
    if isinstance(expr, Unary):
        return _is_product(expr.operand, made)
    if isinstance(expr, Var):
        return any(isinstance(one, Binary) and one.op == "mul" for one in made.get(expr.name, ()))
    return isinstance(expr, Binary) and expr.op == "mul"
