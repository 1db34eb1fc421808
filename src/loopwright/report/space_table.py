"""The space of a kernel as a table: what can be chosen, what is by default, and where that leads."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from loopwright.search.space import Family, Space


def space_table(space: Space) -> RenderableType:
    """A table for each family of a space, under how many points there are and the choices that lead to it."""
    count = _plural(len(space), "point")
    ways = f" in {_plural(len(space.families), 'family', 'families')}" if len(space.families) > 1 else ""
    left_out = f"; values left out of: {', '.join(space.left_out)}" if space.left_out else ""
    parts: list[RenderableType] = [Text(f"{count}{ways}{left_out}")]
    for family in space.families:
        parts += [Text(), *_family(family, sum(1 for _ in family.points()))]
    return Group(*parts)


def _family(family: Family, count: int) -> list[RenderableType]:
    leads = ", ".join(f"{one.name}: {one.text(dict(family.leads)[one.name])}" for one in family.leading)
    table = Table(box=None, pad_edge=False)
    for column in ("tunable", "default", "values"):
        table.add_column(column, no_wrap=True)
    table.add_column("why", overflow="fold")
    for one in family.tunables:
        values = ", ".join(one.text(value) for value in one.among)
        table.add_row(one.name, one.text(one.default), values, one.why)
    head = f"{leads or 'as it is written'}: {_plural(count, 'point')}"
    return [Text(head, style="bold"), *([table] if family.tunables else []), Text(f"schedule  {family.schedule}")]


def _plural(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"
