"""Statements that stand for simpler ones, which are read in their place: `match` of numbers and texts as `if` and
`elif`; `with np.errstate(...)` and `with warnings.catch_warnings()` as what stands in them, since no kernel warns. What
has no such form stays as it is, and is refused where it is read.
"""

from __future__ import annotations

import ast
import copy


def desugared(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function as it is read; itself where it has no such statement."""
    if not any(isinstance(node, ast.With | ast.Match) for node in ast.walk(tree)):
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
