"""The time of a call on a GPU from tables: each copy from the bandwidth tables, each kernel from its ranking table by
interpolation, times its iterations (Dollinger 2015, section 4.5, Figure 4.11). Copies and kernels run one after another
there; nothing overlaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from loopwright.profile.bandwidth import BandwidthTable, Direction
from loopwright.profile.ranking import GpuRanking


@dataclass(frozen=True, slots=True)
class Copy:
    """Of size_bytes in one piece, `times` times in the call."""

    direction: Direction
    size_bytes: float
    times: int = 1


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel's launch, `times` times in the call. blocks: of its whole grid. iterations: of all its statements in one
    launch. sequential: the average of its sequential parameters."""

    ranking: GpuRanking
    blocks: float
    iterations: float
    sequential: float = 0.0
    times: int = 1


def copy_ns(copy: Copy, tables: Mapping[Direction, BandwidthTable]) -> float:
    """Raises KeyError where there is no table of the copy's direction."""
    return copy.times * tables[copy.direction].time_ns(copy.size_bytes)


def launch_ns(launch: Launch) -> float:
    """Time per iteration of this many blocks, times the iterations."""
    return launch.times * launch.iterations * launch.ranking.ns_per_iteration(launch.blocks, launch.sequential)


def call_ns(parts: tuple[Copy | Launch, ...], tables: Mapping[Direction, BandwidthTable]) -> float:
    """Of a whole call: the sum of its parts. Raises KeyError where a direction has no table."""
    return sum((copy_ns(part, tables) if isinstance(part, Copy) else launch_ns(part) for part in parts), 0.0)
