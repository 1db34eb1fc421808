"""Arguments of a call that its caller does not write: what a function needs that no parameter of its own stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loopwright.errors import KernelError
from loopwright.frontend.capture import Parameter, Source
from loopwright.ir.captured import CapturedConstant, Drawn, Found


@dataclass(frozen=True, slots=True)
class Hidden:
    """names: of the parameters. run: makes a call, with these arguments behind the others. sample: arguments of their
    kinds, to ask about a call. outside: the arrays from outside that they stand for. written: whether the function may
    write them. drawn: what the launcher needs to make such a call of a function that draws, or None where it cannot."""

    names: tuple[str, ...]
    run: Callable[[Callable[..., object], Sequence[object]], object]
    sample: Callable[[], Sequence[object]]
    outside: Mapping[str, CapturedConstant] = field(default_factory=dict)
    written: bool = True
    drawn: Callable[[], Drawn | None] = lambda: None


def found_by_launcher(more: Hidden, source: Source) -> Found:
    """Which of these arguments the launcher finds by itself: all that stand outside, or none; and those of draws."""
    if source.variadic is not None:
        return (), None
    places = [(one.namespace, one.key) for one in more.outside.values() if one.kind in ("item", "cell")]
    return tuple(places) if len(places) == len(more.outside) else (), more.drawn()


class NeededError(KernelError):
    """The function needs arguments that it does not have yet."""

    hidden: Hidden


def expanded(source: Source, more: Hidden) -> Source:
    """The function with these parameters, behind the others."""
    return replace(
        source,
        parameters=(*source.parameters, *map(Parameter, more.names)),
        written=source.written | set(more.names if more.written else ()),
        structures={**source.structures, **dict.fromkeys(more.names)},
        outside={**source.outside, **more.outside},
    )


def again(source: Source, old: Source) -> Source:
    """The same for a function that was captured again."""
    own = {one.name for one in source.parameters}
    more = tuple(one for one in old.parameters if one.name not in own and one.name.startswith(MARKS))
    names = {one.name for one in more}
    return replace(
        source,
        parameters=(*source.parameters, *more),
        written=source.written | (old.written & names),
        structures={**source.structures, **dict.fromkeys(names)},
        outside=old.outside,
    )


GLOBAL = "global."
ASKED_NAME = "asked."
MARKS = ("np.random.", "random.", "print.", GLOBAL, ASKED_NAME)
"""How the names of hidden parameters begin."""
