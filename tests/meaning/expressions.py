"""Expressions of generated programs: every operator and function of the language, over operands of mixed kinds.

By construction they stay clear of what CPython does differently on purpose: Python ints beyond int64, Python floats
divided by zero, domain errors of `math`.
"""

from __future__ import annotations

from .choices import Choices
from .kinds import (
    INTEGERS,
    STRONG,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    Kind,
    Term,
    clamped,
    coerced,
    fits,
    result,
    to_weak_int,
    within_limit,
)
from .positions import reachable, subscripts
from .scope import Names, Scope

ARITHMETIC = ("+", "-", "*", "/", "//", "%")
BITS = ("&", "|", "^", "<<", ">>")
COMPARISONS = ("<", "==", "<=", ">", ">=", "!=")
FLOAT_FUNCTIONS = ("np.floor", "np.ceil", "np.trunc", "np.rint", "np.sqrt", "np.abs", "np.isnan", "np.isinf",
                   "np.isfinite", "np.signbit")  # fmt: skip
PAIR_FUNCTIONS = ("np.minimum", "np.maximum", "np.fmin", "np.fmax")
ROUNDING = ("np.sqrt", "np.floor", "np.ceil", "np.trunc", "np.rint", "math.floor", "math.ceil", "math.trunc",
            "math.sqrt")  # fmt: skip


class Expressions:
    """Draws one expression after the other. `depth` limits the nesting."""

    def __init__(self, choices: Choices, names: Names) -> None:
        self.choices = choices
        self.names = names

    def of_kind(self, scope: Scope, kind: Kind, depth: int) -> Term:
        """An expression of this kind, cast to it where need be."""
        alike = [scalar.term for scalar in scope.scalars if scalar.kind == kind and not scalar.loose]
        if alike and self.choices.chance(20):
            return self.choices.pick(alike)
        return coerced(self.any(scope, depth), kind)

    def any(self, scope: Scope, depth: int) -> Term:
        """An expression of any kind."""
        if depth <= 0 or not self.choices.chance(75):
            return self.leaf(scope)
        return self._compound(scope, depth)

    def _compound(self, scope: Scope, depth: int) -> Term:
        make = self.choices.weighted((
            (30, self._arithmetic), (8, self._bits), (7, self._unary), (9, self._function), (6, self._smallest),
            (6, self._cast), (6, self._conditional), (6, self._comparison), (3, self._logic), (4, self._power),
            (6, self._helper), (5, self._math),
        ))  # fmt: skip
        return make(scope, depth - 1)

    # ---- leaves ----

    def leaf(self, scope: Scope) -> Term:
        """A constant, a scalar, a loop variable, an element or a size."""
        scalars = [scalar for scalar in scope.scalars if not scalar.loose]
        within = reachable(scope)
        kinds = [(35, "element")] if within else []
        kinds += [(20, "scalar")] if scalars else []
        kinds += [(15, "loop")] if scope.loops else []
        match self.choices.weighted([(20, "constant"), *kinds, (4, "size")]):
            case "element":
                array = self.choices.pick(within)
                self.names.note(f"load {array.element}")
                return Term(array.access(subscripts(scope, array, self.choices, self.names), self.choices), array.kind)
            case "scalar":
                return self.choices.pick(scalars).term
            case "loop":
                return self.choices.pick(scope.loops).term
            case "size" if scope.arrays:
                self.names.note("shape")
                array = self.choices.pick(scope.arrays)
                axis = self.choices.number(0, len(array.axes) - 1)
                return Term(array.size_text(axis, self.choices), WEAK_INT, 0, 64)
        return self.constant()

    def constant(self) -> Term:
        """A literal: a small whole number as a rule."""
        match self.choices.weighted(((12, "int"), (6, "float"), (2, "bool"), (2, "large"), (1, "inf"))):
            case "float":
                value = self.choices.pick((1.0, 0.0, 2.0, 0.5, -1.0, 3.0, -0.25, -0.0))
                return Term(f"({value})" if str(value).startswith("-") else str(value), WEAK_FLOAT)
            case "bool":
                return Term(self.choices.pick(("True", "False")), WEAK_BOOL)
            case "large":
                value = self.choices.pick((100, 255, 1000, -129, 65536, 2**31))
            case "inf" if not self.names.exact:
                return Term(self.choices.pick(("np.inf", "math.pi", "0.1", "np.nan", "math.inf")), WEAK_FLOAT)
            case _:
                value = self.choices.number(0, 9) - self.choices.pick((0, 3))
        return Term(f"({value})" if value < 0 else str(value), WEAK_INT, value, value)

    # ---- operators ----

    def _arithmetic(self, scope: Scope, depth: int) -> Term:
        left, right = self.any(scope, depth), self.any(scope, depth)
        return self.arithmetic(self.choices.pick(ARITHMETIC), left, right)

    def arithmetic(self, operator: str, left: Term, right: Term) -> Term:
        """`left operator right`, with the right side kept from zero where Python would raise."""
        left, right = self._acceptable(left, right)
        if operator == "*" and left.kind == right.kind == WEAK_INT and left.magnitude() * right.magnitude() > 2**62:
            left, right = _small(left), _small(right)
        if operator == "/" and self.names.exact:
            right = Term("2", WEAK_INT, 2, 2)
        if operator in ("/", "//", "%") and left.kind.weak and right.kind.weak:
            right = self._divisor(right, plain=operator != "/" and left.kind == WEAK_INT)
        kind = result("{} " + operator + " {}", left.kind, right.kind)
        if kind is None:  # bool - bool
            left = to_weak_int(left)
            kind = result("{} " + operator + " {}", left.kind, right.kind)
            assert kind is not None, (operator, left, right)
        self.names.note(f"operator {operator}")
        text = f"{left.text} {operator} {right.text}"
        if kind != WEAK_INT:
            return Term(f"({text})", kind)
        return _bracketed(within_limit(text, *_interval(operator, left, right)))

    def _acceptable(self, left: Term, right: Term) -> tuple[Term, Term]:
        """Both, a weak integer cut to the range of the NumPy integer beside it (NumPy refuses it otherwise)."""
        return self._cut(left, right.kind), self._cut(right, left.kind)

    def _cut(self, term: Term, beside: Kind) -> Term:
        if term.kind != WEAK_INT or beside.weak or beside.name not in INTEGERS or fits(term, beside):
            return term
        if not is_literal(term) and self.choices.chance(4):
            self.names.note("weak int may overflow")
            return term
        if is_literal(term):
            value = abs(term.low) % 100
            return Term(str(value), WEAK_INT, value, value)
        return Term(f"({term.text} % 100)", WEAK_INT, 0, 99)

    def _divisor(self, term: Term, plain: bool) -> Term:
        if term.kind == WEAK_FLOAT:
            return Term(f"(abs({term.text}) + 1.0)", WEAK_FLOAT)
        if term.kind == WEAK_BOOL:
            return Term(self.choices.pick(("2", "3")), WEAK_INT, 2, 3)
        if term.never_zero():
            return term
        if plain and not is_literal(term) and self.choices.chance(8):
            self.names.note("division by zero")
            return term
        if is_literal(term):
            return Term("4", WEAK_INT, 4, 4)
        return Term(f"(abs({term.text}) + 1)", WEAK_INT, 1, term.magnitude() + 1)

    def _bits(self, scope: Scope, depth: int) -> Term:
        operator = self.choices.pick(BITS)
        left, right = self.any(scope, depth), self.any(scope, depth)
        left, right = self._integer(left), self._integer(right)
        if operator in ("<<", ">>"):
            return self._shift(operator, left, right)
        left, right = self._acceptable(left, right)
        kind = result("{} " + operator + " {}", left.kind, right.kind)
        if kind is None:  # int64 & uint64
            right = coerced(right, left.kind)
            kind = left.kind
        self.names.note(f"operator {operator}")
        text = f"({left.text} {operator} {right.text})"
        if kind == WEAK_INT:
            bound = 2 * max(left.magnitude(), right.magnitude(), 1)
            return within_limit(text, -bound, bound)
        return Term(text, kind)

    def _shift(self, operator: str, left: Term, right: Term) -> Term:
        """A shift by 0..15; more than the width of a small type sometimes, never negative."""
        if left.kind == WEAK_INT:
            left = left if left.magnitude() <= 2**20 else Term(f"({left.text} % 97)", WEAK_INT, 0, 96)
        elif left.kind == WEAK_BOOL:
            left = to_weak_int(left)
        if right.kind.is_bool or self.choices.chance(50):
            count = self.choices.pick((1, 0, 3, 7, 9))
            right = Term(str(count), WEAK_INT, count, count)
        else:
            mask = self.choices.pick((3, 7, 15))
            right = Term(f"({right.text} & {mask})", right.kind, 0, mask)
        left, right = self._acceptable(left, right)
        if result("{} " + operator + " {}", left.kind, right.kind) is None:
            right = coerced(right, left.kind)
        kind = result("{} " + operator + " {}", left.kind, right.kind)
        assert kind is not None, (left, right)
        self.names.note(f"operator {operator}")
        text = f"({left.text} {operator} {right.text})"
        if kind != WEAK_INT:
            return Term(text, kind)
        bound = left.magnitude() << (15 if operator == "<<" else 0)
        return within_limit(text, -bound - 1, bound)

    def _integer(self, term: Term) -> Term:
        return to_weak_int(term) if term.kind.is_float else term

    def _power(self, scope: Scope, depth: int) -> Term:
        base = self.any(scope, depth)
        self.names.note("operator **")
        if base.kind == WEAK_BOOL:
            base = to_weak_int(base)
        if base.kind.is_integer and not base.kind.weak and self.choices.chance(30):
            exponent = coerced(self.any(scope, 0), base.kind)
            text = f"({base.text} ** ({exponent.text} % {self.choices.number(2, 5)}))"
            return Term(text, base.kind)
        exponent_value = self.choices.number(0, 3)
        if base.kind == WEAK_INT:
            small = base if base.magnitude() <= 100 else Term(f"({base.text} % 97)", WEAK_INT, 0, 96)
            bound = small.magnitude() ** exponent_value + 1
            return Term(f"({small.text} ** {exponent_value})", WEAK_INT, -bound, bound)
        if base.kind.is_float and (self.names.exact or base.kind.weak):
            return self.arithmetic("*", base, base)
        kind = result("{} ** 2", base.kind)
        return Term(f"({base.text} ** {exponent_value})", kind) if kind is not None else base

    def _unary(self, scope: Scope, depth: int) -> Term:
        term = self.any(scope, depth)
        operator = self.choices.pick(("-", "abs", "~", "not ", "+"))
        if operator == "not ":
            self.names.note("not")
            return Term(f"(not {term.text})", WEAK_BOOL)
        if operator == "~" and (term.kind.is_float or term.kind == WEAK_BOOL):
            operator = "-"
        if operator in ("-", "+") and term.kind.is_bool:
            term = to_weak_int(term)
        self.names.note(f"unary {operator}")
        if operator == "abs":
            return Term(f"abs({term.text})", result("abs({})", term.kind) or term.kind, 0, term.magnitude())
        bound = term.magnitude() + 1
        return Term(f"({operator}{term.text})", result(operator + "{}", term.kind) or term.kind, -bound, bound)

    # ---- comparisons and logic ----

    def _comparison(self, scope: Scope, depth: int) -> Term:
        left, right = self.any(scope, depth), self.any(scope, depth)
        operator = self.choices.pick(COMPARISONS)
        kind = result("{} " + operator + " {}", left.kind, right.kind)
        self.names.note("comparison")
        return Term(f"({left.text} {operator} {right.text})", kind or WEAK_BOOL)

    def condition(self, scope: Scope, depth: int) -> str:
        """A text for `if`, `while` or a conditional expression; of any kind, also a number."""
        match self.choices.weighted(((14, "plain"), (3, "chain"), (5, "logic"), (3, "any"))):
            case "plain":
                return self._comparison(scope, depth).text[1:-1]
            case "chain":
                self.names.note("chained comparison")
                terms = [self.any(scope, depth - 1).text for _ in range(3)]
                signs = [self.choices.pick(COMPARISONS) for _ in range(2)]
                return f"{terms[0]} {signs[0]} {terms[1]} {signs[1]} {terms[2]}"
            case "logic":
                self.names.note("logic")
                word = self.choices.pick((" and ", " or "))
                parts = [self.choices.pick(("", "not ")) + self._comparison(scope, depth - 1).text for _ in range(2)]
                return word.join(parts)
        self.names.note("truth of a value")
        return self.any(scope, depth).text

    def _logic(self, scope: Scope, depth: int) -> Term:
        left = self.any(scope, depth)
        right = coerced(self.any(scope, depth), left.kind)
        self.names.note("logic value")
        low, high = _hull(left, right)
        return Term(f"({left.text} {self.choices.pick(('and', 'or'))} {right.text})", left.kind, low, high)

    def _conditional(self, scope: Scope, depth: int) -> Term:
        then = self.any(scope, depth)
        otherwise = coerced(self.any(scope, depth), then.kind)
        self.names.note("conditional expression")
        text = f"({then.text} if {self.condition(scope, depth)} else {otherwise.text})"
        return Term(text, then.kind, *_hull(then, otherwise))

    # ---- functions ----

    def _smallest(self, scope: Scope, depth: int) -> Term:
        first = self.any(scope, depth)
        count = self.choices.number(1, 2)
        others = [coerced(self.any(scope, depth), first.kind) for _ in range(count)]
        name = self.choices.pick(("min", "max"))
        self.names.note(name)
        low = min(term.low for term in (first, *others))
        high = max(term.high for term in (first, *others))
        return Term(f"{name}({', '.join(term.text for term in (first, *others))})", first.kind, low, high)

    def _function(self, scope: Scope, depth: int) -> Term:
        term = self.any(scope, depth)
        if self.choices.chance(50):
            name = self.choices.pick(PAIR_FUNCTIONS)
            other = self.any(scope, depth)
            term, other = self._acceptable(term, other)
            kind = result(name + "({}, {})", term.kind, other.kind)
            if kind is not None:
                self.names.note(name)
                return Term(f"{name}({term.text}, {other.text})", kind)
        if not term.kind.is_float:
            term = coerced(term, self.choices.pick((WEAK_FLOAT, Kind("float32"), Kind("float64"))))
        name = self.choices.pick(FLOAT_FUNCTIONS)
        if self.names.exact and name in ROUNDING:
            name = "np.abs"
        kind = result(name + "({})", term.kind)
        assert kind is not None, (name, term)
        self.names.note(name)
        if name == "np.signbit":  # the sign of a NaN is anybody's guess
            return Term(f"{name}(np.fmin({term.text}, 9.0))", kind)
        return Term(f"{name}({term.text})", kind)

    def _math(self, scope: Scope, depth: int) -> Term:
        term = self.any(scope, depth)
        name = self.choices.pick(("math.fabs", "math.floor", "math.ceil", "math.trunc", "math.sqrt", "math.isnan",
                                  "math.isinf", "math.isfinite", "math.copysign", "math.fmod"))  # fmt: skip
        if self.names.exact and name in ROUNDING:
            name = "math.fabs"
        self.names.note(name)
        if name in ("math.floor", "math.ceil", "math.trunc"):
            text = clamped(term, unsigned=False) if term.kind.is_float else term.text
            if not term.kind.is_float:
                return Term(f"{name}({to_weak_int(term).text})", WEAK_INT, *_limits(to_weak_int(term)))
            if name == "math.trunc":  # np.float32 has no __trunc__
                text = f"float({text})"
            return Term(f"{name}({text})", WEAK_INT, -100, 100)
        if name == "math.copysign":
            return Term(f"{name}({term.text}, {to_weak_int(self.any(scope, depth)).text})", WEAK_FLOAT)
        if name == "math.fmod":
            return Term(f"{name}({to_weak_int(term).text}, {self.choices.number(1, 5)}.0)", WEAK_FLOAT)
        if name == "math.sqrt":
            return Term(f"{name}(abs({to_weak_int(term).text}))", WEAK_FLOAT)
        return Term(f"{name}({term.text})", WEAK_FLOAT if name == "math.fabs" else WEAK_BOOL)

    def _cast(self, scope: Scope, depth: int) -> Term:
        kind = self.choices.pick((WEAK_INT, WEAK_FLOAT, *STRONG, WEAK_BOOL))
        self.names.note(f"cast {kind.cast}")
        return coerced(self.any(scope, depth), kind)

    def _helper(self, scope: Scope, depth: int) -> Term:
        if not scope.helpers:
            return self._arithmetic(scope, depth)
        helper = self.choices.pick(scope.helpers)
        self.names.note("helper call")
        arguments = [self.of_kind(scope, kind, depth) for kind in helper.parameters]
        arguments = [_small(term) for term in arguments]
        text = f"{helper.name}({', '.join(term.text for term in arguments)})"
        return Term(text, helper.result.kind, helper.result.low, helper.result.high)


HELPER_LIMIT = 10_000
"""Weak integers that are given to a helper function lie between minus this and this."""


def _small(term: Term) -> Term:
    if term.kind != WEAK_INT or term.magnitude() <= HELPER_LIMIT:
        return term
    return Term(f"({term.text} % 97)", WEAK_INT, 0, 96)


def is_literal(term: Term) -> bool:
    """Whether the term is written as a number."""
    return term.kind == WEAK_INT and term.low == term.high


def _limits(term: Term) -> tuple[int, int]:
    return term.low, term.high


def _hull(first: Term, second: Term) -> tuple[int, int]:
    return min(first.low, second.low), max(first.high, second.high)


def _bracketed(term: Term) -> Term:
    return term if term.text.startswith("((") else Term(f"({term.text})", term.kind, term.low, term.high)


def _interval(operator: str, left: Term, right: Term) -> tuple[int, int]:
    """Bounds of `left operator right` for weak integers (bools count as 0 and 1: their default is wide enough)."""
    match operator:
        case "+":
            return left.low + right.low, left.high + right.high
        case "-":
            return left.low - right.high, left.high - right.low
        case "*":
            corners = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return min(corners), max(corners)
        case "%":
            bound = right.magnitude()
            return (0 if right.low > 0 else -bound), bound
        case _:
            return -left.magnitude() - 1, left.magnitude() + 1
