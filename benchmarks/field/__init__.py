"""The loops that nobody tuned Loopwright for, in the suite's order of topics."""

from benchmarks.field import control_flow, dependence, reductions, restructuring, vectors
from benchmarks.field.loops import LARGE, LOOPS, SMALL, FieldLoop

__all__ = [
    "LARGE",
    "LOOPS",
    "SMALL",
    "FieldLoop",
    "control_flow",
    "dependence",
    "reductions",
    "restructuring",
    "vectors",
]
