"""Which accesses and checks are safe for which sizes: each as a condition, all of them together as the Guard.

An access is `proven` where a condition on sizes and scalar arguments, tested once per call, keeps its index within
0..size; it is `checked` where no such condition leaves the loops around it room to run. Values that are not known
before the call never enter a condition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine, Formula, Symbol, combine, constant, disjunction, relate
from loopwright.analysis.carried_ranges import FAR
from loopwright.analysis.corner import below
from loopwright.analysis.delinearisation import limit, split, split_by_force
from loopwright.analysis.effort import LOCK, Effort, TooHard, together
from loopwright.analysis.facts import Bounds, Known
from loopwright.analysis.guard import parameter_texts
from loopwright.analysis.number_ranges import number_ranges
from loopwright.analysis.proof import Proof, adopt, guardable
from loopwright.analysis.sets import build, ordered, parameters
from loopwright.analysis.trace import Access, Test, Trace, trace
from loopwright.errors import BoundsError
from loopwright.ir.nodes import Const, Kernel

MOST_HARMLESS = 256
"""Of so many calls of a kernel it is remembered that no violation is certain."""

PROVEN, UNKNOWN = (Bounds("proven"),), (Bounds("checked"),)
TOO_HARD = "too hard to prove within the budget of the analysis"
QUOTIENT = "the index is a quotient of values that are known only at run time"


def prove(
    kernel: Kernel,
    notes: Trace,
    only: Collection[int] | None = None,
    known: Known | None = None,
    given: isl.Set | None = None,
) -> Proof:
    """Bounds of every access and every check of a kernel, or of `only` the accesses with these nodes' ids: then not of
    checks, and the proof is no guard for the kernel. What is `known` is not proven again: its conditions are in the
    guard of the kernel that it is known from, which lets calls pass that are `given`."""
    # Of a kernel made by steps there are few questions, and those about tiles are about quotients, too.
    effort = Effort(patient=known is not None)
    known = known or {}
    proof = Proof(notes, parameter_texts(kernel), given, effort=effort)
    split(proof)  # first: what it adds to the guard concerns more than one access
    if only is not None:
        for access in notes.accesses:
            if id(access.node) in only:
                axes = range(len(access.index))
                bounds = known.get((access.node.key, access.array))
                proof.bounds[id(access.node)] = bounds or tuple(_axis(proof, access, axis) for axis in axes)
        return proof
    new = [access for access in notes.accesses if (access.node.key, access.array) not in known]
    for access in notes.accesses:
        proof.bounds[id(access.node)] = known.get((access.node.key, access.array), ())
    for access in new:
        axes = range(len(access.index))
        proof.bounds[id(access.node)] = tuple(_axis(proof, access, axis) for axis in axes)
    # Of what fails for some numbers there may be copies, in restructured code, that never do.
    converted = [test.node for test in notes.tests if test.node.converted is not None]
    is_open = any(known.get((node.key, ""), UNKNOWN)[0].kind == "checked" for node in converted)
    never_fails = number_ranges(kernel).checks if is_open else {}
    for test in notes.tests:
        surely = PROVEN if never_fails.get(id(test.node)) else known.get((test.node.key, ""))
        proof.bounds[id(test.node)] = surely or (_test(proof, test),)
    for access in new:  # last: such a demand may leave nothing else any room
        found = enumerate(proof.bounds[id(access.node)])
        proof.bounds[id(access.node)] = tuple(_refused(proof, access, axis, bounds) or bounds for axis, bounds in found)
    return proof


# ---- one axis of one access -----------------------------------------------------------------------------------


def _axis(proof: Proof, access: Access, axis: int) -> Bounds:
    index, size = access.index[axis], access.sizes[axis]
    written = access.node.index[axis]
    from_end = isinstance(written, Const) and index.constant < 0
    if from_end:
        index = combine(index, size)
    key = (index, size, from_end, access.exact, access.sure, access.where, access.stack)
    if key not in proof.known:
        found = _by_digits(proof, access, axis)
        if (found is None or found.kind == "checked") and not from_end:
            text = below(proof, access, index, size)
            found = found if text is None else Bounds("proven", "", text)
        if found is None or found.kind == "checked":
            found = _decide(proof, access, index, size, from_end)
        if found.kind == "checked" and any(symbol.factors for symbol in index.symbols):
            found = _by_force(proof, access, axis) or found
        proof.known[key] = found
    return proof.known[key]


def _by_force(proof: Proof, access: Access, axis: int) -> Bounds | None:
    """What the guard has to ask of an index with products, though not every call may come to it: of an array that
    nothing writes to only that its greatest value is there, as windows that overlap, `a[i * hop + k]`, have no digits;
    else that it has digits. None where it cannot be told."""
    if not any(one.is_write for one in proof.notes.accesses if one.array == access.array):
        text = below(proof, access, access.index[axis], access.sizes[axis], surely=False)
        if text is not None:
            return Bounds("proven", "", text)
    split_by_force(proof, access, axis)
    return _by_digits(proof, access, axis)


def _by_digits(proof: Proof, access: Access, axis: int) -> Bounds | None:
    """What an index of digits must be below; None where it has none."""
    digits = proof.digits.get((access.number, axis))
    if digits is None:
        return None
    text = limit(proof, access, digits, access.sizes[axis])
    reason = _reason(access.index[axis], False)
    return Bounds("checked", reason) if text is None else Bounds("proven", "", text)


def _decide(proof: Proof, access: Access, index: Affine, size: Affine, from_end: bool) -> Bounds:
    if _free(index, access):
        may_be_negative = index.interval(0)[0] < 0
        return Bounds("checked", _reason(index, may_be_negative), may_be_negative=may_be_negative)
    negative = relate(index, "<", constant(0))
    outside = () if _is_never_negative(index) else (negative,)
    if relate(index, "<", size) not in access.where:
        outside = (*outside, relate(index, ">=", size))
    simple = tuple(f for name in access.stack if name in proof.notes.loops for f in proof.notes.loops[name].domain)
    is_quotient = any(symbol in proof.notes.state.table.quotients for symbol in index.symbols)
    for where in (access.where, simple):
        try:
            with proof.effort.bounded():
                if is_quotient and not all(guardable((*where, one)).is_empty() for one in outside):
                    break  # isl would ask for as much as if it were divided by one, which calls hardly ever grant
                text = adopt(proof, access.stack, where, outside, on_data=index.data)
                if text is not None:
                    certain = _plain(access, index, size)
                    if certain and text:
                        proof.wanted |= {s.name for s in _known(access, index, size)}
                    return Bounds("proven", "", text, certain, from_end)
                from_last = relate(index, ">=", combine(constant(0), size, -1))
                may_be_negative = from_end or not build((*where, negative, from_last)).is_empty()
                return Bounds("checked", _reason(index, may_be_negative), may_be_negative=may_be_negative)
        except TooHard:
            continue
    return Bounds("checked", QUOTIENT if is_quotient else TOO_HARD, may_be_negative=True)


def _is_never_negative(index: Affine) -> bool:
    """Whether ranges alone tell, which isl would have to find out: without products, of which it knows less."""
    return index.interval(0)[0] >= 0 and not any(symbol.factors for symbol in index.symbols)


def _refused(proof: Proof, access: Access, axis: int, bounds: Bounds) -> Bounds | None:
    """Where an index is out of bounds whenever it is reached at all, that is better said before anything is written:
    it becomes part of the guard that it is not reached."""
    index, size = access.index[axis], access.sizes[axis]
    if bounds.kind == "proven" or bounds.may_be_negative or not _plain(access, index, size):
        return None
    outside = (relate(index, "<", constant(0)), relate(index, ">=", size))
    try:
        with proof.effort.bounded():
            text = adopt(proof, access.stack, access.where, outside, hopeless=True)
    except TooHard:
        return None
    if text is None:
        return None
    proof.wanted |= {s.name for s in _known(access, index, size)}
    return Bounds("proven", "", text, True)


def _free(index: Affine, access: Access) -> bool:
    """A value without an upper limit about which no condition says anything: nothing can be proven."""
    for symbol in index.symbols:
        alone = symbol.role == "opaque" and not symbol.uses and not symbol.factors
        if alone and symbol.data and symbol.intervals[0][1] >= FAR:
            return not any(symbol in formula.symbols for formula in access.where)
    return False


def _reason(index: Affine, may_be_negative: bool) -> str:
    if any(symbol.loads for symbol in index.symbols):
        return "the index comes from an array"
    if index.data:
        return "the index depends on data"
    if any(symbol.factors for symbol in index.symbols):
        return "the index is a product of values that are known only at run time"
    return "the index can be negative" if may_be_negative else "the index can be too large, whatever the sizes"


def _plain(access: Access, index: Affine, size: Affine) -> bool:
    """Whether the access happens for its whole domain in every call."""
    symbols = [s for formula in access.where for s in formula.symbols]
    return (
        access.exact
        and access.sure
        and not any(s.data or s.loose for s in ordered((*symbols, *index.symbols, *size.symbols)))
    )


def _known(access: Access, index: Affine, size: Affine) -> list[Symbol]:
    """The sizes and scalar arguments that an access depends on."""
    symbols = [s for formula in access.where for s in formula.symbols]
    return [s for s in ordered((*symbols, *index.symbols, *size.symbols)) if s.role in ("size", "scalar")]


def _test(proof: Proof, test: Test) -> Bounds:
    if test.fails is None or any(symbol.data and not symbol.rule for symbol in test.fails.symbols):
        return Bounds("checked", "the condition depends on data")
    try:
        with proof.effort.bounded():
            on_data = any(symbol.data for symbol in test.fails.symbols)
            text = adopt(proof, test.stack, test.where, (test.fails,), on_data=on_data)
    except TooHard:
        return Bounds("checked", TOO_HARD)
    if text is None:
        return Bounds("checked", "it fails for some values of every size")
    return Bounds("proven", "", text)


# ---- the error before a call ----------------------------------------------------------------------------------


class Violations:
    """The certain violations of calls of one kernel. The kernel is walked once, at the first question; a call that has
    none is remembered by the values it was about, so that calls whose guard fails again and again are cheap."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._places: tuple[tuple[Access, int], ...] | None = None
        self._harmless: dict[tuple[tuple[str, int], ...], None] = {}

    @together()
    def of(self, values: Mapping[str, int]) -> BoundsError | None:
        """The first certain violation of a call, or None. `values`: of the parameters by their names in the Guard."""
        key = tuple(values.items())
        with LOCK:
            if key in self._harmless:
                return None
            if self._places is None:
                self._places = tuple(_certain_places(self._kernel))
            for access, axis in self._places:
                found = _witness(access, axis, values)
                if found is not None:
                    return BoundsError(access.array, axis, *found, access.node.at, before_run=True)
            while len(self._harmless) >= MOST_HARMLESS:
                del self._harmless[next(iter(self._harmless))]
            self._harmless[key] = None
        return None


def violation(kernel: Kernel, values: Mapping[str, int]) -> BoundsError | None:
    """The first certain violation of a call, or None. `values`: of the parameters by their names in the Guard."""
    return Violations(kernel).of(values)


def _certain_places(kernel: Kernel) -> Iterator[tuple[Access, int]]:
    """The accesses, and their axes, that happen for their whole domain in every call."""
    for access in trace(kernel).accesses:
        for axis, (index, size) in enumerate(zip(access.index, access.sizes, strict=True)):
            if _plain(access, index, size):
                yield access, axis


def _witness(access: Access, axis: int, values: Mapping[str, int]) -> tuple[int, int] | None:
    """The index and the size of some point of an access's domain where Python refuses it."""
    index, size = access.index[axis], access.sizes[axis]
    refused = disjunction((relate(index, "<", combine(constant(0), size, -1)), relate(index, ">=", size)))
    here = Formula(f"index = {index.text()} and size = {size.text()}", index.symbols + size.symbols)
    if any(symbol.name not in values for symbol in _known(access, index, size)):
        return None
    try:
        with Effort().bounded():
            points = build((*access.where, refused), ("index", "size"), (here,))
            for name in parameters(points):
                if name in values:
                    points = points.intersect(isl.Set(f"[{name}] -> {{ [index, size] : {name} = {values[name]} }}"))
            if points.is_empty():
                return None
            point = points.sample_point()
            first, second = (point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2))
            return first, second
    except TooHard:
        return None
