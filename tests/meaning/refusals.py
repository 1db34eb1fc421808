"""Which refusals of random programs are right."""

from __future__ import annotations

from loopwright.errors import KernelError

MAY_BE_REFUSED = ("is read before it has a value", "does not fit")
"""Texts of refusals that are right: a variable whose only assignment stands in a branch that is never taken; a constant
for which NumPy raises OverflowError."""


def may_be_refused(error: KernelError) -> bool:
    """Whether a program may be refused for this reason."""
    return any(reason in str(error) for reason in MAY_BE_REFUSED)
