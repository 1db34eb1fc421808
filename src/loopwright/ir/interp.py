"""THE meaning of the IR: slow, obviously right, and it checks every bound. Everything else is judged by it.

A kernel becomes, once, a tree of Python closures, one for each node, and NumPy's scalars do the arithmetic
(`ir/arithmetic.py`). It trusts `ir/verify.py`: of a kernel that is not well formed it says nothing. It is also
what runs a kernel where there is no C compiler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

from loopwright.errors import ArgumentTypeError, BoundsError, check_failed, class_named
from loopwright.ir import arithmetic
from loopwright.ir.arithmetic import FALSE, TRUE, Value
from loopwright.ir.nodes import (
    Allocate,
    ArrayParam,
    Assign,
    Binary,
    Block,
    Body,
    Break,
    Call,
    Cast,
    Checked,
    Compare,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Leave,
    Load,
    Location,
    Logical,
    ResultArray,
    Return,
    ReturnedArray,
    ReturnedScalar,
    ScalarParam,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from loopwright.ir.reserved_arrays import empty_array
from loopwright.ir.signature import as_complex, as_pairs, part_of
from loopwright.ir.walk import statements

State = dict[str, Any]  # the value of every scalar and loop variable, and the NumPy array of every array, by name
Evaluate = Callable[[State], Value]


@dataclass(frozen=True, slots=True)
class Returned:
    """A Return was reached, with these values."""

    values: tuple[Value, ...]


# What a statement ends with: None to go on with the next one, else the jump that the statements around it heed.
Signal = Break | Continue | Leave | Returned | None
Execute = Callable[[State], Signal]


def interpret(kernel: Kernel, arguments: Sequence[object]) -> object:
    """Run `kernel` on the arguments of a call, one for each position; arrays are changed in place.

    Returns what the function returns. Raises BoundsError, the exceptions of `errors.check_failed`, and
    ArgumentTypeError where an argument is not of the kind, rank or dtype that the kernel was made for."""
    return prepare(kernel)(arguments)


Watched = Callable[[str, Any], Any]


def prepare(kernel: Kernel, watched: Watched = lambda name, array: array) -> Callable[[Sequence[object]], object]:
    """`interpret` for many calls of one kernel: the closures are made once. watched: what stands for an array argument
    of this name: it has a shape, and elements that are read and written by tuples of indices."""
    run = prepare_with(kernel, {}, watched)
    return lambda arguments: run(arguments, None)


Performer = Callable[[State, Any], Signal]
"""Runs a statement in place of the interpreter, given the state and who performs in this call."""

PERFORMS = ""
"""Where the state has who performs in this call; no name is empty."""


def prepare_with(
    kernel: Kernel, others: Mapping[int, Performer], watched: Watched = lambda name, array: array
) -> Callable[[Sequence[object], Any], object]:
    """The same where some statements, by their identity, are run by others. It takes the arguments, and who performs in
    this call."""
    results = [(result, [evaluation(size) for size in result.shape]) for result in kernel.results]
    execute = _execution_of_all(kernel.body, others)
    originals = {made.array: made.original for made in statements(kernel.body, Allocate) if made.original is not None}

    def run(arguments: Sequence[object], performs: Any) -> object:
        with np.errstate(all="ignore"):
            state = {param.name: _argument(param, arguments[param.argument]) for param in kernel.params}
            state[PERFORMS] = performs
            state |= {param.name: watched(param.name, state[param.name]) for param in kernel.arrays}
            for result, shape in results:
                state[result.name] = _new_array(result, [size(state) for size in shape])
            try:
                signal = execute(state)
            except BoundsError as error:
                if (original := originals.get(error.array)) is None:
                    raise
                raise replace(error, array=original.array, axis=original.axes[error.axis]) from None
        values = signal.values if isinstance(signal, Returned) else ()
        return _returned(kernel, iter(values), state, arguments)

    return run


# ---- the way in and the way out -------------------------------------------------------------------------------


def _argument(param: ScalarParam | ArrayParam, value: object) -> Any:
    match param:
        case ScalarParam():
            return param.type.dtype.type(value)
        case ArrayParam():
            if not isinstance(value, np.ndarray):
                raise ArgumentTypeError(f"argument '{param.name}' is {type(value).__name__}, not a NumPy array")
            return window(param, value)
    assert_never(param)


class _Window:
    """Some bytes of an array, seen with another shape and element type, as NumPy's array interface tells it."""

    def __init__(self, param: ArrayParam, array: np.ndarray[Any, Any]) -> None:
        self.array = array  # keeps the memory alive
        interface = array.__array_interface__
        address, read_only = interface["data"]
        self.__array_interface__ = {
            "version": 3,
            "typestr": param.element.dtype.str,
            "data": (address + param.offset, read_only),
            "shape": array.shape + tuple(size for size, _ in param.tail),
            "strides": array.strides + tuple(stride for _, stride in param.tail),
        }


def window(param: ArrayParam, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements of `array` that `param` names, sharing its memory: `rank` axes of the plain element type."""
    if array.ndim + len(param.tail) != param.rank:
        wanted = param.rank - len(param.tail)
        raise ArgumentTypeError(f"argument '{param.name}' has {array.ndim} axes, not {wanted}")
    if array.dtype.names is None and not param.tail and array.dtype != param.element.dtype:
        raise ArgumentTypeError(f"argument '{param.name}' has dtype {array.dtype}, not {param.element}")
    return np.asarray(_Window(param, array))


def _returned(kernel: Kernel, values: Iterator[Value], state: State, arguments: Sequence[object]) -> object:
    if kernel.returned is None:
        return None
    parts = [_returned_part(kernel, part, values, state, arguments) for part in kernel.returned]
    if kernel.packing:
        return packed(kernel.packing, parts)
    return tuple(parts) if kernel.returns_tuple else parts[0]


def packed(packing: Sequence[tuple[str, int]], parts: Sequence[object]) -> object:
    """What a call returns, made of the flat `returned` as `Kernel.packing` says."""
    stack: list[object] = []
    for kind, number in packing:
        match kind:
            case "value":
                stack.append(parts[number])
            case "none":
                stack.append(None)
            case "list":
                things: Any = stack.pop()
                is_plain = isinstance(things, np.ndarray) and not number
                stack.append(things.tolist() if is_plain else list(things))
            case "set":
                things = stack.pop()
                stack.append(set(things))
            case "dict":
                values, keys = stack.pop(), stack.pop()
                stack.append(dict(zip(keys, values, strict=True)))  # type: ignore[call-overload]
            case "zip":
                lists: list[Any] = stack[len(stack) - number :]
                del stack[len(stack) - number :]
                stack.append(list(zip(*lists, strict=True)))
            case _ if ":" in kind:
                made: Any = class_named(kind)
                things = stack.pop()
                stack.append(made(*things))
            case "complex":
                imag = stack.pop() if number == 2 else None
                stack.append(as_complex(stack.pop(), imag) if number else as_pairs(stack.pop()))
            case "maybe":
                is_there = stack.pop()
                value = stack.pop()
                stack.append(value if is_there else None)
            case _:
                items = stack[len(stack) - number :]
                del stack[len(stack) - number :]
                made = {"cut": cut, "view": part_of}.get(kind)
                stack.append(tuple(items) if made is None else made(stack.pop(), items))
    return stack[0]


def cut(array: object, sizes: Sequence[object]) -> object:
    """An array of its own with the first elements along the first axes."""
    assert isinstance(array, np.ndarray)
    return array[tuple(slice(0, size) for size in sizes)].copy()


def _returned_part(
    kernel: Kernel,
    part: ReturnedScalar | ReturnedArray,
    values: Iterator[Value],
    state: State,
    arguments: Sequence[object],
) -> object:
    match part:
        case ReturnedScalar():
            value = next(values)
            return value.item() if part.python else value
        case ReturnedArray():
            for param in kernel.arrays:
                argument = arguments[param.argument]
                if param.name == part.name and isinstance(argument, np.ndarray) and argument.dtype.names is None:
                    return argument  # the very object; a field of records is a new array over the same memory
            return state[part.name]
    assert_never(part)


# ---- statements -----------------------------------------------------------------------------------------------


def execution(body: Body) -> Execute:
    """What runs some statements, given the state."""
    return _execution_of_all(body, {})


def _execution_of_all(body: Body, others: Mapping[int, Performer]) -> Execute:
    steps = [_performance(others[id(stmt)]) if id(stmt) in others else _execution(stmt, others) for stmt in body]

    def run(state: State) -> Signal:
        for step in steps:
            signal = step(state)
            if signal is not None:
                return signal
        return None

    return steps[0] if len(steps) == 1 else run


def _performance(performer: Performer) -> Execute:
    return lambda state: performer(state, state[PERFORMS])


def _execution(stmt: Stmt, others: Mapping[int, Performer]) -> Execute:
    match stmt:
        case Assign():
            return _assign(stmt)
        case Store():
            return _store(stmt)
        case Allocate():
            return _allocate(stmt)
        case For():
            return _for(stmt, others)
        case While():
            return _while(stmt, others)
        case If():
            return _if(stmt, others)
        case Block():
            return _block(stmt, others)
        case Break() | Continue() | Leave():
            return lambda state: stmt
        case Return():
            values = [evaluation(value) for value in stmt.values]
            return lambda state: Returned(tuple([value(state) for value in values]))
    assert_never(stmt)


def _assign(stmt: Assign) -> Execute:
    name, value = stmt.name, evaluation(stmt.value)

    def run(state: State) -> Signal:
        state[name] = value(state)
        return None

    return run


def _store(stmt: Store) -> Execute:
    name, place_of, value = stmt.array, _place(stmt.index), evaluation(stmt.value)

    def run(state: State) -> Signal:
        place = place_of(state)
        new = value(state)
        try:
            state[name][place] = new
        except IndexError:
            raise out_of_bounds(name, state[name].shape, place, stmt.at) from None
        return None

    return run


def out_of_bounds(name: str, shape: tuple[int, ...], place: tuple[Value, ...], at: Location | None) -> BoundsError:
    """The error for the first axis where not -size <= index < size."""
    for axis, (index, size) in enumerate(zip(map(int, place), shape, strict=True)):
        if not -size <= index < size:
            return BoundsError(name, axis, index, size, at)
    raise AssertionError(f"{name}{list(place)} is inside {shape}")


def _allocate(stmt: Allocate) -> Execute:
    name, shape = stmt.array, [evaluation(size) for size in stmt.shape]

    def run(state: State) -> Signal:
        state[name] = _new_array(stmt, [size(state) for size in shape])
        return None

    return run


def _new_array(made: Allocate | ResultArray, shape: list[Value]) -> np.ndarray[Any, Any]:
    if any(size < 0 for size in shape):
        raise check_failed("negative_size", made.at)
    dtype = made.element.dtype
    try:
        array = empty_array(tuple(int(size) for size in shape), dtype)
    except (MemoryError, ValueError):  # ValueError: more elements than a pointer can count
        raise check_failed("memory", made.at) from None
    if made.fill is not None:
        array[...] = arithmetic.constant(made.fill)
    return array


def _for(stmt: For, others: Mapping[int, Performer]) -> Execute:
    name, body = stmt.name, _execution_of_all(stmt.body, others)
    lower, upper, step = evaluation(stmt.lower), evaluation(stmt.upper), evaluation(stmt.step)

    def run(state: State) -> Signal:
        start, stop, stride = int(lower(state)), int(upper(state)), int(step(state))
        if stride == 0:
            raise check_failed("zero_step", stmt.at)
        for i in range(start, stop, stride):
            state[name] = np.int64(i)
            signal = body(state)
            if signal is None or (isinstance(signal, Continue) and signal.loop == name):
                continue
            return None if isinstance(signal, Break) and signal.loop == name else signal
        return None

    return run


def _while(stmt: While, others: Mapping[int, Performer]) -> Execute:
    name, condition, body = stmt.name, evaluation(stmt.condition), _execution_of_all(stmt.body, others)

    def run(state: State) -> Signal:
        while condition(state):
            signal = body(state)
            if signal is None or (isinstance(signal, Continue) and signal.loop == name):
                continue
            return None if isinstance(signal, Break) and signal.loop == name else signal
        return None

    return run


def _if(stmt: If, others: Mapping[int, Performer]) -> Execute:
    condition = evaluation(stmt.condition)
    then, otherwise = _execution_of_all(stmt.then, others), _execution_of_all(stmt.otherwise, others)
    return lambda state: then(state) if condition(state) else otherwise(state)


def _block(stmt: Block, others: Mapping[int, Performer]) -> Execute:
    name, body = stmt.name, _execution_of_all(stmt.body, others)

    def run(state: State) -> Signal:
        signal = body(state)
        return None if isinstance(signal, Leave) and signal.block == name else signal

    return run


# ---- expressions ----------------------------------------------------------------------------------------------


def evaluation(expr: Expr) -> Evaluate:
    """The closure that gives the expression's value, a NumPy scalar of exactly the expression's type."""
    match expr:
        case Const():
            value = arithmetic.constant(expr)
            return lambda state: value
        case Var():
            name = expr.name
            return lambda state: state[name]
        case Dim():
            array, axis = expr.array, expr.axis
            return lambda state: np.int64(state[array].shape[axis])
        case Load():
            return _load(expr)
        case Unary():
            return _apply(arithmetic.unary(expr.op), expr.operand)
        case Cast():
            return _apply(arithmetic.cast(expr.operand.type, expr.type), expr.operand)
        case Binary():
            return _apply_two(arithmetic.binary(expr.op), expr.left, expr.right)
        case Compare():
            return _apply_two(arithmetic.compare(expr.op), expr.left, expr.right)
        case Logical():
            return _logical(expr)
        case Select():
            condition, then, otherwise = map(evaluation, (expr.condition, expr.then, expr.otherwise))
            return lambda state: then(state) if condition(state) else otherwise(state)
        case Call():
            function = arithmetic.function(expr.function, expr.type)
            arguments = [evaluation(argument) for argument in expr.arguments]
            return lambda state: function(*[argument(state) for argument in arguments])
        case Checked():
            return _checked(expr)
    assert_never(expr)


def _apply(operation: Callable[[Value], Value], operand: Expr) -> Evaluate:
    value = evaluation(operand)
    return lambda state: operation(value(state))


def _apply_two(operation: Callable[[Value, Value], Value], left: Expr, right: Expr) -> Evaluate:
    first, second = evaluation(left), evaluation(right)
    return lambda state: operation(first(state), second(state))


def _load(expr: Load) -> Evaluate:
    name, place_of = expr.array, _place(expr.index)

    def run(state: State) -> Value:
        place = place_of(state)
        try:
            return state[name][place]  # NumPy's own index rule is the meaning: -size <= i < size
        except IndexError:
            raise out_of_bounds(name, state[name].shape, place, expr.at) from None

    return run


def _place(index: tuple[Expr, ...]) -> Callable[[State], tuple[Value, ...]]:
    """The indices of an access, from left to right."""
    axes = [evaluation(axis) for axis in index]
    match axes:
        case [only]:
            return lambda state: (only(state),)
        case [first, second]:
            return lambda state: (first(state), second(state))
        case _:
            return lambda state: tuple([axis(state) for axis in axes])


def _logical(expr: Logical) -> Evaluate:
    left, right = evaluation(expr.left), evaluation(expr.right)
    match expr.op:
        case "and":
            return lambda state: right(state) if left(state) else FALSE
        case "or":
            return lambda state: TRUE if left(state) else right(state)
    assert_never(expr.op)


def _checked(expr: Checked) -> Evaluate:
    condition, value = evaluation(expr.condition), evaluation(expr.value)
    found = expr.told
    told = None if found is None else evaluation(found)
    second = None if expr.second is None else evaluation(expr.second)

    def run(state: State) -> Value:
        if condition(state):
            return value(state)
        number = None if told is None else told(state).item()
        other = None if second is None else second(state).item()
        raise check_failed(expr.kind, expr.at, number, expr.raised or expr.type.name, other)

    return run
