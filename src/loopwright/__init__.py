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
from typing import TYPE_CHECKING

from loopwright import random
from loopwright.config import Config, options, set_options
from loopwright.deferred import deferred as _deferred
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
    PlanError,
    ScheduleError,
)
from loopwright.frontend.markers import function, prange
from loopwright.ir.variant import Variant
from loopwright.kernel import LoopKernel, kernel
from loopwright.memory.device_array import DeviceArray, device_array

if TYPE_CHECKING:
    from loopwright.memory.distributed_array import DistributedArray, distributed_array
    from loopwright.memory.record_array import RecordArray, array
    from loopwright.report.explanation import Explanation
    from loopwright.search.ranges import tunable
    from loopwright.tuning.tuned import Tuned
else:
    _LATER = {
        "DistributedArray": _deferred("loopwright.memory.distributed_array"),
        "Explanation": _deferred("loopwright.report.explanation"),
        "RecordArray": _deferred("loopwright.memory.record_array"),
        "array": _deferred("loopwright.memory.record_array"),
        "distributed_array": _deferred("loopwright.memory.distributed_array"),
        "tunable": _deferred("loopwright.search.ranges"),
        "Tuned": _deferred("loopwright.tuning.tuned"),
    }

    def __getattr__(name):
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(_LATER[name], name)
        return value

    def __dir__():
        return sorted({*globals(), *_LATER})


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
    "DistributedArray",
    "Explanation",
    "KernelError",
    "LoopKernel",
    "LoopwrightError",
    "LoopwrightWarning",
    "PlanError",
    "RecordArray",
    "ScheduleError",
    "Tuned",
    "Variant",
    "array",
    "device_array",
    "distributed_array",
    "function",
    "kernel",
    "options",
    "prange",
    "random",
    "set_options",
    "tunable",
]
