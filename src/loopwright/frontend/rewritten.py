"""What a function's text is read as: `q = [x] if c else []` as an `if` with an assignment in each branch, since a list
has memory of its own and a name for it on every path; `t = u; u = v; v = t` in a loop as `u, v = v, u`, and several of
these as one; `c = a if t else b` in a loop as an `if` with all that follows in each branch, where c is only indexed
there, as the array would be copied in each iteration; and `u, v = v, u` in the middle of a loop at its end, where it
costs nothing (renaming.py), with the names in between exchanged."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache


@lru_cache(maxsize=1024)
def rewritten(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it is read as it stands. The same object each time."""
    aside, indexed = _names_aside(tree), _only_indexed(tree)
    if not any(
        _chooses_lists(node)
        or _exchange(node) is not None
        or _with_tuples(node, aside) is not None
        or (isinstance(node, ast.For | ast.While) and _chosen_in(node.body, indexed) is not None)
        for node in ast.walk(tree)
    ):
        return tree
    result = _Choices(aside, indexed).visit(copy.deepcopy(tree))
    assert isinstance(result, ast.FunctionDef)
    return ast.fix_missing_locations(result)


def _chooses_lists(node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.IfExp() as chosen):
            return _has_list(chosen)
        case _:
            return False


def _has_list(node: ast.expr) -> bool:
    match node:
        case ast.IfExp(body=first, orelse=second):
            return _has_list(first) or _has_list(second)
        case ast.Call(func=ast.Name(id="list")):
            return True
        case _:
            return isinstance(node, ast.List | ast.ListComp)


def _exchange(node: ast.AST) -> tuple[int, dict[str, str]] | None:
    """Where a loop exchanges names, with statements behind it that could stand before, and which name stands for what
    another one did; None for all else."""
    if not isinstance(node, ast.For) or node.orelse or any(isinstance(part, _JUMPS) for part in ast.walk(node)):
        return None
    if any(own_jumps(node)):
        return None
    for place, statement in enumerate(node.body[:-1]):
        found = permutation(statement)
        if found is not None and not _gives(node.body[place + 1 :], found[0]):
            return place, dict(zip(*found, strict=True))
    return None


def permutation(statement: ast.stmt) -> tuple[list[str], list[str]] | None:
    """The names on the left and on the right of `u, v = v, u`; None for all else."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            left = [one.id for one in targets if isinstance(one, ast.Name)]
            right = [one.id for one in values if isinstance(one, ast.Name)]
            is_whole = len(left) == len(targets) and len(right) == len(values) and len({*left}) == len(left)
            return (left, right) if is_whole and sorted(left) == sorted(right) else None
        case _:
            return None


_JUMPS = (ast.Return, ast.FunctionDef, ast.Lambda, ast.Yield)


def own_jumps(node: ast.AST) -> Iterator[ast.Break | ast.Continue]:
    """The `break` and `continue` of a loop, without those of the loops inside it."""
    inner = node.orelse if isinstance(node, ast.For | ast.While) else []
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.Break | ast.Continue):
            yield part
        elif isinstance(part, ast.For | ast.While):
            yield from own_jumps(ast.Module(part.orelse, []))
        elif not isinstance(part, ast.expr) and part not in inner:
            yield from own_jumps(part)


def _aside(statements: Sequence[ast.stmt]) -> tuple[str, str, str] | None:
    """t, u and v of `t = u; u = v; v = t`."""
    match statements:
        case [
            ast.Assign(targets=[ast.Name(id=aside)], value=ast.Name(id=first)),
            ast.Assign(targets=[ast.Name(id=one)], value=ast.Name(id=second)),
            ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=last)),
        ] if (one, other, last) == (first, second, aside) and len({aside, first, second}) == 3:
            return aside, first, second
        case _:
            return None


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    yield from (node.body for node in ast.walk(tree) if isinstance(node, ast.For | ast.While))


def _names_aside(tree: ast.FunctionDef) -> frozenset[str]:
    """The names that serve for nothing but such exchanges in loops."""
    found = Counter[str]()
    for body in _bodies(tree):
        for place in range(len(body) - 2):
            if (names := _aside(body[place : place + 3])) is not None:
                found[names[0]] += 2
    if not found:
        return frozenset()
    uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    return frozenset(name for name, times in found.items() if times == uses[name])


def _with_tuples(node: ast.AST, aside: frozenset[str]) -> list[ast.stmt] | None:
    """The body of a loop in which names are exchanged by one assignment of a tuple; None where nothing changes."""
    if not isinstance(node, ast.For | ast.While):
        return None
    body = list[ast.stmt]()
    rest = list(node.body)
    while rest:
        names = _aside(rest[:3])
        if names is not None and names[0] in aside:
            body.append(_exchanged(names[1:], names[:0:-1], rest[0]))
            del rest[:3]
        else:
            body.append(rest.pop(0))
        former = permutation(body[-2]) if len(body) > 1 else None
        latter = permutation(body[-1])
        if former is not None and latter is not None and not {*former[0]} & {*latter[0]}:
            body[-2:] = [_exchanged(former[0] + latter[0], former[1] + latter[1], body[-2])]
    return None if len(body) == len(node.body) else body


def _exchanged(left: Sequence[str], right: Sequence[str], at: ast.stmt) -> ast.stmt:
    targets = ast.Tuple([ast.Name(name, ast.Store()) for name in left], ast.Store())
    values = ast.Tuple([ast.Name(name, ast.Load()) for name in right], ast.Load())
    made = ast.copy_location(ast.Assign([targets], values), at)
    for part in ast.walk(made):
        ast.copy_location(part, at)
    return made


def _gives(statements: list[ast.stmt], names: list[str]) -> bool:
    """Whether statements give one of these names another value."""
    parts = (part for statement in statements for part in ast.walk(statement) if isinstance(part, ast.Name))
    return any(part.id in names and not isinstance(part.ctx, ast.Load) for part in parts)


_MOST_NODES = 600
"""Of what follows a choice between arrays, so that it is written out in both branches."""
_MOST_CHOICES = 3
"""Of such choices one behind the other, each of which doubles what follows."""


def _only_indexed(tree: ast.FunctionDef) -> dict[str, tuple[int, int]]:
    """The names that a function reads only to find an element or a part, at how many places it gives them a value, and
    at how many it reads them."""
    stored: Counter[str] = Counter()
    read: Counter[str] = Counter()
    indexed: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else stored)[node.id] += 1
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.ctx, ast.Load):
            indexed[node.value.id] += 1
    return {name: (stored[name], times) for name, times in indexed.items() if read[name] == times}


def _chosen(statement: ast.stmt) -> tuple[str, ast.expr, tuple[ast.Name, ast.Name], int] | None:
    """The name that is given one of two others, the test, these, and how often the name is written down for it."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.IfExp(test, ast.Name() as first, ast.Name() as second)):
            return name, test, (first, second), 1
        case ast.If(
            test,
            [ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() as first)],
            [ast.Assign(targets=[ast.Name(id=again)], value=ast.Name() as second)],
        ) if name == again:
            return name, test, (first, second), 2
        case _:
            return None


def _chosen_in(body: list[ast.stmt], indexed: Mapping[str, tuple[int, int]]) -> int | None:
    """The place in a loop's body of a choice between two names, for a name that is only indexed behind it; None where
    there is none, or one of the two gets another value there, or what follows is long."""
    for place, statement in enumerate(body):
        found = _chosen(statement)
        if found is not None and found[0] in indexed:
            rest = [part for one in body[place + 1 :] for part in ast.walk(one)]
            read = sum(isinstance(part, ast.Name) and part.id == found[0] for part in rest)
            if (
                indexed[found[0]] == (found[3], read)
                and len(rest) <= _MOST_NODES
                and not _gives(body, [one.id for one in found[2]])
            ):
                return place
    return None


def _arrays_apart(body: list[ast.stmt], indexed: Mapping[str, tuple[int, int]], depth: int = 0) -> list[ast.stmt]:
    """A loop's body with what follows such choices in both branches."""
    place = _chosen_in(body, indexed) if depth < _MOST_CHOICES else None
    found = None if place is None else _chosen(body[place])
    if place is None or found is None:
        return body
    name, test, values, _ = found
    branches: list[list[ast.stmt]] = []
    for value in values:
        target = ast.copy_location(ast.Name(name, ast.Store()), value)
        given = ast.copy_location(ast.Assign([target], copy.deepcopy(value)), body[place])
        branches.append([given, *_arrays_apart(copy.deepcopy(body[place + 1 :]), indexed, depth + 1)])
    return [*body[:place], ast.copy_location(ast.If(test, *branches), body[place])]


class _Choices(ast.NodeTransformer):
    def __init__(self, aside: frozenset[str], indexed: Mapping[str, tuple[int, int]]) -> None:
        self.aside, self.indexed = aside, indexed

    def visit_While(self, node: ast.While) -> ast.stmt:
        self.generic_visit(node)
        node.body = _with_tuples(node, self.aside) or node.body
        node.body = _arrays_apart(node.body, self.indexed)
        return node

    def visit_For(self, node: ast.For) -> ast.stmt:
        self.generic_visit(node)
        node.body = _with_tuples(node, self.aside) or node.body
        node.body = _arrays_apart(node.body, self.indexed)
        found = _exchange(node)
        if found is None:
            return node
        place, names = found
        between = node.body[place + 1 :]
        for part in (part for statement in between for part in ast.walk(statement)):
            if isinstance(part, ast.Name):
                part.id = names.get(part.id, part.id)
        node.body = [*node.body[:place], *between, node.body[place]]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if not _chooses_lists(node):
            return node
        chosen, target = node.value, node.targets[0]
        assert isinstance(chosen, ast.IfExp)
        branches = [
            self.visit(ast.copy_location(ast.Assign([copy.deepcopy(target)], one), node))
            for one in (chosen.body, chosen.orelse)
        ]
        return ast.copy_location(ast.If(chosen.test, [branches[0]], [branches[1]]), node)
