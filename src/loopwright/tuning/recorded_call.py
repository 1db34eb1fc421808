"""`RecordedCall`: a call of a kernel that can be made again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loopwright.config import Config
from loopwright.ir.signature import Shape
from loopwright.specialisation import Specialisation


@dataclass(slots=True)
class RecordedCall:
    """A call that can be made again. saved: the file with its arguments as they were before its first time; None where
    they were too large, or on a GPU. min_ns: of the fastest such call, from outside: the others may have compiled."""

    one: Specialisation
    names: tuple[str, ...]
    written: tuple[int, ...]
    config: Config
    shape: Shape
    saved: Path | None
    calls: int = 0
    min_ns: int = 0

    @property
    def total_ns(self) -> int:
        """What all such calls take, but for what happens only once."""
        return self.calls * self.min_ns

    @property
    def fingerprint(self) -> str:
        return self.one.fingerprint
