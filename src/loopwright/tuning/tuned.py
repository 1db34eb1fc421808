"""`Tuned`: what came of tuning one call; and who is told of it meanwhile. It measures nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from loopwright.profile.measurement import Measurement, Outcome
from loopwright.tuning.comparison import PairedTimes
from loopwright.tuning.jobs import Tried
from loopwright.tuning.recorded_call import RecordedCall

Stage = Literal["nothing", "default", "others", "space"]
"""How far tuning came with a call: nothing ran; the default only; other numbers of threads, and loops as they are
written; members of the space."""


class Progress(Protocol):
    """Who is told how it goes."""

    def begun(self, call: RecordedCall) -> None: ...
    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None: ...
    def turned(self, call: RecordedCall, turn: int, turns: int) -> None: ...


class Silent:
    """Nobody."""

    def begun(self, call: RecordedCall) -> None:
        pass

    def tried(self, call: RecordedCall, tried: Tried, best_ns: float) -> None:
        pass

    def turned(self, call: RecordedCall, turn: int, turns: int) -> None:
        pass


@dataclass(slots=True)
class Tuned:
    """The result of tuning one call. default, best: None if nothing ran; best is the default if no other variant is
    certainly faster. counts: trials by outcome. known: how many variants had been measured before. dropped: variants
    that were not run, and why. why_not: why it was not tuned. compared: the default and its fastest rival in
    alternating runs; None if there is no rival. stage: how far it came within share_s, its part of the budget in
    seconds. measured: every variant for these sizes."""

    call: RecordedCall
    default: Measurement | None = None
    best: Measurement | None = None
    counts: dict[Outcome, int] = field(default_factory=dict)
    known: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    why_not: str = ""
    compared: PairedTimes | None = None
    stage: Stage = "nothing"
    share_s: float = 0.0
    measured: tuple[Measurement, ...] = ()

    @property
    def gain(self) -> float:
        """How many times as fast as the default the best variant is, in alternating runs; 1 if no other variant is
        certainly faster, or nothing can be said."""
        if self.default is None or self.best is None or self.default.outcome != "ok" or self.best == self.default:
            return 1.0
        return self.default.time_ns / self.best.time_ns if self.compared is None else self.compared.gain

    @property
    def is_reached(self) -> bool:
        """Whether its part of the budget was enough for a search."""
        return self.stage == "space" or bool(self.why_not)
