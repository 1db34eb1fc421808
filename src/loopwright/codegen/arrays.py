"""Where the elements of each array lie, as C text: pointers, sizes and strides, and the address of an element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from loopwright.codegen.c_text import MEMORY_TYPE
from loopwright.codegen.names import Names
from loopwright.ir.nodes import Allocate, ArrayParam, Const, Dim, Expr, Kernel, Layout, ResultArray
from loopwright.ir.types import Scalar
from loopwright.ir.walk import statements

STACK_BYTES = 4096  # local arrays of a constant size up to this live on the stack


@dataclass(frozen=True, slots=True)
class ArrayText:
    """One array in C. `sizes` and `strides`: an identifier or a literal for each axis; strides are in bytes where
    `bytes`, else in elements, and unused for contiguous layouts, whose addresses follow from the sizes. `slot` is
    the position in lw_call, None for a local array. on_device: in text for a GPU, where the type of distances between
    elements is `lw_int`: 32 bits where these are enough. after: C text behind each place, which makes it one in that
    copy of the array that is meant, where there are several. settled: of a copy of one row (layout C), how many
    leading indices say which, and count no more."""

    name: str
    element: Scalar
    pointer: str
    sizes: tuple[str, ...]
    strides: tuple[str, ...]
    layout: Layout
    slot: int | None
    offset: int = 0
    bytes: bool = False
    aligned: bool = True
    on_device: bool = False
    after: str = ""
    settled: int = 0

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def memory_type(self) -> str:
        """The C type of an element in memory."""
        plain = MEMORY_TYPE[self.element.name]
        return plain if self.aligned or self.element.size_bytes == 1 else f"lw_u_{plain}"

    @property
    def pointer_type(self) -> str:
        return "char *" if self.bytes else f"{self.memory_type} *"

    @property
    def symbols(self) -> tuple[str, ...]:
        """Every identifier of this array: the pointer, sizes and strides."""
        numbers = [text for text in (*self.sizes, *self.strides) if not text[0].isdigit()]
        return (self.pointer, *numbers)

    @property
    def address_symbols(self) -> tuple[str, ...]:
        """The identifiers that the address of an element is made of."""
        match self.layout:
            case "C":
                numbers = self.sizes[1:]
            case "F":
                numbers = self.sizes[:-1]
            case _:
                numbers = self.strides
        return (self.pointer, *(text for text in numbers if not text[0].isdigit()))

    def element_at(self, index: tuple[str, ...]) -> str:
        """C text of the element with this index (an lvalue)."""
        if self.bytes:
            terms = [f"{i} * {s}" for i, s in zip(index, self.strides, strict=True)]
            if self.on_device:
                return f"LW_AT({self.memory_type}, {self.pointer}, (lw_int)({' + '.join(terms) or '0'}))"
            return f"(*({self.memory_type} *)({' + '.join([self.pointer, *terms])}))"
        return f"{self.pointer}[{self.place_of(index)}]"

    def place_of(self, index: tuple[str, ...]) -> str:
        """C text of how many elements the one with this index comes after the first. On a GPU only the distance to the
        row is cut to its type: what is added for the place in the row stays as it is, so that a compiler sees that
        neighbours are neighbours, and that a loop along the row goes from one to the next."""
        if self.settled:
            within = replace(self, sizes=self.sizes[self.settled :], settled=0)
            return within.place_of(index[self.settled :])
        if not self.on_device:
            return self._flat(index) + self.after
        rows, place = self._rows(index)
        if not rows or not place:
            return (f"(lw_int)({rows})" if rows else place or "0") + self.after
        return f"(lw_int)({rows}) + {place}{self.after}"

    def _rows(self, index: tuple[str, ...]) -> tuple[str, str]:
        """C text of the distance to the row of an element, and of its place in that; '' for none."""
        if not index:
            return "", ""
        if self.layout in ("C", "F"):
            axes = list(zip(index, self.sizes, strict=True))[:: 1 if self.layout == "C" else -1]
            *outer, (last, size) = axes
            return _horner([*outer, ("", size)]) if outer else "", last
        pairs = list(zip(index, self.strides, strict=True))
        places = [i for i, s in pairs if s == "1"]
        return " + ".join(f"{i} * {s}" for i, s in pairs if s != "1"), " + ".join(places)

    def _flat(self, index: tuple[str, ...]) -> str:
        if not index:
            return "0"
        if self.layout == "C":
            return _horner(list(zip(index, self.sizes, strict=True)))
        if self.layout == "F":
            return _horner(list(zip(index, self.sizes, strict=True))[::-1])
        terms = [i if s == "1" else f"{i} * {s}" for i, s in zip(index, self.strides, strict=True)]
        return " + ".join(terms)


def _horner(axes: list[tuple[str, str]]) -> str:
    text = axes[0][0]
    for index, size in axes[1:]:
        text = f"({text}) * {size}" if "+" in text else f"{text} * {size}"
        text += f" + {index}" if index else ""
    return text


def arrays_of(kernel: Kernel, names: Names) -> dict[str, ArrayText]:
    """Every array of a kernel by name: parameters, results, locals."""
    found: dict[str, ArrayText] = {}
    first: dict[int, str] = {}
    fields = Counter(param.argument for param in kernel.arrays)
    for param in kernel.arrays:
        one = first.setdefault(param.argument, param.name)
        found[param.name] = _parameter(param, names, one, several=fields[param.argument] > 1)
    for position, result in enumerate(kernel.results):
        made = _contiguous(result, result.rank, names, kernel.results_from + position)
        sizes = (_known(size, found) or own for size, own in zip(result.shape, made.sizes, strict=True))
        found[result.name] = replace(made, sizes=tuple(sizes))
    for stmt in statements(kernel.body, Allocate):
        if stmt.array not in found:
            found[stmt.array] = _contiguous(stmt, len(stmt.shape), names, None)
    return found


def _known(size: Expr, arrays: Mapping[str, ArrayText]) -> str:
    """C text of a size that another array has, or a number: the compiler sees that they are equal. '' for others."""
    match size:
        case Const(value=value) if value >= 0:
            return str(value)
        case Dim(array=array, axis=axis) if array in arrays:
            return arrays[array].sizes[axis]
    return ""


def _parameter(param: ArrayParam, names: Names, first: str, several: bool) -> ArrayText:
    own = param.rank - len(param.tail)
    # Fields of one record array share its sizes and strides, so that the compiler sees them to be equal.
    sizes = (*(names.of(f"{first}.n{axis}") for axis in range(own)), *(str(size) for size, _ in param.tail))
    strides = (*(names.of(f"{first}.s{axis}") for axis in range(own)), *(str(stride) for _, stride in param.tail))
    in_bytes = not param.aligned or param.offset != 0 or bool(param.tail) or several
    layout: Layout = "strided" if in_bytes else param.layout
    if param.is_pairs:
        in_bytes, layout = False, "C" if param.layout == "C" else "strided"
        strides = () if layout == "C" else (*strides[: own - 1], "2", "1")
    elif not in_bytes:
        strides = _known_strides(strides, layout)
    return ArrayText(
        param.name, param.element, names.of(param.name), sizes, strides, layout, param.argument,
        param.offset, in_bytes, param.aligned,
    )  # fmt: skip


def _known_strides(strides: tuple[str, ...], layout: Layout) -> tuple[str, ...]:
    match layout:
        case "C" | "F":
            return ()
        case "last":
            return (*strides[:-1], "1")
        case "first":
            return ("1", *strides[1:])
        case "strided":
            return strides


def _contiguous(array: ResultArray | Allocate, rank: int, names: Names, slot: int | None) -> ArrayText:
    name = array.array if isinstance(array, Allocate) else array.name
    sizes = tuple(names.of(f"{name}.n{axis}") for axis in range(rank))
    if isinstance(array, Allocate) and all(isinstance(n, Const) and n.value >= 0 for n in array.shape):
        sizes = tuple(str(n.value) for n in array.shape if isinstance(n, Const))  # the compiler sees them
    return ArrayText(name, array.element, names.of(name), sizes, (), "C", slot)
