"""Texts as they are read where they are printed or raised: `"%d" % n`, `"{}".format(n)`, `"a" + str(n)` and their like
as f-strings, and a text or an exception that has a name (`message = f"..."`, then `raise ValueError(message)`) in the
place of that name. What has no such form stays as it is, and is refused where it is read.
"""

from __future__ import annotations

import ast
import copy
import string
from collections import Counter
from functools import lru_cache
from itertools import pairwise


@lru_cache(maxsize=1024)
def with_texts_in_place(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it is read as it stands. The same object each time."""
    constants = _constants(tree)
    named = _named_in(tree)
    if not named and not constants and not any(_is_shown(node) and _forms(node) for node in ast.walk(tree)):
        return tree
    result = _InPlace(_named_in(result := copy.deepcopy(tree)), constants).visit(result)
    assert isinstance(result, ast.FunctionDef)
    return ast.fix_missing_locations(result)


def _constants(tree: ast.FunctionDef) -> dict[str, ast.Constant]:
    """The names that stand for one text from a line of the function on that every call runs, where something shows
    them below it."""
    given = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    found: dict[str, ast.Constant] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str()) as text) if given[name] == 1:
                found[name] = text
            case _:
                pass
    shown = [node for node in ast.walk(tree) if _is_shown(node)] if found else []
    read = {part.id: part.lineno for node in shown for part in ast.walk(node) if isinstance(part, ast.Name)}
    return {name: text for name, text in found.items() if read.get(name, 0) > text.lineno}


def _is_shown(node: ast.AST) -> bool:
    """Whether a statement prints or raises."""
    match node:
        case ast.Raise() | ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
            return True
        case _:
            return False


def _forms(node: ast.AST) -> bool:
    """Whether some text in a statement has another form to be read in."""
    return any(isinstance(part, ast.expr) and as_f_string(part) is not None for part in ast.walk(node))


def _named_in(tree: ast.FunctionDef) -> dict[int, tuple[ast.Assign, str]]:
    """For each statement that prints or raises a text with a name, or raises an exception with one, by its identity:
    the assignment before it, and the name; where all uses of that name are of this kind."""
    found: dict[int, tuple[ast.Assign, str]] = {}
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    places = Counter[str]()
    for node in ast.walk(tree):
        for block in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for first, then in pairwise(block) if isinstance(block, list) else ():
                match first:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_shown(then) and _is_made(value):
                        read = sum(isinstance(part, ast.Name) and part.id == name for part in ast.walk(then))
                        if read == 1:
                            found[id(then)] = first, name
                            places[name] += 2
                    case _:
                        pass
    return {key: pair for key, pair in found.items() if uses[pair[1]] == places[pair[1]]}


def _is_made(value: ast.expr) -> bool:
    """Whether this is a text that is made while the code runs, or an exception."""
    match value:
        case ast.JoinedStr():
            return True
        case ast.Call(func=ast.Name(id=name)) if name.endswith(("Error", "Exception")):
            return True
        case _:
            return as_f_string(value) is not None


class _InPlace(ast.NodeTransformer):
    def __init__(self, named: dict[int, tuple[ast.Assign, str]], constants: dict[str, ast.Constant]) -> None:
        self.named, self.constants = named, constants
        self.gone = {id(assign) for assign, _ in named.values()}

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if id(node) in self.gone else node

    def visit(self, node: ast.AST) -> ast.AST | None:
        if not _is_shown(node):
            found: ast.AST | None = super().visit(node)
            return found
        if id(node) in self.named:
            assign, name = self.named[id(node)]
            node = _Names(name, assign.value).visit(node)
        for name, text in self.constants.items():
            if node.lineno > text.lineno:  # type: ignore[attr-defined]
                node = _Names(name, text).visit(node)
        return _Forms().visit(node)


class _Names(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.value if node.id == self.name else node


class _Forms(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        match node:
            case ast.FormattedValue(
                value=ast.Call(func=ast.Name(id="str"), args=[shown], keywords=[]), format_spec=None
            ):
                return ast.copy_location(ast.FormattedValue(shown, _STR, None), node)
            case _:
                pass
        found = as_f_string(node) if isinstance(node, ast.expr) else None
        if found is not None:
            return ast.copy_location(found, node)
        return self.generic_visit(node)


_STR = ord("s")
"""How an f-string asks for `str(x)`, which is not `format(x)` of a float32."""


def as_f_string(node: ast.expr) -> ast.JoinedStr | None:
    """A text that is made by an operator, `.format` or `str` as an f-string; None for all else."""
    match node:
        case ast.BinOp(left=ast.Constant(value=str() as text), op=ast.Mod(), right=given):
            values = _of_percents(text, list(given.elts) if isinstance(given, ast.Tuple) else [given])
        case ast.Call(func=ast.Attribute(value=ast.Constant(value=str() as text), attr="format")):
            values = _of_braces(text, node)
        case ast.Call(func=ast.Name(id="str"), args=[value], keywords=[]):
            values = [ast.FormattedValue(value, _STR, None)]
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            values = _joined(left, right)
        case _:
            values = None
    return None if values is None else ast.JoinedStr(values)


def _joined(left: ast.expr, right: ast.expr) -> list[ast.expr] | None:
    """The parts of two texts, one of which is no constant."""
    both = [_parts(one) for one in (left, right)]
    if None in both or all(isinstance(one, ast.Constant) for one in (left, right)):
        return None
    return [part for parts in both for part in parts or ()]


def _parts(node: ast.expr) -> list[ast.expr] | None:
    match node:
        case ast.Constant(value=str()):
            return [node]
        case ast.JoinedStr(values=values):
            return values
        case ast.BinOp(op=ast.Add(), left=left, right=right) if _joined(left, right) is None:
            both = [_parts(one) for one in (left, right)]
            return None if None in both else [part for parts in both for part in parts or ()]
        case _:
            found = as_f_string(node)
            return None if found is None else found.values


def _formatted(value: ast.expr, spec: str) -> ast.FormattedValue:
    return ast.FormattedValue(value, -1, ast.JoinedStr([ast.Constant(spec)]) if spec else None)


def _of_percents(text: str, given: list[ast.expr]) -> list[ast.expr] | None:
    """The parts of `text % given`; None where a specifier has no counterpart, or their number differs."""
    before, *pieces = text.split("%")
    values: list[ast.expr] = [ast.Constant(before)]
    waiting = list(given)
    while pieces:
        piece = pieces.pop(0)
        if not piece and pieces:  # `%%`
            values.append(ast.Constant("%" + pieces.pop(0)))
            continue
        flags, width, precision, kind, behind = _specifier(piece)
        if not waiting or isinstance(waiting[0], ast.Starred):
            return None
        shown = _of_percent(waiting.pop(0), flags, width, precision, kind)
        if shown is None:
            return None
        values += [shown, ast.Constant(behind)]
    return None if waiting else values


def _specifier(piece: str) -> tuple[str, str, str, str, str]:
    """What stands behind a `%`: flags, a width, a precision with its point, a kind, and the text behind them."""
    rest = piece.lstrip("-+ 0")
    flags = piece[: len(piece) - len(rest)]
    behind = rest.lstrip(string.digits)
    width, precision = rest[: len(rest) - len(behind)], ""
    if behind.startswith("."):
        rest = behind[1:].lstrip(string.digits)
        precision, behind = behind[: len(behind) - len(rest)], rest
    return flags, width, precision, behind[:1], behind[1:]


def _of_percent(value: ast.expr, flags: str, width: str, precision: str, kind: str) -> ast.FormattedValue | None:
    sign = "+" if "+" in flags else " " if " " in flags else ""
    place = "<" if "-" in flags else "0" if "0" in flags else ""
    place = place if width else ""
    rest = f"{sign}{place}{width}" if place == "0" else f"{place}{sign}{width}"
    match kind:
        case "d" | "i" if not precision:
            return _formatted(ast.Call(ast.Name("int", ast.Load()), [value], []), f"{rest}d" if rest else "")
        case "e" | "E" | "f" | "F" | "g" | "G":
            return _formatted(value, f"{rest}{precision}{kind}")
        case "s" if not rest and not precision:
            return ast.FormattedValue(value, _STR, None)
        case _:
            return None


def _of_braces(text: str, node: ast.Call) -> list[ast.expr] | None:
    """The parts of `text.format(...)`; None where a field is no whole argument."""
    named = {keyword.arg: keyword.value for keyword in node.keywords}
    values: list[ast.expr] = []
    count = 0
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError:
        return None
    for literal, field, spec, conversion in fields:
        values.append(ast.Constant(literal))
        if field is None:
            continue
        if not field:
            field, count = str(count), count + 1
        value = node.args[int(field)] if field.isdigit() and int(field) < len(node.args) else named.get(field)
        if value is None or isinstance(value, ast.Starred) or conversion or "{" in (spec or ""):
            return None
        values.append(_formatted(value, spec or ""))
    return values
