"""Arguments of a call that its caller does not write: what a function needs that no parameter of its own stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from loopwright.errors import KernelError
from loopwright.frontend.capture import Parameter, Source


@dataclass(frozen=True, slots=True)
class Hidden:
    """names: of the parameters, all of which are written. run: makes a call, with these arguments behind the others.
    sample: arguments of their kinds, to ask about a call."""

    names: tuple[str, ...]
    run: Callable[[Callable[..., object], Sequence[object]], object]
    sample: Callable[[], Sequence[object]]


class NeededError(KernelError):
    """The function needs arguments that it does not have yet."""

    hidden: Hidden


def expanded(source: Source, names: Sequence[str]) -> Source:
    """The function with these parameters, behind the others."""
    return replace(
        source,
        parameters=(*source.parameters, *map(Parameter, names)),
        written=source.written | set(names),
        structures={**source.structures, **dict.fromkeys(names)},
    )


def again(source: Source, old: Source) -> Source:
    """The same for a function that was captured again."""
    own = {one.name for one in source.parameters}
    names = [one.name for one in old.parameters if one.name not in own and one.name in old.structures]
    return expanded(source, [name for name in names if name.startswith(_MARKS)])


_MARKS = ("np.random.", "print.")
