"""Calls: which function a call means, and who reads it."""

from __future__ import annotations

import ast
import inspect
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import library
from loopwright.frontend.allocate import ALLOCATIONS
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.array_functions import ARRAY_FUNCTIONS, method_of_array
from loopwright.frontend.array_likes import ARRAYS, with_arrays_of_lists
from loopwright.frontend.arrays import array_attribute
from loopwright.frontend.asked import answer
from loopwright.frontend.builtin_functions import BUILTINS, Handler
from loopwright.frontend.characters import METHODS, is_of_characters, method_of_character, method_of_text, text_of
from loopwright.frontend.closures import given_lambda
from loopwright.frontend.context import Context, Restart
from loopwright.frontend.convert import as_number, convert
from loopwright.frontend.creation import as_array
from loopwright.frontend.draws import draws
from loopwright.frontend.elementwise import any_array, kept_array, map_elements
from loopwright.frontend.exception_handlers import catches
from loopwright.frontend.generator_state import STATE
from loopwright.frontend.inline import Each, gives_values, inline_closure, inline_function
from loopwright.frontend.iteration import function_of, is_prange, range_value
from loopwright.frontend.iterators import next_of
from loopwright.frontend.keyed import method_of_keyed
from loopwright.frontend.list_methods import listed, made_list, mapped, method_of_list, sort
from loopwright.frontend.lists import new_list
from loopwright.frontend.made_texts import joined
from loopwright.frontend.markers import ASKED, ELEMENTWISE, MAKES, NAMES_THREADS, NO_EFFECT, STENCIL
from loopwright.frontend.masked_reductions import reduction_of_chosen
from loopwright.frontend.math_functions import MATH
from loopwright.frontend.named_tuples import is_named_tuple, is_tuple_class, named_tuple, refuse_object, replaced
from loopwright.frontend.number_texts import text_of as text_of_number
from loopwright.frontend.numpy_functions import NUMPY, as_ufunc_takes, number_method, type_call
from loopwright.frontend.object_class import FieldsOf, ObjectClass, class_of
from loopwright.frontend.operands import kept, operands
from loopwright.frontend.printing import print_call
from loopwright.frontend.products import outer_of
from loopwright.frontend.record_arrays import copied
from loopwright.frontend.reductions import REDUCTIONS, from_the_front
from loopwright.frontend.refusals import FUNCTIONS, refuse_expression
from loopwright.frontend.refusals import NUMPY as NUMPY_INSTEAD
from loopwright.frontend.sequences import SEQUENCES
from loopwright.frontend.table_methods import called_table, method_of_table, update
from loopwright.frontend.tables import as_list, new_table
from loopwright.frontend.text_methods import method_of_made
from loopwright.frontend.tuple_items import tuple_of
from loopwright.frontend.ufuncs import WITH_OUT, put_into_out, ufunc_of
from loopwright.frontend.values import (
    ArrayLike,
    Character,
    Closure,
    Elementwise,
    Fixed,
    Items,
    Keyed,
    ListValue,
    Literal,
    Number,
    Records,
    SliceIndex,
    TableValue,
    Value,
    Zipped,
    describe,
    is_none,
)

if TYPE_CHECKING:
    from loopwright.frontend import complex_functions, generators, made_objects, more, stencils
else:
    complex_functions = deferred("loopwright.frontend.complex_functions")
    generators = deferred("loopwright.frontend.generators")
    made_objects = deferred("loopwright.frontend.made_objects")
    more = deferred("loopwright.frontend.more")
    stencils = deferred("loopwright.frontend.stencils")

_HANDLERS: dict[object, Handler] = {
    str: text_of_number, **BUILTINS, **MATH, **NUMPY, **ALLOCATIONS, **REDUCTIONS, **ARRAY_FUNCTIONS, **SEQUENCES,
}  # fmt: skip
_NUMBER_METHODS = ("astype", "view", "item", "conjugate", "conj")
_OF_COMPLEX = frozenset({"complex", "real", "imag", "angle", "vdot", "iscomplexobj", "isrealobj", "pair"})


_METHODS_AS_OF_ONE = ("ravel", "flatten", "sum", "prod", "mean", "min", "max", "any", "all", "std", "var")
"""Methods that NumPy's numbers have, and that give the same for an array of one element."""


def _of_one(number: Number) -> Elementwise:
    return Elementwise((Literal(1),), number.type, lambda cx, index: number, frozenset())


def call(cx: Context, node: ast.Call) -> Value:
    """The Value of a call."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "this")
    if (found := reduction_of_chosen(cx, node)) is not None:
        return found
    if isinstance(node.func, ast.Attribute):
        owner = cx.evaluate(node.func.value)
        if isinstance(owner, ArrayLike):
            start = len(cx.body)
            arguments = _arguments(cx, node, name)
            owner = kept(cx, owner, start, node)
            assert isinstance(owner, ArrayLike)
            if "out" in arguments.named and name in WITH_OUT:
                return put_into_out(cx, arguments, partial(method_of_array, cx, owner))
            return listed(cx, owner, arguments) if name == "tolist" else method_of_array(cx, owner, arguments)
        if isinstance(owner, Fixed) and isinstance(owner.value, np.ufunc):
            method = outer_of if name == "outer" else more.method_of_ufunc
            return method(cx, owner.value, _arguments(cx, node, name))
        if (text := text_of(owner)) is not None and name in METHODS:
            given = _arguments(cx, node, name)
            return joined(cx, text, given.values[0], node) if name == "join" else method_of_text(cx, text, given)
        if isinstance(owner, Character) and is_of_characters(name):
            return method_of_character(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, ListValue) and owner.is_text:
            return method_of_made(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, ListValue):
            return method_of_list(cx, owner, _arguments(cx, node, name), _apply)
        if isinstance(owner, Keyed):
            return method_of_keyed(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, TableValue) and name == "update" and _goes_over_others(cx, node):
            update(cx, owner, node.args[0], None, node)
            return Fixed(None)
        if isinstance(owner, TableValue):
            return method_of_table(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, Items) and owner.names == STATE:
            return generators.draw(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, Items) and (known := class_of(owner.kind)) is not None:
            return _method_of_object(cx, owner, known, _arguments(cx, node, name))
        if isinstance(owner, Items) and name == "_replace" and is_tuple_class(owner.kind):
            return replaced(cx, owner, _arguments(cx, node, name))
        if isinstance(owner, Records) and name == "copy" and owner.shape and not node.args and not node.keywords:
            return copied(cx, owner, node)
        if isinstance(owner, Records) and name in _NUMBER_METHODS:
            return array_attribute(cx, owner, name, node.func)
        if isinstance(owner, Literal | Number) and name in _NUMBER_METHODS:
            return number_method(cx, name, owner, _arguments(cx, node, name))
        if isinstance(owner, Number) and not owner.weak and name in _METHODS_AS_OF_ONE:
            return method_of_array(cx, _of_one(owner), _arguments(cx, node, name))
    callee = cx.evaluate(node.func)
    if isinstance(callee, Fixed) and (read := _read_here(cx, callee.value, node, name)) is not None:
        return read
    return _apply(cx, callee, _arguments(cx, node, name))


def _goes_over_others(cx: Context, node: ast.Call) -> bool:
    """Whether the only argument of a call is `reversed(x)`, `zip(x, y)` and the like, which are no values."""
    if len(node.args) != 1 or node.keywords or not isinstance(node.args[0], ast.Call):
        return False
    callee = function_of(cx, node.args[0])
    return isinstance(callee, Fixed) and any(callee.value is one for one in (reversed, zip, enumerate, map))


def _method_of_object(cx: Context, owner: Items, known: ObjectClass, call: Arguments) -> Value:
    if call.name in known.methods:
        if any(frame.source.function is known.methods[call.name] for frame in cx.active):
            raise cx.error(call.node, f"'{call.name}' calls itself", "a method that does is outside the language",
                           "write a loop, or a function with `def` outside the class")  # fmt: skip
        return inline_function(cx, known.methods[call.name], replace(call, values=(owner, *call.values)))
    if call.name in known.static:
        return inline_function(cx, known.static[call.name], call)
    raise cx.error(call.node, f"'.{call.name}' of {describe(owner)} is outside the language")


def _read_here(cx: Context, function: Any, node: ast.Call, name: str) -> Value | None:
    """Calls of functions that look at the text of their arguments, or at nothing; None for all others."""
    if function is zip and _is_returned(cx, node):
        return Zipped(tuple(kept_array(cx, one, node) for one in operands(cx, node.args)))
    if function is map and id(node) in cx.comprehensions:
        return mapped(cx, node)
    _refuse_by_name(cx, function, node)
    if function is next:
        return next_of(cx, node)
    if function is print:
        return print_call(cx, node)
    if hasattr(function, NO_EFFECT):
        _arguments(cx, node, name)
        return Fixed(None)
    if hasattr(function, ASKED):
        return answer(cx, function, node)
    if hasattr(function, NAMES_THREADS) and not cx.session.names_threads:
        cx.session.names_threads = True
        raise Restart
    maker = getattr(function, MAKES, None)
    if maker is not None and not isinstance(function, type):
        return new_list(cx, [], node) if maker is list else new_table(cx, True, node)
    if function is tuple and len(node.args) <= 1 and not node.keywords:
        return tuple_of(cx, node.args[0]) if node.args else Items(())
    if function is set or function is dict or maker is dict:
        return called_table(cx, function is not set, node)
    if (function is list or maker is list) and not node.args:
        return new_list(cx, [], node)
    if function is list or function is sorted or maker is list:
        return _list_or_sorted(cx, function is sorted, node)
    return None


def generator_call(cx: Context, node: ast.expr) -> object:
    """The generator, of a module or a nested function, that a loop calls; None for anything else that it goes over."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    callee = function_of(cx, node)
    if isinstance(callee, Closure):
        return callee if gives_values(callee.tree) else None
    called = callee.value if isinstance(callee, Fixed) else None
    plain = getattr(called, "py_func", getattr(called, "__wrapped__", called))
    return plain if isinstance(plain, FunctionType) and inspect.isgeneratorfunction(plain) else None


def over_generator(cx: Context, generator: object, node: ast.Call, each: Each) -> None:
    """Read a generator, and do this with each value that it yields."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "this")
    arguments = _arguments(cx, node, name)
    if isinstance(generator, Closure):
        inline_closure(cx, generator, arguments, each)
    else:
        inline_function(cx, generator, arguments, each)


def _is_returned(cx: Context, node: ast.Call) -> bool:
    """Whether a helper returns what this call gives."""
    return cx.frame.is_inlined and any(one.value is node for one in cx.frame.webs.returns)


def _apply(cx: Context, callee: Value, call: Arguments) -> Value:
    if isinstance(callee, Fixed) and any(callee.value is one for one in (sum, min, max, any, all)):
        values = (as_list(cx, one, call.node) if isinstance(one, TableValue) else one for one in call.values)
        call = replace(call, values=tuple(values))
    match callee:
        case Closure():
            return inline_closure(cx, callee, call)
        case Fixed(value=function):
            return _call_fixed(cx, function, call)
        case _:
            raise cx.error(call.node, f"{describe(callee)} cannot be called")


def _list_or_sorted(cx: Context, is_sorted: bool, node: ast.Call) -> Value:
    made = made_list(cx, node)
    if is_sorted:
        given = _evaluated(cx, [keyword.value for keyword in node.keywords])
        named = {str(keyword.arg): value for keyword, value in zip(node.keywords, given, strict=True)}
        sort(cx, made, Arguments(node, "sorted", (), named), _apply)
    return made


def _arguments(cx: Context, node: ast.Call, name: str) -> Arguments:
    for keyword in node.keywords:
        if keyword.arg is None:
            raise cx.error(keyword, "'**' in a call is outside the language", remedy="write the arguments out")
    _refuse_other_comprehensions(cx, node)
    places = [part.value if isinstance(part, ast.Starred) else part for part in node.args]
    values = _evaluated(cx, [*places, *(keyword.value for keyword in node.keywords)])
    for number, part in reversed(list(enumerate(node.args))):
        if isinstance(part, ast.Starred):
            values[number : number + 1] = _written_items(cx, values[number], part)
    count = len(values) - len(node.keywords)
    named = {str(keyword.arg): value for keyword, value in zip(node.keywords, values[count:], strict=True)}
    return Arguments(node, name, tuple(values[:count]), named)


def _written_items(cx: Context, value: Value, node: ast.Starred) -> tuple[Value, ...]:
    """What `*value` gives a call."""
    if not isinstance(value, Items):
        raise cx.error(
            node,
            f"'*' before an argument needs a tuple, and this is {describe(value)}",
            "how many arguments a call has must be known at compile time",
            "write the arguments out",
        )
    refuse_object(cx, value, node)
    return value.items


def _evaluated(cx: Context, nodes: list[ast.expr]) -> list[Value]:
    others = iter(operands(cx, [node for node in nodes if not isinstance(node, ast.Lambda)]))
    return [given_lambda(cx, node) if isinstance(node, ast.Lambda) else next(others) for node in nodes]


_OF_COMPREHENSIONS = frozenset(
    {
        "array",
        "asarray",
        "concatenate",
        "hstack",
        "stack",
        "vstack",
        "sum",
        "any",
        "all",
        "min",
        "max",
        "len",
        "sorted",
        "prod",
        "mean",
        "std",
        "median",
        "sort",
    }
)


_OF_ITERATORS = frozenset({"sum", "min", "max", "any", "all", "tuple"})  # they take each item once


def _refuse_other_comprehensions(cx: Context, node: ast.Call) -> None:
    """A comprehension is an array where NumPy takes it, and where Python takes it once; elsewhere a list."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    for argument in node.args:
        if isinstance(argument, ast.ListComp | ast.GeneratorExp):
            if name in _OF_COMPREHENSIONS or (isinstance(argument, ast.ListComp) and _is_numpys(cx, node.func)):
                cx.comprehensions.add(id(argument))
            elif isinstance(argument, ast.GeneratorExp):
                raise refuse_expression(cx, argument)
        elif isinstance(argument, ast.Call) and name in _OF_ITERATORS:
            cx.comprehensions.add(id(argument))


def _is_numpys(cx: Context, node: ast.expr) -> bool:
    """Whether a callee is a function of NumPy's: what such a function is given may be an array or a list."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name | ast.Attribute):
        return False
    callee = cx.evaluate(node) if isinstance(cx.evaluate(node.value), Fixed) else None
    return isinstance(callee, Fixed) and (_is_of(callee.value, "numpy") or isinstance(callee.value, np.ufunc))


def _in_order(function: object, call: Arguments) -> Arguments:
    """The call with what NumPy's function needs by position, where it is given by keyword: `np.clip(a=x, ...)`."""
    if not call.named or isinstance(function, type) or not _is_of(function, "numpy"):
        return call
    try:
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):  # written in C, and without a text of its parameters
        return call
    values, named = list(call.values), dict(call.named)
    for parameter in parameters[len(values) :]:
        if parameter.name not in named or parameter.default is not parameter.empty:
            break
        values.append(named.pop(parameter.name))
    return replace(call, values=tuple(values), named=named)


def _takes_objects(function: object) -> bool:
    """Whether a callee may be given an object of a dataclass: a function that is read, or a class."""
    if isinstance(function, FunctionType):
        return not _is_of(function, "numpy")
    return is_named_tuple(function) or _is_of(type(function), "numba", "loopwright")


def _call_fixed(cx: Context, function: object, call: Arguments) -> Value:
    if isinstance(function, FieldsOf):
        return made_objects.object_of(cx, function.kind, call)
    if isinstance(function, type) and class_of(function) is not None:
        return made_objects.made_object(cx, function, call)
    call = _in_order(function, call)
    if getattr(function, "__module__", "") == "cmath" and catches(cx, ValueError, OverflowError, ZeroDivisionError):
        raise cx.error(call.node, f"'cmath.{call.name}' in this 'try' is outside the language",
                       remedy="test its argument with 'if' before")  # fmt: skip
    if "out" in call.named and _is_of(function, "numpy") and getattr(function, "__name__", "") in WITH_OUT:
        return put_into_out(cx, call, partial(_call_fixed, cx, function))
    for value in () if _takes_objects(function) else (*call.values, *call.named.values()):
        refuse_object(cx, value, call.node)
    if any(isinstance(value, ListValue) for value in call.values):
        call = with_arrays_of_lists(cx, function, call)
    handler = _handler(function)
    if handler is not None:
        return handler(cx, call)
    drawn = draws(cx, function, call)
    if drawn is not None:
        return drawn
    if _is_of(function, "numpy") and function not in library.FUNCTIONS and (further := _further(function)):
        return further(cx, call)
    written = _written_out(function, call)
    if written is not None:
        return inline_function(cx, written, from_the_front(cx, written, _with_arrays(cx, written, call)))
    if isinstance(function, np.ufunc):
        return ufunc_of(cx, function, call)
    if is_named_tuple(function):
        return named_tuple(cx, function, call)
    kind = number_type(function)
    if kind is not None:
        if any_array(*call.values):
            return map_elements(
                cx, lambda cx, x: type_call(cx, kind, replace(call, values=(x,))), call.values, call.node
            )
        return type_call(cx, kind, call)
    if function is range or is_prange(function):
        return range_value(cx, call.node, call.values)
    if function is slice:
        return _slice(cx, call)
    if isinstance(function, FunctionType) and not _is_of(function, "numpy"):
        return inline_function(cx, function, call)
    if _is_of(type(function), "numba", "loopwright"):  # a jitted function or a kernel: its Python function
        if hasattr(type(function), STENCIL):
            return stencils.stencil_call(cx, function, call)
        if any_array(*call.values) and hasattr(type(function), ELEMENTWISE):  # made by vectorize
            one = lambda cx, *each: inline_function(cx, function, replace(call, values=each))  # noqa: E731
            return map_elements(cx, one, call.values, call.node)
        return inline_function(cx, function, call)
    raise cx.error(
        call.node,
        f"'{ast.unparse(call.node.func)}' is outside the language",
        f"this is {describe(Fixed(function))}" if not callable(function) else "",
        "write its loops out, or call it before and pass the result",
    )


def _slice(cx: Context, call: Arguments) -> Value:
    call.expect(cx, 1, 3)
    parts: list[Value | None] = [None if is_none(value) else value for value in call.values]
    if len(parts) == 1:
        parts = [None, *parts]
    return SliceIndex(*[*parts, None, None][:3])


def _written_out(function: object, call: Arguments) -> FunctionType | None:
    """The function of ours that is one of NumPy's, written as loops, if there is one for these arguments."""
    try:
        known = library.FUNCTIONS.get(function)
        if known is None and _is_of(function, "numpy", "_heapq", "math") and not isinstance(function, np.ufunc | type):
            known = more.FUNCTIONS.get(function)
        ranked = library.BY_RANK.get(function)
    except TypeError:  # not hashable
        return None
    if ranked is not None:
        place, first, second = ranked
        value = call.values[place] if place < len(call.values) else None
        return first if isinstance(value, ArrayLike) and len(value.shape) == 1 else second  # type: ignore[return-value]
    if isinstance(known, tuple):
        place, first, second = known
        named = call.named.get(first.__code__.co_varnames[place])
        given = call.values[place : place + 1] or (() if named is None else (named,))
        return second if any_array(*given) or any(isinstance(one, Items | ListValue) for one in given) else first  # type: ignore[return-value]
    return known  # type: ignore[return-value]


def _with_arrays(cx: Context, written: FunctionType, call: Arguments) -> Arguments:
    """The call with arrays made of tuples and lists of numbers: `np.cross((0, 0, 1), v)`."""
    if not _is_of(written, "loopwright"):
        return call
    names = written.__code__.co_varnames[: written.__code__.co_argcount]
    values = [
        as_array(cx, value, call.place(k), f"np.{call.name}()") if name in ARRAYS and _is_of_numbers(value) else value
        for k, (name, value) in enumerate(zip(names, call.values, strict=False))
    ]
    return replace(call, values=(*values, *call.values[len(values) :]))


def _is_of_numbers(value: Value) -> bool:
    """Whether this is a tuple or a list of numbers, or of such."""
    items = value.items if isinstance(value, Items) else ()
    return bool(items) and all(isinstance(one, Literal | Number) or _is_of_numbers(one) for one in items)


_OF_ELEMENTS = frozenset(
    {"gcd", "lcm", "heaviside", "logaddexp", "logaddexp2", "sinc", "fix", "ldexp", "isposinf", "isneginf", "isreal",
     "iscomplex"}
)  # fmt: skip


def _further(function: object) -> Handler | None:
    """What reads a call of a function that fewer programs call; each is loaded when such a call is read."""
    name = getattr(function, "__name__", "")
    if isinstance(function, np.ufunc | type) and name not in _OF_ELEMENTS:
        return None
    if name not in _OF_ELEMENTS:
        return more.HANDLERS.get(function)
    written = more.ELEMENTWISE[function]

    def one(cx: Context, call: Arguments) -> Value:
        if not isinstance(function, np.ufunc):
            return inline_function(cx, written, call)
        call.expect(cx, function.nin)
        values, kind = as_ufunc_takes(cx, function, call.numbers(cx), call)
        found = inline_function(cx, written, replace(call, values=tuple(Number(value, False) for value in values)))
        return Number(convert(cx, as_number(cx, found, call.node), kind, call.node), weak=False)

    def by_element(cx: Context, call: Arguments) -> Value:
        if not any_array(*call.values):
            return one(cx, call)
        each = lambda cx, *numbers: one(cx, replace(call, values=numbers))  # noqa: E731
        return map_elements(cx, each, call.values, call.node)

    return by_element


def _rank(value: Value) -> int:
    return len(value.shape) if isinstance(value, ArrayLike) else 0


def _handler(function: object) -> Handler | None:
    try:
        found = _HANDLERS.get(function)
        if found is None and (_is_of(function, "cmath") or getattr(function, "__name__", "") in _OF_COMPLEX):
            return complex_functions.HANDLERS.get(function)
        return found
    except TypeError:  # not hashable
        return None


def number_type(function: object) -> type[np.generic] | None:
    """NumPy's type of a number, for that itself and for numba's or our own name of it."""
    if isinstance(function, type):
        return function if issubclass(function, np.generic) else None
    if not _is_of(type(function), "numba", "loopwright"):
        return None
    dtype = getattr(function, "dtype", None)
    found = dtype.type if isinstance(dtype, np.dtype) else getattr(np, str(getattr(function, "name", "")), None)
    return found if isinstance(found, type) and issubclass(found, np.generic) else None


def _is_of(thing: object, *packages: str) -> bool:
    return (getattr(thing, "__module__", None) or "").split(".")[0] in packages


def _refuse_by_name(cx: Context, function: object, node: ast.Call) -> None:
    """Functions of Python's with a better answer than that they are unknown; said before their arguments are read."""
    if _handler(function) is not None:
        return
    name = getattr(function, "__name__", "")
    if getattr(function, "__module__", None) == "builtins" and name in FUNCTIONS:
        why, remedy = FUNCTIONS[name]
        raise cx.error(node, f"'{name}' is outside the language", why, remedy)
    if _is_of(function, "numpy") and name in NUMPY_INSTEAD and not _is_written_out(function):
        module = "np.linalg" if function is getattr(np.linalg, name, None) else "np"
        raise cx.error(node, f"'{module}.{name}' is outside the language", remedy=NUMPY_INSTEAD[name])


def _is_written_out(function: object) -> bool:
    return any(function in table for table in (library.FUNCTIONS, library.BY_RANK, more.FUNCTIONS, more.HANDLERS))
