"""Numba's `cuda` means nothing here: importing it says what to do instead."""

from loopwright.numba.absent import instead_of

raise ImportError(instead_of("cuda"))
