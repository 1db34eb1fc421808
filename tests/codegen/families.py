"""Random kernels of the families that a GPU has text of its own for: products of matrices, stencils, histograms, places
of the greatest. Their arrays lie in memory somehow, and are NaN wherever a kernel has no business."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from meaning.choices import Choices

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Lying:
    """An array argument: a view of a larger array, `whole`, that is NaN (or 77) besides."""

    whole: Array
    view: Callable[[Array], Array]


@dataclass(frozen=True)
class Drawn:
    """The text of a function `kernel`, and the arguments of its calls."""

    source: str
    calls: tuple[tuple[Lying | int | float, ...], ...]


@dataclass
class Layouts:
    """How arrays lie: an argument in the same way in all calls, but for how far behind a multiple of 16 bytes."""

    choices: Choices
    how: dict[str, str] = field(default_factory=dict)

    def lay(self, name: str, values: Array) -> Lying:
        """An array of these values for the argument with this name."""
        ways = ((6, "late"), (2, "backwards"))
        if values.ndim > 1:
            ways = (*ways[:1], (4, "columns"), (2, "rows"), (2, "upwards"), (1, "backwards"), (1, "F"), (1, "apart"))
        how = self.how.setdefault(name, self.choices.weighted(ways))
        late = self.choices.pick((0, 0, 0, 1, 2, 3, 4))
        size, row = values.size, values.shape[-1]
        match how:
            case "late":
                shape: tuple[int, ...] = (size + late,)
                return _lying(values, shape, lambda whole: whole[late:].reshape(values.shape))
            case "columns":
                return _lying(values, (*values.shape[:-1], row + 4), lambda whole: whole[..., late : late + row])
            case "rows" | "upwards":
                step = 2 if how == "rows" else -1
                shape = (abs(step) * values.shape[0], *values.shape[1:])
                return _lying(values, shape, lambda whole: whole[::step])
            case "backwards":
                return _lying(values, values.shape, lambda whole: whole[..., ::-1])
            case "F":
                return _lying(values, values.shape[::-1], lambda whole: whole.T)
            case _:
                return _lying(values, (*values.shape[:-1], 2 * row), lambda whole: whole[..., ::2])


def _lying(values: Array, shape: tuple[int, ...], view: Callable[[Array], Array]) -> Lying:
    whole = np.full(shape, np.nan if values.dtype.kind == "f" else 77, values.dtype)
    view(whole)[...] = values
    return Lying(whole, view)


def _text(*lines: tuple[int, str]) -> str:
    return "".join(f"{'    ' * depth}{line}\n" for depth, line in lines)


# ---- products ----------------------------------------------------------------------------------------------------

TRIANGLES = {"": "m", "lower": "i + 1", "strictly lower": "i", "upper": "i, m", "strictly upper": "i + 1, m"}
FORMS = ("sum", "scaled", "elements", "elements", "depth outside")


def product(seed: int) -> Drawn:
    """A product of matrices, or of the rows of one or two: turned or not, scaled or not, all of it or a triangle."""
    choices = Choices(seed)
    triangle = choices.weighted(((3, ""), *((1, name) for name in list(TRIANGLES)[1:])))
    kind = choices.pick(("two", "two", "two", "one", "both", "many"))
    square = bool(triangle) or kind in ("one", "both")
    turned = choices.chance(50), choices.chance(50)
    form = choices.pick(FORMS if not triangle else FORMS[:-1])
    batch = "q, " if kind == "many" else ""
    first, second = (f"{batch}k, i", f"{batch}i, k")[not turned[0]], (f"{batch}j, k", f"{batch}k, j")[not turned[1]]
    other = first.replace("i", "j")
    term = {
        "one": f"a[{first}] * a[{other}]",
        "both": f"a[{first}] * b[{other}] + b[{first}] * a[{other}]",
    }.get(kind, f"a[{first}] * b[{second}]")
    term = choices.pick((term, f"alpha * {term}"))
    source = _product_text(f"c[{batch}i, j]", term, form, TRIANGLES[triangle], bool(batch))
    layouts, dtype = Layouts(choices), choices.pick((np.float32, np.float32, np.float64, np.int32))
    calls = tuple(_product_call(choices, layouts, turned, kind, square, triangle, dtype) for _ in range(3))
    return Drawn(source, calls)


def _product_text(target: str, term: str, form: str, columns: str, is_batch: bool) -> str:
    d = int(is_batch)
    lines = [(0, "def kernel(a, b, c, alpha, n, m, depth, batch):")]
    lines += [(1, "for q in range(batch):")] if is_batch else []
    lines += [(d + 1, "for i in range(n):"), (d + 2, f"for j in range({columns}):")]
    if form == "sum":
        lines += [(d + 3, "s = 0 * alpha"), (d + 3, "for k in range(depth):"), (d + 4, f"s += {term}")]
        return _text(*lines, (d + 3, f"{target} += s"))
    if form == "scaled":
        lines += [(d + 3, f"{target} *= alpha")]
    if form == "depth outside":
        lines[-1:] = [(d + 2, "for k in range(depth):"), (d + 3, f"for j in range({columns}):")]
    else:
        lines += [(d + 3, "for k in range(depth):")]
    return _text(*lines, (d + 4, f"{target} += {term}"))


def _product_call(
    choices: Choices, layouts: Layouts, turned: tuple[bool, bool], kind: str, square: bool, triangle: str, dtype: Any
) -> tuple[Lying | int | float, ...]:
    random = np.random.default_rng(choices.number(0, 10**6))
    n, m = choices.pick((7, 32, 33, 64, 65)), choices.pick((5, 32, 35, 64, 66))
    depth, batch = choices.pick((5, 33, 40, 65, 72)), 2 if kind == "many" else 1
    m = n if square else m

    def operand(rows: int, is_turned: bool) -> Array:
        shape = (depth, rows) if is_turned else (rows, depth)
        return random.integers(-2, 3, (batch, *shape) if kind == "many" else shape).astype(dtype)

    a = operand(n, turned[0])
    b = operand(n, turned[0]) if kind == "both" else operand(m, not turned[1])
    c = random.integers(-2, 3, (batch, n, m) if kind == "many" else (n, m)).astype(dtype)
    if triangle and dtype is not np.int32:
        i, j = np.indices((n, m))
        c[..., {"lower": j > i, "strictly lower": j >= i, "upper": j < i}.get(triangle, j <= i)] = np.nan
    return layouts.lay("a", a), layouts.lay("b", b), layouts.lay("c", c), dtype(2).item(), n, m, depth, batch


# ---- stencils ----------------------------------------------------------------------------------------------------


def stencil(seed: int) -> Drawn:
    """Neighbours along one, two or three axes: from one array to another one, changed in place, or over time."""
    choices = Choices(seed)
    names = "ijk"[: choices.pick((1, 2, 2, 3))]
    low = [choices.pick((0, 1, 1, 2, 3)) for _ in names]
    high = [choices.pick((0, 1, 1, 2)) for _ in names]

    def at(array: str, *, moved: bool = True) -> str:
        steps = [choices.number(-a, b) if moved else 0 for a, b in zip(low, high, strict=True)]
        return f"{array}[{', '.join(f'{name} + {step}' for name, step in zip(names, steps, strict=True))}]"

    def nest(depth: int, statement: str) -> list[tuple[int, str]]:
        ends = zip(names, low, high, strict=True)
        lines = [(depth + k, f"for {v} in range({a}, a.shape[{k}] - {b}):") for k, (v, a, b) in enumerate(ends)]
        return [*lines, (depth + len(names), statement)]

    kind, own = choices.pick(("plain", "in place", "time")), at("b", moved=False)
    value = " + ".join(at("a") for _ in range(choices.number(1, 4)))
    lines = nest(2 if kind == "time" else 1, f"{own} = {f'{own} - ({value})' if kind == 'in place' else value}")
    if kind == "time":
        lines = [(1, "for _ in range(steps):"), *lines, *nest(2, f"{at('a', moved=False)} = {at('b')} - {at('b')}")]
    source = _text((0, "def kernel(a, b, steps):"), *lines)
    layouts, dtype = Layouts(choices), choices.pick((np.float32, np.float64, np.int64))
    sizes = {1: (0, 2, 33, 257, 515), 2: (3, 31, 33, 64), 3: (4, 9, 17)}[len(names)]

    def call() -> tuple[Lying | int | float, ...]:
        random, shape = np.random.default_rng(choices.number(0, 10**6)), tuple(choices.pick(sizes) for _ in names)
        a, b = (random.integers(-9, 10, shape).astype(dtype) for _ in range(2))
        return layouts.lay("a", a), layouts.lay("b", b), choices.number(0, 3)

    return Drawn(source, tuple(call() for _ in range(3)))


# ---- what only data tells ------------------------------------------------------------------------------------------


def histogram(seed: int) -> Drawn:
    """Updates by key: counted or weighted, under a condition, one or two of them; keys may count from the end."""
    choices = Choices(seed)
    condition = choices.pick(("", "", "if weight[i] > 0:", "if key[i] != 3:"))
    key = choices.pick(("key[i]", "key[i] // 2", "other[key[i]]", "target.shape[0] - 1 - key[i]"))
    value, depth = choices.pick(("1", "weight[i]", "weight[i] * 2")), 3 if condition else 2
    update = choices.pick(("{0}[{1}] += {2}", "{0}[{1}] += {2}", "{0}[{1}] = max({0}[{1}], {2})"))
    lines = [(1, "for i in range(key.shape[0]):"), *([(2, condition)] if condition else [])]
    lines += [(depth, update.format("target", key, value))]
    lines += [(depth, update.format("second", "key[i]", "weight[i]"))] if choices.chance(40) else []
    source = _text((0, "def kernel(target, second, key, other, weight):"), *lines)
    layouts, keys = Layouts(choices), choices.pick((np.int64, np.int32, np.int16))
    dtype = choices.pick((np.int64, np.int32, np.float32, np.float64))

    def call() -> tuple[Lying | int | float, ...]:
        random = np.random.default_rng(choices.number(0, 10**6))
        count, bins = choices.pick((0, 1, 257, 2049, 5000)), choices.pick((1, 7, 100, 1000))
        key = random.integers(0, min(bins, 200), count)
        if count and choices.chance(50):
            key[choices.number(0, count - 1)] = choices.pick((-1, -bins))
        target, second, weight = (random.integers(-3, 4, size).astype(dtype) for size in (bins, bins, count))
        other = random.integers(0, bins, bins)
        laid = {"target": target, "second": second, "key": key.astype(keys), "other": other, "weight": weight}
        return tuple(layouts.lay(name, values) for name, values in laid.items())

    return Drawn(source, tuple(call() for _ in range(3)))


def extreme(seed: int) -> Drawn:
    """Where the greatest or least is, the first or the last one, and what it is; with ties and NaN."""
    choices = Choices(seed)
    value = choices.pick(("a[i]", "a[i]", "abs(a[i])", "-a[i]", "a[i] + b[i]"))
    test = choices.pick((">", ">=", "<", "<="))
    lines = [(1, "best, place = start, at"), (1, "for i in range(a.shape[0]):"), (2, f"if {value} {test} best:")]
    lines += [(3, f"best = {value}"), (3, "place = i"), (1, "return best, place")]
    layouts, dtype = Layouts(choices), choices.pick((np.float32, np.float64, np.int64))

    def call() -> tuple[Lying | int | float, ...]:
        random, size = np.random.default_rng(choices.number(0, 10**6)), choices.pick((0, 1, 33, 1025, 9000))
        a, b = (random.integers(-4, 5, size).astype(dtype) for _ in range(2))
        if size and dtype is not np.int64:
            a[random.integers(0, size, 3)] = choices.pick((np.nan, np.inf, -np.inf, -0.0))
        start = choices.pick((-9, 0, 4, 9)) if dtype is np.int64 else choices.pick((-np.inf, 0.0, 4.0, np.nan))
        return layouts.lay("a", a), layouts.lay("b", b), start, choices.pick((-1, 0, 10**6))

    return Drawn(_text((0, "def kernel(a, b, start, at):"), *lines), tuple(call() for _ in range(3)))
