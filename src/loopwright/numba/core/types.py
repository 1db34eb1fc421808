"""`numba.core.types`: what `numba.types` has."""

from loopwright.numba.types import *  # noqa: F403
