"""Where something stands in the user's source. It is all that a remembered kernel needs of the grammar."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Location:
    """A stretch of the user's source: `line` counts from 1, columns from 0, `end_column` is exclusive. call: of what
    stands in a function of ours for one of NumPy's, the call in the user's source."""

    file: str
    line: int
    column: int
    end_column: int
    call: Location | None = field(default=None, compare=False, repr=False)

    @property
    def of_user(self) -> Location:
        """What errors show."""
        return self.call or self
