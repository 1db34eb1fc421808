"""Arguments of a call to parameters, as Python itself binds them, with Python's own words where they do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def bind(
    function: str,
    names: Sequence[str],
    defaults: Mapping[str, object],
    args: Sequence[object],
    kwargs: Mapping[str, object],
) -> tuple[object, ...]:
    """One value per parameter, in order. Raises TypeError as a plain Python function would."""
    if len(args) > len(names):
        wanted = _count(len(names), "positional argument")
        verb = "was" if len(args) == 1 else "were"
        raise TypeError(f"{function}() takes {wanted} but {len(args)} {verb} given")
    for name in kwargs:
        if name not in names:
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
        if names.index(name) < len(args):
            raise TypeError(f"{function}() got multiple values for argument '{name}'")
    given = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
    missing = [name for name in names if name not in given]
    if missing:
        what = _count(len(missing), "required positional argument")
        raise TypeError(f"{function}() missing {what}: {_listed(missing)}")
    return tuple(given[name] for name in names)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


def _listed(names: Sequence[str]) -> str:
    quoted = [f"'{name}'" for name in names]
    if len(quoted) <= 2:
        return " and ".join(quoted)
    return ", ".join(quoted[:-1]) + f", and {quoted[-1]}"
