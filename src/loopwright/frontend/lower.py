"""`lower`: a captured function and the types of a call, to a Kernel.

The passes of one round: bind the parameters, read the body (names, calls, types and IR at once), and collect what
it returns. Rounds are repeated until the types of the variables stop growing: only then is the IR right, and only
then is an error an error.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from loopwright.deferred import deferred
from loopwright.errors import KernelError
from loopwright.frontend.apart import taken_apart, with_a_name
from loopwright.frontend.array_variables import own_copy
from loopwright.frontend.arrays import record_sizes, records_of
from loopwright.frontend.capture import Source
from loopwright.frontend.complex_pairs import pair
from loopwright.frontend.context import Context, Frame, Restart, Session, web_key
from loopwright.frontend.exchanges import renamed_only
from loopwright.frontend.expressions import evaluate
from loopwright.frontend.given import given_list, with_tables, without_tables
from loopwright.frontend.inline import webs_for
from loopwright.frontend.made_texts import own_text
from loopwright.frontend.outside import Outside
from loopwright.frontend.packed import KeysAndValues, Packed
from loopwright.frontend.parse import parameters_of
from loopwright.frontend.recursion import calling
from loopwright.frontend.results import check_end, result_arrays, returned_values
from loopwright.frontend.snapshots import check_snapshots
from loopwright.frontend.statements import assign_to, execute
from loopwright.frontend.structured import Given, Held, Structure, fields_in_planes
from loopwright.frontend.table_variables import kept_table, store_table
from loopwright.frontend.values import (
    Array,
    Fixed,
    Items,
    Keyed,
    Literal,
    Number,
    RangeValue,
    Records,
    Value,
    from_object,
)
from loopwright.frontend.variables import store_variable
from loopwright.ir.captured import CapturedConstant
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Checked,
    Const,
    Dim,
    Expr,
    Kernel,
    Load,
    ResultArray,
    ScalarParam,
    Stmt,
    Store,
    Var,
)
from loopwright.ir.queries import arrays_stored
from loopwright.ir.signature import Argument, ArrayArgument, ConstantArgument, ScalarArgument, Signature
from loopwright.ir.types import BOOL
from loopwright.ir.walk import expressions, rewrite_body, statements

if TYPE_CHECKING:
    from loopwright.frontend import complex_split
else:
    complex_split = deferred("loopwright.frontend.complex_split")


_MOST_APART = 8


@dataclass(frozen=True)
class Lowered:
    """The kernel, and what it relies on outside the function."""

    kernel: Kernel
    constants: tuple[CapturedConstant, ...]


def lower(
    source: Source, signature: Signature, outside: Outside | None = None, narrowing_raises: bool = False
) -> Lowered:
    """The kernel of a function for a call of this signature. `outside`: what is asked about everything else, and
    answered before. `narrowing_raises`: a NumPy number that does not fit the signed integers that it is stored among
    is an error of the run. Raises KernelError at the user's line."""
    outside = outside or Outside(source)
    session, kernel, failure = _read(source, signature, outside, narrowing_raises, None)
    if failure is not None and session.meets_texts:  # once more: the run chooses texts
        session, kernel, still = _read(source, signature, outside, narrowing_raises, {})
        failure = still
    if failure is not None:
        raise failure
    assert kernel is not None
    if _has_complex(kernel):
        kernel = complex_split.of_reals(kernel)
    _refuse_unseen_writes(source, signature, kernel)
    return Lowered(replace(kernel, body=_each_its_own(kernel.body)), session.outside.constants)


def _read(
    source: Source, signature: Signature, outside: Outside, narrowing_raises: bool, texts: dict[str, int] | None
) -> tuple[Session, Kernel | None, KernelError | None]:
    """Read a function, and once more for each name that has to be taken apart; the first error where that is of no
    help."""
    session = Session(source, signature, outside, narrowing_raises, texts=texts)
    kernel = _rounds(session)
    failure, trees, meets_texts = session.failure, dict[ast.FunctionDef, ast.FunctionDef](), session.meets_texts
    shortens = True
    for _ in range(_MOST_APART):
        if session.failure is None:
            break
        if shortens and session.long_bodies:  # which may need to know their items
            shortens = False
        elif not _take_apart(session, trees):
            break
        session = Session(source, signature, outside, narrowing_raises, trees=trees, texts=texts, shortens=shortens)
        kernel = _rounds(session)
        meets_texts |= session.meets_texts
    session.meets_texts = meets_texts
    return session, kernel, failure if session.failure is not None else None


def _rounds(session: Session) -> Kernel | None:
    """Read a function until the types of its variables are known."""
    kernel = None
    while session.types.rounds == 0 or not session.types.are_settled():
        if session.types.grow_without_end():
            raise KernelError("the types of its variables are not found", session.source.definition.at_name(),
                              "each reading of the function shows wider ones",
                              "use other names for values of other types")  # fmt: skip
        session.types.begin()
        session.failure = None
        session.mixed.clear()
        try:
            kernel = _round(session)
        except Restart:
            session.restart()
        except KernelError as failure:  # of what a parameter is given
            if not any(failure is error for error, _, _ in session.mixed):
                raise
            session.failure = failure
            return None
    return kernel


def _take_apart(session: Session, trees: dict[ast.FunctionDef, ast.FunctionDef]) -> bool:
    """Whether a name that cannot stand for all that it is assigned has one meaning on each path, once these are taken
    apart: then they are, in `trees`."""
    for error, tree, name in session.mixed:
        if error is session.failure:
            original = next((one for one, other in trees.items() if other is tree), tree)
            apart = taken_apart(tree, name) if isinstance(name, str) else with_a_name(tree, name)
            trees |= {} if apart is None else {original: apart}
            return apart is not None
    return False


def _has_complex(kernel: Kernel) -> bool:
    """Whether some variable or array is complex."""
    if any(one.element.is_complex for one in kernel.arrays) or any(one.element.is_complex for one in kernel.results):
        return True
    if any(stmt.element.is_complex for stmt in statements(kernel.body, Allocate)):
        return True
    return any(stmt.value.type.is_complex for stmt in statements(kernel.body, Assign))


def _refuse_unseen_writes(source: Source, signature: Signature, kernel: Kernel) -> None:
    """Raise KernelError for an argument that is written, and that the signature takes for one that is only read."""
    names = {parameter.name for parameter in source.parameters} - source.written
    for parameter, argument in zip(source.parameters, signature.arguments, strict=True):
        if parameter.name in source.written and isinstance(argument, ArrayArgument) and argument.same_as is not None:
            names.discard(source.parameters[argument.same_as].name)
    for stmt in statements(kernel.body, Store):
        if stmt.array in names:
            raise KernelError(f"'{stmt.array}' is written under another name", stmt.at,
                              "the code would not show that this name stands for a part of it",
                              f"write to '{stmt.array}' itself, or to the name with [:]: x[:] += v")  # fmt: skip


def _each_its_own(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The same statements, where every read is an object of its own: analyses tell occurrences apart by identity."""
    seen: set[int] = set()

    def own(part: Expr) -> Expr:
        if not isinstance(part, Var | Load | Checked):
            return part
        if id(part) in seen:
            return replace(part)
        seen.add(id(part))
        return part

    return rewrite_body(body, expr=own)


def _round(session: Session) -> Kernel | None:
    """Read the whole function once. None where it could not be read to the end."""
    cx = Context(session, evaluate, execute, assign_to, store_table, kept_table, own_text)
    values = _arguments(cx)  # first: the names of parameters come before all others
    frame = _frame(cx, values)
    cx.execute(frame.tree.body)
    try:
        # Types are settled by now as far as this round goes, so that what is returned has its type.
        check_end(cx, frame.webs.falls_through)
        results, body = result_arrays(cx, (*cx.prologue, *cx.body))
        seen = {param.name for param in cx.parameters.values()} | {result.name for result in results}
        check_snapshots(cx, body, frozenset(seen))
    except KernelError as failure:
        session.failure = session.failure or failure
        return None
    returned, is_tuple = returned_values(cx)
    # Last, as any read in the body may have asked for a flag.
    body = (*_unset(cx), *_flagged(cx, body))
    params = _parameters(cx, body, results)
    kernel = Kernel(
        session.source.name, params, body, results, returned, is_tuple, cx.packing, session.signature.overlap,
        file=session.source.file, line=session.source.line,
    )  # fmt: skip
    count = len(session.signature.arguments)
    return kernel if kernel.results_from == count else replace(kernel, arguments=count)


def _parameters(
    cx: Context, body: tuple[Stmt, ...], results: tuple[ResultArray, ...]
) -> tuple[ScalarParam | ArrayParam, ...]:
    """The parameters in the order of the call; of the fields of records only those that are used."""
    sizes = tuple(Assign("", size) for result in results for size in result.shape)
    used = {expr.array for expr in expressions((*body, *sizes), Load, Dim)}
    used |= arrays_stored(body)
    names = {parameter.name for parameter in cx.session.source.parameters}
    kept = [param for param in cx.parameters.values() if param.name in used or param.name in names]
    return tuple(sorted(kept, key=lambda param: (param.argument, getattr(param, "offset", 0))))


def _arguments(cx: Context) -> dict[str, Value]:
    """The value of each parameter, by name."""
    source, arguments = cx.session.source, cx.session.signature.arguments
    if len(arguments) != len(source.parameters):
        raise KernelError(f"'{source.name}' takes {len(source.parameters)} arguments, and {len(arguments)} are given",
                          source.definition.at_name())  # fmt: skip
    cx.names |= {parameter.name for parameter in source.parameters}
    values: list[Value] = []
    for position, (parameter, argument) in enumerate(zip(source.parameters, arguments, strict=True)):
        values.append(_argument(cx, parameter.name, position, argument, values))
    cx.arguments = {one.name: value for one, value in zip(source.parameters, values, strict=True)}
    names = [parameter.arg for parameter in parameters_of(source.definition.tree)]
    return _whole_values(names, source.structures, iter(values), source)


def _whole_values(
    names: Sequence[str], structures: Mapping[str, Structure], values: Iterator[Value], source: Source
) -> dict[str, Value]:
    """The values of the parameters as the function is written, from those of the expanded one."""
    return {name: _together(structures.get(name), values, source) for name in names}


def _together(structure: Structure, values: Iterator[Value], source: Source) -> Value:
    match structure:
        case None:
            return next(values)
        case Given(value=value):
            return Fixed(value)
        case Packed():
            return given_list(source, structure, [next(values) for _ in range(structure.arrays)])
        case Held(parts=parts, kind=kind) if kind is range:
            start, stop, step = (_together(part, values, source) for part in parts)
            return RangeValue((start, stop, step))
        case Held(parts=parts, kind=kind, names=names) if kind is KeysAndValues:
            both = [one for one in parts if isinstance(one, Packed)]
            lists = (given_list(source, one, [next(values) for _ in range(one.arrays)], True) for one in both)
            return Items(tuple(lists), names, kind=kind)
        case Held(parts=parts, kind=kind) if kind is list:
            return Items(tuple(_together(part, values, source) for part in parts), is_list=True)
        case Held(parts=parts, kind=kind, names=names) if kind is dict:
            return Keyed(names, tuple(_together(part, values, source) for part in parts))
        case Held(kind=kind) if issubclass(kind, complex | np.complexfloating):
            real, imaginary = next(values), next(values)
            assert isinstance(real, Number) and isinstance(imaginary, Number)
            return Number(pair(real.expr, imaginary.expr), real.weak)
        case Held(kind=kind, names=names) if fields_in_planes(kind) is not None:
            return records_of([next(values) for _ in names], names, kind)
        case Held(parts=parts, kind=kind, names=names):
            kind_of_items = None if kind is tuple else kind
            return Items(tuple(_together(part, values, source) for part in parts), names, kind=kind_of_items)


def _argument(cx: Context, name: str, position: int, argument: Argument, earlier: list[Value]) -> Value:
    match argument:
        case ScalarArgument(type=kind, weak=weak):
            cx.parameters[name] = ScalarParam(name, kind, position)
            cx.stable.add(name)
            return Number(Var(name, kind), weak)
        case ConstantArgument(value=value):
            return from_object(value)
        case ArrayArgument(same_as=int() as same):
            return earlier[same]
        case ArrayArgument(element=None, fields=fields, rank=rank):
            sizes = record_sizes(cx, name, position, fields, rank)
            return Records(name, position, fields, _known(sizes, argument))
        case ArrayArgument(element=element):
            assert element is not None
            cx.parameters[name] = ArrayParam(name, element, position, argument.rank, argument.layout, argument.aligned)
            sizes = tuple(Number(Dim(name, k), weak=True) for k in range(argument.rank))
            return Array(name, element, _known(sizes, argument))


def _known(sizes: tuple[Number, ...], argument: ArrayArgument) -> tuple[Literal | Number, ...]:
    """Sizes of an array's axes: those of one element are known."""
    return tuple(Literal(1) if axis in argument.ones else size for axis, size in enumerate(sizes))


def _frame(cx: Context, values: dict[str, Value]) -> Frame:
    source = cx.session.source
    tree = source.definition.tree
    if cx.session.trees.get(tree, tree) in cx.session.recursive:
        tree = calling(tree)
    tree = cx.session.trees.get(tree, tree)
    key = ("kernel",)
    if key not in cx.session.webs:
        seen = {name: without_tables(value) for name, value in values.items()}
        cx.session.webs[key] = webs_for(cx.session, source, tree, seen, ())
    webs = cx.session.webs[key]
    frame = Frame(0, source, tree, (), "", webs)
    cx.frames.append(frame)
    cx.active.append(frame)
    for parameter in parameters_of(tree):
        web, value = webs.stores[id(parameter)], with_tables(cx, values[parameter.arg], parameter)
        if web.is_single:
            frame.bindings[web.number] = value
        elif (
            isinstance(value, Array)
            and value.shape
            and own_copy(cx, web_key(frame, web), parameter.arg, value, tree, web.number in renamed_only(frame))
        ):
            pass
        elif isinstance(value, Array | Records):  # told of where it is assigned again
            cx.fixed[web_key(frame, web)] = value
        else:
            with cx.gives_a_meaning(tree, parameter.arg):
                store_variable(cx, web_key(frame, web), parameter.arg, value, parameter, parameter)
    return frame


def _unset(cx: Context) -> list[Stmt]:
    """The flags of locals that may be read before they are assigned: not yet."""
    return [Assign(flag, Const(False, BOOL)) for flag in cx.flagged.values()]


def _flagged(cx: Context, body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """Set the flag of such a local after each of its assignments."""

    def with_flag(stmt: Stmt) -> tuple[Stmt, ...]:
        if isinstance(stmt, Assign) and stmt.name in cx.flagged:
            return stmt, Assign(cx.flagged[stmt.name], Const(True, BOOL), at=stmt.at)
        return (stmt,)

    return rewrite_body(body, with_flag) if cx.flagged else body
