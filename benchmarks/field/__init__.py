"""Loops that nobody tuned Loopwright for, in the suite's order of topics, and programs of such loops."""

from benchmarks.field import control_flow, dependence, reductions, restructuring, vectors
from benchmarks.field.loops import LARGE, LOOPS, SMALL, FieldLoop
from benchmarks.field.programs import PROGRAMS, FieldProgram

__all__ = [
    "LARGE",
    "LOOPS",
    "PROGRAMS",
    "SMALL",
    "FieldLoop",
    "FieldProgram",
    "control_flow",
    "dependence",
    "reductions",
    "restructuring",
    "vectors",
]
