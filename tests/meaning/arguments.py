"""Arguments of generated programs: recipes from which any number of equal, independent copies are made.

An array stands inside a larger buffer that is filled with a pattern, so that a write beside it shows, and a value read
from there too; buffers are compared, not only arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LAYOUTS = ("C", "F", "reversed", "strided", "unaligned", "inner", "broadcast")
MARGIN = 12
"""Elements of the buffer before and after a contiguous array: more than a row of any array."""
PATTERN = 0xA5
"""Each byte of a buffer that no value was put into."""
SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -1.5, 1e300, 3.0, 1.0)


@dataclass(frozen=True)
class Numbers:
    """A scalar argument: `text` is evaluated with `np` in sight."""

    name: str
    text: str


@dataclass(frozen=True)
class Cells:
    """An array argument. `fields` are (name, element, sub-array shape) of a record, else () and `element`.

    values: `small` whole numbers; `extreme` ones too; `special` floats too (`special small`: finite ones); `index`
    numbers 0 .. bound - 1 (`loose` ones also count from the end or lie outside); `pointer`: rising from 0 to bound.
    `same_as`: the position of an earlier argument that it shares memory with, `how` says which way (same, shift,
    reversed)."""

    name: str
    element: str
    shape: tuple[int, ...]
    values: str = "small"
    seed: int = 0
    bound: int = 0
    layout: str = "C"
    read_only: bool = False
    fields: tuple[tuple[str, str, tuple[int, ...]], ...] = ()
    recarray: bool = False
    same_as: int | None = None
    how: str = "same"

    @property
    def dtype(self) -> np.dtype[np.void]:
        if self.fields:
            return np.dtype([(name, element, shape) for name, element, shape in self.fields], align=self.seed % 2 == 0)
        return np.dtype(self.element)


@dataclass(frozen=True)
class Setting:
    """No argument, but a global of the program that has another value from this call on: `text` is evaluated."""

    name: str
    text: str


Recipe = Numbers | Cells | Setting


@dataclass
class Made:
    """The arguments of one call, and the buffers that they stand in. settings: globals by name."""

    arguments: list[object]
    buffers: list[np.ndarray]
    settings: dict[str, object] = field(default_factory=dict)


def make(recipes: tuple[Recipe, ...]) -> Made:
    """Fresh arguments after the recipes."""
    made = Made([], [])
    for recipe in recipes:
        if isinstance(recipe, Setting):
            made.settings[recipe.name] = eval(recipe.text, {"np": np})
        elif isinstance(recipe, Numbers):
            made.arguments.append(eval(recipe.text, {"np": np}))
        elif recipe.same_as is None:
            array, buffer = _stand_alone(recipe)
            made.arguments.append(array)
            made.buffers.append(buffer)
        else:
            made.arguments.append(_shared(recipe, made.arguments[recipe.same_as]))
    return made


def _stand_alone(recipe: Cells) -> tuple[np.ndarray, np.ndarray]:
    values = _values(recipe)
    array, buffer = _laid_out(values, recipe.layout)
    if recipe.recarray:
        array = array.view(np.recarray)
    if recipe.read_only or recipe.layout == "broadcast":
        array.flags.writeable = False
    return array, buffer


def _laid_out(values: np.ndarray, layout: str) -> tuple[np.ndarray, np.ndarray]:
    """The values as an array of this layout within a buffer."""
    shape, rank = values.shape, values.ndim
    if layout == "broadcast":
        buffer = values[:1].copy()
        return np.broadcast_to(buffer, shape), buffer
    if layout == "unaligned":
        raw = np.full(values.nbytes + 17, PATTERN, np.uint8)
        array = raw[1 : 1 + values.nbytes].view(values.dtype).reshape(shape)
        array[...] = values
        return array, raw
    if layout == "strided":
        buffer = _filled(tuple(2 * size + 2 for size in shape), values.dtype)
        array = buffer[tuple(slice(1, 1 + 2 * size, 2) for size in shape)]
    elif layout == "inner":  # rows with a gap between them
        buffer = _filled((*shape[:-1], shape[-1] + 3), values.dtype)
        array = buffer[..., 1 : 1 + shape[-1]]
    elif layout == "reversed":
        buffer = _filled(shape, values.dtype)
        array = buffer[(slice(None, None, -1),) * rank]
    else:
        buffer = _filled((values.size + 2 * MARGIN,), values.dtype)
        inside = buffer[MARGIN : MARGIN + values.size]
        array = inside.reshape(shape[::-1]).T if layout == "F" else inside.reshape(shape)
    array[...] = values
    return array, buffer


def _filled(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A new array in which nothing but the pattern is."""
    count = int(np.prod(shape))
    return np.full(count * dtype.itemsize, PATTERN, np.uint8).view(dtype).reshape(shape)


def _values(recipe: Cells) -> np.ndarray:
    shape, count = recipe.shape, int(np.prod(recipe.shape))
    random = np.random.default_rng(recipe.seed)
    if recipe.fields:
        values = np.zeros(shape, recipe.dtype)
        for name, element, tail in recipe.fields:
            part = Cells(name, element, (*shape, *tail), recipe.values, recipe.seed + 1)
            values[name] = _values(part)
        return values
    if recipe.values == "pointer":
        inner = np.sort(random.integers(0, recipe.bound + 1, max(count - 2, 0)))
        return np.concatenate([[0], inner, [recipe.bound]])[:count].astype(recipe.element).reshape(shape)
    if recipe.values in ("index", "loose index"):
        low, high = 0, max(recipe.bound, 1)
        if recipe.values == "loose index":
            low, high = (0 if recipe.element.startswith("u") else -high), high + (recipe.seed % 3 == 0)
        return random.integers(low, high, shape).astype(recipe.element)
    return _data(recipe, random)


def _data(recipe: Cells, random: np.random.Generator) -> np.ndarray:
    shape, dtype = recipe.shape, np.dtype(recipe.element)
    low = 0 if dtype.kind == "u" else -8
    values = random.integers(low, 9, shape) if recipe.seed else np.arange(int(np.prod(shape))).reshape(shape) % 7
    if dtype.kind == "b":
        return (values % 2).astype(bool)
    values = values.astype(dtype)
    if dtype.kind == "c":
        values += dtype.type(1j) * random.integers(-4, 5, shape)
    where = random.random(shape) < 0.3
    if recipe.values.startswith("special") and dtype.kind == "f":
        options = np.array([one for one in SPECIAL if recipe.values == "special" or abs(one) < 10])
        with np.errstate(all="ignore"):
            values[where] = random.choice(options, shape)[where].astype(dtype)
    if recipe.values == "extreme" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        edges = np.array([info.min, info.max, info.max // 2 + 1, info.max - 1, info.min + 1], dtype)
        values[where] = random.choice(edges, shape)[where]
    return values


def _shared(recipe: Cells, other: object) -> np.ndarray:
    assert isinstance(other, np.ndarray)
    if recipe.how == "reversed":
        return other[::-1]
    if recipe.how == "shift":  # what the two have in common is all but one element at either end
        return _shifted(other)
    return other


def _shifted(array: np.ndarray) -> np.ndarray:
    """The same shape and strides, one element of axis 0 further back in the buffer that the array stands in."""
    return np.ndarray(array.shape, array.dtype, array.base, _offset(array) - array.strides[0], array.strides)


def _offset(array: np.ndarray) -> int:
    base = array.base
    assert isinstance(base, np.ndarray)
    return int(array.__array_interface__["data"][0] - base.__array_interface__["data"][0])
