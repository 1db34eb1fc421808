"""Loopwright: plain Python loop nests over arrays, run correctly, safely and in parallel on every CPU core.

import numpy as np, loopwright as lw

@lw.kernel
def smooth(a, b):
    for i in range(1, a.shape[0] - 1):
        b[i] = 0.5 * (a[i - 1] + a[i + 1])
"""

# First: it tells which text of all the others is loaded.
from loopwright.revision import AT_IMPORT as _AT_IMPORT  # noqa: F401

# isort: split
from loopwright.config import Config, options
from loopwright.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    BoundsError,
    CompilerError,
    DeviceError,
    DeviceMemoryError,
    KernelError,
    LoopwrightError,
    LoopwrightWarning,
    ScheduleError,
)
from loopwright.frontend.markers import function, prange
from loopwright.kernel import LoopKernel, kernel
from loopwright.memory.device_array import DeviceArray, device_array
from loopwright.profile.measurement import Variant
from loopwright.report.explanation import Explanation
from loopwright.search.ranges import tunable
from loopwright.tuning.tune import Tuned

__version__ = "0.1.0"

__all__ = [
    "ArgumentTypeError",
    "ArgumentValueError",
    "BoundsError",
    "CompilerError",
    "Config",
    "DeviceArray",
    "DeviceError",
    "DeviceMemoryError",
    "Explanation",
    "KernelError",
    "LoopKernel",
    "LoopwrightError",
    "LoopwrightWarning",
    "ScheduleError",
    "Tuned",
    "Variant",
    "device_array",
    "function",
    "kernel",
    "options",
    "prange",
    "tunable",
]
