"""Whether it shows that a list of arrays holds copies of them, where the list is made of others at once: `list(m)`,
`sorted(m)`, `[a, b] * 2`, or has no name: `helper([a, b])`, `[row for row in m][0]`.

It tells from the syntax, and errs to the safe side.
"""

from __future__ import annotations

import ast

from loopwright.frontend.array_names import copies_show, functions_of, list_reader, may_show
from loopwright.frontend.context import Context
from loopwright.frontend.scopes import all_nodes
from loopwright.frontend.written import DefReader

_HAND_ON = ("list", "sorted", "reversed", "tuple", "iter", "enumerate", "zip", "next", "max", "min")
"""Builtins that give the very items that they are given."""


class _Reader(DefReader):
    """Takes what a list holds for a view of what it is made of."""

    def roots(self, expression: ast.expr) -> set[str]:
        match expression:
            case ast.ListComp(elt=item, generators=generators) | ast.GeneratorExp(elt=item, generators=generators):
                found = self.roots(item)
                for part in reversed(generators):
                    names = {one.id for one in ast.walk(part.target) if isinstance(one, ast.Name)}
                    if found & names:
                        found = found - names | self.items(part.iter)
                return found
            case ast.Call(func=ast.Name(id=name), args=parts) if name in _HAND_ON and name not in self.locals:
                return set().union(*map(self.items, parts), set())
            case ast.Call(func=ast.Attribute(value=inner, attr="pop" | "copy" as method)) if (
                method == "pop" or _is_list(inner)
            ):
                return self.roots(inner)
            case ast.BinOp(left=left, right=right) if _is_list(left) or _is_list(right):
                return self.roots(left) | self.roots(right)
            case _:
                return super().roots(expression)

    def items(self, iterated: ast.expr) -> set[str]:
        is_made = isinstance(iterated, ast.ListComp | ast.GeneratorExp | ast.List | ast.BinOp | ast.Call)
        return self.roots(iterated) if is_made else super().items(iterated)


def _is_list(node: ast.expr) -> bool:
    match node:
        case ast.List() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in ("list", "sorted")
        case ast.BinOp(left=left, right=right):
            return _is_list(left) or _is_list(right)
        case _:
            return False


def copies_show_in(cx: Context, made: ast.expr) -> bool:
    """Whether it would show that the arrays in a list that an expression makes are copies."""
    frame = cx.frame
    own = frozenset({frame.source.function.__code__})
    reader = _Reader(frame.source.function, frame.tree, own, functions=functions_of(frame))
    match made:
        case ast.Call(func=ast.Attribute(value=inner, attr="copy")):  # of a list made here, both know the same arrays
            roots = set() if reader.is_list(inner) else reader.roots(inner)
        case _:
            roots = reader.roots(made)
    if not roots:
        return False
    owner = cx.target_names.get(id(made), "")
    if owner:
        return copies_show(frame, list_reader(frame, owner), owner, made, roots)
    parents = {id(child): node for node in all_nodes(frame.tree) for child in ast.iter_child_nodes(node)}
    node: ast.AST = made
    while (parent := parents.get(id(node))) is not None:
        match parent:
            case ast.Return():
                return frame.is_inlined and may_show(cx, frame.path[-1], to_python=False, is_argument=True)
            case ast.For(iter=iterated) if node is iterated:
                return _shows_in_loop(reader, parent, roots)
            case ast.Call(func=callee) if node is not callee:
                if not (isinstance(callee, ast.Name) and callee.id in _HAND_ON):
                    return not reader.only_reads(parent) and bool(roots & reader.names_written())
            case ast.expr() | ast.keyword():
                pass
            case _:
                break
        node = parent
    return bool(roots & reader.names_written())


def _shows_in_loop(reader: DefReader, loop: ast.For, roots: set[str]) -> bool:
    """The same of a list that a loop goes over: an item is written, or what it is a copy of while the loop runs."""
    written = set[str]().union(*(names for part in ast.walk(loop) for names in reader.writes(part)))
    pairs = [pair for part in all_nodes(reader.tree) for pair in reader.aliases(part)]
    while grown := {old for new, old in pairs if new in written and old not in written}:
        written |= grown
    items = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    return bool(roots & written or items & reader.names_written())
