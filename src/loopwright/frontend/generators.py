"""`rng.normal(...)` and the like: draws of a `np.random.Generator`, an argument or one that the kernel makes.

In the front end a generator is a tuple of the arrays of its state (generator_state.py). What is drawn is in
generator_functions.py, and what it is made of in draws.py.
"""

from __future__ import annotations

from dataclasses import replace

from loopwright.frontend import draws, generator_functions
from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.convert import as_index
from loopwright.frontend.draws import Distribution, Drawer, drawn, filled
from loopwright.frontend.generator_state import HIDDEN, STATE, TABLES
from loopwright.frontend.hidden import NeededError
from loopwright.frontend.inline import run_written
from loopwright.frontend.values import Fixed, Items, Literal, Number, Value
from loopwright.ir.types import INT64

_DISTRIBUTIONS: dict[str, Distribution] = {
    "random": Distribution("unit"),
    "uniform": draws.DISTRIBUTIONS["uniform"],
    "normal": draws.DISTRIBUTIONS["normal"],
    "standard_normal": draws.DISTRIBUTIONS["standard_normal"],
    "lognormal": Distribution("lognormal", (("mean", 0.0), ("sigma", 1.0))),
    "exponential": draws.DISTRIBUTIONS["exponential"],
    "standard_exponential": draws.DISTRIBUTIONS["standard_exponential"],
}
_OTHERS = {"shuffle": draws.shuffle, "permutation": draws.permutation, "choice": draws.choice}


def made(cx: Context, call: Arguments) -> Value:
    """`np.random.default_rng(seed)`."""
    call.expect(cx, 0, 1, ("seed",))
    seed = call.get(0, "seed")
    if isinstance(seed, Items) and seed.names == STATE:
        return seed
    if seed is None or (isinstance(seed, Fixed) and seed.value is None):
        raise cx.error(call.node, "a generator without a seed gives other numbers in each call",
                       remedy="give it a seed, or pass a generator as an argument")  # fmt: skip
    number = cx.once(as_index(cx, seed, call.node, "a seed"), cx.at(call.node))
    state = run_written(cx, generator_functions.seeded, [Number(number, weak=True)], call.node)
    assert isinstance(state, Items)
    return replace(state, names=STATE)


def draw(cx: Context, generator: Items, call: Arguments) -> Value:
    """What a method of a generator gives. Raises NeededError where the kernel has no tables to draw with."""
    if call.name not in {*_DISTRIBUTIONS, *_OTHERS, "integers"}:
        known = ", ".join(sorted({*_DISTRIBUTIONS, *_OTHERS, "integers"}))
        raise cx.error(call.node, f"'{call.name}' of a generator is outside the language", remedy=f"there are {known}")
    if TABLES not in cx.parameters:
        needed = NeededError("this function draws random numbers", cx.at(call.node), remedy="call it once first")
        needed.hidden = HIDDEN
        raise needed
    drawer = Drawer((*generator.items, cx.arguments[TABLES]), (generator_functions,))
    if call.name in _OTHERS:
        return _OTHERS[call.name](cx, drawer, call)
    if call.name == "integers":
        return _integers(cx, drawer, call)
    return drawn(cx, drawer, _DISTRIBUTIONS[call.name], call)


def _integers(cx: Context, drawer: Drawer, call: Arguments) -> Value:
    """`integers(low, high, size, endpoint=False)`."""
    call.expect(cx, 1, 3, ("low", "high", "size", "endpoint"))
    low, high, shape = call.get(0, "low") or Literal(0), call.get(1, "high"), call.get(2, "size") or Fixed(None)
    if high is None or (isinstance(high, Fixed) and high.value is None):
        low, high = Literal(0), low
    ends = call.named.get("endpoint", Literal(False))
    if not isinstance(ends, Literal):
        raise cx.error(call.node, "'endpoint' is True or False here")
    bounds = [cx.once(as_index(cx, one, call.node, "a bound"), cx.at(call.node)) for one in (low, high)]
    values: list[Value] = [*(Number(one, weak=True) for one in bounds), Literal(int(bool(ends.value)))]
    return filled(cx, lambda: drawer.run(cx, "integer", values, call.node), shape, INT64, call)
