"""Programs as their users write them: plain loops after benchmark suites and textbooks, written without a look at what
Loopwright does with them, and since then used to find where it is slow."""

from benchmarks.field.programs import (
    accelerators,
    integers,
    learning,
    livermore,
    science,
    sequences,
    trajectories,
    windows,
)
from benchmarks.field.programs.programs import PROGRAMS, FieldProgram

__all__ = [
    "PROGRAMS",
    "FieldProgram",
    "accelerators",
    "integers",
    "learning",
    "livermore",
    "science",
    "sequences",
    "trajectories",
    "windows",
]
