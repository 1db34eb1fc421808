"""`lw.array`: an array of records that keeps its fields in planes, and looks like one of NumPy's. Kernels use these
in place. It owns where elements lie; a kernel sees one argument for each plane (frontend/structured.py)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Literal, cast

import numpy as np

from loopwright.ir.types import from_dtype
from loopwright.memory.arrays import Array, refusal

RecordLayout = Literal["soa", "aos"]


def array(source: Any, dtype: Any = None, layout: RecordLayout = "soa") -> RecordArray | Array:
    """An array of records in a layout of its own: in planes, one for each field (`soa`), or as NumPy has it (`aos`).

    source: an array of records, or anything that NumPy makes one of; or a shape, with a dtype: then all is zero. The
    elements are copied. Of planes, `p["x"]` and `p.x` are arrays without gaps that share the memory of `p`, and so are
    `p[i:j]` and `p[::2]`; `np.asarray(p)` and `p.numpy()` copy everything into records, and `p[i]` is a record that
    writes to `p`. Kernels take it as any array of records, at full speed, and never convert it.

    Raises ValueError for another layout, a dtype without fields, and for names of fields that are none of Python's or
    that a NumPy array has itself, such as `shape`; ArgumentTypeError for a field of a type that kernels do not know.

    Examples:
        >>> import numpy as np
        >>> import loopwright as lw
        >>> p = lw.array(4, dtype=[("x", "f8"), ("v", "f4", 3)])
        >>> p["x"] = np.arange(4)
        >>> p[1:3].x, float(p[2]["x"]), p.shape, p.nbytes
        (array([1., 2.]), 2.0, (4,), 80)
        >>> @lw.kernel
        ... def double(p):
        ...     for i in range(len(p)):
        ...         p[i]["x"] *= 2.0
        >>> double(p)
        >>> np.asarray(p)["x"]
        array([0., 2., 4., 6.])
    """
    if layout not in ("soa", "aos"):
        raise ValueError(f"layout {layout!r}: 'soa' or 'aos' is wanted")
    is_shape = isinstance(source, int | np.integer) or (
        isinstance(source, tuple) and all(isinstance(one, int | np.integer) for one in source)
    )
    if is_shape and dtype is not None:
        shape = source if isinstance(source, tuple) else (source,)
        given = None
        kind: np.dtype[Any] = np.dtype(dtype)
    else:
        given = np.asarray(source, dtype=dtype)
        shape, kind = given.shape, given.dtype
    _check_fields(kind)
    if layout == "aos":
        return np.zeros(shape, kind) if given is None else given.copy()
    made = _class_of(kind, len(shape))({name: _plane(kind, name, shape) for name in kind.names or ()}, shape)
    if given is not None:
        made[...] = given
    return made


def _check_fields(dtype: np.dtype[Any]) -> None:
    if not dtype.names:
        raise ValueError(f"dtype {dtype} has no fields: an array of plain elements is NumPy's")
    for name in dtype.names:
        if not name.isidentifier() or name.startswith("_") or hasattr(RecordArray, name):
            raise ValueError(f"a field cannot be called {name!r} here")
        assert dtype.fields is not None
        if from_dtype(dtype.fields[name][0].base) is None:
            raise refusal("dtype", f"field {name!r} has a type that kernels do not know", "leave it out")


def _plane(dtype: np.dtype[Any], name: str, shape: tuple[int, ...]) -> Array:
    """Zeros for a field; axes that it has itself are outermost in memory, so that each of them is a plane."""
    assert dtype.fields is not None
    field = dtype.fields[name][0]
    tail = field.shape
    made = np.zeros((*tail, *shape), field.base)
    return np.moveaxis(made, range(len(tail)), range(len(shape), len(shape) + len(tail)))


@cache
def _class_of(dtype: np.dtype[Any], rank: int) -> type[RecordArray]:
    """A class for each dtype and rank: the launcher knows calls by the classes of what they hold."""
    about = {"dtype": dtype, "ndim": rank, "fields_in_planes": dtype.names, "__slots__": ()}
    made = type("RecordArray", (RecordArray,), about)
    made.__qualname__ = f"RecordArray[{dtype}, {rank}]"  # kept code is told apart by it
    return made


class RecordArray:
    """An array of records in planes. dtype: of a record, with fields; shape, ndim, size, nbytes: as NumPy's, but that
    planes have no gaps. fields_in_planes: the names of the fields. Made by `lw.array`."""

    __slots__ = ("__dict__", "shape")
    dtype: ClassVar[np.dtype[Any]]
    ndim: ClassVar[int]
    fields_in_planes: ClassVar[tuple[str, ...]]
    shape: tuple[int, ...]
    layout: ClassVar[RecordLayout] = "soa"

    def __init__(self, planes: dict[str, Array], shape: tuple[int, ...]) -> None:
        self.__dict__.update(planes)  # the launcher asks for them by these names
        object.__setattr__(self, "shape", shape)

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self) -> int:
        """Bytes of all planes."""
        return sum(plane.nbytes for plane in self._planes.values())

    @property
    def _planes(self) -> dict[str, Array]:
        return self.__dict__

    def numpy(self) -> Array:
        """A copy as NumPy has it: an array of records."""
        made = np.empty(self.shape, self.dtype)
        for name, plane in self._planes.items():
            made[name] = plane
        return made

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("planes cannot be an array of records without a copy")
        made = self.numpy()
        return made if dtype is None else made.astype(dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return self._plane(index)
        planes = {name: plane[self._places(plane, index)] for name, plane in self._planes.items()}
        name, first = next(iter(planes.items()))
        assert self.dtype.fields is not None
        shape = first.shape[: first.ndim - len(self.dtype.fields[name][0].shape)]
        return _class_of(self.dtype, len(shape))(planes, shape) if shape else Record(planes, self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, str):
            self._plane(index)[...] = value
            return
        given = np.asarray(value.numpy() if isinstance(value, RecordArray | Record) else value, dtype=self.dtype)
        for name, plane in self._planes.items():
            plane[self._places(plane, index)] = given[name]

    def _places(self, plane: Array, index: Any) -> tuple[Any, ...]:
        """An index of records as one of a plane, with all that each record has there."""
        parts = index if isinstance(index, tuple) else (index,)
        beyond = (slice(None),) * (plane.ndim - self.ndim)
        return (*parts, *(() if any(one is Ellipsis for one in parts) else (Ellipsis,)), *beyond)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._planes:
            raise AttributeError(f"no field {name!r}: there are {', '.join(self._planes)}")
        self._planes[name][...] = value

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return array, (self.numpy(),)

    def __repr__(self) -> str:
        return f"lw.array({np.array2string(self.numpy(), separator=', ', threshold=20)}, layout='soa')"

    def _plane(self, name: str) -> Array:
        if name not in self._planes:
            raise ValueError(f"no field of name {name}")  # as NumPy says it
        return self._planes[name]


class Record:
    """One record of a RecordArray: reads and writes its fields where they are."""

    __slots__ = ("_parts", "dtype")

    def __init__(self, parts: dict[str, Array], dtype: np.dtype[Any]) -> None:
        self._parts, self.dtype = parts, dtype

    def numpy(self) -> np.void:
        """A copy, as NumPy has it."""
        made = np.zeros((), self.dtype)
        for name, part in self._parts.items():
            made[name] = part
        return cast(np.void, made[()])

    def __getitem__(self, name: str) -> Any:
        if name not in self._parts:
            raise ValueError(f"no field of name {name}")
        return self._parts[name][()]

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in self._parts:
            raise ValueError(f"no field of name {name}")
        self._parts[name][...] = value

    def __repr__(self) -> str:
        return repr(self.numpy())
