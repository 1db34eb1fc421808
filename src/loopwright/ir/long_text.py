"""Which arguments that are texts are no ConstantArgument: their characters are put into an array."""

from __future__ import annotations

_LONGEST_CONSTANT = 1024


def is_long_text(value: object) -> bool:
    """Whether it is a text with too many characters to be a constant of the code."""
    return type(value) is str and len(value) > _LONGEST_CONSTANT
