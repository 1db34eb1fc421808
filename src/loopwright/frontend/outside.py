"""What a kernel finds outside itself: globals, closure cells, attributes of modules, helpers.

Reading a function asks everything of one `Outside`. It keeps each answer and gives it again, so that a later change
of a global is not seen half-way, and it knows all that was asked: with the same answers (compared by `mark`), the
same text and the same kind of call, reading gives the same kernel. It decides nothing about what is found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING

import numpy as np

from loopwright.deferred import deferred
from loopwright.errors import KernelError
from loopwright.frontend.capture import Source, capture_helper
from loopwright.frontend.object_class import class_of
from loopwright.frontend.watched import Found, attribute_of
from loopwright.ir.captured import ABSENT, CapturedConstant

if TYPE_CHECKING:
    from loopwright.frontend import packed, structured
    from loopwright.frontend.structured import Structure
else:
    packed = deferred("loopwright.frontend.packed")
    structured = deferred("loopwright.frontend.structured")

# The way to something: () is the kernel's function; ("name", way of a function, name) what a free name of it means,
# ("attribute", way of an object, name), and ("item", way of a tuple, number). The first two are questions.
Way = tuple[object, ...]
KERNEL: Way = ()
_WORLD = ("builtins", "math", "numpy", "numba", "loopwright")  # what these call by a name stays what it is


class UnknownError(Exception):
    """Something was found that no text can tell from others, or by a way that cannot be told."""


class Outside:
    """One kernel's view of what is outside. `asked`: the questions so far, in order, each with its answer (None where
    nothing was found). `relied`: the facts behind all answers; as long as they hold, so do these. portable: marks are
    the same wherever the files of the functions are."""

    def __init__(self, source: Source, portable: bool = False) -> None:
        self.source, self._portable = source, portable
        self.asked: dict[Way, Found | None] = {}
        self.relied: dict[tuple[str, int, object], CapturedConstant] = {}
        self.untold: str = ""  # what was asked of something that no way leads to, '' where there is none
        self._names: dict[tuple[FunctionType, str], Found | None] = {}
        self._attributes: dict[tuple[int, str], tuple[object, Found | None]] = {}
        self._sources: dict[object, Source] = {}
        self._ways: dict[int, Way] = {id(source.function): KERNEL}
        self._ordinals: dict[int, int] = {id(source.function): 0}
        self._given = tuple(given_values(source.structures.values()))
        for number, value in enumerate(self._given):
            self._find_ways(value, ("given", KERNEL, number))
        self._rely((CapturedConstant("code", source.function, "", source.code),))  # each call has its defaults

    # ---- asking -----------------------------------------------------------------------------------------------

    def name(self, source: Source, name: str) -> Found | None:
        """What a free name of a function means."""
        key = (source.function, name)
        if key not in self._names:
            found = self._names[key] = self._relying(source.lookup(name))
            self._note("name", source.function, name, found)
        return self._names[key]

    def attribute(self, owner: object, name: str) -> Found | None:
        """An attribute of an object; None where there is none. Raises UnwatchedError where it has to be asked for
        each time."""
        key = (id(owner), name)
        if key not in self._attributes:
            is_constant = _is_constant(owner)
            answer = Found(getattr(owner, name, ABSENT)) if is_constant else attribute_of(owner, name)
            found = self._relying(answer)
            self._attributes[key] = (owner, found)  # the owner too: its id must stay its own
            if not is_constant:
                self._note("attribute", owner, name, found)
        return self._attributes[key][1]

    @property
    def constants(self) -> tuple[CapturedConstant, ...]:
        """All that was relied on so far."""
        return tuple(self.relied.values())

    def _relying(self, found: Found) -> Found | None:
        self._rely(found.relies)
        return None if found.value is ABSENT else found

    def _rely(self, facts: Iterable[CapturedConstant]) -> None:
        for one in facts:
            self.relied.setdefault((one.kind, id(one.namespace), one.key), one)

    def source_of(self, function: object) -> Source:
        """The source of a helper. Raises KernelError as `capture` does."""
        if id(function) not in self._ways:
            self.untold = self.untold or getattr(function, "__name__", "a function")
        return self._captured(function)

    def _captured(self, function: object) -> Source:
        if function not in self._sources:
            found = self._sources[function] = capture_helper(function)
            self._rely(found.relies)
        return self._sources[function]

    def _note(self, kind: str, owner: object, name: str, found: Found | None) -> None:
        way = self._ways.get(id(owner))
        there = self._reached(way) if way is not None else None
        if way is None or owner is not (plain_function(there) if kind == "name" else there):
            self.untold = self.untold or name
            return
        question = (kind, way, name)
        self.asked[question] = found
        if found is not None:
            self._find_ways(found.value, question)

    def _find_ways(self, value: object, way: Way) -> None:
        if isinstance(value, tuple):
            for number, item in enumerate(value):
                self._find_ways(item, ("item", way, number))
        elif not _is_number(value):
            for number, function in enumerate(_makers(value)):
                self._find_ways(function, ("maker", way, number))
            self._ways.setdefault(id(value), way)
            self._ways.setdefault(id(plain_function(value)), way)

    # ---- answering again --------------------------------------------------------------------------------------

    def answer(self, question: Way) -> Found | None:
        """The answer to a question of another reading; None also where its way leads nowhere now."""
        if question in self.asked:
            return self.asked[question]
        kind, way, name = question
        try:
            owner = self._reached(way)
        except LookupError:
            return None
        if kind == "attribute":
            return self.attribute(owner, str(name))
        function = plain_function(owner)
        return self.name(self._source(function), str(name)) if isinstance(function, FunctionType) else None

    def _reached(self, way: object) -> object:
        if not isinstance(way, tuple) or len(way) not in (0, 3):
            raise LookupError(way)
        if way == KERNEL:
            return self.source.function
        if way[0] == "given":
            if not isinstance(way[2], int) or way[2] >= len(self._given):
                raise LookupError(way)
            return self._given[way[2]]
        if way[0] == "item":
            items, number = self._reached(way[1]), way[2]
            if not isinstance(items, tuple) or not isinstance(number, int):
                raise LookupError(way)
            return items[number]
        if way[0] == "maker":
            return _makers(self._reached(way[1]))[int(way[2])]
        found = self.answer(way)
        if found is None:
            raise LookupError(way)
        return found.value

    def _source(self, function: FunctionType) -> Source:
        return self.source if function is self.source.function else self._captured(function)

    # ---- telling answers apart --------------------------------------------------------------------------------

    def mark(self, question: Way) -> str:
        """A text that differs between answers that can lead to different kernels. Questions are to be marked in
        order: which functions are the same object is told by number. Raises UnknownError, and nothing else, whatever
        the objects that are found do when they are looked at."""
        try:
            found = self.answer(question)
            return "nothing" if found is None else repr(self._mark(found.value))
        except UnknownError:
            raise
        except Exception as error:  # a property that fails, an int of too many digits
            raise UnknownError(str(question)) from error

    def _mark(self, value: object) -> Mark:
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str):
            return (kind.__name__, repr(value))
        if isinstance(value, np.generic):
            if value.dtype.hasobject or value.dtype.kind == "V":
                raise UnknownError(kind.__name__)
            return ("scalar", value.dtype.str, value.tobytes().hex())
        if isinstance(value, int | float):
            number = int(value) if isinstance(value, int) else float(value)
            return ("number", kind.__module__, kind.__qualname__, repr(number))
        if isinstance(value, tuple):
            return ("tuple", kind.__module__, kind.__qualname__, *map(self._mark, value))
        if isinstance(value, np.dtype):
            number = self._ordinals.setdefault(id(value), len(self._ordinals))
            return ("dtype", number, value is np.dtype(value.str), value.str, repr(value))
        if isinstance(value, ModuleType) and sys.modules.get(value.__name__) is value:
            return ("module", value.__name__)
        if isinstance(value, type) and (functions := _makers(value)):
            return self._mark_maker(value, functions)
        known = _name_in_world(value)
        if known is None and self._portable and (isinstance(value, type) or not callable(value)):
            return self._mark_object(value)
        return known if known is not None else self._mark_function(value)

    def _mark_maker(self, kind: type, functions: tuple[FunctionType, ...]) -> Mark:
        """Of a class of objects that a kernel may make."""
        known = class_of(kind)
        assert known is not None
        types = [(name, dtype.str, rank) for name, (dtype, rank) in known.types.items()]
        fields = (known.fields, *types, tuple(sorted(known.changing)))
        return ("makes", kind.__module__, kind.__qualname__, *fields, *map(self._mark, functions))

    def _mark_object(self, value: object) -> Mark:
        """Of an object or a class, what it is; what it holds are other questions. The elements of an array are none:
        each call has it as an argument."""
        if isinstance(value, np.ndarray):
            return ("array", value.dtype.str, repr(value.dtype), value.ndim)
        number = self._ordinals.setdefault(id(value), len(self._ordinals))
        kind = value if isinstance(value, type) else type(value)
        defaults = getattr(kind, "_field_defaults", {})  # of a named tuple, which is made by its fields
        fields = [(name, name in defaults and self._mark(defaults[name])) for name in getattr(kind, "_fields", ())]
        bases = [(one.__module__, one.__qualname__) for one in kind.__mro__]
        return ("class" if kind is value else "object", number, *bases, *fields)

    def _mark_function(self, value: object) -> Mark:
        function = plain_function(value)
        if not isinstance(function, FunctionType):
            raise UnknownError(type(value).__name__)
        try:
            source = self._source(function)
        except KernelError as error:
            raise UnknownError(error.what) from None
        number = self._ordinals.setdefault(id(function), len(self._ordinals))
        defaults = [self._mark(one.default) for one in source.parameters if one.has_default]
        names = [getattr(one, name, None) for one in (type(value), value) for name in ("__module__", "__name__")]
        return ("function", number, *map(repr, names), *text_of(source, self._portable), *defaults)

    def structures(self) -> str:
        """A text that differs between arguments that hold others in other ways. Raises UnknownError."""
        try:
            held = [(name, self._structure(one)) for name, one in self.source.structures.items()]
        except UnknownError:
            raise
        except Exception as error:
            raise UnknownError("an argument") from error
        return repr(held)

    def _structure(self, one: Structure) -> Mark | None:
        if one is None:
            return None
        match one:
            case structured.Given(value):
                return ("given", self._mark(value))
            case structured.Held(parts, kind, names) if (known := class_of(kind)) is not None:
                functions = (*sorted(known.changing), *map(self._mark, known.functions()))
                return ("object", kind.__module__, kind.__qualname__, names, *map(self._structure, parts), *functions)
            case structured.Held(parts, kind, names):
                return ("held", kind.__module__, kind.__qualname__, names, *map(self._structure, parts))
            case packed.Packed():
                return ("packed", repr(one))


Mark = tuple[object, ...]


def given_values(structures: Iterable[Structure]) -> Iterator[object]:
    """The functions and types that are arguments, or held by some."""
    for one in filter(None, structures):
        match one:
            case structured.Given(value):
                yield value
            case structured.Held(parts, kind):
                known = class_of(kind)
                yield from () if known is None else known.functions()
                yield from given_values(parts)


def text_of(source: Source, portable: bool = False) -> tuple[object, ...]:
    """All that the text of a function says, and where it stands: its lines whole, so that columns are right too.
    portable: of the folder of its file, nothing is said."""
    tree, code = source.definition.tree, source.function.__code__
    first = min([tree.lineno, *(decorator.lineno for decorator in tree.decorator_list)])
    lines = source.definition.lines[first - 1 : tree.end_lineno]
    parameters = tuple((one.name, one.has_default, one.keyword_only) for one in source.parameters)
    file = PurePath(source.file).name if portable else source.file
    return (file, source.name, tree.name, first, "".join(lines), code.co_flags, code.co_freevars, parameters)


def plain_function(value: object) -> object:
    """The Python function of numba's jitted functions and of our own kernels; everything else is itself."""
    if not isinstance(value, FunctionType) and type(value).__module__.split(".")[0] in ("numba", "loopwright"):
        return getattr(value, "py_func", getattr(value, "__wrapped__", value))
    return value


def _makers(value: object) -> tuple[FunctionType, ...]:
    """The functions of a class of objects that a kernel may make; nothing for all else."""
    known = class_of(value) if isinstance(value, type) else None
    return () if known is None else known.makers()


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def _is_constant(value: object) -> bool:
    """Whether its attributes stay what they are for as long as the versions of Python and NumPy do; those of a module
    anybody may set."""
    return _is_number(value) or isinstance(value, np.dtype) or _name_in_world(value) is not None


def _name_in_world(value: object) -> Mark | None:
    """Module and name of a builtin, or of a type or function of the packages that the front end knows by name."""
    if isinstance(value, np.ufunc):
        ufunc = getattr(value, "__name__", "")
        return ("known", "numpy", ufunc) if getattr(np, ufunc, None) is value else None
    if isinstance(value, MethodType | BuiltinFunctionType):
        draws = value.__name__  # of NumPy's global generator
        if getattr(np.random, draws, None) is value:
            return ("known", "numpy.random", draws)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module.split(".")[0] not in _WORLD:
        return None
    if isinstance(plain_function(value), FunctionType) and module.split(".")[0] != "numpy":
        return None  # it would be inlined
    there: object = sys.modules.get(module)
    for part in name.split("."):
        there = getattr(there, part, None)
    return ("known", module, name) if there is value else None
