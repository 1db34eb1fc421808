"""Where something stands in the user's source. It is all that a remembered kernel needs of the grammar."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of the user's source: `line` counts from 1, columns from 0, `end_column` is exclusive."""

    file: str
    line: int
    column: int
    end_column: int
