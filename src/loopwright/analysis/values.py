"""What expressions are worth at one place of the program: linear forms, and conditions as formulas for isl.

It owns the meaning of integer expressions as whole numbers. A form is exact or opaque, never approximate: arithmetic
that could leave its machine type becomes an opaque symbol. Values of names are followed as the walk goes on (a fresh
symbol where paths meet), so one symbol is one value throughout an execution of the place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from loopwright.analysis.affine import (
    LEVELS,
    Affine,
    Formula,
    Interval,
    SymbolTable,
    combine,
    conjunction,
    constant,
    disjunction,
    of_symbol,
    relate,
    scale,
)
from loopwright.ir.by_identity import by_identity
from loopwright.ir.linear import coefficient
from loopwright.ir.nodes import (
    ArrayParam,
    Assign,
    Binary,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    GuardKind,
    Kernel,
    Load,
    Logical,
    ScalarParam,
    Select,
    Unary,
    Var,
)
from loopwright.ir.queries import names_in
from loopwright.ir.types import BOOL, INT64, Scalar
from loopwright.ir.walk import children, expressions, statements, subexpressions

MAX_PRODUCT_TERMS = 9
MAX_FACTORS = 3
SIGNS = {"eq": "=", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPPOSITE = {"eq": "!=", "ne": "=", "lt": ">=", "le": ">", "gt": "<=", "ge": "<"}


@dataclass(frozen=True, slots=True)
class Consequences:
    """What follows where a bool expression is true, and where it is false; None where nothing is known. `exact`:
    each follows both ways."""

    true: Formula | None
    false: Formula | None
    exact: bool


UNKNOWN = Consequences(None, None, False)


@dataclass(slots=True)
class State:
    """Values of names at one place: scalars, versions of arrays (a number and its birth), sizes of local arrays."""

    table: SymbolTable
    scalars: dict[str, Affine]
    versions: dict[str, tuple[int, tuple[str, ...]]]
    sizes: dict[tuple[str, int], Affine]
    stack: tuple[str, ...] = ()
    counter: int = 0
    overlap: bool = False
    guard: GuardKind = "all"
    types: dict[str, Scalar] = field(default_factory=dict)

    def forget(self, name: str) -> None:
        """Give a scalar a fresh value: from here on nothing is known about it."""
        self.scalars[name] = of_symbol(self.table.fresh(self.types[name], self.stack))

    def stored(self, array: str) -> None:
        """An element of an array changed (or of any array, where arguments overlap)."""
        self.counter += 1
        for name in self.versions if self.overlap else (array,):
            self.versions[name] = (self.counter, self.stack)


def initial_state(kernel: Kernel, table: SymbolTable | None = None) -> State:
    """The state at the beginning of a kernel: arguments, and sizes of arguments and results. A `table` is given where
    two kernels with the same parameters are compared."""
    overlap = kernel.overlap or fields_overlap(kernel.arrays)
    state = State(table or SymbolTable(), {}, {}, {}, overlap=overlap, guard=kernel.guard)
    steps = steps_given(kernel) if kernel.guard != "none" else frozenset[str]()
    for param in kernel.params:
        match param:
            case ScalarParam():
                state.types[param.name] = param.type
                if param.type.is_float:
                    state.forget(param.name)
                else:
                    symbol = state.table.argument("scalar", param.argument, 0, param.type, param.name in steps)
                    state.scalars[param.name] = of_symbol(symbol)
            case ArrayParam():
                state.versions[param.name] = (0, ())
                own = param.rank - len(param.tail)
                for axis in range(own):
                    symbol = state.table.argument("size", param.argument, axis, INT64)
                    state.sizes[param.name, axis] = of_symbol(symbol)
                for axis, (size, _) in enumerate(param.tail, own):
                    state.sizes[param.name, axis] = constant(size)
    for result in kernel.results:
        state.versions[result.name] = (0, ())
        for axis, extent in enumerate(result.shape):
            state.sizes[result.name, axis] = value_of(state, extent)
    return state


@by_identity
def steps_given(kernel: Kernel) -> frozenset[str]:
    """The scalar arguments that tell the steps of loops, or how often these go into something: the guard asks them to
    be positive, as nearly all are."""
    scalars = {param.name for param in kernel.scalars if not param.type.is_float}
    steps = [one.value for one in expressions(kernel.body, Checked) if one.kind == "zero_step"]
    bounds = [bound for loop in statements(kernel.body, For) for bound in (loop.lower, loop.upper)]
    told = {name for bound in bounds for name in names_in(bound)}
    bounds += [stmt.value for stmt in statements(kernel.body, Assign) if stmt.name in told]
    parts = [part for bound in bounds for part in subexpressions(bound, Checked)]
    tests = [part.condition for part in parts if part.kind == "zero_division"]
    steps += [test.left for test in tests if isinstance(test, Compare)]
    # Where a branch or a check before has asked for that, there is no test.
    steps += [part.right for bound in bounds for part in subexpressions(bound, Binary) if part.op == "floordiv"]
    return frozenset(name for step in steps for name in scalars if coefficient(step, name) and names_in(step) == {name})


def fields_overlap(arrays: Sequence[ArrayParam]) -> bool:
    """Whether two fields of one array of records share bytes, as NumPy's explicit offsets allow."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for array in arrays:
        last = array.offset + sum((size - 1) * stride for size, stride in array.tail)
        spans.setdefault(array.argument, []).append((array.offset, last + array.element.size_bytes))
    for fields in spans.values():
        fields.sort()
        if any(end > start for (_, end), (start, _) in pairwise(fields)):
            return True
    return False


def size_of(state: State, array: str, axis: int) -> Affine:
    """The size of an axis: an argument's, a constant, or the form in a local array's shape."""
    key = (array, axis)
    if key not in state.sizes:
        state.sizes[key] = of_symbol(state.table.fresh(INT64, state.stack, least=0))
    return state.sizes[key]


def value_of(state: State, expr: Expr) -> Affine:
    """The form of an expression; for floats a symbol that only tells equal values of one place apart from others."""
    match expr:
        case Const() if not expr.type.is_float:
            return constant(int(expr.value))
        case Var():
            if expr.name not in state.scalars:
                state.types.setdefault(expr.name, expr.type)
                state.forget(expr.name)
            return state.scalars[expr.name]
        case Dim():
            return size_of(state, expr.array, expr.axis)
        case Checked(kind="zero_division", value=Binary(op="floordiv", left=left, right=right) as whole):
            above, below = value_of(state, left), value_of(state, right)
            if below.is_constant or below.interval(0)[0] < 0:
                return value_of(state, whole)
            return _within(state, whole, _quotient(state, above, below))
        case Checked():
            return value_of(state, expr.value)
        case Unary() if not expr.type.is_float:
            return _within(state, expr, _unary(state, expr))
        case Binary() if not expr.type.is_float and expr.type.kind != "bool":
            return _within(state, expr, _binary(state, expr))
        case Cast() if not expr.type.is_float and expr.type.kind != "bool" and not expr.operand.type.is_float:
            return _within(state, expr, value_of(state, expr.operand))
        case Select() if not expr.type.is_float:
            return _select(state, expr)
        case _:
            return _opaque(state, expr)


def _within(state: State, expr: Expr, form: Affine | None) -> Affine:
    """The form, if it cannot leave the type of the expression; else an opaque symbol."""
    if form is not None and state.table.fits(form, expr.type.minimum, expr.type.maximum):
        return form
    return _opaque(state, expr)


def _opaque(state: State, expr: Expr) -> Affine:
    parts = [value_of(state, child) for child in children(expr)]
    birth: tuple[str, ...] = ()
    key: Hashable
    match expr:
        case Load():
            version, birth = state.versions.get(expr.array, (0, ()))
            key = ("load", expr.array, version)
        case Const():
            key = ("const", repr(expr.value))
        case Unary() | Binary() | Compare() | Logical():
            key = (type(expr).__name__, expr.op)
        case Call():
            key = ("call", expr.function)
        case _:
            key = (type(expr).__name__,)
    interval = (expr.type.minimum, expr.type.maximum) if not expr.type.is_float else (0, 0)
    whole = (key, expr.type.name, tuple(parts))
    return of_symbol(state.table.opaque(whole, parts, interval, birth, isinstance(expr, Load)))


def _unary(state: State, expr: Unary) -> Affine | None:
    operand = value_of(state, expr.operand)
    match expr.op:
        case "neg":
            return scale(operand, -1)
        case "invert":  # -x - 1, or for unsigned types and bool: the greatest value - x
            top = -1 if expr.type.kind == "int" else expr.type.maximum
            return combine(constant(top), operand, -1)
        case "not":
            return combine(constant(1), operand, -1)
        case "abs":
            a, b = operand.text(), scale(operand, -1).text()
            rule = f"@ >= {a} and @ >= {b} and (@ = {a} or @ = {b})"
            spans = [_absolute(operand.interval(level)) for level in range(len(LEVELS))]
            return of_symbol(state.table.defined(("abs", operand), operand.symbols, rule, spans))


def _absolute(interval: Interval) -> Interval:
    low, high = interval
    return (0 if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))


def _binary(state: State, expr: Binary) -> Affine | None:
    left, right = value_of(state, expr.left), value_of(state, expr.right)
    match expr.op:
        case "add":
            return combine(left, right)
        case "sub":
            return combine(left, right, -1)
        case "mul":
            return _product(state, left, right)
        case "min" | "max":
            return _extreme(state, left, right, expr.op)
        case "floordiv" if right.is_constant and right.constant > 0:
            return _floor(state, left, right.constant)
        case "floordiv" if _is_positive(expr.right, right):
            return _quotient(state, left, right)
        case "shr" if right.is_constant and 0 <= right.constant < 12:
            return _floor(state, left, 2**right.constant)
        case "shl" if right.is_constant and 0 <= right.constant < 12:
            return scale(left, 2**right.constant)
        case "mod" if right.is_constant and right.constant > 0:
            return _remainder(state, left, right.constant)
        case "and" if right.is_constant and right.constant >= 0 and _is_mask(right.constant):
            return _remainder(state, left, right.constant + 1)
        case "mod":
            return _wrapped(state, left, right)
        case _:
            return None


def _quotient(state: State, form: Affine, divisor: Affine) -> Affine | None:
    """The quotient by a positive divisor that is known only at run time."""
    fit = all(state.table.fits(one, INT64.minimum, INT64.maximum) for one in (form, divisor))
    return of_symbol(state.table.quotient(form, divisor)) if fit else None


def _is_positive(expr: Expr, form: Affine) -> bool:
    """Whether a divisor is positive, where it was tested not to be zero, too."""
    return form.interval(0)[0] >= (
        0 if isinstance(expr, Checked) and expr.kind in ("zero_division", "zero_step") else 1
    )


def _is_mask(value: int) -> bool:
    return value & (value + 1) == 0 and value < 4096


def _product(state: State, left: Affine, right: Affine) -> Affine | None:
    """left * right; products of symbols become symbols of their own, known by their factors."""
    if right.is_constant:
        return scale(left, right.constant)
    if left.is_constant:
        return scale(right, left.constant)
    if len(left.terms) * len(right.terms) > MAX_PRODUCT_TERMS:
        return None
    total = combine(scale(left, right.constant), scale(right, left.constant))
    total = combine(total, constant(left.constant * right.constant), -1)
    for a, p in left.terms:
        for b, q in right.terms:
            factors = tuple(sorted((a.factors or (a,)) + (b.factors or (b,)), key=lambda symbol: symbol.number))
            if len(factors) > MAX_FACTORS:
                return None
            total = combine(total, of_symbol(state.table.product(factors)), p * q)
    return total


def _extreme(state: State, left: Affine, right: Affine, op: str) -> Affine:
    sign = "<=" if op == "min" else ">="
    choose = min if op == "min" else max
    a, b = left.text(), right.text()
    spans = []
    for level in range(len(LEVELS)):
        (la, lb), (ra, rb) = left.interval(level), right.interval(level)
        spans.append((choose(la, ra), choose(lb, rb)))
    rule = f"@ {sign} {a} and @ {sign} {b} and (@ = {a} or @ = {b})"
    return of_symbol(state.table.defined((op, left, right), left.symbols + right.symbols, rule, spans))


def _floor(state: State, form: Affine, divisor: int) -> Affine | None:
    if divisor > 4096 or not state.table.fits(form, INT64.minimum, INT64.maximum):
        return None
    if divisor == 1:
        return form
    if divisor == 2 and (half := _half(state, form)) is not None:
        return half
    rule = f"{divisor}*@ <= {form.text()} and {form.text()} <= {divisor}*@ + {divisor - 1}"
    spans = [(low // divisor, high // divisor) for low, high in map(form.interval, range(len(LEVELS)))]
    return of_symbol(state.table.defined(("floor", form, divisor), form.symbols, rule, spans))


def _half(state: State, form: Affine) -> Affine | None:
    """Half of a form with squares that is even whatever its symbols are, as that of i * (i - 1) is."""
    squares = [(symbol, c) for symbol, c in form.terms if len(symbol.factors) == 2 and len(set(symbol.factors)) == 1]
    rest, halves = form, constant(0)
    for symbol, c in squares:
        base = symbol.factors[0]
        rest = combine(combine(rest, of_symbol(symbol), -c), of_symbol(base), c)
        halves = combine(halves, of_symbol(state.table.triangle(base)), c)
    if not squares or rest.constant % 2 or any(c % 2 for _, c in rest.terms):
        return None
    return combine(halves, Affine(tuple((symbol, c // 2) for symbol, c in rest.terms), rest.constant // 2))


def _remainder(state: State, form: Affine, divisor: int) -> Affine | None:
    if divisor > 4096 or not state.table.fits(form, INT64.minimum, INT64.maximum):
        return None
    rule = f"0 <= @ and @ <= {divisor - 1} and ({form.text()} - @) mod {divisor} = 0"
    span = [(0, divisor - 1)] * len(LEVELS)
    return of_symbol(state.table.defined(("mod", form, divisor), form.symbols, rule, span))


def _wrapped(state: State, form: Affine, divisor: Affine) -> Affine | None:
    """form mod divisor for a divisor that is not constant: known where the form is within a period of it."""
    if not state.table.fits(form, INT64.minimum, INT64.maximum):
        return None
    e, p = form.text(), divisor.text()
    inside = (
        f"(0 <= {e} and {e} < {p} and @ = {e}) or ({e} < 0 and ({e} < -1*{p} or @ = {e} + {p}))"
        f" or ({e} >= {p} and ({e} >= 2*{p} or @ = {e} - {p}))"
    )
    rule = f"(({p} > 0 and 0 <= @ and @ < {p} and ({inside})) or ({p} = 0 and @ = 0) or ({p} < @ and @ <= 0))"
    if divisor.interval(0)[0] >= 0:
        rule = f"(({p} > 0 and 0 <= @ and @ < {p} and ({inside})) or ({p} = 0 and @ = 0))"
    spans = [(min(0, divisor.interval(k)[0] + 1), max(0, divisor.interval(k)[1] - 1)) for k in range(len(LEVELS))]
    uses = form.symbols + divisor.symbols
    return of_symbol(state.table.defined(("mod", form, divisor), uses, rule, spans, loose=True))


def _select(state: State, expr: Select) -> Affine:
    condition = condition_of(state, expr.condition)
    then, otherwise = value_of(state, expr.then), value_of(state, expr.otherwise)
    if then == otherwise:
        return then
    if condition.true is None or condition.false is None:
        return _opaque(state, expr)
    rule = f"(({condition.true.text} and @ = {then.text()}) or ({condition.false.text} and @ = {otherwise.text()}))"
    spans = []
    for level in range(len(LEVELS)):
        (a, b), (c, d) = then.interval(level), otherwise.interval(level)
        spans.append((min(a, c), max(b, d)))
    uses = (*condition.true.symbols, *condition.false.symbols, *then.symbols, *otherwise.symbols)
    uses = tuple(dict.fromkeys(uses))
    return of_symbol(state.table.defined(("select", rule), uses, rule, spans, loose=not condition.exact))


# ---- conditions -----------------------------------------------------------------------------------------------


def condition_of(state: State, expr: Expr) -> Consequences:
    """What follows from a bool expression and from its opposite."""
    match expr:
        case Const():
            truth, lie = conjunction(()), disjunction(())
            return Consequences(truth, lie, True) if expr.value else Consequences(lie, truth, True)
        case Var():
            form = value_of(state, expr)
            return Consequences(relate(form, "=", constant(1)), relate(form, "=", constant(0)), True)
        case Checked():
            return condition_of(state, expr.value)
        case Unary():
            inner = condition_of(state, expr.operand)
            return Consequences(inner.false, inner.true, inner.exact)
        case Logical() | Binary() if expr.op in ("and", "or"):
            return _both(condition_of(state, expr.left), condition_of(state, expr.right), expr.op == "and")
        case Compare() if not expr.left.type.is_float:
            left, right = value_of(state, expr.left), value_of(state, expr.right)
            if (known := _by_ranges(expr.op, left, right)) is not None:
                return condition_of(state, Const(known, BOOL))
            true, false = relate(left, SIGNS[expr.op], right), relate(left, OPPOSITE[expr.op], right)
            return Consequences(true, false, True)
        case Cast() if not expr.operand.type.is_float:
            form = value_of(state, expr.operand)
            return Consequences(relate(form, "!=", constant(0)), relate(form, "=", constant(0)), True)
        case _:
            return UNKNOWN


def _by_ranges(op: str, left: Affine, right: Affine) -> bool | None:
    """Whether a comparison holds, or does not, for all values that data may have. Of products of data isl knows little;
    their ranges say more."""
    difference = combine(left, right, -1)
    if not difference.data or op not in ("lt", "le", "gt", "ge"):
        return None
    low, high = difference.interval(0)
    strict = op in ("lt", "gt")
    least, greatest = (low, high) if op in ("gt", "ge") else (-high, -low)  # as if it were > or >=
    if least >= strict:
        return True
    return False if greatest < strict else None


def _both(left: Consequences, right: Consequences, is_and: bool) -> Consequences:
    if not is_and:  # a or b is not (not a and not b)
        flipped = _both(
            Consequences(left.false, left.true, left.exact), Consequences(right.false, right.true, right.exact), True
        )
        return Consequences(flipped.false, flipped.true, flipped.exact)
    known = [side.true for side in (left, right) if side.true is not None]
    true = conjunction(known) if known else None
    false = None
    if left.false is not None and right.false is not None:
        false = disjunction((left.false, right.false))
    return Consequences(true, false, left.exact and right.exact)
