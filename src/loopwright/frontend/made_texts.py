"""Texts that the run makes: `s = ""`, then `s += c` or `s = c + s`, `"".join(letters)`, `"-" * n`.

Such a text is a list of characters that is a text (`ListValue.is_text`): it is returned as one, and a name that is
given one has a copy. A function is read in this way only where it is refused otherwise (see chosen_texts.py).
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from loopwright.frontend.chosen_texts import may_be_long, note_made
from loopwright.frontend.context import Context, Frame, NotYet, Restart
from loopwright.frontend.convert import as_index
from loopwright.frontend.elementwise import nest
from loopwright.frontend.lists import append, extend, items_at, length_now, new_list
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.scopes import own_nodes
from loopwright.frontend.values import Character, Fixed, Items, ListValue, Literal, Number, SliceIndex, Value, describe
from loopwright.frontend.views import add, as_size, multiply, slice_of
from loopwright.frontend.webs import Web
from loopwright.ir.nodes import Compare, Const, Expr, If
from loopwright.ir.types import INT64


def is_made(value: Value) -> bool:
    """Whether it is a text that the run makes."""
    return isinstance(value, ListValue) and value.is_text


def may_be_long_choice(value: Value) -> bool:
    """Whether it is a text that the run chooses among longer ones."""
    return isinstance(value, Character) and may_be_long(value)


def known_text(value: Value) -> str | None:
    """The text that a value is, where it is known."""
    return value.value if isinstance(value, Fixed) and isinstance(value.value, str) else None


def is_any_text(value: Value) -> bool:
    """Whether it is a text, of whatever kind."""
    return isinstance(value, Character) or known_text(value) is not None or is_made(value)


def letters_of(cx: Context, value: Value, node: ast.AST) -> Value:
    """The characters of a text, as a list. Raises KernelError for one that the run chooses among longer ones."""
    if isinstance(value, Character):
        if may_be_long(value):
            raise cx.error(node, "a text that the run chooses is joined with another one",
                           "its length is not known when the code is made",
                           "join single characters, or join the texts after the call")  # fmt: skip
        return Items((value,), is_list=True)
    text = known_text(value)
    return value if text is None else Items(tuple(map(Fixed, text)), is_list=True)


def new_text(cx: Context, parts: list[Value], node: ast.AST) -> ListValue:
    """A text that is made of several."""
    note_made(cx, (*cx.frame.path, "list", id(node)))
    result = new_list(cx, [], node)  # type: ignore[arg-type]
    for part in parts:
        extend(cx, cx.lists.get(result.key, result), letters_of(cx, part, node), node)
    return cx.lists.get(result.key, result)


def by_operator(cx: Context, left: Value, op: ast.operator, right: Value, node: ast.expr) -> Value | None:
    """`text + text` and `text * n` of texts that the run makes or finds; None for all else."""
    if isinstance(op, ast.Add) and is_any_text(left) and is_any_text(right):
        cx.session.meets_texts = True
        return None if cx.session.texts is None else new_text(cx, [left, right], node)
    if isinstance(op, ast.Mult) and is_any_text(right):
        left, right = right, left
    is_whole = isinstance(right, Literal | Number) and not right.number_type.type.is_float
    if isinstance(op, ast.Mult) and is_any_text(left) and is_whole:
        cx.session.meets_texts = True
        if cx.session.texts is None:
            return None
        count = cx.once(as_index(cx, right, node, "a number of times"), cx.at(node))
        result, letters = new_text(cx, [], node), letters_of(cx, left, node)
        nest(cx, (as_size(count),), lambda _: extend(cx, cx.lists.get(result.key, result), letters, node), node)
        return cx.lists.get(result.key, result)
    return None


def extended(cx: Context, old: ListValue, value: Value, node: ast.AST) -> None:
    """`old += value` of a list or a text. Raises KernelError for what is added to a text and is none."""
    if old.is_text and not is_any_text(value):
        raise cx.error(node, f"{describe(value)} is added to a text", "Python raises TypeError")
    extend(cx, old, letters_of(cx, value, node) if old.is_text else value, node)


def part(
    cx: Context, text: str, index: SliceIndex, letter_at: Callable[[Context, str, Expr, ast.expr], Value],
    node: ast.expr,
) -> Value | None:  # fmt: skip
    """`text[a:b]` of a known text, with bounds that the run finds; None where nothing is made by the run so far."""
    cx.session.meets_texts = True
    if cx.session.texts is None:
        return None
    start, step, size = slice_of(cx, index, Literal(len(text)), node)
    result = new_text(cx, [], node)

    def write(place: list[Expr]) -> None:
        letter = letter_at(cx, text, add(start, multiply(place[0], step)), node)
        append(cx, cx.lists.get(result.key, result), letter, node)

    nest(cx, (size,), write, node)
    return cx.lists.get(result.key, result)


def joined(cx: Context, separator: str, value: Value, node: ast.Call) -> Value:
    """`separator.join(characters)`."""
    cx.session.meets_texts = True
    if isinstance(value, ListValue) and value.home is None:
        value = cx.lists.get(value.key, value)
    holds_texts = isinstance(value, ListValue) and value.holds_texts and value.rows is None
    if isinstance(value, ListValue) and not value.parts and cx.session.texts is not None:
        return new_text(cx, [], node)  # in the next round
    is_long = holds_texts and cx.session.text_names.get(value.key, True)  # type: ignore[union-attr]
    if cx.session.texts is None or not isinstance(value, ListValue) or not holds_texts or is_long:
        raise NotYet("'.join' takes a list of characters here", cx.at(node), f"this is {describe(value)}",
                     "append single characters to a list, and join that")  # fmt: skip
    result, own = new_text(cx, [], node), value
    between = letters_of(cx, Fixed(separator), node)

    def write(index: list[Expr]) -> None:
        with cx.inner_body() as body:
            extend(cx, cx.lists.get(result.key, result), between, node)
        if body:
            cx.emit(If(Compare("gt", index[0], Const(0, INT64)), tuple(body), (), at=cx.at(node)))
        append(cx, cx.lists.get(result.key, result), items_at(cx, own, index[0], node), node)

    nest(cx, (as_size(length_now(cx, value, node)),), write, node)
    return cx.lists.get(result.key, result)


def compared(cx: Context, op: ast.cmpop, left: Value, right: Value, node: ast.expr) -> tuple[Value, Value]:
    """Two values that are compared, of which one is a text that the run makes. Raises KernelError for what is not
    asked of such texts."""
    if isinstance(op, ast.Eq | ast.NotEq) and is_any_text(left) and is_any_text(right):
        first, second = (one if is_made(one) else new_text(cx, [one], node) for one in (left, right))
        return first, second
    if isinstance(op, ast.In | ast.NotIn) and is_any_text(left) and not may_be_long_choice(left):
        return left, right
    if isinstance(op, ast.Is | ast.IsNot):
        return left, right
    raise cx.error(node, "a text that is made while the code runs is compared with == and != only",
                   remedy="a single character is looked for with 'in'")  # fmt: skip


def made_names(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that begin as a text, and to which texts are added."""
    known: frozenset[str] | None = getattr(tree, "made_names", None)
    if known is not None:
        return known
    begun, continued = set[str](), set[str]()
    for node in own_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = list(zip(names, values, strict=False))
            case ast.Assign(targets=names, value=value):
                pairs = [(name, value) for name in names]
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()):
                continued.add(name)
                continue
            case _:
                continue
        for target, value in pairs:
            if isinstance(target, ast.Name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                begun.add(target.id)
            elif isinstance(target, ast.Name) and target.id in _added(value):
                continued.add(target.id)
    tree.made_names = frozenset(begun & continued)  # type: ignore[attr-defined]
    return frozenset(begun & continued)


def _added(node: ast.expr) -> set[str]:
    """The names that a sum adds."""
    match node:
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return {
                one.id for one in (left, right) if isinstance(one, ast.Name)
            } | _added(left) | _added(right)  # fmt: skip
        case _:
            return set()


def given_text(cx: Context, frame: Frame, web: Web, value: Value) -> Value:
    """What a parameter of a helper is given: of a text that the run makes, a copy."""
    if not is_made(value):
        return value
    parameter = next(one for one in parameters_of(frame.tree) if frame.webs.stores[id(one)] == web)
    cx.active.append(frame)
    try:
        return new_text(cx, [value], parameter)
    finally:
        cx.active.pop()


def own_text(cx: Context, web: Web, value: Value, value_node: ast.AST) -> Value:
    """What a name is given: of a text that the run makes, a copy. Raises Restart where it stood for a text that the
    run chooses until now."""
    if isinstance(value, Items) and any(map(is_made, value.items)):
        raise cx.error(value_node, "a text that the run makes is put into a tuple or a list",
                       remedy="give it a name of its own")  # fmt: skip
    if cx.session.texts is None:
        return value
    mark = id(cx.frame.tree), web.name
    if is_made(value) and not web.is_single and mark not in cx.session.made_names:
        cx.session.made_names.add(mark)
        raise Restart
    is_known = isinstance(value, Character) or known_text(value) is not None
    begins = is_known and (web.name in made_names(cx.frame.tree) or mark in cx.session.made_names)
    if isinstance(value, ListValue) and value.is_text:
        is_named = value.key in {one.key for one in cx.list_variables.values()}
        return new_text(cx, [value], _copying(value_node)) if is_named or value.key[-1] != id(value_node) else value
    return new_text(cx, [value], value_node) if begins else value


def _copying(node: ast.AST) -> ast.AST:
    """A node that stands for the copy of what a node gives. The same one each time."""
    found: ast.AST | None = getattr(node, "as_text", None)
    if found is None:
        found = node.as_text = ast.copy_location(ast.Constant(""), node)  # type: ignore[attr-defined]
    return found
