"""`numba.core.errors`: what `numba.errors` has."""

from loopwright.numba.errors import *  # noqa: F403
