"""`np.random.normal(...)` and the like: draws of NumPy's global generator, in order and bit for bit.

The generator's state is an argument of the call that the caller does not write: see random_state.py. What is drawn is
in draw_functions.py.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from loopwright.deferred import deferred
from loopwright.frontend import draw_functions
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index, convert
from loopwright.frontend.creation import as_array
from loopwright.frontend.elementwise import map_elements, materialised, nest, new_array
from loopwright.frontend.hidden import NeededError
from loopwright.frontend.inline import run_written
from loopwright.frontend.lists import elements_of, refuse_change_in_dict
from loopwright.frontend.random_state import GAUSS, HIDDEN, KEY, is_global
from loopwright.frontend.read_only_views import stretched_to
from loopwright.frontend.values import (
    Array,
    ArrayLike,
    Fixed,
    Items,
    ListValue,
    Literal,
    Number,
    Value,
    View,
    describe,
)
from loopwright.frontend.views import Size, as_size, as_view, element_at, in_range, is_array, size_of
from loopwright.ir.nodes import Expr, Store
from loopwright.ir.types import FLOAT64, INT64, Scalar

if TYPE_CHECKING:
    from loopwright.frontend import binomial_draws, generators, legacy_draws, python_random, transformed_draws
else:
    binomial_draws = deferred("loopwright.frontend.binomial_draws")
    generators = deferred("loopwright.frontend.generators")
    legacy_draws = deferred("loopwright.frontend.legacy_draws")
    python_random = deferred("loopwright.frontend.python_random")
    transformed_draws = deferred("loopwright.frontend.transformed_draws")


@dataclass(frozen=True, slots=True)
class Drawer:
    """What draws: the arrays of its state, and the modules with its functions."""

    state: tuple[Value, ...]
    functions: tuple[ModuleType, ...]

    def run(self, cx: Context, name: str, values: list[Value], node: ast.AST) -> Value:
        """What one of its functions gives."""
        function = next(getattr(module, name) for module in self.functions if hasattr(module, name))
        return run_written(cx, function, [*self.state, *values], node)


@dataclass(frozen=True, slots=True)
class Distribution:
    """One of np.random's functions: which function draws a number, and its parameters with their defaults or None."""

    draw: str
    parameters: tuple[tuple[str, float | None], ...] = ()
    element: Scalar = FLOAT64
    sizes_are_arguments: bool = False


DISTRIBUTIONS: dict[str, Distribution] = {
    "rand": Distribution("unit", sizes_are_arguments=True),
    "randn": Distribution("standard_normal", sizes_are_arguments=True),
    "random": Distribution("unit"),
    "random_sample": Distribution("unit"),
    "ranf": Distribution("unit"),
    "sample": Distribution("unit"),
    "uniform": Distribution("uniform", (("low", 0.0), ("high", 1.0))),
    "normal": Distribution("normal", (("loc", 0.0), ("scale", 1.0))),
    "standard_normal": Distribution("standard_normal"),
    "exponential": Distribution("exponential", (("scale", 1.0),)),
    "standard_exponential": Distribution("standard_exponential"),
    "gamma": Distribution("gamma", (("shape", None), ("scale", 1.0))),
    "standard_gamma": Distribution("standard_gamma", (("shape", None),)),
    "chisquare": Distribution("chisquare", (("df", None),)),
    "poisson": Distribution("poisson", (("lam", 1.0),), INT64),
    "lognormal": Distribution("lognormal", (("mean", 0.0), ("sigma", 1.0))),
    "weibull": Distribution("weibull", (("a", None),)),
    "pareto": Distribution("pareto", (("a", None),)),
    "power": Distribution("power", (("a", None),)),
    "rayleigh": Distribution("rayleigh", (("scale", 1.0),)),
    "laplace": Distribution("laplace", (("loc", 0.0), ("scale", 1.0))),
    "gumbel": Distribution("gumbel", (("loc", 0.0), ("scale", 1.0))),
    "logistic": Distribution("logistic", (("loc", 0.0), ("scale", 1.0))),
    "triangular": Distribution("triangular", (("left", None), ("mode", None), ("right", None))),
    "beta": Distribution("beta", (("a", None), ("b", None))),
    "standard_t": Distribution("standard_t", (("df", None),)),
    "standard_cauchy": Distribution("standard_cauchy"),
    "f": Distribution("f", (("dfnum", None), ("dfden", None))),
    "wald": Distribution("wald", (("mean", None), ("scale", None))),
    "vonmises": Distribution("vonmises", (("mu", None), ("kappa", None))),
    "zipf": Distribution("zipf", (("a", None),), INT64),
    "logseries": Distribution("logseries", (("p", None),), INT64),
    "binomial": Distribution("binomial", (("n", None), ("p", None)), INT64),
    "geometric": Distribution("geometric", (("p", None),), INT64),
    "negative_binomial": Distribution("negative_binomial", (("n", None), ("p", None)), INT64),
}


def draws(cx: Context, function: object, call: Arguments) -> Value | None:
    """The result of one of np.random's functions; None for all others. Raises NeededError where the kernel has no state
    to draw from."""
    if getattr(function, "__name__", "") == "default_rng" and function is np.random.default_rng:
        return generators.made(cx, call)
    if not is_global(function):
        module = sys.modules.get("random")
        is_pythons = module is not None and getattr(function, "__self__", None) is module._inst
        return python_random.draw(cx, function, call) if is_pythons else None
    name = str(getattr(function, "__name__", ""))
    if name not in DISTRIBUTIONS and name not in _OTHERS:
        known = ", ".join(sorted({*DISTRIBUTIONS, *_OTHERS}))
        raise cx.error(call.node, f"'np.random.{name}' is outside the language", remedy=f"there are {known}")
    if KEY not in cx.parameters:
        needed = NeededError("this function draws random numbers", cx.at(call.node), remedy="call it once first")
        needed.hidden = HIDDEN
        raise needed
    drawer = Drawer(
        (cx.arguments[KEY], cx.arguments[GAUSS]), (draw_functions, legacy_draws, transformed_draws, binomial_draws)
    )
    if name in DISTRIBUTIONS:
        return drawn(cx, drawer, DISTRIBUTIONS[name], call)
    return _OTHERS[name](cx, drawer, call)


def drawn(cx: Context, drawer: Drawer, what: Distribution, call: Arguments) -> Value:
    """A number, or an array of the size that is asked for."""
    names = [name for name, _ in what.parameters]
    if what.sizes_are_arguments:
        call.expect(cx, 0, 9)
        shape: Value = Items(call.values) if call.values else Fixed(None)
        values: list[Value] = []
    else:
        call.expect(cx, 0, len(names) + 1, (*names, "size"))
        values = [_parameter(cx, call, k, name, default) for k, (name, default) in enumerate(what.parameters)]
        shape = call.get(len(names), "size") or Fixed(None)
    if any(map(is_array, values)):
        if not (isinstance(shape, Fixed) and shape.value is None):
            sizes = _sizes(cx, shape, call)
            values = [stretched_to(cx, one, sizes, call.node) if is_array(one) else one for one in values]
        each = map_elements(cx, lambda cx, *one: drawer.run(cx, what.draw, list(one), call.node), values, call.node)
        return materialised(cx, each, call.node)
    return filled(cx, lambda: drawer.run(cx, what.draw, values, call.node), shape, what.element, call)


def _parameter(cx: Context, call: Arguments, place: int, name: str, default: float | None) -> Value:
    given = call.get(place, name)
    if given is None and default is None:
        raise cx.error(call.node, f"np.random.{call.name} needs a value for '{name}'")
    return Literal(default or 0.0) if given is None else given


def _sizes(cx: Context, shape: Value, call: Arguments) -> list[Size]:
    parts = shape.items if isinstance(shape, Items) else (shape,)
    return [as_size(cx.once(as_index(cx, one, call.node, "a size"), cx.at(call.node))) for one in parts]


def filled(cx: Context, draw: Callable[[], Value], shape: Value, element: Scalar, call: Arguments) -> Value:
    """What a draw gives, once or for each element of an array of this shape."""
    if isinstance(shape, Fixed) and shape.value is None:
        return draw()
    result = new_array(cx, _sizes(cx, shape, call), element, call.node)

    def write(index: list[Expr]) -> None:
        value = draw()
        assert isinstance(value, Literal | Number)
        cx.emit(Store(result.name, tuple(index), convert(cx, value, element, call.node), at=cx.at(call.node)))

    nest(cx, result.shape, write, call.node)
    return result


def _seed(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    call.expect(cx, 1)
    number = as_index(cx, call.values[0], call.node, "a seed")
    drawer.run(cx, "seed", [Number(cx.once(number, cx.at(call.node)), weak=True)], call.node)
    return Fixed(None)


def _randint(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    call.expect(cx, 1, 3, ("low", "high", "size"))
    low, high, shape = call.get(0, "low") or Literal(0), call.get(1, "high"), call.get(2, "size") or Fixed(None)
    if high is None or (isinstance(high, Fixed) and high.value is None):
        low, high = Literal(0), low
    bounds: list[Value] = [
        Number(cx.once(as_index(cx, one, call.node, "a bound"), cx.at(call.node)), weak=True) for one in (low, high)
    ]
    return filled(cx, lambda: drawer.run(cx, "integer", bounds, call.node), shape, INT64, call)


def shuffle(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    """`shuffle(x)`."""
    call.expect(cx, 1)
    value = call.values[0]
    if isinstance(value, ListValue):
        drawer.run(cx, "shuffle", [_numbers(cx, value, call)], call.node)
    elif isinstance(value, Array | View) and len(value.shape) > 1:
        drawer.run(cx, "shuffle_rows", [value], call.node)
    else:
        drawer.run(cx, "shuffle", [_one_axis(cx, value, call)], call.node)
    return Fixed(None)


def _numbers(cx: Context, value: ListValue, call: Arguments) -> Value:
    """What a list holds, to be put into another order: its numbers, or those of its rows."""
    refuse_change_in_dict(cx, value, call.node)
    parts = elements_of(cx, value, call.node)
    if len(parts) != 1:
        raise cx.error(call.node, f"{call.name} takes no list of tuples here", remedy="use an array with rows")
    return replace(parts[0], array=replace(parts[0].array, weak=False))


def permutation(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    """`permutation(x)` of an array or of a number."""
    call.expect(cx, 1)
    value = call.values[0]
    if isinstance(value, Literal | Number):
        return drawer.run(cx, "permutation_of", [value], call.node)
    if isinstance(value, ArrayLike) and len(value.shape) > 1:
        return drawer.run(cx, "permutation_rows", [value], call.node)
    return drawer.run(cx, "permutation", [_one_axis(cx, value, call)], call.node)


def _one_axis(cx: Context, value: Value, call: Arguments) -> Value:
    if not isinstance(value, ArrayLike) or len(value.shape) != 1:
        raise cx.error(call.node, f"{call.name} takes an array of one axis here",
                       f"this is {describe(value)}")  # fmt: skip
    return value


def choice(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    """`choice(a, size, replace, p)`."""
    call.expect(cx, 1, 4, ("size", "replace", "p"))
    population, shape = call.values[0], call.get(1, "size") or Fixed(None)
    replaced, p = call.get(2, "replace") or Literal(True), call.get(3, "p")
    if isinstance(population, Items | ListValue):
        population = as_array(cx, population, call.node, call.name)
    if isinstance(p, Items | ListValue):
        p = as_array(cx, p, call.node, call.name)
    array = None if isinstance(population, Literal | Number) else _one_axis(cx, population, call)
    assert array is None or isinstance(array, ArrayLike)
    count = population if array is None else Number(size_of(array.shape[0]), weak=True)
    if isinstance(p, Fixed) and p.value is None:
        p = None
    if not isinstance(replaced, Literal) or (not replaced.value and p is not None):
        raise cx.error(call.node, "'replace' is True or False here, and False only without probabilities")
    if not replaced.value:
        if isinstance(shape, Fixed | Items):
            raise cx.error(call.node, "a choice without replacement has a number as its size here")
        places = drawer.run(cx, "first_of_permutation", [count, shape], call.node)
        assert isinstance(places, ArrayLike)
        if array is None:
            return places
        return _filled_from(cx, array, places, call)

    cumulated = None if p is None else run_written(cx, draw_functions.sums, [p], call.node)

    def draw() -> Value:
        if cumulated is not None:
            place = drawer.run(cx, "chosen_by", [cumulated], call.node)
        else:
            place = drawer.run(cx, "integer", [Literal(0), count], call.node)
        if array is None:
            return place
        assert isinstance(place, Number)
        return element_at(cx, array, [in_range(cx, place.expr, array.shape[0], call.node)], call.node)

    return filled(cx, draw, shape, INT64 if array is None else array.element, call)


def _filled_from(cx: Context, array: ArrayLike, places: ArrayLike, call: Arguments) -> Array:
    result = new_array(cx, places.shape, array.element, call.node)

    def write(index: list[Expr]) -> None:
        place = element_at(cx, places, index, call.node)
        assert isinstance(place, Number)
        value = element_at(cx, array, [place.expr], call.node)
        assert isinstance(value, Number)
        cx.emit(Store(result.name, tuple(index), value.expr, at=cx.at(call.node)))

    nest(cx, as_view(result).shape, write, call.node)
    return result


def _multinomial(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    call.expect(cx, 2, 3, ("n", "pvals", "size"))
    size = call.get(2, "size")
    if size is not None and not (isinstance(size, Fixed) and size.value is None):
        raise cx.error(call.node, "np.random.multinomial takes no size here", remedy="draw each row in a loop")
    count, chances = call.get(0, "n"), call.get(1, "pvals")
    if count is None or chances is None:
        raise cx.error(call.node, "np.random.multinomial needs a number of trials and probabilities")
    return drawer.run(cx, "multinomial", [count, chances], call.node)


_OTHERS: dict[str, Callable[[Context, Drawer, Arguments], Value]] = {
    "seed": _seed, "randint": _randint, "shuffle": shuffle, "permutation": permutation, "choice": choice,
    "multinomial": _multinomial,
}  # fmt: skip
