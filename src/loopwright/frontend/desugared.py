"""Statements that stand for simpler ones, which are read in their place: `match` of numbers and texts as `if` and
`elif`; `finally` as handlers that raise again; `with np.errstate(...)` and `with warnings.catch_warnings()` as what
stands in them, since no kernel warns. What has no such form stays as it is, and is refused where it is read.
"""

from __future__ import annotations

import ast
import copy


def desugared(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it has no such statement."""
    if not any(isinstance(node, ast.With | ast.Match) or _has_finally(node) for node in ast.walk(tree)):
        return tree
    result = _Simpler().visit(copy.deepcopy(tree))
    assert isinstance(result, ast.FunctionDef)
    return ast.fix_missing_locations(result)


class _Simpler(ast.NodeTransformer):
    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not all(_only_mutes(item) for item in node.items):
            return node
        inside = [one for one in node.body if not _is_filter(one)]
        return inside or [ast.copy_location(ast.Pass(), node)]

    def visit_Match(self, node: ast.Match) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        first: list[ast.stmt] = []
        subjects = [_once(one, first, node) for one in _parts(node.subject)]
        tests = [_test(case.pattern, subjects, isinstance(node.subject, ast.Tuple)) for case in node.cases]
        if any(test is None for test in tests):
            return node
        rest: list[ast.stmt] = []
        for case, test in zip(reversed(node.cases), reversed(tests), strict=True):
            assert test is not None
            both = [one for one in (None if _is_true(test) else test, case.guard) if one is not None]
            if not both:
                rest = case.body
                continue
            condition = both[0] if len(both) == 1 else ast.BoolOp(ast.And(), both)
            rest = [ast.copy_location(ast.If(condition, case.body, rest), case.pattern)]
        return [*first, *rest]

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not node.finalbody or _Jumps(0).of(node.finalbody):
            return node
        return _without_finally(node)


# ---- finally ----------------------------------------------------------------------------------------------------


def _has_finally(node: ast.AST) -> bool:
    return isinstance(node, ast.Try) and bool(node.finalbody)


def _without_finally(node: ast.Try) -> list[ast.stmt]:
    """A `try` with `finally`, whose lines stand on all ways out:

    try:                         done = False
        x = a[k]                 try:
        if x < 0: return x           x = a[k]
    finally:              ->         if x < 0: result = x; done = True; n += 1; return result
        n += 1                   except:
                                     if not done: n += 1
                                     raise
                                 else:
                                     n += 1
    """
    place = f"{node.lineno}_{node.col_offset}"
    body = [ast.Try(node.body, node.handlers, node.orelse, [])] if node.handlers else node.body
    jumps = _Jumps(0, node.finalbody, f"_done_{place}", f"_result_{place}")
    body = [one for stmt in body for one in jumps.replaced(stmt)]
    last: list[ast.stmt] = copy.deepcopy(node.finalbody)
    before: list[ast.stmt] = []
    if jumps.found:
        before = [ast.Assign([ast.Name(jumps.done, ast.Store())], ast.Constant(False))]
        last = [ast.If(ast.UnaryOp(ast.Not(), ast.Name(jumps.done, ast.Load())), last, [])]
    handler = ast.ExceptHandler(None, None, [*last, ast.Raise(None, None)])
    made: list[ast.stmt] = [*before, ast.Try(body, [handler], copy.deepcopy(node.finalbody), [])]
    for one in made:
        for part in ast.walk(one):
            if isinstance(part, ast.expr | ast.stmt | ast.ExceptHandler) and not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    return made


class _Jumps(ast.NodeTransformer):
    """Has each jump out of some statements run others before. depth: how many loops of these are around."""

    def __init__(self, depth: int, final: list[ast.stmt] | None = None, done: str = "", result: str = "") -> None:
        self.depth, self.final, self.done, self.result, self.found = depth, final or [], done, result, False

    def of(self, body: list[ast.stmt]) -> bool:
        """Whether there is one."""
        for stmt in body:
            self.visit(copy.deepcopy(stmt))
        return self.found

    def replaced(self, stmt: ast.stmt) -> list[ast.stmt]:
        found = self.visit(stmt)
        return found if isinstance(found, list) else [found]

    def _left(self, jump: ast.stmt, before: list[ast.stmt]) -> list[ast.stmt]:
        self.found = True
        done = ast.Assign([ast.Name(self.done, ast.Store())], ast.Constant(True))
        return [*before, done, *copy.deepcopy(self.final), jump]

    def visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        if node.value is None or isinstance(node.value, ast.Constant):
            return self._left(node, [])
        kept = ast.copy_location(ast.Assign([ast.Name(self.result, ast.Store())], node.value), node)
        return self._left(ast.copy_location(ast.Return(ast.Name(self.result, ast.Load())), node), [kept])

    def visit_Break(self, node: ast.Break) -> ast.AST | list[ast.stmt]:
        return node if self.depth else self._left(node, [])

    def visit_Continue(self, node: ast.Continue) -> ast.AST | list[ast.stmt]:
        return node if self.depth else self._left(node, [])

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self.depth += 1
        node.body = [one for stmt in node.body for one in self.replaced(stmt)]
        self.depth -= 1
        node.orelse = [one for stmt in node.orelse for one in self.replaced(stmt)]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node


# ---- with -------------------------------------------------------------------------------------------------------


def _only_mutes(item: ast.withitem) -> bool:
    """Whether a context changes only whether there are warnings."""
    match item.context_expr:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr="errstate"), args=[], keywords=named):
            muted = all(isinstance(one.value, ast.Constant) and one.value.value in ("ignore", "warn") for one in named)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="warnings"), attr="catch_warnings"), args=[], keywords=[]):
            muted = True
        case _:
            muted = False
    return muted and item.optional_vars is None


def _is_filter(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=ast.Name(id="warnings"), attr="simplefilter" | "filterwarnings"),
                args=[ast.Constant(value="ignore"), *_],
            )
        ):
            return True
        case _:
            return False


# ---- match ------------------------------------------------------------------------------------------------------


def _parts(subject: ast.expr) -> list[ast.expr]:
    return list(subject.elts) if isinstance(subject, ast.Tuple) else [subject]


def _once(subject: ast.expr, first: list[ast.stmt], node: ast.Match) -> ast.expr:
    """What is compared with patterns: a name, where evaluating it again could differ."""
    if isinstance(subject, ast.Name | ast.Constant):
        return subject
    name = f"_subject_{node.lineno}_{subject.col_offset}"
    first.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], subject), node))
    return ast.copy_location(ast.Name(name, ast.Load()), subject)


def _test(pattern: ast.pattern, subjects: list[ast.expr], is_tuple: bool) -> ast.expr | None:
    """Whether a pattern fits, as an expression; None where it binds names, or looks into what it is given."""
    match pattern:
        case ast.MatchAs(pattern=None, name=None):
            return ast.copy_location(ast.Constant(True), pattern)
        case ast.MatchOr(patterns=patterns):
            tests = [_test(one, subjects, is_tuple) for one in patterns]
            if None in tests:
                return None
            return ast.copy_location(ast.BoolOp(ast.Or(), [one for one in tests if one is not None]), pattern)
        case ast.MatchSequence(patterns=patterns) if is_tuple and len(patterns) == len(subjects):
            each = [_test(one, [subject], False) for one, subject in zip(patterns, subjects, strict=True)]
            if None in each:
                return None
            needed = [one for one in each if one is not None and not _is_true(one)]
            if len(needed) < 2:
                return needed[0] if needed else ast.copy_location(ast.Constant(True), pattern)
            return ast.copy_location(ast.BoolOp(ast.And(), needed), pattern)
        case ast.MatchValue(value=value) if not is_tuple:
            return ast.copy_location(ast.Compare(subjects[0], [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=known) if not is_tuple:
            return ast.copy_location(ast.Compare(subjects[0], [ast.Is()], [ast.Constant(known)]), pattern)
        case _:
            return None


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and test.value is True
