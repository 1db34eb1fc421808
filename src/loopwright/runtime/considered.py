"""What a choice is asked about, a `Kind` of call, and what is told of it in reports, `Considered`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from loopwright.config import Config
from loopwright.ir.plan import Plan
from loopwright.ir.signature import Shape, Signature
from loopwright.runtime.compiled import Compiled

if TYPE_CHECKING:
    from loopwright.choice.adapt import Decision, Standing


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of call: what one Chooser is for. resident: all its arrays are in a GPU's memory, and stay there."""

    signature: Signature
    config: Config
    resident: bool = False


@dataclass(frozen=True, slots=True)
class FailedGuard:
    """That the sizes of a call fail the condition that code relies on. error: what the call raises before it runs; None
    where code runs it that tests every access."""

    error: Exception | None


@dataclass(frozen=True, slots=True)
class Considered:
    """What serves calls of a shape under some options. compiled: the code that does, as the plan says; default: the
    code that does where nothing is known. decision: None where there is nothing to choose from; standings: of all
    candidates. failed: of one call, where its sizes fail the condition."""

    config: Config
    plan: Plan
    compiled: Compiled
    default: Compiled
    shape: Shape
    decision: Decision | None = None
    standings: tuple[Standing, ...] = ()
    failed: FailedGuard | None = None
