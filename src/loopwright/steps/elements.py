"""Which iterations of a nest an element tells apart, as its indices stand in the text: `a[i, j]` belongs to one
iteration of `i` and `j`, also where loops over tiles stand around them. Most nests that steps take apart or turn are
such that this is enough to see that nothing changes places. It asks isl nothing, and where it says no, others ask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from loopwright.analysis.facts import Facts
from loopwright.analysis.scalars import live_after, scalars_of
from loopwright.analysis.values import fields_overlap
from loopwright.ir.linear import apart, linear
from loopwright.ir.nodes import Binary, Body, Checked, Const, Expr, For, Kernel, Load, Store, Var, While
from loopwright.ir.queries import (
    arrays_loaded,
    arrays_made,
    arrays_measured,
    arrays_stored,
    has,
    names_assigned,
    names_in,
    names_read,
)
from loopwright.ir.walk import expressions, own_expressions, statements
from loopwright.steps.nest import left_early

Access = Load | Store


def meet_in_one_iteration(kernel: Kernel, facts: Facts, loop: For, first: Body, rest: Body) -> bool:
    """Whether all that two parts of a loop's body touch, and one of them writes, is somewhere else in each iteration:
    an iteration of the second part then meets its own one of the first part only."""
    if kernel.overlap or fields_overlap(kernel.arrays) or left_early(loop):
        return False
    if _share_scalars(first, rest):
        return False
    made = arrays_made(loop.body)
    met = (arrays_stored(first) | made) & _touched(rest) | (arrays_stored(rest) | made) & _touched(first)
    return not met & made and all(loop.name in _told_by(some, (loop,), facts) for some in _accesses(loop, met).values())


def keeps_elements_in_order(kernel: Kernel, facts: Facts, band: Sequence[For], order: Sequence[str] = ()) -> bool:
    """Whether any two iterations of a perfect nest that touch the same element, one of them writing, are in the same
    iteration of all its loops but one, or but those that stand in this order as before, and have nothing else in
    common: however the loops are turned, or cut into blocks where no order is given, such two keep theirs."""
    inner = band[-1]
    if kernel.overlap or fields_overlap(kernel.arrays) or left_early(inner) or arrays_made(inner.body):
        return False
    found = scalars_of(inner, live_after(kernel)[inner.name])
    own = names_assigned(inner.body)
    ends = [expr for loop in band for expr in own_expressions(loop)]
    if not own <= {*found.private} - {*found.last} or any(
        names_in(one) & own or has(one, Load, Checked) for one in ends
    ):
        return False
    for some in _accesses(inner, arrays_stored(inner.body)).values():
        told = _told_by(some, band, facts)
        rest = [loop.name for loop in band if loop.name not in told]
        if len(rest) > 1 and rest != [name for name in order if name in rest]:
            return False
    return True


def are_apart(some: Body, others: Body) -> bool:
    """Whether two pieces of a body have no scalar and no array in common that one of them changes: they may change
    places, unless arrays of a call overlap."""
    return not (_share_scalars(some, others) or _disturbs(some, others) or _disturbs(others, some))


def _disturbs(some: Body, others: Body) -> bool:
    """Whether one of them makes an array that the other uses, or writes to elements of one that the other accesses."""
    accessed = arrays_loaded(others) | arrays_stored(others)
    return bool(arrays_made(some) & _touched(others) or arrays_stored(some) & accessed)


def _share_scalars(some: Body, others: Body) -> bool:
    """Whether one of them sets a scalar that the other one uses."""
    set_, others_set = names_assigned(some), names_assigned(others)
    return bool(set_ & (others_set | names_read(others)) or others_set & names_read(some))


def _touched(body: Body) -> set[str]:
    return arrays_loaded(body) | arrays_stored(body) | arrays_made(body) | arrays_measured(body)


def _accesses(loop: For, arrays: Collection[str]) -> Mapping[str, list[Access]]:
    found: dict[str, list[Access]] = {}
    accesses: list[Access] = [*expressions(loop.body, Load)]
    accesses += statements(loop.body, Store)
    for access in accesses:
        if access.array in arrays:
            found.setdefault(access.array, []).append(access)
    return found


def _told_by(accesses: Sequence[Access], band: Sequence[For], facts: Facts) -> set[str]:
    """The loops of a nest each of whose iterations has another place for all accesses of an array, whatever loops
    inside do."""
    body = band[-1].body
    nest = [*band, *statements(body, For)]
    changing = names_assigned(body) | {stmt.name for stmt in statements(body, While)}
    found: set[str] = set()
    for axis, index in enumerate(accesses[0].index):
        if all(access.index[axis] == index for access in accesses):
            found |= _digits(index, nest, changing, all(_is_from_start(facts, access, axis) for access in accesses))
    return found


def _is_from_start(facts: Facts, access: Access, axis: int) -> bool:
    """Whether facts say that an index never counts from the end; of arrays that steps have made they may say
    nothing."""
    if id(access) not in facts.bounds and (access.key, access.array) not in facts.known:
        return False
    found = facts.bounds_of(access)[axis]
    return found.kind == "proven" or not found.may_be_negative


def _digits(index: Expr, nest: Sequence[For], changing: Collection[str], from_start: bool) -> set[str]:
    """The loops, outer before inner, that an index has as digits: each counts how far its variable is from where the
    loop begins, which may be a digit of a loop around, and all lower ones come to less than one step of it."""
    form = linear(index)
    counts, constant = Counter[str](), form.constant
    if not _count(form.terms, 1, counts):
        return set()
    digits: list[tuple[int, int | None, str]] = []
    for loop in reversed(nest):
        count, step = counts.pop(loop.name, 0), loop.step
        if not count:
            continue
        lower = linear(loop.lower)
        if count < 0 or loop.name in changing or not isinstance(step, Const) or step.value <= 0:
            return set()
        if not _count(lower.terms, count, counts):
            return set()
        constant += count * lower.constant
        length = _longest(loop.upper, loop.lower)
        most = None if length is None else max(0, length - 1) // int(step.value) * int(step.value) * count
        digits.append((count * int(step.value), most, loop.name))
    others = {name for name, count in counts.items() if count}
    if others & set(changing) or not (from_start or (not others and constant >= 0)):
        return set()
    before: int | None = 0
    for one, most, _ in sorted(digits, key=lambda digit: digit[0]):
        if before is None or before >= one:
            return set()
        before = None if most is None else before + most
    return {name for _, _, name in digits}


def _count(terms: Sequence[tuple[Expr, int]], times: int, counts: Counter[str]) -> bool:
    """Add a sum to others; False where it is none of variables."""
    for term, count in terms:
        if not isinstance(term, Var):
            return False
        counts[term.name] += times * count
    return True


def _longest(upper: Expr, lower: Expr) -> int | None:
    """How far a loop goes at most, where one of its ends is a number away from its beginning."""
    if isinstance(upper, Binary) and upper.op == "min":
        known = [end for end in (_longest(upper.left, lower), _longest(upper.right, lower)) if end is not None]
        return min(known, default=None)
    return apart(upper, lower)
