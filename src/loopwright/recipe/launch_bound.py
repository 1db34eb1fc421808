"""For the default recipe of a GPU: loops of the host that start grids, and for which calls these are too little work.
No sizes are known yet; the code asks for those of each call, which runs on the CPU where a core is done sooner than the
launches (ir/launch_bound.py)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.ir.launch_bound import LaunchBound, Polynomial, SizeSource
from loopwright.ir.nodes import Binary, Body, Cast, Const, Dim, Expr, For, Kernel, Var, While
from loopwright.ir.queries import names_assigned
from loopwright.ir.walk import bodies, loops, statements
from loopwright.steps.extent import loops_around
from loopwright.steps.grids import is_bound, launches

Middles = Mapping[str, Polynomial]
"""What loops are worth in the middle, by name."""

MOST_TERMS = 24
"""Of a polynomial that is worth its test."""


class Unknown(Exception):
    """Sizes do not tell how often something runs."""


def launch_bounds(written: Kernel, kernel: Kernel) -> tuple[LaunchBound, ...]:
    """Of a kernel as it was written, and as it runs on a GPU: one for each innermost loop of the host that starts
    grids, where sizes tell how often it runs, and what it does."""
    hosts = dict(_hosts(kernel.body))
    there, found = loops(written), list[LaunchBound]()
    for name, around in hosts.items():
        loop = there.get(name)
        if not isinstance(loop, For) or any(one.name in hosts for one in statements(loop.body, For)):
            continue
        if around != tuple(loops_around(written, loop)):
            continue  # in another order it runs as often as other loops say
        bound = _bound(written, loop)
        if bound is not None:
            found.append(bound)
    return tuple(found)


def _hosts(body: Body, around: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The loops of the host that launch grids, with those around them."""
    for stmt in body:
        if launches(stmt) and not is_bound(stmt):
            inner = (*around, stmt.name) if isinstance(stmt, For | While) else around
            if isinstance(stmt, For):
                yield stmt.name, around
            for part in bodies(stmt):
                yield from _hosts(part, inner)


def _bound(written: Kernel, loop: For) -> LaunchBound | None:
    counted = _Counted(written)
    try:
        rounds, values = counted.rounds(written.body, loop, {})
        work = counted.work(loop.body, values)
        rest = _plus(counted.work(written.body, {}), _times(rounds, work), -1.0)
    except Unknown:
        return None
    if max(map(len, (rounds, work, rest))) > MOST_TERMS:
        return None
    launches = sum(isinstance(stmt, For) or any(bodies(stmt)) for stmt in loop.body)
    names = {name for one in (rounds, work, rest) for names in one for name in names}
    sizes = tuple((name, source) for name, source in counted.sources.items() if name in names)
    return LaunchBound(loop.name, sizes, rounds, max(1, launches), work, rest)


class _Counted:
    """How often statements of a kernel run, as polynomials of sizes: loops whose bounds depend on others run as often
    as in the middle of those. sources: of the sizes that were asked for."""

    def __init__(self, kernel: Kernel) -> None:
        changed = names_assigned(kernel.body)
        self._arrays = {one.name: one.argument for one in kernel.arrays}
        self._scalars = {
            one.name: one.argument for one in kernel.scalars if one.type.is_integer and one.name not in changed
        }
        self.sources: dict[str, SizeSource] = {}

    def rounds(self, body: Body, loop: For, values: Middles) -> tuple[Polynomial, Middles]:
        """How often the body of a loop runs, and what the loops around its body are worth in the middle."""
        for stmt in body:
            if stmt is not loop and not any(one is loop for part in bodies(stmt) for one in statements(part)):
                continue
            if not isinstance(stmt, For):
                if isinstance(stmt, While):
                    raise Unknown
                (part,) = (part for part in bodies(stmt) if any(one is loop for one in statements(part)))
                return self.rounds(part, loop, values)
            trips, inner = self._trips(stmt, values)
            if stmt is loop:
                return trips, inner
            found, innermost = self.rounds(stmt.body, loop, inner)
            return _times(trips, found), innermost
        raise Unknown

    def work(self, body: Body, values: Middles) -> Polynomial:
        """How many statements it is, those of inner loops included."""
        total: Polynomial = {(): 0.0}
        for stmt in body:
            if isinstance(stmt, While):
                raise Unknown
            if isinstance(stmt, For):
                trips, inner = self._trips(stmt, values)
                total = _plus(total, _times(trips, self.work(stmt.body, inner)))
                continue
            total = _plus(total, {(): 1.0})
            for part in bodies(stmt):
                total = _plus(total, self.work(part, values))
        return total

    def _trips(self, loop: For, values: Middles) -> tuple[Polynomial, Middles]:
        if not isinstance(loop.step, Const):
            raise Unknown
        lower, upper = self._value(loop.lower, values), self._value(loop.upper, values)
        trips = _times(_plus(upper, lower, -1.0), {(): 1.0 / float(loop.step.value)})
        middle = _times(_plus(upper, lower), {(): 0.5})
        return trips, {**values, loop.name: middle}

    def _value(self, expr: Expr, values: Middles) -> Polynomial:
        match expr:
            case Const():
                return {(): float(expr.value)}
            case Dim(array=array, axis=axis) if array in self._arrays:
                return self._size(f"s{self._arrays[array]}_{axis}", ("size", self._arrays[array], axis))
            case Var(name=name) if name in values:
                return values[name]
            case Var(name=name) if name in self._scalars:
                return self._size(f"v{self._scalars[name]}", ("scalar", self._scalars[name], 0))
            case Cast(operand=operand):
                return self._value(operand, values)
            case Binary(op="add" | "sub" as op):
                sign = 1.0 if op == "add" else -1.0
                return _plus(self._value(expr.left, values), self._value(expr.right, values), sign)
            case Binary(op="mul"):
                return _times(self._value(expr.left, values), self._value(expr.right, values))
            case Binary(op="floordiv", right=Const(value=divisor)) if divisor:
                return _times(self._value(expr.left, values), {(): 1.0 / float(divisor)})
        raise Unknown

    def _size(self, name: str, source: SizeSource) -> Polynomial:
        self.sources[name] = source
        return {(name,): 1.0}


def _plus(left: Polynomial, right: Polynomial, factor: float = 1.0) -> Polynomial:
    found = dict(left)
    for names, count in right.items():
        found[names] = found.get(names, 0.0) + factor * count
    return {names: count for names, count in found.items() if count} or {(): 0.0}


def _times(left: Polynomial, right: Polynomial) -> Polynomial:
    found = dict[tuple[str, ...], float]()
    for names, count in left.items():
        for others, factor in right.items():
            product = tuple(sorted((*names, *others)))
            found[product] = found.get(product, 0.0) + count * factor
    return {names: count for names, count in found.items() if count} or {(): 0.0}
