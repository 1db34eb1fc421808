"""Which parameters a function may write through, from its syntax and that of the functions it calls.

It errs to the safe side only where it must: a name handed to something it cannot read counts as written.
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from types import BuiltinFunctionType, FunctionType

import numpy as np

from loopwright.errors import KernelError
from loopwright.frontend.markers import MAKES
from loopwright.frontend.object_class import class_of
from loopwright.frontend.parse import parameters_of, parse, positional_of
from loopwright.frontend.scopes import all_nodes, free_names, locals_of
from loopwright.frontend.written_arguments import written_by


def written_parameters(
    function: FunctionType, tree: ast.FunctionDef, functions: Mapping[str, object] | None = None
) -> frozenset[str]:
    """The parameters whose elements may be written: stored through, under another name, or by a callee. functions: the
    parameters that stand for functions, where a call tells."""
    return DefReader(function, tree, frozenset({function.__code__}), functions=functions).written()


_Known = dict[tuple[FunctionType, ast.FunctionDef, frozenset[tuple[str, int]]], frozenset[str]]


class DefReader:
    """Reads one `def`, the function's own or one nested in it. `seen`: what is being read, so that recursion ends.
    `known`: what was found of callees, each read once. `cut`: what of `seen` was met again, and not read. `around`: the
    functions beside a nested one, itself among them. `functions`: the parameters that are known to stand for one."""

    def __init__(
        self, function: FunctionType, tree: ast.FunctionDef, seen: frozenset[object], known: _Known | None = None,
        around: dict[str, ast.FunctionDef] | None = None, functions: Mapping[str, object] | None = None,
    ) -> None:  # fmt: skip
        self.function, self.tree, self.seen = function, tree, seen
        stored = {n.id for n in all_nodes(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.functions = {name: one for name, one in (functions or {}).items() if name not in stored}
        self.known: _Known = {} if known is None else known
        self.cut: set[object] = set()
        inner = [node for node in all_nodes(tree) if isinstance(node, ast.FunctionDef) and node is not tree]
        self.own = {node.name: node for node in inner}
        self.locals = locals_of(tree)
        outer = {name: node for name, node in (around or {}).items() if name not in self.locals}
        self.nested = {**outer, **self.own}
        self.items_of = _dicts(tree)

    def written(self) -> frozenset[str]:
        """The parameters that may be written."""
        return (self.names_written() & {parameter.arg for parameter in parameters_of(self.tree)}) - self.replaced()

    def replaced(self) -> set[str]:
        """The names that a statement of the body gives other arrays (`x = x.copy()`) before they have a second name
        or are written: what is written afterwards is no longer the parameter."""
        found: set[str] = set()
        shared: set[str] = set()
        for statement in self.tree.body if not self.own else ():
            for node in ast.walk(statement):
                shared = shared.union(*self.writes(node), (old for _, old in self.aliases(node)))
            if isinstance(statement, ast.Assign):
                found |= set().union(*map(_names, statement.targets)) - shared
        return found

    def names_written(self) -> frozenset[str]:
        """The names through which elements may be written, under this name or another one."""
        written: set[str] = set()
        updated: set[str] = set()
        aliases: list[tuple[str, str]] = []  # (new name, the name that it may be a view of)
        arrays: list[tuple[str, str]] = []  # those where it is no element
        numbers = _used_as_numbers(self.tree)
        for node in all_nodes(self.tree):
            now, by_update = self.writes(node)
            written |= now
            updated |= by_update
            aliases += self.aliases(node)
            if isinstance(node, ast.Assign) and _is_whole(node.value) and not _unpacks_numbers(node, numbers):
                arrays += self.aliases(node)
        shown = _used_as_arrays(self.tree)
        arrays += [pair for pair in aliases if pair[0] in shown or pair[0] in self.item_names]
        while grown := {old for new, old in arrays if new in updated and old not in updated}:
            updated |= grown
        while grown := {old for new, old in aliases if new in written and old not in written}:
            written |= grown
        return frozenset(written | updated)

    def writes(self, node: ast.AST) -> tuple[set[str], set[str]]:
        """The names through which one node writes elements; and those of `x += v`, which does so of an array."""
        match node:
            case ast.Subscript(ctx=ast.Store()) if self.item(node):
                return set(), set()
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name in self.made_lists:
                return set(), set()  # of what the list holds, nothing changes
            case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))) if name in self.made_lists:
                return set(), {name}
            case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                return self.roots(node), set()
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Del()) if name in self.own_parameters:
                return {name}, set()
            case ast.AugAssign(target=target) if item := self.item(target):
                return set(), {item}
            case ast.AugAssign(target=ast.Name(id=name)):
                return set(), {name}
            case ast.Call():
                return self.by_call(node), set()
            case _:
                return set(), set()

    def aliases(self, node: ast.AST) -> list[tuple[str, str]]:
        """(new name, the name that it may be a view of): those that one node makes."""
        match node:
            case ast.For(target=target, iter=iterated):
                return [(new, old) for new in _names(target) for old in self.items(iterated)]
            case ast.Assign(targets=targets, value=value):
                return [pair for target in targets for pair in self.pairs(target, value)]
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                return self.pairs(target, value)
            case _:
                return []

    def pairs(self, target: ast.expr, value: ast.expr) -> list[tuple[str, str]]:
        if item := self.item(target):
            return [(item, old) for old in self.roots(value)]
        if isinstance(target, ast.Name) and isinstance(value, ast.Dict) and target.id in self.items_of:
            found = zip(value.keys, value.values, strict=True)
            return [(_item(target.id, key), old) for key, one in found for old in self.roots(one)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            return [pair for t, v in zip(target.elts, value.elts, strict=True) for pair in self.pairs(t, v)]
        return [(new, old) for new in _names(target) for old in self.roots(value)]

    def item(self, node: ast.AST) -> str:
        """The name for `d["x"]` where d is a dict of this function; '' for all else."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str()) as key) if (
                name in self.items_of
            ):
                return _item(name, key)
            case _:
                return ""

    @cached_property
    def own_parameters(self) -> frozenset[str]:
        """The names of the parameters."""
        return frozenset(parameter.arg for parameter in parameters_of(self.tree))

    @cached_property
    def made_lists(self) -> frozenset[str]:
        """The names that stand for lists made here, and for nothing else."""
        bound = Counter(n.id for n in all_nodes(self.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        as_list: Counter[str] = Counter()
        for node in all_nodes(self.tree):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.List() | ast.ListComp()):
                    as_list[name] += 1
                case _:
                    pass
        given = {parameter.arg for parameter in parameters_of(self.tree)}
        return frozenset(name for name, times in as_list.items() if times == bound[name] and name not in given)

    @cached_property
    def list_names(self) -> frozenset[str]:
        """The names that stand for a list made here, at some time."""
        found: set[str] = set()
        pairs = [(node.targets[0].id, node.value) for node in all_nodes(self.tree)
                 if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]  # fmt: skip
        while grown := {name for name, value in pairs if name not in found and _is_list(value, found)}:
            found |= grown
        return frozenset(found)

    def is_list(self, node: ast.expr) -> bool:
        """Whether this is a list made here, as far as the text tells."""
        return _is_list(node, self.list_names)

    @cached_property
    def item_names(self) -> frozenset[str]:
        """All of these names."""
        return frozenset().union(*self.items_of.values())

    def roots(self, expression: ast.expr) -> set[str]:
        """The names whose array the value may be, or may be a view of."""
        match expression:
            case ast.Name(id=name):
                return {name, *self.items_of.get(name, ())}
            case ast.Subscript() if item := self.item(expression):
                return {item}
            case ast.Attribute(attr="shape" | "size" | "ndim" | "dtype"):
                return set()
            case ast.Attribute() if isinstance(self.resolve(expression), type):  # np.int8
                return set()
            case (
                ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.NamedExpr(value=inner)
                | ast.Starred(value=inner)
            ):  # fmt: skip
                return self.roots(inner)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
                return set().union(*map(self.roots, parts), set())
            case ast.IfExp(body=first, orelse=second):
                return self.roots(first) | self.roots(second)
            case ast.Call(func=ast.Attribute(value=inner, attr="copy")) if self.is_list(inner):
                return self.roots(inner)  # the copy has the same arrays in it
            case ast.Call(func=ast.Name(id="list" | "sorted"), args=[inner, *_]) if self.is_list(inner):
                return self.roots(inner)
            case ast.Call(args=args) if isinstance(getattr(self.called(expression), MAKES, None), type):
                return set().union(*(self.roots(one) for one in args if self.is_list(one)), set())
            case ast.BinOp(left=left, right=right):
                return set().union(*(self.roots(one) for one in (left, right) if self.is_list(one)), set())
            case ast.Call(func=callee):
                known = self.called(expression)
                base = set()
                if isinstance(callee, ast.Attribute) and known is None and _may_be_view(callee.attr, expression):
                    base = self.roots(callee.value)
                if _never_writes(known) and not may_give_view(known) and not _is_holder(known):
                    return set()
                return base | self.given_back(expression)  # `a.T` is a method, too
            case _:
                return set()

    def items(self, iterated: ast.expr) -> set[str]:
        """The names whose array a `for` goes over: each of the items may be a view of it."""
        match iterated:
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed"), args=parts):
                return set().union(*map(self.items, parts), set())
            case _:
                return self.roots(iterated)

    def of_arguments(self, call: ast.Call) -> set[str]:
        return set().union(*map(self.roots, [*call.args, *(keyword.value for keyword in call.keywords)]), set())

    def given_back(self, call: ast.Call) -> set[str]:
        """The names whose array the result of a call may be, or may be a view of: of a helper, what it returns."""
        inner = self.nested.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if inner is not None and inner not in self.seen:
            return self._given_back_by(call, inner)
        callee = self.called(call)
        callee = getattr(callee, "py_func", getattr(callee, "__wrapped__", callee))
        if not isinstance(callee, FunctionType) or callee.__code__ in self.seen or self.resolve(call.func) is map:
            return self.of_arguments(call)
        try:
            plain, definition = parse(callee)
        except KernelError:
            return self.of_arguments(call)
        functions = self.functions_given(call, definition.tree)
        seen = self.seen | {callee.__code__}
        returned = DefReader(plain, definition.tree, seen, self.known, functions=functions).returned()
        pairs = self.given(call, definition.tree)
        return set().union(*(self.roots(value) for name, value in pairs if name in returned), set())

    def _given_back_by(self, call: ast.Call, inner: ast.FunctionDef) -> set[str]:
        """The same of a nested function, which may give back what is this one's."""
        reader = DefReader(self.function, inner, self.seen | {inner}, self.known, self.nested)
        returned = reader.returned()
        given = set().union(*(self.roots(value) for name, value in self.given(call, inner) if name in returned), set())
        return given | (returned & free_names(inner))

    def returned(self) -> frozenset[str]:
        """The parameters, and names from outside, that what is returned may be, or may be part of; all where an
        expression is not understood."""
        names = {parameter.arg for parameter in parameters_of(self.tree)} | free_names(self.tree)
        found: set[str] = set()
        aliases: list[tuple[str, str]] = []
        for node in all_nodes(self.tree):
            value = node.value if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.NamedExpr) else None
            is_other = (
                isinstance(node, ast.FunctionDef | ast.Lambda | ast.Yield | ast.YieldFrom) and node is not self.tree
            )
            if is_other or (value is not None and not self.is_understood(value)):
                return frozenset(names)
            if isinstance(node, ast.Return) and value is not None:
                found |= self.roots(value)
            aliases += self.aliases(node)
        while grown := {old for new, old in aliases if new in found and old not in found}:
            found |= grown
        return frozenset(found & names)

    def is_understood(self, value: ast.expr) -> bool:
        """Whether `roots` says all that a value may be part of."""
        match value:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return all(map(self.is_understood, parts))
            case ast.IfExp(body=first, orelse=second):
                return self.is_understood(first) and self.is_understood(second)
            case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Starred(value=inner):
                return self.is_understood(inner)
            case ast.Call():
                if self.is_method(value.func) and isinstance(value.func, ast.Attribute):
                    return value.func.attr in _OWN
                known = self.called(value)
                known = getattr(known, "py_func", getattr(known, "__wrapped__", known))
                return isinstance(known, FunctionType) or (_never_writes(known) and not _is_class(known))
            case _:
                return isinstance(value, ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.Compare)

    def by_call(self, call: ast.Call) -> set[str]:
        """The names that a call may write: arguments in whose place the callee's parameter is written."""
        if isinstance(call.func, ast.Name) and call.func.id in self.nested:
            inner = self.nested[call.func.id]
            return self.matched(call, self.function, inner, inner)
        callee = self.called(call)
        if callee is not None and self.resolve(call.func) is map:
            return set() if _never_writes(callee) else self.of_arguments(call)
        if isinstance(callee, type) and class_of(callee) is not None:  # its methods may write to what it holds
            return self.of_arguments(call)
        written = self.by_method(call) if callee is None else set()
        written |= set().union(*map(self.roots, written_by(callee, call)))
        if written or _never_writes(callee) or self.is_method(call.func):
            return written
        callee = getattr(callee, "py_func", getattr(callee, "__wrapped__", callee))
        if not isinstance(callee, FunctionType):
            return self.of_arguments(call)
        try:
            plain, definition = parse(callee)
        except KernelError:
            return self.of_arguments(call)
        return self.matched(call, plain, definition.tree, callee.__code__)

    def only_reads(self, call: ast.Call) -> bool:
        """Whether a call writes to none of its arguments, and gives back nothing that shares memory with them."""
        known = self.called(call)
        return known is not None and _never_writes(known) and not may_give_view(known)

    def resolve(self, callee: ast.expr) -> object:
        """The object that a callee's text names; None where that is not known, or a local."""
        if isinstance(callee, ast.Name) and callee.id in self.functions:
            return self.functions[callee.id]
        return None if _first_name(callee) in self.locals else _resolve(callee, self.function)

    def called(self, call: ast.Call) -> object:
        """What a call calls: `map(f, a)` calls f, and gives what f gives."""
        callee = self.resolve(call.func)
        if callee is not map or not call.args:
            return callee
        return self.resolve(call.args[0]) or call.args[0]

    def is_method(self, callee: ast.expr) -> bool:
        """Whether this is a method of what a local stands for, or of a value without a name: what it writes,
        `by_method` tells."""
        return isinstance(callee, ast.Attribute) and _first_name(callee) in {*self.locals, ""}

    def by_method(self, call: ast.Call) -> set[str]:
        """The names that a method of an array, a list or a generator writes."""
        match call.func:
            case ast.Attribute(
                value=inner, attr="fill" | "sort" | "partition" | "put" | "itemset" | "resize" | "reverse"
            ):
                return self.roots(inner)
            case ast.Attribute(attr="shuffle") if call.args:  # of a generator
                return self.roots(call.args[0])
            case ast.Attribute(value=ast.Name(id=name), attr=method) if _changes_dict(method, call):
                return {name} & self.own_parameters
            case _:
                return set()

    def matched(self, call: ast.Call, function: FunctionType, tree: ast.FunctionDef, mark: object) -> set[str]:
        """The names that a call of this `def` writes; `mark` stands for it in `seen`."""
        if mark in self.seen:
            self.cut.add(mark)
            return set()
        functions = self.functions_given(call, tree)
        key = function, tree, frozenset((name, id(one)) for name, one in functions.items())
        written = self.known.get(key)
        if written is None:
            around = self.nested if mark is tree else None
            inner = type(self)(function, tree, self.seen | {mark}, self.known, around, functions)
            written, cut = inner.written(), inner.cut - {mark}
            self.cut |= cut
            if not cut:  # else it is what is known of it inside of what is being read
                self.known[key] = written
        return set().union(*(self.roots(value) for name, value in self.given(call, tree) if name in written), set())

    def functions_given(self, call: ast.Call, tree: ast.FunctionDef) -> dict[str, object]:
        """The parameters of a `def` that stand for known functions in this call."""
        pairs = ((name, value) for name, value in self.given(call, tree) if name and isinstance(value, ast.Name))
        known = ((name, self.resolve(value)) for name, value in pairs)
        return {name: one for name, one in known if callable(one) and not isinstance(one, type)}

    def given(self, call: ast.Call, tree: ast.FunctionDef) -> list[tuple[str | None, ast.expr]]:
        """The parameters of a `def`, each with what a call gives for it, as far as the text tells."""
        names = [parameter.arg for parameter in parameters_of(tree)]
        stars = [place for place, one in enumerate(call.args) if isinstance(one, ast.Starred)]
        places = [*call.args, *(call.args[stars[0] : stars[0] + 1] * len(names) if stars else [])]
        if tree.args.vararg is not None:
            names = [parameter.arg for parameter in positional_of(tree)] + [tree.args.vararg.arg] * len(places)
        return [*zip(names, places, strict=False), *((keyword.arg, keyword.value) for keyword in call.keywords)]


_IN_PLACE = ("fill", "sort", "reverse", "partition", "put", "itemset", "resize")
_VIEWS = ("reshape", "ravel", "transpose", "swapaxes", "squeeze", "view", "diagonal", "astype", "pop", "get", "values",
          "items", "setdefault", "_replace")  # fmt: skip
"""Methods that give a view of their array, at times, or an array that their list, dict or named tuple holds."""


def _changes_dict(method: str, call: ast.Call) -> bool:
    """Whether a method changes a dict: `pop` of a place that the text tells is one of a list."""
    if method == "pop":
        return bool(call.args) and not isinstance(call.args[0], ast.Constant | ast.UnaryOp)
    return method in ("clear", "update", "setdefault", "popitem")


def _may_be_view(method: str, call: ast.Call) -> bool:
    """Whether a method of an array may give a view of it: `a.astype(t)` copies unless it is told not to."""
    is_copy = method == "astype" and len(call.args) == 1 and not call.keywords
    return method in _VIEWS and not is_copy


_OWN = frozenset({
    "copy", "flatten", "sum", "mean", "min", "max", "prod", "std", "var", "any", "all", "argmin", "argmax", "argsort",
    "cumsum", "dot", "tolist", "item",
})  # fmt: skip
"""Methods that give something of its own."""


def _item(name: str, key: ast.expr | None) -> str:
    return f"{name}[{ast.unparse(key) if key is not None else '**'}]"


def _dicts(tree: ast.FunctionDef) -> dict[str, frozenset[str]]:
    """The names of dicts that a function makes, and names for the items that its text tells, `d['x']`."""
    found: dict[str, set[str]] = {}
    for node in all_nodes(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys)):
                found.setdefault(name, set()).update(_item(name, key) for key in keys)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="dict"))):
                found.setdefault(name, set())
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr="empty"), args=[])):
                found.setdefault(name, set())
            case _:
                pass
    for node in all_nodes(tree) if found else ():
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str()) as key) if name in found:
                found[name].add(_item(name, key))
            case _:
                pass
    return {name: frozenset(items) for name, items in found.items()}


def _used_as_arrays(tree: ast.FunctionDef) -> set[str]:
    """The names with an index or an attribute behind them, or inside of `len()`: no numbers."""
    found: set[str] = set()
    for node in all_nodes(tree):
        match node:
            case ast.Subscript(value=ast.Name(id=name)) | ast.Attribute(value=ast.Name(id=name)):
                found.add(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
                found.add(name)
            case _:
                pass
    return found


def _used_as_numbers(tree: ast.FunctionDef) -> set[str]:
    """The names that a condition compares: an array has no truth value."""
    found: set[str] = set()
    for node in all_nodes(tree):
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            found |= _compared(node.test)
    return found


def _compared(test: ast.expr) -> set[str]:
    match test:
        case ast.BoolOp(values=parts):
            return set().union(*map(_compared, parts))
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _compared(inner)
        case ast.Compare(left=left, ops=ops, comparators=others) if not any(
            isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in ops
        ):
            return set().union(*map(_terms, (left, *others)))
        case _:
            return set()


def _terms(value: ast.expr) -> set[str]:
    """The names that arithmetic combines to a value."""
    match value:
        case ast.Name(id=name):
            return {name}
        case ast.BinOp(left=left, right=right) if not isinstance(value.op, ast.MatMult):
            return _terms(left) | _terms(right)
        case ast.UnaryOp(operand=inner):
            return _terms(inner)
        case _:
            return set()


def _unpacks_numbers(node: ast.Assign, numbers: set[str]) -> bool:
    """Whether `x, y = a` takes numbers out of an array: one of them is used as a number, so all are."""
    return isinstance(node.value, ast.Name) and any(
        isinstance(target, ast.Tuple) and not numbers.isdisjoint(_names(target)) for target in node.targets
    )


def _is_whole(value: ast.expr) -> bool:
    """Whether a value that is (part of) an array is no element of it, as far as the text tells."""
    match value:
        case ast.Subscript(slice=ast.Slice()):
            return True
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(
                isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and not isinstance(part.value, int))
                for part in parts
            )
        case ast.Subscript():
            return False
        case ast.Tuple(elts=parts):
            return any(_is_whole(part) for part in parts)
        case _:
            return True


def may_give_view(callee: object) -> bool:
    """Whether this function of NumPy may return a view of its argument."""
    return callee in (
        np.asarray, np.ascontiguousarray, np.asfortranarray, np.frombuffer, np.transpose, np.swapaxes, np.moveaxis,
        np.expand_dims, np.squeeze,
        np.reshape, np.ravel, np.atleast_1d, np.atleast_2d, np.flip, np.fliplr, np.flipud, np.diagonal,
        np.broadcast_to, np.split, np.array_split, np.vsplit, np.hsplit, np.dsplit, np.rot90, np.atleast_3d,
        np.trim_zeros, np.diag, np.lib.stride_tricks.sliding_window_view,
    )  # fmt: skip


def _is_class(callee: object) -> bool:
    """Whether this makes an object that holds what it is given: a named tuple, a dataclass, a tuple or a list."""
    return isinstance(callee, type) and not issubclass(callee, np.generic | bool | int | float | complex)


def _is_list(node: ast.expr, lists: Collection[str]) -> bool:
    """Whether this is a list; lists: the names of some."""
    match node:
        case ast.List() | ast.ListComp() | ast.Call(func=ast.Name(id="list" | "sorted")):
            return True
        case ast.Name(id=name):
            return name in lists
        case ast.Call(func=ast.Attribute(value=inner, attr="copy")) | ast.Subscript(value=inner, slice=ast.Slice()):
            return _is_list(inner, lists)
        case ast.BinOp(left=left, right=right, op=ast.Add() | ast.Mult()):
            return _is_list(left, lists) or _is_list(right, lists)
        case _:
            return False


def _is_holder(callee: object) -> bool:
    """Whether what this gives is, or holds, the very arrays that it is given: a named tuple, a dataclass, an iterator.
    Lists hold copies, see handed_on.py."""
    if callee in (tuple, dict, zip, enumerate, reversed, iter, next):
        return True
    return _is_class(callee) and getattr(callee, "__module__", "") not in ("builtins", "numpy")


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _first_name(expression: ast.expr) -> str:
    while isinstance(expression, ast.Attribute | ast.Subscript):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _resolve(callee: ast.expr, function: FunctionType) -> object:
    """The object that a callee's text names, looked up in closure, globals and builtins; None if it cannot be."""
    match callee:
        case ast.Name(id=name):
            free = function.__code__.co_freevars
            if name in free and function.__closure__ is not None:
                try:
                    return function.__closure__[free.index(name)].cell_contents
                except ValueError:
                    return None
            return function.__globals__.get(name, getattr(builtins, name, None))
        case ast.Attribute(value=inner, attr=attribute):
            return getattr(_resolve(inner, function), attribute, None)
        case _:
            return None


def _never_writes(callee: object) -> bool:
    if isinstance(callee, type | np.ufunc | BuiltinFunctionType):
        return True
    return (getattr(callee, "__module__", None) or "").split(".")[0] in ("numpy", "math", "builtins")
