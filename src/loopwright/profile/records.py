"""What the store keeps beside measurements, and how sizes and features are written."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from loopwright.ir.signature import Shape
from loopwright.ir.variant import Variant
from loopwright.profile.history import Cell
from loopwright.profile.machine import Machine

WORK = "work"
"""The kind of the tables that hold forms of work, which hold on any machine."""

OPERATIONS = "operations"
"""The kind of those that say how many floating-point operations an iteration has, which hold on any machine."""

TREE = "tree"
"""The kind of those that hold a tree for each variant of a kernel."""

REMAP = "remap"
"""The kind of those that say by what factor predictions for iterations in the order of their keys were too short."""

PLANES = "planes"
"""The kind of those that say what calls take with arrays as they are, and with planes kept on a GPU, by kernel, and
types and sizes of the arrays."""

TIMELINE = "timeline"
"""The kind of those that say who did what and when in the last call that several devices shared; see timeline_name."""

MOST_TIMELINES = 16
"""So many of a kernel on a machine are kept, those of the shapes that were shared last."""

ANY = "any"
"""In place of a machine, for what holds on any."""


@dataclass(frozen=True, slots=True)
class KernelName:
    """What a kernel's fingerprint stands for, for people: the function's name, its file, the types of its arguments.
    All but the fingerprint are '' where nobody has said."""

    fingerprint: str
    name: str = ""
    file: str = ""
    signature: str = ""


@dataclass(frozen=True, slots=True)
class MachineName:
    """What a machine's fingerprint stands for; None where nobody has said."""

    fingerprint: str
    identity: Machine | None = None


@dataclass(frozen=True, slots=True)
class FittedTable:
    """What was fitted to measurements on a machine. kind: bandwidth, tree or work, say. content: anything that JSON
    can say. made_at: seconds since 1970."""

    kind: str
    machine: str
    name: str
    content: Any
    made_at: float


@dataclass(frozen=True, slots=True)
class ChoiceRecord:
    """What was chosen last for a kernel, a shape and the machine that runs it, and why, in words. time_ns, error: as
    they were predicted."""

    kernel: str
    machine: str
    shape: Shape
    variant: Variant
    why: str
    time_ns: float
    error: float
    made_at: float


Record = MachineName | KernelName | Cell | FittedTable | ChoiceRecord


def key_of(record: Record) -> Hashable:
    """The same for records of which one takes the place of the other, or merges with it."""
    match record:
        case MachineName() | KernelName():
            return type(record), record.fingerprint
        case FittedTable():
            return FittedTable, record.kind, record.machine, record.name
        case ChoiceRecord():
            return ChoiceRecord, record.kernel, record.machine, record.shape
        case Cell():
            return Cell, record.kernel, record.machine, record.variant, record.shape, record.cache, record.source


def timeline_name(kernel: str, shape: Shape) -> str:
    """What the table of the last shared call of a kernel (its fingerprint) and a shape is called."""
    return f"{kernel}: {sizes_text(shape)}"


def sizes_text(shape: Shape) -> str:
    """`1000 1000`."""
    return " ".join(map(str, shape.sizes))


def features_text(shape: Shape) -> str:
    """`3.5 0.25`; each comes back as it was."""
    return " ".join(map(repr, map(float, shape.features)))


def shape_of(sizes: str, features: str) -> Shape:
    """Raises ValueError where these are no numbers."""
    return Shape(tuple(map(int, sizes.split())), tuple(map(float, features.split())))
