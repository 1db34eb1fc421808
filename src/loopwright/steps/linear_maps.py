"""What a stretch of iterations makes of a scalar that each of them multiplies and adds to, `factor * x + rest`, and
when that is to be trusted.

Let r be `factor * x + rest` as computed. `rest` is what the loop itself makes of 0, so that its rounding errors are
like those of the loop; what `factor` adds to them is at most some rounding errors of |factor * x|. That is no worse
than another order of a sum where |factor| is small, and negligible where r is not much smaller. It is wrong where both
terms are large and cancel (`x = 2 * x - 1` stays at 1), and where one is infinite or NaN and the scalar is not. Where a
product of factors is too small for the type, it is rounded to a multiple of some unit, and later factors may enlarge
that: `growth` is the greatest product of consecutive factors up to the end, or 1.

So a result is trusted if it is finite, not the small difference of large terms, and no underflow can have changed it.
A NaN stays one, and so, mostly, does what is infinite. What is not trusted is computed as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from loopwright.analysis.linear_recurrences import LinearValue, linear_part
from loopwright.analysis.reductions import identity
from loopwright.ir.nodes import Assign, Binary, Call, Compare, Const, Expr, Logical, Stmt, Unary, Var
from loopwright.ir.types import BOOL, Scalar
from loopwright.steps.draft import substituted_in

SMALL_FACTOR, SMALL_DIFFERENCE = 4.0, 64.0
"""What factors count as small, and how much larger than their sum terms may be."""
UNDERFLOW = {8: (2.0**-1000, 2.0**-960), 4: (2.0**-114, 2.0**-90)}
"""By the bytes of a float: how large an error of underflow may be, in units of `growth * (abs(x) + 1)`, divided by the
accuracy of the type, for up to some thousand products that are rounded; and the numbers whose accuracy is no matter."""


@dataclass(frozen=True, slots=True)
class LinearMap:
    """Where a map is: scalars or elements of arrays. rest: None where nothing is added; growth: None where products
    cannot be too small, or none is above 1."""

    factor: Expr
    rest: Expr | None
    growth: Expr | None

    def of(self, x: Expr) -> Expr:
        """What it makes of a scalar."""
        product = Binary("mul", self.factor, x)
        return product if self.rest is None else Binary("add", product, self.rest)


def begun(value: LinearValue, kind: str) -> Const:
    """What the parts of a map are worth before the first iteration."""
    one = 1.0 if value.type.is_float else 1
    return identity("add", value.type) if kind == "rest" else Const(one, value.type)


def parts_of(value: LinearValue) -> tuple[str, ...]:
    """The parts of maps that have to be found."""
    is_checked = value.type.is_float and value.scaling == "any"
    return ("factor", *(("rest",) if value.adds else ()), *(("growth",) if is_checked else ()))


def updates(value: LinearValue, stmt: Assign, factor: str, growth: str) -> Iterator[Stmt]:
    """How an update of a scalar brings its map forward. The statement itself does so for the `rest`."""
    part = linear_part(stmt.value, value.name, value.type)
    zero = Const(0.0 if value.type.is_float else 0, value.type)
    yield Assign(factor, _with(part, value, factor) if part is not None else zero, at=stmt.at)
    if growth:
        now = zero if part is None else Unary("abs", _with(part, value, growth))
        yield Assign(growth, Call("maximum", (Const(1.0, value.type), now), value.type), at=stmt.at)
    if value.adds:
        yield stmt


def _with(part: Expr, value: LinearValue, name: str) -> Expr:
    return substituted_in(part, {value.name: Var(name, value.type)})


def trusted(value: LinearValue, found: LinearMap, before: Expr, after: Expr) -> Expr:
    """Whether what a map of floats makes of a scalar is as good as what the loop would make of it."""
    type_ = value.type
    holds: Expr = Call("isfinite", (after,), BOOL)
    product = Unary("abs", Binary("mul", found.factor, before))
    if value.adds and value.scaling != "none":
        is_small = _at_most(product, _scaled(SMALL_FACTOR, before, type_))
        holds = Logical(
            "and", holds, Logical("or", is_small, _at_most(product, _scaled(SMALL_DIFFERENCE, after, type_)))
        )
    if value.scaling != "none":
        error, least = UNDERFLOW[type_.size_bytes]
        size: Expr = Binary("add", Unary("abs", before), Const(1.0, type_))
        size = size if found.growth is None else Binary("mul", size, found.growth)
        size = Binary("mul", size, Const(error, type_))
        holds = Logical("and", holds, _at_most(size, Binary("add", Unary("abs", after), Const(least, type_))))
    if value.forgets:
        return holds
    # What is infinite stays so, unless a factor is 0 or the other infinity is added: that makes a NaN here, too.
    stays = Logical("and", Call("isinf", (before,), BOOL), Call("isinf", (after,), BOOL))
    return Logical("or", Logical("or", Call("isnan", (before,), BOOL), stays), holds)


def _at_most(left: Expr, right: Expr) -> Expr:
    return Compare("le", left, right)


def _scaled(factor: float, expr: Expr, type_: Scalar) -> Expr:
    return Binary("mul", Const(factor, type_), Unary("abs", expr))
