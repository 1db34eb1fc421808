"""All planted faults, in the order in which they are tried."""

from __future__ import annotations

from mutation.in_analysis import ANALYSIS
from mutation.in_codegen import CPU, GPU
from mutation.in_runtime import RUNTIME

FAULTS = (*CPU, *GPU, *ANALYSIS, *RUNTIME)
