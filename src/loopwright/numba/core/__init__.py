"""`numba.core`, for programs that take types and errors from there."""

from loopwright.numba import errors, types
from loopwright.numba.settings import config

__all__ = ["config", "errors", "types"]
