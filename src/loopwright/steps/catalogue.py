"""Every step there is, in one explicit tuple."""

from __future__ import annotations

from loopwright.steps.abreast import Abreast
from loopwright.steps.align import Align
from loopwright.steps.balance import Balance
from loopwright.steps.bind import Bind
from loopwright.steps.bucket import Bucket
from loopwright.steps.carry import Carry
from loopwright.steps.collapse import Collapse
from loopwright.steps.complete import Complete
from loopwright.steps.contract import Contract
from loopwright.steps.cut import Cut
from loopwright.steps.demote import Demote
from loopwright.steps.distribute import Distribute
from loopwright.steps.expand import Expand
from loopwright.steps.find import Find
from loopwright.steps.fission import Fission
from loopwright.steps.flatten import Flatten
from loopwright.steps.forward import Forward
from loopwright.steps.fuse import Fuse
from loopwright.steps.group import Group
from loopwright.steps.guard import Guard
from loopwright.steps.hoist import Hoist
from loopwright.steps.hold import Hold
from loopwright.steps.inspect import Inspect
from loopwright.steps.lift import Lift
from loopwright.steps.lockstep import Lockstep
from loopwright.steps.modulo_unroll import ModuloUnroll
from loopwright.steps.normalize import Normalize
from loopwright.steps.overrun import Overrun
from loopwright.steps.pack import Pack
from loopwright.steps.parallelize import Parallelize
from loopwright.steps.partition import Partition
from loopwright.steps.predicate import Predicate
from loopwright.steps.privatize import Privatize
from loopwright.steps.promote import Promote
from loopwright.steps.propagate import Propagate
from loopwright.steps.rank import Rank
from loopwright.steps.redirect import Redirect
from loopwright.steps.reduce import Reduce
from loopwright.steps.relayout import Relayout
from loopwright.steps.renumber import Renumber
from loopwright.steps.reorder import Reorder
from loopwright.steps.reschedule import Reschedule
from loopwright.steps.resolve import Resolve
from loopwright.steps.reverse import Reverse
from loopwright.steps.scan import Scan
from loopwright.steps.separate import Separate
from loopwright.steps.shift import Shift
from loopwright.steps.sink import Sink
from loopwright.steps.skew import Skew
from loopwright.steps.specialize import Specialize
from loopwright.steps.split import Split
from loopwright.steps.stage import Stage
from loopwright.steps.step import Step
from loopwright.steps.swap import Swap
from loopwright.steps.tile import Tile
from loopwright.steps.uncap import Uncap
from loopwright.steps.unroll import Unroll
from loopwright.steps.unroll_and_jam import UnrollAndJam
from loopwright.steps.vectorize import Vectorize

STEPS: tuple[type[Step], ...] = (
    Split, Tile, Align, Reorder, Swap, Sink, Hoist, Fuse, Fission, Distribute, Cut, Partition, Normalize, Collapse,
    Flatten, Reverse, Shift, Skew, Guard, Predicate, Complete, Overrun, Separate, Specialize, Promote, Hold, Carry,
    Uncap, Demote, Forward, Expand, Privatize, Lift, Contract, Propagate, Pack, Stage, Reduce, Scan, Find, Rank,
    Resolve, Bucket, Inspect, Redirect, Group, Abreast, Renumber, Relayout, Unroll, UnrollAndJam, ModuloUnroll,
    Reschedule, Vectorize, Lockstep, Parallelize, Balance, Bind,
)  # fmt: skip
