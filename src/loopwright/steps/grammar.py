"""The text of a step, from the fields of its dataclass: `grammar` says which words it is made of, in the order of the
fields, and both directions follow from it.

    LOOP            a field, by the type it has: a text as it stands, a number as its annotation reads it
    over            this very word
    [THREADS]       a field that is left out where it has its default
    [pad ELEMENTS]  the same after a word of its own
    [whole]         a field of this name, true where the word stands there
    LOOP LOOP ...   at least so many words for one field, a tuple; for a tuple of pairs, words by twos
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, partial
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, cast, get_args, get_origin, get_type_hints

Reader = Callable[[str, str], object]
"""From a word, and what it is called, to a value. Raises ValueError."""

_PIECES = re.compile(r"\[([^]]+)\]|(\S+)")


def whole_number(word: str, what: str, least: int = 1) -> int:
    """The whole number that a word of a schedule is. Raises ValueError."""
    if not word.isdecimal() or int(word) < least:
        raise ValueError(f"{what} is a whole number from {least} on, not '{word}'")
    return int(word)


def signed_number(word: str, what: str) -> int:
    """The whole number other than 0, maybe negative, that a word of a schedule is. Raises ValueError."""
    if not word.removeprefix("-").isdecimal() or not int(word):
        raise ValueError(f"{what} is a whole number other than 0, not '{word}'")
    return int(word)


def _any_number(word: str, what: str) -> int:
    if not word.removeprefix("-").isdecimal():
        raise ValueError(f"{what} is a whole number, not '{word}'")
    return int(word)


From0 = Annotated[int, partial(whole_number, least=0)]
From1 = Annotated[int, whole_number]
From2 = Annotated[int, partial(whole_number, least=2)]
NotZero = Annotated[int, signed_number]
MaybeNumber = Annotated[int | None, _any_number]


class Worded(Protocol):
    """What has a text: a dataclass with a name and a grammar."""

    name: ClassVar[str]
    grammar: ClassVar[str]


W = TypeVar("W", bound=Worded)


@dataclass(frozen=True, slots=True)
class _Part:
    """A word, a field, or both. names: what the words of the field are called; least: of how many a tuple consists at
    least, 0 for a field that is none; readers: of one element of it."""

    word: str
    field: str
    names: tuple[str, ...]
    readers: tuple[Reader, ...]
    least: int
    default: object

    @property
    def is_optional(self) -> bool:
        return self.default is not MISSING

    def fits(self, words: list[str]) -> bool:
        """Whether there are as many words as the field takes."""
        if not self.least:
            return len(words) == len(self.names)
        return len(words) >= self.least and len(words) % len(self.readers) == 0

    def value(self, words: list[str]) -> object:
        """The field's value. Raises ValueError."""
        if not self.names:
            return True
        each = len(self.readers)
        read = [self.readers[k % each](word, self.names[k % each]) for k, word in enumerate(words)]
        if not self.least:
            return read[0]
        return tuple(read) if each == 1 else tuple(tuple(read[k : k + each]) for k in range(0, len(read), each))

    def words(self, value: object) -> list[str]:
        """The text of the field's value, which `value` reads back."""
        if not self.names:
            return []
        many = value if isinstance(value, tuple) else (value,)
        return [str(one) for each in many for one in (each if isinstance(each, tuple) else (each,))]


def parsed(kind: type[W], words: tuple[str, ...]) -> W:
    """The step from the words after its name. Raises ValueError saying what is wanted."""
    parts = _parts(kind)
    own = {part.word for part in parts}
    rest = list(words)
    found: list[tuple[_Part, list[str]]] = []
    for part in parts:
        word = rest[0] if rest else ""
        if part.is_optional and (word != part.word if part.word else word in own | {""}):
            continue
        count = len(rest) if part.least else len(part.names)
        is_said = not part.word or rest[:1] == [part.word]
        rest = rest[1:] if part.word else rest
        taken, rest = rest[:count], rest[count:]
        if not is_said or not part.fits(taken):
            raise ValueError(f"{kind.name} {kind.grammar}")
        found.append((part, taken))
    if rest:
        raise ValueError(f"{kind.name} {kind.grammar}")
    make: Any = kind
    return cast(W, make(**{part.field: part.value(taken) for part, taken in found if part.field}))


def printed(step: Worded) -> str:
    """The text that `parsed` reads back, the name before it."""
    words = [step.name]
    for part in _parts(type(step)):
        value = getattr(step, part.field) if part.field else None
        if part.field and value == part.default:
            continue
        words += [part.word] if part.word else []
        words += part.words(value)
    return " ".join(words)


@cache
def _parts(kind: type[Any]) -> tuple[_Part, ...]:
    """What the grammar of a step says; what follows a comma in it is for people."""
    hints = get_type_hints(kind, include_extras=True)
    left = list(fields(kind))
    found: list[_Part] = []
    pieces = [(one[1] or one[2], bool(one[1])) for one in _PIECES.finditer(kind.grammar.split(",")[0])]
    while pieces:
        text, is_optional = pieces.pop(0)
        words = text.split()
        word = words[0] if words[0].islower() else ""
        names = tuple(words[1:] if word else words)
        if word and not (names or is_optional):
            found.append(_Part(word, "", (), (), 0, MISSING))
            continue
        field = left.pop(0)
        readers = _readers(hints[field.name])
        is_tuple = get_origin(hints[field.name]) is tuple
        if is_tuple:
            names = (*names, *(one for one, _ in pieces[:-1]))
            pieces = []
        found.append(
            _Part(word, field.name, names, readers, len(names) if is_tuple else 0, _default(field, is_optional))
        )
    assert not left, f"the grammar of {kind.__name__} leaves fields out"
    return tuple(found)


def _default(field: Field[Any], is_optional: bool) -> object:
    assert (field.default is MISSING) != is_optional, f"what is in brackets has a default, and nothing else: {field}"
    return field.default


def _readers(hint: object) -> tuple[Reader, ...]:
    """How the words of one element of a field are read."""
    if get_origin(hint) is tuple:
        return tuple(one for part in get_args(hint) if part is not ... for one in _readers(part))
    return (get_args(hint)[1],) if get_origin(hint) is Annotated else (lambda word, what: word,)
