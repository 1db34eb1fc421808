"""A set of parameter values as a condition: in C, for the test before a call, and in Python's words, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from loopwright.analysis import isl
from loopwright.analysis.affine import Affine
from loopwright.analysis.facts import Condition

# isl's operators by their names: islpy is not loaded before it is needed.
_INFIX = {"add": "+", "sub": "-", "mul": "*", "eq": "==", "le": "<=", "lt": "<", "ge": ">=", "gt": ">"}
_AND = ("and_", "and_then")
_OR = ("or_", "or_else")


class Mentioned(dict[str, str]):
    """Names for parameters that are their own: it has those that were asked for."""

    def get(self, name: str, default: str = "", /) -> str:  # type: ignore[override]
        """The name."""
        return self.setdefault(name, default)


def as_c(condition: isl.Set) -> Condition:
    """A C expression of the set's parameters; '' where it always holds."""
    if condition.plain_is_universe():
        return Condition("", ())
    found = _ast(condition)
    return Condition(_print(found, {}, True), tuple(_compared(found)))


def _compared(expr: isl.AstExpr) -> Iterator[tuple[str, ...]]:
    """The parameters in each comparison of a condition."""
    if not _is_leaf(expr) and _op(expr) in (*_AND, *_OR):
        for position in range(expr.get_op_n_arg()):
            yield from _compared(expr.get_op_arg(position))
    else:
        names = Mentioned()
        _print(expr, names, True)
        yield tuple(names)


def as_text(condition: isl.Set, names: Mapping[str, str]) -> str:
    """The condition in Python's syntax, with the parameters by the names given; '' where it always holds."""
    return "" if condition.plain_is_universe() else _print(_ast(condition), names, False)


def value_text(value: isl.PwAff) -> str:
    """An expression of parameters in Python's syntax, right where it has a value."""
    builder = isl.AstBuild.from_context(isl.Set("{ : }"))
    return _print(builder.expr_from_pw_aff(value.coalesce()), {}, False)


def form_text(form: Affine, names: Mapping[str, str]) -> str:
    """A linear form in the syntax that C and Python share, with the symbols by the names given."""
    text = ""
    for symbol, number in form.terms:
        name = names.get(symbol.name, symbol.name)
        sign = ("- " if text else "-") if number < 0 else ("+ " if text else "")
        text += f"{' ' if text else ''}{sign}{name if abs(number) == 1 else f'{abs(number)} * {name}'}"
    if form.constant or not text:
        text += f" {'-' if form.constant < 0 else '+'} {abs(form.constant)}" if text else str(form.constant)
    return text


def _ast(condition: isl.Set) -> isl.AstExpr:
    builder = isl.AstBuild.from_context(isl.Set("{ : }"))
    return builder.expr_from_set(condition.compute_divs().coalesce())


def _print(expr: isl.AstExpr, names: Mapping[str, str], c: bool) -> str:
    kind = _kind(expr)
    if kind == "int":
        return str(expr.get_val())
    if kind == "id":
        name = expr.get_id().get_name()
        return names.get(name, name)
    op = _op(expr)
    arguments = [_print(expr.get_op_arg(k), names, c) for k in range(expr.get_op_n_arg())]
    if op in _AND or op in _OR:
        word = ("&&" if c else "and") if op in _AND else ("||" if c else "or")
        tight = [a if _binds_tighter(expr.get_op_arg(k), op) else f"({a})" for k, a in enumerate(arguments)]
        return f" {word} ".join(tight)
    if op in ("eq", "le", "lt", "ge", "gt"):
        return f" {_INFIX[op]} ".join(arguments)
    kept = {"add": ("add", "mul"), "sub": ("mul",), "mul": ("mul",)}.get(op, ())
    wrapped = [a if _is_one_of(expr.get_op_arg(k), kept) else f"({a})" for k, a in enumerate(arguments)]
    if op in _INFIX:
        return f" {_INFIX[op]} ".join(wrapped)
    if op == "minus":
        return f"-{wrapped[0]}"
    return _division(op, wrapped, c)


def _division(op: str, operands: list[str], c: bool) -> str:
    """Quotients and remainders, which round to minus infinity whatever C does; minimum, maximum and choice."""
    a, b = operands[:2]
    if op in ("pdiv_r", "zdiv_r"):  # of something not negative, or only compared with zero: C's will do
        return f"{a} % {b}"
    if op in ("pdiv_q", "div"):
        return f"{a} / {b}" if c else f"{a} // {b}"
    if op == "fdiv_q":
        return f"({a} - ({a} % {b} + {b}) % {b}) / {b}" if c else f"{a} // {b}"
    if op in ("min", "max"):
        result = operands[0]
        for other in operands[1:]:
            sign = "<" if op == "min" else ">"
            word = "min" if op == "min" else "max"
            result = f"({result} {sign} {other} ? {result} : {other})" if c else f"{word}({result}, {other})"
        return result
    if op in ("select", "cond"):
        return f"({a} ? {b} : {operands[2]})" if c else f"({b} if {a} else {operands[2]})"
    raise AssertionError(f"isl wrote a condition with {op}")


def _kind(expr: isl.AstExpr) -> str:
    return str(isl.ast_expr_type(expr.get_type()).name)


def _op(expr: isl.AstExpr) -> str:
    return str(isl.ast_expr_op_type(expr.get_op_type()).name)


def _is_one_of(expr: isl.AstExpr, ops: tuple[str, ...]) -> bool:
    return _is_leaf(expr) or _op(expr) in ops


def _is_leaf(expr: isl.AstExpr) -> bool:
    return _kind(expr) != "op"


def _binds_tighter(expr: isl.AstExpr, op: str) -> bool:
    if _is_leaf(expr):
        return True
    inner = _op(expr)
    return inner in _INFIX or inner == op
