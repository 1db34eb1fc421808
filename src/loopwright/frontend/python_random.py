"""`random.random()` and the like: draws of Python's global generator, in order and bit for bit.

Python's generator is the Mersenne Twister, as NumPy's global one is, and its numbers are made of other draws. `key` and
`gauss` are as in draw_functions.py; they are copies, which Python's generator takes back where the call ends. Source:
Lib/random.py and Modules/_randommodule.c of CPython 3.11.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from loopwright.frontend.arguments import Arguments
from loopwright.frontend.context import Context
from loopwright.frontend.draw_functions import bits, unit
from loopwright.frontend.hidden import Hidden, NeededError
from loopwright.frontend.inline import run_written
from loopwright.frontend.values import Array, ListValue, Literal, Number, Value, View, describe, from_object

KEY, GAUSS = "random.key", "random.gauss"
_NUMBERS = 625  # 624 of 32 bits, and the place of the next one


def with_state(call: Callable[..., object], arguments: Sequence[object]) -> object:
    """Make a call that draws. What other threads draw while it runs is not kept."""
    module: Any = sys.modules["random"]
    version, numbers, left = module.getstate()
    key, gauss = np.array(numbers, np.uint32), np.array([left is not None, left or 0.0], np.float64)
    try:
        return call(*arguments, key, gauss)
    finally:
        module.setstate((version, tuple(key.tolist()), float(gauss[1]) if gauss[0] else None))


HIDDEN = Hidden((KEY, GAUSS), with_state, lambda: (np.zeros(_NUMBERS, np.uint32), np.zeros(2)))


def draw(cx: Context, function: object, call: Arguments) -> Value:
    """What a call of one of these gives. Raises NeededError where the kernel has no state to draw from."""
    name = str(getattr(function, "__name__", ""))
    if name not in FUNCTIONS:
        known = ", ".join(sorted(FUNCTIONS))
        raise cx.error(call.node, f"'random.{name}' is outside the language", remedy=f"there are {known}")
    if KEY not in cx.parameters:
        needed = NeededError("this function draws random numbers", cx.at(call.node), remedy="call it once first")
        needed.hidden = HIDDEN
        raise needed
    written, names, defaults = FUNCTIONS[name]
    call.expect(cx, len(names) - len(defaults), len(names), names)
    missing = dict(zip(reversed(names), map(from_object, reversed(defaults)), strict=False))
    values = [call.get(place, one) or missing.get(one) for place, one in enumerate(names)]
    given = [value for value in values if value is not None]
    if len(given) < len(names):
        raise cx.error(call.node, f"random.{name} needs a value for '{names[len(given)]}'")
    _check(cx, name, given, call)
    return run_written(cx, written, [cx.arguments[KEY], cx.arguments[GAUSS], *given], call.node)


def _check(cx: Context, name: str, given: list[Value], call: Arguments) -> None:
    if name == "seed":
        (number,) = given
        if not isinstance(number, Literal | Number) or number.number_type.type.is_float:
            raise cx.error(call.node, "random.seed() takes an integer here", f"this is {describe(number)}")
    elif name == "shuffle":
        (x,) = given
        if not isinstance(x, ListValue) and not (isinstance(x, Array | View) and len(x.shape) == 1):
            raise cx.error(call.node, "random.shuffle() takes a list or an array of one axis here",
                           f"this is {describe(x)}")  # fmt: skip


def _seed(key: Any, gauss: Any, number: Any) -> None:
    size = abs(int(number))
    parts = np.zeros(2, np.int64)
    parts[0], parts[1] = size & 4294967295, size >> 32
    count = 2 if parts[1] > 0 else 1
    last = 19650218
    for k in range(624):
        key[k] = last
        last = (1812433253 * (last ^ (last >> 30)) + k + 1) & 4294967295
    i, j = 1, 0
    for _ in range(624):
        before = int(key[i - 1])
        key[i] = ((int(key[i]) ^ ((before ^ (before >> 30)) * 1664525)) + int(parts[j]) + j) & 4294967295
        i, j = i + 1, (j + 1) % count
        if i >= 624:
            key[0] = key[623]
            i = 1
    for _ in range(623):
        before = int(key[i - 1])
        key[i] = ((int(key[i]) ^ ((before ^ (before >> 30)) * 1566083941)) - i) & 4294967295
        i += 1
        if i >= 624:
            key[0] = key[623]
            i = 1
    key[0] = 2147483648
    key[624] = 624
    gauss[0], gauss[1] = 0.0, 0.0


def _getrandbits(key: Any, gauss: Any, k: Any) -> Any:
    if k < 0 or k > 62:
        raise ValueError("random.getrandbits of more than 62 bits is outside the language")
    found = 0
    if k > 32:
        found = bits(key)
        found |= (bits(key) >> (64 - k)) << 32
    elif k > 0:
        found = bits(key) >> (32 - k)
    return found


def below(key: Any, gauss: Any, n: Any) -> Any:
    """An int from 0 to below n: numbers of as many bits, until one is."""
    k, rest = 0, n
    while rest > 0:
        k += 1
        rest >>= 1
    found = _getrandbits(key, gauss, k)
    while found >= n:
        found = _getrandbits(key, gauss, k)
    return found


def _randint(key: Any, gauss: Any, a: Any, b: Any) -> Any:
    low, high = int(a), int(b)
    if high < low:
        raise ValueError("empty range for randrange()")
    return low + below(key, gauss, high - low + 1)


def _randrange(key: Any, gauss: Any, start: Any, stop: Any, step: Any) -> Any:
    low, high, by = int(start), 0, int(step)
    if stop is None:
        high, low = low, 0
    else:
        high = int(stop)
    if by == 0:
        raise ValueError("zero step for randrange()")
    count = (high - low + by - 1) // by if by > 0 else (high - low + by + 1) // by
    if count <= 0:
        raise ValueError("empty range for randrange()")
    return low + by * below(key, gauss, count)


def _choice(key: Any, gauss: Any, seq: Any) -> Any:
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[below(key, gauss, len(seq))]


def _shuffle(key: Any, gauss: Any, x: Any) -> None:
    for i in range(len(x) - 1, 0, -1):
        j = below(key, gauss, i + 1)
        x[i], x[j] = x[j], x[i]


def _uniform(key: Any, gauss: Any, a: Any, b: Any) -> Any:
    return float(a) + (float(b) - float(a)) * unit(key, gauss)


def _gauss(key: Any, gauss: Any, mu: Any, sigma: Any) -> Any:
    if gauss[0] != 0.0:
        z = float(gauss[1])
        gauss[0], gauss[1] = 0.0, 0.0
    else:
        angle = unit(key, gauss) * (2.0 * math.pi)
        radius = math.sqrt(-2.0 * math.log(1.0 - unit(key, gauss)))
        z = math.cos(angle) * radius
        gauss[0], gauss[1] = 1.0, math.sin(angle) * radius
    return float(mu) + z * float(sigma)


_NORMAL = 4.0 * math.exp(-0.5) / math.sqrt(2.0)


def _normalvariate(key: Any, gauss: Any, mu: Any, sigma: Any) -> Any:
    z, is_found = 0.0, False
    while not is_found:
        u = unit(key, gauss)
        v = 1.0 - unit(key, gauss)
        z = _NORMAL * (u - 0.5) / v
        is_found = z * z / 4.0 <= -math.log(v)
    return float(mu) + z * float(sigma)


def _expovariate(key: Any, gauss: Any, lambd: Any) -> Any:
    return -math.log(1.0 - unit(key, gauss)) / float(lambd)


FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[str, ...], tuple[Any, ...]]] = {
    "random": (unit, (), ()), "seed": (_seed, ("a",), ()), "uniform": (_uniform, ("a", "b"), ()),
    "randint": (_randint, ("a", "b"), ()), "randrange": (_randrange, ("start", "stop", "step"), (None, 1)),
    "choice": (_choice, ("seq",), ()), "shuffle": (_shuffle, ("x",), ()), "getrandbits": (_getrandbits, ("k",), ()),
    "gauss": (_gauss, ("mu", "sigma"), (0.0, 1.0)), "normalvariate": (_normalvariate, ("mu", "sigma"), (0.0, 1.0)),
    "expovariate": (_expovariate, ("lambd",), (1.0,)),
}  # fmt: skip
"""By Python's function: ours, its parameters, and the defaults of the last of them."""
