"""Numba's names of errors and warnings, for code that catches or filters them."""

from loopwright.errors import KernelError, LoopwrightError, LoopwrightWarning

NumbaWarning = NumbaPerformanceWarning = NumbaDeprecationWarning = NumbaPendingDeprecationWarning = LoopwrightWarning
NumbaExperimentalFeatureWarning = NumbaTypeSafetyWarning = NumbaParallelSafetyWarning = LoopwrightWarning
NumbaError = LoopwrightError
TypingError = UnsupportedError = LoweringError = KernelError

__all__ = [
    "LoweringError",
    "NumbaDeprecationWarning",
    "NumbaError",
    "NumbaExperimentalFeatureWarning",
    "NumbaParallelSafetyWarning",
    "NumbaPendingDeprecationWarning",
    "NumbaPerformanceWarning",
    "NumbaTypeSafetyWarning",
    "NumbaWarning",
    "TypingError",
    "UnsupportedError",
]
